//! The engine's errors to kinds, by the type of its exception. Words are kept and never decide anything.
//!
//! Sessions ask the engine for errors as JSON (`errors_as_json`), which names the type of the exception, a
//! subtype and the place in the text. Errors of opening come as text, which begins with the type.

use dbagent_core::context::CallContext;
use dbagent_core::{Error, ErrorKind};
use serde_json::Value;

/// What was being done when an error came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Opening the database.
    Open,
    /// Preparing a statement.
    Compile,
    /// Running one.
    Run,
}

impl Phase {
    const fn operation(self) -> &'static str {
        match self {
            Phase::Open => "open",
            Phase::Compile => "compile",
            Phase::Run => "run",
        }
    }
}

/// The engine's exception, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Exception {
    /// The type, such as `Catalog` or `IO`; empty where the driver itself objects.
    pub(crate) kind: String,
    subtype: String,
    /// What kind of thing is missing, for errors of the catalogue.
    entry: String,
    pub(crate) message: String,
    position: Option<usize>,
}

/// Takes an error apart.
pub(crate) fn exception(e: &duckdb::Error) -> Exception {
    let duckdb::Error::DuckDBFailure(_, Some(text)) = e else {
        return Exception { message: e.to_string(), ..Exception::default() };
    };
    // An error of preparing stands behind the type of the exception a second time.
    let json = text.split_once(" Error: ").map_or(text.as_str(), |(_, rest)| rest);
    if let Ok(Value::Object(told)) = serde_json::from_str(json).or_else(|_| serde_json::from_str(text)) {
        let get = |key: &str| told.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        return Exception {
            kind: get("exception_type"),
            subtype: get("error_subtype"),
            entry: get("type"),
            message: get("exception_message"),
            position: get("position").parse().ok(),
        };
    }
    match text.split_once(" Error: ") {
        Some((kind, message)) => {
            Exception { kind: kind.to_owned(), message: message.to_owned(), ..Exception::default() }
        }
        None => Exception { message: text.clone(), ..Exception::default() },
    }
}

/// The error as the core knows it: kind, the engine's own words, the type of its exception, the place.
pub(crate) fn translate(e: duckdb::Error, phase: Phase) -> Error {
    let told = exception(&e);
    let kind = match &e {
        // The driver has no form for a column of this type.
        duckdb::Error::FromSqlConversionFailure(_, duckdb::types::Type::Variant, _) => {
            return Error::new(
                ErrorKind::Unsupported,
                "a column of the type VARIANT cannot be handed on as it is",
            )
            .op(phase.operation())
            .hint("cast it: column::VARCHAR, or column::JSON")
            .source(e);
        }
        _ => kind(&told, phase),
    };
    let mut error = Error::new(kind, told.message.clone()).op(phase.operation());
    if !told.kind.is_empty() {
        error = error.code(code(&told));
    }
    if let Some(at) = told.position {
        error = error.at(at);
    }
    if let Some(hint) = hint(kind) {
        error = error.hint(hint);
    }
    error.source(e)
}

/// The same for a statement that ran under a call: an interrupt is the call's doing.
pub(crate) fn translate_under(e: duckdb::Error, phase: Phase, call: &CallContext) -> Error {
    if exception(&e).kind.eq_ignore_ascii_case("interrupt") {
        stopped(call, phase.operation())
    } else {
        translate(e, phase)
    }
}

/// The error for a statement that was stopped.
pub(crate) fn stopped(call: &CallContext, operation: &'static str) -> Error {
    if call.cancel.is_cancelled() {
        return call.over(operation);
    }
    Error::new(ErrorKind::Timeout, "the statement ran past its time limit and was stopped")
        .op(operation)
        .code("INTERRUPT")
        .hint("ask for less: filter, aggregate, or leave out a join")
}

fn code(told: &Exception) -> String {
    let mut code = told.kind.clone();
    if !told.subtype.is_empty() {
        code.push('/');
        code.push_str(&told.subtype);
    }
    code
}

fn kind(told: &Exception, phase: Phase) -> ErrorKind {
    match told.kind.to_ascii_lowercase().as_str() {
        "parser" | "syntax" => ErrorKind::Syntax,
        "catalog" => match told.entry.to_ascii_lowercase().as_str() {
            entry if entry.ends_with("function") || entry.ends_with("macro") => ErrorKind::UnknownFunction,
            "setting" | "type" | "collation" => ErrorKind::Syntax,
            _ => ErrorKind::UnknownObject,
        },
        "binder" => match told.subtype.as_str() {
            "COLUMN_NOT_FOUND" => ErrorKind::UnknownColumn,
            _ => ErrorKind::Syntax,
        },
        "not implemented" | "missing extension" | "dependency" => ErrorKind::Unsupported,
        "conversion" | "out of range" | "mismatch type" | "invalid type" | "decimal" | "divide by zero" => {
            ErrorKind::Data
        }
        // Both what a function objects to and what a setting does.
        "invalid input"
        | "expression"
        | "executor"
        | "parameter not allowed"
        | "parameter not resolved"
        | "sequence" => match phase {
            Phase::Open => ErrorKind::Config,
            Phase::Compile | Phase::Run => ErrorKind::Data,
        },
        "constraint" => ErrorKind::Constraint,
        "permission" | "invalid configuration" => ErrorKind::Refused,
        "out of memory" | "object size" => ErrorKind::Exhausted,
        "io" => ErrorKind::Io,
        "data corruption" | "serialization" | "fatal" => ErrorKind::Corrupt,
        "interrupt" => ErrorKind::Cancelled,
        "transaction" | "transactioncontext" => ErrorKind::Conflict,
        "internal" | "" => ErrorKind::Internal,
        _ => ErrorKind::Engine,
    }
}

fn hint(kind: ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::UnknownObject => {
            "look at the schema again: list the objects, and write the schema before the name where it needs one"
        }
        ErrorKind::UnknownColumn => {
            "look at the schema again: describe the table, and use one of its columns"
        }
        ErrorKind::Corrupt => {
            "the file is damaged: restore a backup, or export what can be read with the duckdb shell"
        }
        ErrorKind::Io => "check the disk and that the file is still there",
        ErrorKind::Exhausted => {
            "ask for less at once: aggregate, filter, or select fewer columns; the host may raise memory_limit in the URL"
        }
        ErrorKind::Refused => {
            "files, the network and settings are out of reach here; use what is in the database"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(text: &str) -> duckdb::Error {
        duckdb::Error::DuckDBFailure(duckdb::ffi::Error::new(1), Some(text.to_owned()))
    }

    #[test]
    fn types_decide_and_words_stay() {
        let json = |kind: &str, more: &str| {
            format!("{{\"exception_type\":\"{kind}\",\"exception_message\":\"its words\"{more}}}")
        };
        for (text, phase, expected) in [
            (
                json("Catalog", ",\"type\":\"Table\",\"position\":\"14\""),
                Phase::Compile,
                ErrorKind::UnknownObject,
            ),
            (json("Catalog", ",\"type\":\"Scalar Function\""), Phase::Compile, ErrorKind::UnknownFunction),
            (
                json("Binder", ",\"error_subtype\":\"COLUMN_NOT_FOUND\""),
                Phase::Compile,
                ErrorKind::UnknownColumn,
            ),
            (json("Binder", ""), Phase::Compile, ErrorKind::Syntax),
            (json("Conversion", ""), Phase::Run, ErrorKind::Data),
            (json("Out of Memory", ""), Phase::Run, ErrorKind::Exhausted),
            (json("Permission", ""), Phase::Compile, ErrorKind::Refused),
            ("IO Error: its words".to_owned(), Phase::Open, ErrorKind::Io),
            ("Data Corruption Error: its words".to_owned(), Phase::Open, ErrorKind::Corrupt),
            ("its words".to_owned(), Phase::Run, ErrorKind::Internal),
        ] {
            let e = translate(failure(&text), phase);
            assert_eq!((e.kind(), e.message()), (expected, "its words"), "{text}");
            assert!(e.downcast_source::<duckdb::Error>().is_some());
        }
    }

    #[test]
    fn the_place_in_the_text_is_kept() {
        let connection = duckdb::Connection::open_in_memory().unwrap();
        connection.execute_batch("SET errors_as_json = true").unwrap();
        let e = translate(connection.prepare("SELECT nothing").unwrap_err(), Phase::Compile);
        assert_eq!((e.kind(), e.position()), (ErrorKind::UnknownColumn, Some(7)));
        assert_eq!(e.native_code(), Some("Binder/COLUMN_NOT_FOUND"));
    }
}

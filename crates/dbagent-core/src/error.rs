//! One error shape for every dialect, model and tool.
//!
//! `kind` is for code, `retry` for loops, `operation`, `context` and `hint` for people, `source` is kept
//! whole. Nothing is ever decided by the text of a message.

use std::error::Error as StdError;
use std::fmt;

/// The result of everything in dbagent that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of thing went wrong. Causes are documented on the variants.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorKind {
    /// The request cannot be read: malformed JSON, a wrong type, an unknown key, a missing parameter.
    InvalidRequest,
    /// The engine does not understand the text of the request.
    Syntax,
    /// A table, collection, label or index that does not exist.
    UnknownObject,
    /// A column, field or property that does not exist.
    UnknownColumn,
    /// A function that does not exist.
    UnknownFunction,
    /// A value of the wrong type, out of range, or one that a conversion refused.
    Data,
    /// A constraint was violated: unique, foreign key, not null, check.
    Constraint,
    /// The guard or the engine's own view of the text refused the request.
    Refused,
    /// The account lacks a right.
    Permission,
    /// The statement ran past its time limit and was cancelled.
    Timeout,
    /// The caller cancelled.
    Cancelled,
    /// One value, one result or one statement is over a size limit.
    TooLarge,
    /// A budget of the thread is used up.
    BudgetExhausted,
    /// The server cannot be reached, or the connection was lost.
    Connection,
    /// The server refused the login.
    Authentication,
    /// Encryption is required, refused, or a certificate does not verify.
    Tls,
    /// No connection became free in time, or the server has too many.
    TooManyConnections,
    /// The database, file or folder named by the URL does not exist.
    DatabaseNotFound,
    /// The file is not a database of this kind, or the server that answers is of another kind.
    NotADatabase,
    /// A folder where a file is needed.
    IsDirectory,
    /// The file is encrypted (or its header is scrambled).
    Encrypted,
    /// Another process holds a lock.
    Locked,
    /// The database is damaged.
    Corrupt,
    /// The place cannot be written although the engine needs it, such as a folder with a WAL database.
    Unwritable,
    /// Two transactions conflict, or a stale writer appended to a store.
    Conflict,
    /// The server ran out of memory, disk or another resource.
    Exhausted,
    /// A configuration is wrong: URL, credential key, setting, feature.
    Config,
    /// This dialect, model or store cannot do it.
    Unsupported,
    /// The model server failed; see [`ModelError`](crate::model::ModelError) in the source.
    Model,
    /// A file could not be read or written.
    Io,
    /// A fact, an approval or a version that this program does not know.
    Incompatible,
    /// The engine reported something that has no kind of its own here; its code is kept.
    Engine,
    /// A defect of dbagent or of a dialect crate.
    Internal,
}

impl ErrorKind {
    /// Every kind, in the order of declaration.
    pub const ALL: &'static [ErrorKind] = &[
        Self::InvalidRequest,
        Self::Syntax,
        Self::UnknownObject,
        Self::UnknownColumn,
        Self::UnknownFunction,
        Self::Data,
        Self::Constraint,
        Self::Refused,
        Self::Permission,
        Self::Timeout,
        Self::Cancelled,
        Self::TooLarge,
        Self::BudgetExhausted,
        Self::Connection,
        Self::Authentication,
        Self::Tls,
        Self::TooManyConnections,
        Self::DatabaseNotFound,
        Self::NotADatabase,
        Self::IsDirectory,
        Self::Encrypted,
        Self::Locked,
        Self::Corrupt,
        Self::Unwritable,
        Self::Conflict,
        Self::Exhausted,
        Self::Config,
        Self::Unsupported,
        Self::Model,
        Self::Io,
        Self::Incompatible,
        Self::Engine,
        Self::Internal,
    ];

    /// The stable name of the kind, as it appears in output for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::Syntax => "syntax_error",
            Self::UnknownObject => "unknown_object",
            Self::UnknownColumn => "unknown_column",
            Self::UnknownFunction => "unknown_function",
            Self::Data => "data_error",
            Self::Constraint => "constraint_violation",
            Self::Refused => "refused",
            Self::Permission => "permission_denied",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::TooLarge => "too_large",
            Self::BudgetExhausted => "budget_exhausted",
            Self::Connection => "connection_error",
            Self::Authentication => "authentication_error",
            Self::Tls => "tls_error",
            Self::TooManyConnections => "too_many_connections",
            Self::DatabaseNotFound => "database_not_found",
            Self::NotADatabase => "not_a_database",
            Self::IsDirectory => "is_a_directory",
            Self::Encrypted => "encrypted",
            Self::Locked => "locked",
            Self::Corrupt => "corrupt",
            Self::Unwritable => "unwritable",
            Self::Conflict => "conflict",
            Self::Exhausted => "resources_exhausted",
            Self::Config => "config_error",
            Self::Unsupported => "unsupported",
            Self::Model => "model_error",
            Self::Io => "io_error",
            Self::Incompatible => "incompatible",
            Self::Engine => "engine_error",
            Self::Internal => "internal_error",
        }
    }

    /// Whether a model can mend it by writing another request. Such an error becomes an observation.
    pub const fn is_mendable(self) -> bool {
        matches!(
            self,
            Self::InvalidRequest
                | Self::Syntax
                | Self::UnknownObject
                | Self::UnknownColumn
                | Self::UnknownFunction
                | Self::Data
                | Self::Constraint
                | Self::Refused
                | Self::Permission
                | Self::Timeout
                | Self::TooLarge
                | Self::BudgetExhausted
                | Self::Exhausted
                | Self::Unsupported
                | Self::Engine
        )
    }

    /// Whether the database itself is out of reach, so that asking again in other words is useless.
    pub const fn is_out_of_reach(self) -> bool {
        matches!(
            self,
            Self::Connection
                | Self::Authentication
                | Self::Tls
                | Self::TooManyConnections
                | Self::DatabaseNotFound
                | Self::NotADatabase
                | Self::IsDirectory
                | Self::Encrypted
                | Self::Corrupt
                | Self::Unwritable
        )
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether the same thing may be tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Retry {
    /// The same attempt fails again.
    #[default]
    Never,
    /// The same attempt may succeed a little later.
    Later,
    /// Another attempt may succeed once the request was changed.
    Changed,
}

/// An error of dbagent. Cheap to move: the body is boxed.
pub struct Error(Box<Body>);

struct Body {
    kind: ErrorKind,
    message: String,
    retry: Retry,
    operation: Option<&'static str>,
    context: Vec<(&'static str, String)>,
    hint: Option<String>,
    code: Option<String>,
    position: Option<usize>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of `kind` with a sentence for people. Attempts after a change are advised for kinds that
    /// a model can mend, none for the others; [`Error::retry`] overrides that.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let retry = if kind.is_mendable() { Retry::Changed } else { Retry::Never };
        Self(Box::new(Body {
            kind,
            message: message.into(),
            retry,
            operation: None,
            context: Vec::new(),
            hint: None,
            code: None,
            position: None,
            source: None,
        }))
    }

    /// Sets the operation that failed, such as `open` or `read`.
    pub fn op(mut self, operation: &'static str) -> Self {
        self.0.operation = Some(operation);
        self
    }

    /// Adds a fact about the circumstances. Never a credential: those types do not convert to text.
    pub fn with(mut self, key: &'static str, value: impl fmt::Display) -> Self {
        self.0.context.push((key, value.to_string()));
        self
    }

    /// Says what to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Keeps the engine's own code (SQLSTATE, number, result code).
    pub fn code(mut self, code: impl Into<String>) -> Self {
        self.0.code = Some(code.into());
        self
    }

    /// Keeps where in the request's text the engine saw the problem, as a byte offset.
    pub fn at(mut self, position: usize) -> Self {
        self.0.position = Some(position);
        self
    }

    /// Overrides the retry advice.
    pub fn retry(mut self, retry: Retry) -> Self {
        self.0.retry = retry;
        self
    }

    /// Keeps the underlying error whole; it stays downcastable.
    pub fn source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The sentence for people, without context.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Whether it may be tried again.
    pub fn retry_advice(&self) -> Retry {
        self.0.retry
    }

    /// The operation that failed, if named.
    pub fn operation(&self) -> Option<&'static str> {
        self.0.operation
    }

    /// The circumstances, in the order in which they were added.
    pub fn context(&self) -> &[(&'static str, String)] {
        &self.0.context
    }

    /// What to do about it, if known.
    pub fn hint_text(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The engine's own code.
    pub fn native_code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// The byte offset in the request's text.
    pub fn position(&self) -> Option<usize> {
        self.0.position
    }

    /// The underlying error as a concrete type.
    pub fn downcast_source<E: StdError + 'static>(&self) -> Option<&E> {
        self.0.source.as_deref().and_then(|s| s.downcast_ref::<E>())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        let mut open = false;
        for (key, value) in &self.0.context {
            f.write_str(if open { ", " } else { " (" })?;
            write!(f, "{key}: {value}")?;
            open = true;
        }
        if let Some(code) = &self.0.code {
            f.write_str(if open { ", " } else { " (" })?;
            write!(f, "code: {code}")?;
            open = true;
        }
        if open {
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut d = f.debug_struct("Error");
        d.field("kind", &self.0.kind).field("message", &self.0.message);
        if let Some(operation) = self.0.operation {
            d.field("operation", &operation);
        }
        if !self.0.context.is_empty() {
            d.field("context", &self.0.context);
        }
        if let Some(code) = &self.0.code {
            d.field("code", code);
        }
        if let Some(source) = &self.0.source {
            d.field("source", source);
        }
        d.finish_non_exhaustive()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|s| s as &(dyn StdError + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_name_of_its_own() {
        let mut names: Vec<_> = ErrorKind::ALL.iter().map(|k| k.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ErrorKind::ALL.len());
    }

    #[test]
    fn the_text_names_context_and_code_and_the_source_stays_whole() {
        let e = Error::new(ErrorKind::Timeout, "the statement ran past its limit")
            .op("read")
            .with("limit", "5 s")
            .code("57014")
            .source(std::io::Error::other("gone"));
        assert_eq!(e.to_string(), "the statement ran past its limit (limit: 5 s, code: 57014)");
        assert!(e.downcast_source::<std::io::Error>().is_some());
        assert_eq!(e.retry_advice(), Retry::Changed);
    }
}

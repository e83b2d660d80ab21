//! Reads the definitions of views.
//!
//! The servers print a definition in one form, whatever mode it was written in: names in backticks, strings in
//! single quotes with backslashes. Definitions are texts of others: they are read under the same limits as a
//! statement, and on a stack like the one that statements are read on.

use dbagent_core::guard::{Finding, Parsed, Rule, StatementClass};
use dbagent_core::guardrails::StatementLimits;
use dbagent_core::session::PARSE_STACK_BYTES;
use dbagent_core::{Dialect, Effects, Error, ErrorKind, Request, Result, Settings};
use tokio::sync::oneshot;

use super::Key;
use super::facts::Fact;
use crate::flavor::Flavor;
use crate::parse;

/// The text of a view and what its words mean.
pub(super) struct Definition {
    text: String,
    settings: Settings,
}

impl Definition {
    pub(super) fn of(fact: &Fact) -> Option<Self> {
        let settings = Settings::new()
            .with("version", &fact.version)
            .with("sql_mode", "")
            .with(Settings::DEFAULT_NAMESPACE, &fact.schema);
        Some(Self { text: fact.definition.clone()?, settings })
    }

    fn read(self, flavor: &Flavor, limits: StatementLimits) -> Parsed {
        // A context belongs to a dialect, of which nothing but the limits and settings is used here.
        const PLAIN: Dialect =
            Dialect::new("view", |_, _| Err(nothing()), |_, _| Box::pin(async { Err(nothing()) }));
        let context = PLAIN.parse_context(limits, self.settings);
        parse::parse(flavor, &Request::text(self.text), &context).unwrap_or_else(|e| {
            let mut parsed = Parsed::new(StatementClass::Unknown, Effects::UNKNOWN);
            let what = format!("the definition cannot be judged: {e}");
            parsed.findings.push(Finding::new(Rule::UnknownSyntax, what, None));
            parsed
        })
    }
}

fn nothing() -> Error {
    Error::new(ErrorKind::Internal, "this only holds limits")
}

/// Reads definitions, off the async threads.
pub(super) async fn parse(
    flavor: &'static Flavor,
    definitions: Vec<(Key, Definition)>,
    limits: StatementLimits,
) -> Result<Vec<(Key, Parsed)>> {
    if definitions.is_empty() {
        return Ok(Vec::new());
    }
    let (tx, rx) = oneshot::channel();
    std::thread::Builder::new()
        .name("parse-views".to_owned())
        .stack_size(PARSE_STACK_BYTES)
        .spawn(move || {
            let read = |(key, definition): (Key, Definition)| (key, definition.read(flavor, limits));
            // Who gave up does not want it.
            _ = tx.send(definitions.into_iter().map(read).collect());
        })
        .map_err(|e| {
            Error::new(ErrorKind::Exhausted, "no thread could be started to read views")
                .op("resolve")
                .source(e)
        })?;
    rx.await.map_err(|_| {
        Error::new(ErrorKind::Internal, "the parser failed on the definition of a view; nothing was run")
            .op("resolve")
    })
}

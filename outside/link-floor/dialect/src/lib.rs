//! A dialect that does nothing but register itself, as small as one can be.

use std::pin::Pin;

use dbagent_core::guard::{Finding, Parsed, Rule, StatementClass};
use dbagent_core::{
    Dialect, Effects, Error, ErrorKind, OpenContext, ParseContext, Request, Result, Session, Target,
};

/// The descriptor, for those who pass it by hand.
pub const DIALECT: Dialect = Dialect::new("floor", parse, open).schemes(&["floor"]);

dbagent_core::inventory::submit! { DIALECT }

fn parse(_: &Request, _: &ParseContext) -> Result<Parsed> {
    let mut parsed = Parsed::new(StatementClass::Unknown, Effects::UNKNOWN);
    parsed.findings.push(Finding::new(Rule::UnknownSyntax, "nothing can be asked", None));
    Ok(parsed)
}

type Opening<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn Session>>> + Send + 'a>>;

fn open<'a>(_: &'a Target, _: &'a OpenContext) -> Opening<'a> {
    Box::pin(async { Err(Error::new(ErrorKind::Unsupported, "there is no database behind this")) })
}

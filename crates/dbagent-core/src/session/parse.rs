//! Parsing off the async threads, on a stack of known size, under the call's deadline.
//!
//! Parsers recurse. Limits on bytes and tokens come first; then each parse runs on a thread whose stack
//! is large enough for any text within those limits, so that no text can abort the process.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::context::CallContext;
use crate::dialect::{Dialect, ParseContext};
use crate::error::{Error, ErrorKind, Result};
use crate::guard::{Finding, Parsed, Rule, Span, StatementClass};
use crate::request::Request;
use crate::text::thousands;
use crate::workers::{IDLE, Workers};

/// The stack of a parsing thread. Pages are touched only as deep as a parse recurses.
pub const PARSE_STACK_BYTES: usize = 256 << 20;
/// Parses that run at once; more wait.
const PARALLEL: usize = 8;
/// A longer text is parsed on a thread that ends with it: how much of the stack it touched, nobody knows.
const SHORT: usize = 2 << 10;

/// Runs parsers on threads of their own.
#[derive(Clone)]
pub struct ParsePool {
    dialect: &'static Dialect,
    context: ParseContext,
    permits: Arc<Semaphore>,
    workers: Workers,
}

impl ParsePool {
    /// A pool for one dialect under one set of limits and settings.
    pub fn new(dialect: &'static Dialect, context: ParseContext) -> Self {
        let workers = Workers::new(format!("parse-{}", dialect.id()), PARSE_STACK_BYTES, IDLE);
        Self { dialect, context, permits: Arc::new(Semaphore::new(PARALLEL)), workers }
    }

    /// Checks what comes before any parser, then parses.
    ///
    /// A text that is too large, holds a NUL or is not accepted by the grammar gives a [`Parsed`] with a
    /// finding, which the judge refuses.
    ///
    /// # Errors
    /// [`ErrorKind::Timeout`], [`ErrorKind::Cancelled`]; [`ErrorKind::Internal`] when a parser panicked.
    pub async fn parse(&self, request: &Request, call: &CallContext) -> Result<Parsed> {
        if let Some(finding) = self.precheck(request.as_str()) {
            return Ok(refused(finding));
        }
        let gone = |_| Error::new(ErrorKind::Internal, "the parse pool is closed");
        // The permit travels with the thread: a parse that outlives its deadline still counts.
        let permit = call.bound("parse", Arc::clone(&self.permits).acquire_owned()).await?.map_err(gone)?;
        let (dialect, context, owned) = (self.dialect, self.context.clone(), request.clone());
        let (keep, parse) = (request.as_str().len() <= SHORT, move || dialect.parse(&owned, &context));
        let parsed = self.workers.start(keep, permit, parse).map_err(|e| {
            Error::new(ErrorKind::Exhausted, "no thread could be started to parse").op("parse").source(e)
        })?;
        match call.bound("parse", parsed).await? {
            Ok(Ok(Ok(parsed))) => Ok(parsed),
            Ok(Ok(Err(e))) if e.kind() == ErrorKind::Syntax => Ok(refused(syntax(&e))),
            Ok(Ok(Err(e))) => Err(e),
            Ok(Err(_)) | Err(_) => Err(Error::new(
                ErrorKind::Internal,
                format!("the parser of {} failed on this statement; nothing was run", self.dialect.id()),
            )
            .op("parse")),
        }
    }

    fn precheck(&self, text: &str) -> Option<Finding> {
        let limit = self.context.limits().bytes;
        if text.len() > limit {
            return Some(Finding::new(
                Rule::TooLarge,
                format!(
                    "the statement has {} bytes, at most {} are read",
                    thousands(text.len() as u64),
                    thousands(limit as u64)
                ),
                None,
            ));
        }
        if let Some(at) = text.find('\0') {
            return Some(Finding::new(
                Rule::NotText,
                "the statement holds a NUL character",
                Some(Span::new(at, at + 1)),
            ));
        }
        text.trim().is_empty().then(|| Finding::new(Rule::Empty, "the statement is empty", None))
    }
}

fn refused(finding: Finding) -> Parsed {
    let mut parsed = Parsed::new(StatementClass::Unknown, crate::Effects::UNKNOWN);
    parsed.findings.push(finding);
    parsed
}

fn syntax(e: &Error) -> Finding {
    let finding = Finding::new(Rule::Syntax, e.to_string(), e.position().map(|p| Span::new(p, p)));
    match e.hint_text() {
        Some(hint) => finding.advice(hint),
        None => finding,
    }
}

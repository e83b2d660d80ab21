//! Definitions are read on a thread of known stack: a view may be nested as deep as a statement.

use dbagent_core::session::PARSE_STACK_BYTES;
use dbagent_core::{Error, ErrorKind, Result};
use tokio::sync::oneshot;

/// Runs this on a thread whose stack is deep enough for any text that the grammar accepts.
///
/// # Errors
/// [`ErrorKind::Exhausted`] when no thread can be started, [`ErrorKind::Internal`] when it panicked.
pub(super) async fn on_deep_stack<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let (done, result) = oneshot::channel();
    std::thread::Builder::new()
        .name("parse-postgres-definitions".to_owned())
        .stack_size(PARSE_STACK_BYTES)
        .spawn(move || {
            // A receiver that is gone gave up; the answer matters to nobody.
            _ = done.send(work());
        })
        .map_err(|e| {
            Error::new(ErrorKind::Exhausted, "no thread could be started to read definitions")
                .op("resolve")
                .source(e)
        })?;
    result.await.map_err(|_| {
        Error::new(ErrorKind::Internal, "the parser failed on a definition of the catalogue; nothing was run")
            .op("resolve")
    })
}

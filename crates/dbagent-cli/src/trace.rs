//! The trace that `-v` shows on standard error.

use tracing_subscriber::filter::EnvFilter;

/// Starts it. Only crates of dbagent are heard: what others log may hold requests and answers.
pub(crate) fn start(verbose: u8, quiet: bool) {
    let level = match verbose {
        0 => return,
        1 => "debug",
        _ => "trace",
    };
    if quiet {
        return;
    }
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter(level)))
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .without_time()
        .finish();
    // A second subscriber in one process is only possible in tests.
    _ = tracing::subscriber::set_global_default(subscriber);
}

/// The crates that are heard, at this level. The client under the model adapter is silenced by name: it logs
/// what a server sent whole, as an error.
fn filter(level: &str) -> String {
    let ours =
        ["dbagent", "dbagent_core", "dbagent_sql", "dbagent_sqlite", "dbagent_openai", "dbagent_offline"];
    let ours = ours.iter().map(|name| format!("{name}={level}"));
    ours.chain(["async_openai=off".to_owned()]).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_crates_are_heard() {
        assert!(filter("debug").split(',').any(|d| d == "async_openai=off"));
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new(filter("trace")))
            .with_writer(std::io::sink)
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            assert!(tracing::enabled!(target: "dbagent_core::agent", tracing::Level::DEBUG));
            assert!(!tracing::enabled!(target: "async_openai", tracing::Level::ERROR));
            assert!(!tracing::enabled!(target: "async_openai::client", tracing::Level::ERROR));
            assert!(!tracing::enabled!(target: "hyper", tracing::Level::ERROR));
        });
    }
}

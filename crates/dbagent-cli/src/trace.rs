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
    let ours =
        ["dbagent", "dbagent_core", "dbagent_sql", "dbagent_sqlite", "dbagent_openai", "dbagent_offline"];
    let filter = ours.iter().map(|name| format!("{name}={level}")).collect::<Vec<_>>().join(",");
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .without_time()
        .finish();
    // A second subscriber in one process is only possible in tests.
    _ = tracing::subscriber::set_global_default(subscriber);
}

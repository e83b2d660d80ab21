//! Real servers, really started.
//!
//! What cannot be had prints `SKIPPED name: why`; with the name in `DBAGENT_REQUIRE` that is a failure.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test may end early, and says what it skips")]

mod probe;
mod throwaway;

use dbagent_services::Server;

/// A server of the test's own, or a line that says why not.
fn server(name: &str) -> Option<Server> {
    match Server::throwaway(name) {
        Ok(server) => Some(server),
        Err(why) => {
            let required = std::env::var("DBAGENT_REQUIRE").unwrap_or_default();
            assert!(
                !required.split(',').any(|required| required.trim() == name),
                "{name} is required: {why}"
            );
            println!("SKIPPED {name}: {why}");
            None
        }
    }
}

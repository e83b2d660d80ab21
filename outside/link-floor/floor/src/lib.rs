//! What each of the programs does with its registry.

use dbagent_core::{ConnUrl, Registry};

/// Prints the ids, then what `url` opens: a dialect, or the error with its hint.
pub fn report(registry: &Registry, url: &str) {
    println!("registered: {}", registry.ids().join(" "));
    match ConnUrl::parse(url).map_err(Into::into).and_then(|url| registry.for_url(&url)) {
        Ok(dialect) => println!("opens: {}", dialect.id()),
        Err(error) => println!("error: {error}\nhint: {}", error.hint_text().unwrap_or_default()),
    }
}

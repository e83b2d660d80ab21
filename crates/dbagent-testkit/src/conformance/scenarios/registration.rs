//! The dialect is known to whoever links its crate.

use dbagent_core::Registry;

use super::super::kit::{Kit, Outcome, ensure, fail, told};

pub(super) async fn registration(kit: &Kit) -> Outcome {
    let dialect = kit.dialect();
    let registry = match Registry::collected() {
        Ok(registry) => registry,
        Err(e) => fail!("the registry cannot be collected: {e}"),
    };
    let Some(found) = registry.get(dialect.id()) else {
        fail!(
            "{:?} is not registered (registered are {:?}); the crate needs `inventory::submit! {{ DIALECT }}`",
            dialect.id(),
            registry.ids()
        )
    };
    ensure!(
        found.url_schemes() == dialect.url_schemes(),
        "the registered dialect has the schemes {:?}, the fixture's has {:?}",
        found.url_schemes(),
        dialect.url_schemes()
    );
    let url = kit.target().await?.url;
    match registry.for_url(&url) {
        Ok(opened_by) => ensure!(
            opened_by.id() == dialect.id(),
            "{}:// opens {}, not {}",
            url.scheme(),
            opened_by.id(),
            dialect.id()
        ),
        Err(e) => fail!("the target's own URL opens nothing: {}", told(&e)),
    }
    ensure!(dialect.can().max_concurrent_reads >= 1, "max_concurrent_reads must be at least 1");
    ensure!(!dialect.display_name().is_empty(), "the dialect has no name for people");
    Ok(())
}

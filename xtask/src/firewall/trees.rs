//! What a program really gets that takes the library with one feature: that and nothing else.

use std::collections::BTreeSet;

use super::layers::Layer;
use crate::deny::Ban;

/// What a program pays for when it talks to a network.
const NETWORK: &[&str] =
    &["async-openai", "h2", "hyper", "native-tls", "openssl", "reqwest", "ring", "rustls", "ureq"];

/// Features whose builds need no network: no feature at all, files on disk, the offline planner.
const WITHOUT_NETWORK: &[Option<&str>] = &[None, Some("sqlite"), Some("duckdb"), Some("offline")];

/// What the umbrella's tree with this one feature holds and must not.
pub(super) fn check(feature: Option<&str>, tree: &BTreeSet<String>, bans: &[Ban]) -> Vec<String> {
    let shown = feature.map_or_else(|| "without features".to_owned(), |name| format!("with `{name}` alone"));
    let own = feature.map(|name| format!("dbagent-{name}"));
    let own = own.as_deref().filter(|name| Layer::of(name) == Some(Layer::Dialect));
    let mut problems = Vec::new();
    let mut complain = |name: &str, what: &str| {
        problems.push(format!("a build of the library {shown} holds `{name}`, {what}"));
    };

    if !tree.contains(super::UMBRELLA) {
        return vec![format!(
            "the tree of the library {shown} is not one: cargo's answer was not understood"
        )];
    }
    for name in tree {
        let name = name.as_str();
        if Layer::of(name) == Some(Layer::Dialect) && Some(name) != own {
            complain(name, "another dialect");
        }
        if matches!(Layer::of(name), Some(Layer::Face | Layer::Kit | Layer::Workshop)) {
            complain(name, "which stands above the library");
        }
        if WITHOUT_NETWORK.contains(&feature) && NETWORK.contains(&name) {
            complain(name, "which talks to a network");
        }
        let owners: Vec<&str> = bans
            .iter()
            .filter(|ban| ban.name == name)
            .flat_map(|ban| ban.wrappers.iter().map(String::as_str))
            .collect();
        let of = |layer| owners.iter().copied().filter(move |owner| Layer::of(owner) == Some(layer));
        let dialects: Vec<&str> = of(Layer::Dialect).collect();
        // What a family shares may own a driver, and comes with each of its dialects.
        if of(Layer::Shared).any(|owner| tree.contains(owner)) {
            continue;
        }
        if !dialects.is_empty() && !own.is_some_and(|own| dialects.contains(&own)) {
            complain(name, "the driver or grammar of another dialect");
        }
    }
    if let Some(own) = own
        && !tree.contains(own)
    {
        problems.push(format!(
            "a build of the library {shown} does not hold {own}: the feature turns on nothing"
        ));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::firewall::house::by_hand::{names, words};

    fn bans() -> Vec<Ban> {
        let ban = |name: &str, owner: &str| Ban {
            name: name.to_owned(),
            wrappers: words(&[owner]),
            reason: String::new(),
        };
        vec![ban("rusqlite", "dbagent-sqlite"), ban("duckdb", "dbagent-duckdb")]
    }

    #[test]
    fn one_dialect_brings_its_driver_and_nothing_else() {
        let tree = names(&["dbagent", "dbagent-core", "dbagent-sql", "dbagent-sqlite", "rusqlite"]);
        assert_eq!(check(Some("sqlite"), &tree, &bans()), Vec::<String>::new());
    }

    #[test]
    fn a_family_shares_its_driver_and_nobody_else_has_it() {
        let shared = Ban {
            name: "sqlx".to_owned(),
            wrappers: words(&["dbagent-mysql-common", "dbagent-postgres"]),
            reason: String::new(),
        };
        let tree = names(&["dbagent", "dbagent-core", "dbagent-mysql", "dbagent-mysql-common", "sqlx"]);
        assert_eq!(check(Some("mysql"), &tree, std::slice::from_ref(&shared)), Vec::<String>::new());
        let tree = names(&["dbagent", "dbagent-core", "dbagent-sqlite", "rusqlite", "sqlx"]);
        assert_eq!(check(Some("sqlite"), &tree, &[shared]).len(), 1);
    }

    #[test]
    fn another_dialect_another_driver_and_a_network_are_seen() {
        for wrong in ["dbagent-duckdb", "duckdb", "reqwest", "dbagent-testkit"] {
            let tree = names(&["dbagent", "dbagent-core", "dbagent-sqlite", "rusqlite", wrong]);
            assert_eq!(check(Some("sqlite"), &tree, &bans()).len(), 1, "{wrong}");
        }
    }

    #[test]
    fn no_feature_means_no_dialect_no_driver_no_network() {
        assert_eq!(check(None, &names(&["dbagent", "dbagent-core"]), &bans()), Vec::<String>::new());
        for wrong in ["dbagent-sqlite", "rusqlite", "hyper"] {
            assert_eq!(check(None, &names(&["dbagent", wrong]), &bans()).len(), 1, "{wrong}");
        }
    }

    #[test]
    fn a_model_may_use_a_network_and_no_driver() {
        let tree = names(&["dbagent", "dbagent-openai", "reqwest"]);
        assert_eq!(check(Some("openai"), &tree, &bans()), Vec::<String>::new());
        assert_eq!(check(Some("openai"), &names(&["dbagent", "rusqlite"]), &bans()).len(), 1);
    }

    #[test]
    fn a_feature_that_brings_nothing_and_an_empty_tree_are_problems() {
        assert_eq!(check(Some("sqlite"), &names(&["dbagent"]), &bans()).len(), 1);
        assert_eq!(check(Some("sqlite"), &names(&[]), &bans()).len(), 1);
    }
}

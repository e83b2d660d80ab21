//! The core stays thin: it depends on a closed list, and nothing behind that list is a driver, an HTTP
//! client, a parser of queries or a file format.

use std::collections::BTreeSet;

use super::CORE;
use super::house::House;

/// What dbagent-core may depend on directly. To add one, say why it belongs to every program that
/// embeds an agent, whatever its database and its model.
const ALLOWED: &[(&str, &str)] = &[
    ("arrow-array", "record batches are the one form of every result"),
    ("arrow-buffer", "record batches are the one form of every result"),
    ("arrow-schema", "record batches are the one form of every result"),
    ("async-trait", "the traits are object safe and async"),
    ("base64", "bytes as parameters and in cells"),
    ("futures-core", "the stream trait"),
    ("futures-util", "joining and ordering parallel calls"),
    ("inventory", "dialects register themselves"),
    ("jsonschema", "structured answers and tool arguments are checked against their schema"),
    ("schemars", "schemas of tool arguments"),
    ("serde", "facts, requests, events"),
    ("serde_json", "facts, requests, events"),
    ("sha2", "digests of policies and of what a person was shown"),
    ("strsim", "near misses in error hints"),
    ("thiserror", "the one error shape"),
    ("tokio", "channels, timers, tasks"),
    ("tokio-util", "the cancellation token"),
    ("tracing", "logs"),
    ("unicode-width", "columns of the text tables"),
];

/// The parts of tokio that do no IO.
const TOKIO: &[&str] = &["sync", "time", "rt", "macros"];

/// What must not stand behind the core; a `*` at the end means every name that begins so.
const FORBIDDEN: &[(&str, &str)] = &[
    ("async-openai*", "a model adapter"),
    ("axum*", "an HTTP server"),
    ("curl*", "an HTTP client"),
    ("h2", "an HTTP client"),
    ("hyper*", "an HTTP client"),
    ("isahc", "an HTTP client"),
    ("reqwest*", "an HTTP client"),
    ("tonic*", "an HTTP client"),
    ("tower-http", "an HTTP client"),
    ("ureq*", "an HTTP client"),
    ("mio", "sockets"),
    ("native-tls", "TLS"),
    ("openssl*", "TLS"),
    ("aws-lc*", "TLS"),
    ("ring", "TLS"),
    ("rustls*", "TLS"),
    ("bson", "a driver"),
    ("duckdb", "a driver"),
    ("elasticsearch", "a driver"),
    ("libduckdb-sys", "a driver"),
    ("libsqlite3-sys", "a driver"),
    ("mongodb*", "a driver"),
    ("mysql*", "a driver"),
    ("neo4rs", "a driver"),
    ("opensearch", "a driver"),
    ("postgres*", "a driver"),
    ("rusqlite", "a driver"),
    ("sqlx*", "a driver"),
    ("tokio-postgres*", "a driver"),
    ("pg_query", "a parser of queries"),
    ("sqlite3-parser", "a parser of queries"),
    ("sqlparser*", "a parser of queries"),
    ("tree-sitter*", "a parser of queries"),
    ("arrow-csv", "a file format"),
    ("arrow-ipc", "a file format"),
    ("arrow-json", "a file format"),
    ("csv*", "a file format"),
    ("object_store", "file storage"),
    ("opendal*", "file storage"),
    ("parquet*", "a file format"),
];

/// What the core's manifest names that it may not.
pub(super) fn direct(house: &House) -> Vec<String> {
    let Some(core) = house.members.iter().find(|member| member.name == CORE) else {
        return vec![format!("the workspace has no package {CORE}")];
    };
    let mut problems = Vec::new();
    for dependency in core.needed() {
        if !ALLOWED.iter().any(|(name, _)| *name == dependency.name) {
            problems.push(format!(
                "{CORE} depends on `{}`, which is not on its list; move what needs it to a crate beside the core, \
                 or argue for it in xtask/src/firewall/core_list.rs",
                dependency.name
            ));
        }
        if dependency.name == "tokio" {
            let beyond = dependency.features.iter().filter(|feature| !TOKIO.contains(&feature.as_str()));
            problems.extend(beyond.map(|feature| {
                format!("{CORE} turns on tokio's `{feature}`; it may use {} only", TOKIO.join(", "))
            }));
        }
    }
    problems
}

/// What stands behind the core in a build of it alone and must not.
pub(super) fn transitive(tree: &BTreeSet<String>) -> Vec<String> {
    if !tree.contains(CORE) {
        return vec![format!(
            "the tree of {CORE} does not even hold {CORE}: cargo's answer was not understood"
        )];
    }
    let mut problems = Vec::new();
    for name in tree {
        if let Some((_, what)) = FORBIDDEN.iter().find(|(pattern, _)| matches(pattern, name)) {
            problems.push(format!(
                "{CORE} is built with `{name}`, {what}; `cargo tree -p {CORE} -i {name}` shows what brings it in"
            ));
        }
    }
    problems
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::firewall::house::by_hand::{member, names, needs, tests_with, words};
    use crate::firewall::house::{Declared, Member};

    fn house(core: Member) -> House {
        House { members: vec![core], resolved: Vec::new() }
    }

    #[test]
    fn what_is_on_the_list_may_be_used() {
        assert_eq!(direct(&house(member(CORE, &["serde", "arrow-array"]))), Vec::<String>::new());
    }

    #[test]
    fn what_is_not_on_the_list_may_not_but_in_tests() {
        let problems = direct(&house(member(CORE, &["regex"])));
        assert!(problems[0].contains("depends on `regex`"), "{problems:?}");
        let core = Member { dependencies: vec![tests_with("trybuild")], ..member(CORE, &[]) };
        assert_eq!(direct(&house(core)), Vec::<String>::new());
    }

    #[test]
    fn tokio_is_used_without_its_io() {
        let tokio = |features: &[&str]| Declared { features: words(features), ..needs("tokio") };
        let core = |features: &[&str]| Member { dependencies: vec![tokio(features)], ..member(CORE, &[]) };
        assert_eq!(direct(&house(core(&["sync", "rt"]))), Vec::<String>::new());
        assert_eq!(direct(&house(core(&["sync", "net"]))).len(), 1);
    }

    #[test]
    fn a_core_that_is_not_there_is_a_problem() {
        assert_eq!(direct(&House::default()).len(), 1);
        assert_eq!(transitive(&names(&[])).len(), 1);
    }

    #[test]
    fn what_stands_behind_the_list_is_looked_at_too() {
        assert_eq!(transitive(&names(&[CORE, "serde", "ryu"])), Vec::<String>::new());
        for forbidden in ["hyper-util", "sqlx-core", "parquet", "sqlite3-parser"] {
            assert_eq!(transitive(&names(&[CORE, forbidden])).len(), 1, "{forbidden}");
        }
    }
}

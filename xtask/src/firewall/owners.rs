//! Drivers, parsers and HTTP clients stay inside the crates that `deny.toml` names.

use std::collections::BTreeSet;

use super::house::House;
use crate::deny::Ban;

/// Who depends on a crate that it may not depend on.
///
/// Looked at is the resolved graph, as cargo-deny does, and besides it what our manifests declare:
/// an optional dependency that no feature turns on is in no graph.
pub(super) fn check(house: &House, bans: &[Ban]) -> Vec<String> {
    let resolved = house.resolved.iter().flat_map(|package| {
        package.depends_on.iter().map(|dependency| (package.name.as_str(), dependency.as_str()))
    });
    let declared = house.members.iter().flat_map(|member| {
        member.dependencies.iter().map(|dependency| (member.name.as_str(), dependency.name.as_str()))
    });
    let edges: BTreeSet<(&str, &str)> = resolved.chain(declared).collect();

    let mut problems = Vec::new();
    for ban in bans {
        for (user, _) in edges.iter().filter(|(_, used)| *used == ban.name) {
            if ban.wrappers.iter().any(|wrapper| wrapper == user) {
                continue;
            }
            let rule = if ban.wrappers.is_empty() {
                "nobody may".to_owned()
            } else {
                format!("only {} may", ban.wrappers.join(", "))
            };
            problems.push(format!("`{user}` depends on `{}`; {rule}: {} (deny.toml)", ban.name, ban.reason));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::firewall::house::by_hand::{member, resolved, tests_with, words};

    fn ban(name: &str, wrappers: &[&str]) -> Ban {
        Ban { name: name.to_owned(), wrappers: words(wrappers), reason: "drivers stay at home".to_owned() }
    }

    #[test]
    fn a_wrapper_may_and_another_may_not() {
        let house = House {
            members: Vec::new(),
            resolved: vec![
                resolved("dbagent-sqlite", "0.1.0", &["rusqlite"]),
                resolved("stranger", "1.0.0", &["rusqlite"]),
            ],
        };
        let problems = check(&house, &[ban("rusqlite", &["dbagent-sqlite"])]);
        assert_eq!(
            problems,
            ["`stranger` depends on `rusqlite`; only dbagent-sqlite may: drivers stay at home (deny.toml)"]
        );
    }

    #[test]
    fn without_wrappers_nobody_may() {
        let house = House { members: Vec::new(), resolved: vec![resolved("tls", "1.0.0", &["openssl-sys"])] };
        assert_eq!(check(&house, &[ban("openssl-sys", &[])]).len(), 1);
    }

    #[test]
    fn what_a_manifest_declares_counts_also_when_it_is_in_no_graph() {
        let mut core = member("dbagent-core", &["reqwest"]);
        core.dependencies.push(tests_with("mongodb"));
        let house = House { members: vec![core], resolved: Vec::new() };
        assert_eq!(check(&house, &[ban("reqwest", &["dbagent-openai"]), ban("mongodb", &[])]).len(), 2);
    }
}

//! Features add and never surprise: who may turn on what, and which may exist.

use super::house::{Declared, House, Kind, Member};
use super::layers::Layer;

const BINARY: &str = "dbagent-cli";
const TESTING: &str = "testing";

/// Every feature that is declared or turned on where it must not be.
pub(super) fn check(house: &House) -> Vec<String> {
    let mut problems = Vec::new();
    for member in &house.members {
        for dependency in member.dependencies.iter().filter(|dependency| house.is_ours(&dependency.name)) {
            problems.extend(turned_on(house, member, dependency));
        }
        for (feature, turns_on) in &member.features {
            problems.extend(declared(house, member, feature, turns_on));
        }
    }
    problems
}

/// A dependency on one of ours must not turn features on: cargo unifies the normal dependencies of the
/// whole workspace, so one careless line would put a driver into the binary.
fn turned_on(house: &House, member: &Member, dependency: &Declared) -> Vec<String> {
    let (user, used) = (&member.name, &dependency.name);
    let mut problems = Vec::new();
    if dependency.features.iter().any(|feature| feature == TESTING) {
        let on_itself = user == used && dependency.kind == Kind::Dev && dependency.path_only;
        if !on_itself {
            problems.push(format!(
                "{user} turns on `{used}/{TESTING}`; only the crate itself may, by a dev-dependency with a path and \
                 no version"
            ));
        }
    }
    if dependency.kind == Kind::Dev {
        return problems;
    }
    let features = dependency.features.iter().filter(|feature| *feature != TESTING);
    problems.extend(features.map(|feature| {
        format!(
            "{user} turns on `{used}/{feature}` in a dependency; let a feature of {BINARY} turn it on, or make it a \
             dev-dependency"
        )
    }));
    let has_default = house.members.iter().any(|member| {
        member.name == *used && member.features.get("default").is_some_and(|turns_on| !turns_on.is_empty())
    });
    if dependency.default_features && has_default {
        problems
            .push(format!("{user} takes {used} with its default features; write `default-features = false`"));
    }
    problems
}

/// A feature must do something, must not be on by itself, and must not reach into other crates of ours.
fn declared(house: &House, member: &Member, feature: &str, turns_on: &[String]) -> Vec<String> {
    let name = &member.name;
    let mut problems = Vec::new();
    if feature == "default" {
        if !turns_on.is_empty() && name != BINARY {
            problems.push(format!(
                "{name} has default features; only {BINARY} may, a library's default is empty"
            ));
        }
    } else if turns_on.is_empty() && feature != TESTING {
        problems.push(format!("{name} has an empty feature `{feature}`; a feature turns a dependency on"));
    }
    for word in turns_on {
        let Some((used, forwarded)) = word.split_once('/') else { continue };
        let used = used.trim_end_matches('?');
        if !house.is_ours(used) || opens_the_shared_door(name, feature, used, forwarded) {
            continue;
        }
        if forwarded == TESTING {
            problems.push(format!(
                "the feature `{feature}` of {name} turns on `{used}/{TESTING}`; no feature may"
            ));
        }
        let may = match Layer::of(name) {
            Some(Layer::Face | Layer::Umbrella) => true,
            // It reaches nobody else: tests that need what not every machine has.
            Some(Layer::Workshop) => is_for_tests(member, used),
            _ => false,
        };
        if !may {
            problems.push(format!(
                "the feature `{feature}` of {name} turns on `{word}`; only a face, or the umbrella for it, may"
            ));
        }
    }
    problems
}

/// Whether all that a member uses a package for is its tests.
fn is_for_tests(member: &Member, used: &str) -> bool {
    let mut kinds = member.dependencies.iter().filter(|dependency| dependency.name == used).map(|d| d.kind);
    kinds.all(|kind| kind == Kind::Dev)
}

/// The test door of a dialect opens that of the code which it shares with another dialect: the door is there.
fn opens_the_shared_door(name: &str, feature: &str, used: &str, forwarded: &str) -> bool {
    feature == TESTING
        && forwarded == TESTING
        && Layer::of(name) == Some(Layer::Dialect)
        && Layer::of(used) == Some(Layer::Shared)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::firewall::house::by_hand::{member, needs, tests_with, words};

    fn with_features(name: &str, features: &[(&str, &[&str])]) -> Member {
        let features: BTreeMap<_, _> =
            features.iter().map(|(name, turns_on)| ((*name).to_owned(), words(turns_on))).collect();
        Member { features, ..member(name, &[]) }
    }

    fn with(name: &str, dependency: Declared) -> Member {
        Member { dependencies: vec![dependency], ..member(name, &[]) }
    }

    fn problems(members: Vec<Member>) -> Vec<String> {
        check(&House { members, resolved: Vec::new() })
    }

    #[test]
    fn tests_turn_features_on_for_themselves_only() {
        let tests = |dependencies: Vec<Declared>| Member {
            dependencies,
            ..with_features("dbagent-tests", &[("duckdb", &["dbagent/full"])])
        };
        let ours = || member("dbagent", &[]);
        assert_eq!(problems(vec![tests(vec![tests_with("dbagent")]), ours()]), Vec::<String>::new());
        assert_eq!(problems(vec![tests(vec![tests_with("dbagent"), needs("dbagent")]), ours()]).len(), 1);
        let mut part = with_features("dbagent-openai", &[("x", &["dbagent/full"])]);
        part.dependencies.push(tests_with("dbagent"));
        assert_eq!(problems(vec![part, ours()]).len(), 1);
    }

    #[test]
    fn the_binary_turns_features_on_through_its_own() {
        let cli = with_features("dbagent-cli", &[("default", &["sqlite"]), ("sqlite", &["dbagent/sqlite"])]);
        assert_eq!(problems(vec![cli, member("dbagent", &[])]), Vec::<String>::new());
    }

    #[test]
    fn nobody_turns_one_of_ours_on_in_a_dependency() {
        let umbrella = || with_features("dbagent", &[("sqlite", &["dep:dbagent-sqlite"])]);
        let features = words(&["sqlite"]);
        for user in ["dbagent-cli", "dbagent-testkit", "dbagent-tests"] {
            let wrong = with(user, Declared { features: features.clone(), ..needs("dbagent") });
            assert_eq!(problems(vec![wrong, umbrella()]).len(), 1, "{user}");
            let right = with(user, Declared { features: features.clone(), ..tests_with("dbagent") });
            assert_eq!(problems(vec![right, umbrella()]), Vec::<String>::new(), "{user}");
        }
    }

    #[test]
    fn features_of_strangers_are_nobodys_business_here() {
        let tokio = Declared { features: words(&["net"]), default_features: true, ..needs("tokio") };
        assert_eq!(problems(vec![with("dbagent-mongodb", tokio)]), Vec::<String>::new());
    }

    #[test]
    fn default_features_of_the_binary_are_not_taken_along() {
        let server = with("dbagent-server", Declared { default_features: true, ..needs("dbagent-cli") });
        let cli = with_features("dbagent-cli", &[("default", &["sqlite"]), ("sqlite", &["dbagent/sqlite"])]);
        let problems = problems(vec![server, cli, member("dbagent", &[])]);
        assert_eq!(problems.len(), 1, "{problems:?}");
    }

    #[test]
    fn testing_is_for_the_crate_itself() {
        let testing =
            |name: &str| Declared { features: words(&["testing"]), path_only: true, ..tests_with(name) };
        assert_eq!(problems(vec![with("dbagent-sqlite", testing("dbagent-sqlite"))]), Vec::<String>::new());

        let versioned = Declared { path_only: false, ..testing("dbagent-sqlite") };
        assert_eq!(problems(vec![with("dbagent-sqlite", versioned)]).len(), 1);
        let normal = Declared { kind: Kind::Normal, ..testing("dbagent-sqlite") };
        assert_eq!(problems(vec![with("dbagent-sqlite", normal)]).len(), 1);
        let other = vec![with("dbagent-tests", testing("dbagent-sqlite")), member("dbagent-sqlite", &[])];
        assert_eq!(problems(other).len(), 1);
        let forwarded = with_features("dbagent", &[("open", &["dbagent-sqlite/testing"])]);
        assert_eq!(problems(vec![forwarded, member("dbagent-sqlite", &[])]).len(), 1);
    }

    #[test]
    fn the_test_door_of_a_dialect_opens_the_one_that_it_shares() {
        let shared = || with_features("dbagent-mysql-common", &[("testing", &[])]);
        let dialect = with_features("dbagent-mysql", &[("testing", &["dbagent-mysql-common/testing"])]);
        assert_eq!(problems(vec![dialect, shared()]), Vec::<String>::new());
        // Another feature, another layer, and what is not shared.
        for (user, feature, used) in [
            ("dbagent-mysql", "handy", "dbagent-mysql-common"),
            ("dbagent", "testing", "dbagent-mysql-common"),
            ("dbagent-mysql", "testing", "dbagent-sqlite"),
        ] {
            let word = format!("{used}/testing");
            let wrong = with_features(user, &[(feature, &[&word])]);
            assert!(
                !problems(vec![wrong, shared(), member("dbagent-sqlite", &[])]).is_empty(),
                "{user} {feature} {used}"
            );
        }
    }

    #[test]
    fn only_the_binary_has_defaults() {
        let dialect = with_features("dbagent-sqlite", &[("default", &["x"]), ("x", &["dep:y"])]);
        assert_eq!(problems(vec![dialect]).len(), 1);
        assert_eq!(problems(vec![with_features("dbagent", &[("default", &[])])]), Vec::<String>::new());
    }

    #[test]
    fn a_feature_turns_something_on_but_for_the_test_door() {
        assert_eq!(problems(vec![with_features("dbagent", &[("nothing", &[])])]).len(), 1);
        assert_eq!(
            problems(vec![with_features("dbagent-sqlite", &[("testing", &[])])]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_dialect_does_not_reach_into_another_crate() {
        let dialect = with_features("dbagent-sqlite", &[("extra", &["dbagent-core/extra"])]);
        assert_eq!(problems(vec![dialect, member("dbagent-core", &[])]).len(), 1);
        let umbrella = with_features("dbagent", &[("duckdb-bundled", &["dbagent-duckdb?/bundled"])]);
        assert_eq!(problems(vec![umbrella, member("dbagent-duckdb", &[])]), Vec::<String>::new());
    }
}

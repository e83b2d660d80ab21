//! Which of our crates may build on which.

use super::house::{House, Kind};

/// The floors of the house, from the ground up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layer {
    /// Nouns, traits, guard, agent loop.
    Core,
    /// What several dialects have in common; registers nothing.
    Shared,
    /// One database.
    Dialect,
    /// What is neither a dialect nor a face: models, stores, files.
    Part,
    /// What third parties test with.
    Kit,
    /// The library that puts the parts together.
    Umbrella,
    /// What people and programs talk to.
    Face,
    /// What is never published: tests, examples, xtask.
    Workshop,
}

/// Every package of the workspace; a new one is added here, which is the moment to think where it belongs.
const LAYERS: &[(&str, Layer)] = &[
    ("dbagent-core", Layer::Core),
    ("dbagent-sql", Layer::Shared),
    ("dbagent-search", Layer::Shared),
    ("dbagent-mysql-common", Layer::Shared),
    ("dbagent-sqlite", Layer::Dialect),
    ("dbagent-duckdb", Layer::Dialect),
    ("dbagent-postgres", Layer::Dialect),
    ("dbagent-mysql", Layer::Dialect),
    ("dbagent-mariadb", Layer::Dialect),
    ("dbagent-mongodb", Layer::Dialect),
    ("dbagent-neo4j", Layer::Dialect),
    ("dbagent-elasticsearch", Layer::Dialect),
    ("dbagent-opensearch", Layer::Dialect),
    ("dbagent-openai", Layer::Part),
    ("dbagent-offline", Layer::Part),
    ("dbagent-harness", Layer::Part),
    ("dbagent-files", Layer::Part),
    ("dbagent-materialize", Layer::Part),
    ("dbagent-store", Layer::Part),
    ("dbagent-index", Layer::Part),
    ("dbagent-code", Layer::Part),
    ("dbagent-testkit", Layer::Kit),
    ("dbagent", Layer::Umbrella),
    ("dbagent-cli", Layer::Face),
    ("dbagent-server", Layer::Face),
    ("dbagent-mcp", Layer::Face),
    ("dbagent-examples", Layer::Workshop),
    ("dbagent-services", Layer::Workshop),
    ("dbagent-tests", Layer::Workshop),
    ("xtask", Layer::Workshop),
];

/// What only a program needs; a library that depends on it decides for its host.
const PROGRAMS_ONLY: &[(&str, &str)] = &[
    ("anyhow", "a library's errors have a kind that a caller can act on"),
    ("clap", "a library has no command line"),
    ("tracing-subscriber", "a library never decides where logs go"),
];

impl Layer {
    /// The layer of a package of ours, when it has one.
    pub(super) fn of(name: &str) -> Option<Self> {
        LAYERS.iter().find(|(package, _)| *package == name).map(|(_, layer)| *layer)
    }

    /// What a package of this layer may build on.
    fn below(self) -> &'static [Self] {
        match self {
            Self::Core => &[],
            // Of what is published only as dev-dependencies, see `check`.
            Self::Workshop => &[Self::Workshop],
            Self::Shared | Self::Dialect => &[Self::Core, Self::Shared],
            Self::Part => &[Self::Core, Self::Part],
            Self::Kit => &[Self::Core],
            Self::Umbrella => &[Self::Core, Self::Shared, Self::Dialect, Self::Part],
            Self::Face => &[Self::Core, Self::Umbrella, Self::Face],
        }
    }

    fn is_program(self) -> bool {
        matches!(self, Self::Face | Self::Workshop)
    }
}

/// Who builds on something that is not below it.
pub(super) fn check(house: &House) -> Vec<String> {
    let mut problems = Vec::new();
    for member in &house.members {
        let Some(layer) = Layer::of(&member.name) else {
            problems.push(format!("`{}` has no layer; add it to xtask/src/firewall/layers.rs", member.name));
            continue;
        };
        for dependency in member.needed() {
            if let Some((_, why)) = PROGRAMS_ONLY.iter().find(|(name, _)| *name == dependency.name)
                && !layer.is_program()
            {
                problems.push(format!("{} depends on `{}`: {why}", member.name, dependency.name));
            }
            let Some(other) = Layer::of(&dependency.name) else { continue };
            if !layer.below().contains(&other) {
                let advice = if layer == Layer::Workshop {
                    "make it a dev-dependency: a normal one turns its features on for every build of the workspace"
                } else {
                    "depend on what is below, or move what both need down"
                };
                problems.push(format!(
                    "{} ({layer:?}) depends on {} ({other:?}); {advice}",
                    member.name, dependency.name
                ));
            }
        }
        let on_core =
            |kind| member.dependencies.iter().any(|found| found.kind == kind && found.name == super::CORE);
        if layer == Layer::Dialect && !on_core(Kind::Normal) {
            problems.push(format!("{} is a dialect and does not depend on {}", member.name, super::CORE));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::firewall::house::Member;
    use crate::firewall::house::by_hand::{member, tests_with};

    fn problems(members: Vec<Member>) -> Vec<String> {
        check(&House { members, resolved: Vec::new() })
    }

    #[test]
    fn a_dialect_builds_on_the_core_and_on_what_dialects_share() {
        assert_eq!(
            problems(vec![member("dbagent-sqlite", &["dbagent-core", "dbagent-sql"])]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_dialect_builds_on_no_other_dialect_and_on_no_umbrella() {
        for wrong in ["dbagent-duckdb", "dbagent", "dbagent-cli", "dbagent-openai", "dbagent-testkit"] {
            let problems = problems(vec![member("dbagent-sqlite", &["dbagent-core", wrong])]);
            assert_eq!(problems.len(), 1, "{wrong}: {problems:?}");
        }
    }

    #[test]
    fn a_dialect_without_the_core_is_none() {
        assert_eq!(problems(vec![member("dbagent-sqlite", &["dbagent-sql"])]).len(), 1);
    }

    #[test]
    fn tests_may_use_anything() {
        let dependencies =
            vec![tests_with("dbagent-testkit"), tests_with("dbagent-duckdb"), tests_with("anyhow")];
        let mut sqlite = member("dbagent-sqlite", &["dbagent-core"]);
        sqlite.dependencies.extend(dependencies);
        assert_eq!(problems(vec![sqlite]), Vec::<String>::new());
    }

    #[test]
    fn tests_examples_and_xtask_use_ours_as_dev_dependencies_only() {
        assert_eq!(problems(vec![member("dbagent-tests", &["dbagent"])]).len(), 1);
        let examples =
            Member { dependencies: vec![tests_with("dbagent")], ..member("dbagent-examples", &[]) };
        assert_eq!(problems(vec![examples]), Vec::<String>::new());
        assert_eq!(problems(vec![member("xtask", &["dbagent-services"])]), Vec::<String>::new());
        let mut postgres = member("dbagent-postgres", &["dbagent-core"]);
        postgres.dependencies.push(tests_with("dbagent-services"));
        assert_eq!(problems(vec![postgres]), Vec::<String>::new());
        assert_eq!(
            problems(vec![member("dbagent-postgres", &["dbagent-core", "dbagent-services"])]).len(),
            1
        );
    }

    #[test]
    fn what_only_a_program_needs_is_in_no_library() {
        assert_eq!(problems(vec![member("dbagent-openai", &["dbagent-core", "anyhow"])]).len(), 1);
        assert_eq!(
            problems(vec![member("dbagent-cli", &["dbagent", "anyhow", "clap"])]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_package_without_a_layer_is_a_problem() {
        assert_eq!(problems(vec![member("dbagent-oracle", &["dbagent-core"])]).len(), 1);
    }
}

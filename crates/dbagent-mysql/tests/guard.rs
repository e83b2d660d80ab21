//! The guard of MySQL; the tests are shared with the other server's.

// Marked as tests, so that their helpers may unwrap.
#[cfg(test)]
#[path = "../../dbagent-mysql-common/tests/guard/mod.rs"]
mod guard;

/// See `docs/threat-model.md`.
#[cfg(test)]
const STILL_CHANGE: &[&str] = &[
    "my-104",
    "my-902",
    "own-my-455",
    "own-my-456",
    "own-my-457",
    "own-my-459",
    "own-my-460",
    "own-my-466",
    "own-my-547",
    "own-my-561",
    "own-my-617",
    "own-my-618",
];

#[cfg(test)]
const KIT: guard::Kit = guard::Kit {
    id: "mysql",
    flavor: &dbagent_mysql::FLAVOR,
    dialect: &dbagent_mysql::DIALECT,
    still_change: STILL_CHANGE,
};

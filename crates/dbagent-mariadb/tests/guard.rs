//! The guard of MariaDB; the tests are shared with the other server's.

// Marked as tests, so that their helpers may unwrap.
#[cfg(test)]
#[path = "../../dbagent-mysql-common/tests/guard/mod.rs"]
mod guard;

/// See `docs/threat-model.md`.
#[cfg(test)]
const STILL_CHANGE: &[&str] = &[
    "ma-095",
    "ma-098",
    "own-ma-333",
    "own-ma-334",
    "own-ma-335",
    "own-ma-336",
    "own-ma-337",
    "own-ma-342",
    "own-ma-346",
    "own-ma-390",
    "own-ma-464",
    "own-ma-473",
    "own-ma-474",
    "own-ma-475",
    "own-ma-477",
    "own-ma-478",
    "own-ma-484",
    "own-ma-565",
    "own-ma-574",
    "own-ma-578",
    "own-ma-641",
    "own-ma-643",
    "own-ma-647",
];

#[cfg(test)]
const KIT: guard::Kit = guard::Kit {
    id: "mariadb",
    flavor: &dbagent_mariadb::FLAVOR,
    dialect: &dbagent_mariadb::DIALECT,
    still_change: STILL_CHANGE,
};

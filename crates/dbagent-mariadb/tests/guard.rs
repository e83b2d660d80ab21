//! The guard of MariaDB; the tests are shared with the other server's.

// Marked as tests, so that their helpers may unwrap.
#[cfg(test)]
#[path = "../../dbagent-mysql-common/tests/guard/mod.rs"]
mod guard;

#[cfg(test)]
const KIT: guard::Kit =
    guard::Kit { id: "mariadb", flavor: &dbagent_mariadb::FLAVOR, dialect: &dbagent_mariadb::DIALECT };

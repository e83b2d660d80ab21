//! The guard of MySQL; the tests are shared with the other server's.

// Marked as tests, so that their helpers may unwrap.
#[cfg(test)]
#[path = "../../dbagent-mysql-common/tests/guard/mod.rs"]
mod guard;

#[cfg(test)]
const KIT: guard::Kit =
    guard::Kit { id: "mysql", flavor: &dbagent_mysql::FLAVOR, dialect: &dbagent_mysql::DIALECT };

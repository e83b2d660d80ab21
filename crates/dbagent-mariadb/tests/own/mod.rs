//! What the tests that both dialects share need to know of this one. Each of them needs a part of it.

#![expect(dead_code, reason = "each test program needs a part of it")]

use dbagent_core::Dialect;
use dbagent_testkit::conformance::{Corpus, Material};

pub(crate) use dbagent_mariadb::testing::{Scratch, raw_hardened, scratch};

/// The dialect that is tested.
pub(crate) static DIALECT: &Dialect = &dbagent_mariadb::DIALECT;

/// Whether JSON is a text here and no type of its own.
pub(crate) const JSON_IS_TEXT: bool = true;

/// An owner's connection.
pub(crate) async fn owner(url: &str) -> dbagent_core::Result<dbagent_mysql_common::testing::Owner> {
    dbagent_mariadb::testing::owner(url).await
}

/// A session over a pool of the host's.
pub(crate) async fn from_pool(
    pool: dbagent_mariadb::sqlx::MySqlPool,
    target: &dbagent_core::Target,
) -> dbagent_core::Result<Box<dyn dbagent_core::Session>> {
    dbagent_mariadb::from_pool(pool, target).await
}

/// What the level of isolation is called here, and the kind of transactions, with what it is in a session.
pub(crate) const ISOLATION: &str = "tx_isolation";
pub(crate) const READ_ONLY: (&str, &str) = ("@@session.tx_read_only", "ON");

/// The time limit of a connection's statements.
pub(crate) const TIME_LIMIT: &str = "SELECT CONCAT(FLOOR(@@SESSION.max_statement_time))";

/// The variable of the other product.
pub(crate) const OTHER: &str = "DBAGENT_TEST_MYSQL_URL";

/// The URL of an owner, or why there is none.
pub(crate) fn owner_url() -> Result<String, String> {
    variable("URL")
}

/// The variable of that name about this server.
pub(crate) fn variable(name: &str) -> Result<String, String> {
    let name = format!("DBAGENT_TEST_MARIADB_{name}");
    std::env::var(&name).map_err(|_| format!("{name} is not set"))
}

/// What is different from what both servers answer.
pub(crate) fn material(mut material: Material) -> Material {
    use dbagent_core::Request;
    material.writes.push(Request::text("CREATE SEQUENCE kit_sequence"));
    material
}

/// The corpora of the dialect.
pub(crate) fn corpora() -> Vec<Corpus> {
    vec![
        Corpus::new("mariadb.jsonl", include_str!("../../../../tests/corpora/mariadb/mariadb.jsonl"))
            .disputed(include_str!("../../../../tests/corpora/mariadb/disputed.jsonl")),
        Corpus::new("own.jsonl", include_str!("../../../../tests/corpora/mariadb/own.jsonl")),
    ]
}

//! What the tests that both dialects share need to know of this one. Each of them needs a part of it.

#![expect(dead_code, reason = "each test program needs a part of it")]

use dbagent_core::Dialect;
use dbagent_testkit::conformance::{Corpus, Material};

pub(crate) use dbagent_mysql::testing::{Scratch, raw_hardened, scratch};

/// The dialect that is tested.
pub(crate) static DIALECT: &Dialect = &dbagent_mysql::DIALECT;

/// Whether JSON is a text here and no type of its own.
pub(crate) const JSON_IS_TEXT: bool = false;

/// An owner's connection.
pub(crate) async fn owner(url: &str) -> dbagent_core::Result<dbagent_mysql_common::testing::Owner> {
    dbagent_mysql::testing::owner(url).await
}

/// A session over a pool of the host's.
pub(crate) async fn from_pool(
    pool: dbagent_mysql::sqlx::MySqlPool,
    target: &dbagent_core::Target,
) -> dbagent_core::Result<Box<dyn dbagent_core::Session>> {
    dbagent_mysql::from_pool(pool, target).await
}

/// What the level of isolation is called here, and the kind of transactions, with what it is in a session.
pub(crate) const ISOLATION: &str = "transaction_isolation";
pub(crate) const READ_ONLY: (&str, &str) = ("@@session.transaction_read_only", "1");

/// The time limit of a connection's statements.
pub(crate) const TIME_LIMIT: &str = "SELECT CONCAT(@@SESSION.max_execution_time)";

/// The variable of the other product.
pub(crate) const OTHER: &str = "DBAGENT_TEST_MARIADB_URL";

/// The URL of an owner, or why there is none.
pub(crate) fn owner_url() -> Result<String, String> {
    variable("URL")
}

/// The variable of that name about this server.
pub(crate) fn variable(name: &str) -> Result<String, String> {
    let name = format!("DBAGENT_TEST_MYSQL_{name}");
    std::env::var(&name).map_err(|_| format!("{name} is not set"))
}

/// What is different from what both servers answer.
pub(crate) fn material(mut material: Material) -> Material {
    use dbagent_core::{ErrorKind, Request};
    use dbagent_testkit::conformance::{Expected, Value};
    material.nested = vec![Expected::new(
        Request::text(
            "SELECT JSON_OBJECT('a', JSON_ARRAY(1, 'x', NULL)) AS doc, CAST('[1.0]' AS JSON) AS list",
        ),
        &["doc", "list"],
        vec![vec![Value::json("{\"a\": [1, \"x\", null]}"), Value::json("[1.0]")]],
    )];
    material.errors.push((Request::text("SELECT CAST('{' AS JSON)"), ErrorKind::Data));
    // ONLY_FULL_GROUP_BY, which the other server's mode does not have.
    material.errors.push((Request::text("SELECT id FROM users HAVING count(*)"), ErrorKind::Syntax));
    material
}

/// The corpora of the dialect.
pub(crate) fn corpora() -> Vec<Corpus> {
    vec![
        Corpus::new("mysql.jsonl", include_str!("../../../../tests/corpora/mysql/mysql.jsonl"))
            .disputed(include_str!("../../../../tests/corpora/mysql/disputed.jsonl")),
        Corpus::new("own.jsonl", include_str!("../../../../tests/corpora/mysql/own.jsonl")),
    ]
}

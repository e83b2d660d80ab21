//! What the tests that both dialects share need to know of this one. Each of them needs a part of it.

#![expect(dead_code, reason = "each test program needs a part of it")]

use dbagent_core::Request;
use dbagent_testkit::conformance::{Corpus, Material};

#[path = "../../../dbagent-mysql-common/tests/shared/server.rs"]
mod server;

use dbagent_mysql as dialect;
pub(crate) use server::*;

/// How the names of the variables about the server begin.
const VARIABLES: &str = "DBAGENT_TEST_MYSQL_";

/// Whether JSON is a text here and no type of its own.
pub(crate) const JSON_IS_TEXT: bool = false;

/// What the level of isolation is called here, and the kind of transactions, with what it is in a session.
pub(crate) const ISOLATION: &str = "transaction_isolation";
pub(crate) const READ_ONLY: (&str, &str) = ("@@session.transaction_read_only", "1");

/// The time limit of a connection's statements.
pub(crate) const TIME_LIMIT: &str = "SELECT CONCAT(@@SESSION.max_execution_time)";

/// The variable of the other product.
pub(crate) const OTHER: &str = "DBAGENT_TEST_MARIADB_URL";

/// What is different from what both servers answer.
pub(crate) fn material(mut material: Material) -> Material {
    use dbagent_core::ErrorKind;
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

//! What the tests that both dialects share need to know of this one. Each of them needs a part of it.

#![expect(dead_code, reason = "each test program needs a part of it")]

use dbagent_core::Request;
use dbagent_testkit::conformance::{Corpus, Material};

#[path = "../../../dbagent-mysql-common/tests/shared/server.rs"]
mod server;

use dbagent_mariadb as dialect;
pub(crate) use server::*;

/// How the names of the variables about the server begin.
const VARIABLES: &str = "DBAGENT_TEST_MARIADB_";

/// Whether JSON is a text here and no type of its own.
pub(crate) const JSON_IS_TEXT: bool = true;

/// What the level of isolation is called here, and the kind of transactions, with what it is in a session.
pub(crate) const ISOLATION: &str = "tx_isolation";
pub(crate) const READ_ONLY: (&str, &str) = ("@@session.tx_read_only", "ON");

/// The time limit of a connection's statements.
pub(crate) const TIME_LIMIT: &str = "SELECT CONCAT(FLOOR(@@SESSION.max_statement_time))";

/// The variable of the other product.
pub(crate) const OTHER: &str = "DBAGENT_TEST_MYSQL_URL";

/// What is different from what both servers answer.
pub(crate) fn material(mut material: Material) -> Material {
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

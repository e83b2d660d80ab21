//! What the tests that both dialects share need to know of this one.

use dbagent_core::Dialect;
use dbagent_testkit::conformance::{Corpus, Material};

pub(crate) use dbagent_mariadb::testing::{Scratch, raw_hardened, scratch};

/// The dialect that is tested.
pub(crate) static DIALECT: &Dialect = &dbagent_mariadb::DIALECT;

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

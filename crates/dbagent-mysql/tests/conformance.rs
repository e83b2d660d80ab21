//! The conformance suite of the testkit, on a scratch database of a real server.

mod own;
#[path = "../../dbagent-mysql-common/tests/shared/mod.rs"]
mod shared;

dbagent_testkit::dialect_conformance!(fixture = shared::fixture::ServerFixture::new());

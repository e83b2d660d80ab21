//! The fake document dialect passes the suite that every dialect passes.

use dbagent_testkit::documents::{DIALECT, DocumentsFixture};

dbagent_core::inventory::submit! { DIALECT }

dbagent_testkit::dialect_conformance!(fixture = DocumentsFixture::new());

//! What Postgres itself stops on a hardened connection, with the guard out of the way.

use std::collections::BTreeMap;
use std::time::Duration;

use dbagent_core::context::CallContext;
use dbagent_core::{ErrorKind, Request, Target};
use dbagent_postgres::testing::{RawHardened, raw_hardened};

use crate::state::{changed, fingerprint};
use crate::support::{Row, Scratch, execute, rows};

/// Deny rows that leave a trace although the transaction is read-only and rolled back: only the judge and the
/// account stop them. The list can only shrink: a row that leaves no trace any more must be taken off, and a
/// new one must not be put on without a reason. `docs/threat-model.md` names them.
const STILL_CHANGE: &[(&str, &str)] = &[];

/// A hardened connection that is opened again when a row ends it.
struct Door {
    target: Target,
    open: Option<RawHardened>,
    ran: usize,
}

impl Door {
    async fn run(&mut self, statement: &str) {
        let call = || CallContext::within(Duration::from_secs(5));
        let door = match self.open.take() {
            Some(door) => door,
            None => raw_hardened(&self.target, &call()).await.unwrap(),
        };
        match door.run(&Request::text(statement)).await {
            Ok(_) => self.ran += 1,
            // One that ends its own connection, or waits for what never comes, has the next on another.
            Err(e)
                if matches!(e.kind(), ErrorKind::Connection | ErrorKind::Timeout | ErrorKind::Internal) =>
            {
                return;
            }
            Err(_) => {}
        }
        self.open = Some(door);
    }
}

/// Sends each row to the door and compares the state after each, so that no row can take back what another
/// did. Gives what those left behind that changed something, and how many ran to their end.
pub(crate) async fn traces(
    scratch: &mut Scratch,
    mut target: Target,
    rows: &[Row],
) -> (BTreeMap<String, String>, usize) {
    target.guardrails.query_timeout_s = 2;
    let mut door = Door { target, open: None, ran: 0 };
    let mut traces = BTreeMap::new();
    let mut before = fingerprint(&mut scratch.owner).await.unwrap();
    for row in rows {
        door.run(&row.statement).await;
        let now = fingerprint(&mut scratch.owner).await.unwrap();
        let parts = changed(&before, &now);
        if !parts.is_empty() {
            traces.insert(row.id.clone(), format!("{:?}: {}", row.statement, parts.join(", ")));
        }
        before = now;
    }
    (traces, door.ran)
}

/// A fingerprint that notices nothing would let everything through.
#[tokio::test(flavor = "multi_thread")]
async fn the_fingerprint_notices_what_it_is_for() {
    let Some(mut scratch) = Scratch::alone("postgres", &["CREATE SEQUENCE s"]).await else { return };
    for (change, part) in [
        ("INSERT INTO users (id) VALUES (9)", "users"),
        ("UPDATE users SET name = name WHERE id = 9", "users"),
        ("SELECT nextval('s')", "s"),
        ("SELECT lo_create(4242)", "pg_largeobject_metadata"),
        ("SELECT lo_put(4242, 0, 'x')", "large objects"),
        ("CREATE TABLE t (a int)", "storage"),
        ("CREATE TEMP TABLE t (a int)", "storage"),
        ("REINDEX TABLE users", "storage"),
        ("ANALYZE users", "statistics"),
        ("COMMENT ON TABLE users IS 'x'", "pg_description"),
        ("CREATE FUNCTION f() RETURNS int LANGUAGE sql RETURN 1", "pg_proc"),
        ("GRANT SELECT ON users TO public", "pg_class"),
        ("SELECT pg_advisory_lock(1)", "locks"),
        ("SELECT pg_create_physical_replication_slot('guard_kit')", "replication"),
        ("SELECT pg_drop_replication_slot('guard_kit')", "replication"),
    ] {
        let before = fingerprint(&mut scratch.owner).await.unwrap();
        execute(scratch.other(), change).await.unwrap();
        let now = fingerprint(&mut scratch.owner).await.unwrap();
        let parts = changed(&before, &now);
        assert!(parts.iter().any(|p| p == part), "{change}: {parts:?}");
        let again = fingerprint(&mut scratch.owner).await.unwrap();
        assert_eq!(now, again, "{change}");
    }
    drop(scratch);
}

#[tokio::test(flavor = "multi_thread")]
async fn deny_rows_leave_no_trace_but_for_those_that_are_listed() {
    let Some(mut scratch) = Scratch::alone("postgres", &[]).await else { return };
    let target = scratch.as_plain_owner(&["users", "orders"]).await;
    let rows: Vec<_> = rows().into_iter().filter(|r| !r.allow).collect();
    let (traces, ran) = traces(&mut scratch, target, &rows).await;
    drop(scratch);
    let new: Vec<_> = traces.iter().filter(|(id, _)| !STILL_CHANGE.iter().any(|(s, _)| s == id)).collect();
    assert!(new.is_empty(), "these leave a trace and are not on the list: {new:#?}");
    let gone: Vec<_> = STILL_CHANGE.iter().filter(|(id, _)| !traces.contains_key(*id)).collect();
    assert!(gone.is_empty(), "these leave no trace any more, take them off the list: {gone:?}");
    // Without the guard, much of what it denies does run.
    assert!(ran > 50, "{ran}");
}

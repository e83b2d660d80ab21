//! The hardened connection with the guard out of the way: what it stops, and that nothing outlives a statement.

use dbagent_core::{ErrorKind, Request};
use dbagent_postgres::testing::raw_hardened;

use crate::support::{Scratch, call};

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_statement_does_outlives_it() {
    let Some(db) = Scratch::with("CREATE SEQUENCE s; SELECT nextval('s')").await else { return };
    let raw = raw_hardened(&db.target(), &call()).await.unwrap();
    let before = raw.process().await.unwrap();
    for (text, afterwards) in [
        ("SELECT pg_advisory_lock(4242)", "SELECT 1 FROM pg_locks WHERE locktype = 'advisory'"),
        ("SELECT pg_advisory_xact_lock(4242)", "SELECT 1 FROM pg_locks WHERE locktype = 'advisory'"),
        (
            "SELECT set_config('work_mem', '1234kB', false)",
            "SELECT 1 WHERE current_setting('work_mem') = '1234kB'",
        ),
        ("SET work_mem = '1234kB'", "SELECT 1 WHERE current_setting('work_mem') = '1234kB'"),
        (
            "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
            "SELECT 1 WHERE current_setting('transaction_read_only') = 'off'",
        ),
        ("SET TRANSACTION READ WRITE", "SELECT 1 WHERE current_setting('transaction_read_only') = 'off'"),
        (
            "SET default_transaction_read_only = off",
            "SELECT 1 WHERE current_setting('default_transaction_read_only') = 'off'",
        ),
        ("SET statement_timeout = 0", "SELECT 1 WHERE current_setting('statement_timeout') = '0'"),
        (
            "SET search_path = pg_temp",
            "SELECT 1 WHERE current_setting('search_path') NOT LIKE 'pg_catalog, %'",
        ),
        ("SET ROLE pg_monitor", "SELECT 1 WHERE current_user = 'pg_monitor'"),
        ("LISTEN kit", "SELECT pg_listening_channels()"),
        ("DECLARE kept CURSOR WITH HOLD FOR SELECT 1", "SELECT 1 FROM pg_cursors WHERE name = 'kept'"),
    ] {
        // Some are refused, which is as good.
        _ = raw.run(&Request::text(text)).await;
        assert_eq!(raw.run(&Request::text(afterwards)).await.unwrap(), 0, "{text}");
    }
    assert_eq!(raw.process().await.unwrap(), before, "the same connection served all of it");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_message_is_one_statement_in_a_read_only_transaction() {
    let Some(db) = Scratch::with("CREATE TABLE t (a int); INSERT INTO t VALUES (1)").await else { return };
    let raw = raw_hardened(&db.target(), &call()).await.unwrap();
    for (text, code) in [
        ("COMMIT; DROP TABLE t", "42601"),
        ("SELECT 1; SELECT 2", "42601"),
        ("INSERT INTO t VALUES (2)", "25006"),
        ("UPDATE t SET a = 2", "25006"),
        ("CREATE TABLE u (a int)", "25006"),
        ("DROP TABLE t", "25006"),
        ("SELECT a FROM t FOR UPDATE", "25006"),
    ] {
        let e = raw.run(&Request::text(text)).await.unwrap_err();
        assert_eq!(e.native_code(), Some(code), "{text}: {e}");
    }
    assert_eq!(db.value("SELECT sum(a) FROM t").await, "1");
    // With the guard in the way nothing of it gets there.
    let session = db.session().await;
    let refusal = crate::support::run(&session, "COMMIT; DROP TABLE t").await.refusal();
    assert_eq!(refusal.rule, dbagent_core::Rule::SeveralStatements);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_settings_of_the_account_and_the_database_do_not_win() {
    let Some(db) = Scratch::new().await else { return };
    let name = db.value("current_database()").await;
    for setting in [
        "default_transaction_read_only = off",
        "statement_timeout = 0",
        "standard_conforming_strings = off",
        "datestyle = 'German, DMY'",
        "intervalstyle = 'iso_8601'",
        "timezone = 'Asia/Tokyo'",
        "bytea_output = 'escape'",
        "extra_float_digits = -5",
        "transform_null_equals = on",
        "row_security = off",
    ] {
        // An old name that a newer server does not know any more is not there to win.
        let mut owner = db.owner().await;
        use dbagent_postgres::sqlx::{AssertSqlSafe, Executor as _};
        owner.execute(AssertSqlSafe(format!("ALTER DATABASE {name} SET {setting}"))).await.unwrap();
    }
    let raw = raw_hardened(&db.target(), &call()).await.unwrap();
    for (setting, value) in [
        ("default_transaction_read_only", "on"),
        ("transaction_read_only", "on"),
        ("standard_conforming_strings", "on"),
        ("DateStyle", "ISO, MDY"),
        ("IntervalStyle", "postgres"),
        ("TimeZone", "UTC"),
        ("bytea_output", "hex"),
        ("extra_float_digits", "1"),
        ("transform_null_equals", "off"),
        ("row_security", "on"),
        ("lock_timeout", "5s"),
    ] {
        let text = format!("SELECT 1 WHERE current_setting('{setting}') = '{value}'");
        assert_eq!(raw.run(&Request::text(text)).await.unwrap(), 1, "{setting}");
    }
    for limit in ["statement_timeout", "idle_in_transaction_session_timeout"] {
        let text = format!("SELECT 1 WHERE current_setting('{limit}') <> '0'");
        assert_eq!(raw.run(&Request::text(text)).await.unwrap(), 1, "{limit}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_no_transaction_takes_is_an_error() {
    let Some(db) = Scratch::new().await else { return };
    let raw = raw_hardened(&db.target(), &call()).await.unwrap();
    let e = raw.run(&Request::text("VACUUM")).await.unwrap_err();
    assert_eq!(e.native_code(), Some("25001"));
    assert_eq!(raw.run(&Request::text("SELEC")).await.unwrap_err().kind(), ErrorKind::Syntax);
    assert_eq!(raw.run(&Request::text("SELECT 1")).await.unwrap(), 1);
}

//! Rules for objects and columns hold through every way of naming them.

use dbagent_core::{Policy, Rule};

use crate::support::{Ran, Scratch, run};

fn policy() -> Policy {
    Policy::default().deny("main.users.email").unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_column_is_not_read_by_any_name() {
    let scratch = Scratch::new();
    scratch.change(
        "CREATE VIEW mails AS SELECT id, email AS contact FROM users;
         CREATE VIEW names AS SELECT id, name FROM users;
         CREATE MACRO mail(x) AS (SELECT max(email) FROM users WHERE id = x);
         CREATE MACRO people() AS TABLE SELECT * FROM users;
         CREATE TABLE gen (secret VARCHAR, shown VARCHAR GENERATED ALWAYS AS (upper(secret)), plain INTEGER);
         INSERT INTO gen (secret, plain) VALUES ('s', 1)",
    );
    let session = scratch.session_under(policy().deny("main.gen.secret").unwrap()).await;
    for sql in [
        "SELECT email FROM users",
        "SELECT EMAIL FROM USERS",
        "SELECT u.email FROM users u",
        "SELECT main.users.email FROM main.users",
        "SELECT scratch.main.users.email FROM scratch.main.users",
        "SELECT email FROM scratch.users",
        "FROM users",
        "SELECT * FROM users",
        "SELECT u.* FROM users u",
        "SELECT * EXCLUDE (id) FROM users",
        "SELECT COLUMNS('e.*') FROM users",
        "SELECT COLUMNS(c -> c = 'email') FROM users",
        "SELECT users FROM users",
        "SELECT u FROM users AS u",
        "SELECT u.email[1] FROM users u",
        "SELECT c FROM users AS u(a, b, c)",
        "SELECT #3 FROM users",
        "SELECT 1 FROM users ORDER BY email",
        "SELECT 1 FROM users WHERE email IS NULL",
        "SELECT count(*) FROM users GROUP BY email",
        "SELECT id FROM users QUALIFY row_number() OVER (ORDER BY email) = 1",
        "SELECT max(id) FILTER (WHERE email IS NULL) FROM users",
        "SELECT string_agg(name ORDER BY email) FROM users",
        "SELECT DISTINCT ON (email) id FROM users",
        "SELECT (SELECT email) FROM users",
        "SELECT * FROM orders JOIN users USING (email)",
        "SELECT orders.id FROM orders NATURAL JOIN users",
        "SELECT x.m FROM users u, LATERAL (SELECT u.email AS m) x",
        "SELECT * REPLACE (email AS name) FROM (SELECT id, name, email FROM users)",
        "SELECT list_transform([1], lambda x: email) FROM users",
        "SELECT [email FOR x IN [1]] FROM users",
        "WITH u AS (SELECT email AS e FROM users) SELECT e FROM u",
        "WITH users AS (FROM users) SELECT id FROM users",
        "SELECT contact FROM mails",
        "SELECT mail(1)",
        "FROM people()",
        "SUMMARIZE users",
        "FROM (SUMMARIZE users)",
        "DESCRIBE users",
        "FROM pragma_storage_info('users')",
        "PRAGMA storage_info('users')",
        "PIVOT users ON id USING max(name)",
        "FROM (PIVOT users ON id IN (1) USING max(email))",
        "UNPIVOT users ON name, email INTO NAME n VALUE v",
        "SELECT id FROM users UNION SELECT email FROM users",
        "SELECT to_json(users) FROM users",
        "SELECT stats(email) FROM users",
        "SELECT shown FROM gen",
        "SELECT * FROM gen",
        "TABLE users",
        "EXPLAIN ANALYZE SELECT email FROM users",
    ] {
        match run(&session, sql).await {
            Ran::Refused(refusal) => assert!(
                [Rule::DeniedColumn, Rule::ColumnsUnknown].contains(&refusal.rule),
                "{sql}: {refusal}"
            ),
            other => panic!("{sql}: {other:?}"),
        }
    }
    for sql in [
        "SELECT id, name FROM users",
        "SELECT count(*) FROM users",
        "SELECT name FROM names",
        "SELECT id FROM users ORDER BY ALL",
        "SELECT id, name FROM users GROUP BY ALL",
        "SELECT u.name, o.total FROM users u JOIN orders o ON o.user_id = u.id",
        "FROM orders",
        "SELECT plain FROM gen",
        "WITH email AS (SELECT 1 AS x) SELECT x FROM email",
    ] {
        run(&session, sql).await.rows();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_allowed_can_be_named() {
    let scratch = Scratch::new();
    scratch.change("CREATE VIEW o AS FROM orders; CREATE SCHEMA s; CREATE TABLE s.users AS SELECT 1 AS x");
    let session = scratch.session_under(Policy::default().allow("main.users").unwrap()).await;
    for sql in [
        "FROM orders",
        "FROM o",
        "FROM s.users",
        "FROM scratch.s.users",
        "SELECT (SELECT count(*) FROM orders) FROM users",
        "FROM duckdb_tables()",
        "FROM duckdb_tables",
        "FROM information_schema.tables",
        "FROM system.information_schema.tables",
        "FROM pg_catalog.pg_class",
        "FROM sqlite_master",
        "SHOW TABLES",
        "SHOW ALL TABLES",
        "PRAGMA show_tables",
        "PRAGMA table_info('orders')",
        "FROM pragma_table_info('s.users')",
        "DESCRIBE orders",
        "SHOW orders",
        "PIVOT orders ON status USING count(*)",
    ] {
        match run(&session, sql).await {
            Ran::Refused(refusal) => assert_eq!(refusal.rule, Rule::DeniedObject, "{sql}: {refusal}"),
            other => panic!("{sql}: {other:?}"),
        }
    }
    run(&session, "FROM users").await.rows();
    run(&session, "SELECT * FROM scratch.main.users").await.rows();
    run(&session, "PRAGMA table_info('main.users')").await.rows();
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_of_the_database_are_judged_like_statements() {
    let scratch = Scratch::new();
    scratch.change(
        "CREATE SEQUENCE s1;
         CREATE VIEW counting AS SELECT nextval('s1') AS n;
         CREATE MACRO upper(x) AS (SELECT nextval('s1'));
         CREATE MACRO lower(x) AS x || '!';
         CREATE MACRO two(x) AS x, (x, y) AS nextval('s1');
         CREATE MACRO files() AS TABLE SELECT * FROM read_text('/etc/passwd');
         CREATE MACRO honest(x) AS TABLE SELECT * FROM users WHERE id = x;
         CREATE MACRO outer_one(x) AS upper(x);
         CREATE VIEW over_view AS SELECT upper('a') AS u",
    );
    let session = scratch.session().await;
    for (sql, rule) in [
        ("FROM counting", Rule::ForbiddenFunction),
        ("SELECT upper('a')", Rule::ForbiddenFunction),
        ("SELECT UPPER(name) FROM users", Rule::ForbiddenFunction),
        ("SELECT main.upper('a')", Rule::ForbiddenFunction),
        ("SELECT 'a'.upper()", Rule::ForbiddenFunction),
        ("SELECT two(1)", Rule::ForbiddenFunction),
        ("FROM files()", Rule::ForbiddenFunction),
        ("SELECT outer_one('a')", Rule::ForbiddenFunction),
        ("FROM over_view", Rule::ForbiddenFunction),
        ("SELECT no_such(1)", Rule::UnknownFunction),
    ] {
        assert_eq!(run(&session, sql).await.refusal().rule, rule, "{sql}");
    }
    assert_eq!(run(&session, "SELECT lower('A')").await.rows(), [["A!"]]);
    assert_eq!(run(&session, "SELECT name FROM honest(1)").await.rows(), [["Ann"]]);
    assert_eq!(run(&session, "SELECT system.main.upper('a')").await.rows(), [["A"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn views_over_views_end() {
    let scratch = Scratch::new();
    scratch.change("CREATE VIEW a0 AS SELECT id FROM users; CREATE VIEW b0 AS SELECT id FROM users");
    for level in 1..12 {
        let below = level - 1;
        scratch.change(&format!(
            "CREATE VIEW a{level} AS SELECT id FROM a{below} UNION SELECT id FROM b{below};
             CREATE VIEW b{level} AS SELECT id FROM b{below} UNION SELECT id FROM a{below}"
        ));
    }
    let session = scratch.session().await;
    assert_eq!(run(&session, "FROM a11").await.refusal().rule, Rule::TooComplex);
    assert_eq!(run(&session, "SELECT count(*) FROM a5").await.rows(), [["3"]]);
}

/// Each names the hidden table, or what its constraints and types hold, where nothing is hidden.
const TELL_ALL: &[&str] = &[
    "SHOW TABLES",
    "SHOW ALL TABLES",
    "PRAGMA show_tables",
    "SELECT table_name, sql FROM duckdb_tables()",
    "SELECT expression FROM duckdb_constraints()",
    "SELECT table_name, column_name FROM duckdb_columns",
    "SELECT type_name, labels FROM duckdb_types()",
    "FROM information_schema.columns",
    "FROM system.information_schema.tables",
    "FROM pg_class",
    "FROM pg_catalog.pg_enum",
    "SELECT sql FROM sqlite_master",
    "SELECT pg_get_viewdef(1)",
    "SELECT (SELECT max(sql) FROM duckdb_tables()) FROM users",
    "WITH s AS (SELECT view_name FROM duckdb_views()) FROM s",
    "FROM listing",
    "DESCRIBE FROM duckdb_tables()",
    "FROM listed()",
    "SELECT how_many()",
];

#[tokio::test(flavor = "multi_thread")]
async fn no_catalogue_tells_of_a_hidden_table() {
    let scratch = Scratch::new();
    scratch.change(
        "CREATE TABLE secrets (v VARCHAR CHECK (v <> 'canary')); CREATE VIEW listing AS SELECT table_name FROM duckdb_tables();
         CREATE MACRO listed() AS TABLE SELECT table_name FROM duckdb_tables();
         CREATE MACRO how_many() AS (SELECT count(*) FROM duckdb_columns())",
    );
    let session = scratch.session().await;
    for sql in TELL_ALL {
        run(&session, sql).await.rows();
    }
    let session = scratch.session_under(Policy::default().deny("main.secrets").unwrap()).await;
    for sql in TELL_ALL {
        assert_eq!(run(&session, sql).await.refusal().rule, Rule::SecretCatalogue, "{sql}");
    }
    for sql in [
        "DESCRIBE users",
        "SUMMARIZE users",
        "PRAGMA table_info('users')",
        "SELECT name FROM duckdb_settings()",
    ] {
        run(&session, sql).await.rows();
    }
}

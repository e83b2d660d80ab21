//! Rules for objects and columns, by every way to reach them.

use dbagent_core::{ErrorKind, Policy, Rule, Target};

use crate::support::{Ran, Scratch, call, collect, open, run};

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.change(
        "CREATE VIEW contacts AS SELECT id, name, email AS address FROM users;
         CREATE VIEW names AS SELECT id, name FROM users;
         CREATE VIEW everything AS SELECT * FROM users;
         CREATE VIEW outer_names AS SELECT name FROM names;
         CREATE VIEW outer_contacts AS SELECT address FROM contacts;
         CREATE TABLE secrets (k TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID;
         CREATE INDEX secrets_v ON secrets (v);",
    );
    scratch
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_column_is_denied_by_every_way() {
    let scratch = scratch();
    let session = scratch.session_under(Policy::default().deny("main.users.email").unwrap()).await;
    for sql in [
        "SELECT email FROM users",
        "SELECT EMAIL FROM Users",
        "SELECT \"email\" FROM users",
        "SELECT [email] FROM users",
        "SELECT u.email FROM users u",
        "SELECT main.users.email FROM users",
        "SELECT * FROM users",
        "SELECT users.* FROM users",
        "SELECT u.* FROM orders o JOIN users u ON u.id = o.user_id",
        "SELECT name FROM users WHERE email LIKE 'a%'",
        "SELECT name FROM users ORDER BY email",
        "SELECT count(*) FROM users GROUP BY email",
        "SELECT max(email) FROM users",
        "SELECT count(DISTINCT email) FROM users",
        "SELECT name FROM users ORDER BY length(email)",
        "SELECT row_number() OVER (ORDER BY email) FROM users",
        "SELECT name FROM users LIMIT (SELECT length(email) FROM users LIMIT 1)",
        "SELECT (SELECT email FROM users WHERE id = o.user_id) FROM orders o",
        "SELECT 1 FROM orders WHERE EXISTS (SELECT 1 FROM users WHERE email IS NULL)",
        "SELECT o.id FROM orders o JOIN users ON email = status",
        "SELECT id FROM users JOIN (SELECT 'ann@x.org' AS email) USING (email)",
        "SELECT id FROM users NATURAL JOIN (SELECT 'ann@x.org' AS email)",
        "WITH u AS (SELECT * FROM users) SELECT name FROM u",
        "WITH u(a, b, c) AS (SELECT id, name, email FROM users) SELECT c FROM u",
        "SELECT x FROM (SELECT email AS x FROM users)",
        "SELECT name FROM users UNION SELECT email FROM users",
        "SELECT id FROM orders WHERE user_id IN (SELECT id FROM users WHERE email > '')",
        "SELECT json_group_array(json_object('e', email)) FROM users",
        "SELECT value FROM users, json_each(json_array(email))",
        "SELECT address FROM contacts",
        "SELECT id FROM contacts",
        "SELECT * FROM everything",
        "SELECT name FROM everything",
        "SELECT address FROM outer_contacts",
        "EXPLAIN SELECT email FROM users",
        "SELECT 1 WHERE 'ann@x.org' IN (SELECT email FROM users)",
        "VALUES ((SELECT email FROM users LIMIT 1))",
    ] {
        match run(&session, sql).await {
            Ran::Refused(refusal) => assert_eq!(refusal.rule, Rule::DeniedColumn, "{sql}: {refusal}"),
            other => panic!("{sql}: {other:?}"),
        }
    }
    for sql in [
        "SELECT id, name, data FROM users",
        "SELECT count(*) FROM users",
        "SELECT name FROM names",
        "SELECT name FROM outer_names",
        "SELECT * FROM orders",
        "SELECT u.name, o.* FROM users u JOIN orders o ON o.user_id = u.id",
        "SELECT s.email FROM (SELECT name AS email FROM users) s",
        "SELECT 'email' FROM users",
        "SELECT name AS email FROM users ORDER BY email",
        "SELECT rowid, id FROM users WHERE rowid = 1",
        "WITH email AS (SELECT 1 AS x) SELECT x FROM email",
        "PRAGMA table_info(orders)",
    ] {
        run(&session, sql).await.rows();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_row_number_is_the_key() {
    let scratch = scratch();
    let session = scratch.session_under(Policy::default().deny("main.users.id").unwrap()).await;
    for sql in ["rowid", "oid", "_rowid_", "ROWID", "users.rowid", "id"] {
        let refusal = run(&session, &format!("SELECT {sql} FROM users")).await.refusal();
        assert_eq!(refusal.rule, Rule::DeniedColumn, "{sql}");
    }
    run(&session, "SELECT name FROM users").await.rows();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allow_list_of_columns_leaves_nothing_else() {
    let scratch = scratch();
    let policy = Policy::default().allow("main.users.id").unwrap().allow("main.users.name").unwrap();
    let session = scratch.session_under(policy).await;
    run(&session, "SELECT id, name FROM users ORDER BY rowid").await.rows();
    for (sql, rule) in [
        ("SELECT email FROM users", Rule::DeniedColumn),
        ("SELECT * FROM users", Rule::DeniedColumn),
        ("SELECT id FROM orders", Rule::DeniedObject),
        ("SELECT name FROM sqlite_schema", Rule::DeniedObject),
        ("SELECT name FROM names", Rule::DeniedObject),
        ("PRAGMA table_list", Rule::DeniedObject),
        ("PRAGMA table_info(orders)", Rule::DeniedObject),
    ] {
        assert_eq!(run(&session, sql).await.refusal().rule, rule, "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_object_is_denied_by_every_name() {
    let scratch = scratch();
    scratch.change("CREATE VIEW leak AS SELECT v FROM secrets");
    let session = scratch.session_under(Policy::default().deny("secrets").unwrap()).await;
    for sql in [
        "SELECT * FROM secrets",
        "SELECT count(*) FROM secrets",
        "SELECT 1 FROM main.SECRETS",
        "SELECT * FROM leak",
        "SELECT 1 IN secrets",
        "SELECT * FROM users, secrets",
        "PRAGMA table_info(secrets)",
        "PRAGMA main.table_xinfo('Secrets')",
        "PRAGMA index_list(secrets)",
        "PRAGMA index_info(secrets_v)",
        "PRAGMA foreign_key_check(secrets)",
        "PRAGMA quick_check(secrets)",
        "SELECT * FROM pragma_table_info('secrets')",
        "SELECT * FROM pragma_index_xinfo('secrets_v')",
        "EXPLAIN QUERY PLAN SELECT * FROM secrets",
        "WITH secrets2 AS (SELECT * FROM secrets) SELECT 1 FROM secrets2",
    ] {
        match run(&session, sql).await {
            Ran::Refused(refusal) => assert_eq!(refusal.rule, Rule::DeniedObject, "{sql}: {refusal}"),
            other => panic!("{sql}: {other:?}"),
        }
    }
    run(&session, "WITH secrets AS (SELECT 1 AS x) SELECT x FROM secrets").await.rows();
}

/// What tells of every table at once.
const TELL_ALL: &[&str] = &[
    "SELECT sql FROM sqlite_schema WHERE name = 'secrets'",
    "SELECT sql FROM sqlite_master",
    "SELECT sql FROM main.sqlite_master",
    "SELECT sql FROM \"SQLite_Master\"",
    "SELECT sql FROM sqlite_temp_master",
    "SELECT sql FROM temp.sqlite_schema",
    "SELECT (SELECT max(sql) FROM sqlite_schema) FROM users",
    "SELECT 1 IN sqlite_schema",
    "WITH s AS (SELECT * FROM sqlite_schema) SELECT sql FROM s",
    "SELECT sql FROM definitions",
    "EXPLAIN QUERY PLAN SELECT sql FROM sqlite_schema",
    "PRAGMA table_list",
    "SELECT * FROM pragma_table_list",
    "SELECT p.name FROM (SELECT 'secrets' AS t), pragma_table_info(t) p",
    "SELECT * FROM pragma_table_info WHERE arg = 'secrets'",
    "PRAGMA integrity_check",
    "PRAGMA foreign_key_check",
    "SELECT name FROM dbstat",
    "SELECT data FROM sqlite_dbpage",
];

#[tokio::test(flavor = "multi_thread")]
async fn what_tells_of_every_table_is_refused_where_one_is_hidden() {
    let scratch = scratch();
    scratch.change("CREATE VIEW definitions AS SELECT sql FROM sqlite_schema");
    let choice = |mut policy: Policy| {
        policy.allow_choices.insert("secret_catalog".to_owned());
        policy
    };
    for policy in [
        Policy::default().deny("secrets").unwrap(),
        Policy::default().deny("main.users.email").unwrap(),
        Policy::default().allow("*").unwrap(),
        Policy::default().allow("sqlite_*").unwrap().allow("*").unwrap().deny("secrets").unwrap(),
        choice(Policy::default().deny("secrets").unwrap()),
    ] {
        let session = scratch.session_under(policy.clone()).await;
        for sql in TELL_ALL {
            let refusal = run(&session, sql).await.refusal();
            assert_eq!(refusal.rule, Rule::SecretCatalogue, "{policy:?}: {sql}: {refusal}");
            assert!(refusal.advice.contains("list_objects and describe_objects"), "{sql}: {refusal:?}");
        }
    }
    // Called like a function it is none of those that are vouched for; who vouches for it names it, too.
    let mut policy = choice(Policy::default().deny("secrets").unwrap());
    for rule in [Rule::UnknownFunction, Rule::SecretCatalogue] {
        let session = scratch.session_under(policy.clone()).await;
        assert_eq!(run(&session, "SELECT * FROM dbstat('main')").await.refusal().rule, rule);
        policy.allow_functions.insert("dbstat".to_owned());
    }
    // A rule that denies it is a rule like any other.
    let policy = Policy::default().deny("secrets").unwrap().deny("sqlite_schema").unwrap();
    let session = scratch.session_under(policy).await;
    assert_eq!(run(&session, "SELECT sql FROM sqlite_master").await.refusal().rule, Rule::DeniedObject);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_tells_of_every_table_is_read_where_nothing_is_hidden_or_a_rule_names_it() {
    let scratch = scratch();
    let named =
        |rule: &str| Policy::default().allow("*").unwrap().allow(rule).unwrap().deny("secrets").unwrap();
    for policy in [Policy::default(), named("sqlite_schema"), named("main.SQLITE_SCHEMA")] {
        let session = scratch.session_under(policy).await;
        for sql in [
            "SELECT sql FROM sqlite_schema WHERE name = 'secrets'",
            "SELECT sql FROM main.sqlite_master WHERE name = 'secrets'",
        ] {
            assert_eq!(run(&session, sql).await.rows().len(), 1, "{sql}");
        }
        run(&session, "PRAGMA table_list").await.rows();
    }
    let session = scratch.session_under(named("temp.sqlite_schema")).await;
    assert_eq!(run(&session, "SELECT sql FROM sqlite_schema").await.refusal().rule, Rule::SecretCatalogue);
    let session = scratch.session_under(named("main.sqlite_schema.name")).await;
    run(&session, "SELECT name FROM sqlite_schema").await.rows();
    let mut policy = named("dbstat");
    policy.allow_choices.insert("secret_catalog".to_owned());
    run(&scratch.session_under(policy).await, "SELECT name FROM dbstat").await.rows();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_choice_that_the_operator_flips_is_a_read_like_others() {
    let scratch = scratch();
    let mut policy = Policy::default();
    policy.allow_choices.extend(["secret_catalog".to_owned(), "size_cap".to_owned()]);
    let session = scratch.session_under(policy).await;
    assert!(!run(&session, "SELECT name FROM dbstat").await.rows().is_empty());
    assert!(!run(&session, "SELECT d.pageno FROM main.dbstat d JOIN users LIMIT 1").await.rows().is_empty());
    assert_eq!(run(&session, "SELECT length(zeroblob(3000000))").await.rows(), [["3000000"]]);
    // What no operator flips stays.
    assert_eq!(run(&session, "SELECT load_extension('x')").await.refusal().rule, Rule::ForbiddenFunction);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_that_changes_after_it_was_judged_is_judged_by_what_it_reads_now() {
    use dbagent_core::session::Verdict;
    for (view, rule) in [
        ("SELECT k AS id, v AS name FROM secrets", Rule::DeniedObject),
        // Nothing in what the engine compiles tells of this one.
        ("SELECT 1 AS id, zeroblob(2000000000) AS name", Rule::SizeCap),
    ] {
        let scratch = scratch();
        let session = scratch.session_under(Policy::default().deny("secrets").unwrap()).await;
        let request = dbagent_core::Request::text("SELECT id FROM names");
        let Ok(Verdict::Cleared(cleared)) = session.judge(request, None, &call()).await else {
            panic!("not cleared");
        };
        scratch.change(&format!("DROP VIEW names; CREATE VIEW names AS {view}"));
        assert_eq!(collect(session.read(cleared, &call()).unwrap()).await.refusal().rule, rule);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expression_over_a_denied_column_is_read_and_named_by_no_way() {
    let scratch = Scratch::with(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, secret TEXT, plain TEXT, shown TEXT AS (upper(secret)),
                         kept TEXT AS (lower(plain)) STORED, CHECK (secret <> ''));
         INSERT INTO t VALUES (1, 'zeta', 'a'), (2, 'alpha', 'b');
         CREATE INDEX over_expression ON t (upper(secret));
         CREATE INDEX over_condition ON t (plain) WHERE secret = 'zeta';
         CREATE INDEX over_both ON t (plain, secret);
         CREATE INDEX over_plain ON t (plain);",
    );
    let session = scratch.session_under(Policy::default().deny("main.t.secret").unwrap()).await;
    for sql in [
        "SELECT shown FROM t",
        "SELECT upper(secret) FROM t",
        "SELECT upper(secret) FROM t INDEXED BY over_expression",
        "SELECT plain FROM t INDEXED BY over_expression WHERE upper(secret) = 'ZETA'",
        "SELECT plain FROM t INDEXED BY over_condition WHERE secret = 'zeta'",
        "SELECT plain FROM t ORDER BY upper(secret)",
    ] {
        assert_eq!(run(&session, sql).await.refusal().rule, Rule::DeniedColumn, "{sql}");
    }
    assert_eq!(run(&session, "SELECT kept FROM t WHERE id = 1").await.rows(), [["a"]]);
    let described = session.describe(&["t".into()], &call()).await.unwrap();
    let text = format!("{:?}", described.found);
    assert!(!text.contains("secret"), "{text}");
    let indexes: Vec<&str> = described.found[0].indexes.iter().map(|i| i.name.as_str()).collect();
    assert_eq!(indexes, ["over_plain"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_column_rule_without_its_first_part_does_not_open() {
    let scratch = Scratch::with("CREATE TABLE t (id INTEGER, secret TEXT)");
    for rule in ["t.secret", "t.*", "shop.t.secret"] {
        let policy = Policy::default().deny(rule).unwrap();
        let target = Target { policy, ..scratch.target() };
        let e = open(target).await.map(|_| ()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Config, "{rule}: {e}");
        assert!(e.hint_text().unwrap().contains(".t"), "{rule}: {e:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_for_another_name_of_the_schema_table_does_not_open() {
    let scratch = scratch();
    for (rule, write) in [
        ("sqlite_master", "`sqlite_schema`"),
        ("main.SQLite_Master", "`sqlite_schema`"),
        ("*.sqlite_master.sql", "`sqlite_schema`"),
        ("sqlite_temp_master", "`temp.sqlite_schema`"),
    ] {
        let policies = [Policy::default().deny(rule), Policy::default().allow("*").unwrap().allow(rule)];
        for policy in policies.map(Result::unwrap) {
            let e = open(Target { policy, ..scratch.target() }).await.map(|_| ()).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::Config, "{rule}: {e}");
            assert!(e.hint_text().unwrap().contains(write), "{rule}: {e:?}");
        }
    }
    scratch.session_under(Policy::default().deny("sqlite_*").unwrap()).await;
}

/// A query of FTS3 or FTS4 may name another column than the one before MATCH.
#[tokio::test(flavor = "multi_thread")]
async fn a_search_of_one_column_searches_them_all() {
    let scratch = Scratch::with(
        "CREATE VIRTUAL TABLE f3 USING fts3(title, email); INSERT INTO f3 VALUES ('hello', 'ada@x.org');
         CREATE VIRTUAL TABLE f4 USING fts4(title, email); INSERT INTO f4 VALUES ('hello', 'ada@x.org');
         CREATE VIRTUAL TABLE f5 USING fts5(title, email); INSERT INTO f5 VALUES ('hello', 'ada@x.org');
         CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT); INSERT INTO users VALUES (1, 'ada@x.org')",
    );
    let email = "SELECT title FROM f4 WHERE title MATCH 'email:ada'";
    let open = scratch.session().await;
    assert_eq!(run(&open, email).await.rows(), [["hello"]], "the engine looks into the other column");
    let policy = ["main.f3.email", "main.f4.email", "main.f5.email"]
        .iter()
        .fold(Policy::default(), |p, c| p.deny(c).unwrap());
    let session = scratch.session_under(policy).await;
    for sql in [
        email,
        "SELECT title FROM f3 WHERE title MATCH 'email:a*'",
        "SELECT title FROM f4 WHERE f4.title MATCH 'email:ada'",
        "SELECT title FROM f4 AS t WHERE (t.title) MATCH ?1",
        "SELECT title FROM f4 WHERE match('email:ada', title)",
        "SELECT title FROM f4 WHERE f4 MATCH 'ada'",
        "SELECT u.id FROM users u JOIN f4 ON title MATCH 'email:ada'",
        "SELECT * FROM (SELECT title FROM f4) o WHERE title MATCH 'email:ada'",
        "WITH o AS (SELECT title AS t FROM f4) SELECT * FROM o WHERE o.t MATCH 'email:a*'",
        "WITH o AS (SELECT title, rank AS r FROM f5) SELECT * FROM o WHERE title MATCH 'hello' AND r MATCH 'highlight(1, , )'",
    ] {
        assert_eq!(run(&session, sql).await.refusal().rule, Rule::DeniedColumn, "{sql}");
    }
    assert_eq!(run(&session, "SELECT title FROM f4 WHERE title LIKE 'h%'").await.rows(), [["hello"]]);
    // What another table hides is not searched.
    let session = scratch.session_under(Policy::default().deny("main.users.email").unwrap()).await;
    let sql = "SELECT u.id FROM users u JOIN f4 ON f4 MATCH 'hello'";
    assert_eq!(run(&session, sql).await.rows(), [["1"]]);
}

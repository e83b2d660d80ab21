//! A file whose schema means harm: what is in it must not run, whoever asks.

use dbagent_core::{ErrorKind, Policy, Rule};

use crate::support::{Ran, Scratch, run};

/// Puts a definition into the schema that SQLite would not take, as a hostile tool can.
fn smuggle(scratch: &Scratch, kind: &str, name: &str, sql: &str) {
    let db = scratch.writer();
    db.execute_batch("PRAGMA writable_schema = ON").unwrap();
    db.execute("INSERT INTO sqlite_schema VALUES (?1, ?2, ?2, 0, ?3)", [kind, name, sql]).unwrap();
    db.execute_batch("PRAGMA writable_schema = RESET").unwrap();
}

/// The rule that refuses a read of everything in this object.
async fn rule(scratch: &Scratch, object: &str) -> Rule {
    let session = scratch.session().await;
    run(&session, &format!("SELECT * FROM \"{object}\"")).await.refusal().rule
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_runs_nothing_that_a_statement_could_not() {
    let scratch = Scratch::with(
        "CREATE TABLE t (a);
         CREATE VIEW ext AS SELECT load_extension('/tmp/evil.so') FROM t;
         CREATE VIEW read AS SELECT readfile('/etc/passwd') AS x FROM t;
         CREATE VIEW own AS SELECT no_such_function(a) AS x FROM t;
         CREATE VIEW bomb AS SELECT zeroblob(2000000000) AS x;
         CREATE VIEW pages AS SELECT * FROM dbstat;
         CREATE VIEW tokens AS SELECT fts3_tokenizer('x') AS x;
         CREATE VIEW deep AS SELECT * FROM (SELECT * FROM ext);
         CREATE VIEW checkpoint AS SELECT * FROM pragma_wal_checkpoint;
         CREATE VIEW logs AS SELECT sqlite_log(1, a) AS x FROM t;",
    );
    for (view, expected) in [
        ("ext", Rule::ForbiddenFunction),
        ("read", Rule::ForbiddenFunction),
        ("own", Rule::UnknownFunction),
        ("bomb", Rule::SizeCap),
        ("pages", Rule::SecretCatalogue),
        ("tokens", Rule::ForbiddenFunction),
        ("deep", Rule::ForbiddenFunction),
        ("checkpoint", Rule::SessionChange),
        ("logs", Rule::ForbiddenFunction),
    ] {
        assert_eq!(rule(&scratch, view).await, expected, "{view}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_that_the_policy_allows_is_still_no_way_through_a_view() {
    // The policy speaks of what a person asks; SQLite does not trust the schema of a file with it.
    let scratch =
        Scratch::with("CREATE TABLE t (a); CREATE VIEW v AS SELECT load_extension('x') AS x FROM t");
    let mut policy = Policy::default();
    policy.allow_functions.insert("load_extension".to_owned());
    let session = scratch.session_under(policy).await;
    for sql in ["SELECT * FROM v", "SELECT load_extension('/tmp/none.so')"] {
        match run(&session, sql).await {
            Ran::Failed(e) => assert!(e.native_code().unwrap().starts_with("SQLITE_"), "{sql}: {e}"),
            other => panic!("{sql}: {other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_generated_column_is_what_it_calls_and_reads() {
    let scratch = Scratch::with(
        "CREATE TABLE t (secret TEXT, plain TEXT, shown TEXT AS (upper(secret)), again TEXT AS (shown || '!'))",
    );
    let session = scratch.session_under(Policy::default().deny("main.t.secret").unwrap()).await;
    for column in ["secret", "shown", "again", "*", "SHOWN", "t.again"] {
        let refusal = run(&session, &format!("SELECT {column} FROM t")).await.refusal();
        assert_eq!(refusal.rule, Rule::DeniedColumn, "{column}");
    }
    run(&session, "SELECT plain FROM t").await.rows();

    // SQLite itself does not take in a table whose columns call what a file is not trusted with.
    let scratch = Scratch::with("CREATE TABLE t (a TEXT)");
    let definition = "CREATE TABLE g (a TEXT, g TEXT AS (load_extension(a)))";
    let db = scratch.writer();
    db.execute_batch("PRAGMA writable_schema = ON").unwrap();
    db.execute("UPDATE sqlite_schema SET sql = ?1, name = 'g', tbl_name = 'g'", [definition]).unwrap();
    drop(db);
    let e = crate::support::open(scratch.target()).await.map(|_| ()).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Corrupt, "{e}");
    assert!(e.hint_text().unwrap().contains("not trusted with"), "{e:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_that_never_end_are_refused() {
    let scratch = Scratch::with("CREATE TABLE t (a); INSERT INTO t VALUES (1)");
    smuggle(&scratch, "view", "snake", "CREATE VIEW snake AS SELECT * FROM snake");
    smuggle(&scratch, "view", "ping", "CREATE VIEW ping AS SELECT * FROM pong");
    smuggle(&scratch, "view", "pong", "CREATE VIEW pong AS SELECT * FROM ping");
    assert_eq!(rule(&scratch, "snake").await, Rule::TooComplex);
    assert_eq!(rule(&scratch, "ping").await, Rule::TooComplex);
    // Each level names two of the level below: followed without a bound, 2 to the power of 30 definitions.
    scratch.change("CREATE VIEW a0 AS SELECT a FROM t; CREATE VIEW b0 AS SELECT a FROM t");
    for level in 1..30 {
        let below = level - 1;
        scratch.change(&format!(
            "CREATE VIEW a{level} AS SELECT a FROM a{below} UNION SELECT a FROM b{below};
             CREATE VIEW b{level} AS SELECT a FROM b{below} UNION SELECT a FROM a{below}"
        ));
    }
    assert_eq!(rule(&scratch, "a29").await, Rule::TooComplex);
    let session = scratch.session().await;
    assert_eq!(run(&session, "SELECT a FROM a5").await.rows(), [["1"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_that_nobody_can_read_are_refused() {
    let scratch = Scratch::with("CREATE TABLE t (a)");
    let deep = format!("CREATE VIEW deep AS SELECT {}1{}", "(".repeat(400), ")".repeat(400));
    smuggle(&scratch, "view", "deep", &deep);
    smuggle(&scratch, "table", "files", "CREATE VIRTUAL TABLE files USING csv(filename='/etc/passwd')");
    smuggle(&scratch, "table", "raw", "CREATE VIRTUAL TABLE raw USING dbstat(main)");
    for (object, expected) in
        [("deep", Rule::UnknownSyntax), ("files", Rule::UnknownSyntax), ("raw", Rule::SecretCatalogue)]
    {
        let session = scratch.session().await;
        match run(&session, &format!("SELECT * FROM {object}")).await {
            Ran::Refused(refusal) => assert_eq!(refusal.rule, expected, "{object}"),
            other => panic!("{object}: {other:?}"),
        }
    }
    // The rest of the file is as readable as before.
    let session = scratch.session().await;
    run(&session, "SELECT * FROM t").await.rows();
}

#[tokio::test(flavor = "multi_thread")]
async fn triggers_and_temporary_tricks_of_a_file_do_nothing() {
    let scratch = Scratch::with(
        "CREATE TABLE t (a); INSERT INTO t VALUES (1);
         CREATE VIEW v AS SELECT a FROM t;
         CREATE TRIGGER tr INSTEAD OF INSERT ON v BEGIN DELETE FROM t; END;
         CREATE TRIGGER au AFTER UPDATE ON t BEGIN DELETE FROM t; END;",
    );
    let session = scratch.session().await;
    assert_eq!(run(&session, "SELECT a FROM v").await.rows(), [["1"]]);
    assert_eq!(run(&session, "INSERT INTO v VALUES (1)").await.refusal().rule, Rule::Write);
    assert_eq!(run(&session, "SELECT count(*) FROM t").await.rows(), [["1"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn storage_of_an_index_is_the_index() {
    let scratch = Scratch::with(
        "CREATE TABLE people (id INTEGER PRIMARY KEY, email TEXT);
         CREATE VIRTUAL TABLE search USING fts5(email, content='people', content_rowid='id');
         CREATE VIRTUAL TABLE docs USING fts5(title, body);
         CREATE VIRTUAL TABLE terms USING fts5vocab(docs, row);
         INSERT INTO docs VALUES ('secret title', 'b');",
    );
    let policy = Policy::default().deny("main.people.email").unwrap().deny("main.docs.title").unwrap();
    let session = scratch.session_under(policy).await;
    for sql in [
        "SELECT * FROM search",
        "SELECT email FROM search",
        "SELECT rowid FROM search WHERE search MATCH 'a'",
        "SELECT rowid FROM search('a')",
        "SELECT title FROM docs",
        "SELECT body FROM docs WHERE docs MATCH 'a'",
        "SELECT body FROM docs('a')",
        "SELECT highlight(docs, 0, '', '') FROM docs",
        "SELECT c0 FROM docs_content",
        "SELECT block FROM docs_data",
        "SELECT term FROM terms",
    ] {
        let refusal = run(&session, sql).await.refusal();
        assert_eq!(refusal.rule, Rule::DeniedColumn, "{sql}: {refusal}");
    }
    assert_eq!(run(&session, "SELECT body FROM docs").await.rows(), [["b"]]);
}

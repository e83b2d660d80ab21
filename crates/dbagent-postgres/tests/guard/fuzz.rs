//! Random statements: what is cleared must still only read.

use dbagent_core::{Error, ErrorKind, GuardedSession, Result, Target, async_trait};
use dbagent_postgres::sqlx::{self, PgConnection};
use dbagent_testkit::fuzz::{self, Fuzzed, Mutations, Plan, Sentences, Vocabulary};
use tokio::sync::Mutex;

use crate::live::FIXTURE;
use crate::state::fingerprint;
use crate::support::{GUARD, Scratch, call, rows};

/// The database, and the owner who looks at its state.
struct Engine<'a> {
    target: Target,
    owner: Mutex<&'a mut PgConnection>,
}

#[async_trait]
impl Fuzzed for Engine<'_> {
    async fn session(&self) -> Result<GuardedSession> {
        GuardedSession::open(&GUARD, self.target.clone(), &call()).await
    }

    async fn fingerprint(&self) -> Result<Vec<(String, String)>> {
        let mut owner = self.owner.lock().await;
        let state = fingerprint(&mut owner).await;
        state.map_err(|e| Error::new(ErrorKind::Internal, format!("no fingerprint: {e}")))
    }
}

const SPICE: &[&str] = &[
    ";",
    "'",
    "\"",
    "$$",
    "$a$",
    "--",
    "/*",
    "*/",
    "\\",
    "E'\\''",
    "U&\"\\0061\"",
    "(",
    ")",
    ",",
    ".",
    "::",
    "$1",
    "FOR UPDATE",
    "DELETE FROM users RETURNING *",
    "; DROP TABLE users",
    "UNION SELECT",
    "EXPLAIN ANALYZE",
    "INTO t",
    "WITH x AS (",
    "nextval('touched')",
    "nuke()",
    "liar()",
    "sql_writes(9)",
    "sql_calls_nuke()",
    "set_config('a.b', 'c', false)",
    "lo_create(0)",
    "### 1",
    "OPERATOR(public.###)",
    "::evil",
    "::holds_evil",
    ".shadow",
    "v_evil",
    "evil_secured",
    "VALUES (nuke())",
    "pg_advisory_lock(1)",
    "FILTER (WHERE nuke() > 0)",
    "evil_sum(id)",
    "TABLESAMPLE system (1)",
    "LATERAL",
];

/// Sentences over every function that the server lists, and over those of the fixture.
async fn sentences(owner: &mut PgConnection) -> Sentences {
    let functions = sqlx::query_scalar(
        "SELECT DISTINCT quote_ident(proname) FROM pg_proc WHERE prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
         ORDER BY 1",
    )
    .fetch_all(&mut *owner)
    .await
    .expect("the functions");
    let owned = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    Sentences::new(Vocabulary {
        tables: vec![
            (
                "users".to_owned(),
                owned(&["id", "name", "email", "\"update\"", "data", "tags", "ctid", "shadow"]),
            ),
            ("orders".to_owned(), owned(&["id", "user_id", "total", "status", "created_at"])),
            ("evil_pairs".to_owned(), owned(&["id", "p"])),
            ("v_ok".to_owned(), owned(&["id", "name"])),
            ("v_evil".to_owned(), owned(&["n"])),
            ("pg_class".to_owned(), owned(&["oid", "relname"])),
        ],
        functions,
        literals: owned(&[
            "NULL",
            "0",
            "1",
            "-1",
            "9223372036854775807",
            "1.5",
            "'NaN'::float8",
            "''",
            "'x'",
            "'{\"a\":[1]}'",
            "'{1,2}'",
            "'users'::regclass",
            "'touched'",
            "'/etc/hostname'",
            "'SELECT nuke()'",
            "true",
            "now()",
            "interval '1 day'",
            "ARRAY[1,2]",
            "ROW(1, 'a')",
            "'a & b'::tsquery",
            "'[1,5)'::int4range",
            "'<a/>'::xml",
        ]),
        expressions: owned(&[
            "id ### 1",
            "id |+| 1",
            "name || email",
            "data -> 'k'",
            "id::evil",
            "id::positive",
            "(users).name",
            "users.full_name",
            "users.shadow",
            "name COLLATE \"C\"",
            "p + p",
            "CASE id WHEN 1 THEN nuke() ELSE 0 END",
        ]),
        sources: owned(&[
            "generate_series(1, 3)",
            "unnest(ARRAY[1, 2]) WITH ORDINALITY",
            "json_to_record('{}') AS x(a evil)",
            "ROWS FROM (nuke(), generate_series(1, 2)) AS r(a, b)",
            "XMLTABLE('/a' PASSING ('<a/>'::xml) COLUMNS x text PATH '.')",
            "LATERAL (SELECT nuke()) l",
            "users TABLESAMPLE bernoulli (50)",
            "secured",
            "tower_5",
            "m_evil",
        ]),
        prefixes: owned(&["", "EXPLAIN ", "EXPLAIN ANALYZE ", "/* x */ ", "WITH RECURSIVE r AS (SELECT 1) "]),
        writes: owned(&[
            "DELETE FROM users",
            "UPDATE users SET name = 'z' RETURNING *",
            "INSERT INTO users (id) VALUES (77) RETURNING *",
            "MERGE INTO users USING orders ON false WHEN MATCHED THEN DELETE",
            "DROP TABLE users",
            "CREATE TEMP TABLE t (a int)",
            "SELECT nextval('touched')",
            "SELECT lo_create(0)",
            "SET work_mem = '1MB'",
            "COPY users TO STDOUT",
            "LOCK users",
            "REINDEX TABLE users",
            "ANALYZE users",
            "LISTEN a",
        ]),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_cleared_only_reads_whatever_was_done_to_it() {
    let Some(mut scratch) = Scratch::alone("postgres", &[FIXTURE]).await else { return };
    let seeds: Vec<String> = rows().iter().map(|row| row.statement.clone()).collect();
    let mutations = Mutations::new(seeds, SPICE.iter().map(|s| (*s).to_owned()));
    let mut texts = (mutations, sentences(&mut scratch.owner).await);
    let words = std::env::var(fuzz::VARIABLE).ok();
    let plan = Plan::texts(0x5eed_0002, 1_500).from_words(words.as_deref()).unwrap();
    let target = scratch.target();
    let engine = Engine { target, owner: Mutex::new(&mut scratch.owner) };

    let report = fuzz::run(&engine, &mut texts, plan).await.unwrap();

    println!("{}", report.summary());
    drop(engine);
    assert_eq!(scratch.touched().await, 0, "a function of the fixture ran");
    drop(scratch);
    assert!(report.finds.is_empty(), "{:#?}", report.finds);
    // A run that clears nothing, or refuses nothing, proves nothing.
    assert!(report.cleared > report.texts / 10 && report.refused > report.texts / 10, "{}", report.summary());
    assert!(report.answered > report.texts / 50, "{}", report.summary());
}

//! Random statements: what is cleared must still only read.

use std::path::Path;
use std::sync::Mutex;

use dbagent_core::guard::{Judgement, Policy, Resolution, judge};
use dbagent_core::guardrails::StatementLimits;
use dbagent_core::session::Verdict;
use dbagent_core::{GuardedSession, Request, Result, Rule, Settings, async_trait};
use dbagent_duckdb::DIALECT;
use dbagent_duckdb::duckdb::{Config, Connection};
use dbagent_testkit::fuzz::{self, Fuzzed, Mutations, Plan, Random, Sentences, Texts as _, Vocabulary};

use crate::corpus::rows;
use crate::support::{Scratch, within};

const SPICE: &[&str] = &[
    ";",
    "'",
    "\"",
    "[",
    "]",
    "{",
    "}",
    "--",
    "/*",
    "*/",
    "$$",
    "\n",
    "\u{feff}",
    "(",
    ")",
    ",",
    ".",
    "?",
    "$1",
    "$a",
    "::",
    "SELECT",
    "FROM",
    "DELETE FROM users",
    "; DROP TABLE users",
    "UNION SELECT",
    "PRAGMA",
    "EXPLAIN",
    "EXPLAIN ANALYZE",
    "PIVOT",
    "UNPIVOT",
    "ON",
    "IN (1)",
    "USING",
    "SUMMARIZE",
    "DESCRIBE",
    "SHOW",
    "ATTACH 'x' AS y",
    "COPY users TO 'x.csv'",
    "read_text('/etc/passwd')",
    "'x.csv'",
    "nextval('s1')",
    "query('SELECT 1')",
    "main.",
    "temp.",
    "scratch.",
    "INTO",
    "RETURNING *",
    "WITH x AS (",
    "VALUES (1)",
    "=",
    "INSERT INTO users(id) VALUES (77)",
    "UPDATE users SET name = 'z'",
    "SET threads = 1",
    "E'\\'",
    "COLUMNS(*)",
    "lambda x:",
    "->",
    "FOR x IN [1]",
    "EXCLUDE (id)",
    "QUALIFY",
    "\\",
];

/// Rows of the corpora, moved about.
fn mutated() -> Mutations {
    // Rows that ask for what would bring down the machine are no seeds.
    let honest: Vec<_> = rows().into_iter().filter(|row| row.kind != "dos").collect();
    // Most mutations of a bad row are bad: good rows are more of the seeds.
    let good = honest.iter().filter(|row| row.allow).flat_map(|row| [row; 5]);
    let seeds: Vec<String> = honest.iter().chain(good).map(|row| row.statement.clone()).collect();
    Mutations::new(seeds, SPICE.iter().map(|s| (*s).to_owned()))
}

/// So many of them.
pub(crate) fn mutations(count: usize, seed: u64) -> impl Iterator<Item = String> {
    let (mut texts, mut random) = (mutated(), Random::new(seed));
    (0..count).map(move |_| texts.next(&mut random))
}

/// Sentences over every function that the engine lists.
fn sentences() -> Sentences {
    let owned = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    let engine = Connection::open_in_memory().unwrap();
    let functions = "SELECT DISTINCT function_name FROM duckdb_functions() \
                     WHERE regexp_full_match(function_name, '[a-z_0-9]+') ORDER BY 1";
    let mut functions = engine.prepare(functions).unwrap();
    let functions: Vec<String> =
        functions.query_map([], |row| row.get(0)).unwrap().map(std::result::Result::unwrap).collect();
    assert!(functions.len() > 500, "{}", functions.len());
    Sentences::new(Vocabulary {
        tables: vec![
            ("users".to_owned(), owned(&["id", "name", "email", "data", "rowid", "COLUMNS(*)"])),
            ("orders".to_owned(), owned(&["id", "user_id", "total", "created_at"])),
            ("information_schema.tables".to_owned(), owned(&["table_name"])),
        ],
        functions,
        literals: owned(&[
            "NULL",
            "0",
            "-1",
            "9223372036854775807",
            "'x'",
            "'{\"a\":[1]}'",
            "'$.a'",
            "'/etc/passwd'",
            "'fuzzed.csv'",
            "'s1'",
            "'users'",
            "'SELECT 1'",
            "[1, 2]",
            "{'a': 1}",
            "DATE '2024-02-29'",
            "INTERVAL 1 DAY",
        ]),
        expressions: owned(&[
            "id::VARCHAR",
            "list_transform([1, 2], lambda x: x + 1)",
            "[x * 2 FOR x IN [1, 2]]",
            "data ->> '$.a'",
            "name COLLATE NOCASE",
            "m(id)",
            "nextval('s1')",
        ]),
        sources: owned(&[
            "range(3)",
            "unnest([1, 2])",
            "'fuzzed.csv'",
            "read_text('/etc/passwd')",
            "glob('*')",
            "duckdb_settings()",
            "pragma_table_info('users')",
            "query('DELETE FROM users')",
            "(VALUES (1))",
            "v",
        ]),
        prefixes: owned(&[
            "",
            "EXPLAIN ",
            "EXPLAIN ANALYZE ",
            "DESCRIBE ",
            "SUMMARIZE ",
            "/* x */ ",
            "FROM users ",
        ]),
        writes: owned(&[
            "DELETE FROM users",
            "UPDATE users SET name = 'z' RETURNING *",
            "INSERT INTO users (id) VALUES (77)",
            "DROP TABLE users",
            "CREATE TABLE t (a INT)",
            "CREATE TEMP TABLE t AS FROM users",
            "COPY users TO 'fuzzed.csv'",
            "EXPORT DATABASE 'fuzzed'",
            "ATTACH 'fuzzed.db' AS y",
            "INSTALL httpfs",
            "SET threads = 1",
            "RESET memory_limit",
            "PRAGMA disable_verification",
            "CHECKPOINT",
            "CALL nextval('s1')",
            "PREPARE p AS SELECT 1",
        ]),
    })
}

#[async_trait]
impl Fuzzed for Scratch {
    async fn session(&self) -> Result<GuardedSession> {
        crate::support::open(self.target()).await
    }

    async fn fingerprint(&self) -> Result<Vec<(String, String)>> {
        Ok(files(self.folder.path(), Path::new(".")))
    }
}

/// A database that is open for writing, under a session that stands alone between a statement and a write.
struct Writable {
    scratch: Scratch,
    host: Mutex<Connection>,
}

impl Writable {
    fn new() -> Self {
        let scratch = scratch();
        // Else the list of secrets would be looked for in files, which are out of reach later.
        let config = Config::default().with("allow_persistent_secrets", "false").unwrap();
        let host = Mutex::new(Connection::open_with_flags(&scratch.file, config).unwrap());
        Self { scratch, host }
    }

    fn parts(&self) -> Vec<(String, String)> {
        let mut parts = state(&self.host.lock().unwrap());
        parts.extend(files(self.scratch.folder.path(), Path::new(".")));
        parts
    }
}

#[async_trait]
impl Fuzzed for Writable {
    async fn session(&self) -> Result<GuardedSession> {
        let connection = self.host.lock().unwrap().try_clone().unwrap();
        let target = self.scratch.target();
        let session = dbagent_duckdb::from_connection(connection, &target)?;
        GuardedSession::over(&DIALECT, target, session)
    }

    async fn fingerprint(&self) -> Result<Vec<(String, String)>> {
        Ok(self.parts())
    }
}

/// Files of a database's folder with their bytes, and the names of those in another.
fn files(folder: &Path, working: &Path) -> Vec<(String, String)> {
    let names = |folder: &Path| {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|f| f.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    let mut parts = vec![
        ("the files beside it".to_owned(), names(folder).join(" ")),
        ("the files of the working folder".to_owned(), names(working).join(" ")),
    ];
    for name in names(folder) {
        let bytes = std::fs::read(folder.join(&name)).unwrap_or_default();
        parts.push((format!("the bytes of {name}"), bytes.into_iter().map(char::from).collect()));
    }
    parts
}

/// What the engine tells of itself and of the database, by name.
const STATE: &[(&str, &str)] = &[
    ("the settings", "SELECT name, value FROM duckdb_settings()"),
    ("the databases", "SELECT database_name, path, readonly FROM duckdb_databases()"),
    ("the schemas", "SELECT database_name, schema_name, comment FROM duckdb_schemas()"),
    ("the tables", "SELECT * EXCLUDE (estimated_size) FROM duckdb_tables()"),
    ("the columns", "FROM duckdb_columns() WHERE NOT internal"),
    ("the constraints", "FROM duckdb_constraints()"),
    ("the views", "FROM duckdb_views() WHERE NOT internal"),
    ("the indexes", "FROM duckdb_indexes()"),
    (
        "the functions",
        "SELECT schema_name, function_name, macro_definition FROM duckdb_functions() WHERE NOT internal",
    ),
    ("the types", "SELECT schema_name, type_name, labels FROM duckdb_types() WHERE NOT internal"),
    ("the sequences", "FROM duckdb_sequences()"),
    ("the secrets", "FROM duckdb_secrets()"),
    // An extension brings functions; the list of extensions itself is looked for in files.
    ("what the engine has", "SELECT count(*) FROM duckdb_functions() WHERE internal"),
    ("the rows of users", "SELECT rowid, * FROM users"),
    ("the rows of orders", "SELECT rowid, * FROM orders"),
];

fn state(db: &Connection) -> Vec<(String, String)> {
    let part = |(name, query): &(&str, &str)| {
        let sql = format!(
            "SELECT coalesce(string_agg(x::VARCHAR, chr(10) ORDER BY x::VARCHAR), '') FROM ({query}) x"
        );
        let told: String = db.query_row(&sql, [], |row| row.get(0)).unwrap_or_else(|e| panic!("{name}: {e}"));
        ((*name).to_owned(), told)
    };
    STATE.iter().map(part).collect()
}

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.change("CREATE SEQUENCE s1; CREATE VIEW v AS FROM users; CREATE MACRO m(x) AS x");
    scratch
}

/// A fingerprint that misses something would find nothing.
#[test]
fn every_change_is_seen_by_its_part() {
    for (part, change) in [
        ("the settings", "SET GLOBAL threads = 1"),
        ("the settings", "SET GLOBAL memory_limit = '123MB'"),
        ("the databases", "ATTACH ':memory:' AS other"),
        ("the schemas", "CREATE SCHEMA other"),
        ("the tables", "CREATE TABLE other (a INTEGER)"),
        ("the tables", "COMMENT ON TABLE users IS 'other'"),
        ("the columns", "ALTER TABLE orders ADD COLUMN other INTEGER"),
        ("the constraints", "CREATE TABLE other (a INTEGER CHECK (a > 0))"),
        ("the views", "CREATE OR REPLACE VIEW v AS SELECT 1 AS x"),
        ("the indexes", "CREATE INDEX other ON orders (status)"),
        ("the functions", "CREATE OR REPLACE MACRO m(x) AS x + 1"),
        ("the types", "CREATE TYPE other AS ENUM ('a')"),
        ("the sequences", "SELECT nextval('s1')"),
        ("the rows of users", "UPDATE users SET name = 'other' WHERE id = 3"),
        ("the rows of orders", "DELETE FROM orders WHERE id = 3"),
        ("the bytes of scratch.db", "INSERT INTO users (id) VALUES (77); CHECKPOINT"),
        ("the files beside it", "COPY users TO '{folder}/other.csv'"),
    ] {
        let engine = Writable::new();
        let before = engine.parts();
        assert_eq!(engine.parts(), before, "a look changes nothing");
        let folder = engine.scratch.folder.path().display().to_string();
        engine.host.lock().unwrap().execute_batch(&change.replace("{folder}", &folder)).unwrap();
        let now = engine.parts();
        let of = |parts: &[(String, String)]| parts.iter().find(|(name, _)| name == part).cloned().unwrap();
        assert_ne!(of(&now), of(&before), "{change}");
    }
    let (folder, working) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let before = files(folder.path(), working.path());
    std::fs::write(working.path().join("other"), "").unwrap();
    assert_ne!(files(folder.path(), working.path()), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_cleared_only_reads_whatever_was_done_to_it() {
    fuzzed(&scratch(), Plan::texts(0x5eed_0003, 2_500)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_cleared_only_reads_where_nothing_else_stands_before_a_write() {
    fuzzed(&Writable::new(), Plan::texts(0x5eed_0013, 2_500)).await;
}

async fn fuzzed(engine: &impl Fuzzed, plan: Plan) {
    let words = std::env::var(fuzz::VARIABLE).ok();
    let plan = plan.from_words(words.as_deref()).unwrap();
    let mut texts = (mutated(), sentences());

    let report = fuzz::run(engine, &mut texts, plan).await.unwrap();

    println!("{}", report.summary());
    assert!(report.finds.is_empty(), "{:#?}", report.finds);
    // A run that clears nothing, or refuses nothing, proves nothing.
    assert!(report.cleared > report.texts / 10 && report.refused > report.texts / 10, "{}", report.summary());
    assert!(report.answered > report.texts / 20, "{}", report.summary());
}

/// The same text is the same value, and a catalogue vouches for names only.
#[tokio::test(flavor = "multi_thread")]
async fn judging_is_pure_and_the_catalogue_vouches_for_names_only() {
    let scratch = Scratch::new();
    let session = scratch.session().await;
    let context = DIALECT.parse_context(StatementLimits::default(), Settings::new());
    for text in mutations(1_500, 0x5eed_0009_8765_4321) {
        let request = Request::text(&text);
        let (Ok(first), Ok(second)) = (DIALECT.parse(&request, &context), DIALECT.parse(&request, &context))
        else {
            continue;
        };
        assert_eq!(first, second, "{text:?}");
        let offline = judge(&first, &Resolution::offline(), &Policy::default(), DIALECT.case());
        let call = within(std::time::Duration::from_secs(10));
        if let Ok(Verdict::Cleared(_)) = session.judge(request, Some(1), &call).await {
            // Only a function, or a name that looks like a file, may need the catalogue to vouch for it.
            let vouched = matches!(&offline, Judgement::Refused(r) if r.rule == Rule::UnknownFunction);
            assert!(offline == Judgement::Read || vouched, "{text:?}: {offline:?}");
        }
    }
}

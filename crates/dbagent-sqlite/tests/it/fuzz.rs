//! Random statements: what is cleared must still only read.

use std::path::Path;

use dbagent_core::guard::{Judgement, Policy, Resolution, judge};
use dbagent_core::guardrails::StatementLimits;
use dbagent_core::session::Verdict;
use dbagent_core::{GuardedSession, Request, Result, Settings, async_trait};
use dbagent_sqlite::DIALECT;
use dbagent_testkit::fuzz::{self, Fuzzed, Mutations, Plan, Random, Sentences, Texts as _, Vocabulary};

use crate::corpus::rows;
use crate::reads::reads;
use crate::support::{Scratch, within};

const SPICE: &[&str] = &[
    ";",
    "'",
    "\"",
    "`",
    "[",
    "]",
    "--",
    "/*",
    "*/",
    "\n",
    "\u{feff}",
    "(",
    ")",
    ",",
    ".",
    "?",
    ":a",
    "$a",
    "$a(",
    "x'00'",
    "SELECT",
    "DELETE FROM users",
    "; DROP TABLE users",
    "UNION SELECT",
    "PRAGMA",
    "EXPLAIN",
    "ATTACH 'x' AS y",
    "writefile('x','y')",
    "load_extension('x')",
    "main.",
    "temp.",
    "INTO",
    "RETURNING *",
    "WITH x AS (",
    "VALUES (1)",
    "=",
    "ON",
    "INSERT INTO users(id) VALUES (77)",
    "UPDATE users SET name = 'z'",
    "user_version = 7",
    "\u{0b}",
    "\\",
];

/// Rows of the corpora and honest reads, moved about.
fn mutated() -> Mutations {
    let seeds = rows().iter().map(|row| row.statement.clone()).collect::<Vec<_>>();
    let honest = (0..3).flat_map(|_| reads());
    Mutations::new(seeds.into_iter().chain(honest), SPICE.iter().map(|s| (*s).to_owned()))
}

/// So many of them.
pub(crate) fn mutations(count: usize, seed: u64) -> impl Iterator<Item = String> {
    let (mut texts, mut random) = (mutated(), Random::new(seed));
    (0..count).map(move |_| texts.next(&mut random))
}

/// Sentences over every function that the engine lists.
fn sentences(scratch: &Scratch) -> Sentences {
    let owned = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    let db = scratch.writer();
    let mut functions = db.prepare("SELECT DISTINCT name FROM pragma_function_list ORDER BY name").unwrap();
    let functions =
        functions.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap).collect();
    Sentences::new(Vocabulary {
        tables: vec![
            ("users".to_owned(), owned(&["id", "name", "email", "\"update\"", "data", "rowid"])),
            ("sqlite_schema".to_owned(), owned(&["sql", "name"])),
        ],
        functions,
        literals: owned(&[
            "NULL",
            "0",
            "1",
            "-1",
            "9223372036854775807",
            "1e999",
            "''",
            "'x'",
            "'{\"a\":[1]}'",
            "'$.a'",
            "x'00ff'",
            "'/etc/passwd'",
            "'users'",
            "CURRENT_TIMESTAMP",
        ]),
        expressions: owned(&["CAST(name AS BLOB)", "data ->> '$.a'", "name GLOB '*'", "name COLLATE NOCASE"]),
        sources: owned(&[
            "json_each('[1,2]')",
            "pragma_table_info('users')",
            "pragma_user_version",
            "pragma_query_only(0)",
            "pragma_journal_mode",
            "generate_series(1, 3)",
            "dbstat",
            "users INDEXED BY x",
        ]),
        prefixes: owned(&["", "EXPLAIN ", "EXPLAIN QUERY PLAN ", "/* x */ "]),
        writes: owned(&[
            "DELETE FROM users",
            "UPDATE users SET name = 'z' RETURNING *",
            "INSERT INTO users (id) VALUES (77)",
            "REPLACE INTO users (id) VALUES (1)",
            "DROP TABLE users",
            "CREATE TABLE t (a)",
            "PRAGMA user_version = 7",
            "PRAGMA query_only = OFF",
            "ATTACH 'fuzzed.db' AS y",
            "VACUUM INTO 'fuzzed.db'",
            "BEGIN IMMEDIATE",
            "REINDEX",
            "ANALYZE",
            "SAVEPOINT a",
        ]),
    })
}

#[async_trait]
impl Fuzzed for Scratch {
    async fn session(&self) -> Result<GuardedSession> {
        crate::support::open(self.target()).await
    }

    async fn fingerprint(&self) -> Result<Vec<(String, String)>> {
        let names = |folder: &Path| {
            let mut names: Vec<String> = std::fs::read_dir(folder)
                .unwrap()
                .map(|f| f.unwrap().file_name().to_string_lossy().into_owned())
                .collect();
            names.sort();
            names.join(" ")
        };
        let bytes = std::fs::read(&self.file).unwrap();
        Ok(vec![
            ("the bytes of the file".to_owned(), bytes.into_iter().map(char::from).collect()),
            ("the files beside it".to_owned(), names(self.folder.path())),
            ("the files of the working folder".to_owned(), names(Path::new("."))),
        ])
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_cleared_only_reads_whatever_was_done_to_it() {
    let scratch = Scratch::with(crate::reads::SHOP);
    scratch.change(&format!("{SETUP_USERS}; INSERT INTO users (id) VALUES (1)"));
    let words = std::env::var(fuzz::VARIABLE).ok();
    let plan = Plan::texts(0x5eed_0001, 6_000).from_words(words.as_deref()).unwrap();
    let mut texts = (mutated(), sentences(&scratch));

    let report = fuzz::run(&scratch, &mut texts, plan).await.unwrap();

    println!("{}", report.summary());
    assert!(report.finds.is_empty(), "{:#?}", report.finds);
    // A run that clears nothing, or refuses nothing, proves nothing.
    assert!(report.cleared > report.texts / 10 && report.refused > report.texts / 10, "{}", report.summary());
    assert!(report.answered > report.texts / 20, "{}", report.summary());
}

const SETUP_USERS: &str = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, email TEXT, \"update\" TEXT, data TEXT, tags TEXT)";

/// The same text is the same value, and judging with a catalogue never clears more than the text allows.
#[tokio::test(flavor = "multi_thread")]
async fn judging_is_pure_and_the_catalogue_only_takes_away() {
    let scratch = Scratch::new();
    let session = scratch.session().await;
    let context = DIALECT.parse_context(StatementLimits::default(), Settings::new());
    for text in mutations(2_000, 0x5eed_0009_8765_4321) {
        let request = Request::text(&text);
        let (Ok(first), Ok(second)) = (DIALECT.parse(&request, &context), DIALECT.parse(&request, &context))
        else {
            continue;
        };
        assert_eq!(first, second, "{text:?}");
        let offline = judge(&first, &Resolution::offline(), &Policy::default(), DIALECT.case());
        let call = within(std::time::Duration::from_secs(10));
        if let Ok(Verdict::Cleared(_)) = session.judge(request, Some(1), &call).await {
            assert_eq!(offline, Judgement::Read, "{text:?}");
        }
    }
}

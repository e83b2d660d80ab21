//! Random statements: what is cleared must still only read.

use std::path::Path;

use dbagent_core::guard::{Judgement, Policy, Resolution, judge};
use dbagent_core::guardrails::StatementLimits;
use dbagent_core::session::Verdict;
use dbagent_core::{GuardedSession, Request, Result, Rule, Settings, async_trait};
use dbagent_duckdb::DIALECT;
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
    let engine = duckdb::Connection::open_in_memory().unwrap();
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
        let names = |folder: &Path| {
            let entries = std::fs::read_dir(folder).unwrap();
            let mut names: Vec<String> =
                entries.map(|f| f.unwrap().file_name().to_string_lossy().into_owned()).collect();
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
    let scratch = Scratch::new();
    scratch.change("CREATE SEQUENCE s1; CREATE VIEW v AS FROM users; CREATE MACRO m(x) AS x");
    let words = std::env::var(fuzz::VARIABLE).ok();
    let plan = Plan::texts(0x5eed_0003, 4_000).from_words(words.as_deref()).unwrap();
    let mut texts = (mutated(), sentences());

    let report = fuzz::run(&scratch, &mut texts, plan).await.unwrap();

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

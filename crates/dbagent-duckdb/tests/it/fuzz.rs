//! Rows of the corpora with tokens moved about: what is still cleared must still only read.

use std::path::Path;

use dbagent_core::guard::{Judgement, Policy, Resolution, judge};
use dbagent_core::guardrails::StatementLimits;
use dbagent_core::session::Verdict;
use dbagent_core::{Request, Rule, Settings};
use dbagent_duckdb::DIALECT;

use crate::corpus::rows;
use crate::support::{Ran, Scratch, call, collect, within};

/// A generator of numbers that gives the same ones every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).unwrap()
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Cuts a text at the places where tokens begin, roughly: a wrong cut is a mutation too.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for c in text.chars() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        match pieces.last_mut() {
            Some(last) if word(c) && last.chars().all(word) => last.push(c),
            _ => pieces.push(c.to_string()),
        }
    }
    pieces
}

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

fn mutate(random: &mut Random, seeds: &[Vec<String>]) -> String {
    let mut text = random.pick(seeds).clone();
    // Mostly one change: a text with several is rarely one that the grammar accepts.
    let changes = if random.below(3) == 0 { 3 } else { 1 };
    for _ in 0..changes {
        let at = random.below(text.len() + 1);
        match random.below(6) {
            0 => text.insert(at, (*random.pick(SPICE)).to_owned()),
            1 if !text.is_empty() => {
                text.remove(at.min(text.len() - 1));
            }
            2 if !text.is_empty() => {
                let other = random.below(text.len());
                let at = at.min(text.len() - 1);
                text.swap(at, other);
            }
            3 => {
                // The head of one and the tail of another.
                let other = random.pick(seeds);
                let cut = random.below(other.len() + 1);
                text.truncate(at);
                text.extend(other[cut..].iter().cloned());
            }
            4 if !text.is_empty() => {
                let at = at.min(text.len() - 1);
                let piece = text[at].clone();
                text.insert(at, piece);
            }
            _ => {
                let other = random.pick(seeds);
                if !other.is_empty() {
                    let piece = random.pick(other).clone();
                    text.insert(at, piece);
                }
            }
        }
    }
    text.concat()
}

/// Texts made of the rows of the corpora and of honest reads.
pub(crate) fn mutations(count: usize, seed: u64) -> impl Iterator<Item = String> {
    // Rows that ask for what would bring down the machine are no seeds.
    let honest = rows().into_iter().filter(|r| r.kind != "dos");
    let honest: Vec<_> = honest.collect();
    // Most mutations of a bad row are bad: good rows are more of the seeds.
    let good = honest.iter().filter(|r| r.allow).flat_map(|r| [r; 5]);
    let seeds: Vec<Vec<String>> = honest.iter().chain(good).map(|r| pieces(&r.statement)).collect();
    let mut random = Random(seed);
    (0..count).map(move |_| mutate(&mut random, &seeds))
}

fn fingerprint(scratch: &Scratch) -> (Vec<u8>, Vec<String>, Vec<String>) {
    let names = |folder: &Path| {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|f| f.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    (std::fs::read(&scratch.file).unwrap(), names(scratch.folder.path()), names(Path::new(".")))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_cleared_only_reads_whatever_was_done_to_it() {
    const ROUNDS: usize = 4_000;
    let scratch = Scratch::new();
    scratch.change("CREATE SEQUENCE s1; CREATE VIEW v AS FROM users; CREATE MACRO m(x) AS x");
    let before = fingerprint(&scratch);
    let session = scratch.session().await;
    let (mut cleared, mut refused) = (0, 0);
    for (round, text) in mutations(ROUNDS, 0x5eed_0001_2345_6789).enumerate() {
        match session.judge(Request::text(&text), Some(50), &call()).await.unwrap() {
            Verdict::Cleared(statement) => {
                cleared += 1;
                // Some of them never end. What counts is what they leave behind.
                let rows = session.read(statement, &within(std::time::Duration::from_millis(150))).unwrap();
                if let Ran::Failed(e) = collect(rows).await {
                    assert!(e.kind().is_mendable(), "round {round}: {text:?}: {e:?}");
                }
            }
            Verdict::Refused(_) => refused += 1,
            Verdict::Proposed(proposal) => panic!("round {round}: {text:?}: {proposal:?}"),
        }
    }
    // The file is read only now: opening it beside the engine would drop the engine's lock.
    drop(session);
    assert_eq!(fingerprint(&scratch), before);
    assert!(cleared > 500 && refused > 1_000, "cleared {cleared}, refused {refused}");
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

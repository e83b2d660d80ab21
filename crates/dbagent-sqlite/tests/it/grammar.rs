//! Our grammar and SQLite's: what the engine compiles, the parser must not call a syntax error, or honest
//! reads would be refused for nothing.

use dbagent_core::guardrails::StatementLimits;
use dbagent_core::{ErrorKind, ParseContext, Request, Settings};
use dbagent_sqlite::DIALECT;
use dbagent_sqlite::rusqlite::Connection;
use dbagent_sqlite::testing::raw_hardened;

use crate::reads::SHOP;
use crate::support::{Scratch, call};

/// Every word that is a keyword to SQLite in some place.
const KEYWORDS: &str = "abort action add after all alter always analyze and as asc attach autoincrement before begin \
    between by cascade case cast check collate column commit conflict constraint create cross current \
    current_date current_time current_timestamp database default deferrable deferred delete desc detach distinct \
    do drop each else end escape except exclude exclusive exists explain fail filter first following for foreign \
    from full generated glob group groups having if ignore immediate in index indexed initially inner insert \
    instead intersect into is isnull join key last left like limit match materialized natural no not nothing \
    notnull null nulls of offset on or order others outer over partition plan pragma preceding primary query raise \
    range recursive references regexp reindex release rename replace restrict returning right rollback row rows \
    savepoint select set table temp temporary then ties to transaction trigger unbounded union unique update \
    using vacuum values view virtual when where window with without within true false rowid strict stored abs";

const PLACES: &[&str] = &[
    "SELECT @ FROM t",
    "SELECT t.@ FROM t",
    "SELECT 1 AS @",
    "SELECT 1 @",
    "SELECT 1 FROM t AS @",
    "SELECT 1 FROM t @",
    "SELECT @.x FROM t AS @",
    "SELECT x FROM t WHERE @ = 1 ORDER BY @ DESC",
    "SELECT count(*) FROM t GROUP BY @",
    "WITH @ AS (SELECT 1 AS y) SELECT y FROM @",
    "WITH c(@) AS (SELECT 1) SELECT @ FROM c",
    "SELECT sum(x) OVER @ FROM t WINDOW @ AS (ORDER BY x)",
    "SELECT x FROM t JOIN t AS u USING (@)",
    "SELECT \"@\", [@], `@` FROM t",
    "SELECT @(1)",
    "SELECT @(x) FROM t",
    "SELECT x COLLATE @ FROM t",
    "SELECT CAST(x AS @) FROM t",
    "SELECT :@",
];

fn is_syntax_error(text: &str, context: &ParseContext) -> bool {
    matches!(DIALECT.parse(&Request::text(text), context), Err(e) if e.kind() == ErrorKind::Syntax)
}

#[test]
fn keywords_are_names_where_sqlite_takes_them_for_names() {
    let db = Connection::open_in_memory().unwrap();
    let words: Vec<&str> = KEYWORDS.split_whitespace().collect();
    let columns: Vec<String> = words.iter().map(|w| format!("\"{w}\"")).collect();
    db.execute_batch(&format!("CREATE TABLE t (x, {})", columns.join(", "))).unwrap();
    let context = DIALECT.parse_context(StatementLimits::default(), Settings::new());
    let mut compiled = 0;
    let mut wrong = Vec::new();
    for word in words {
        for place in PLACES {
            let text = place.replace('@', word);
            if db.prepare(&text).is_ok() {
                compiled += 1;
                if is_syntax_error(&text, &context) {
                    wrong.push(text);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "SQLite compiles these: {wrong:#?}");
    assert!(compiled > 1_000, "{compiled}");
}

#[test]
fn what_sqlite_compiles_is_no_syntax_error() {
    // Some pragmas act on the whole process while they are compiled, so even this needs the authorizer.
    let scratch = Scratch::with(SHOP);
    let door = raw_hardened(&scratch.target(), &call()).unwrap();
    let context = DIALECT.parse_context(StatementLimits::default(), Settings::new());
    let mut wrong = Vec::new();
    let mut compiled = 0;
    for text in crate::fuzz::mutations(20_000, 0x5eed_0777_1234_5678) {
        if door.compile(&text).is_ok() {
            compiled += 1;
            if is_syntax_error(&text, &context) {
                wrong.push(text);
            }
        }
    }
    assert!(wrong.is_empty(), "SQLite compiles these: {wrong:#?}");
    assert!(compiled > 2_000, "{compiled}");
}

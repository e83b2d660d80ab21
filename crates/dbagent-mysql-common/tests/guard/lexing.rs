//! Where strings, names and comments end: our lexer against the server's, under every mode that matters.

use dbagent_core::guard::Rule;
use dbagent_core::{ErrorKind, Settings};
use dbagent_mysql_common::dbagent_sql::lex::{LexKind, Lexeme, lex};
use dbagent_mysql_common::lex;
use dbagent_mysql_common::sqlx::{self, Executor as _, MySqlConnection};
use dbagent_mysql_common::testing::raw_hardened;
use dbagent_testkit::fuzz::{Mutations, Random, Texts as _};

use super::corpus::{read, rows};
use super::server::{Scratch, call, url};
use crate::KIT;

const MODES: [&str; 4] =
    ["", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES,IGNORE_SPACE", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES"];

/// What upsets a lexer.
pub(crate) const SPICE: &[&str] = &[
    "'",
    "\"",
    "`",
    "\\",
    "\\'",
    "\\\"",
    "''",
    "--",
    "-- ",
    "--\t",
    "#",
    "/*",
    "*/",
    "/* ",
    "\n",
    "\r",
    ";",
    "@",
    "@@",
    "@'a'",
    "@`a`",
    ":=",
    "$",
    "$$",
    "{",
    "}",
    "N'",
    "x'41'",
    "_utf8mb4'a'",
    "0x41",
    "b'1'",
    "1e",
    "1.",
    ".5",
    "\t",
    "\u{b}",
    "\u{c}",
    "ä",
    "列",
    "<=>",
    "->",
    "->>",
    "&&",
    "||",
    "!",
    "?",
];

enum Said {
    Takes,
    /// A syntax error, and what follows the place.
    Near(String),
    Other,
}

/// Lets the server prepare a text, which must be one statement for that. Sent as a value, so that its own mode
/// decides nothing before.
async fn prepare(connection: &mut MySqlConnection, text: &str) -> Said {
    let mut hex = String::new();
    for byte in text.bytes() {
        hex.push_str(&format!("{byte:02x}"));
    }
    let set = format!("SET @text = CONVERT(X'{hex}' USING utf8mb4)");
    connection.execute(sqlx::AssertSqlSafe(set)).await.unwrap();
    match connection.execute("PREPARE guard_p FROM @text").await {
        Ok(_) => Said::Takes,
        Err(sqlx::Error::Database(e)) => {
            let message = e.message();
            let near = message.split_once("near '").and_then(|(_, rest)| rest.rsplit_once("' at line "));
            match near {
                Some((near, _)) if message.contains("SQL syntax") => Said::Near(near.to_owned()),
                _ => Said::Other,
            }
        }
        Err(e) => panic!("{text:?}: {e}"),
    }
}

/// Whether the place that the server complains of can be the beginning of one of our pieces, or its end.
fn is_at_a_piece(text: &str, near: &str, pieces: &[Lexeme]) -> bool {
    // The server shows at most 80 characters, and its own idea of what cannot be shown.
    let shown: String = near.chars().take(60).collect();
    let hides = |l: &Lexeme| matches!(l.kind, LexKind::Comment | LexKind::String | LexKind::QuotedIdent);
    let mut places = text.match_indices(&shown).map(|(at, _)| at).peekable();
    places.peek().is_none()
        || places.any(|at| !pieces.iter().filter(|l| hides(l)).any(|l| l.span.start < at && at < l.span.end))
}

/// Wherever the server says that it does not understand a text, that place is no part of what our lexer takes
/// for a string, a name or a comment.
#[tokio::test(flavor = "multi_thread")]
async fn the_server_sees_the_same_strings_names_and_comments() {
    const ROUNDS: usize = 1_500;
    let Some(url) = url() else { return };
    let scratch = Scratch::new(&url).await;
    let mut door = raw_hardened(KIT.flavor.server(), &scratch.target(), &call()).await.unwrap();
    let seeds: Vec<String> = rows().into_iter().map(|r| r.statement).collect();
    let spice = SPICE.iter().map(|s| (*s).to_owned());
    let mut mutations = Mutations::new(seeds, spice);
    let mut random = Random::new(0x05ee_d1e8);
    let mut wrong = Vec::new();
    let (mut taken, mut complained) = (0, 0);
    for mode in MODES {
        let settings = Settings::new().with("sql_mode", mode);
        let connection = door.connection();
        let sql = format!("SET SESSION sql_mode = '{mode}'");
        connection.execute(sqlx::AssertSqlSafe(sql)).await.unwrap();
        for _ in 0..ROUNDS {
            let text = mutations.next(&mut random);
            // What the lexer refuses, or what the server would execute only in part, is no matter here.
            let Ok(pieces) = lex(&text, &lex::rules(&settings)) else { continue };
            if text.contains('\0') {
                continue;
            }
            match prepare(connection, &text).await {
                Said::Takes => {
                    taken += 1;
                    if let Ok(parsed) = read(&text, settings.clone())
                        && parsed.findings.iter().any(|f| f.rule == Rule::SeveralStatements)
                    {
                        wrong.push(format!("{mode}: one statement to the server: {text:?}"));
                    }
                }
                Said::Near(near) if !near.is_empty() => {
                    complained += 1;
                    if !is_at_a_piece(&text, &near, &pieces) {
                        wrong.push(format!("{mode}: {text:?} near {near:?}"));
                    }
                }
                Said::Near(_) | Said::Other => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{} {}", wrong.len(), wrong.join("\n"));
    assert!(taken > 300 && complained > 1_000, "{taken} taken, {complained} not understood");
}

/// Strings are what the server says they are: each is sent alone and must come back as one value.
#[tokio::test(flavor = "multi_thread")]
async fn a_string_of_ours_is_one_value_to_the_server() {
    let Some(url) = url() else { return };
    let scratch = Scratch::empty(&url).await;
    let mut door = raw_hardened(KIT.flavor.server(), &scratch.target(), &call()).await.unwrap();
    let mut random = Random::new(0x5eed_5741);
    let alphabet = ["'", "\"", "\\", "`", "a", ";", "--", " ", "#", "/*", "*/", "\n", "ä", "%"];
    let mut tried = 0;
    for mode in MODES {
        let settings = Settings::new().with("sql_mode", mode);
        let rules = lex::rules(&settings);
        let connection = door.connection();
        connection.execute(sqlx::AssertSqlSafe(format!("SET SESSION sql_mode = '{mode}'"))).await.unwrap();
        for _ in 0..1_500 {
            let quote = *random.pick(&["'", "\"", "`"]).unwrap();
            let length = random.below(8);
            let inner: String = (0..length).map(|_| *random.pick(&alphabet).unwrap()).collect();
            let literal = format!("{quote}{inner}{quote}");
            let one = matches!(lex(&literal, &rules).as_deref(), Ok([piece])
                if matches!(piece.kind, LexKind::String | LexKind::QuotedIdent));
            let is_name = quote == "`" || (quote == "\"" && mode.contains("ANSI_QUOTES"));
            let text =
                if is_name { format!("SELECT 1 AS {literal}") } else { format!("SELECT {literal} AS x") };
            let takes = match prepare(connection, &text).await {
                Said::Takes => true,
                Said::Near(_) => false,
                // An empty name, or one that ends with a blank.
                Said::Other => continue,
            };
            // The server also takes two strings side by side, and comments behind a shorter string: then it is
            // not one piece to us, and more than one to it.
            if one {
                tried += 1;
                assert!(takes, "{mode}: one piece to us and none to the server: {text:?}");
            }
        }
    }
    assert!(tried > 500, "{tried}");
}

#[test]
fn a_mode_decides_what_is_text_and_what_is_code() {
    let verdict = |text: &str, mode: &str| match read(text, Settings::new().with("sql_mode", mode)) {
        Ok(parsed) if parsed.findings.is_empty() && parsed.effects.is_pure_read() => "read".to_owned(),
        Ok(parsed) => parsed.findings.first().map_or("effects".to_owned(), |f| f.rule.name().to_owned()),
        Err(e) if e.kind() == ErrorKind::Syntax => "syntax".to_owned(),
        Err(e) => e.to_string(),
    };
    for (text, mode, expected) in [
        (r"SELECT 'a\' OR b' FROM t", "", "read"),
        (r"SELECT 'a\' OR b' FROM t", "NO_BACKSLASH_ESCAPES", "syntax"),
        (r"SELECT 'a\'", "NO_BACKSLASH_ESCAPES", "read"),
        (r"SELECT 'a\', 'b'", "NO_BACKSLASH_ESCAPES", "read"),
        (r"SELECT 'a\' ; DROP TABLE t; -- '", "NO_BACKSLASH_ESCAPES", "several-statements"),
        (r"SELECT 'a\' ; DROP TABLE t; -- '", "", "read"),
        (r#"SELECT "a" FROM t"#, "", "read"),
        (r#"SELECT "a" FROM "t""#, "ANSI_QUOTES", "read"),
        (r#"SELECT "a\" FROM t"#, "ANSI_QUOTES", "read"),
        (r#"SELECT "a\" ; DROP TABLE t; -- ""#, "ANSI_QUOTES", "several-statements"),
        (r#"SELECT "a""b" FROM t"#, "ANSI_QUOTES", "read"),
        ("SELECT 'a' || 'b'", "PIPES_AS_CONCAT", "read"),
        ("SELECT NOT 1 BETWEEN 0 AND 2", "HIGH_NOT_PRECEDENCE", "read"),
        ("SELECT 1", "ORACLE", "engine-disagrees"),
    ] {
        assert_eq!(verdict(text, mode), expected, "{text} under {mode}");
    }
    // A name in double quotes is a column, and a string is none.
    let columns = |mode: &str| {
        let parsed = read(r#"SELECT "a" FROM t"#, Settings::new().with("sql_mode", mode)).unwrap();
        parsed.columns.len()
    };
    assert_eq!((columns(""), columns("ANSI_QUOTES")), (0, 1));
}

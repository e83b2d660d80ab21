//! How the servers cut text, under the `sql_mode` of the session.

use dbagent_core::Settings;
use dbagent_sql::lex::{BlockComment, DashComment, DoubleQuotes, Hints, LexRules};

use crate::flavor::Server;

/// Hints of the optimizer that only say how rows are found. Left out are those that lift a limit or reach
/// beyond the statement: `MAX_EXECUTION_TIME`, `RESOURCE_GROUP`, `SET_VAR`.
const HINTS: &[&str] = &[
    "bka",
    "bnl",
    "derived_condition_pushdown",
    "group_index",
    "hash_join",
    "index",
    "index_merge",
    "join_fixed_order",
    "join_index",
    "join_order",
    "join_prefix",
    "join_suffix",
    "merge",
    "mrr",
    "no_bka",
    "no_bnl",
    "no_derived_condition_pushdown",
    "no_group_index",
    "no_hash_join",
    "no_icp",
    "no_index",
    "no_index_merge",
    "no_join_index",
    "no_merge",
    "no_mrr",
    "no_order_index",
    "no_range_optimization",
    "no_semijoin",
    "no_skip_scan",
    "order_index",
    "qb_name",
    "semijoin",
    "skip_scan",
    "subquery",
];

/// The rules of both servers, before the mode is looked at.
const BASE: LexRules = LexRules::ANSI
    .dash_comment(DashComment::BeforeBlank)
    .hash_comments(true)
    .block_comment(BlockComment::Flat)
    .executable_comments(true)
    .hints(Hints::Named(HINTS))
    .backticks(true);

/// The parts of a `sql_mode` that change what a text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mode {
    /// Double quotes are for names.
    pub(crate) ansi_quotes: bool,
    /// A backslash escapes the next character of a string.
    pub(crate) backslash: bool,
    /// Blanks may stand between the name of a function and its bracket.
    pub(crate) ignore_space: bool,
    /// A mode that changes the grammar beyond what is read here.
    pub(crate) foreign: Option<&'static str>,
}

impl Mode {
    /// What the settings of a session say. Without `sql_mode` it is the servers' default with
    /// `IGNORE_SPACE`, which the driver asks for.
    pub(crate) fn of(settings: &Settings) -> Self {
        let Some(mode) = settings.get("sql_mode") else {
            return Self { ansi_quotes: false, backslash: true, ignore_space: true, foreign: None };
        };
        let has = |word: &str| mode.split(',').any(|m| m.trim().eq_ignore_ascii_case(word));
        Self {
            ansi_quotes: has("ANSI_QUOTES"),
            backslash: !has("NO_BACKSLASH_ESCAPES"),
            ignore_space: has("IGNORE_SPACE"),
            foreign: ["ORACLE", "MSSQL"].into_iter().find(|m| has(m)),
        }
    }

    pub(crate) const fn rules(self) -> LexRules {
        let quotes = if self.ansi_quotes { DoubleQuotes::Identifier } else { DoubleQuotes::String };
        BASE.double_quotes(quotes).backslash_escapes(self.backslash)
    }
}

/// The rules under the settings of a session. Both servers cut alike; what only one of them executes
/// (`/*M! … */`) is refused for both.
pub(crate) fn rules(settings: &Settings) -> LexRules {
    Mode::of(settings).rules()
}

/// The version of the server as three numbers; a server that nobody asked is as new as those that the lists
/// of functions were checked with.
pub(crate) fn version(server: Server, settings: &Settings) -> (u16, u16, u16) {
    let newest = match server {
        Server::MySql => (9, 7, 0),
        Server::MariaDb => (11, 8, 0),
    };
    let Some(text) = settings.get("version") else { return newest };
    // Old clients were told that MariaDB 10 is a MySQL 5.5.
    let text = text.strip_prefix("5.5.5-").unwrap_or(text);
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse::<u16>().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    (next(), next(), next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_read_by_its_words() {
        let of = |mode: &str| Mode::of(&Settings::new().with("sql_mode", mode));
        assert!(of("ONLY_FULL_GROUP_BY,IGNORE_SPACE").ignore_space);
        assert!(!of("").ignore_space);
        assert!(of("REAL_AS_FLOAT,PIPES_AS_CONCAT,ansi_quotes").ansi_quotes);
        assert!(!of("NO_BACKSLASH_ESCAPES").backslash);
        assert_eq!(of("PIPES_AS_CONCAT,ORACLE").foreign, Some("ORACLE"));
        assert!(Mode::of(&Settings::new()).backslash);
    }

    #[test]
    fn a_version_is_three_numbers() {
        let of = |server, text: &str| version(server, &Settings::new().with("version", text));
        assert_eq!(of(Server::MySql, "8.0.36-0ubuntu0.22.04.1"), (8, 0, 36));
        assert_eq!(of(Server::MariaDb, "5.5.5-10.6.18-MariaDB-log"), (10, 6, 18));
        assert_eq!(of(Server::MariaDb, "11.8.3-MariaDB"), (11, 8, 3));
        assert_eq!(version(Server::MySql, &Settings::new()), (9, 7, 0));
    }
}

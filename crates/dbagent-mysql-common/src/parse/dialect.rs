//! The servers' grammars as sqlparser's parser asks for them.

use std::any::TypeId;

use dbagent_core::Settings;
use dbagent_sql::sqlparser::ast::{Expr, Statement};
use dbagent_sql::sqlparser::dialect::{Dialect, MySqlDialect};
use dbagent_sql::sqlparser::keywords::Keyword;
use dbagent_sql::sqlparser::parser::{Parser, ParserError};

use crate::flavor::Server;
use crate::lex::Mode;

mod prefix;
mod types;

/// A server under a mode. To sqlparser it is its MySQL dialect, with what that lacks.
#[derive(Debug)]
pub(super) struct ServerDialect {
    server: Server,
    ansi_quotes: bool,
    backslash: bool,
}

/// MySQL under its default mode.
pub(super) const PLAIN: ServerDialect = ServerDialect::new(Server::MySql, false, true);

type Chosen = &'static (dyn Dialect + Send + Sync);

/// MySQL's grammar under a mode.
pub(super) fn mysql(settings: &Settings) -> Chosen {
    static MODES: [ServerDialect; 4] = modes(Server::MySql);
    choose(&MODES, settings)
}

/// MariaDB's grammar under a mode.
pub(super) fn mariadb(settings: &Settings) -> Chosen {
    static MODES: [ServerDialect; 4] = modes(Server::MariaDb);
    choose(&MODES, settings)
}

const fn modes(server: Server) -> [ServerDialect; 4] {
    [
        ServerDialect::new(server, false, true),
        ServerDialect::new(server, true, true),
        ServerDialect::new(server, false, false),
        ServerDialect::new(server, true, false),
    ]
}

fn choose(modes: &'static [ServerDialect; 4], settings: &Settings) -> Chosen {
    let [plain, ansi, no_escapes, both] = modes;
    let mode = Mode::of(settings);
    match (mode.ansi_quotes, mode.backslash) {
        (false, true) => plain,
        (true, true) => ansi,
        (false, false) => no_escapes,
        (true, false) => both,
    }
}

impl ServerDialect {
    const fn new(server: Server, ansi_quotes: bool, backslash: bool) -> Self {
        Self { server, ansi_quotes, backslash }
    }
}

/// Answers as sqlparser's MySQL dialect does.
macro_rules! as_mysql {
    ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty;)+) => {
        $(fn $name(&self, $($arg: $type),*) -> $out { MySqlDialect {}.$name($($arg),*) })+
    };
}

impl Dialect for ServerDialect {
    /// Much of sqlparser asks for its dialects by type.
    fn dialect(&self) -> TypeId {
        TypeId::of::<MySqlDialect>()
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        ch == '`' || (ch == '"' && self.ansi_quotes)
    }

    fn supports_string_literal_backslash_escape(&self) -> bool {
        self.backslash
    }

    /// `FOR SYSTEM_TIME`.
    fn supports_table_versioning(&self) -> bool {
        self.server == Server::MariaDb
    }

    /// `!a`.
    fn supports_bang_not_operator(&self) -> bool {
        true
    }

    fn parse_prefix(&self, parser: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
        prefix::parse(self.server, parser)
    }

    fn parse_infix(
        &self,
        parser: &mut Parser<'_>,
        expr: &Expr,
        precedence: u8,
    ) -> Option<Result<Expr, ParserError>> {
        MySqlDialect {}.parse_infix(parser, expr, precedence)
    }

    fn parse_statement(&self, parser: &mut Parser<'_>) -> Option<Result<Statement, ParserError>> {
        MySqlDialect {}.parse_statement(parser)
    }

    fn get_next_precedence(&self, parser: &Parser<'_>) -> Option<Result<u8, ParserError>> {
        MySqlDialect {}.get_next_precedence(parser)
    }

    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        MySqlDialect {}.identifier_quote_style(identifier)
    }

    fn is_table_factor_alias(&self, explicit: bool, kw: &Keyword, parser: &mut Parser<'_>) -> bool {
        MySqlDialect {}.is_table_factor_alias(explicit, kw, parser)
    }

    as_mysql! {
        supports_string_literal_table_alias(explicit: bool) -> bool;
        is_identifier_start(ch: char) -> bool;
        is_identifier_part(ch: char) -> bool;
        supports_string_literal_concatenation() -> bool;
        ignores_wildcard_escapes() -> bool;
        supports_numeric_prefix() -> bool;
        supports_literal_prefix_in_qualified_name() -> bool;
        supports_bitwise_shift_operators() -> bool;
        supports_singular_value_keyword() -> bool;
        supports_multiline_comment_hints() -> bool;
        require_interval_qualifier() -> bool;
        supports_limit_comma() -> bool;
        supports_create_table_select() -> bool;
        supports_insert_set() -> bool;
        supports_user_host_grantee() -> bool;
        supports_table_hints() -> bool;
        requires_single_line_comment_whitespace() -> bool;
        supports_hash_comment() -> bool;
        supports_match_against() -> bool;
        supports_select_modifiers() -> bool;
        supports_set_names() -> bool;
        supports_comma_separated_set_assignments() -> bool;
        supports_alter_column_position() -> bool;
        supports_update_order_by() -> bool;
        supports_data_type_signed_suffix() -> bool;
        supports_data_type_zerofill_suffix() -> bool;
        supports_cross_join_constraint() -> bool;
        supports_double_ampersand_operator() -> bool;
        supports_binary_kw_as_cast() -> bool;
        supports_table_partitions() -> bool;
        supports_comment_optimizer_hint() -> bool;
        supports_constraint_keyword_without_name() -> bool;
        supports_key_column_option() -> bool;
        supports_group_by_with_modifier() -> bool;
        supports_left_associative_joins_without_parens() -> bool;
    }
}

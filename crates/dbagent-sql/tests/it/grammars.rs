//! Grammars of the kind that dialects write, one per dialect of sqlparser: for tests of the walk only, so
//! their function tables are short.

use dbagent_core::dialect::{Dialect, ParseContext, Settings};
use dbagent_core::guard::Parsed;
use dbagent_core::guardrails::StatementLimits;
use dbagent_core::{Request, Result};
use dbagent_sql::functions::STANDARD;
use dbagent_sql::lex::{BlockComment, Brackets, DashComment, DoubleQuotes, Hints, LexRules};
use dbagent_sql::sqlparser::dialect as sp;
use dbagent_sql::{
    ExplainAnalyze, Folding, Opening, Recursion, ShowNames, SqlGrammar, TSQL_STATEMENTS, Words, functions,
};

functions! {
    /// Beside the standard ones.
    pub(crate) const FUNCTIONS = over STANDARD {
        read {
            at before char connection_id current_timestamp current_user database date_format date_trunc dateadd
            explode filter generate_series glob group_concat group_concat_max_len hex if ifnull insert instr json_array_length
            json_build_object json_extract json_object_agg json_table jsonb_path_query length list_transform
            listagg now numbers openjson percentile_cont pragma_table_info regexp regexp_like row_to_json sha2 sleep_not strftime
            struct sum_if to_char to_json toyear truncate typeof unixepoch utl_hex uuid values version xmlagg
            xmlelement zeroblob
        }
        lock { get_lock pg_advisory_lock }
        write { lo_create nextval setval }
        session { set_config }
        server_io { load_extension load_file pg_read_file readfile writefile }
        "sleep" { benchmark pg_sleep sleep }
    }
}

const MYSQL_RULES: LexRules = LexRules::ANSI
    .dash_comment(DashComment::BeforeBlank)
    .hash_comments(true)
    .block_comment(BlockComment::Flat)
    .executable_comments(true)
    .backslash_escapes(true)
    .double_quotes(DoubleQuotes::String)
    .backticks(true);

fn mysql_rules(settings: &Settings) -> LexRules {
    let mode = settings.get("sql_mode").unwrap_or_default();
    let has = |word: &str| mode.split(',').any(|m| m.eq_ignore_ascii_case(word));
    let quotes = if has("ANSI_QUOTES") { DoubleQuotes::Identifier } else { DoubleQuotes::String };
    MYSQL_RULES.double_quotes(quotes).backslash_escapes(!has("NO_BACKSLASH_ESCAPES"))
}

fn mysql_opening(words: &Words<'_>, _: &Settings) -> Option<Opening> {
    if words.are(0, &["analyze", "format"]) {
        return Some(Opening::Explain { skip: 4, executes: true });
    }
    if words.are(0, &["show", "table", "status"]) && words.ends(3) {
        let mut parsed =
            Parsed::new(dbagent_core::guard::StatementClass::Catalogue, dbagent_core::Effects::READ);
        parsed.columns_known = true;
        return Some(Opening::Whole(Box::new(parsed)));
    }
    None
}

pub(crate) const MYSQL: SqlGrammar = SqlGrammar::new(&sp::MySqlDialect {}, &FUNCTIONS)
    .rules(mysql_rules)
    .folding(Folding::Sensitive)
    .whole_rows(false)
    .implicit_lateral(false)
    .sequence_columns(false)
    .secret_objects(&["mysql.*", "performance_schema.*"])
    .opening(mysql_opening);

pub(crate) const SQLITE: SqlGrammar = SqlGrammar::new(&sp::SQLiteDialect {}, &FUNCTIONS)
    .rules(|_| {
        LexRules::ANSI
            .block_comment(BlockComment::Flat)
            .unterminated_comment(true)
            .hints(Hints::Ignore)
            .backticks(true)
            .brackets(Brackets::Identifier)
    })
    .folding(Folding::All)
    .recursion(Recursion::Always)
    .implicit_lateral(false)
    .secret_objects(&["sqlite_dbpage"])
    .pragmas(&[
        "compile_options",
        "foreign_key_list",
        "index_list",
        "quick_check",
        "table_info",
        "table_list",
    ]);

pub(crate) const POSTGRES: SqlGrammar = SqlGrammar::new(&sp::PostgreSqlDialect {}, &FUNCTIONS)
    .rules(|_| {
        LexRules::ANSI
            .block_comment(BlockComment::Nested)
            .return_ends_comment(true)
            .hints(Hints::Ignore)
            .escape_strings(true)
            .dollar_quotes(true)
            .custom_operators(true)
    })
    .folding(Folding::Bare)
    .show(ShowNames::Setting)
    .explain_analyze(ExplainAnalyze::Ask)
    .builtin_namespaces(&["pg_catalog"])
    .types(&["inet", "name"]);

const fn plain(dialect: &'static (dyn sp::Dialect + Send + Sync)) -> SqlGrammar {
    SqlGrammar::new(dialect, &FUNCTIONS).folding(Folding::Bare)
}

/// The grammar of that name.
pub(crate) fn grammar(name: &str) -> SqlGrammar {
    match name {
        "mysql" => MYSQL,
        "sqlite" => SQLITE,
        "postgres" => POSTGRES,
        "generic" => plain(&sp::GenericDialect {}),
        "ansi" => plain(&sp::AnsiDialect {}),
        "mssql" => plain(&sp::MsSqlDialect {})
            .rules(|_| {
                LexRules::ANSI.block_comment(BlockComment::Nested).brackets(Brackets::DoubledIdentifier)
            })
            .recursion(Recursion::Always)
            .at_parameters(true)
            .statement_words(TSQL_STATEMENTS)
            .name_parts(3),
        "duckdb" => plain(&sp::DuckDbDialect {}).folding(Folding::All),
        "snowflake" => plain(&sp::SnowflakeDialect {})
            .rules(|_| LexRules::ANSI.slash_comments(true).backslash_escapes(true).dollar_quotes(true)),
        "bigquery" => plain(&sp::BigQueryDialect {}).name_parts(3).rules(|_| {
            LexRules::ANSI
                .hash_comments(true)
                .block_comment(BlockComment::Flat)
                .backslash_escapes(true)
                .raw_strings(true)
                .triple_quotes(true)
                .double_quotes(DoubleQuotes::String)
                .backticks(true)
        }),
        "clickhouse" => {
            plain(&sp::ClickHouseDialect {}).rules(|_| LexRules::ANSI.backslash_escapes(true).backticks(true))
        }
        "hive" => plain(&sp::HiveDialect {}).rules(|_| LexRules::ANSI.backticks(true)),
        "oracle" => plain(&sp::OracleDialect {}).rules(|_| LexRules::ANSI.quoted_strings(true)),
        "databricks" => plain(&sp::DatabricksDialect {})
            .rules(|_| LexRules::ANSI.backticks(true).double_quotes(DoubleQuotes::String)),
        "redshift" => plain(&sp::RedshiftSqlDialect {}),
        other => panic!("no grammar {other}"),
    }
}

fn never(_: &Request, _: &ParseContext) -> Result<Parsed> {
    unreachable!("the grammar is called directly")
}

/// A context with these limits and settings.
pub(crate) fn context(limits: StatementLimits, settings: Settings) -> ParseContext {
    const DIALECT: Dialect = Dialect::new("test", never, |_, _| unreachable!("never opened"));
    DIALECT.parse_context(limits, settings)
}

/// Parses under the default limits.
pub(crate) fn parse(grammar: &SqlGrammar, text: &str) -> Result<Parsed> {
    grammar.parse(&Request::text(text), &context(StatementLimits::default(), Settings::new()))
}

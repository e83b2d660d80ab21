//! Questions to `information_schema`.

use std::collections::HashMap;

use dbagent_core::catalog::ObjectKind;
use dbagent_core::guard::{Finding, Rule};
use sqlx::{AssertSqlSafe, MySqlConnection, Result};

use super::Key;
use crate::catalog::rows::{self, Row};
use crate::flavor::Server;

/// How many names are asked for at once. Each is a question of its own, since MariaDB looks into every table of
/// the server for a list of names.
const AT_ONCE: usize = 64;

/// One table: of the database that its name is written with, or that of the session.
const THIS_TABLE: &str = "TABLE_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ?";
const THIS_FUNCTION: &str =
    "ROUTINE_TYPE = 'FUNCTION' AND ROUTINE_SCHEMA = COALESCE(?, DATABASE()) AND ROUTINE_NAME = ?";

/// Which statement asks for one name. The number of the name comes first.
const TABLE: &str = "SELECT CAST(? AS UNSIGNED), TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE, \
                     CAST(@@lower_case_table_names AS UNSIGNED), VERSION() \
                     FROM information_schema.TABLES";
const VIEW: &str = "SELECT CAST(? AS UNSIGNED), TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION \
                    FROM information_schema.VIEWS";
const COLUMNS: &str = "SELECT CAST(? AS UNSIGNED), TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, EXTRA, \
                       GENERATION_EXPRESSION, COLUMN_KEY, IS_NULLABLE, CAST(ORDINAL_POSITION AS UNSIGNED) \
                       FROM information_schema.COLUMNS";
const ROUTINE: &str = "SELECT CAST(? AS UNSIGNED), ROUTINE_SCHEMA, ROUTINE_NAME, SQL_DATA_ACCESS \
                       FROM information_schema.ROUTINES";
/// Loadable functions; only accounts with rights of their own may ask.
const LOADABLE_MYSQL: &str =
    "SELECT UDF_NAME, COALESCE(UDF_LIBRARY, 'a component') FROM performance_schema.user_defined_functions";
const LOADABLE_MARIADB: &str = "SELECT name, dl FROM mysql.func";

/// What is known of one table or view by itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Fact {
    /// Its database, as the server spells it.
    pub(super) schema: String,
    /// Its name, as the server spells it.
    pub(super) name: String,
    pub(super) table_type: String,
    pub(super) engine: String,
    /// The version of the server, for the grammar.
    pub(super) version: String,
    /// The text of a view.
    pub(super) definition: Option<String>,
    pub(super) columns: Vec<ColumnFact>,
}

/// What is known of one column.
#[derive(Debug, Clone, Default)]
pub(super) struct ColumnFact {
    pub(super) name: String,
    /// What it is computed from; empty where the server does not say.
    pub(super) generated: Option<String>,
    /// Whether it alone may be the key that `_rowid` means.
    pub(super) is_key: bool,
}

/// A function that somebody made.
#[derive(Debug, Clone)]
pub(super) enum FunctionFact {
    /// A stored function, with its database and what its owner says it does.
    Stored(String, String),
    /// A function from a library.
    Loadable(String),
}

impl FunctionFact {
    /// Why nobody vouches for it.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::Stored(schema, claim) => {
                format!("it is a stored function of {schema} ({claim} is what its owner says of it)")
            }
            Self::Loadable(library) => format!("it is a loadable function from {library}"),
        }
    }
}

impl Fact {
    pub(super) fn kind(&self) -> ObjectKind {
        match self.table_type.as_str() {
            "VIEW" => ObjectKind::View,
            "SYSTEM VIEW" => ObjectKind::System,
            _ if self.is_elsewhere() => ObjectKind::ForeignTable,
            _ => ObjectKind::Table,
        }
    }

    /// Whether rows have a time of which the server keeps two hidden columns.
    pub(super) fn is_versioned(&self) -> bool {
        self.table_type == "SYSTEM VERSIONED"
    }

    /// Whether reading it reaches other servers or files.
    fn is_elsewhere(&self) -> bool {
        ["connect", "federated", "s3", "sphinx", "spider"].contains(&self.engine.to_lowercase().as_str())
    }

    /// What is to be said against reading it at all.
    pub(super) fn objection(&self) -> Option<Finding> {
        if self.is_elsewhere() {
            let what = format!("the engine {} reads from another server or from files", self.engine);
            return Some(Finding::new(Rule::ServerIo, what, None).choice("foreign_table"));
        }
        // Its rows are those of other tables, which the catalogue does not name.
        self.engine.eq_ignore_ascii_case("mrg_myisam").then(|| {
            Finding::new(Rule::UnknownEffect, "a MERGE table reads other tables that cannot be told", None)
                .advice("Read the tables behind it by their own names.")
        })
    }

    /// Why a view is refused whose text is not to be had.
    pub(super) fn unreadable(&self) -> Finding {
        Finding::new(Rule::UnknownEffect, "its definition cannot be read by this account", None).advice(
            format!(
                "The operator may let it be read: GRANT SHOW VIEW ON `{}`.* TO this account.",
                self.schema.replace('`', "``")
            ),
        )
    }
}

/// Asks one question for each name, some at once. The texts say only how many there are.
async fn ask(
    question: &'static str,
    condition: &'static str,
    names: &[Key],
    connection: &mut MySqlConnection,
) -> Result<Vec<(usize, Row)>> {
    let mut out = Vec::new();
    for (chunk, names) in names.chunks(AT_ONCE).enumerate() {
        let arms = vec![format!("{question} WHERE {condition}"); names.len()].join(" UNION ALL ");
        let mut query = sqlx::query(AssertSqlSafe(arms));
        for (index, (schema, name)) in names.iter().enumerate() {
            let (schema, name) = spelt(schema.as_deref(), name);
            query = query.bind((chunk * AT_ONCE + index) as u64).bind(schema).bind(name);
        }
        for row in rows::fetch(query, connection).await? {
            if let Ok(index) = row.text(0).parse() {
                out.push((index, row));
            }
        }
    }
    Ok(out)
}

/// A name as the catalogue may have it: that of the catalogue itself is in capitals, and its own names are
/// told apart by case nowhere.
fn spelt(schema: Option<&str>, name: &str) -> (Option<String>, String) {
    match schema {
        Some(space) if is_catalogue(space) => (Some("information_schema".to_owned()), name.to_uppercase()),
        _ => (schema.map(str::to_owned), name.to_owned()),
    }
}

fn is_catalogue(schema: &str) -> bool {
    schema.eq_ignore_ascii_case("information_schema")
}

/// The tables and views of these names.
pub(super) async fn objects(connection: &mut MySqlConnection, names: &[Key]) -> Result<HashMap<Key, Fact>> {
    let mut facts: HashMap<Key, Fact> = HashMap::new();
    for (index, row) in ask(TABLE, THIS_TABLE, names, connection).await? {
        let Some(asked) = names.get(index) else { continue };
        let (schema, name) = (row.text(1), row.text(2));
        let exact = row.text(5) == "0" && !is_catalogue(schema);
        let same = |a: &str, b: &str| a == b || (!exact && a.to_lowercase() == b.to_lowercase());
        let in_schema = asked.0.as_deref().is_none_or(|s| same(s, schema));
        // Some servers compare without case although they keep both apart.
        if !in_schema || !same(&asked.1, name) {
            continue;
        }
        facts.insert(
            asked.clone(),
            Fact {
                schema: schema.to_owned(),
                name: name.to_owned(),
                table_type: row.text(3).to_owned(),
                engine: row.text(4).to_owned(),
                version: row.text(6).to_owned(),
                ..Fact::default()
            },
        );
    }
    let found: Vec<Key> = names.iter().filter(|n| facts.contains_key(*n)).cloned().collect();
    let exact = |facts: &HashMap<Key, Fact>, key: &Key, row: &Row| {
        facts.get(key).is_some_and(|f| f.schema == row.text(1) && f.name == row.text(2))
    };
    let mut columns = ask(COLUMNS, THIS_TABLE, &found, connection).await?;
    columns.sort_by_key(|(index, row)| (*index, row.text(8).parse::<u64>().unwrap_or(u64::MAX)));
    for (index, row) in columns {
        let Some(key) = found.get(index).filter(|key| exact(&facts, key, &row)) else { continue };
        if let Some(fact) = facts.get_mut(key) {
            fact.columns.push(ColumnFact {
                name: row.text(3).to_owned(),
                // DEFAULT_GENERATED is a default.
                generated: row.text(4).contains(" GENERATED").then(|| row.text(5).to_owned()),
                is_key: matches!(row.text(6), "PRI" | "UNI") && row.text(7) == "NO",
            });
        }
    }
    let is_view = |key: &&Key| facts.get(*key).is_some_and(|f| f.kind() == ObjectKind::View);
    let views: Vec<Key> = found.iter().filter(is_view).cloned().collect();
    for (index, row) in ask(VIEW, THIS_TABLE, &views, connection).await? {
        let Some(key) = views.get(index).filter(|key| exact(&facts, key, &row)) else { continue };
        if let Some(fact) = facts.get_mut(key) {
            fact.definition = row.get(3).filter(|text| !text.is_empty()).map(str::to_owned);
        }
    }
    Ok(facts)
}

/// The functions of these names that somebody made.
pub(super) async fn functions(
    server: Server,
    connection: &mut MySqlConnection,
    names: &[Key],
) -> Result<HashMap<Key, FunctionFact>> {
    let mut found = HashMap::new();
    if names.is_empty() {
        return Ok(found);
    }
    for (index, row) in ask(ROUTINE, THIS_FUNCTION, names, connection).await? {
        if let Some(key) = names.get(index) {
            let fact = FunctionFact::Stored(row.text(1).to_owned(), row.text(3).to_owned());
            found.insert(key.clone(), fact);
        }
    }
    let question = match server {
        Server::MySql => LOADABLE_MYSQL,
        Server::MariaDb => LOADABLE_MARIADB,
    };
    // Who may not ask learns less of why; the function stays unknown either way.
    let loadable = match rows::fetch(sqlx::query(question), connection).await {
        Ok(rows) => rows,
        Err(sqlx::Error::Database(_)) => Vec::new(),
        Err(e) => return Err(e),
    };
    for row in loadable {
        for key in
            names.iter().filter(|(schema, name)| schema.is_none() && name.eq_ignore_ascii_case(row.text(0)))
        {
            found.insert(key.clone(), FunctionFact::Loadable(row.text(1).to_owned()));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(table_type: &str, engine: &str) -> Fact {
        Fact { table_type: table_type.into(), engine: engine.into(), ..Fact::default() }
    }

    #[test]
    fn an_engine_that_reads_elsewhere_needs_a_choice() {
        for engine in ["FEDERATED", "SPIDER", "CONNECT", "S3", "SPHINX"] {
            let fact = fact("BASE TABLE", engine);
            assert_eq!(fact.kind(), ObjectKind::ForeignTable, "{engine}");
            assert_eq!(fact.objection().unwrap().choice.as_deref(), Some("foreign_table"));
        }
        assert!(fact("BASE TABLE", "MRG_MyISAM").objection().unwrap().choice.is_none());
        assert!(fact("BASE TABLE", "InnoDB").objection().is_none());
        assert_eq!(fact("VIEW", "").kind(), ObjectKind::View);
        assert_eq!(fact("SYSTEM VIEW", "MEMORY").kind(), ObjectKind::System);
        assert!(fact("SYSTEM VERSIONED", "InnoDB").is_versioned());
    }

    #[test]
    fn the_catalogue_is_asked_in_its_own_spelling() {
        assert_eq!(
            spelt(Some("Information_Schema"), "tables"),
            (Some("information_schema".into()), "TABLES".into())
        );
        assert_eq!(spelt(None, "users"), (None, "users".into()));
    }
}

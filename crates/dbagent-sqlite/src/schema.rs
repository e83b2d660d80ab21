//! Looks names up in the schema tables of a connection.

use dbagent_core::catalog::ObjectKind;
use dbagent_core::{Error, ErrorKind, ObjectName, Policy};
use rusqlite::{Connection, OptionalExtension as _, Result, Row, params};

use crate::ident::Ident;
use crate::modules;
use crate::parse::ddl::{self, Definition};

/// The schema that a name without one is looked up in, when no other schema has it.
pub(crate) const MAIN: &str = "main";
/// The schema of temporary objects.
pub(crate) const TEMP: &str = "temp";

/// A row of a schema table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) schema: String,
    pub(crate) kind: EntryKind,
    pub(crate) name: String,
    /// The table that an index is of; else the name itself.
    pub(crate) table: String,
    pub(crate) sql: Option<String>,
}

/// What a row of a schema table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Table,
    Virtual,
    View,
    Index,
    /// A table of the engine itself.
    System,
}

impl EntryKind {
    pub(crate) const fn object_kind(self) -> ObjectKind {
        match self {
            Self::Table => ObjectKind::Table,
            Self::Virtual => ObjectKind::VirtualTable,
            Self::View => ObjectKind::View,
            Self::Index => ObjectKind::Index,
            Self::System => ObjectKind::System,
        }
    }
}

/// A column as the engine describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ColumnRow {
    pub(crate) name: String,
    pub(crate) declared: String,
    pub(crate) not_null: bool,
    pub(crate) default: Option<String>,
    /// Its place in the primary key, from 1; 0 outside.
    pub(crate) key: i64,
    pub(crate) hidden: Hidden,
}

/// Why `*` may leave a column out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hidden {
    No,
    /// A column of a virtual table that is there for comparing.
    Yes,
    /// Computed; shown all the same.
    Generated,
}

/// The schemas of a connection, in the order in which SQLite looks for a bare name.
pub(crate) fn schemas(db: &Connection) -> Result<Vec<String>> {
    let mut statement =
        db.prepare("SELECT name FROM pragma_database_list ORDER BY name = 'temp' COLLATE NOCASE DESC, seq")?;
    let mut names: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_>>()?;
    if !names.iter().any(|n| n.eq_ignore_ascii_case(TEMP)) {
        names.insert(0, TEMP.to_owned());
    }
    Ok(names)
}

/// The entry behind a name; tables and views come before indexes.
pub(crate) fn find(db: &Connection, name: &ObjectName) -> Result<Option<Entry>> {
    if let Some(entry) = schema_table(name) {
        return Ok(Some(entry));
    }
    let known = schemas(db)?;
    let wanted: Vec<&String> = match &name.namespace {
        None => known.iter().collect(),
        Some(schema) => known.iter().filter(|s| s.eq_ignore_ascii_case(schema)).collect(),
    };
    let mut index = None;
    for schema in wanted {
        match find_in(db, schema, &name.name)? {
            Some(entry) if entry.kind == EntryKind::Index => index = index.or(Some(entry)),
            Some(entry) => return Ok(Some(entry)),
            None => {}
        }
    }
    Ok(index)
}

/// The entry of that name in one schema.
pub(crate) fn find_in(db: &Connection, schema: &str, name: &str) -> Result<Option<Entry>> {
    let sql = format!(
        "SELECT type, name, tbl_name, sql, rootpage FROM {}.sqlite_schema \
         WHERE name = ?1 COLLATE NOCASE AND type IN ('table', 'view', 'index') ORDER BY type = 'index'",
        Ident(schema)
    );
    db.prepare(&sql)?.query_row(params![name], |row| entry(schema, row)).optional()
}

/// Every table and view of one schema by name, those of the engine and of virtual tables included.
pub(crate) fn all_in(db: &Connection, schema: &str) -> Result<Vec<Entry>> {
    let sql = format!(
        "SELECT type, name, tbl_name, sql, rootpage FROM {}.sqlite_schema \
         WHERE type IN ('table', 'view') ORDER BY name",
        Ident(schema)
    );
    let mut statement = db.prepare(&sql)?;
    statement.query_map([], |row| entry(schema, row))?.collect()
}

fn entry(schema: &str, row: &Row<'_>) -> Result<Entry> {
    let kind: String = row.get(0)?;
    let name: String = row.get(1)?;
    let root: Option<i64> = row.get(4)?;
    let kind = match kind.as_str() {
        "view" => EntryKind::View,
        "index" => EntryKind::Index,
        _ if is_internal(&name) => EntryKind::System,
        _ if root.unwrap_or_default() == 0 => EntryKind::Virtual,
        _ => EntryKind::Table,
    };
    Ok(Entry { schema: schema.to_owned(), kind, name, table: row.get(2)?, sql: row.get(3)? })
}

/// Whether a name is one of the schema table, which holds the definition of every object.
pub(crate) fn is_schema_table(name: &str) -> bool {
    schema_table(&ObjectName::new(name)).is_some()
}

/// The schema table itself, by any of its names.
fn schema_table(name: &ObjectName) -> Option<Entry> {
    let is = |n: &str| name.name.eq_ignore_ascii_case(n);
    let schema = if is("sqlite_temp_schema") || is("sqlite_temp_master") {
        "temp"
    } else if is("sqlite_schema") || is("sqlite_master") {
        name.namespace.as_deref().unwrap_or(MAIN)
    } else {
        return None;
    };
    Some(Entry {
        schema: schema.to_ascii_lowercase(),
        kind: EntryKind::System,
        name: "sqlite_schema".to_owned(),
        table: "sqlite_schema".to_owned(),
        sql: None,
    })
}

/// Checks that no rule names a schema table by another name than the one that it is judged by: such a rule
/// would hold for nothing.
///
/// # Errors
/// [`ErrorKind::Config`]: says what to write.
pub(crate) fn check_rules(policy: &Policy) -> std::result::Result<(), Error> {
    for rule in policy.deny.iter().chain(&policy.allow) {
        let name = rule.object().to_ascii_lowercase();
        let write = match name.as_str() {
            "sqlite_master" => "sqlite_schema",
            "sqlite_temp_master" | "sqlite_temp_schema" => "temp.sqlite_schema",
            _ => continue,
        };
        return Err(Error::new(
            ErrorKind::Config,
            format!(
                "the rule `{rule}` of the policy would hold for nothing: {name} is judged under the name sqlite_schema"
            ),
        )
        .hint(format!("write `{write}`")));
    }
    Ok(())
}

/// Whether a name is one that SQLite keeps for itself.
pub(crate) fn is_internal(name: &str) -> bool {
    name.split_at_checked(7).is_some_and(|(prefix, _)| prefix.eq_ignore_ascii_case("sqlite_"))
}

/// The columns of a table or view, hidden ones included.
pub(crate) fn columns(db: &Connection, schema: &str, table: &str) -> Result<Vec<ColumnRow>> {
    let mut statement = db.prepare(
        "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?1, ?2) ORDER BY cid",
    )?;
    let rows = statement.query_map(params![table, schema], |row| {
        Ok(ColumnRow {
            name: row.get(0)?,
            declared: row.get::<_, Option<String>>(1)?.unwrap_or_default(),
            not_null: row.get::<_, i64>(2)? != 0,
            default: row.get(3)?,
            key: row.get(4)?,
            hidden: match row.get::<_, i64>(5)? {
                0 => Hidden::No,
                1 => Hidden::Yes,
                _ => Hidden::Generated,
            },
        })
    })?;
    rows.collect()
}

/// The virtual table that a table is the storage of.
pub(crate) fn owner_of_storage(db: &Connection, entry: &Entry) -> Result<Option<String>> {
    let Some((owner, ending)) = entry.name.rsplit_once('_') else { return Ok(None) };
    if entry.kind != EntryKind::Table {
        return Ok(None);
    }
    let found = find_in(db, &entry.schema, owner)?.filter(|e| e.kind == EntryKind::Virtual);
    Ok(found.filter(|e| module_of(e).is_some_and(|(m, _)| modules::is_storage(&m, ending))).map(|e| e.name))
}

/// The module of a virtual table and its arguments.
pub(crate) fn module_of(entry: &Entry) -> Option<(String, Vec<String>)> {
    match ddl::definition(entry.sql.as_deref()?)? {
        Definition::Virtual { module, arguments } => Some((module, arguments)),
        _ => None,
    }
}

/// The column that the row number is another name of.
pub(crate) fn integer_key(columns: &[ColumnRow], without_rowid: bool) -> Option<&ColumnRow> {
    let mut keys = columns.iter().filter(|c| c.key > 0);
    let first = keys.next().filter(|c| c.declared.eq_ignore_ascii_case("INTEGER"));
    first.filter(|_| keys.next().is_none() && !without_rowid)
}

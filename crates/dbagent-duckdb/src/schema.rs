//! What the catalogue of an open database holds, read once.
//!
//! Nobody changes a database file while this process has it open for reading: the engine's lock keeps
//! writers out, and a file that takes its place is opened anew. So what was read stays true.

use std::collections::{BTreeMap, HashMap, HashSet};

use dbagent_core::ObjectName;
use duckdb::{Connection, Result, Row};

use crate::lake::{Lake, LakeTable};
use crate::parse::{CATALOGUE, ddl};

/// The schema of names without one.
pub(crate) const MAIN: &str = "main";

/// Whether an object is a table or a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Table,
    View,
}

/// A table or view.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) schema: String,
    pub(crate) name: String,
    pub(crate) kind: EntryKind,
    pub(crate) rows: Option<u64>,
    pub(crate) comment: Option<String>,
    /// The definition, as the engine writes it out.
    pub(crate) sql: Option<String>,
    pub(crate) columns: Vec<ColumnRow>,
    pub(crate) constraints: Vec<ConstraintRow>,
    pub(crate) indexes: Vec<IndexRow>,
    /// What of it is a file, in a lake.
    pub(crate) files: Option<LakeTable>,
}

/// A column as the engine describes it.
#[derive(Debug, Clone)]
pub(crate) struct ColumnRow {
    pub(crate) name: String,
    pub(crate) data_type: String,
    pub(crate) nullable: bool,
    /// The default, or what it is computed from.
    pub(crate) default: Option<String>,
    pub(crate) generated: bool,
    pub(crate) comment: Option<String>,
}

/// A constraint as the engine describes it.
#[derive(Debug, Clone)]
pub(crate) struct ConstraintRow {
    pub(crate) kind: String,
    pub(crate) text: String,
    pub(crate) columns: Vec<String>,
    pub(crate) target: Option<String>,
    pub(crate) target_columns: Vec<String>,
}

/// An index as the engine describes it.
#[derive(Debug, Clone)]
pub(crate) struct IndexRow {
    pub(crate) name: String,
    pub(crate) unique: bool,
    pub(crate) sql: Option<String>,
}

/// A function that the database defines.
#[derive(Debug, Clone)]
pub(crate) struct Macro {
    pub(crate) schema: String,
    pub(crate) name: String,
    /// Whether it stands in FROM.
    pub(crate) table: bool,
    pub(crate) definition: Option<String>,
}

/// What a name leads to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Found<'s> {
    Entry(&'s Entry),
    /// Something of the engine itself.
    Engine,
}

/// The whole catalogue.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    catalog: String,
    /// By schema and name, as they are listed.
    entries: Vec<Entry>,
    index: HashMap<(String, String), usize>,
    macros: Vec<Macro>,
    /// Names of the engine's own views, in lower case.
    engine: HashSet<String>,
    lake: Option<Lake>,
}

/// The key by which the engine compares names: without the case of ASCII letters.
fn key(schema: &str, name: &str) -> (String, String) {
    (schema.to_ascii_lowercase(), name.to_ascii_lowercase())
}

fn rows<T>(db: &Connection, sql: &str, read: impl FnMut(&Row<'_>) -> Result<T>) -> Result<Vec<T>> {
    db.prepare(sql)?.query_map([], read)?.collect()
}

impl Snapshot {
    /// Reads the catalogue of the current database.
    pub(crate) fn read(db: &Connection) -> Result<Self> {
        let catalog: String = db.query_row("SELECT current_database()", [], |row| row.get(0))?;
        let mut entries = rows(
            db,
            "SELECT schema_name, table_name, comment, estimated_size, sql, false FROM duckdb_tables() \
             WHERE database_name = current_database() AND NOT internal \
             UNION ALL SELECT schema_name, view_name, comment, NULL, sql, true FROM duckdb_views() \
             WHERE database_name = current_database() AND NOT internal ORDER BY ALL",
            |row| {
                let view: bool = row.get(5)?;
                Ok(Entry {
                    schema: row.get(0)?,
                    name: row.get(1)?,
                    kind: if view { EntryKind::View } else { EntryKind::Table },
                    rows: row.get::<_, Option<i64>>(3)?.map(i64::unsigned_abs),
                    comment: row.get(2)?,
                    sql: row.get(4)?,
                    columns: Vec::new(),
                    constraints: Vec::new(),
                    indexes: Vec::new(),
                    files: None,
                })
            },
        )?;
        entries.sort_by(|a, b| (&a.schema, &a.name).cmp(&(&b.schema, &b.name)));
        let index = entries.iter().enumerate().map(|(i, e)| (key(&e.schema, &e.name), i)).collect();
        let mut snapshot = Self { catalog, entries, index, ..Self::default() };
        snapshot.read_columns(db)?;
        snapshot.read_constraints(db)?;
        snapshot.read_indexes(db)?;
        snapshot.macros = rows(
            db,
            "SELECT schema_name, function_name, function_type = 'table_macro', macro_definition \
             FROM duckdb_functions() WHERE NOT internal ORDER BY ALL",
            |row| {
                Ok(Macro {
                    schema: row.get(0)?,
                    name: row.get(1)?,
                    table: row.get(2)?,
                    definition: row.get(3)?,
                })
            },
        )?;
        let engine =
            rows(db, "SELECT lower(view_name) FROM duckdb_views() WHERE internal", |row| row.get(0))?;
        snapshot.engine = engine.into_iter().collect();
        Ok(snapshot)
    }

    fn entry_mut(&mut self, schema: &str, name: &str) -> Option<&mut Entry> {
        self.index.get(&key(schema, name)).and_then(|i| self.entries.get_mut(*i))
    }

    fn read_columns(&mut self, db: &Connection) -> Result<()> {
        let columns = rows(
            db,
            "SELECT schema_name, table_name, column_name, data_type, is_nullable, column_default, comment \
             FROM duckdb_columns() WHERE database_name = current_database() AND NOT internal \
             ORDER BY schema_name, table_name, column_index",
            |row| {
                let column = ColumnRow {
                    name: row.get(2)?,
                    data_type: row.get(3)?,
                    nullable: row.get::<_, Option<bool>>(4)?.unwrap_or(true),
                    default: row.get(5)?,
                    generated: false,
                    comment: row.get(6)?,
                };
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, column))
            },
        )?;
        for (schema, name, column) in columns {
            if let Some(entry) = self.entry_mut(&schema, &name) {
                entry.columns.push(column);
            }
        }
        for entry in &mut self.entries {
            let generated = entry.sql.as_deref().map(ddl::generated_columns).unwrap_or_default();
            for column in &mut entry.columns {
                column.generated = generated.contains(&column.name);
            }
        }
        Ok(())
    }

    fn read_constraints(&mut self, db: &Connection) -> Result<()> {
        let constraints = rows(
            db,
            "SELECT schema_name, table_name, constraint_type, constraint_text, \
             to_json(constraint_column_names)::VARCHAR, referenced_table, \
             to_json(referenced_column_names)::VARCHAR FROM duckdb_constraints() \
             WHERE database_name = current_database() ORDER BY constraint_index",
            |row| {
                let list = |index: usize| -> Result<Vec<String>> {
                    let text: Option<String> = row.get(index)?;
                    Ok(text.and_then(|t| serde_json::from_str(&t).ok()).unwrap_or_default())
                };
                let constraint = ConstraintRow {
                    kind: row.get(2)?,
                    text: row.get::<_, Option<String>>(3)?.unwrap_or_default(),
                    columns: list(4)?,
                    target: row.get(5)?,
                    target_columns: list(6)?,
                };
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, constraint))
            },
        )?;
        for (schema, name, constraint) in constraints {
            if let Some(entry) = self.entry_mut(&schema, &name) {
                entry.constraints.push(constraint);
            }
        }
        Ok(())
    }

    fn read_indexes(&mut self, db: &Connection) -> Result<()> {
        let indexes = rows(
            db,
            "SELECT schema_name, table_name, index_name, is_unique, sql FROM duckdb_indexes() \
             WHERE database_name = current_database() ORDER BY index_oid",
            |row| {
                let index = IndexRow {
                    name: row.get(2)?,
                    unique: row.get::<_, Option<bool>>(3)?.unwrap_or_default(),
                    sql: row.get(4)?,
                };
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, index))
            },
        )?;
        for (schema, name, index) in indexes {
            if let Some(entry) = self.entry_mut(&schema, &name) {
                entry.indexes.push(index);
            }
        }
        Ok(())
    }

    /// The same catalogue, its views being the tables of a lake.
    pub(crate) fn of_lake(mut self, lake: Lake) -> Self {
        let tables: BTreeMap<String, LakeTable> =
            lake.tables().map(|t| (t.name.clone(), t.clone())).collect();
        for entry in &mut self.entries {
            if let Some(table) = tables.get(&entry.name) {
                entry.kind = EntryKind::Table;
                // The definition names files by their whole path, which is nobody's business here.
                entry.sql = None;
                entry.rows = table.rows;
                entry.comment = Some(table.comment());
                entry.files = Some(table.clone());
            }
        }
        self.lake = Some(lake);
        self
    }

    /// The lake behind it, if there is one.
    pub(crate) fn lake(&self) -> Option<&Lake> {
        self.lake.as_ref()
    }

    /// The database's own name, by which statements may qualify schemas.
    pub(crate) fn catalog(&self) -> &str {
        &self.catalog
    }

    /// Everything that is listed.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The functions that the database defines.
    pub(crate) fn macros(&self) -> &[Macro] {
        &self.macros
    }

    fn entry(&self, schema: &str, name: &str) -> Option<&Entry> {
        self.index.get(&key(schema, name)).and_then(|i| self.entries.get(*i))
    }

    /// What a name leads to, as the engine looks it up; names without a schema in `schemas`, in order.
    pub(crate) fn find(&self, name: &ObjectName, schemas: &[&str]) -> Option<Found<'_>> {
        let engine = || self.engine.contains(&name.name.to_ascii_lowercase()).then_some(Found::Engine);
        match &name.namespace {
            None => {
                let own = schemas.iter().find_map(|s| self.entry(s, &name.name));
                own.map(Found::Entry).or_else(engine)
            }
            Some(namespace) => {
                let is = |n: &str| namespace.eq_ignore_ascii_case(n);
                if let Some(entry) = self.entry(namespace, &name.name) {
                    Some(Found::Entry(entry))
                } else if is(&self.catalog)
                    && let Some(entry) = self.entry(MAIN, &name.name)
                {
                    Some(Found::Entry(entry))
                } else if is(CATALOGUE) {
                    // Functions of the catalogue are named as objects, too.
                    Some(Found::Engine)
                } else if is(MAIN) || is("information_schema") || is("pg_catalog") {
                    engine()
                } else {
                    None
                }
            }
        }
    }
}

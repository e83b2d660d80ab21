//! What is worth a word in a plan, gathered from whichever shape it has.
//!
//! Temporary tables and sorts are not among it: before a statement runs, neither server's plan tells whether they
//! fit into memory.

use dbagent_core::estimate::{Hint, PlanWarning, ScanCost};

use super::condition::{self, Column};
use crate::catalog::IndexedColumn;

/// How the types of numbers begin.
const NUMBERS: &[&str] =
    &["int", "tinyint", "smallint", "mediumint", "bigint", "decimal", "float", "double", "year", "bit"];

/// A table as a plan names it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<'p> {
    /// Its database, where the plan says it.
    pub(super) schema: Option<&'p str>,
    /// Its name; plans that list tables say only what the statement calls it.
    pub(super) name: &'p str,
    /// What the statement calls it.
    pub(super) alias: &'p str,
}

/// An index that would help, if there is none yet and the column's type fits.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) schema: Option<String>,
    pub(crate) table: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) hint: Hint,
}

/// What is worth a word.
#[derive(Debug, Default)]
pub(crate) struct Worth {
    pub(crate) warnings: Vec<PlanWarning>,
    pub(crate) candidates: Vec<Candidate>,
    /// Cost of the whole plan; no number where it is not said.
    pub(super) total: f64,
    /// The tables that the statement names.
    tables: Vec<String>,
}

impl Worth {
    pub(super) fn among(tables: Vec<String>) -> Self {
        Self { tables, ..Self::default() }
    }

    /// Takes a warning, once. Whether there was one.
    pub(super) fn warn(&mut self, warning: Option<PlanWarning>) -> bool {
        let is_one = warning.is_some();
        let warning = warning.filter(|w| !self.warnings.contains(w));
        self.warnings.extend(warning);
        is_one
    }

    /// A scan of a whole table, of which a share is read.
    pub(super) fn scan(&mut self, table: Table<'_>, share: f64, figures: ScanCost, condition: Option<&str>) {
        let name = self.name(table).unwrap_or(table.alias).to_owned();
        let object = match table.schema {
            Some(schema) => format!("{schema}.{name}"),
            None => name.clone(),
        };
        self.warn(PlanWarning::full_scan(&object, figures.rows * share, Some(figures.kept * share)));
        let columns = condition.and_then(|condition| condition::columns(condition, table.alias));
        let (Some(columns), Some(_)) = (columns, self.name(table)) else { return };
        if figures.rows * share <= PlanWarning::SCAN_ROWS {
            return;
        }
        let names = columns.iter().map(|c| c.name.clone()).collect();
        if let Some(hint) = Hint::index_for_scan(object, names, figures) {
            let schema = table.schema.map(str::to_owned);
            self.candidates.push(Candidate { schema, table: name, columns, hint });
        }
    }

    /// The table's own name: an alias is not one, unless the statement names only one table.
    fn name<'a>(&'a self, table: Table<'a>) -> Option<&'a str> {
        match (table.schema, self.tables.as_slice()) {
            (Some(_), _) => Some(table.name),
            (None, [only]) => Some(only),
            (None, several) => several.iter().map(String::as_str).find(|name| *name == table.alias),
        }
    }
}

/// Whether an index on the candidate's columns could be used, and none begins with one of them already.
pub(crate) fn would_help(candidate: &Candidate, columns: &[IndexedColumn]) -> bool {
    candidate.columns.iter().all(|wanted| {
        let Some(column) = columns.iter().find(|c| c.name.eq_ignore_ascii_case(&wanted.name)) else {
            return false;
        };
        let kind = column.data_type.to_ascii_lowercase();
        let is_number = NUMBERS.iter().any(|number| kind.starts_with(number));
        (is_number || !wanted.with_number) && !column.begins
    })
}

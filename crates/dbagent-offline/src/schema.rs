//! The schema as the planner sees it: tables with their words, columns with their class, and the links
//! between tables as a graph.

mod build;
mod graph;
mod names;
mod series;

use dbagent_core::catalog::ObjectKind;
use dbagent_core::name::ObjectName;

pub(crate) use build::build;
pub(crate) use graph::{Path, Root, Route, Step};
pub(crate) use series::{Slot, slot};

use crate::words::Label;

/// A table of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TableId(pub(crate) usize);

/// A column of a table of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ColumnId {
    pub(crate) table: TableId,
    pub(crate) index: usize,
}

/// What kind of values a column holds, by its declared type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Whole numbers.
    Int,
    /// Other numbers.
    Real,
    /// Text.
    Text,
    /// Dates and times, by type or (where types say little) by name.
    Date,
    /// Truth values.
    Bool,
    /// Bytes.
    Blob,
    /// No type, or one that is not known here.
    Unknown,
}

impl Class {
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Int | Self::Real)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) name: ObjectName,
    pub(crate) kind: ObjectKind,
    pub(crate) rows: Option<u64>,
    pub(crate) label: Label,
    pub(crate) columns: Vec<Column>,
    /// Columns of the primary key.
    pub(crate) key: Vec<usize>,
}

#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) declared: String,
    pub(crate) class: Class,
    pub(crate) label: Label,
    /// Whether it belongs to the primary key.
    pub(crate) in_key: bool,
    /// Whether it links to another table.
    pub(crate) links: bool,
    /// Whether every row has a value in it.
    pub(crate) required: bool,
}

impl Column {
    /// Whether it holds figures that may be added and compared, not keys.
    pub(crate) fn is_figure(&self) -> bool {
        self.class.is_number()
            && !self.in_key
            && !self.links
            && !self.label.has_any(&["id", "code", "zip", "phone"])
    }
}

/// A link from rows of one table to at most one row of another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Edge {
    pub(crate) from: TableId,
    pub(crate) columns: Vec<usize>,
    pub(crate) to: TableId,
    pub(crate) target_columns: Vec<usize>,
    /// What the column says beside the other table's name: `home` of `home_team_id`.
    pub(crate) role: Vec<String>,
    /// Whether it was read from names because no key is declared.
    pub(crate) assumed: bool,
    /// Whether each row of the other table has at most one row here, too.
    pub(crate) unique: bool,
}

/// Everything the planner knows of a database.
#[derive(Debug, Clone)]
pub(crate) struct Schema {
    tables: Vec<Table>,
    edges: Vec<Edge>,
    /// Stands in for an id of another schema; such ids are never made.
    nowhere: Table,
    no_column: Column,
}

impl Schema {
    pub(crate) fn table(&self, id: TableId) -> &Table {
        self.tables.get(id.0).unwrap_or(&self.nowhere)
    }

    pub(crate) fn column(&self, id: ColumnId) -> &Column {
        self.table(id.table).columns.get(id.index).unwrap_or(&self.no_column)
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = (TableId, &Table)> {
        self.tables.iter().enumerate().map(|(i, t)| (TableId(i), t))
    }

    pub(crate) fn columns(&self, table: TableId) -> impl Iterator<Item = (ColumnId, &Column)> {
        self.table(table).columns.iter().enumerate().map(move |(index, c)| (ColumnId { table, index }, c))
    }

    pub(crate) fn edges(&self) -> impl Iterator<Item = (usize, &Edge)> {
        self.edges.iter().enumerate()
    }

    pub(crate) fn edge(&self, index: usize) -> Option<&Edge> {
        self.edges.get(index)
    }

    /// The link that starts at that column alone.
    pub(crate) fn edge_at(&self, column: ColumnId) -> Option<(usize, &Edge)> {
        self.edges().find(|(_, e)| e.from == column.table && e.columns.as_slice() == [column.index])
    }

    /// `Track.UnitPrice`, for people.
    pub(crate) fn spoken_column(&self, id: ColumnId) -> String {
        format!("{}.{}", self.table(id.table).name.name, self.column(id).name)
    }

    /// The only column of the primary key.
    pub(crate) fn single_key(&self, table: TableId) -> Option<ColumnId> {
        match self.table(table).key.as_slice() {
            [index] => Some(ColumnId { table, index: *index }),
            _ => None,
        }
    }

    /// Whether a table only links others: its columns are keys and links, and it has two links or more.
    pub(crate) fn is_bridge(&self, table: TableId) -> bool {
        let links = self.edges().filter(|(_, e)| e.from == table).count();
        links >= 2 && self.table(table).columns.iter().filter(|c| !c.links && !c.in_key).count() <= 1
    }
}

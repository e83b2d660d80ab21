//! What a database holds: objects, their columns, keys and sizes, as every dialect reports them.

use serde::{Deserialize, Serialize};

use crate::name::ObjectName;

/// What kind of thing an object is.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectKind {
    /// A table.
    Table,
    /// A view.
    View,
    /// A materialised view.
    MaterializedView,
    /// A table backed by a module or a full-text index.
    VirtualTable,
    /// A table of another server.
    ForeignTable,
    /// A collection of documents.
    Collection,
    /// A node label.
    Label,
    /// A relationship type.
    Relationship,
    /// A search index.
    Index,
    /// An alias of other objects.
    Alias,
    /// A table of the engine itself.
    System,
}

impl ObjectKind {
    /// The word for it, singular.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::View => "view",
            Self::MaterializedView => "materialized view",
            Self::VirtualTable => "virtual table",
            Self::ForeignTable => "foreign table",
            Self::Collection => "collection",
            Self::Label => "label",
            Self::Relationship => "relationship",
            Self::Index => "index",
            Self::Alias => "alias",
            Self::System => "system table",
        }
    }

    /// The kind of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        [
            Self::Table,
            Self::View,
            Self::MaterializedView,
            Self::VirtualTable,
            Self::ForeignTable,
            Self::Collection,
            Self::Label,
            Self::Relationship,
            Self::Index,
            Self::Alias,
            Self::System,
        ]
        .into_iter()
        .find(|k| k.as_str() == word)
    }
}

/// How many rows an object has, and how well that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowCount {
    /// Nobody knows without reading it.
    #[default]
    Unknown,
    /// From statistics; may be off.
    About(u64),
    /// Counted.
    Exactly(u64),
    /// Counting stopped here.
    AtLeast(u64),
}

impl RowCount {
    /// The number, however well known.
    pub const fn number(self) -> Option<u64> {
        match self {
            Self::Unknown => None,
            Self::About(n) | Self::Exactly(n) | Self::AtLeast(n) => Some(n),
        }
    }

    /// Reads the form that `Display` writes.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "unknown" {
            return Some(Self::Unknown);
        }
        if let Some(n) = text.strip_prefix('~') {
            return n.parse().ok().map(Self::About);
        }
        if let Some(n) = text.strip_prefix(">=") {
            return n.parse().ok().map(Self::AtLeast);
        }
        text.parse().ok().map(Self::Exactly)
    }
}

impl std::fmt::Display for RowCount {
    /// `347`, `~347` from statistics, `>=1000000` where counting stopped, `unknown`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown => f.write_str("unknown"),
            Self::About(n) => write!(f, "~{n}"),
            Self::Exactly(n) => write!(f, "{n}"),
            Self::AtLeast(n) => write!(f, ">={n}"),
        }
    }
}

/// An object in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObjectSummary {
    /// Its name.
    pub name: ObjectName,
    /// What it is.
    pub kind: ObjectKind,
    /// How many rows it has.
    pub rows: RowCount,
    /// Its comment, if the engine keeps one.
    pub comment: Option<String>,
}

/// A column, field or property.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type in the engine's own words; empty where none is declared.
    pub data_type: String,
    /// Whether it may be null; absent where the engine does not say.
    pub nullable: Option<bool>,
    /// The default in the engine's own words.
    pub default: Option<String>,
    /// Whether the engine computes it, and from what where it says.
    pub generated: Option<String>,
    /// Its comment.
    pub comment: Option<String>,
    /// The values it may have, where the type or a check lists them.
    pub allowed_values: Vec<String>,
    /// Whether `*` leaves it out.
    pub hidden: bool,
}

/// A foreign key or another declared link between objects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForeignKey {
    /// Columns of this object, in order.
    pub columns: Vec<String>,
    /// The object it points to.
    pub target: ObjectName,
    /// Columns there, in order.
    pub target_columns: Vec<String>,
}

/// An index of an object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Index {
    /// Its name.
    pub name: String,
    /// Its columns in order; an expression as the engine writes it.
    pub columns: Vec<String>,
    /// Whether it is unique.
    pub unique: bool,
    /// The condition of a partial index, in the engine's own words.
    pub condition: Option<String>,
}

/// Everything a dialect knows of one object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObjectDetail {
    /// Name, kind, rows, comment.
    #[serde(flatten)]
    pub summary: ObjectSummary,
    /// Columns in order.
    pub columns: Vec<Column>,
    /// Columns of the primary key in order; empty without one.
    pub primary_key: Vec<String>,
    /// Links to other objects.
    pub foreign_keys: Vec<ForeignKey>,
    /// Indexes.
    pub indexes: Vec<Index>,
    /// What else matters, one short phrase each: `WITHOUT ROWID`, `STRICT`, a partition key.
    pub notes: Vec<String>,
    /// The definition as the engine keeps it (DDL, mapping), if it does.
    pub definition: Option<String>,
}

impl ObjectDetail {
    /// An object without columns yet.
    pub fn new(name: ObjectName, kind: ObjectKind) -> Self {
        Self {
            summary: ObjectSummary { name, kind, rows: RowCount::Unknown, comment: None },
            columns: Vec::new(),
            primary_key: Vec::new(),
            foreign_keys: Vec::new(),
            indexes: Vec::new(),
            notes: Vec::new(),
            definition: None,
        }
    }
}

/// Which part of a list is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Objects to leave out before the first.
    pub offset: usize,
    /// Most objects to return.
    pub size: usize,
}

impl Default for Page {
    /// The first 100.
    fn default() -> Self {
        Self { offset: 0, size: 100 }
    }
}

/// A part of the list of objects, ordered by namespace and name.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ObjectPage {
    /// The objects.
    pub objects: Vec<ObjectSummary>,
    /// How many there are in all that match.
    pub total: usize,
}

/// What was asked to be described: what there is of it, and what there is not.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Described {
    /// The objects that exist, in the order asked.
    pub found: Vec<ObjectDetail>,
    /// Names that mean nothing here.
    pub missing: Vec<ObjectName>,
}

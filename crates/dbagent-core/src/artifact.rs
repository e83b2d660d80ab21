//! What the host gets of a call beside the text for the model.

use std::fmt;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::catalog::{Described, ObjectPage};
use crate::estimate::{Estimate, Plan, PlanWarning};
use crate::rows::Ending;
use crate::text::{bytes, counted};

/// A result that a call leaves for the host. Never shown to a model.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub enum Artifact {
    /// Rows of a statement.
    Rows(RowsArtifact),
    /// A plan.
    Plan {
        /// The statement.
        statement: String,
        /// Its plan.
        plan: Plan,
    },
    /// A list of objects.
    Objects(ObjectPage),
    /// Descriptions of objects.
    Descriptions(Described),
    /// Something of a host's own tool.
    Json(serde_json::Value),
    /// Something that the run no longer keeps.
    NotKept(NotKept),
}

impl Artifact {
    /// The stable name of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Rows(_) => "rows",
            Self::Plan { .. } => "plan",
            Self::Objects(_) => "objects",
            Self::Descriptions(_) => "descriptions",
            Self::Json(_) => "json",
            Self::NotKept(gone) => gone.kind,
        }
    }

    /// Bytes that it holds: of rows those of the values, as `max_result_bytes` counts them; of the rest those
    /// of its text.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Rows(rows) => rows.ending.bytes.saturating_add(rows.statement.len() as u64),
            Self::Plan { statement, plan } => printed(&(statement, plan)),
            Self::Objects(page) => printed(page),
            Self::Descriptions(described) => printed(described),
            Self::Json(value) => printed(value),
            Self::NotKept(_) => 0,
        }
    }
}

/// Bytes of what a value looks like, without writing it anywhere.
fn printed(value: &dyn fmt::Debug) -> u64 {
    struct Count(u64);
    impl fmt::Write for Count {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 = self.0.saturating_add(text.len() as u64);
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting cannot fail.
    _ = fmt::Write::write_fmt(&mut count, format_args!("{value:?}"));
    count.0
}

/// What is left of an artifact that a run does not keep, because all of them together were over
/// `artifact_bytes` of its [`Budgets`](crate::budget::Budgets). The model has read what it reads of any call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotKept {
    /// What it was: `rows`, `plan`, …
    pub kind: &'static str,
    /// The statement, where there was one.
    pub statement: Option<String>,
    /// Its rows, where it had any.
    pub rows: Option<u64>,
    /// Its bytes.
    pub bytes: u64,
    /// Bytes that the run keeps at most.
    pub limit: u64,
}

impl fmt::Display for NotKept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rows {
            Some(rows) => f.write_str(&counted(rows, "row", "rows"))?,
            None => f.write_str(self.kind)?,
        }
        write!(
            f,
            " ({}) not kept: a run keeps at most {} of results (budgets.artifact_bytes), the newest",
            bytes(self.bytes),
            bytes(self.limit)
        )
    }
}

/// Rows of a statement, whole as far as the caps let them through.
#[derive(Debug, Clone)]
pub struct RowsArtifact {
    /// The statement that ran.
    pub statement: String,
    /// Its columns.
    pub schema: SchemaRef,
    /// Its rows.
    pub batches: Vec<RecordBatch>,
    /// How it ended.
    pub ending: Ending,
    /// What was estimated before it ran.
    pub estimate: Estimate,
    /// How long it took.
    pub elapsed: std::time::Duration,
    /// What is worth a word about its plan, now that it has run.
    pub warnings: Vec<PlanWarning>,
}

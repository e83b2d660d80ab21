//! What the host gets of a call beside the text for the model.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::catalog::{Described, ObjectPage};
use crate::estimate::{Estimate, Plan};
use crate::rows::Ending;

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
}

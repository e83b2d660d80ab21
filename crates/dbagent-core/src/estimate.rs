//! What a statement will cost, as far as the engine can tell before it runs.

use serde::{Deserialize, Serialize};

/// An estimate; whatever the engine cannot tell is absent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Estimate {
    /// Rows of the result.
    pub rows_out: Option<u64>,
    /// Rows read to make it.
    pub rows_scanned: Option<u64>,
    /// Bytes of the result or of what is read, as the engine counts.
    pub bytes: Option<u64>,
    /// Cost in the engine's own unit.
    pub cost: Option<f64>,
}

impl Estimate {
    /// Nothing can be told.
    pub const UNKNOWN: Estimate = Estimate { rows_out: None, rows_scanned: None, bytes: None, cost: None };

    /// Whether nothing can be told.
    pub fn is_unknown(&self) -> bool {
        *self == Self::UNKNOWN
    }
}

/// A plan as text, in the engine's own words.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Plan {
    /// The plan, one step a line.
    pub text: String,
    /// The estimate that goes with it.
    pub estimate: Estimate,
}

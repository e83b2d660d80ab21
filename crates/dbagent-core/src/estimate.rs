//! What a statement will cost, as far as the engine can tell before it runs, and what in its plan is worth
//! a word.

mod hint;
mod warning;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use hint::{Advice, Hint, LoopCost, ScanCost};
pub use warning::PlanWarning;

/// A read of more rows than this is compared with its estimate afterwards. From feature C8 of the query
/// contract, as every threshold of [`PlanWarning`].
pub const REVIEW_ROWS: u64 = 10_000;
/// A read that took longer than this is compared with its estimate afterwards.
pub const REVIEW_TIME: Duration = Duration::from_secs(2);

/// An estimate; whatever the engine cannot tell is absent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Estimate {
    /// Rows of the result.
    pub rows_out: Option<u64>,
    /// Whether [`rows_out`](Self::rows_out) is only a bound from above: the plan does not say what a step
    /// such as grouping leaves of the rows. Fewer rows than that contradict nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
    /// Rows read to make it.
    pub rows_scanned: Option<u64>,
    /// Bytes of the result or of what is read, as the engine counts.
    pub bytes: Option<u64>,
    /// Cost in the engine's own unit.
    pub cost: Option<f64>,
}

impl Estimate {
    /// Nothing can be told.
    pub const UNKNOWN: Estimate =
        Estimate { rows_out: None, at_most: false, rows_scanned: None, bytes: None, cost: None };

    /// Whether nothing can be told.
    pub fn is_unknown(&self) -> bool {
        *self == Self::UNKNOWN
    }

    /// Compares the estimate with what came, if the read was large ([`REVIEW_ROWS`]) or slow
    /// ([`REVIEW_TIME`]). `complete` says whether these are all rows that there are; of a read that was
    /// stopped at a limit it is only known that there are at least so many.
    pub fn review(&self, rows: u64, complete: bool, elapsed: Duration) -> Option<PlanWarning> {
        if rows <= REVIEW_ROWS && elapsed <= REVIEW_TIME {
            return None;
        }
        let expected = self.rows_out?;
        let off = PlanWarning::estimate_off(expected, rows, complete)?;
        (rows > expected || !self.at_most).then_some(off)
    }
}

/// A plan as text, in the engine's own words, and what it tells.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Plan {
    /// The plan, one step a line.
    pub text: String,
    /// The estimate that goes with it.
    pub estimate: Estimate,
    /// What in it is worth a word, each once, in the order of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<PlanWarning>,
    /// What would make it cheaper by more than half.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Hint>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: Duration = Duration::from_millis(2_001);

    fn expecting(rows: u64) -> Estimate {
        Estimate { rows_out: Some(rows), ..Estimate::UNKNOWN }
    }

    #[test]
    fn only_large_or_slow_reads_are_compared() {
        assert_eq!(expecting(1).review(10_000, true, REVIEW_TIME), None);
        assert!(expecting(1).review(10_001, true, Duration::ZERO).is_some());
        assert!(expecting(1).review(11, true, SLOW).is_some());
        assert_eq!(Estimate::UNKNOWN.review(20_000, true, SLOW), None);
    }

    #[test]
    fn what_is_only_a_bound_is_not_contradicted_by_less() {
        assert!(expecting(1_000).review(99, true, SLOW).is_some());
        assert_eq!(expecting(1_000).review(100, true, SLOW), None, "just 10 times");
        let bound = Estimate { at_most: true, ..expecting(1_000) };
        assert_eq!(bound.review(99, true, SLOW), None);
        assert!(bound.review(10_001, true, SLOW).is_some());
    }

    #[test]
    fn a_read_that_stopped_at_its_limit_only_shows_that_there_are_more() {
        assert_eq!(expecting(1_000_000).review(100, false, SLOW), None);
        assert_eq!(
            expecting(9).review(100, false, SLOW),
            Some(PlanWarning::EstimateOff { expected: 9, seen: 100, exact: false })
        );
    }
}

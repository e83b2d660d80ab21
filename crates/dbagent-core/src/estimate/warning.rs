//! What in a plan is worth a word. The thresholds are here, once for all dialects.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::hint::whole;
use crate::text::{counted, thousands};

/// Something in a plan, or in what came of it, that is worth a word.
///
/// A dialect makes one of the engine's own figures by the functions below, which hold the thresholds; they
/// are those of feature C8 of the query contract. What an engine's plan does not tell is not guessed: each
/// dialect's page says which of them it can see. A warning is calm: it says what the planner said, and
/// refuses nothing.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlanWarning {
    /// A table of more than 100,000 rows is read from one end to the other, and more than half of its rows
    /// stay, or nothing tells how many.
    FullScan {
        /// The table.
        object: String,
        /// Its rows, as the engine counts them.
        rows: u64,
    },
    /// A nested loop, everything in it included, costs more than 10,000 in the planner's own unit.
    NestedLoop {
        /// The cost.
        cost: f64,
    },
    /// A hash does not fit into the memory that the engine gives it, and goes to disk.
    HashSpill {
        /// Its size, in bytes.
        bytes: u64,
        /// The memory, in bytes.
        memory: u64,
    },
    /// More than 10 times as many rows came as were expected, or fewer than a tenth of them.
    EstimateOff {
        /// What the engine expected.
        expected: u64,
        /// What came.
        seen: u64,
        /// Whether that is all; otherwise there are at least so many.
        exact: bool,
    },
}

impl PlanWarning {
    /// Rows of a table from which on reading it whole is worth a word.
    pub const SCAN_ROWS: f64 = 100_000.0;
    /// The share of a table's rows up to which a condition counts as selective.
    pub const SELECTIVE: f64 = 0.5;
    /// The cost of a nested loop, in the planner's unit, from which on it is worth a word.
    pub const LOOP_COST: f64 = 10_000.0;
    /// How many times more or less rows may come than were expected.
    pub const OFF: u64 = 10;

    /// A scan of a whole table with so many rows, of which `kept` stay (`None` where the plan does not tell).
    pub fn full_scan(object: impl Into<String>, rows: f64, kept: Option<f64>) -> Option<Self> {
        let selective = kept.is_some_and(|kept| kept <= rows * Self::SELECTIVE);
        (rows > Self::SCAN_ROWS && !selective)
            .then(|| Self::FullScan { object: object.into(), rows: whole(rows) })
    }

    /// A nested loop of that cost.
    pub fn nested_loop(cost: f64) -> Option<Self> {
        (cost > Self::LOOP_COST).then_some(Self::NestedLoop { cost })
    }

    /// A hash of so many bytes under a limit of memory.
    pub fn hash_spill(bytes: f64, memory: f64) -> Option<Self> {
        (bytes > memory).then(|| Self::HashSpill { bytes: whole(bytes), memory: whole(memory) })
    }

    /// Rows that came against rows that were expected; none is counted as one. With `exact` false only too
    /// many rows contradict the estimate.
    pub fn estimate_off(expected: u64, seen: u64, exact: bool) -> Option<Self> {
        let over = |more: u64, less: u64| more > less.max(1).saturating_mul(Self::OFF);
        (over(seen, expected) || (exact && over(expected, seen))).then_some(Self::EstimateOff {
            expected,
            seen,
            exact,
        })
    }
}

impl fmt::Display for PlanWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FullScan { object, rows } => write!(
                f,
                "{object} is read whole, about {}, and no condition is known to leave most of them out",
                counted(*rows, "row", "rows")
            ),
            Self::NestedLoop { cost } => write!(
                f,
                "a nested loop costs about {} in the planner's unit; over {} is much",
                thousands(whole(*cost)),
                thousands(whole(Self::LOOP_COST))
            ),
            Self::HashSpill { bytes, memory } => write!(
                f,
                "a hash of about {} bytes is over its memory of {} and goes to disk",
                thousands(*bytes),
                thousands(*memory)
            ),
            Self::EstimateOff { expected, seen, exact } => write!(
                f,
                "about {} expected and {}{} came: the planner's estimate is off by more than {} times, and its \
                 statistics may be old",
                counted(*expected, "row was", "rows were"),
                if *exact { "" } else { "at least " },
                thousands(*seen),
                Self::OFF
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_begins_just_over_its_threshold() {
        assert_eq!(PlanWarning::full_scan("t", 100_000.0, None), None);
        assert!(PlanWarning::full_scan("t", 100_001.0, None).is_some());
        assert!(PlanWarning::full_scan("t", 200_000.0, Some(100_001.0)).is_some());
        assert_eq!(PlanWarning::full_scan("t", 200_000.0, Some(100_000.0)), None);
        assert_eq!(PlanWarning::nested_loop(10_000.0), None);
        assert!(PlanWarning::nested_loop(10_000.1).is_some());
        assert_eq!(PlanWarning::hash_spill(1_000.0, 1_000.0), None);
        assert!(PlanWarning::hash_spill(1_001.0, 1_000.0).is_some());
        for (expected, seen, off) in [
            (10, 100, false),
            (10, 101, true),
            (100, 10, false),
            (101, 10, true),
            (0, 10, false),
            (11, 0, true),
        ] {
            assert_eq!(PlanWarning::estimate_off(expected, seen, true).is_some(), off, "{expected} {seen}");
        }
        assert_eq!(PlanWarning::estimate_off(u64::MAX, 1, false), None);
    }

    #[test]
    fn each_is_one_calm_sentence() {
        let said = |w: Option<PlanWarning>| w.unwrap().to_string();
        assert_eq!(
            said(PlanWarning::full_scan("public.big", 300_000.0, None)),
            "public.big is read whole, about 300,000 rows, and no condition is known to leave most of them out"
        );
        assert_eq!(
            said(PlanWarning::nested_loop(25_000.4)),
            "a nested loop costs about 25,000 in the planner's unit; over 10,000 is much"
        );
        assert_eq!(
            said(PlanWarning::hash_spill(2_000_000.0, 1_048_576.0)),
            "a hash of about 2,000,000 bytes is over its memory of 1,048,576 and goes to disk"
        );
        assert_eq!(
            said(PlanWarning::estimate_off(1, 12_000, false)),
            "about 1 row was expected and at least 12,000 came: the planner's estimate is off by more than 10 \
             times, and its statistics may be old"
        );
    }
}

//! What would make a plan cheaper, by the plan's own figures, and only if by more than half.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::thousands;

/// What would help.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Advice {
    /// An index on these columns of a table, in this order.
    Index {
        /// The table.
        object: String,
        /// The columns.
        columns: Vec<String>,
    },
}

/// Something that would make a statement cheaper by more than half.
///
/// The gain is computed from the plan alone, in its own unit of cost, by one rule: **a row that is found by an
/// index costs as much as 250 rows of a scan.** Under PostgreSQL's default prices a page that is fetched out of
/// order costs 4.0, and a row of a scan about 0.015 (a share of its page, and 0.01 to look at it), which is a
/// little more than 250 times less. Where pages are in memory an index is far cheaper than that, so the rule
/// errs towards giving no hint.
///
/// - For a scan ([`Hint::index_for_scan`]) the scan's cost becomes `cost × kept × 250 ÷ rows`.
/// - For a nested loop that scans its inner side each time ([`Hint::index_for_loop`]) the loop's cost becomes
///   that of the outer side, and `cost ÷ rows × 250` of the inner scan for each row of the outer side and each
///   row that comes out.
///
/// Everything else in the plan keeps its cost. A hint exists only if what remains is less than half.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hint {
    advice: Advice,
    now: f64,
    then: f64,
}

/// The figures of a scan that an index could take the place of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScanCost {
    /// Cost of the whole plan.
    pub total: f64,
    /// Cost of the scan, in all the times that it runs.
    pub cost: f64,
    /// Rows that it reads.
    pub rows: f64,
    /// Rows that its condition keeps.
    pub kept: f64,
}

/// The figures of a nested loop whose inner side is a scan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoopCost {
    /// Cost of the whole plan.
    pub total: f64,
    /// Cost of the loop with both sides.
    pub cost: f64,
    /// Cost of the outer side.
    pub outer: f64,
    /// Rows of the outer side.
    pub outer_rows: f64,
    /// Cost of one scan of the inner side.
    pub inner: f64,
    /// Rows that one scan of the inner side reads.
    pub inner_rows: f64,
    /// Rows that the loop gives.
    pub rows: f64,
}

impl Hint {
    /// The share of the plan's cost that has to be saved.
    pub const LEAST_GAIN: f64 = 0.5;
    /// Rows of a scan that cost as much as one row found by an index.
    pub const ROW_BY_INDEX: f64 = 250.0;

    /// An index on the columns of a scan's condition.
    pub fn index_for_scan(object: impl Into<String>, columns: Vec<String>, scan: ScanCost) -> Option<Self> {
        let by_index = scan.cost * (scan.kept * Self::ROW_BY_INDEX / scan.rows).min(1.0);
        Self::index(object.into(), columns, scan.total, scan.total - scan.cost + by_index)
    }

    /// An index on the columns by which a nested loop joins its inner side.
    pub fn index_for_loop(object: impl Into<String>, columns: Vec<String>, of: LoopCost) -> Option<Self> {
        let row = of.inner / of.inner_rows * Self::ROW_BY_INDEX;
        let by_index = of.outer + (of.outer_rows + of.rows) * row;
        Self::index(object.into(), columns, of.total, of.total - of.cost + by_index.min(of.cost))
    }

    fn index(object: String, columns: Vec<String>, now: f64, then: f64) -> Option<Self> {
        let then = then.max(0.0);
        // A figure that is missing or no number gives no hint.
        (!columns.is_empty() && now.is_finite() && then < now * (1.0 - Self::LEAST_GAIN)).then_some(Self {
            advice: Advice::Index { object, columns },
            now,
            then,
        })
    }

    /// What would help.
    pub fn advice(&self) -> &Advice {
        &self.advice
    }

    /// The share of the plan's cost that it would save: over [`LEAST_GAIN`](Self::LEAST_GAIN), at most 1.
    pub fn gain(&self) -> f64 {
        (self.now - self.then) / self.now
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.advice {
            Advice::Index { object, columns } => {
                write!(f, "an index on {object} ({})", columns.join(", "))?;
            }
        }
        write!(
            f,
            " would lower the cost from about {} to about {}, by the plan's own figures",
            thousands(whole(self.now)),
            thousands(whole(self.then).max(1))
        )
    }
}

/// A figure of a plan as a whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate beyond u64 is as good as its end"
)]
pub(super) fn whole(figure: f64) -> u64 {
    figure.max(0.0).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(kept: f64, cost: f64) -> Option<Hint> {
        let figures = ScanCost { total: 1_000.0, cost, rows: 100_000.0, kept };
        Hint::index_for_scan("t", vec!["a".to_owned()], figures)
    }

    #[test]
    fn only_more_than_half_is_worth_a_hint() {
        // 200 of 100,000 rows by an index cost half of the scan.
        assert_eq!(scan(200.0, 1_000.0), None);
        let hint = scan(199.0, 1_000.0).unwrap();
        assert!((hint.gain() - 0.5025).abs() < 1e-9, "{}", hint.gain());
        assert_eq!(scan(0.0, 500.0), None, "the scan is half of the cost");
        assert!(scan(0.0, 501.0).is_some());
        assert_eq!(scan(50_000.0, 1_000.0), None);
        let figures = ScanCost { total: 1_000.0, cost: 1_000.0, rows: 0.0, kept: 0.0 };
        assert_eq!(Hint::index_for_scan("t", vec!["a".to_owned()], figures), None, "no number");
        let figures = ScanCost { rows: 100_000.0, ..figures };
        assert_eq!(Hint::index_for_scan("t", Vec::new(), figures), None, "no column");
    }

    #[test]
    fn a_loop_pays_for_each_row_of_its_outer_side() {
        let of = |outer_rows: f64| LoopCost {
            total: 10_000.0,
            cost: 10_000.0,
            outer: 10.0,
            outer_rows,
            inner: 100.0,
            inner_rows: 10_000.0,
            rows: 100.0,
        };
        let hint = |outer_rows| Hint::index_for_loop("t", vec!["a".to_owned()], of(outer_rows));
        // 2.5 for each row found by the index: 10 + (1,896 + 100) × 2.5 = 5,000.
        assert_eq!(hint(1_896.0), None);
        assert_eq!(
            hint(100.0).unwrap().to_string(),
            "an index on t (a) would lower the cost from about 10,000 to about 510, by the plan's own figures"
        );
    }
}

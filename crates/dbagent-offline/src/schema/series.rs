//! Months, quarters, weekdays and years that a table keeps side by side as columns, where others keep a date.

use super::{ColumnId, Schema, TableId};
use crate::words::{MONTHS, pieces};

/// The time that a column stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slot {
    Month(u32),
    Quarter(u32),
    /// From Monday, 1.
    Weekday(u32),
    Year(i32),
}

impl Slot {
    pub(crate) fn same_kind(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

impl Schema {
    /// The columns of a table that stand for times: two or more of one kind.
    pub(crate) fn series(&self, table: TableId) -> Vec<(ColumnId, Slot)> {
        let all: Vec<(ColumnId, Slot)> =
            self.columns(table).filter_map(|(id, c)| Some((id, slot(&pieces(&c.name))?))).collect();
        all.iter()
            .filter(|(_, slot)| all.iter().any(|(_, other)| other != slot && other.same_kind(*slot)))
            .copied()
            .collect()
    }
}

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

const QUARTERS: [&str; 4] = ["first", "second", "third", "fourth"];

/// The time that the words of a name say, one of them alone or `q` and a number.
pub(crate) fn slot(words: &[String]) -> Option<Slot> {
    let numbered = |from: usize| u32::try_from(from + 1).ok();
    let one = |word: &str| -> Option<Slot> {
        let of = |names: &[&str]| {
            names.iter().position(|n| *n == word || (word.len() == 3 && n.starts_with(word)))
        };
        if let Some(month) = of(&MONTHS).and_then(numbered) {
            return Some(Slot::Month(month));
        }
        if let Some(day) = of(&WEEKDAYS).and_then(numbered) {
            return Some(Slot::Weekday(day));
        }
        let year = word.parse::<i32>().ok().filter(|y| word.len() == 4 && (1800..=2200).contains(y));
        if let Some(year) = year {
            return Some(Slot::Year(year));
        }
        word.strip_prefix('q').and_then(|n| n.parse().ok()).filter(|n| (1..=4).contains(n)).map(Slot::Quarter)
    };
    words.iter().find_map(|w| one(w)).or_else(|| {
        words.windows(2).find_map(|pair| match pair {
            [q, n] if ["q", "qtr", "quarter"].contains(&q.as_str()) => {
                n.parse().ok().filter(|n| (1..=4).contains(n)).map(Slot::Quarter)
            }
            [n, q] if q == "quarter" => {
                QUARTERS.iter().position(|o| o == n).and_then(numbered).map(Slot::Quarter)
            }
            _ => None,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_which_time_a_column_stands_for() {
        for (name, want) in [
            ("jan", Some(Slot::Month(1))),
            ("SalesDec", Some(Slot::Month(12))),
            ("q3", Some(Slot::Quarter(3))),
            ("Quarter4", Some(Slot::Quarter(4))),
            ("y2019", Some(Slot::Year(2019))),
            ("2010", Some(Slot::Year(2010))),
            ("monday", Some(Slot::Weekday(1))),
            ("model", None),
            ("street_12", None),
        ] {
            assert_eq!(slot(&pieces(name)), want, "{name}");
        }
    }
}

//! What figures ask for: comparisons, superlatives, denials, numbers and times.

use super::super::evidence::{First, Stretch};
use super::Auditor;
use crate::intent::{Chunk, Dir, Kw, Span, Time};
use crate::link::FULL;
use crate::meaning::Form;
use crate::plan::Op;
use crate::schema::Schema;

/// Factors between a figure as it is said and as a column keeps it.
const FACTORS: [f64; 12] = [
    1000.0,
    60.0,
    3600.0,
    60_000.0,
    3_600_000.0,
    1024.0,
    1_048_576.0,
    1_073_741_824.0,
    100.0,
    12.0,
    24.0,
    7.0,
];

impl Auditor<'_> {
    pub(super) fn take_op(&mut self, op: Op) -> bool {
        // What is denied is compared the other way round.
        let denied =
            self.chunks.iter().any(|c| matches!(c.kw, Some(Kw::Not | Kw::No | Kw::Without | Kw::Except)));
        if self.has.take_op(|o| o == op) {
            return true;
        }
        if denied && self.has.take_op(|o| o == op.negated()) {
            // The denial is in the turned comparison.
            self.has.negations += 1;
            return true;
        }
        false
    }

    pub(super) fn comparison(&mut self, at: usize, op: Op) -> bool {
        if self.take_op(op) {
            return true;
        }
        let next = self.chunks.get(at + 1);
        // `at least one order` is an order that exists.
        let one = next.and_then(|c| c.number) == Some(1.0);
        if op == Op::Ge && one && self.has.exists > 0 {
            self.done.insert(at + 1);
            return true;
        }
        // `up to 2011`, `over the years`: a time.
        next.is_some_and(|c| c.time.is_some() || c.year.is_some()) && !self.has.stretches.is_empty()
    }

    pub(super) fn take_first(&mut self, fits: impl Fn(&First) -> bool) -> bool {
        let at = self.has.firsts.iter().position(fits);
        at.map(|i| self.has.firsts.remove(i)).is_some()
    }

    /// `the top 5 most expensive`: words for one order, side by side.
    pub(super) fn superlative(&mut self, at: usize) -> bool {
        let mut said = self.kw(at);
        let mut next = at + 1;
        while let Some(chunk) = self.chunks.get(next) {
            let unused = !self.named(chunk);
            if chunk.kw.is_some_and(Kw::ranks) && unused {
                if !matches!(chunk.kw, Some(Kw::Top | Kw::Bottom)) {
                    said = chunk.kw;
                }
                self.done.insert(next);
            } else if !(chunk.number.is_some() || matches!(chunk.kw, Some(Kw::Skip))) {
                break;
            }
            next += 1;
        }
        let (schema, down) = (self.schema, |a: &crate::intent::Adjective, f: &First, schema: &Schema| {
            f.column.is_some_and(|c| {
                let label = &schema.column(c).label;
                !label.has_any(a.up) && label.has_any(a.down)
            })
        });
        match said {
            Some(Kw::Superl(dir, a)) => {
                self.take_first(|f| f.descending == ((dir == Dir::Most) != down(a, f, schema)))
            }
            Some(Kw::Extreme(dir)) => {
                // `the highest building`: not the one with the most buildings.
                let phrase = self.chunks.get(at).map(Chunk::phrase).unwrap_or_default();
                let of_a_table = self.chunks.get(at + 1).is_some_and(|c| {
                    c.link.table_score() >= FULL && c.link.table_score() > c.link.column_score()
                }) && !phrase.contains("number");
                self.take_first(|f| !(of_a_table && f.counted) && f.descending == (dir == Dir::Most))
            }
            Some(Kw::BestSelling(dir) | Kw::Common(dir)) => {
                self.take_first(|f| f.counted && f.descending == (dir == Dir::Most))
            }
            Some(Kw::Fewest | Kw::Bottom | Kw::First) => self.take_first(|f| !f.descending),
            _ => self.take_first(|f| f.descending),
        }
    }

    pub(super) fn negation(&mut self, at: usize) -> bool {
        // `do not have no orders`, `no not`: what two denials in a row mean is anyone's guess.
        let mut next = at + 1;
        while matches!(self.kw(next), Some(Kw::Have | Kw::Aux | Kw::Cop | Kw::Skip | Kw::Any | Kw::Verb)) {
            next += 1;
        }
        if matches!(self.kw(next), Some(Kw::Not | Kw::No | Kw::Without)) {
            return false;
        }
        if self.has.negations > 0 {
            self.has.negations -= 1;
            return true;
        }
        // `no orders` as a number: none.
        if self.has.take_number(|n| n == 0.0) {
            return true;
        }
        // `not more than 5` was turned into its opposite.
        let turned = (next..next + 3).find_map(|i| match self.kw(i) {
            Some(Kw::Cmp(op)) => Some((i, op.negated())),
            Some(Kw::MoreOf(dir) | Kw::Comparative(dir, _)) => {
                Some((i, if dir == Dir::Most { Op::Le } else { Op::Ge }))
            }
            _ => None,
        });
        match turned {
            Some((i, op)) if self.has.take_op(|o| o == op) => {
                self.done.insert(i);
                true
            }
            _ => {
                // Every comparison of the question may be turned by a denial that holds for all of it.
                let asked: Vec<Op> = self
                    .chunks
                    .iter()
                    .filter_map(|c| match c.kw {
                        Some(Kw::Cmp(op)) => Some(op),
                        Some(Kw::OrMore) => Some(Op::Ge),
                        Some(Kw::OrLess) => Some(Op::Le),
                        _ => None,
                    })
                    .collect();
                asked.iter().any(|op| self.has.ops.contains(&op.negated()) && !self.has.ops.contains(op))
            }
        }
    }

    pub(super) fn number(&mut self, at: usize, chunk: &Chunk) -> bool {
        let Some(n) = chunk.number else { return true };
        if self.has.take_number(|x| (x - n).abs() < 1e-9) {
            return true;
        }
        // The unit may stand behind a second number: `between 3 and 4 minutes`.
        let unit = (at + 1..at + 4).any(|i| {
            matches!(self.kw(i), Some(Kw::Unit(_) | Kw::Part(_)))
                || self.chunks.get(i).is_some_and(|c| c.text == "%")
        });
        let scaled = |x: f64| {
            FACTORS.iter().any(|f| (x - n * f).abs() < 1e-6 * x.abs() || (x - n / f).abs() < 1e-6 * x.abs())
        };
        if unit && self.has.take_number(scaled) {
            return true;
        }
        // `the one that …`, `which one`: no number.
        let word = chunk.text.eq_ignore_ascii_case("one");
        let pronoun = at
            .checked_sub(1)
            .is_none_or(|b| matches!(self.kw(b), Some(Kw::Which | Kw::Skip | Kw::That | Kw::Any | Kw::Each)));
        word && pronoun
            && (self.intent.rank.is_some() || self.intent.form == Form::Versus || self.has.exists > 0)
            || self.named(chunk)
    }

    /// Whether a number is a year that the plan reads as a date.
    pub(super) fn is_year(&self, chunk: &Chunk) -> bool {
        let Some(span) = chunk.year.and_then(Span::year) else { return false };
        self.has.stretches.iter().any(|s| touches(*s, span))
    }

    pub(super) fn time(&self, at: usize, chunk: &Chunk) -> bool {
        let time = chunk.time.or_else(|| chunk.year.and_then(Span::year).map(Time::Span));
        let span = match time {
            Some(Time::Month(month)) => return self.has.months.contains(&month) || self.is_text(chunk),
            Some(Time::Span(span)) => span,
            None => return true,
        };
        let before = (at.saturating_sub(3)..at).rev().filter_map(|i| self.chunks.get(i));
        let relation = before
            .take_while(|c| matches!(c.kw, Some(Kw::Skip | Kw::Part(_) | Kw::Prep | Kw::Cmp(_))))
            .find(|c| matches!(c.kw, Some(Kw::Prep)))
            .map(Chunk::phrase)
            .unwrap_or_default();
        let stretch = self.has.stretches.iter().any(|(from, to)| {
            let open = match relation.as_str() {
                "before" | "prior to" | "earlier than" => from.is_none(),
                "after" | "later than" | "since" | "starting from" => to.is_none(),
                _ => true,
            };
            open && touches((*from, *to), span)
        });
        let year = span.whole_year().map(f64::from);
        stretch
            || self.is_text(chunk)
            || year.is_some_and(|y| self.has.numbers.contains(&y))
            || self.has.texts.contains(&span.from.iso())
    }
}

/// Whether a stretch begins or ends where a time does.
fn touches(stretch: Stretch, span: Span) -> bool {
    let (from, to) = stretch;
    from == Some(span.from) || to == Some(span.to) || to == Some(span.from) || from == Some(span.to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intent::Day;

    #[test]
    fn a_year_touches_the_stretches_that_begin_or_end_with_it() {
        let year = Span::year(2011).unwrap();
        let day = |y| Day::new(y, 1, 1);
        assert!(touches((day(2011), day(2012)), year));
        assert!(touches((None, day(2011)), year));
        assert!(touches((day(2012), None), year));
        assert!(!touches((day(2009), day(2010)), year));
    }
}

//! What the words of the grammar ask for: orders, groups, verbs, denials of a kind.

use super::Auditor;
use crate::intent::{Chunk, Dir, Kw, What};
use crate::link::{FULL, link, same_stem};
use crate::meaning::Form;
use crate::plan::{Agg, Op, Place};
use crate::words::spoken;

impl Auditor<'_> {
    pub(super) fn keyword(&mut self, at: usize, chunk: &Chunk, kw: Kw) -> bool {
        match kw {
            Kw::Cmp(op) => self.comparison(at, op),
            Kw::OrMore => self.take_op(Op::Ge) || self.has.ranges > 0,
            Kw::OrLess => self.take_op(Op::Le) || self.has.ranges > 0,
            Kw::Between => self.has.ranges > 0 || (self.take_op(Op::Ge) && self.take_op(Op::Le)),
            Kw::MoreOf(dir) | Kw::Comparative(dir, _) if self.kw(at + 1) == Some(Kw::Than) => {
                let plain = matches!(kw, Kw::MoreOf(_));
                let op = if dir == Dir::Most { Op::Gt } else { Op::Lt };
                // An older person has an earlier birth.
                self.take_op(op) || (!plain && self.take_op(op.mirrored()))
            }
            Kw::More | Kw::Fewer => self.intent.form == Form::Versus || self.kw(at + 1) == Some(Kw::Than),
            Kw::Last if matches!(self.kw(at + 1), Some(Kw::Cmp(_) | Kw::Between)) => true,
            Kw::Superl(..)
            | Kw::Extreme(_)
            | Kw::Most
            | Kw::Fewest
            | Kw::Top
            | Kw::Bottom
            | Kw::First
            | Kw::Last
            | Kw::BestSelling(_)
            | Kw::Common(_) => self.superlative(at),
            Kw::Agg(agg @ (Agg::Max | Agg::Min)) => {
                self.take_first(|f| f.descending == (agg == Agg::Max)) || self.has.aggs.contains(&agg)
            }
            Kw::Agg(Agg::Avg) => self.has.aggs.contains(&Agg::Avg),
            Kw::Agg(_) => !self.has.aggs.is_empty(),
            // `the average number of floors`, where a column says how many.
            Kw::CountOf if at > 0 && matches!(self.kw(at - 1), Some(Kw::Agg(_))) => !self.has.aggs.is_empty(),
            Kw::CountOf | Kw::HowMany => {
                // `how many points`: a column that says how many, unless the question asks for a sum besides.
                let besides =
                    self.chunks.iter().any(|c| matches!(c.kw, Some(Kw::Agg(Agg::Sum) | Kw::Figure(_))));
                self.has.aggs.contains(&Agg::Count)
                    || (!besides && self.has.aggs.contains(&Agg::Sum))
                    || self.has.uses_word(self.schema, &["number", "count"])
            }
            Kw::Distinct => self.counts_these(at) && (self.has.distinct || self.different_rows(at)),
            Kw::Each | Kw::Per => {
                // Without a figure each row is listed anyway.
                let listed = self.intent.form == Form::Rows && self.intent.figures.is_empty();
                self.has.grouped || listed || self.intent.form == Form::MeanOfGroups
            }
            // `ordered by X`: someone may have ordered it.
            Kw::Sort => !self.has.ordered.is_empty() || self.sentence.hints.iter().any(|h| h == "ordered"),
            Kw::Desc => self.has.ordered.contains(&true),
            Kw::Asc => self.has.ordered.contains(&false),
            Kw::Alphabetical => !self.has.ordered.is_empty(),
            Kw::Share => self.intent.form == Form::Share,
            Kw::Starts => self.has.places.contains(&Place::Start),
            Kw::Ends => self.has.places.contains(&Place::End),
            Kw::Contains => self.has.places.contains(&Place::Anywhere),
            // `his or her`.
            Kw::Or if at > 0 && self.kw(at - 1) == Some(Kw::Their) => true,
            Kw::Or => self.has.choices > 0 || self.has.negations > 0 || self.intent.form == Form::Versus,
            Kw::Figure(_) => self.has.aggs.iter().any(|a| *a != Agg::Count) || self.intent.rank.is_some(),
            Kw::Part(_) => {
                let label: Vec<&str> = chunk.words.iter().map(String::as_str).collect();
                let by_age = self.sentence.items.iter().any(|i| matches!(i.what, What::Compare { .. }));
                let timed = !self.has.stretches.is_empty() || !self.has.months.is_empty();
                self.has.parts || timed || by_age || self.has.uses_word(self.schema, &label)
            }
            Kw::Reports | Kw::Manager | Kw::Subordinates => {
                self.has.to_itself || self.intent.conds.iter().any(|c| c.test.table().is_some())
            }
            Kw::Whole => chunk.link.is_empty() || self.sentence.whole,
            Kw::Whose => !self.name_of_what(at),
            Kw::Verb => !self.says_a_name(chunk),
            Kw::Skip => !self.restricts(at, chunk),
            _ => true,
        }
    }

    /// `the publishers of catalogs whose name …`: behind a column it is not said whose name that is.
    pub(super) fn name_of_what(&self, at: usize) -> bool {
        let name = self.chunks.get(at + 1).is_some_and(|c| ["name", "names"].contains(&c.phrase().as_str()));
        let column = at
            .checked_sub(1)
            .and_then(|b| self.chunks.get(b))
            .is_some_and(|c| c.link.column_score() >= FULL && c.link.table_score() < c.link.column_score());
        name && column
    }

    /// `how many different students play`: the students, and not how often they do.
    pub(super) fn counts_these(&self, at: usize) -> bool {
        let rows =
            self.intent.form == Form::Count && self.intent.counted.is_none() && self.intent.keys.is_empty();
        let Some(next) = self.chunks.get(at + 1).filter(|c| c.link.table_score() >= FULL) else {
            return true;
        };
        !rows || next.link.table(self.intent.subject).is_some()
    }

    /// `the names of all different customers`: the rows of a table differ anyway.
    pub(super) fn different_rows(&self, at: usize) -> bool {
        let table = self
            .chunks
            .get(at + 1)
            .is_some_and(|c| c.link.table_score() >= FULL && c.link.table_score() >= c.link.column_score());
        let held = |core: &crate::intent::Core| core.parts.contains(&(at + 1));
        let plain = self.sentence.heads.iter().any(held)
            || self.sentence.items.iter().any(|i| match &i.what {
                What::Noun(core) => held(core) && (i.rel.is_empty() || i.rel == "of"),
                _ => false,
            });
        table && plain && self.intent.figures.is_empty()
    }

    /// `friends with`: a verb whose word is the whole name of something that the query does not touch.
    pub(super) fn says_a_name(&self, chunk: &Chunk) -> bool {
        chunk.words.iter().any(|w| {
            let words = spoken(w);
            let found = link(self.schema, &words);
            // `attended`, where a table of attendances is linked with what is used.
            let happened: Vec<_> = self
                .schema
                .tables()
                .filter(|(_, t)| t.label.words.last().is_some_and(|l| w.len() > 4 && speaks_of(w, l)))
                .map(|(id, _)| id)
                .collect();
            if !happened.is_empty()
                && !self.has.uses_any(&happened)
                && self.has.is_linked(self.schema, &happened)
            {
                return true;
            }
            found.score() >= FULL && !self.has.uses(self.schema, &found, &words)
        })
    }

    /// `bought only Rock`: nothing else, which no part of a plan says.
    pub(super) fn restricts(&self, at: usize, chunk: &Chunk) -> bool {
        let only =
            chunk.words.iter().any(|w| ["only", "just", "solely", "exclusively"].contains(&w.as_str()));
        let opening =
            self.chunks.iter().take(at).all(|c| {
                c.symbol || matches!(c.kw, Some(Kw::Show | Kw::Skip | Kw::Cop | Kw::And | Kw::What))
            });
        let counts = self.chunks.get(at + 1).is_some_and(|c| c.number.is_some());
        only && !opening && !counts
    }
}

/// `attended` and `attendance`, `shipped` and `shipment`.
fn speaks_of(verb: &str, noun: &str) -> bool {
    let base = ["ed", "ing", "s"].iter().find_map(|end| verb.strip_suffix(end)).unwrap_or(verb);
    let mut letters: Vec<char> = base.chars().collect();
    if let [.., a, b] = letters.as_slice()
        && a == b
    {
        letters.pop();
    }
    let base: String = letters.into_iter().collect();
    same_stem(verb, noun) || (base.len() >= 4 && noun.starts_with(&base))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_speak_of_the_tables_made_from_them() {
        assert!(speaks_of("attended", "attendance"));
        assert!(speaks_of("shipped", "shipment"));
        assert!(!speaks_of("sold", "shipment"));
    }
}

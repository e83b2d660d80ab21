//! What the words of the grammar ask for: orders, groups, verbs, denials of a kind.

use super::Auditor;
use crate::intent::{Chunk, Dir, Kw, What};
use crate::link::{FULL, link, same_stem, speaks_of};
use crate::meaning::{Form, Test};
use crate::plan::{Agg, Op, Place};
use crate::schema::ColumnId;
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
            _ if kw.ranks() => self.superlative(at),
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
                // Without a figure each row is listed anyway, unless only the first of all are.
                let listed = self.intent.form == Form::Rows
                    && self.intent.figures.is_empty()
                    && (self.intent.rank.is_none() || !self.intent.keys.is_empty());
                self.has.grouped || listed || self.intent.form == Form::MeanOfGroups
            }
            // `ordered by X`: someone may have ordered it.
            // Only the first is no order of all.
            Kw::Sort
                if self.intent.rank.is_some_and(|r| r.limit.is_none() && r.place.is_none())
                    && self.intent.figures.is_empty() =>
            {
                false
            }
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
            Kw::Whose => !self.name_of_what(at) && !self.value_of_what(at),
            // `have the status code done`: no verb stands at the end, right behind a column.
            Kw::Aux => !self.ends_behind_a_column(at),
            // `required before they were shipped`: a comparison of two times.
            Kw::Prep if is_of_time(chunk) => self.compares_times() || self.is_last(at),
            // `in stock`, `on loan`: a state, and nothing that was done.
            Kw::Verb if self.is_state(at, chunk) => !self.has.misses_word(self.schema, &chunk.words),
            Kw::Verb => !self.says_a_name(chunk) && self.claims_its_half(at, chunk),
            Kw::Both => self.both(at, chunk),
            // `paid more than 200 in total`: all of it together.
            Kw::Skip if ["in total", "altogether"].contains(&chunk.phrase().as_str()) => {
                self.has.aggs.iter().any(|a| matches!(a, Agg::Sum | Agg::Count))
            }
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

    /// Whether nothing follows a chunk, and the one before it names a column.
    fn ends_behind_a_column(&self, at: usize) -> bool {
        let column = at.checked_sub(1).and_then(|b| self.chunks.get(b));
        self.is_last(at) && column.is_some_and(|c| c.kw.is_none() && c.link.column_score() >= FULL)
    }

    fn is_last(&self, at: usize) -> bool {
        self.chunks.iter().skip(at + 1).all(|c| c.symbol)
    }

    /// Whether the plan compares a time with another.
    fn compares_times(&self) -> bool {
        let compared = |op: &Op| matches!(op, Op::Lt | Op::Le | Op::Gt | Op::Ge);
        let texts = self.has.texts.iter().any(|t| t.contains("before") || t.contains("after"));
        !self.has.stretches.is_empty() || self.has.ops.iter().any(compared) || self.has.ranges > 0 || texts
    }

    /// Whether a preposition makes a noun of what looks like a verb, with no noun behind it.
    fn is_state(&self, at: usize, chunk: &Chunk) -> bool {
        let [word] = chunk.words.as_slice() else { return false };
        let state = ["in", "on", "at", "under"];
        let before = at.checked_sub(1).and_then(|b| self.chunks.get(b));
        let done = ["ed", "ing", "s", "en"].iter().any(|end| word.ends_with(end));
        let noun = self.chunks.get(at + 1).is_some_and(|c| !c.link.is_empty() || !c.hits.is_empty());
        before.is_some_and(|b| b.kw == Some(Kw::Prep) && state.contains(&b.phrase().as_str()))
            && !done
            && !noun
    }

    /// `projects whose research was published`, where “Research” is a value: what has the value is not named.
    fn value_of_what(&self, at: usize) -> bool {
        let next = self.chunks.iter().skip(at + 1).find(|c| c.kw != Some(Kw::Skip));
        next.is_some_and(|c| c.link.score() < FULL && !c.quoted && !c.capital && self.is_value(c))
    }

    /// `enroll in and complete`: of two verbs that are joined, each asks for something of its own, which must
    /// be there.
    fn claims_its_half(&self, at: usize, chunk: &Chunk) -> bool {
        let between = |kw: Option<Kw>| {
            matches!(kw, Some(Kw::Prep | Kw::By | Kw::And | Kw::Skip | Kw::Aux | Kw::Cop | Kw::Not))
        };
        let other = |mut places: Box<dyn Iterator<Item = usize>>| {
            let mut and = false;
            let found = places.find(|i| {
                and |= self.kw(*i) == Some(Kw::And);
                !between(self.kw(*i))
            });
            found.and_then(|i| self.chunks.get(i)).filter(|c| and && c.kw == Some(Kw::Verb))
        };
        let before = other(Box::new((0..at).rev()));
        let after = other(Box::new(at + 1..self.chunks.len()));
        before.or(after).is_none_or(|o| {
            let same = |a: &String| o.words.iter().any(|b| same_stem(a, b));
            chunk.words.iter().any(same) || self.has.says(self.schema, &chunk.words)
        })
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
            if self.has.misses_date(self.schema, w) || self.has.misses_deed(self.schema, w) {
                return true;
            }
            if !happened.is_empty()
                && !self.has.uses_any(&happened)
                && self.has.is_linked(self.schema, &happened)
            {
                return true;
            }
            found.score() >= FULL && !self.has.uses(self.schema, &found, &words)
        })
    }

    /// `left-footed players`, `shipped orders`: a verb right before the noun that it narrows, which no part of
    /// a plan says.
    pub(super) fn describes(&self, at: usize, chunk: &Chunk) -> bool {
        let [word] = chunk.words.as_slice() else { return false };
        // `the host year`: no form that says what was done.
        let done =
            ["ed", "en", "wn", "ing", "ft", "ld", "lt", "ht", "de"].iter().any(|end| word.ends_with(end));
        let mut next = at + 1;
        while self.chunks.get(next).is_some_and(|c| c.text == "-" || c.kw == Some(Kw::Verb)) {
            next += 1;
        }
        let noun = self.chunks.get(next).is_some_and(|c| {
            c.link.score() >= FULL && c.hits.is_empty() && matches!(c.kw, None | Some(Kw::Part(_)))
        });
        let mut before = at.checked_sub(1);
        while let Some(b) = before.filter(|b| {
            self.chunks
                .get(*b)
                .is_some_and(|c| c.kw == Some(Kw::Skip) || c.text == "-" || c.kw == Some(Kw::Verb))
        }) {
            before = b.checked_sub(1);
        }
        let opens = before.is_none_or(|b| match self.kw(b) {
            // `used to produce wines`.
            Some(Kw::Prep) if self.chunks.get(b).is_some_and(|c| c.words == ["to"]) => false,
            Some(Kw::Prep | Kw::All | Kw::Show | Kw::HowMany | Kw::What | Kw::Which | Kw::CountOf) => true,
            Some(Kw::Cop) => !word.ends_with("ing"),
            _ => false,
        });
        let is = before.is_some_and(|b| self.kw(b) == Some(Kw::Cop));
        // `sold pieces`: what was sold is what is added up.
        let added = self.has.aggs.contains(&Agg::Sum);
        noun && opens && (done || is) && !added
    }

    /// Whether a condition is on a column that is called like a verb.
    pub(super) fn tested(&self, chunk: &Chunk) -> bool {
        let says = |c: &ColumnId| {
            let label = &self.schema.column(*c).label;
            chunk.words.iter().any(|v| label.words.iter().any(|w| same_stem(v, w)))
        };
        self.intent.conds.iter().any(|c| match &c.test {
            Test::In(columns, _) | Test::Like(columns, ..) => columns.iter().any(says),
            Test::Compare(c, ..)
            | Test::Between(c, ..)
            | Test::Missing(c)
            | Test::Given(c)
            | Test::Within(c, ..)
            | Test::Month(c, _)
            | Test::Flag(c, _) => says(c),
            _ => false,
        })
    }

    /// `shared by A and B`, `used both by A and B`: two conditions, or two things that are shown.
    fn both(&self, at: usize, chunk: &Chunk) -> bool {
        let shared = chunk.words.iter().any(|w| ["shared", "common"].contains(&w.as_str()));
        let values = self.intent.conds.iter().filter(|c| matches!(c.test, Test::Value(..))).count();
        let linked = matches!(self.kw(at + 1), Some(Kw::Prep | Kw::By | Kw::Have));
        if shared {
            values >= 2 || self.intent.rank.is_some()
        } else {
            !linked || self.intent.conds.len() >= 2 || self.has.ranges > 0
        }
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
        // `a department that has someone whose …`: another than the one that is asked for.
        let someone = ["someone", "somebody", "anyone", "anybody", "something"];
        let another = chunk.words.iter().any(|w| someone.contains(&w.as_str()))
            && matches!(self.kw(at + 1), Some(Kw::Have | Kw::Who | Kw::That | Kw::Whose));
        (only || another) && !opening && !counts
    }
}

fn is_of_time(chunk: &Chunk) -> bool {
    ["before", "after", "since", "until", "till", "prior to", "earlier than", "later than"]
        .contains(&chunk.phrase().as_str())
}

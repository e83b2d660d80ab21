//! What each word of a question asks for, and whether the plan has it.

use std::collections::BTreeSet;

use super::evidence::{Evidence, First};
use crate::intent::{Chunk, Dir, Kw, Sentence, Span, Time, What};
use crate::link::{FULL, link, same_stem};
use crate::meaning::{Form, Intent, Test};
use crate::plan::{Agg, Op, Place};
use crate::schema::Schema;
use crate::words::{ordinal, spoken};

pub(super) struct Auditor<'a> {
    schema: &'a Schema,
    chunks: &'a [Chunk],
    sentence: &'a Sentence,
    intent: &'a Intent,
    has: Evidence,
    /// Words that a claim before has already spoken for.
    done: BTreeSet<usize>,
}

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

impl<'a> Auditor<'a> {
    pub(super) fn new(
        schema: &'a Schema,
        chunks: &'a [Chunk],
        sentence: &'a Sentence,
        intent: &'a Intent,
        has: Evidence,
    ) -> Self {
        Self { schema, chunks, sentence, intent, has, done: BTreeSet::new() }
    }

    /// The chunks whose claims fail.
    pub(super) fn lost(mut self) -> Vec<&'a Chunk> {
        let chunks = self.chunks;
        let mut out = Vec::new();
        for (at, chunk) in chunks.iter().enumerate() {
            if !self.done.contains(&at) && !self.placed(at, chunk) {
                out.push(chunk);
            }
        }
        if let Some(after) = self.behind_an_average()
            && out.is_empty()
        {
            out.push(after);
        }
        if let Some(open) = self.open_end()
            && out.iter().all(|c| c.first != open.first)
        {
            out.push(open);
        }
        out
    }

    fn kw(&self, at: usize) -> Option<Kw> {
        self.chunks.get(at).and_then(|c| c.kw)
    }

    fn placed(&mut self, at: usize, chunk: &Chunk) -> bool {
        if chunk.symbol && chunk.kw.is_none() {
            return true;
        }
        if chunk.time.is_some() || self.is_year(chunk) {
            return self.time(at, chunk);
        }
        if self.is_text(chunk) {
            return true;
        }
        if chunk.quoted {
            return self.named(chunk);
        }
        if chunk.number.is_some() && chunk.kw.is_none() {
            return self.number(at, chunk);
        }
        // A word that names something outright is a name, whatever else it may be.
        let named = self.named(chunk);
        if let Some(kw) = chunk.kw {
            return match kw {
                Kw::Not | Kw::No | Kw::Without | Kw::Except => self.negation(at),
                // `the status code done`: a value that only looks like a word of the grammar.
                Kw::Verb | Kw::Aux | Kw::Skip if !named && self.has.holds(&chunk.hits) => false,
                _ => named || self.keyword(at, chunk, kw),
            };
        }
        if named {
            return true;
        }
        if let [word] = chunk.words.as_slice()
            && let Some(n) = ordinal(word)
            && chunk.link.is_empty()
        {
            return self.has.take_number(|x| (x - n as f64).abs() < 1e-9);
        }
        if chunk.is_unknown() {
            return self.sentence.verbs.contains(&chunk.text);
        }
        if ["number", "numbers", "count", "counts"].contains(&chunk.phrase().as_str()) {
            return self.has.aggs.contains(&Agg::Count) || self.has.uses_key(self.schema);
        }
        let beside_a_value = [at.checked_sub(1), Some(at + 1)]
            .into_iter()
            .flatten()
            .filter_map(|i| self.chunks.get(i))
            .any(|c| c.quoted || !c.hits.is_empty());
        if self.before_a_table(at, chunk) {
            return true;
        }
        // Each row of a table has one of those that it links to, so naming them says nothing more.
        !beside_a_value && !self.asked_for(at) && self.has.leads_to(self.schema, &chunk.link)
    }

    /// Whether the query uses what the words name.
    fn named(&self, chunk: &Chunk) -> bool {
        let words: Vec<String> = chunk.words.iter().flat_map(|w| spoken(w)).collect();
        !chunk.link.is_empty() && self.has.uses(self.schema, &chunk.link, &words)
    }

    /// Whether a chunk is part of what the question asks for, not of what narrows it.
    fn asked_for(&self, at: usize) -> bool {
        let owner = |i: &crate::intent::Item| {
            i.rel == "of" && matches!(&i.what, What::Noun(core) if core.parts.contains(&at))
        };
        let shown = self.sentence.heads.iter().all(|h| h.aggs.is_empty());
        self.sentence.heads.iter().any(|h| h.parts.contains(&at))
            || shown && self.sentence.items.first().is_some_and(owner)
    }

    /// `product categories`: a table before another that it is linked with, whose rows are meant.
    fn before_a_table(&self, at: usize, chunk: &Chunk) -> bool {
        let nouns = self.sentence.items.iter().filter_map(|i| match &i.what {
            What::Noun(core) | What::Group(core) | What::Number { core, .. } => Some(core),
            What::Rank { core, .. } | What::Compare { core, .. } | What::Order { core, .. } => core.as_ref(),
            _ => None,
        });
        let head = self.sentence.heads.iter().chain(nouns).find_map(|core| {
            let last = core.head().filter(|h| *h != at)?;
            core.parts.contains(&at).then(|| self.chunks.get(last)).flatten()
        });
        head.is_some_and(|h| {
            !h.link.tables.is_empty() && self.named(h) && self.has.is_beside(self.schema, &chunk.link)
        })
    }

    /// Whether the text, or a value that it stands for, is compared with something.
    fn is_text(&self, chunk: &Chunk) -> bool {
        let lower = chunk.text.to_lowercase();
        let held = |t: &str| self.has.texts.contains(t);
        let value = chunk.hits.iter().any(|h| held(&h.value.to_lowercase()));
        // A name may be put together from several words, or looked for inside.
        let inside = (chunk.is_unknown() || chunk.quoted || !chunk.hits.is_empty())
            && self.has.texts.iter().any(|t| t.contains(&lower));
        value || held(&lower) || inside
    }

    fn keyword(&mut self, at: usize, chunk: &Chunk, kw: Kw) -> bool {
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
    fn name_of_what(&self, at: usize) -> bool {
        let name = self.chunks.get(at + 1).is_some_and(|c| ["name", "names"].contains(&c.phrase().as_str()));
        let column = at
            .checked_sub(1)
            .and_then(|b| self.chunks.get(b))
            .is_some_and(|c| c.link.column_score() >= FULL && c.link.table_score() < c.link.column_score());
        name && column
    }

    /// `how many different students play`: the students, and not how often they do.
    fn counts_these(&self, at: usize) -> bool {
        let rows =
            self.intent.form == Form::Count && self.intent.counted.is_none() && self.intent.keys.is_empty();
        let Some(next) = self.chunks.get(at + 1).filter(|c| c.link.table_score() >= FULL) else {
            return true;
        };
        !rows || next.link.table(self.intent.subject).is_some()
    }

    /// `the names of all different customers`: the rows of a table differ anyway.
    fn different_rows(&self, at: usize) -> bool {
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
    fn says_a_name(&self, chunk: &Chunk) -> bool {
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
    fn restricts(&self, at: usize, chunk: &Chunk) -> bool {
        let only =
            chunk.words.iter().any(|w| ["only", "just", "solely", "exclusively"].contains(&w.as_str()));
        let opening =
            self.chunks.iter().take(at).all(|c| {
                c.symbol || matches!(c.kw, Some(Kw::Show | Kw::Skip | Kw::Cop | Kw::And | Kw::What))
            });
        let counts = self.chunks.get(at + 1).is_some_and(|c| c.number.is_some());
        only && !opening && !counts
    }

    fn take_op(&mut self, op: Op) -> bool {
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

    fn comparison(&mut self, at: usize, op: Op) -> bool {
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

    fn take_first(&mut self, fits: impl Fn(&First) -> bool) -> bool {
        let at = self.has.firsts.iter().position(fits);
        at.map(|i| self.has.firsts.remove(i)).is_some()
    }

    /// `the top 5 most expensive`: words for one order, side by side.
    fn superlative(&mut self, at: usize) -> bool {
        let superlative = |kw: Option<Kw>| {
            matches!(
                kw,
                Some(
                    Kw::Superl(..)
                        | Kw::Extreme(_)
                        | Kw::Most
                        | Kw::Fewest
                        | Kw::Top
                        | Kw::Bottom
                        | Kw::First
                        | Kw::Last
                        | Kw::BestSelling(_)
                        | Kw::Common(_)
                )
            )
        };
        let mut said = self.kw(at);
        let mut next = at + 1;
        while let Some(chunk) = self.chunks.get(next) {
            let unused = !self.named(chunk);
            if superlative(chunk.kw) && unused {
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

    fn negation(&mut self, at: usize) -> bool {
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

    fn number(&mut self, at: usize, chunk: &Chunk) -> bool {
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
    fn is_year(&self, chunk: &Chunk) -> bool {
        let Some(span) = chunk.year.and_then(Span::year) else { return false };
        self.has.stretches.iter().any(|s| touches(*s, span))
    }

    fn time(&self, at: usize, chunk: &Chunk) -> bool {
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

    /// `below the average salary of those in Physics`: whether what follows narrows the average or the rows
    /// is not said.
    fn behind_an_average(&self) -> Option<&'a Chunk> {
        let compared = self.intent.conds.iter().any(|c| matches!(c.test, Test::Figure(..)));
        let mut rest = self.chunks.iter().skip_while(|c| !matches!(c.kw, Some(Kw::Agg(_))));
        rest.next().filter(|_| compared)?;
        let ends = |kw: Option<Kw>| {
            matches!(kw, Some(Kw::And | Kw::But | Kw::Or | Kw::That | Kw::Which | Kw::Whose | Kw::Have))
        };
        let parts = rest.take_while(|c| !c.symbol && !ends(c.kw));
        let narrows = |c: &&Chunk| c.quoted || c.time.is_some() || c.number.is_some() || self.is_value(c);
        parts.into_iter().find(narrows)
    }

    /// Whether a chunk is a value that is compared with a column.
    fn is_value(&self, chunk: &Chunk) -> bool {
        chunk.hits.iter().any(|h| self.has.texts.contains(&h.value.to_lowercase()))
    }

    /// A word that joins something to what never comes: the question was cut off.
    fn open_end(&self) -> Option<&'a Chunk> {
        let last = self.chunks.iter().rev().find(|c| !c.symbol)?;
        let joins = matches!(last.kw, Some(Kw::And | Kw::Or | Kw::Not | Kw::Between | Kw::Than | Kw::Cmp(_)));
        joins.then_some(last)
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

/// Whether a stretch begins or ends where a time does.
fn touches(stretch: super::evidence::Stretch, span: Span) -> bool {
    let (from, to) = stretch;
    from == Some(span.from) || to == Some(span.to) || to == Some(span.from) || from == Some(span.to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intent::Day;

    #[test]
    fn verbs_speak_of_the_tables_made_from_them() {
        assert!(speaks_of("attended", "attendance"));
        assert!(speaks_of("shipped", "shipment"));
        assert!(!speaks_of("sold", "shipment"));
    }

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

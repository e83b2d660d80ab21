//! What each word of a question asks for, and whether the plan has it.

mod figure;
mod keyword;

use std::collections::BTreeSet;

use super::evidence::Evidence;
use crate::intent::{Chunk, Kw, Sentence, What};
use crate::meaning::{Intent, Test};
use crate::plan::Agg;
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

/// Words for a piece of text.
const KINDS: [&str; 8] = ["letter", "letters", "word", "string", "substring", "text", "phrase", "character"];

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
                // `shipped orders`: that a column of that name is shown does not say so.
                Kw::Verb if self.describes(at, chunk) => self.tested(chunk),
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
        // `the letter "a"`: what kind of text follows.
        let next = self.chunks.get(at + 1);
        if !self.has.places.is_empty()
            && next.is_some_and(|c| self.is_text(c) || c.text.chars().count() == 1)
            && KINDS.contains(&chunk.phrase().as_str())
        {
            return true;
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

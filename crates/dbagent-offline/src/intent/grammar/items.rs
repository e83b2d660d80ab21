//! Everything behind the nouns that are asked for: what narrows, compares, groups and orders.

use super::super::chunk::Chunk;
use super::super::keywords::{Adjective, Kw};
use super::super::phrase::{Ask, Core, Operand, RankBy, What};
use super::super::time::{Span, Time};
use super::Parser;
use crate::plan::Op;

impl Parser<'_> {
    pub(super) fn items(&mut self) {
        while let Some(chunk) = self.chunk(self.at) {
            let before = self.at;
            self.item(chunk);
            if self.at == before {
                self.at += 1;
                let participle = chunk.is_unknown()
                    && chunk.words.len() == 1
                    && chunk.words.iter().any(|w| w.len() > 4 && (w.ends_with("ed") || w.ends_with("ing")))
                    && matches!(self.kw(self.at), Some(Kw::Prep | Kw::By))
                    && !self.state.neg;
                if participle {
                    // A verb between two nouns says how they are linked; that is noted.
                    self.out.verbs.push(chunk.text.clone());
                    self.state.hints.push(chunk.phrase());
                } else {
                    // Nothing took it: it says something that is not understood.
                    // Unknown words side by side are one name.
                    let joined = self.unknown_at == Some(before) && chunk.is_unknown();
                    match self.out.unknown.last_mut().filter(|_| joined) {
                        Some(last) => {
                            last.push(' ');
                            last.push_str(&chunk.text);
                        }
                        None => self.out.unknown.push(chunk.text.clone()),
                    }
                    self.unknown_at = chunk.is_unknown().then_some(before + 1);
                }
            }
        }
    }

    fn item(&mut self, chunk: &Chunk) {
        let here = self.at;
        if chunk.symbol {
            return self.sign(chunk);
        }
        if let Some(time) = chunk.time {
            self.at += 1;
            return self.time(time);
        }
        if let Some(year) = chunk.year
            && self.reads_as_year(here)
            && let Some(span) = Span::year(year)
        {
            self.at += 1;
            return self.time(Time::Span(span));
        }
        if chunk.number.is_some() && chunk.hits.is_empty() && chunk.link.is_empty() {
            let head = self.out.heads.last().filter(|h| h.head() == here.checked_sub(1)).cloned();
            if let Some(core) = head
                && self.out.items.is_empty()
                && self.is_table(&core)
            {
                // `order 10248`.
                self.at += 1;
                let operand = Operand::Number { value: chunk.number.unwrap_or_default(), unit: None };
                return self.push(What::Compare { core: Some(core), adjective: None, op: Op::Eq, operand });
            }
            if self.number_and_noun() {
                return;
            }
            if let Some(core) = self.core() {
                return self.noun(core);
            }
            return;
        }
        if self.inside_text(here) {
            return;
        }
        if self.is_noun(here)
            && !self.acts(here)
            && !matches!(chunk.kw, Some(Kw::Agg(_) | Kw::First | Kw::Last | Kw::Superl(..)))
        {
            if let Some(core) = self.core() {
                self.noun(core);
            }
            return;
        }
        let Some(kw) = chunk.kw else { return };
        self.keyword(kw, chunk);
    }

    fn keyword(&mut self, kw: Kw, chunk: &Chunk) {
        let phrase = chunk.phrase();
        match kw {
            Kw::And | Kw::But => {
                self.verb_alone();
                self.state.and = true;
                self.state.but |= kw == Kw::But;
                self.at += 1;
            }
            Kw::Or => {
                self.state.or = true;
                self.at += 1;
            }
            Kw::Cop => {
                self.state.predicate |= !self.state.relative;
                self.at += 1;
            }
            Kw::Not => {
                self.state.neg = !self.state.neg;
                self.at += 1;
            }
            Kw::No => {
                self.state.neg = true;
                self.at += 1;
            }
            Kw::Without | Kw::Except => {
                self.state.neg = true;
                self.state.have = kw == Kw::Without;
                self.state.rel = if kw == Kw::Without { "without".into() } else { "except".into() };
                self.at += 1;
            }
            Kw::Have => {
                self.state.have = true;
                self.state.predicate |= !self.state.relative && phrase != "with";
                self.state.hints.push(phrase);
                self.at += 1;
            }
            // `… and what are the companies?`: one more thing to show.
            Kw::What if self.state.and && self.state.rel.is_empty() && !self.state.neg => {
                self.at += 1;
                self.dangling();
                self.state = super::State { and: true, their: true, ..super::State::default() };
            }
            Kw::That | Kw::Which | Kw::Who | Kw::Whose | Kw::Where | Kw::What => {
                // `earlier than that of …` compares with something that is not read here.
                if ["earlier than", "later than", "before", "after", "prior to"]
                    .contains(&self.state.rel.as_str())
                {
                    self.out.unknown.push(self.state.rel.clone());
                }
                self.state.relative = true;
                self.state.rel.clear();
                self.state.have = kw == Kw::Whose;
                self.at += 1;
            }
            Kw::Prep => {
                self.state.rel.clone_from(&phrase);
                self.state.hints.push(phrase);
                self.at += 1;
            }
            Kw::By => {
                // `requested by`: someone who acts, even where the verb is part of a name.
                let before = here_before(self.at).and_then(|b| self.chunk(b)).and_then(|c| c.words.last());
                if let Some(verb) = before.filter(|w| w.len() > 4 && w.ends_with("ed")) {
                    self.state.hints.push(verb.clone());
                }
                self.state.rel = "by".into();
                self.at += 1;
            }
            Kw::Verb => {
                self.state.predicate |= !self.state.relative;
                self.state.rel.clear();
                self.out.hints.push(phrase.clone());
                self.state.hints.push(phrase);
                self.at += 1;
            }
            Kw::Their => {
                self.state.their = true;
                self.at += 1;
            }
            Kw::Distinct => {
                self.state.distinct = true;
                self.at += 1;
            }
            Kw::Each | Kw::Per => {
                self.at += 1;
                match self.core() {
                    Some(core) => self.push(What::Group(core)),
                    // `… each have?`, `how much each`: one line for each of what was named before.
                    None => self.state.each = true,
                }
            }
            Kw::Whole if self.out.heads.is_empty() || self.state.their => {
                self.at += 1;
                self.out.whole = true;
            }
            Kw::Aux => {
                if self.state.rel.is_empty() {
                    self.state.rel = "does".into();
                }
                self.inverted |= !self.state.relative;
                self.at += 1;
            }
            Kw::Skip | Kw::All | Kw::Any | Kw::Show | Kw::There | Kw::Both | Kw::Exists => self.at += 1,
            Kw::Unit(_) if !self.out.items.is_empty() => self.at += 1,
            Kw::Cmp(_) | Kw::Between | Kw::MoreOf(_) => {
                if let Some(what) = self.comparison(None) {
                    self.push(what);
                }
            }
            Kw::Comparative(dir, adjective) => {
                if let Some(what) = self.comparative(None, Some((dir, adjective))) {
                    self.push(what);
                }
            }
            Kw::More | Kw::Fewer => self.more(kw),
            // `that last more than 2 weeks`: a verb.
            Kw::Last if matches!(self.kw(self.at + 1), Some(Kw::Cmp(_) | Kw::Between)) => {
                self.state.hints.push(phrase);
                self.at += 1;
            }
            _ if kw.ranks() => self.rank(kw),
            Kw::Agg(_) | Kw::CountOf | Kw::HowMany => {
                if let Some(core) = self.core() {
                    self.noun(core);
                }
            }
            Kw::Sort
                if phrase == "ordered by"
                    && matches!(self.kw(self.at.wrapping_sub(1)), Some(Kw::Cop | Kw::Have)) =>
            {
                // `were ordered by X`: someone ordered them.
                self.out.hints.push("ordered".into());
                self.state.hints.push("ordered".into());
                self.state.rel = "by".into();
                self.at += 1;
            }
            Kw::Sort => self.order(),
            Kw::Desc | Kw::Asc | Kw::Alphabetical => {
                self.at += 1;
                self.direction(kw);
            }
            Kw::Named => {
                self.at += 1;
                while matches!(self.kw(self.at), Some(Kw::Skip | Kw::Cop)) && !self.is_noun(self.at) {
                    self.at += 1;
                }
                if self.chunk(self.at).is_some_and(|c| !c.symbol) {
                    let value = self.at;
                    self.at += 1;
                    self.push(What::Named(value));
                } else {
                    self.out.unknown.push(chunk.text.clone());
                }
            }
            Kw::Starts | Kw::Ends | Kw::Contains => self.like(None, kw),
            Kw::Reports => {
                self.at += 1;
                self.push(What::Reports);
            }
            Kw::Manager => {
                self.at += 1;
                self.push(What::Manager);
            }
            Kw::Subordinates => {
                self.at += 1;
                self.push(What::Subordinates);
            }
            Kw::HowAdj(adjective) if self.ranks_by(adjective) => self.at += 1,
            Kw::Beyond | Kw::Relative | Kw::Popular => {
                self.at += 1;
                self.out.beyond.get_or_insert(chunk.text.clone());
            }
            _ => {}
        }
    }

    /// `… is the longest, and how long is it?`: the figure that decides is shown anyway.
    fn ranks_by(&self, adjective: &'static Adjective) -> bool {
        let by = RankBy::Adjective(adjective);
        let head = self.out.heads.iter().any(|h| h.rank.is_some_and(|r| r.by == by));
        head || self.out.items.iter().any(|i| matches!(i.what, What::Rank { rank, .. } if rank.by == by))
    }

    fn sign(&mut self, chunk: &Chunk) {
        match chunk.text.as_str() {
            "," | ";" | ":" | "(" | ")" | "-" | "–" | "—" | "/" | "%" | "$" | "'" | "’" | "\"" | "*" => {
                self.at += 1;
            }
            "&" => {
                self.state.and = true;
                self.at += 1;
            }
            "?" | "." | "!" => {
                self.at += 1;
                self.next_sentence();
            }
            _ => {
                if let Some(kw @ Kw::Cmp(_)) = chunk.kw {
                    self.keyword(kw, chunk);
                }
            }
        }
    }

    /// What follows the end of a sentence: columns to show beside, or more that is not understood.
    fn next_sentence(&mut self) {
        self.dangling();
        self.state = super::State::default();
        let asks = |kw| matches!(kw, Some(Kw::Show | Kw::What | Kw::Skip | Kw::Cop | Kw::And | Kw::Which));
        let start = self.at;
        while asks(self.kw(self.at)) && !self.is_noun(self.at) {
            self.at += 1;
        }
        if self.at > start {
            self.state.their = true;
            self.state.and = true;
        }
    }

    /// A noun, with the comparison that follows it.
    pub(super) fn noun(&mut self, mut core: Core) {
        core.their |= self.state.their;
        core.distinct |= self.state.distinct;
        core.each |= self.state.each;
        if core.no {
            self.state.neg = true;
        }
        if core.rank.is_some()
            && core.number.is_none()
            && (core.rank.is_some_and(|r| r.by != RankBy::Time) || self.state.have)
        {
            let rank = core.rank.take();
            if let Some(rank) = rank {
                let core = (!core.parts.is_empty()).then_some(core);
                return self.push(What::Rank { rank, core });
            }
        }
        // `the average price for different brands`.
        let aggregated = self.out.ask == Ask::Count || self.out.heads.iter().any(|h| !h.aggs.is_empty());
        let different =
            core.distinct && aggregated && ["for", "across", "by"].contains(&self.state.rel.as_str());
        if core.each || different || self.state.rel == "per" {
            return self.push(What::Group(core));
        }
        if core.number.is_some()
            && !self.state.rel.is_empty()
            && self.state.rel != "of"
            && core.aggs.is_empty()
            && !self.state.have
        {
            // `in 3 genres`: a count of its own.
            let number = core.number.take().unwrap_or_default() as f64;
            return self.push(What::Number { op: Op::Eq, number, core });
        }
        self.take_owner(&mut core);
        let before = (self.at, self.state.clone());
        if let Some(what) = self.compared(&core) {
            return self.push(what);
        }
        (self.at, self.state) = before;
        self.push(What::Noun(core));
    }

    /// `names of countries`: the table behind a column owns it.
    fn take_owner(&mut self, core: &mut Core) {
        let full = super::super::chunk_full();
        let column = core.head().and_then(|h| self.chunk(h)).is_some_and(|c| {
            c.link.column_score() >= full && c.link.table_score() < c.link.column_score() && c.hits.is_empty()
        });
        if !column || core.parts.len() != 1 || self.chunk(self.at).is_none_or(|c| c.words != ["of"]) {
            return;
        }
        let mut at = self.at + 1;
        while matches!(self.kw(at), Some(Kw::Skip | Kw::Their)) && !self.is_noun(at) {
            at += 1;
        }
        let table = self.chunk(at).is_some_and(|c| c.link.table_score() >= full && c.hits.is_empty());
        if table && !self.is_noun(at + 1) {
            core.parts.insert(0, at);
            self.at = at + 1;
        }
    }
}

fn here_before(at: usize) -> Option<usize> {
    at.checked_sub(1)
}

//! Everything behind the nouns that are asked for: what narrows, compares, groups and orders.

use super::super::chunk::Chunk;
use super::super::keywords::{Adjective, Dir, Kw};
use super::super::phrase::{Ask, Core, Operand, Rank, RankBy, TimeOp, What};
use super::super::time::{Span, Time};
use super::Parser;
use crate::plan::{Op, Place};

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
        if self.is_noun(here) && !matches!(chunk.kw, Some(Kw::Agg(_) | Kw::First | Kw::Last | Kw::Superl(..)))
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
            Kw::And | Kw::But | Kw::AlongWith => {
                self.state.and = true;
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
            Kw::Cmp(_) | Kw::Between => {
                if let Some(what) = self.comparison(None) {
                    self.push(what);
                }
            }
            Kw::Comparative(dir, adjective) => {
                if let Some(what) = self.comparative(None, Some((dir, adjective))) {
                    self.push(what);
                }
            }
            Kw::MoreOf(_) => {
                if let Some(what) = self.comparison(None) {
                    self.push(what);
                }
            }
            Kw::More | Kw::Fewer => self.more(kw),
            Kw::Superl(..)
            | Kw::Extreme(_)
            | Kw::Most
            | Kw::Fewest
            | Kw::BestSelling(_)
            | Kw::Common(_)
            | Kw::Top
            | Kw::Bottom
            | Kw::First
            | Kw::Last => {
                self.rank(kw);
            }
            Kw::Agg(_) | Kw::CountOf | Kw::HowMany => {
                if let Some(core) = self.core() {
                    self.noun(core);
                }
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
                if self.at < self.chunks.len() {
                    let value = self.at;
                    self.at += 1;
                    self.push(What::Named(value));
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
            Kw::Beyond | Kw::Relative | Kw::Popular => {
                self.at += 1;
                self.out.beyond.get_or_insert(chunk.text.clone());
            }
            _ => {}
        }
    }

    fn sign(&mut self, chunk: &Chunk) {
        match chunk.text.as_str() {
            "," | ";" | ":" | "(" | ")" | "-" | "–" | "—" | "/" | "%" | "$" | "'" | "’" | "\"" | "*" => {
                self.at += 1
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
    fn noun(&mut self, mut core: Core) {
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
        if !column || core.parts.len() != 1 || !self.chunk(self.at).is_some_and(|c| c.words == ["of"]) {
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

    /// The comparison that follows a noun directly: `price over 5`, `status is 'open'`.
    fn compared(&mut self, core: &Core) -> Option<What> {
        let head = core.head().and_then(|h| self.chunk(h))?;
        let figure = matches!(head.kw, Some(Kw::Figure(_)));
        let column = !head.link.columns.is_empty() && head.link.column_score() >= head.link.table_score();
        let counted = !core.aggs.is_empty();
        let value_head = !head.hits.is_empty() && head.link.is_empty();
        if value_head {
            return None;
        }
        let mut neg = self.state.neg;
        let mut cop = false;
        while let Some(kw) = self.kw(self.at) {
            match kw {
                Kw::Cop => cop = true,
                Kw::Not => neg = !neg,
                Kw::Skip if !self.is_noun(self.at) => {}
                Kw::Prep if self.value_of(core) => cop = true,
                _ => break,
            }
            self.at += 1;
        }
        match self.kw(self.at) {
            Some(Kw::Cmp(_) | Kw::Between | Kw::MoreOf(_)) if column || figure || counted => {
                self.state.neg = neg;
                return self.comparison(Some(core.clone()));
            }
            Some(Kw::Comparative(dir, adjective)) if column && cop => {
                self.state.neg = neg;
                return self.comparative(Some(core.clone()), Some((dir, adjective)));
            }
            Some(kw @ (Kw::Starts | Kw::Ends | Kw::Contains)) if column => {
                self.state.neg = neg;
                return self.like_what(Some(core.clone()), kw);
            }
            _ => {}
        }
        let chunk = self.chunk(self.at)?;
        let plain_number = chunk.number.is_some() && chunk.hits.is_empty() && !self.is_noun(self.at + 1);
        if plain_number && (column || figure || counted || self.is_table(core)) {
            // `before the year 2010`.
            let by_time = match self.state.rel.as_str() {
                "before" | "prior to" | "earlier than" => Some(Op::Lt),
                "after" | "later than" => Some(Op::Gt),
                "since" | "starting from" => Some(Op::Ge),
                "until" | "till" | "up until" => Some(Op::Le),
                _ => None,
            };
            if let Some(op) = by_time.filter(|_| chunk.year.is_some() && column) {
                let value = chunk.number.unwrap_or_default();
                self.at += 1;
                self.state.neg = neg;
                let operand = Operand::Number { value, unit: None };
                return Some(What::Compare { core: Some(core.clone()), adjective: None, op, operand });
            }
            let op = self.or_more(self.at + 1).unwrap_or(Op::Eq);
            let value = chunk.number.unwrap_or_default();
            self.at += if op == Op::Eq { 1 } else { 2 };
            let unit = self.unit();
            self.state.neg = neg;
            return Some(What::Compare {
                core: Some(core.clone()),
                adjective: None,
                op,
                operand: Operand::Number { value, unit },
            });
        }
        let value =
            chunk.quoted || (!chunk.hits.is_empty() && chunk.link.score() < super::super::chunk_full());
        if cop && column && value {
            let mut core = core.clone();
            core.parts.push(self.at);
            self.at += 1;
            self.state.neg = neg;
            return Some(What::Noun(core));
        }
        None
    }

    /// `a price of 5`, `first name as Ann`: the preposition stands for `is`.
    fn value_of(&self, core: &Core) -> bool {
        let preposition =
            self.chunk(self.at).is_some_and(|c| ["of", "at", "as"].contains(&c.phrase().as_str()));
        let Some(next) = self.chunk(self.at + 1).filter(|_| preposition) else { return false };
        let columns: Vec<_> = core
            .head()
            .and_then(|h| self.chunk(h))
            .map(|c| c.link.columns.iter().map(|(c, _)| *c).collect())
            .unwrap_or_default();
        let held = next.hits.iter().any(|h| h.columns.iter().any(|c| columns.contains(c)));
        next.number.is_some() && next.hits.is_empty()
            || matches!(next.kw, Some(Kw::Cmp(_)))
            || held
            || next.quoted
    }

    fn is_table(&self, core: &Core) -> bool {
        core.head().and_then(|h| self.chunk(h)).is_some_and(|c| !c.link.tables.is_empty())
    }

    fn or_more(&self, at: usize) -> Option<Op> {
        match self.kw(at) {
            Some(Kw::OrMore) => Some(Op::Ge),
            Some(Kw::OrLess) => Some(Op::Le),
            _ => None,
        }
    }

    fn unit(&mut self) -> Option<usize> {
        if self.symbol(self.at, &["%"]) {
            self.at += 1;
        }
        if matches!(self.kw(self.at), Some(Kw::Unit(_)))
            && !self.chunk(self.at).is_some_and(|c| c.words.len() == 1 && c.text.len() == 1)
        {
            self.at += 1;
            return Some(self.at - 1);
        }
        None
    }

    /// `more than 10 …`, `between 1 and 5 …`, `higher than …` at the current place.
    fn comparison(&mut self, core: Option<Core>) -> Option<What> {
        let start = self.at;
        let found = self.comparison_parts(core);
        if found.is_none() {
            self.at = start;
        }
        found
    }

    fn comparison_parts(&mut self, core: Option<Core>) -> Option<What> {
        let kw = self.kw(self.at)?;
        self.at += 1;
        let op = match kw {
            Kw::Cmp(op) => op,
            Kw::MoreOf(dir) => {
                self.than()?;
                if dir == Dir::Most { Op::Gt } else { Op::Lt }
            }
            Kw::Between => {
                let from = self.at;
                let (mut low, mut high) = self.range()?;
                // Two years are a time, unless a figure is compared or a unit follows.
                let year =
                    |at: usize| self.chunk(at).and_then(|c| c.year).and_then(Span::year).map(Time::Span);
                if core.is_none()
                    && !matches!(self.kw(self.at), Some(Kw::Unit(_)))
                    && let (Some(a), Some(b)) = (year(from), year(self.at.saturating_sub(1)))
                {
                    (low, high) = (Bound::Time(a), Bound::Time(b));
                }
                if let (Bound::Time(a), Bound::Time(b)) = (low, high) {
                    if core.is_none() {
                        return Some(What::Time { op: TimeOp::Between, time: a, last: Some(b) });
                    }
                    return Some(What::Compare {
                        core,
                        adjective: None,
                        op: Op::Eq,
                        operand: Operand::Times(a, b),
                    });
                }
                let (Bound::Number(low), Bound::Number(high)) = (low, high) else { return None };
                let unit = self.unit();
                let operand = Operand::Range { low, high, unit };
                return Some(What::Compare { core, adjective: None, op: Op::Eq, operand });
            }
            _ => return None,
        };
        self.right_side(core, None, op)
    }

    fn than(&mut self) -> Option<()> {
        // `or equal to` is part of some phrases; a bare comparative needs its `than`.
        matches!(self.kw(self.at), Some(Kw::Than)).then(|| self.at += 1)
    }

    /// `longer than 5 minutes`, `costs more than 20`, `costing 0.99`.
    fn comparative(
        &mut self,
        core: Option<Core>,
        adjective: Option<(Dir, &'static Adjective)>,
    ) -> Option<What> {
        let start = self.at;
        self.at += 1;
        let (dir, name) = adjective?;
        let what = match self.kw(self.at) {
            Some(Kw::Than) => {
                self.at += 1;
                self.right_side(core, adjective, if dir == Dir::Most { Op::Gt } else { Op::Lt })
            }
            Some(Kw::Cmp(op)) => {
                self.at += 1;
                // `costs less than 5` compares the figure itself.
                self.right_side(core, Some((Dir::Most, name)), op)
            }
            Some(Kw::Between) => {
                self.at += 1;
                match self.range() {
                    Some((Bound::Number(low), Bound::Number(high))) => {
                        let unit = self.unit();
                        let operand = Operand::Range { low, high, unit };
                        Some(What::Compare { core, adjective, op: Op::Eq, operand })
                    }
                    _ => None,
                }
            }
            _ if self.chunk(self.at).is_some_and(|c| c.number.is_some()) => {
                self.right_side(core, Some((Dir::Most, name)), Op::Eq)
            }
            _ => None,
        };
        if what.is_none() {
            self.at = start;
            // `cost` as a noun: `how much does it cost`.
            if self.chunk(start).is_some_and(|c| {
                c.words.first().is_some_and(|w| w.starts_with("cost") || w.starts_with("price"))
            }) {
                self.state.hints.push("cost".into());
                self.at += 1;
            }
        }
        what
    }

    fn right_side(
        &mut self,
        core: Option<Core>,
        adjective: Option<(Dir, &'static Adjective)>,
        op: Op,
    ) -> Option<What> {
        while matches!(self.kw(self.at), Some(Kw::Skip))
            && !self.is_noun(self.at)
            && self.chunk(self.at).is_some_and(|c| c.number.is_none())
        {
            self.at += 1;
        }
        let chunk = self.chunk(self.at)?;
        if let Some(time) = chunk.time {
            self.at += 1;
            if core.is_none() && adjective.is_none() {
                let op = time_op(op)?;
                return Some(What::Time { op, time, last: None });
            }
            return Some(What::Compare { core, adjective, op, operand: Operand::Time(time) });
        }
        if let Some(Kw::Agg(agg)) = chunk.kw
            && !(self.is_noun(self.at) && !self.noun_next())
        {
            self.at += 1;
            let mut core = core;
            if self.is_noun(self.at) {
                let named = self.core();
                core = core.or(named);
            } else if self.chunk(self.at).is_some_and(|c| c.words == ["of"])
                && self.kw(self.at + 1) == Some(Kw::All)
            {
                self.at += 2;
                _ = self.core();
            }
            return Some(What::Compare { core, adjective, op, operand: Operand::Figure(agg) });
        }
        if let Some(value) = chunk.number.filter(|_| chunk.hits.is_empty()) {
            self.at += 1;
            let op = match (self.or_more(self.at), op) {
                (Some(more), Op::Eq) => {
                    self.at += 1;
                    more
                }
                _ => op,
            };
            let mut unit = self.unit();
            if adjective.is_some() && matches!(self.kw(self.at), Some(Kw::Part(_))) {
                // `older than 40 years`.
                unit = Some(self.at);
                self.at += 1;
                if self.chunk(self.at).is_some_and(|c| c.words == ["old"]) {
                    self.at += 1;
                }
            }
            while matches!(self.kw(self.at), Some(Kw::Distinct | Kw::Skip)) && !self.is_noun(self.at) {
                self.at += 1;
            }
            if self.chunk(self.at).is_some_and(|c| c.words == ["of"]) && unit.is_none() {
                self.at += 1;
            }
            if core.is_none() && self.is_noun(self.at) {
                let counted = self.core()?;
                return Some(What::Number { op, number: value, core: counted });
            }
            return Some(What::Compare { core, adjective, op, operand: Operand::Number { value, unit } });
        }
        if self.is_noun(self.at) {
            if chunk.quoted || (!chunk.hits.is_empty() && chunk.link.is_empty()) {
                self.at += 1;
                return Some(What::Compare { core, adjective, op, operand: Operand::Text(self.at - 1) });
            }
            let other = self.core()?;
            if let Some(c) = &core
                && c.parts == other.parts
            {
                return None;
            }
            return Some(What::Compare { core, adjective, op, operand: Operand::Column(other) });
        }
        None
    }

    fn noun_next(&self) -> bool {
        self.is_noun(self.at + 1)
    }

    /// `1 and 5`, `2010 and 2012`.
    fn range(&mut self) -> Option<(Bound, Bound)> {
        let low = self.bound()?;
        if matches!(self.kw(self.at), Some(Kw::Unit(_))) {
            self.at += 1;
        }
        let joined = matches!(self.kw(self.at), Some(Kw::And))
            || self
                .chunk(self.at)
                .is_some_and(|c| ["to", "-", "until", "till"].contains(&c.text.to_lowercase().as_str()));
        if !joined {
            return None;
        }
        self.at += 1;
        let high = self.bound()?;
        // Years are years on both sides.
        Some(match (low, high) {
            (Bound::Time(a), Bound::Number(_)) => (Bound::Time(a), Bound::Time(self.last_year()?)),
            (Bound::Number(_), Bound::Time(_)) => return None,
            both => both,
        })
    }

    fn last_year(&self) -> Option<Time> {
        let year = self.at.checked_sub(1).and_then(|a| self.chunk(a)).and_then(|c| c.year)?;
        Span::year(year).map(Time::Span)
    }

    fn bound(&mut self) -> Option<Bound> {
        while matches!(self.kw(self.at), Some(Kw::Skip))
            && self.chunk(self.at).is_some_and(|c| c.number.is_none())
        {
            self.at += 1;
        }
        let chunk = self.chunk(self.at)?;
        self.at += 1;
        if let Some(time) = chunk.time {
            return Some(Bound::Time(time));
        }
        chunk.number.map(Bound::Number)
    }

    /// `with love in the title`: a text inside a column.
    fn inside_text(&mut self, here: usize) -> bool {
        let with = matches!(self.kw(here.wrapping_sub(1)), Some(Kw::Have | Kw::Contains));
        let text = self.chunk(here).is_some_and(|c| {
            c.quoted || (c.kw.is_none() && c.link.score() < super::super::chunk_full() && c.number.is_none())
        });
        if !with || !text || !self.chunk(here + 1).is_some_and(|c| c.words == ["in"]) {
            return false;
        }
        let start = self.at;
        self.at = here + 2;
        while matches!(self.kw(self.at), Some(Kw::Skip | Kw::Their)) && !self.is_noun(self.at) {
            self.at += 1;
        }
        let column = self.chunk(self.at).is_some_and(|c| c.link.column_score() > c.link.table_score());
        let core = if column { self.core() } else { None };
        match core {
            Some(core) if core.parts.len() == 1 => {
                self.state.have = false;
                self.push(What::Like { core: Some(core), place: Place::Anywhere, chunk: here });
                true
            }
            _ => {
                self.at = start;
                false
            }
        }
    }

    /// A number and a noun: `3 albums`, `5 or more tracks`.
    fn number_and_noun(&mut self) -> bool {
        let here = self.at;
        let Some(number) = self.chunk(here).and_then(|c| c.number) else { return false };
        if let Some(op) = self.or_more(here + 1) {
            self.at = here + 2;
            let unit = self.unit();
            while matches!(self.kw(self.at), Some(Kw::Skip | Kw::Distinct)) && !self.is_noun(self.at) {
                self.at += 1;
            }
            if unit.is_none()
                && let Some(core) = self.core()
            {
                self.push(What::Number { op, number, core });
            } else {
                self.push(What::Compare {
                    core: None,
                    adjective: None,
                    op,
                    operand: Operand::Number { value: number, unit },
                });
            }
            return true;
        }
        if self.state.have && self.is_noun(here + 1) {
            self.at = here + 1;
            if let Some(core) = self.core() {
                self.push(What::Number { op: Op::Eq, number, core });
                return true;
            }
            self.at = here;
        }
        false
    }

    /// `more tracks`, `more in Rock`: which of two has more.
    fn more(&mut self, kw: Kw) {
        self.at += 1;
        let dir = if kw == Kw::More { Dir::Most } else { Dir::Least };
        self.out.ask = Ask::Versus;
        let core = self.core();
        if matches!(self.kw(self.at), Some(Kw::Than)) {
            self.at += 1;
        }
        self.push(What::Rank {
            rank: Rank { dir, by: RankBy::Named, limit: None, place: None, total: true },
            core,
        });
    }

    fn rank(&mut self, kw: Kw) {
        let here = self.at;
        let (dir, by) = match kw {
            Kw::Most => (Dir::Most, RankBy::Named),
            Kw::Fewest => (Dir::Least, RankBy::Named),
            _ => {
                if let Some(core) = self.core() {
                    return self.noun(core);
                }
                self.at = here;
                match kw {
                    Kw::Superl(dir, adjective) => (dir, RankBy::Adjective(adjective)),
                    Kw::BestSelling(dir) => (dir, RankBy::Sold),
                    Kw::Common(dir) => (dir, RankBy::Frequency),
                    Kw::Extreme(dir) => (dir, RankBy::Named),
                    // `… last`, `… first` at the end of a sentence: in time.
                    Kw::First => (Dir::Least, RankBy::Time),
                    Kw::Last => (Dir::Most, RankBy::Time),
                    _ => return,
                }
            }
        };
        self.at += 1;
        let core = self.core();
        self.push(What::Rank { rank: Rank { dir, by, limit: None, place: None, total: true }, core });
    }

    fn order(&mut self) {
        self.at += 1;
        while self.chunk(self.at).is_some_and(|c| {
            matches!(c.kw, Some(Kw::Skip | Kw::By | Kw::Their)) || c.words == ["in"] || c.words == ["of"]
        }) && !self.is_noun(self.at)
        {
            self.at += 1;
        }
        if matches!(self.kw(self.at), Some(Kw::CountOf)) && !self.is_noun(self.at + 1) {
            // `sorted by the count`: by the figure that is shown.
            self.at += 1;
            return self.push(What::Order { core: None, adjective: None, descending: None });
        }
        if let Some(kw @ (Kw::Desc | Kw::Asc | Kw::Alphabetical)) = self.kw(self.at) {
            self.at += 1;
            let after = self.at;
            if self.chunk(after).is_some_and(|c| c.words == ["of"] || matches!(c.kw, Some(Kw::By))) {
                self.at += 1;
            }
            let core = self.core();
            if core.is_none() {
                self.at = after;
            }
            let descending = (kw != Kw::Alphabetical || core.is_none()).then_some(kw == Kw::Desc);
            return self.push(What::Order { core, adjective: None, descending });
        }
        let core = self.core();
        self.push(What::Order { core, adjective: None, descending: None });
    }

    /// A direction of its own: it belongs to the order before it.
    fn direction(&mut self, kw: Kw) {
        let core = if self.chunk(self.at).is_some_and(|c| c.words == ["of"] || matches!(c.kw, Some(Kw::By))) {
            self.at += 1;
            self.core()
        } else if matches!(self.kw(self.at), Some(Kw::Skip)) || self.is_noun(self.at) {
            self.core()
        } else {
            None
        };
        if core.is_none()
            && let Some(What::Order { descending, .. }) = self.out.items.last_mut().map(|i| &mut i.what)
        {
            *descending = Some(kw == Kw::Desc);
            return;
        }
        self.push(What::Order { core, adjective: None, descending: Some(kw == Kw::Desc) });
    }

    fn like(&mut self, core: Option<Core>, kw: Kw) {
        if let Some(what) = self.like_what(core, kw) {
            self.push(what);
        }
    }

    fn like_what(&mut self, core: Option<Core>, kw: Kw) -> Option<What> {
        let place = match kw {
            Kw::Starts => Place::Start,
            Kw::Ends => Place::End,
            _ => Place::Anywhere,
        };
        let mut at = self.at + 1;
        // `a` in `starts with a` is the text, not an article, where nothing follows it.
        while matches!(self.kw(at), Some(Kw::Skip))
            && self.chunk(at + 1).is_some_and(|c| !c.symbol && c.kw != Some(Kw::Prep))
        {
            at += 1;
        }
        let chunk = self.chunk(at)?;
        if chunk.symbol {
            return None;
        }
        self.at = at + 1;
        Some(What::Like { core, place, chunk: at })
    }

    /// Whether a number is a year here: a word of time stands before it, and nothing makes it a count.
    fn reads_as_year(&self, at: usize) -> bool {
        let next_is_counted = matches!(self.kw(at + 1), Some(Kw::Unit(_)))
            || (self.is_noun(at + 1)
                && self.chunk(at + 1).is_some_and(|c| c.link.table_score() == 0 && c.hits.is_empty()));
        if next_is_counted {
            return false;
        }
        let words = [
            "in",
            "during",
            "since",
            "before",
            "after",
            "from",
            "until",
            "till",
            "of",
            "for",
            "by",
            "within",
            "through",
            "prior to",
            "later than",
            "earlier than",
            "up until",
            "between",
            "throughout",
            "to",
            "year",
            "on",
        ];
        let time_word = words.contains(&self.state.rel.as_str());
        let behind_year =
            at.checked_sub(1).and_then(|a| self.chunk(a)).is_some_and(|c| matches!(c.kw, Some(Kw::Part(_))));
        let joined = (self.state.or || self.state.and)
            && matches!(self.out.items.last().map(|i| &i.what), Some(What::Time { .. }));
        time_word || behind_year || joined || self.out.items.is_empty() && self.out.heads.is_empty()
    }

    fn time(&mut self, time: Time) {
        let op = match self.state.rel.as_str() {
            "before" | "prior to" | "earlier than" => TimeOp::Before,
            "until" | "till" | "up until" | "up to" => TimeOp::Until,
            "after" | "later than" => TimeOp::After,
            "since" | "starting from" => TimeOp::Since,
            _ => TimeOp::Within,
        };
        // `from 2010 to 2012`.
        let to = self.chunk(self.at).is_some_and(|c| {
            ["to", "until", "till", "through", "-", "–"].contains(&c.phrase().as_str()) || c.text == "-"
        });
        if self.state.rel == "from" && to {
            let other = self.chunk(self.at + 1);
            let last = other.and_then(|c| c.time.or_else(|| c.year.and_then(Span::year).map(Time::Span)));
            if last.is_some() {
                self.at += 2;
                return self.push(What::Time { op: TimeOp::Between, time, last });
            }
        }
        let op = match (op, self.kw(self.at), self.state.rel.as_str()) {
            (TimeOp::Within, Some(Kw::OrMore), _) => {
                self.at += 1;
                TimeOp::Since
            }
            (op, _, _) => op,
        };
        self.push(What::Time { op, time, last: None });
    }
}

fn here_before(at: usize) -> Option<usize> {
    at.checked_sub(1)
}

#[derive(Debug, Clone, Copy)]
enum Bound {
    Number(f64),
    Time(Time),
}

fn time_op(op: Op) -> Option<TimeOp> {
    Some(match op {
        Op::Lt => TimeOp::Before,
        Op::Le => TimeOp::Until,
        Op::Gt => TimeOp::After,
        Op::Ge => TimeOp::Since,
        Op::Eq => TimeOp::Within,
        Op::Ne => return None,
    })
}

//! Comparisons: what is over, under, between, before and after what.

use super::super::keywords::{Adjective, Dir, Kw};
use super::super::phrase::{Core, Operand, TimeOp, What};
use super::super::time::{Span, Time};
use super::Parser;
use crate::plan::Op;

impl Parser<'_> {
    /// The comparison that follows a noun directly: `price over 5`, `status is 'open'`.
    pub(in crate::intent::grammar) fn compared(&mut self, core: &Core) -> Option<What> {
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
                // `does not contain`.
                Kw::Aux if matches!(self.kw(self.at + 1), Some(Kw::Not)) => {}
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
            Some(Kw::Have)
                if column
                    && self.chunk(self.at).is_some_and(|c| {
                        c.words.iter().any(|w| w.starts_with("contain") || w.starts_with("includ"))
                    })
                    && self
                        .chunk(self.at + 1)
                        .is_some_and(|c| c.quoted || c.link.score() < super::super::chunk_full()) =>
            {
                self.state.neg = neg;
                return self.like_what(Some(core.clone()), Kw::Contains);
            }
            Some(kw @ (Kw::Starts | Kw::Ends | Kw::Contains)) if column => {
                self.state.neg = neg;
                return self.like_what(Some(core.clone()), kw);
            }
            _ => {}
        }
        let chunk = self.chunk(self.at)?;
        // `the company of customer 1`: the number says which customer.
        let owned = core.parts.first() > core.parts.last();
        let plain_number =
            chunk.number.is_some() && chunk.hits.is_empty() && !self.is_noun(self.at + 1) && !owned;
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

    pub(in crate::intent::grammar) fn is_table(&self, core: &Core) -> bool {
        core.head().and_then(|h| self.chunk(h)).is_some_and(|c| !c.link.tables.is_empty())
    }

    pub(in crate::intent::grammar) fn or_more(&self, at: usize) -> Option<Op> {
        match self.kw(at) {
            Some(Kw::OrMore) => Some(Op::Ge),
            Some(Kw::OrLess) => Some(Op::Le),
            _ => None,
        }
    }

    pub(in crate::intent::grammar) fn unit(&mut self) -> Option<usize> {
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
    pub(in crate::intent::grammar) fn comparison(&mut self, core: Option<Core>) -> Option<What> {
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
    pub(in crate::intent::grammar) fn comparative(
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
            && (!self.is_noun(self.at) || self.noun_next())
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

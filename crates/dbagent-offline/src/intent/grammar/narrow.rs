//! Superlatives, orders, texts and times behind the subject.

use super::super::keywords::{Dir, Kw};
use super::super::phrase::{Ask, Core, Operand, Rank, RankBy, TimeOp, What};
use super::super::time::{Span, Time};
use super::Parser;
use crate::plan::{Op, Place};

impl Parser<'_> {
    /// `with love in the title`: a text inside a column.
    pub(in crate::intent::grammar) fn inside_text(&mut self, here: usize) -> bool {
        let with = matches!(self.kw(here.wrapping_sub(1)), Some(Kw::Have | Kw::Contains));
        let text = self.chunk(here).is_some_and(|c| {
            c.quoted || (c.kw.is_none() && c.link.score() < super::super::chunk_full() && c.number.is_none())
        });
        if !with || !text || self.chunk(here + 1).is_none_or(|c| c.words != ["in"]) {
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
    pub(in crate::intent::grammar) fn number_and_noun(&mut self) -> bool {
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
    pub(in crate::intent::grammar) fn more(&mut self, kw: Kw) {
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

    pub(in crate::intent::grammar) fn rank(&mut self, kw: Kw) {
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

    pub(in crate::intent::grammar) fn order(&mut self) {
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
    pub(in crate::intent::grammar) fn direction(&mut self, kw: Kw) {
        let core = if self.chunk(self.at).is_some_and(|c| c.words == ["of"] || matches!(c.kw, Some(Kw::By))) {
            self.at += 1;
            self.core()
        } else if matches!(
            self.kw(self.at),
            Some(Kw::Skip | Kw::CountOf | Kw::HowMany | Kw::Agg(_) | Kw::Their)
        ) || self.is_noun(self.at)
        {
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

    pub(in crate::intent::grammar) fn like(&mut self, core: Option<Core>, kw: Kw) {
        if let Some(what) = self.like_what(core, kw) {
            self.push(what);
        }
    }

    pub(in crate::intent::grammar) fn like_what(&mut self, core: Option<Core>, kw: Kw) -> Option<What> {
        let place = match kw {
            Kw::Starts => Place::Start,
            Kw::Ends => Place::End,
            _ => Place::Anywhere,
        };
        let mut at = self.at + 1;
        // `a` in `starts with a` is the text, not an article, where nothing follows it.
        while matches!(self.kw(at), Some(Kw::Skip))
            && self.chunk(at + 1).is_some_and(|c| {
                !c.symbol && matches!(c.kw, None | Some(Kw::Verb | Kw::Figure(_) | Kw::Skip))
            })
        {
            at += 1;
        }
        // `contain the letter "a"`: the word only says what kind of text follows.
        let kinds = [
            "letter",
            "letters",
            "word",
            "words",
            "string",
            "substring",
            "text",
            "phrase",
            "character",
            "characters",
        ];
        let kind = self.chunk(at).is_some_and(|c| !c.quoted && kinds.contains(&c.phrase().as_str()));
        if kind && self.chunk(at + 1).is_some_and(|c| c.quoted || c.text.chars().count() == 1 && !c.symbol) {
            at += 1;
        }
        let chunk = self.chunk(at)?;
        // `starting with the oldest`: an order, and no text.
        let orders = matches!(
            chunk.kw,
            Some(
                Kw::Superl(..)
                    | Kw::Extreme(_)
                    | Kw::Most
                    | Kw::Fewest
                    | Kw::First
                    | Kw::Last
                    | Kw::Sort
                    | Kw::Asc
                    | Kw::Desc
                    | Kw::Alphabetical
            )
        );
        if chunk.symbol || (orders && !chunk.quoted) {
            return None;
        }
        self.at = at + 1;
        Some(What::Like { core, place, chunk: at })
    }

    /// Whether a number is a year here: a word of time stands before it, and nothing makes it a count.
    pub(in crate::intent::grammar) fn reads_as_year(&self, at: usize) -> bool {
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

    pub(in crate::intent::grammar) fn time(&mut self, time: Time) {
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

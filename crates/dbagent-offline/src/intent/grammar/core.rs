//! Nouns: what stands before them (all, each, the five longest, the average) and the chunks that name them.

use super::super::keywords::{Dir, Kw};
use super::super::phrase::{Core, Rank, RankBy};
use super::Parser;
use crate::plan::Agg;
use crate::words::ordinal;

impl Parser<'_> {
    /// A noun at the current place, if there is one.
    pub(super) fn core(&mut self) -> Option<Core> {
        let start = self.at;
        let mut core = Core::default();
        self.before_noun(&mut core);
        while self.is_noun(self.at)
            && (core.parts.is_empty() || !(self.spends(self.at) || self.acts(self.at)))
        {
            // `customers who …`: a noun ends where the next one has its own article.
            core.parts.push(self.at);
            self.at += 1;
            let ends = self.chunk(self.at).is_some_and(|c| c.number.is_some() && c.hits.is_empty());
            if ends {
                break;
            }
        }
        if core.parts.is_empty() && core.rank.is_none() && core.aggs.is_empty() {
            self.at = start;
            return None;
        }
        if core.parts.is_empty() && core.rank.is_none_or(|r| r.by == RankBy::Named) && !core.aggs.is_empty() {
            // `total` and its like stand alone only where nothing else does.
            self.at = start;
            return None;
        }
        Some(core)
    }

    /// `customers spent …`: a verb, though it says what is added up.
    pub(super) fn spends(&self, at: usize) -> bool {
        const VERBS: [&str; 7] = ["spent", "spend", "spends", "spending", "earned", "earn", "earns"];
        self.chunk(at)
            .is_some_and(|c| c.words.len() == 1 && c.words.iter().any(|w| VERBS.contains(&w.as_str())))
    }

    /// `physicians prescribe a drug`: behind those who do it, and before what it is done to, a word that is also
    /// the name of a table is a verb.
    pub(super) fn acts(&self, at: usize) -> bool {
        let verb = self.kw(at) == Some(Kw::Verb)
            && self.chunk(at).is_some_and(|c| c.words.len() == 1 && !c.text.ends_with('s') && !c.capital);
        let many = at.checked_sub(1).and_then(|b| self.chunk(b)).is_some_and(|c| {
            c.kw.is_none() && c.link.table_score() >= super::super::chunk_full() && c.text.ends_with('s')
        });
        let object = self.chunk(at + 1).is_some_and(|c| {
            let article = c.words.iter().any(|w| ["a", "an", "the", "any"].contains(&w.as_str()));
            article || c.number.is_some() || matches!(c.kw, Some(Kw::Prep | Kw::Cmp(_) | Kw::Not))
        });
        verb && many && object
    }

    fn before_noun(&mut self, core: &mut Core) {
        let mut place = None;
        loop {
            let here = self.at;
            let Some(chunk) = self.chunk(here) else { return };
            // What the schema names outright is a noun, unless a noun still follows it.
            if self.is_noun(here) && !self.noun_follows(here) {
                return;
            }
            match chunk.kw {
                Some(Kw::Skip) if !self.is_noun(here) => {}
                Some(Kw::All | Kw::Both) if !self.is_noun(here) => core.all = true,
                Some(Kw::Any) => core.any = true,
                Some(Kw::Their) => core.their = true,
                Some(Kw::Distinct) => core.distinct = true,
                Some(Kw::Each | Kw::Per) => core.each = true,
                Some(Kw::No) => core.no = true,
                Some(Kw::CountOf | Kw::HowMany) => core.aggs.push(Agg::Count),
                Some(Kw::Agg(agg)) => {
                    core.aggs.push(agg);
                    // `the minimum, average and maximum price`.
                    let mut next = here + 1;
                    while self.symbol(next, &[","]) || matches!(self.kw(next), Some(Kw::And)) {
                        next += 1;
                    }
                    if next > here + 1 && matches!(self.kw(next), Some(Kw::Agg(_))) {
                        self.at = next;
                        continue;
                    }
                    let of = self.chunk(here + 1).is_some_and(|c| c.words == ["of"]);
                    if of {
                        self.at += 1;
                    }
                }
                Some(Kw::Superl(dir, adjective)) => {
                    core.rank = Some(Rank {
                        dir,
                        by: RankBy::Adjective(adjective),
                        limit: core.rank.and_then(|r| r.limit).or(core.number.take()),
                        place,
                        total: false,
                    });
                }
                Some(Kw::Extreme(dir)) => {
                    core.rank = Some(Rank {
                        dir,
                        by: RankBy::Named,
                        limit: core.rank.and_then(|r| r.limit).or(core.number.take()),
                        place,
                        // `the largest number of credits`: all of them together.
                        total: chunk.words.iter().any(|w| w == "number"),
                    });
                }
                Some(Kw::BestSelling(dir)) => {
                    let limit = core.rank.and_then(|r| r.limit).or(core.number.take());
                    core.rank = Some(Rank { dir, by: RankBy::Sold, limit, place, total: false });
                }
                Some(Kw::Common(dir)) => {
                    let limit = core.rank.and_then(|r| r.limit).or(core.number.take());
                    core.rank = Some(Rank { dir, by: RankBy::Frequency, limit, place, total: false });
                }
                Some(Kw::Top | Kw::Bottom | Kw::First | Kw::Last) => {
                    if !self.ranks(core, here, place) {
                        return;
                    }
                }
                _ if chunk.number.is_some() && chunk.hits.is_empty() => {
                    let whole = chunk.number.filter(|n| n.fract() == 0.0 && *n >= 0.0 && *n < 1e9);
                    let before_noun = self.is_noun(here + 1)
                        || matches!(
                            self.kw(here + 1),
                            Some(
                                Kw::Superl(..)
                                    | Kw::BestSelling(_)
                                    | Kw::Common(_)
                                    | Kw::Distinct
                                    | Kw::Extreme(_)
                                    | Kw::Popular
                                    | Kw::Most
                            )
                        );
                    let Some(n) = whole.filter(|_| before_noun) else { return };
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "whole, not negative and under a billion, as checked above"
                    )]
                    let n = n as u64;
                    match &mut core.rank {
                        Some(rank) if rank.limit.is_none() => rank.limit = Some(n),
                        _ => core.number = Some(n),
                    }
                }
                _ => match chunk.words.as_slice() {
                    [word] if ordinal(word).is_some() && chunk.link.is_empty() && chunk.hits.is_empty() => {
                        let superlative = matches!(
                            self.kw(here + 1),
                            Some(
                                Kw::Superl(..)
                                    | Kw::Extreme(_)
                                    | Kw::Most
                                    | Kw::BestSelling(_)
                                    | Kw::Common(_)
                            )
                        );
                        if !superlative {
                            return;
                        }
                        place = ordinal(word);
                    }
                    _ => return,
                },
            }
            self.at += 1;
        }
    }

    /// Whether behind this chunk, over words that only narrow, a noun follows at once.
    fn noun_follows(&self, at: usize) -> bool {
        let narrows = matches!(
            self.kw(at),
            Some(
                Kw::Agg(_)
                    | Kw::Top
                    | Kw::Bottom
                    | Kw::First
                    | Kw::Last
                    | Kw::Superl(..)
                    | Kw::Extreme(_)
                    | Kw::CountOf
                    | Kw::Distinct
            )
        );
        let mut next = at + 1;
        while matches!(self.kw(next), Some(Kw::Skip | Kw::CountOf | Kw::Agg(_))) && !self.is_noun(next) {
            next += 1;
        }
        narrows && (self.is_noun(next) || self.chunk(next).is_some_and(|c| c.number.is_some()))
    }

    /// `top 5`, `the first three`, `last order`.
    fn ranks(&mut self, core: &mut Core, here: usize, place: Option<u64>) -> bool {
        let (dir, by) = match self.kw(here) {
            Some(Kw::Bottom) => (Dir::Least, RankBy::Named),
            Some(Kw::First) => (Dir::Least, RankBy::Time),
            Some(Kw::Last) => (Dir::Most, RankBy::Time),
            _ => (Dir::Most, RankBy::Named),
        };
        let number =
            self.chunk(here + 1).and_then(|c| c.number).filter(|n| n.fract() == 0.0 && *n >= 1.0 && *n < 1e9);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole, positive and under a billion, as checked above"
        )]
        let number = number.map(|n| n as u64);
        if number.is_some() {
            self.at += 1;
        } else if !(self.is_noun(here + 1)
            || matches!(
                self.kw(here + 1),
                Some(Kw::BestSelling(_) | Kw::Superl(..) | Kw::Skip | Kw::Common(_))
            ))
        {
            return false;
        }
        core.rank = Some(Rank { dir, by, limit: number.or(core.number.take()), place, total: false });
        true
    }
}

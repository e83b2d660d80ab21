//! The grammar: an opening that says what is asked for, nouns, and then everything that narrows, groups
//! and orders them. It reads from left to right and never goes back far; what it cannot place it keeps as
//! unknown, so that nothing of a question is dropped in silence.

mod compare;
mod core;
mod items;
mod narrow;

use super::chunk::{Chunk, Chunks};
use super::keywords::Kw;
use super::phrase::{Ask, Item, Sentence, What};

/// Puts the chunks of a question together.
pub(crate) fn parse(chunks: &Chunks) -> Sentence {
    let mut parser = Parser {
        chunks: &chunks.list,
        at: 0,
        out: Sentence {
            ask: Ask::List,
            which: false,
            heads: Vec::new(),
            items: Vec::new(),
            whole: false,
            hints: Vec::new(),
            verbs: Vec::new(),
            unknown: Vec::new(),
            beyond: None,
        },
        state: State::default(),
        inverted: false,
        unknown_at: None,
    };
    parser.opening();
    parser.items();
    parser.dangling();
    parser.out
}

/// What was read since the last noun.
#[derive(Debug, Clone, Default)]
struct State {
    rel: String,
    hints: Vec<String>,
    have: bool,
    neg: bool,
    and: bool,
    or: bool,
    but: bool,
    their: bool,
    distinct: bool,
    each: bool,
    predicate: bool,
    relative: bool,
}

struct Parser<'a> {
    chunks: &'a [Chunk],
    at: usize,
    out: Sentence,
    state: State,
    /// Whether an auxiliary verb stands before the noun it belongs to: `does X have`.
    inverted: bool,
    /// Where an unknown word would go on.
    unknown_at: Option<usize>,
}

impl<'a> Parser<'a> {
    fn chunk(&self, at: usize) -> Option<&'a Chunk> {
        self.chunks.get(at)
    }

    fn kw(&self, at: usize) -> Option<Kw> {
        self.chunk(at)?.kw
    }

    fn symbol(&self, at: usize, signs: &[&str]) -> bool {
        self.chunk(at).is_some_and(|c| c.symbol && signs.contains(&c.text.as_str()))
    }

    /// Whether a chunk can be part of a noun: it names something, and is not there for the grammar alone.
    fn is_noun(&self, at: usize) -> bool {
        let Some(c) = self.chunk(at) else { return false };
        if c.symbol || c.time.is_some() {
            return false;
        }
        match c.kw {
            None => c.is_mention(),
            Some(Kw::Figure(_) | Kw::Part(_)) => true,
            Some(kw) => {
                let named = c.link.score() >= super::chunk_full() || c.hits.iter().any(|h| h.exact);
                let grammar = matches!(
                    kw,
                    Kw::And
                        | Kw::Or
                        | Kw::Prep
                        | Kw::Skip
                        | Kw::Cop
                        | Kw::Aux
                        | Kw::Have
                        | Kw::By
                        | Kw::Each
                        | Kw::Not
                );
                named && (!grammar || (c.capital && at > 0))
            }
        }
    }

    /// Takes words that only make a question polite.
    fn skip_fill(&mut self) {
        while matches!(self.kw(self.at), Some(Kw::Skip | Kw::Cop | Kw::There)) && !self.is_noun(self.at) {
            self.at += 1;
        }
    }

    fn opening(&mut self) {
        let mut shown = false;
        loop {
            let fill = (matches!(self.kw(self.at), Some(Kw::Skip | Kw::And | Kw::But))
                || shown
                    && matches!(self.kw(self.at), Some(Kw::All))
                    && matches!(self.kw(self.at + 1), Some(Kw::Whole | Kw::Skip)))
                || self.symbol(self.at, &[",", ":", ".", "!"]);
            if matches!(self.kw(self.at), Some(Kw::Whole)) && !self.is_noun(self.at) {
                self.out.whole = true;
                self.at += 1;
                while matches!(self.kw(self.at), Some(Kw::Prep | Kw::Skip | Kw::All))
                    && !self.is_noun(self.at)
                {
                    self.at += 1;
                }
                continue;
            }
            let show = matches!(self.kw(self.at), Some(Kw::Show)) && (!self.is_noun(self.at) || self.at == 0);
            if !(fill || show) || self.at >= self.chunks.len() {
                break;
            }
            shown |= show;
            self.at += 1;
        }
        // `In which year …`, `to which country …`.
        let which = |at: usize| matches!(self.kw(at), Some(Kw::What | Kw::Which));
        if matches!(self.kw(self.at), Some(Kw::Prep)) && which(self.at + 1) {
            self.at += 1;
        }
        let joined = self.chunk(self.at).is_some_and(|c| c.words.last().is_some_and(|w| w == "which"));
        let Some(kw) = self.kw(self.at).map(|k| if k == Kw::That && joined { Kw::Which } else { k }) else {
            return self.heads();
        };
        match kw {
            Kw::HowMany | Kw::CountOf => self.ask(Ask::Count),
            Kw::HowMuch => self.ask(Ask::Sum),
            Kw::HowAdj(adjective) => self.ask(Ask::Measure(adjective)),
            Kw::Who => {
                self.out.which = true;
                self.ask(Ask::Who);
            }
            Kw::When => self.ask(Ask::When),
            Kw::Where => self.ask(Ask::Where),
            Kw::Exists => self.ask(Ask::Exists),
            Kw::Share => self.share(),
            Kw::Cop | Kw::Aux if !shown => self.ask(Ask::Exists),
            Kw::Have if !shown && !self.is_noun(self.at) => self.ask(Ask::Exists),
            Kw::What | Kw::Which => {
                self.at += 1;
                // `which countries` asks for different ones; `what are the countries of …` lists them.
                self.out.which = !matches!(self.kw(self.at), Some(Kw::Cop));
                self.skip_fill();
                if matches!(self.kw(self.at), Some(Kw::All))
                    && matches!(self.kw(self.at + 1), Some(Kw::Whole | Kw::Skip))
                {
                    self.at += 1;
                    self.skip_fill();
                }
                if matches!(self.kw(self.at), Some(Kw::Whole)) && !self.is_noun(self.at) {
                    self.out.whole = true;
                    self.at += 1;
                    while matches!(self.kw(self.at), Some(Kw::Prep | Kw::Skip | Kw::All))
                        && !self.is_noun(self.at)
                    {
                        self.at += 1;
                    }
                }
                match self.kw(self.at) {
                    Some(Kw::CountOf) => self.ask(Ask::Count),
                    Some(Kw::Share) => self.share(),
                    _ => self.heads(),
                }
            }
            _ => self.heads(),
        }
    }

    fn ask(&mut self, ask: Ask) {
        self.out.ask = ask;
        self.at += 1;
        if ask == Ask::Exists && matches!(self.kw(self.at), Some(Kw::More)) {
            return;
        }
        if matches!(ask, Ask::Count | Ask::Sum)
            && matches!(self.kw(self.at), Some(Kw::Prep))
            && !self.is_noun(self.at)
        {
            self.at += 1;
        }
        if matches!(ask, Ask::Who | Ask::When | Ask::Where | Ask::Measure(_)) {
            // `Who has …`, `When did …` go on without a noun of their own.
            while matches!(self.kw(self.at), Some(Kw::Skip | Kw::Cop | Kw::Aux)) && !self.is_noun(self.at) {
                self.inverted |= matches!(self.kw(self.at), Some(Kw::Aux));
                self.at += 1;
            }
        }
        self.heads();
    }

    fn share(&mut self) {
        self.out.ask = Ask::Share;
        self.at += 1;
        while matches!(self.kw(self.at), Some(Kw::Prep | Kw::Skip)) && !self.is_noun(self.at) {
            self.at += 1;
        }
        if let Some(core) = self.core() {
            self.out.heads.push(core);
        }
    }

    /// The nouns that are asked for.
    fn heads(&mut self) {
        // `Who spent …`: the verb is no noun that is asked for.
        let verb = self.spends(self.at);
        if verb && self.out.ask == Ask::Who {
            return;
        }
        while let Some(core) = self.core() {
            self.out.heads.push(core);
            let joined = self.symbol(self.at, &[","]) || matches!(self.kw(self.at), Some(Kw::And));
            if !joined {
                break;
            }
            let mut next = self.at;
            while self.symbol(next, &[","])
                || matches!(self.kw(next), Some(Kw::And | Kw::Skip | Kw::All | Kw::Both))
            {
                next += 1;
            }
            let value_only = self.chunk(next).is_some_and(|c| c.link.is_empty() && c.kw.is_none());
            let begins = self.is_noun(next)
                || matches!(
                    self.kw(next),
                    Some(Kw::Agg(_) | Kw::CountOf | Kw::Their | Kw::HowMany | Kw::Distinct | Kw::Extreme(_))
                );
            if !begins || value_only {
                break;
            }
            self.at = next;
            if let Some(c) = self.chunk(self.at)
                && matches!(c.kw, Some(Kw::Their))
            {
                break;
            }
        }
    }

    /// A verb without an object at the end: `were sold`, `not assigned`. Where nothing else says what it is
    /// about, the verb itself must.
    pub(super) fn dangling(&mut self) {
        // `Which countries do customers come from?` has its noun before the verb.
        let asks_more = matches!(self.out.ask, Ask::When | Ask::Where | Ask::Measure(_) | Ask::Exists);
        let verb = self.state.hints.iter().any(|h| self.out.hints.contains(h));
        let said = self.out.items.iter().any(|i| !matches!(i.what, What::Noun(_)) || i.rel.is_empty());
        if self.state.neg || (verb && !self.inverted && !asks_more && !said) {
            let verb = self.state.hints.iter().rfind(|h| self.out.hints.contains(h)).cloned();
            match verb {
                Some(verb) => self.push(What::Verb(verb)),
                None if self.state.neg => self.out.unknown.push("not".to_owned()),
                None => {}
            }
        }
    }

    /// `that were never ordered and cost more than 5`: what the first verb says ends where the next one
    /// begins, and is no part of it.
    fn verb_alone(&mut self) {
        let verb = self.state.hints.last().filter(|h| self.out.hints.contains(h)).cloned();
        let Some(verb) = verb else { return };
        let mut next = self.at + 1;
        while matches!(self.kw(next), Some(Kw::Skip | Kw::Not)) {
            next += 1;
        }
        let another = matches!(self.kw(next), Some(Kw::Verb)) && self.state.neg;
        let clause = matches!(
            self.kw(next),
            Some(
                Kw::Cop | Kw::Aux | Kw::Have | Kw::Without | Kw::Comparative(..) | Kw::MoreOf(_) | Kw::Cmp(_)
            )
        );
        if clause || another {
            self.push(What::Verb(verb));
        }
    }

    fn push(&mut self, what: What) {
        let at = self.at;
        let state = std::mem::take(&mut self.state);
        self.out.items.push(Item {
            what,
            rel: state.rel,
            hints: state.hints,
            have: state.have,
            neg: state.neg,
            and: state.and,
            or: state.or,
            but: state.but,
            their: state.their,
            predicate: state.predicate,
            relative: state.relative,
            at,
        });
        // A sentence's own verb stays said.
        self.state.predicate = state.predicate;
    }
}

#[cfg(test)]
mod tests;

//! Whose names are visible where.

use sqlparser::ast::Ident;

use crate::options::Folding;

/// What a statement can see at one place.
#[derive(Debug, Default)]
pub(super) struct Scope {
    frames: Vec<Frame>,
    /// Common table expressions, the innermost last.
    ctes: Vec<Cte>,
    /// Names of those that a WITH RECURSIVE defines further on, and that the ones before may read.
    coming: Vec<Word>,
    ids: usize,
}

/// A common table expression.
#[derive(Debug)]
struct Cte {
    name: Word,
    /// How many parts it has with everything that it reads written out.
    parts: usize,
    /// Whether it was read before: the first to read it needs no copy.
    was_read: bool,
}

/// What a bare name is, as far as common table expressions go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) matched: CteMatch,
    /// The parts of what it names, written out.
    pub(super) parts: usize,
    /// Those of them that are a copy.
    pub(super) copied: usize,
}

impl Read {
    /// No common table expression is read.
    pub(super) const fn none(matched: CteMatch) -> Self {
        Self { matched, parts: 0, copied: 0 }
    }
}

/// What one SELECT reads from.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// Differs for every set of sources, so that the same name in the same scope is noted once.
    id: usize,
    sources: Vec<Source>,
    /// Names that are no columns: parameters of a lambda.
    locals: Vec<Word>,
    /// Names of output columns, which ORDER BY sees first.
    outputs: Vec<String>,
}

/// One thing to read from.
#[derive(Debug, Clone, Default)]
pub(super) struct Source {
    /// Its alias, or its name where it has none.
    pub(super) name: Option<Word>,
    /// The name behind an alias.
    pub(super) behind: Option<Word>,
    /// The namespace that it is written with.
    pub(super) namespace: Option<String>,
    /// The objects that its columns may come from; none for a derived table.
    pub(super) objects: Vec<usize>,
}

/// A name as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) value: String,
    pub(super) quoted: bool,
}

impl From<&Ident> for Word {
    fn from(ident: &Ident) -> Self {
        Self { value: ident.value.clone(), quoted: ident.quote_style.is_some() }
    }
}

/// Whether a name is a common table expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CteMatch {
    /// It is none.
    No,
    /// One engine says so, another does not: it counts as both.
    Perhaps,
    /// It is one.
    Yes,
}

impl Word {
    fn folds_to(&self, other: &Word) -> bool {
        self.value.eq_ignore_ascii_case(&other.value)
            || (!self.value.is_ascii() && self.value.to_lowercase() == other.value.to_lowercase())
    }

    fn is_cte(&self, cte: &Word, folding: Folding) -> CteMatch {
        let equal = self.value == cte.value;
        let certain = match folding {
            Folding::Sensitive => equal,
            Folding::Bare if self.quoted && cte.quoted => equal,
            Folding::Bare => !self.quoted && !cte.quoted && self.value.eq_ignore_ascii_case(&cte.value),
            Folding::All => self.value.eq_ignore_ascii_case(&cte.value),
        };
        if certain {
            CteMatch::Yes
        } else if self.folds_to(cte) {
            CteMatch::Perhaps
        } else {
            CteMatch::No
        }
    }
}

impl Frame {
    /// Adds what another frame sees.
    pub(super) fn absorb(&mut self, other: Frame) {
        self.sources.extend(other.sources);
        self.outputs.extend(other.outputs);
    }
}

impl Scope {
    /// Opens a frame.
    pub(super) fn push_frame(&mut self) {
        self.ids += 1;
        self.frames.push(Frame { id: self.ids, ..Frame::default() });
    }

    /// Puts a frame back.
    pub(super) fn restore(&mut self, frame: Frame) {
        self.frames.push(frame);
    }

    /// Closes the innermost frame.
    pub(super) fn pop_frame(&mut self) -> Frame {
        self.frames.pop().unwrap_or_default()
    }

    /// Adds a source to the innermost frame.
    pub(super) fn add(&mut self, source: Source) {
        self.ids += 1;
        let id = self.ids;
        if let Some(frame) = self.frames.last_mut() {
            frame.id = id;
            frame.sources.push(source);
        }
    }

    /// Adds a local name to the innermost frame.
    pub(super) fn add_local(&mut self, name: Word) {
        self.ids += 1;
        let id = self.ids;
        if let Some(frame) = self.frames.last_mut() {
            frame.id = id;
            frame.locals.push(name);
        }
    }

    /// Adds the name of an output column to the innermost frame.
    pub(super) fn add_output(&mut self, name: &str) {
        if let Some(frame) = self.frames.last_mut() {
            frame.outputs.push(name.to_owned());
        }
    }

    /// Opens a frame that was changed meanwhile.
    pub(super) fn reopen(&mut self, frame: Frame) {
        self.ids += 1;
        self.frames.push(Frame { id: self.ids, ..frame });
    }

    /// What tells this scope from others.
    pub(super) fn id(&self) -> usize {
        self.frames.last().map_or(0, |f| f.id)
    }

    /// How many sources the innermost frame has.
    pub(super) fn sources(&self) -> usize {
        self.frames.last().map_or(0, |f| f.sources.len())
    }

    /// Whether the innermost frame names an output column so.
    pub(super) fn is_output(&self, name: &str) -> bool {
        self.frames.last().is_some_and(|f| f.outputs.iter().any(|o| o.eq_ignore_ascii_case(name)))
    }

    /// Whether a bare name is a local one.
    pub(super) fn is_local(&self, name: &Ident) -> bool {
        let name = Word::from(name);
        self.frames.iter().any(|f| f.locals.iter().any(|l| l.folds_to(&name)))
    }

    /// Every object that a bare name may be a column of.
    pub(super) fn everything(&self) -> Vec<usize> {
        sorted(self.frames.iter().flat_map(|f| &f.sources).flat_map(|s| &s.objects).copied().collect())
    }

    /// The objects of the sources of the innermost frame, from `first` on.
    pub(super) fn since(&self, first: usize) -> Vec<usize> {
        let sources = self.frames.last().map_or(&[][..], |f| f.sources.get(first..).unwrap_or_default());
        sorted(sources.iter().flat_map(|s| &s.objects).copied().collect())
    }

    /// The objects of the sources of that name in the innermost frame, from `first` on.
    pub(super) fn called_since(&self, first: usize, name: &Ident) -> Vec<usize> {
        let name = Word::from(name);
        let sources = self.frames.last().map_or(&[][..], |f| f.sources.get(first..).unwrap_or_default());
        let called = sources.iter().filter(|s| s.name.as_ref().is_some_and(|n| n.folds_to(&name)));
        sorted(called.flat_map(|s| &s.objects).copied().collect())
    }

    /// The sources of that name: those of the innermost frame that has one spelt exactly so, and those that
    /// differ in case alone and stand further in. `None` where there is none.
    pub(super) fn called(&self, name: &Ident, namespace: Option<&Ident>) -> Option<Vec<usize>> {
        let name = Word::from(name);
        let mut found: Option<Vec<usize>> = None;
        for frame in self.frames.iter().rev() {
            let mut exact = false;
            for source in &frame.sources {
                let own = source.name.as_ref().filter(|n| n.folds_to(&name));
                let fits = match namespace {
                    None => own.is_some(),
                    Some(wanted) => {
                        let behind = source.behind.as_ref().filter(|n| n.folds_to(&name));
                        let space = source.namespace.as_deref();
                        own.or(behind).is_some()
                            && space.is_none_or(|s| s.eq_ignore_ascii_case(&wanted.value))
                    }
                };
                if fits {
                    exact |= own.is_some_and(|n| n.value == name.value);
                    found.get_or_insert_default().extend(&source.objects);
                }
            }
            if exact {
                break;
            }
        }
        found.map(sorted)
    }

    /// Makes a common table expression visible, of so many parts.
    pub(super) fn add_cte(&mut self, name: &Ident, parts: usize) {
        self.ctes.push(Cte { name: Word::from(name), parts, was_read: false });
    }

    /// Says how many parts the innermost common table expression turned out to have.
    pub(super) fn size_cte(&mut self, parts: usize) {
        if let Some(cte) = self.ctes.last_mut() {
            // What it reads of itself is read in turns, and never copied.
            (cte.parts, cte.was_read) = (parts, false);
        }
    }

    /// Says which common table expressions come, in reverse order, and returns how many were said before.
    pub(super) fn announce<'n>(&mut self, names: impl Iterator<Item = &'n Ident>) -> usize {
        let before = self.coming.len();
        self.coming.extend(names.map(Word::from));
        before
    }

    /// The next of those that come is there.
    pub(super) fn arrived(&mut self) {
        self.coming.pop();
    }

    /// Whether a bare name is that of a common table expression that comes further on.
    pub(super) fn comes(&self, name: &Ident, folding: Folding) -> bool {
        let name = Word::from(name);
        self.coming.iter().any(|cte| name.is_cte(cte, folding) != CteMatch::No)
    }

    /// How many common table expressions are visible.
    pub(super) fn ctes(&self) -> usize {
        self.ctes.len()
    }

    /// Forgets those after the first `count`.
    pub(super) fn forget_ctes(&mut self, count: usize) {
        self.ctes.truncate(count);
    }

    /// Reads a bare name: whether it is a common table expression, and of how many parts it is then at most.
    pub(super) fn read_cte(&mut self, name: &Ident, folding: Folding) -> Read {
        let name = Word::from(name);
        let mut read = Read::none(CteMatch::No);
        for cte in self.ctes.iter_mut().rev() {
            let matched = name.is_cte(&cte.name, folding);
            if matched == CteMatch::No {
                continue;
            }
            read.matched = matched;
            read.parts = read.parts.max(cte.parts);
            read.copied = read.copied.max(if cte.was_read { cte.parts } else { 0 });
            cte.was_read = true;
            if matched == CteMatch::Yes {
                break;
            }
        }
        read
    }
}

fn sorted(mut objects: Vec<usize>) -> Vec<usize> {
    objects.sort_unstable();
    objects.dedup();
    objects
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cte(written: (&str, bool), defined: (&str, bool), folding: Folding) -> CteMatch {
        let ident = |(value, quoted): (&str, bool)| {
            if quoted { Ident::with_quote('"', value) } else { Ident::new(value) }
        };
        let mut scope = Scope::default();
        scope.add_cte(&ident(defined), 1);
        scope.read_cte(&ident(written), folding).matched
    }

    #[test]
    fn what_one_engine_doubts_counts_as_both() {
        use CteMatch::{No, Perhaps, Yes};
        use Folding::{All, Bare, Sensitive};
        for (written, defined, folding, expected) in [
            (("a", false), ("a", false), Sensitive, Yes),
            (("A", false), ("a", false), Sensitive, Perhaps),
            (("b", false), ("a", false), Sensitive, No),
            (("A", false), ("a", false), Bare, Yes),
            (("a", true), ("a", true), Bare, Yes),
            (("a", true), ("a", false), Bare, Perhaps),
            (("A", true), ("a", true), Bare, Perhaps),
            (("A", true), ("a", false), All, Yes),
            (("Ä", false), ("ä", false), All, Perhaps),
        ] {
            assert_eq!(cte(written, defined, folding), expected, "{written:?} {defined:?} {folding:?}");
        }
    }
}

//! Which names mean which objects at a place of a statement.
//!
//! Postgres folds names before anyone sees them, so they compare byte by byte.

use std::collections::HashSet;

/// Where a walk stands: the tables and the common table expressions that are visible there.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Env {
    pub(super) scope: Option<usize>,
    pub(super) ctes: Option<usize>,
}

/// One item of a FROM clause.
#[derive(Debug, Clone, Default)]
pub(super) struct Source {
    /// The name by which columns are qualified.
    pub(super) name: Option<String>,
    /// Indexes of the objects behind it; none behind a sub-select.
    pub(super) objects: Vec<usize>,
    /// Whether it is a function, whose row may be one plain value.
    pub(super) is_function: bool,
}

impl Source {
    /// An item over objects.
    pub(super) fn of(name: String, objects: Vec<usize>) -> Self {
        Self { name: Some(name), objects, is_function: false }
    }

    /// An item whose columns were checked where they are defined.
    pub(super) fn derived(name: Option<String>) -> Self {
        Self { name, ..Self::default() }
    }
}

#[derive(Debug, Default)]
struct Scope {
    sources: Vec<Source>,
    parent: Option<usize>,
}

#[derive(Debug)]
struct Ctes {
    names: HashSet<String>,
    parent: Option<usize>,
}

/// All scopes of a statement. They outlive their part of the text, so that an [`Env`] is two numbers.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    scopes: Vec<Scope>,
    ctes: Vec<Ctes>,
}

impl Scopes {
    /// A scope inside `parent`.
    pub(super) fn open(&mut self, parent: Option<usize>) -> usize {
        self.scopes.push(Scope { sources: Vec::new(), parent });
        self.scopes.len() - 1
    }

    pub(super) fn add(&mut self, scope: usize, source: Source) {
        if let Some(scope) = self.scopes.get_mut(scope) {
            scope.sources.push(source);
        }
    }

    /// The objects of one scope alone.
    pub(super) fn own(&self, scope: Option<usize>) -> Vec<usize> {
        let objects = scope.and_then(|s| self.scopes.get(s)).into_iter().flat_map(|s| &s.sources);
        objects.flat_map(|s| s.objects.iter().copied()).collect()
    }

    /// Every object that a bare name at this place may belong to.
    pub(super) fn visible(&self, scope: Option<usize>) -> Vec<usize> {
        self.chain(scope).flat_map(|s| s.sources.iter().flat_map(|s| s.objects.iter().copied())).collect()
    }

    /// The objects behind a qualifier; `None` when nothing visible has that name.
    pub(super) fn named(&self, scope: Option<usize>, name: &str) -> Option<Vec<usize>> {
        let mut found = None;
        for source in self.chain(scope).flat_map(|s| &s.sources) {
            if source.name.as_deref() == Some(name) {
                found.get_or_insert_with(Vec::new).extend(source.objects.iter().copied());
            }
        }
        found
    }

    /// Whether a qualifier is, or may be, the result of a function.
    pub(super) fn is_function(&self, scope: Option<usize>, name: &str) -> bool {
        let sources = self.chain(scope).flat_map(|s| &s.sources);
        let mut named = sources.filter(|source| source.name.as_deref() == Some(name)).peekable();
        named.peek().is_none() || named.any(|source| source.is_function)
    }

    fn chain(&self, scope: Option<usize>) -> impl Iterator<Item = &Scope> {
        let mut next = scope;
        std::iter::from_fn(move || {
            let scope = self.scopes.get(next?)?;
            next = scope.parent;
            Some(scope)
        })
    }

    /// Makes these names common table expressions inside `parent`.
    pub(super) fn with(&mut self, names: impl Iterator<Item = String>, parent: Option<usize>) -> usize {
        self.ctes.push(Ctes { names: names.collect(), parent });
        self.ctes.len() - 1
    }

    /// Whether a bare name means a common table expression here.
    pub(super) fn is_cte(&self, ctes: Option<usize>, name: &str) -> bool {
        let mut next = ctes;
        while let Some(frame) = next.and_then(|i| self.ctes.get(i)) {
            if frame.names.contains(name) {
                return true;
            }
            next = frame.parent;
        }
        false
    }
}

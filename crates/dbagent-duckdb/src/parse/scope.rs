//! Which names mean which objects at a place of a statement.

/// One item of a FROM clause.
#[derive(Debug, Clone, Default)]
pub(super) struct Source {
    /// The name by which columns are qualified, without its schema.
    pub(super) name: Option<String>,
    /// The schema and catalog before it, outermost first.
    pub(super) path: Vec<String>,
    /// Indexes of the objects behind it; none behind a sub-select.
    pub(super) objects: Vec<usize>,
}

impl Source {
    /// An item whose columns were checked where they are defined.
    pub(super) fn derived(name: Option<&str>) -> Self {
        Self { name: name.map(str::to_owned), ..Self::default() }
    }
}

/// The scopes that are visible, the innermost last.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    scopes: Vec<Vec<Source>>,
    ctes: Vec<Vec<String>>,
}

fn same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

impl Scopes {
    pub(super) fn open(&mut self) {
        self.scopes.push(Vec::new());
    }

    pub(super) fn close(&mut self) {
        self.scopes.pop();
    }

    pub(super) fn add(&mut self, source: Source) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(source);
        }
    }

    /// How many items the innermost scope has.
    pub(super) fn len(&self) -> usize {
        self.scopes.last().map_or(0, Vec::len)
    }

    /// Takes away the items of the innermost scope from an index on.
    pub(super) fn split_off(&mut self, at: usize) -> Vec<Source> {
        self.scopes.last_mut().map(|s| s.split_off(at.min(s.len()))).unwrap_or_default()
    }

    /// Opens a frame for the names of common table expressions.
    pub(super) fn open_expressions(&mut self) {
        self.ctes.push(Vec::new());
    }

    pub(super) fn close_expressions(&mut self) {
        self.ctes.pop();
    }

    pub(super) fn add_expression(&mut self, name: &str) {
        if let Some(frame) = self.ctes.last_mut() {
            frame.push(name.to_owned());
        }
    }

    /// Whether a bare name is that of a common table expression here.
    pub(super) fn is_expression(&self, name: &str) -> bool {
        self.ctes.iter().flatten().any(|n| same(n, name))
    }

    /// The objects of the innermost scope.
    pub(super) fn own(&self) -> Vec<usize> {
        once(self.scopes.last().into_iter().flatten().flat_map(|s| s.objects.iter().copied()))
    }

    /// Every object that a bare name at this place may belong to.
    pub(super) fn visible(&self) -> Vec<usize> {
        once(self.scopes.iter().flatten().flat_map(|s| s.objects.iter().copied()))
    }

    /// The objects of the items that a qualifier may name, if there are such items.
    pub(super) fn named(&self, qualifier: &[&str]) -> Option<Vec<usize>> {
        let (name, path) = qualifier.split_last()?;
        let hit = |s: &&Source| {
            s.name.as_deref().is_some_and(|n| same(n, name))
                && path.iter().rev().zip(s.path.iter().rev()).all(|(a, b)| same(a, b))
                && (path.len() <= s.path.len() || s.path.is_empty())
        };
        let mut found = self.scopes.iter().flatten().filter(hit).peekable();
        found.peek()?;
        Some(once(found.flat_map(|s| s.objects.iter().copied())))
    }
}

/// Each index once, in order of appearance.
fn once(indexes: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut out = Vec::new();
    for index in indexes {
        if !out.contains(&index) {
            out.push(index);
        }
    }
    out
}

//! Names of objects and columns.

use dbagent_core::ObjectName as Name;
use dbagent_core::guard::Span;
use dbagent_core::{Effects, guard::Finding, guard::Rule};
use sqlparser::ast::{Ident, ObjectName, ObjectNamePart};

use super::scope::{CteMatch, Read, Source, Word};
use super::{Walk, clip};

impl Walk<'_> {
    /// Where an identifier is.
    pub(super) fn place(&self, ident: &Ident) -> Option<Span> {
        self.under.places.span(ident.span).or_else(|| self.search(&ident.value))
    }

    /// Where a name is, from its first part to its last.
    pub(super) fn place_of(&self, name: &ObjectName) -> Option<Span> {
        let mut idents = name.0.iter().filter_map(ObjectNamePart::as_ident);
        let first = self.place(idents.next()?)?;
        let last = idents.next_back().and_then(|i| self.place(i)).unwrap_or(first);
        Some(Span::new(first.start, last.end.max(first.end)))
    }

    /// Finds a word whose place sqlparser does not keep.
    fn search(&self, word: &str) -> Option<Span> {
        let text = self.under.text;
        let is_name = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        text.match_indices(word).map(|(at, _)| Span::new(at, at + word.len())).find(|span| {
            !is_name(text.get(..span.start).and_then(|t| t.chars().next_back()))
                && !is_name(text.get(span.end..).and_then(|t| t.chars().next()))
        })
    }

    /// The parts of a name; `None`, with an objection, where a part is computed.
    pub(super) fn idents<'n>(&mut self, name: &'n ObjectName) -> Option<Vec<&'n Ident>> {
        let mut idents = Vec::with_capacity(name.0.len());
        for part in &name.0 {
            match part {
                ObjectNamePart::Identifier(ident) => idents.push(ident),
                ObjectNamePart::Function(function) => {
                    self.unknown("a name that is computed", self.place(&function.name));
                    for arg in &function.args {
                        self.function_arg(arg, false);
                    }
                    return None;
                }
            }
        }
        Some(idents)
    }

    /// The name of an object as the core writes it.
    fn plain(&mut self, name: &ObjectName) -> Option<Name> {
        let span = self.place_of(name);
        let idents = self.idents(name)?;
        if idents.iter().any(|i| i.quote_style == Some('\'')) {
            self.finding(
                Finding::new(Rule::UnknownSyntax, "an object named by a string may be a file", span)
                    .advice("Name the table without quotes, or in those for identifiers."),
            );
            self.effect(Effects::UNKNOWN);
        }
        if idents.iter().any(|i| i.quote_style.is_none() && i.value.starts_with('@')) {
            self.unknown("a variable or a stage in the place of a table", span);
        }
        if idents.len() > self.grammar().most_name_parts() {
            self.finding(Finding::new(
                Rule::UnknownSyntax,
                format!("the name {} has more parts than a schema and an object", clip(&name.to_string())),
                span,
            ));
        }
        let (last, spaces) = idents.split_last()?;
        if spaces.is_empty() {
            return Some(Name::new(&*last.value));
        }
        let spaces: Vec<_> = spaces.iter().map(|i| i.value.as_str()).collect();
        Some(Name::within(spaces.join("."), &*last.value))
    }

    /// Notes an object by its name, never a common table expression.
    pub(super) fn named_object(&mut self, name: &ObjectName, written: bool) -> Option<usize> {
        let span = self.place_of(name);
        let plain = self.plain(name)?;
        Some(self.object(plain, written, span))
    }

    /// Notes what a name in FROM reads, and says what it is for the scope.
    pub(super) fn source(&mut self, name: &ObjectName) -> Source {
        let mut source = Source::default();
        let folding = self.grammar().how_names_fold();
        let read = match name.0.as_slice() {
            [ObjectNamePart::Identifier(_)] if std::mem::take(&mut self.changing) => {
                Read::none(CteMatch::Perhaps)
            }
            [ObjectNamePart::Identifier(ident)] => self.scope.read_cte(ident, folding),
            _ => Read::none(CteMatch::No),
        };
        self.written_out_by(read, name);
        if let [ObjectNamePart::Identifier(ident)] = name.0.as_slice()
            && read.matched != CteMatch::Yes
            && self.scope.comes(ident, folding)
        {
            self.ahead(name);
        }
        if read.matched != CteMatch::Yes {
            source.objects.extend(self.named_object(name, false));
        }
        let path: Vec<_> = name.0.iter().filter_map(ObjectNamePart::as_ident).collect();
        if let [first, _, ..] = path.as_slice()
            && self.scope.called(first, None).is_some()
        {
            // `FROM users u, u.tags` reads a column of its neighbour on BigQuery and its like.
            self.column_path(&path);
        }
        let mut idents = path.into_iter().rev();
        source.name = idents.next().map(Word::from);
        source.behind.clone_from(&source.name);
        source.namespace = idents.next().map(|i| i.value.clone());
        source
    }

    /// Notes a column by the parts of its name.
    ///
    /// Whether `a.b` is a column of `a` or a field of a column `a` only the catalogue knows: where no source
    /// is called `a`, it counts as both.
    pub(super) fn column_path(&mut self, idents: &[&Ident]) {
        let span = match (idents.first(), idents.last()) {
            (Some(first), Some(last)) => match (self.place(first), self.place(last)) {
                (Some(a), Some(b)) => Some(Span::new(a.start, b.end.max(a.end))),
                (a, b) => a.or(b),
            },
            _ => None,
        };
        if let Some((first, fields)) = idents.split_first()
            && Self::is_variable(first, !fields.is_empty())
        {
            if self.grammar().has_at_parameters() && !first.value.starts_with("@@") {
                self.parameter(&first.value);
            }
            return;
        }
        let key: Vec<_> = idents.iter().map(|i| i.value.as_str()).collect();
        if !self.seen_columns.insert((self.scope.id(), Some(key.join("\0")))) {
            return;
        }
        if let [.., last] = idents
            && idents.len() > 1
            && self.grammar().has_sequence_columns()
            && (last.value.eq_ignore_ascii_case("nextval") || last.value.eq_ignore_ascii_case("currval"))
        {
            // Oracle and Snowflake write `s.nextval` for a function of a sequence.
            let name = last.value.to_ascii_lowercase();
            let effects = if name == "nextval" { Effects::WRITE } else { Effects::READ };
            self.function_use(&name, Some(0), effects, span);
        }
        if !self.tells_columns() {
            return;
        }
        match idents {
            [] => {}
            [column] => {
                if self.scope.is_local(column) {
                    return;
                }
                if self.grammar().reads_whole_rows()
                    && let Some(objects) = self.scope.called(column, None)
                    && !objects.is_empty()
                {
                    self.column(objects, None, span);
                }
                let everything = self.scope.everything();
                self.column(everything, Some(&column.value), span);
            }
            [table, column] => match self.scope.called(table, None) {
                Some(objects) => self.column(objects, Some(&column.value), span),
                None => self.fields(idents, span),
            },
            [first, second, third, ..] => {
                let by_space = self.scope.called(second, Some(first));
                let by_name = self.scope.called(first, None);
                if by_space.is_none() && by_name.is_none() {
                    self.fields(idents, span);
                }
                if let Some(objects) = by_space {
                    self.column(objects, Some(&third.value), span);
                }
                if let Some(objects) = by_name {
                    self.column(objects, Some(&second.value), span);
                }
            }
        }
    }

    /// A path of which nobody knows where the table ends and the column begins.
    fn fields(&mut self, idents: &[&Ident], span: Option<Span>) {
        if idents.first().is_some_and(|first| self.scope.is_local(first)) {
            return;
        }
        for ident in idents {
            let everything = self.scope.everything();
            self.column(everything, Some(&ident.value), span);
        }
    }

    /// Whether a name is a variable of the session (`@v`, `@@name`), and no column.
    fn is_variable(first: &Ident, has_fields: bool) -> bool {
        // A single `@` and fields is a table variable of SQL Server: then the fields are columns.
        first.quote_style.is_none()
            && (first.value.starts_with("@@") || (first.value.starts_with('@') && !has_fields))
    }

    /// Notes that every column of these objects is read.
    pub(super) fn star(&mut self, objects: Vec<usize>, span: Option<Span>) {
        if !objects.is_empty() {
            self.column(objects, None, span);
        }
    }

    /// Notes `name.*`.
    pub(super) fn qualified_star(&mut self, name: &ObjectName) {
        let span = self.place_of(name);
        let Some(idents) = self.idents(name) else { return };
        let objects = match idents.as_slice() {
            [table] => self.scope.called(table, None),
            [.., space, table] => self.scope.called(table, Some(space)),
            [] => None,
        };
        // Not a source: the fields of a column of that name.
        match objects {
            Some(objects) => self.star(objects, span),
            None => self.column_path(&idents),
        }
    }
}

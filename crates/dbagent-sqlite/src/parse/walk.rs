//! The state of a walk over one statement, and what it adds to the result.

use dbagent_core::guard::{ColumnUse, Finding, FunctionUse, ObjectUse, Parsed, Rule, Span};
use dbagent_core::{Effects, ObjectName};
use sqlite3_parser::ast::{Name, QualifiedName};

use super::marked::{Marks, Word};
use super::scope::{Env, Scopes, Source};
use crate::functions;
use crate::schema::is_schema_table;

/// How deep selects may be nested in each other.
const MAX_SELECT_DEPTH: usize = 100;
/// How many (column, candidate) pairs are told apart before a statement counts as too complex.
const MAX_CANDIDATES: usize = 1 << 20;

/// Walks a tree and gathers what it uses.
pub(super) struct Walk<'t, 'm> {
    marks: &'m Marks<'t>,
    pub(super) parsed: Parsed,
    pub(super) scopes: Scopes,
    select_depth: usize,
    candidates: usize,
    /// Where a MATCH searches something that no table here is called.
    pub(super) searches: Vec<Option<Span>>,
    /// Whether the walk is inside the definition of a trigger, where `RAISE` has a meaning.
    pub(super) in_trigger: bool,
}

impl<'t, 'm> Walk<'t, 'm> {
    pub(super) fn new(marks: &'m Marks<'t>, parsed: Parsed) -> Self {
        Self {
            marks,
            parsed,
            scopes: Scopes::default(),
            select_depth: 0,
            candidates: 0,
            searches: Vec::new(),
            in_trigger: false,
        }
    }

    /// The result, its parts in the order of the text.
    pub(super) fn finish(mut self) -> Parsed {
        for span in std::mem::take(&mut self.searches) {
            self.column_of((0..self.parsed.objects.len()).collect(), None, span);
        }
        let mut order: Vec<usize> = (0..self.parsed.objects.len()).collect();
        let place = |span: Option<Span>| span.map_or(usize::MAX, |s| s.start);
        order.sort_by_key(|i| place(self.parsed.objects.get(*i).and_then(|o| o.span)));
        let mut moved = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            if let Some(slot) = moved.get_mut(*old) {
                *slot = new;
            }
        }
        self.parsed.objects.sort_by_key(|o| place(o.span));
        let tells_all = |name: &str| is_schema_table(name) || is_engine_table(name);
        let objects = self.parsed.objects.iter().enumerate();
        self.parsed.tell_all = objects.filter(|(_, o)| tells_all(&o.name.name)).map(|(i, _)| i).collect();
        for column in &mut self.parsed.columns {
            for candidate in &mut column.candidates {
                *candidate = moved.get(*candidate).copied().unwrap_or(*candidate);
            }
            column.candidates.sort_unstable();
            column.candidates.dedup();
        }
        self.parsed.columns.sort_by_key(|c| place(c.span));
        self.parsed.functions.sort_by_key(|f| place(f.span));
        self.parsed
    }

    pub(super) fn word(&self, name: &Name<'_>) -> Word {
        self.marks.word(name.0)
    }

    pub(super) fn word_of(&self, raw: &str) -> Word {
        self.marks.word(raw)
    }

    pub(super) fn find(&mut self, finding: Finding) {
        self.parsed.findings.push(finding);
    }

    pub(super) fn object_name(&self, name: &QualifiedName<'_>) -> (ObjectName, Option<Span>) {
        let own = self.word(&name.name);
        match &name.db_name {
            None => (ObjectName::new(own.text), own.span),
            Some(schema) => {
                let schema = self.word(schema);
                let span = match (schema.span, own.span) {
                    (Some(a), Some(b)) if a.start <= b.start => Some(Span::new(a.start, b.end)),
                    (_, own) => own,
                };
                (ObjectName::within(schema.text, own.text), span)
            }
        }
    }

    /// Adds a use of an object and returns its index.
    pub(super) fn object(&mut self, name: &QualifiedName<'_>, written: bool) -> usize {
        let (name, span) = self.object_name(name);
        self.named_object(name, written, span)
    }

    pub(super) fn named_object(&mut self, name: ObjectName, written: bool, span: Option<Span>) -> usize {
        if let Some(why) = secret_catalogue(&name.name) {
            self.find(
                Finding::new(Rule::SecretCatalogue, format!("{} {why}", name.name), span)
                    .choice("secret_catalog"),
            );
        }
        if functions::is_outside_table(&name.name) {
            let effects = functions::effects(&name.name);
            self.parsed.functions.push(FunctionUse {
                name: name.name.clone(),
                arguments: None,
                effects,
                span,
            });
        }
        self.parsed.objects.push(ObjectUse { name, written, span });
        self.parsed.objects.len() - 1
    }

    /// Adds a use of a function by name.
    pub(super) fn function(&mut self, name: Word, arguments: Option<usize>) {
        let effects = functions::effects(&name.text);
        self.parsed.functions.push(FunctionUse { name: name.text, arguments, effects, span: name.span });
    }

    /// Adds a use of an operator that is a function behind the scenes.
    pub(super) fn operator(&mut self, name: &str) {
        self.function(Word { text: name.to_owned(), span: None }, None);
    }

    /// Adds a use of a bare column name.
    pub(super) fn column(&mut self, name: Word, env: Env) {
        let candidates = self.scopes.visible(env.scope);
        self.column_of(candidates, Some(name.text), name.span);
    }

    /// Adds a use of a column behind the name of a table.
    pub(super) fn qualified_column(&mut self, table: &Word, column: Word, env: Env) {
        let span = match (table.span, column.span) {
            (Some(a), Some(b)) if a.start <= b.start => Some(Span::new(a.start, b.end)),
            (_, own) => own,
        };
        let candidates = match self.scopes.named(env.scope, &table.text) {
            Some(objects) => objects,
            // A name that no table of the statement has: the engine will say what it thinks of it.
            None => self.scopes.visible(env.scope),
        };
        self.column_of(candidates, Some(column.text), span);
    }

    pub(super) fn column_of(&mut self, candidates: Vec<usize>, column: Option<String>, span: Option<Span>) {
        self.candidates += candidates.len();
        if self.candidates > MAX_CANDIDATES {
            if self.parsed.columns_known {
                self.too_complex("too many columns could belong to too many tables");
            }
            self.parsed.columns_known = false;
            return;
        }
        self.parsed.columns.push(ColumnUse { candidates, column, span });
    }

    /// Refuses what is nested or branched beyond reason.
    pub(super) fn too_complex(&mut self, why: &str) {
        self.find(Finding::new(Rule::TooComplex, why, None));
        self.parsed.effects |= Effects::UNKNOWN;
    }

    /// Enters a select; `false` when selects are nested too deep to go on.
    pub(super) fn enter_select(&mut self) -> bool {
        if self.select_depth >= MAX_SELECT_DEPTH {
            self.too_complex(&format!("selects are nested deeper than {MAX_SELECT_DEPTH} levels"));
            return false;
        }
        self.select_depth += 1;
        true
    }

    pub(super) fn leave_select(&mut self) {
        self.select_depth -= 1;
    }

    /// A source of FROM over a plain table, a common table expression or a pragma.
    pub(super) fn table_source(
        &mut self,
        name: &QualifiedName<'_>,
        alias: Option<String>,
        env: Env,
    ) -> Source {
        let own = self.word(&name.name);
        if name.db_name.is_none() && self.scopes.is_cte(env.ctes, &own.text) {
            return Source::derived(Some(alias.unwrap_or(own.text)));
        }
        if super::pragma::of_table_function(&own.text).is_some() {
            self.pragma_function(&own, None);
            return Source::derived(Some(alias.unwrap_or(own.text)));
        }
        let visible = alias.unwrap_or_else(|| own.text.clone());
        if functions::is_table_function(&own.text) {
            self.function(own.clone(), Some(0));
        }
        let object = self.object(name, false);
        Source { name: Some(visible), objects: vec![object] }
    }
}

/// Whether a name is that of a table that the engine shows of itself and that stands in no schema.
pub(crate) fn is_engine_table(name: &str) -> bool {
    secret_catalogue(name).is_some()
}

/// Why a table of the engine is not for reading, if it is not.
fn secret_catalogue(name: &str) -> Option<&'static str> {
    let is = |n: &str| name.eq_ignore_ascii_case(n);
    if is("sqlite_dbpage") || is("dbstat") {
        Some("shows the raw storage of the database")
    } else if is("sqlite_stat3") || is("sqlite_stat4") {
        Some("holds samples of the data of every index")
    } else if is("sqlite_stmt") {
        Some("shows the statements of this connection")
    } else {
        None
    }
}

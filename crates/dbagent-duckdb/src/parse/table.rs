//! What stands in FROM.

use dbagent_core::guard::{Finding, Rule, Span, StatementClass};
use dbagent_core::{Effects, ObjectName};

use super::engine::Node;
use super::scope::Source;
use super::walk::{Walk, items, member, text};
use super::{CATALOGUE, scan};

/// Keys that everything in FROM may have.
const COMMON: &[&str] = &["type", "alias", "sample", "query_location", "query_location_length"];

impl Walk<'_> {
    /// An item of FROM; what it brings is added to the innermost scope.
    pub(super) fn table(&mut self, node: &Node) {
        self.sample(node);
        let keys = |own: &'static [&'static str]| [COMMON, own].concat();
        match text(node, "type") {
            "BASE_TABLE" => {
                const KEYS: &[&str] = &[
                    "schema_name",
                    "table_name",
                    "column_name_alias",
                    "catalog_name",
                    "at_clause",
                    "qualified_name",
                ];
                self.known(node, &keys(KEYS), "a table");
                self.base_table(node);
            }
            "SUBQUERY" => {
                self.known(node, &keys(&["subquery", "column_name_alias"]), "a sub-select");
                self.subquery(node);
                self.scopes.add(Source::derived(alias(node)));
            }
            "JOIN" => {
                const KEYS: &[&str] = &[
                    "left",
                    "right",
                    "condition",
                    "join_type",
                    "ref_type",
                    "using_columns",
                    "delim_flipped",
                    "duplicate_eliminated_columns",
                    "is_implicit",
                    "ranking_expression",
                    "nearest_count",
                    "nearest_order_type",
                    "nearest_approx",
                ];
                self.known(node, &keys(KEYS), "JOIN");
                self.join(node);
            }
            "TABLE_FUNCTION" => {
                self.known(
                    node,
                    &keys(&["function", "column_name_alias", "with_ordinality"]),
                    "a table function",
                );
                match self.part(node, "function") {
                    Some(function) => self.table_function(function),
                    None => self.unknown("a table function", self.span(node)),
                }
                let name = alias(node).or_else(|| member(node, "function").map(|f| text(f, "function_name")));
                self.scopes.add(Source::derived(name));
            }
            "EXPRESSION_LIST" => {
                self.known(node, &keys(&["expected_names", "expected_types", "values"]), "VALUES");
                for value in self.rows(node, "values").into_iter().flatten() {
                    match value.as_object() {
                        Some(value) => self.expr(value),
                        None => self.shape(node, "values"),
                    }
                }
                self.scopes.add(Source::derived(alias(node)));
            }
            "EMPTY" => self.known(node, COMMON, "nothing"),
            "PIVOT" => {
                const KEYS: &[&str] = &[
                    "source",
                    "aggregates",
                    "unpivot_names",
                    "pivots",
                    "groups",
                    "column_name_alias",
                    "include_nulls",
                ];
                self.known(node, &keys(KEYS), "PIVOT");
                self.pivot(node);
            }
            "SHOW_REF" => {
                const KEYS: &[&str] =
                    &["table_name", "query", "show_type", "catalog_name", "schema_name", "qualified_name"];
                self.known(node, &keys(KEYS), "SHOW");
                self.show(node);
            }
            other => {
                let what = format!("{other:?} in FROM");
                self.unknown(&what, self.span(node));
            }
        }
    }

    fn base_table(&mut self, node: &Node) {
        let span = self.span(node);
        let path = self.path(node);
        let Some((name, before)) = path.split_last() else {
            return self.unknown("a table without a name", span);
        };
        if let Some(at) = self.part(node, "at_clause") {
            self.known(at, &["unit", "expr"], "AT");
            self.optional(at, "expr");
        }
        let shown = alias(node).unwrap_or(name);
        if before.is_empty() && self.scopes.is_expression(name) {
            self.scopes.add(Source::derived(Some(shown)));
            return;
        }
        let Some(object) = self.names.object(&path) else {
            return self.unknown("a name of so many parts", span);
        };
        self.outside(&object, &path, span);
        let index = self.object(object, span, false);
        // Other names for its columns, by position: which is which only the catalogue could say.
        if !items(node, "column_name_alias").is_empty() {
            self.column(vec![index], None, span);
        }
        let path = before.iter().map(|p| (*p).to_owned()).collect();
        let path = if alias(node).is_some() { Vec::new() } else { path };
        self.scopes.add(Source { name: Some(shown.to_owned()), path, objects: vec![index] });
    }

    /// A name that the engine would take for a file where no table has it: only the catalogue can vouch.
    fn outside(&mut self, object: &ObjectName, path: &[&str], span: Option<Span>) {
        if scan::names_a_file(path) {
            self.function(&scan::function(object), None, Effects::UNKNOWN, span);
        }
        if object.name.eq_ignore_ascii_case("duckdb_logs")
            || object.name.eq_ignore_ascii_case("duckdb_secrets")
        {
            self.secret(&object.name, span);
        }
    }

    /// A catalogue that may hold secrets.
    pub(super) fn secret(&mut self, name: &str, span: Option<Span>) {
        let message = format!("{name} may show secrets, or what others asked");
        self.find(Finding::new(Rule::SecretCatalogue, message, span).choice("secret_catalog"));
    }

    /// The query inside a sub-select.
    pub(super) fn subquery(&mut self, node: &Node) {
        match self.part(node, "subquery") {
            Some(statement) => self.statement(statement),
            None => self.unknown("a sub-select", self.span(node)),
        }
    }

    fn join(&mut self, node: &Node) {
        let span = self.span(node);
        let first = self.scopes.len();
        for side in ["left", "right"] {
            match self.part(node, side) {
                Some(side) => self.table(side),
                None => self.unknown("a JOIN of one side", span),
            }
        }
        // The columns in common are compared: of both sides, whatever else is in scope.
        let sources = self.scopes.split_off(first);
        let objects: Vec<usize> = sources.iter().flat_map(|s| s.objects.iter().copied()).collect();
        for source in sources {
            self.scopes.add(source);
        }
        for column in self.texts(node, "using_columns") {
            self.column(objects.clone(), Some(column), span);
        }
        if text(node, "ref_type") == "NATURAL" {
            self.column(objects, None, span);
        }
        for key in ["condition", "ranking_expression"] {
            self.optional(node, key);
        }
        self.exprs(node, "duplicate_eliminated_columns");
    }

    /// PIVOT and UNPIVOT. Columns that are not named are grouped by, or shown: all of them are read.
    fn pivot(&mut self, node: &Node) {
        let span = self.span(node);
        self.scopes.open();
        match self.part(node, "source") {
            Some(source) => self.table(source),
            None => self.unknown("PIVOT of nothing", span),
        }
        let objects = self.scopes.own();
        self.column(objects, None, span);
        self.exprs(node, "aggregates");
        for pivot in self.parts(node, "pivots") {
            const KEYS: &[&str] =
                &["pivot_expressions", "unpivot_names", "entries", "pivot_enum", "subquery"];
            self.known(pivot, KEYS, "PIVOT");
            self.exprs(pivot, "pivot_expressions");
            for entry in self.parts(pivot, "entries") {
                self.known(entry, &["values", "star_expr", "alias"], "a value of PIVOT");
                self.optional(entry, "star_expr");
            }
            if let Some(query) = self.part(pivot, "subquery") {
                self.query(query);
            }
        }
        self.scopes.close();
        self.scopes.add(Source::derived(alias(node)));
    }

    /// DESCRIBE, SUMMARIZE, SHOW.
    fn show(&mut self, node: &Node) {
        let (span, path) = (self.span(node), self.path(node));
        match text(node, "show_type") {
            "DESCRIBE" | "SUMMARY" => match self.part(node, "query") {
                Some(query) => self.query(query),
                None => self.unknown("DESCRIBE of nothing", span),
            },
            "SHOW" => match self.names.object(&path) {
                Some(object) => {
                    self.outside(&object, &path, span);
                    let index = self.object(object, span, false);
                    self.column(vec![index], None, span);
                }
                None => self.unknown("SHOW of such a name", span),
            },
            "SHOW_FROM" | "SHOW_SPECIAL" => {
                self.object(ObjectName::within(CATALOGUE, "duckdb_tables"), span, false);
            }
            other => {
                let what = format!("SHOW of the kind {other:?}");
                self.unknown(&what, span);
            }
        }
        if self.parsed.class == StatementClass::Read {
            self.parsed.class = StatementClass::Catalogue;
        }
        self.scopes.add(Source::derived(alias(node)));
    }
}

/// The name that the statement gives.
fn alias(node: &Node) -> Option<&str> {
    Some(text(node, "alias")).filter(|a| !a.is_empty())
}

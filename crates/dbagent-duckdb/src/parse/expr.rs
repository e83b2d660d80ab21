//! Expressions.

use dbagent_core::Effects;
use dbagent_core::guard::{Finding, Rule, Span};

use super::engine::Node;
use super::walk::{Walk, items, text};
use super::{sizes, special};
use crate::functions;

/// Keys that every expression may have.
const COMMON: &[&str] = &["class", "type", "alias", "query_location", "query_location_length"];

/// What an expression of a class can be: its types, and its members beside the common ones.
struct Class {
    types: &'static [&'static str],
    members: &'static [&'static str],
}

impl Class {
    const fn of(types: &'static [&'static str], members: &'static [&'static str]) -> Self {
        Self { types, members }
    }

    /// The class of that name; one that nobody has judged has no types.
    fn named(class: &str) -> Self {
        match class {
            "CONSTANT" => Self::of(&["VALUE_CONSTANT"], &["value", "literal"]),
            "COLUMN_REF" => Self::of(&["COLUMN_REF"], &["column_names"]),
            "COMPARISON" => Self::of(COMPARISONS, &["left", "right"]),
            "CONJUNCTION" => Self::of(&["CONJUNCTION_AND", "CONJUNCTION_OR"], &["children"]),
            "OPERATOR" => Self::of(OPERATORS, &["children"]),
            "BETWEEN" => Self::of(&["COMPARE_BETWEEN", "COMPARE_NOT_BETWEEN"], &["input", "lower", "upper"]),
            "CASE" => Self::of(&["CASE_EXPR"], &["case_checks", "else_expr"]),
            "CAST" => Self::of(&["OPERATOR_CAST"], &["child", "cast_type", "type_expr", "try_cast"]),
            "COLLATE" => Self::of(&["COLLATE"], &["child", "collation"]),
            "LAMBDA" => Self::of(&["LAMBDA"], &["lhs", "expr", "syntax_type"]),
            "LAMBDA_REF" => Self::of(&["LAMBDA_REF"], &["lambda_idx", "column_name"]),
            "PARAMETER" => Self::of(&["VALUE_PARAMETER"], &["identifier"]),
            "POSITIONAL_REFERENCE" => Self::of(&["POSITIONAL_REFERENCE"], &["index"]),
            "TYPE" => Self::of(&["TYPE"], &["catalog", "schema", "type_name", "children", "qualified_name"]),
            "SUBQUERY" => Self::of(&["SUBQUERY"], &["subquery_type", "subquery", "child", "comparison_type"]),
            "STAR" => Self::of(&["STAR"], STAR),
            "FUNCTION" => Self::of(&["FUNCTION"], FUNCTION),
            "WINDOW" => Self::of(WINDOWS, WINDOW),
            _ => Self::of(&[], &[]),
        }
    }
}

const COMPARISONS: &[&str] = &[
    "COMPARE_EQUAL",
    "COMPARE_NOTEQUAL",
    "COMPARE_LESSTHAN",
    "COMPARE_GREATERTHAN",
    "COMPARE_LESSTHANOREQUALTO",
    "COMPARE_GREATERTHANOREQUALTO",
    "COMPARE_DISTINCT_FROM",
    "COMPARE_NOT_DISTINCT_FROM",
];

/// Operators whose children say everything.
const OPERATORS: &[&str] = &[
    "OPERATOR_NOT",
    "OPERATOR_IS_NULL",
    "OPERATOR_IS_NOT_NULL",
    "OPERATOR_UNPACK",
    "OPERATOR_NULLIF",
    "OPERATOR_COALESCE",
    "OPERATOR_TRY",
    "COMPARE_IN",
    "COMPARE_NOT_IN",
    "ARRAY_EXTRACT",
    "ARRAY_SLICE",
    "STRUCT_EXTRACT",
    "ARRAY_CONSTRUCTOR",
    "ARROW",
    "GROUPING_FUNCTION",
];

const STAR: &[&str] = &[
    "relation_name",
    "exclude_list",
    "replace_list",
    "columns",
    "expr",
    "qualified_exclude_list",
    "rename_list",
];

const FUNCTION: &[&str] = &[
    "function_name",
    "schema",
    "catalog",
    "qualified_name",
    "filter",
    "order_bys",
    "distinct",
    "is_operator",
    "export_state",
    "arguments",
];

const WINDOWS: &[&str] = &[
    "WINDOW_AGGREGATE",
    "WINDOW_ROW_NUMBER",
    "WINDOW_RANK",
    "WINDOW_RANK_DENSE",
    "WINDOW_PERCENT_RANK",
    "WINDOW_CUME_DIST",
    "WINDOW_NTILE",
    "WINDOW_FIRST_VALUE",
    "WINDOW_LAST_VALUE",
    "WINDOW_NTH_VALUE",
    "WINDOW_LEAD",
    "WINDOW_LAG",
    "WINDOW_FILL",
];

const WINDOW: &[&str] = &[
    "function_name",
    "schema",
    "catalog",
    "qualified_name",
    "arguments",
    "partitions",
    "orders",
    "start",
    "end",
    "start_expr",
    "end_expr",
    "ignore_nulls",
    "has_ignore_nulls",
    "filter_expr",
    "exclude_clause",
    "distinct",
    "arg_orders",
];

impl Walk<'_> {
    /// The expressions of a list.
    pub(super) fn exprs(&mut self, node: &Node, key: &str) {
        for expression in self.parts(node, key) {
            self.expr(expression);
        }
    }

    /// A member that is an expression, where it is there.
    pub(super) fn optional(&mut self, node: &Node, key: &str) {
        if let Some(expression) = self.part(node, key) {
            self.expr(expression);
        }
    }

    /// One expression with everything in it.
    pub(super) fn expr(&mut self, node: &Node) {
        let class = text(node, "class");
        let Class { types, members } = Class::named(class);
        self.known(node, &[COMMON, members].concat(), "an expression");
        let span = self.span(node);
        if !types.contains(&text(node, "type")) {
            let what = format!("an expression of the kind {class} {}", text(node, "type"));
            return self.unknown(&what, span);
        }
        match class {
            "CONSTANT" | "LAMBDA_REF" => {}
            "COLUMN_REF" => {
                let names = self.texts(node, "column_names");
                self.column_ref(&names, span);
            }
            "COMPARISON" | "BETWEEN" | "LAMBDA" | "COLLATE" => {
                for key in ["left", "right", "input", "lower", "upper", "lhs", "expr", "child"] {
                    self.optional(node, key);
                }
            }
            "CONJUNCTION" | "OPERATOR" => self.exprs(node, "children"),
            "TYPE" => {
                self.path(node);
                self.exprs(node, "children");
            }
            "CASE" => {
                for check in self.parts(node, "case_checks") {
                    self.known(check, &["when_expr", "then_expr"], "CASE");
                    self.optional(check, "when_expr");
                    self.optional(check, "then_expr");
                }
                self.optional(node, "else_expr");
            }
            "CAST" => {
                self.optional(node, "child");
                self.optional(node, "type_expr");
            }
            "PARAMETER" => self.parameter(text(node, "identifier")),
            // The number of a column in FROM, whichever that is.
            "POSITIONAL_REFERENCE" => self.column(self.scopes.own(), None, span),
            "SUBQUERY" => {
                self.subquery(node);
                self.optional(node, "child");
            }
            "STAR" => self.star(node, span),
            "FUNCTION" => self.call(node, span, false),
            "WINDOW" => {
                self.call(node, span, false);
                self.exprs(node, "partitions");
                self.orders(node, "orders");
                self.orders(node, "arg_orders");
                for key in ["start_expr", "end_expr", "filter_expr"] {
                    self.optional(node, key);
                }
            }
            _ => self.unknown("an expression of such a class", span),
        }
    }

    /// A name: of a column, of a part of a structure, of a whole row. Every reading is taken.
    fn column_ref(&mut self, parts: &[&str], span: Option<Span>) {
        let Some(first) = parts.first() else { return self.unknown("a name without parts", span) };
        for qualifier in 1..=parts.len().min(3) {
            let Some(objects) = parts.get(..qualifier).and_then(|q| self.scopes.named(q)) else { continue };
            // The name of a table alone is its row, as a structure of all columns.
            self.column(objects, parts.get(qualifier).copied(), span);
        }
        let all = self.scopes.visible();
        self.column(all, Some(first), span);
    }

    /// `*`, `t.*`, `COLUMNS(…)`. EXCLUDE takes columns away, but which are left only the catalogue knows.
    fn star(&mut self, node: &Node, span: Option<Span>) {
        let relation = text(node, "relation_name");
        if relation.is_empty() {
            self.column(self.scopes.own(), None, span);
        } else {
            match self.scopes.named(&[relation]) {
                Some(objects) => self.column(objects, None, span),
                // The parts of a structure.
                None => self.column(self.scopes.visible(), Some(relation), span),
            }
        }
        for replaced in self.parts(node, "replace_list") {
            self.known(replaced, &["key", "value"], "REPLACE");
            self.optional(replaced, "value");
        }
        self.optional(node, "expr");
    }

    fn parameter(&mut self, identifier: &str) {
        if let Ok(number) = identifier.parse::<usize>() {
            let used = &mut self.parsed.parameters.positional;
            *used = (*used).max(number);
        } else if !self.parsed.parameters.named.iter().any(|n| n == identifier) {
            self.parsed.parameters.named.push(identifier.to_owned());
        }
    }

    /// A function in FROM.
    pub(super) fn table_function(&mut self, node: &Node) {
        if text(node, "class") == "FUNCTION" {
            self.known(node, &[COMMON, FUNCTION].concat(), "a table function");
            self.kind(node, &["FUNCTION"], "a table function");
            let span = self.span(node);
            self.call(node, span, true);
        } else {
            self.unknown("such a table function", self.span(node));
        }
    }

    /// A call: its name, its arguments, and what FILTER and ORDER BY in it read.
    fn call(&mut self, node: &Node, span: Option<Span>, in_from: bool) {
        let path = self.path(node);
        let Some(name) = path.last() else { return self.unknown("a function without a name", span) };
        let arguments = items(node, "arguments");
        let (written, effects) = self.effects_of(&path);
        self.function(&written, Some(arguments.len()), effects, span);
        if functions::is_secret(name) {
            self.secret(name, span);
        }
        // In FROM a range is a table, which comes row by row.
        if let Some(message) = sizes::too_large(name, node).filter(|_| !in_from) {
            self.find(Finding::new(Rule::SizeCap, message, span).choice("size_cap"));
        }
        if in_from && functions::reads_by_argument(name) {
            let what = format!("{name} in FROM reads a table that only its argument names");
            let advice = "Call histogram(column) as an aggregate, in SELECT.";
            self.find(Finding::new(Rule::UnknownFunction, what, span).advice(advice));
        }
        if let Some(special) = special::table_argument(name) {
            self.named_table(special, arguments, span);
        } else if in_from && functions::is_catalogue(name) {
            self.catalogue_function(name, span);
        }
        for argument in self.parts(node, "arguments") {
            self.known(argument, &["name", "expression"], "an argument");
            self.optional(argument, "expression");
        }
        self.optional(node, "filter");
        if let Some(order) = self.part(node, "order_bys") {
            self.order(order);
        }
    }

    /// What a function does, by the names of the engine. A name that the database defines itself is that
    /// of its own function, whatever the engine has by that name.
    fn effects_of(&self, path: &[&str]) -> (String, Effects) {
        let written = path.join(".");
        let Some((name, before)) = path.split_last() else { return (written, Effects::UNKNOWN) };
        let listed = functions::effects(name);
        let own = match before {
            [] => self.names.defines(name),
            [schema] if schema.eq_ignore_ascii_case("pg_catalog") => self.names.defines(name),
            [catalog, _] if catalog.eq_ignore_ascii_case("system") => false,
            _ => true,
        };
        let forbidden = !listed.contains(Effects::UNKNOWN) && !listed.is_pure_read();
        (written, if own && !forbidden { Effects::UNKNOWN } else { listed })
    }
}

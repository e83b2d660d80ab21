//! Expressions.

use dbagent_core::Effects;
use dbagent_core::guard::{Finding, Rule, Span};
use serde_json::Value;

use super::engine::Node;
use super::walk::{Walk, items, member, path, text, texts};
use super::{sizes, special};
use crate::functions;

/// Keys that every expression may have.
const COMMON: &[&str] = &["class", "type", "alias", "query_location", "query_location_length"];

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

impl Walk<'_> {
    /// Expressions of a list.
    pub(super) fn exprs(&mut self, list: &[Value]) {
        for item in list {
            match item.as_object() {
                Some(expression) => self.expr(expression),
                None => self.unknown("an expression", None),
            }
        }
    }

    /// A member that is an expression, where it is there.
    pub(super) fn optional(&mut self, node: &Node, key: &str) {
        if let Some(expression) = member(node, key) {
            self.expr(expression);
        }
    }

    /// One expression with everything in it.
    pub(super) fn expr(&mut self, node: &Node) {
        let (class, kind) = (text(node, "class"), text(node, "type"));
        let keys: &[&str] = match class {
            "CONSTANT" => &["value", "literal"],
            "COLUMN_REF" => &["column_names"],
            "COMPARISON" => &["left", "right"],
            "CONJUNCTION" | "OPERATOR" => &["children"],
            "BETWEEN" => &["input", "lower", "upper"],
            "CASE" => &["case_checks", "else_expr"],
            "CAST" => &["child", "cast_type", "type_expr", "try_cast"],
            "COLLATE" => &["child", "collation"],
            "LAMBDA" => &["lhs", "expr", "syntax_type"],
            "LAMBDA_REF" => &["lambda_idx", "column_name"],
            "PARAMETER" => &["identifier"],
            "POSITIONAL_REFERENCE" => &["index"],
            "TYPE" => &["catalog", "schema", "type_name", "children", "qualified_name"],
            "SUBQUERY" => &["subquery_type", "subquery", "child", "comparison_type"],
            "STAR" => &[
                "relation_name",
                "exclude_list",
                "replace_list",
                "columns",
                "expr",
                "qualified_exclude_list",
                "rename_list",
            ],
            "FUNCTION" => &[
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
            ],
            "WINDOW" => &[
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
            ],
            _ => &[],
        };
        self.known(node, &[COMMON, keys].concat(), "an expression");
        let span = self.span(node);
        match class {
            "CONSTANT" | "LAMBDA_REF" => {}
            "COLUMN_REF" => self.column_ref(&texts(node, "column_names"), span),
            "COMPARISON" | "BETWEEN" | "LAMBDA" | "COLLATE" => {
                for key in ["left", "right", "input", "lower", "upper", "lhs", "expr", "child"] {
                    self.optional(node, key);
                }
            }
            "CONJUNCTION" | "TYPE" => self.exprs(items(node, "children")),
            "OPERATOR" if OPERATORS.contains(&kind) => self.exprs(items(node, "children")),
            "CASE" => {
                for check in items(node, "case_checks").iter().filter_map(Value::as_object) {
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
                self.exprs(items(node, "partitions"));
                self.orders(items(node, "orders"));
                self.orders(items(node, "arg_orders"));
                for key in ["start_expr", "end_expr", "filter_expr"] {
                    self.optional(node, key);
                }
            }
            _ => {
                let what = format!("an expression of the kind {class} {kind}");
                self.unknown(&what, span);
            }
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
        for replaced in items(node, "replace_list").iter().filter_map(Value::as_object) {
            self.known(replaced, &["key", "value"], "REPLACE");
            self.optional(replaced, "value");
        }
        if let Some(inner) = member(node, "expr") {
            self.expr(inner);
        }
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
            self.known(
                node,
                &[
                    COMMON,
                    &[
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
                    ],
                ]
                .concat(),
                "a table function",
            );
            let span = self.span(node);
            self.call(node, span, true);
        } else {
            self.unknown("such a table function", self.span(node));
        }
    }

    /// A call: its name, its arguments, and what FILTER and ORDER BY in it read.
    fn call(&mut self, node: &Node, span: Option<Span>, in_from: bool) {
        let path = path(node);
        let Some(name) = path.last() else { return self.unknown("a function without a name", span) };
        let arguments = items(node, "arguments");
        let (written, effects) = self.effects_of(&path);
        self.function(&written, Some(arguments.len()), effects, span);
        if functions::is_secret(name) {
            self.secret(name, span);
        }
        if let Some(message) = sizes::too_large(name, node) {
            self.find(Finding::new(Rule::SizeCap, message, span).choice("size_cap"));
        }
        if let Some(special) = special::table_argument(name) {
            self.named_table(special, arguments, span);
        } else if in_from && functions::is_catalogue(name) {
            self.catalogue_function(name, span);
        }
        for argument in arguments.iter().filter_map(Value::as_object) {
            self.known(argument, &["name", "expression"], "an argument");
            self.optional(argument, "expression");
        }
        self.optional(node, "filter");
        if let Some(order) = member(node, "order_bys") {
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

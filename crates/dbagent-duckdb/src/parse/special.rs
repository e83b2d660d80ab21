//! Functions that take the name of a table as a text, and functions that show the catalogue.

use dbagent_core::ObjectName;
use dbagent_core::guard::{Finding, Rule, Span, StatementClass};
use serde_json::Value;

use super::CATALOGUE;
use super::walk::{Walk, member, text};

/// What a function does with the table that its first argument names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TableArgument {
    /// Shows its columns.
    Describes,
    /// Shows values, if only the least and the largest.
    Reads,
}

/// How a function uses the table that its argument names.
pub(super) fn table_argument(function: &str) -> Option<TableArgument> {
    let is = |name: &str| function.eq_ignore_ascii_case(name);
    if is("pragma_table_info") || is("pragma_show") {
        Some(TableArgument::Describes)
    } else if is("pragma_storage_info") || is("duckdb_table_sample") {
        Some(TableArgument::Reads)
    } else {
        None
    }
}

impl Walk<'_> {
    /// A table named by a constant text. Any other expression hides which table it is.
    pub(super) fn named_table(&mut self, how: TableArgument, arguments: &[Value], span: Option<Span>) {
        let constant = arguments.first().and_then(Value::as_object).and_then(|a| member(a, "expression"));
        let literal = constant
            .filter(|c| text(c, "class") == "CONSTANT")
            .and_then(|c| member(c, "literal"))
            .filter(|l| text(l, "kind") == "STRING");
        match literal.map(|l| text(l, "text")).and_then(|name| self.names.parse(name)) {
            Some(name) => {
                let index = self.object(name, span, false);
                if how == TableArgument::Reads {
                    self.column(vec![index], None, span);
                }
            }
            None => self.find(
                Finding::new(Rule::UnknownSyntax, "which table this shows cannot be told", span)
                    .advice("Name the table as a text between single quotes."),
            ),
        }
        self.is_catalogue();
    }

    /// A function that shows the whole catalogue: an object of the engine.
    pub(super) fn catalogue_function(&mut self, name: &str, span: Option<Span>) {
        self.object(ObjectName::within(CATALOGUE, name.to_ascii_lowercase()), span, false);
    }

    fn is_catalogue(&mut self) {
        if self.parsed.class == StatementClass::Read {
            self.parsed.class = StatementClass::Catalogue;
        }
    }
}

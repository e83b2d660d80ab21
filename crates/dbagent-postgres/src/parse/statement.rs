//! Which class a statement is of, and what it does.

use dbagent_core::Effects;
use dbagent_core::guard::{Finding, Rule, StatementClass};
use pg_query::protobuf::{DefElem, ExplainStmt, ReturnStmt, VariableShowStmt};
use pg_query::{Node, NodeEnum};

use super::nodes::{analysed, expression, part, source, statement};
use super::walk::{Walk, string};
use super::{inner, nowhere};
use crate::functions::Called;

/// Options of EXPLAIN. ANALYZE runs the statement, which is judged like any other.
const EXPLAIN_OPTIONS: &[&str] = &[
    "analyze",
    "buffers",
    "costs",
    "format",
    "generic_plan",
    "memory",
    "serialize",
    "settings",
    "summary",
    "timing",
    "verbose",
    "wal",
];

impl Walk<'_> {
    /// The statement itself.
    pub(super) fn top(&mut self, node: Option<&Node>) {
        let before = self.parsed.class;
        let class = if let Some(node) = node.and_then(inner) {
            self.statement(node)
        } else {
            self.unknown("an empty statement", None);
            StatementClass::Unknown
        };
        // Of several statements, in the body of a function, the first that is no read says what it is.
        self.parsed.class = match before {
            StatementClass::Unknown | StatementClass::Read => class,
            first => first,
        };
        // Casts that nobody writes may run in any of them.
        self.called(&Called::Implicit, None, Effects::READ, None);
    }

    /// A body of the SQL standard: `RETURN expression`, or `BEGIN ATOMIC … END`.
    pub(super) fn atomic(&mut self, body: &Node) {
        let mut open = vec![body];
        while let Some(node) = open.pop() {
            match inner(node) {
                None => {}
                Some(NodeEnum::List(list)) => open.extend(&list.items),
                Some(NodeEnum::ReturnStmt(value)) => {
                    let ReturnStmt { returnval } = value.as_ref();
                    self.effect(Effects::READ);
                    self.optional(returnval.as_deref(), nowhere());
                    if self.parsed.class == StatementClass::Unknown {
                        self.parsed.class = StatementClass::Read;
                    }
                    self.called(&Called::Implicit, None, Effects::READ, None);
                }
                Some(_) => self.top(Some(node)),
            }
        }
        if self.parsed.class == StatementClass::Unknown && self.parsed.effects.is_pure_read() {
            self.parsed.class = StatementClass::Read;
        }
    }

    #[expect(unreachable_patterns, reason = "a group also names what other arms handle")]
    #[expect(clippy::unnested_or_patterns, reason = "each group is one macro")]
    fn statement(&mut self, node: &NodeEnum) -> StatementClass {
        match node {
            NodeEnum::SelectStmt(select) => {
                self.select(select, nowhere());
                self.written.unwrap_or(StatementClass::Read)
            }
            NodeEnum::InsertStmt(insert) => {
                self.insert(insert, nowhere());
                StatementClass::Insert
            }
            NodeEnum::UpdateStmt(update) => {
                self.update(update, nowhere());
                StatementClass::Update
            }
            NodeEnum::DeleteStmt(delete) => {
                self.delete(delete, nowhere());
                StatementClass::Delete
            }
            NodeEnum::MergeStmt(merge) => {
                self.merge(merge, nowhere());
                StatementClass::Merge
            }
            NodeEnum::ExplainStmt(explain) => self.explain(explain),
            NodeEnum::VariableShowStmt(VariableShowStmt { name: _ }) => {
                self.effect(Effects::READ);
                StatementClass::Catalogue
            }
            source!() | expression!() | part!() | analysed!() => {
                self.unknown("this statement", None);
                StatementClass::Unknown
            }
            statement!() => self.other_statement(node),
        }
    }

    fn explain(&mut self, explain: &ExplainStmt) -> StatementClass {
        let ExplainStmt { query, options } = explain;
        for option in options {
            let Some(NodeEnum::DefElem(option)) = inner(option) else {
                self.unknown("this option of EXPLAIN", None);
                continue;
            };
            let DefElem { defnamespace: _, defname, arg, defaction: _, location, arg_location: _ } =
                option.as_ref();
            let span = self.span(*location, 1);
            if EXPLAIN_OPTIONS.binary_search(&defname.as_str()).is_err() {
                self.unknown("this option of EXPLAIN", span);
            }
            // A word, a number or nothing: no expression.
            let plain = arg.as_deref().is_none_or(|arg| {
                string(arg).is_some()
                    || matches!(
                        inner(arg),
                        Some(NodeEnum::Integer(_) | NodeEnum::Float(_) | NodeEnum::Boolean(_))
                    )
            });
            if !plain {
                self.unknown("this option of EXPLAIN", span);
            }
        }
        self.effect(Effects::READ);
        match query.as_deref().and_then(inner) {
            Some(NodeEnum::ExplainStmt(_)) | None => {
                self.unknown("what is explained", None);
                StatementClass::Unknown
            }
            Some(body) => match self.statement(body) {
                // What cannot be told does not become an explanation.
                class @ (StatementClass::Unknown | StatementClass::Session | StatementClass::Procedure) => {
                    class
                }
                _ => StatementClass::Explain,
            },
        }
    }

    /// Refuses a statement by its name.
    pub(super) fn refuse(&mut self, rule: Rule, what: &str) {
        self.find(Finding::new(rule, what, None));
    }
}

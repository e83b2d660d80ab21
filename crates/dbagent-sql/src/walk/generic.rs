//! Looks at statements that only change the schema or are refused anyway: what they hold is found by
//! sqlparser's visitor, and each part is handed to the walk.

use std::convert::Infallible;
use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, ObjectName, Query, Select, Statement, TableFactor, ValueWithSpan, Visit, Visitor,
};

use super::Walk;

impl Walk<'_> {
    /// Walks every part of `node`.
    pub(super) fn parts<T: Visit>(&mut self, node: &T, written: bool) {
        let mut finder = Finder { walk: self, depth: 0, root: None, written };
        let ControlFlow::Continue(()) = node.visit(&mut finder);
    }

    /// Walks every part of a statement that has already been counted itself.
    pub(super) fn parts_of_statement(&mut self, statement: &Statement, written: bool) {
        let mut finder = Finder { walk: self, depth: 0, root: Some(statement), written };
        let ControlFlow::Continue(()) = statement.visit(&mut finder);
    }
}

/// Hands the outermost parts to the walk, which goes on from there.
struct Finder<'f, 'a> {
    walk: &'f mut Walk<'a>,
    /// How many parts that the walk has taken are open.
    depth: usize,
    root: Option<&'f Statement>,
    /// Whether the tables named outright are changed.
    written: bool,
}

type Flow = ControlFlow<Infallible>;

impl Finder<'_, '_> {
    fn enter(&mut self, take: impl FnOnce(&mut Walk<'_>)) -> Flow {
        if self.depth == 0 {
            take(self.walk);
        }
        self.depth += 1;
        Flow::Continue(())
    }

    fn leave(&mut self) -> Flow {
        self.depth = self.depth.saturating_sub(1);
        Flow::Continue(())
    }

    fn is_root(&self, statement: &Statement) -> bool {
        self.root.is_some_and(|root| std::ptr::eq(root, statement))
    }
}

impl Visitor for Finder<'_, '_> {
    type Break = Infallible;

    fn pre_visit_statement(&mut self, statement: &Statement) -> Flow {
        if self.is_root(statement) {
            return Flow::Continue(());
        }
        self.enter(|walk| {
            walk.nested_statement(statement);
        })
    }

    fn post_visit_statement(&mut self, statement: &Statement) -> Flow {
        if self.is_root(statement) { Flow::Continue(()) } else { self.leave() }
    }

    fn pre_visit_query(&mut self, query: &Query) -> Flow {
        self.enter(|walk| {
            walk.query(query);
        })
    }

    fn post_visit_query(&mut self, _: &Query) -> Flow {
        self.leave()
    }

    fn pre_visit_select(&mut self, select: &Select) -> Flow {
        self.enter(|walk| {
            walk.select(select);
            walk.scope.pop_frame();
        })
    }

    fn post_visit_select(&mut self, _: &Select) -> Flow {
        self.leave()
    }

    fn pre_visit_table_factor(&mut self, table: &TableFactor) -> Flow {
        self.enter(|walk| walk.table_factor(table))
    }

    fn post_visit_table_factor(&mut self, _: &TableFactor) -> Flow {
        self.leave()
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> Flow {
        self.enter(|walk| walk.expr(expr))
    }

    fn post_visit_expr(&mut self, _: &Expr) -> Flow {
        self.leave()
    }

    fn pre_visit_value(&mut self, value: &ValueWithSpan) -> Flow {
        self.enter(|walk| walk.value(value))
    }

    fn post_visit_value(&mut self, _: &ValueWithSpan) -> Flow {
        self.leave()
    }

    fn pre_visit_relation(&mut self, name: &ObjectName) -> Flow {
        if self.depth == 0 {
            let written = self.written;
            self.walk.named_object(name, written);
        }
        Flow::Continue(())
    }
}

//! Counts the parts of a statement with sqlparser's own visitor.
//!
//! The visitor is derived from the tree's definition, so it forgets nothing. The walk counts what it looked
//! at; where the two differ, something was passed over.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Query, Select, Statement, TableFactor, ValueWithSpan, Visit, Visitor};

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Census {
    pub(super) statements: usize,
    pub(super) queries: usize,
    pub(super) selects: usize,
    pub(super) tables: usize,
    pub(super) exprs: usize,
    pub(super) values: usize,
}

impl Census {
    /// How many parts were counted.
    pub(super) const fn parts(&self) -> usize {
        self.queries + self.selects + self.tables + self.exprs
    }

    /// Counts all there is.
    pub(super) fn of(node: &impl Visit) -> Self {
        let mut census = Self::default();
        let ControlFlow::Continue(()) = node.visit(&mut census);
        census
    }
}

impl Visitor for Census {
    type Break = std::convert::Infallible;

    fn pre_visit_statement(&mut self, _: &Statement) -> ControlFlow<Self::Break> {
        self.statements += 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<Self::Break> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, _: &Select) -> ControlFlow<Self::Break> {
        self.selects += 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, _: &TableFactor) -> ControlFlow<Self::Break> {
        self.tables += 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, _: &Expr) -> ControlFlow<Self::Break> {
        self.exprs += 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_value(&mut self, _: &ValueWithSpan) -> ControlFlow<Self::Break> {
        self.values += 1;
        ControlFlow::Continue(())
    }
}

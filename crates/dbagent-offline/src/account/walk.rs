//! Goes through a plan and notes what stands in it: tables, columns and how many rows are kept.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{Expr, Ident, Pred, Select, Source, Value};
use crate::schema::{ColumnId, Schema, TableId};

/// What stands in a plan.
#[derive(Debug, Default)]
pub(super) struct Seen {
    aliases: BTreeMap<Ident, TableId>,
    names: BTreeSet<(Ident, Ident)>,
    /// Columns that only link two tables.
    linking: BTreeSet<(Ident, Ident)>,
    /// The values that travel as parameters.
    pub(super) values: Vec<Value>,
    /// How many rows are kept, or up to which place.
    pub(super) limits: Vec<u64>,
    /// Whether the rows come in an order.
    pub(super) ordered: bool,
}

impl Seen {
    pub(super) fn new(schema: &Schema, select: &Select) -> Self {
        let mut seen = Self { ordered: !select.order.is_empty(), ..Self::default() };
        seen.select(schema, select);
        seen
    }

    pub(super) fn tables(&self) -> BTreeSet<TableId> {
        self.aliases.values().copied().collect()
    }

    pub(super) fn columns(&self, schema: &Schema) -> BTreeSet<ColumnId> {
        self.ids(schema, &self.names)
    }

    /// The columns that only link two tables.
    pub(super) fn linking(&self, schema: &Schema) -> BTreeSet<ColumnId> {
        self.ids(schema, &self.linking)
    }

    fn ids(&self, schema: &Schema, names: &BTreeSet<(Ident, Ident)>) -> BTreeSet<ColumnId> {
        names
            .iter()
            .filter_map(|(of, name)| {
                let table = self.aliases.get(of)?;
                schema.columns(*table).find(|(_, c)| c.name == name.0).map(|(id, _)| id)
            })
            .collect()
    }

    fn select(&mut self, schema: &Schema, select: &Select) {
        for source in select.from.iter().chain(select.joins.iter().map(|j| &j.source)) {
            self.source(schema, source);
        }
        for (a, b) in select.joins.iter().flat_map(|j| &j.on) {
            for expr in [a, b] {
                if let Expr::Column { of, name } = expr {
                    self.linking.insert((of.clone(), name.clone()));
                }
            }
        }
        self.limits.extend(select.limit);
        self.limits.extend(select.offset.map(|o| o.saturating_add(1)));
        let items = select.items.iter().map(|i| &i.expr);
        let order = select.order.iter().map(|o| &o.expr);
        for expr in items.chain(&select.group).chain(order) {
            self.expr(schema, expr);
        }
        for pred in select.filter.iter().chain(&select.having) {
            self.pred(schema, pred);
        }
    }

    fn source(&mut self, schema: &Schema, source: &Source) {
        match source {
            Source::Table { name, alias } => {
                if let Some((id, _)) = schema.tables().find(|(_, t)| t.name == *name) {
                    self.aliases.insert(alias.clone(), id);
                }
            }
            Source::Query { query, .. } => self.select(schema, query),
            Source::Union { queries, .. } => {
                for q in queries {
                    self.select(schema, q);
                }
            }
        }
    }

    fn expr(&mut self, schema: &Schema, expr: &Expr) {
        match expr {
            Expr::Column { of, name } => _ = self.names.insert((of.clone(), name.clone())),
            Expr::Value(value) => self.values.push(value.clone()),
            Expr::Constant(n) => self.limits.push(u64::from(*n)),
            Expr::Alias(_) | Expr::Hundred | Expr::CountAll => {}
            Expr::Agg { arg: one, .. } | Expr::Part { of: one, .. } | Expr::Lower(one) => {
                self.expr(schema, one);
            }
            Expr::Product(several) | Expr::Spaced(several) => {
                for e in several {
                    self.expr(schema, e);
                }
            }
            Expr::Minus(a, b) | Expr::Divide(a, b) | Expr::Coalesce(a, b) => {
                self.expr(schema, a);
                self.expr(schema, b);
            }
            Expr::When { all, then } => {
                for p in all {
                    self.pred(schema, p);
                }
                self.expr(schema, then);
            }
            Expr::Rank { within, by } => {
                within.iter().chain(by.iter().map(|o| &o.expr)).for_each(|e| self.expr(schema, e));
            }
            Expr::Query(query) => self.select(schema, query),
        }
    }

    fn pred(&mut self, schema: &Schema, pred: &Pred) {
        match pred {
            Pred::Compare(a, _, b) => {
                self.expr(schema, a);
                self.expr(schema, b);
            }
            Pred::In { expr, values, .. } => {
                self.expr(schema, expr);
                self.values.extend(values.iter().cloned());
            }
            Pred::InQuery { expr, query, .. } => {
                self.expr(schema, expr);
                self.select(schema, query);
            }
            Pred::Exists { query, .. } => self.select(schema, query),
            Pred::Like { expr, text, .. } => {
                self.expr(schema, expr);
                self.values.push(Value::Text(text.clone()));
            }
            Pred::Null { expr, .. } => self.expr(schema, expr),
            Pred::Not(inner) => self.pred(schema, inner),
            Pred::All(several) | Pred::Any(several) => {
                for p in several {
                    self.pred(schema, p);
                }
            }
        }
    }
}

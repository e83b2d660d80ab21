//! Queries for rows of a table: lists, counts, shares.

use std::collections::BTreeSet;

use super::{Compiler, Scope, first_with_ties, output_name, unique};
use crate::meaning::{Measure, Measured, OrderBy, Output, Unsure};
use crate::plan::{Agg, Expr, Order, Pred, Select};
use crate::schema::{ColumnId, Root, TableId};

impl Compiler<'_> {
    pub(super) fn rows(&mut self) -> Result<Select, Unsure> {
        let intent = self.intent;
        let root = self.row_root()?;
        let mut scope = Scope::new(self, root);
        let filter = self.conditions(&mut scope, &intent.conds)?;
        let mut outputs: Vec<Output> = intent.outputs.clone();
        let own_choice = outputs.is_empty();
        if own_choice {
            outputs = self.schema.shown_columns(intent.subject).into_iter().map(Output::Column).collect();
        }
        // What decides the order is shown, too, where the question left the columns open.
        let ranked = intent.rank.and_then(|r| match r.by {
            OrderBy::Column(c) => Some((c, r)),
            OrderBy::Measure(_) => None,
        });
        if let Some((c, _)) = ranked
            && own_choice
            && !outputs.contains(&Output::Column(c))
        {
            outputs.push(Output::Column(c));
        }
        let mut items = Vec::new();
        // `the most expensive product of each category`: the group is shown first.
        let mut within = Vec::new();
        for key in &intent.keys {
            let (shown, group) = self.key(&mut scope, *key, false)?;
            within.extend(group);
            items.extend(shown);
        }
        for output in &outputs {
            let expr = match output {
                Output::Column(c) => scope.column(self, *c, true)?,
                Output::Parent { edge, column } => scope.parent(self, *edge, *column, true),
            };
            items.push((expr, output_name(self.schema, output)));
        }
        let shown = items.len();
        let plain: Vec<Expr> = items.iter().map(|(e, _)| e.clone()).collect();
        let mut select =
            Select { distinct: intent.distinct, items: unique(items), filter, ..Select::default() };
        select.limit = intent.limit;
        if let Some((column, rank)) = ranked {
            let expr = scope.column(self, column, false)?;
            select.filter.push(Pred::Null { expr: expr.clone(), negated: true });
            let by = Order { expr, descending: rank.descending };
            if !within.is_empty() {
                scope.finish(self, &mut select);
                let places = rank.limit.and_then(|l| u32::try_from(l).ok()).unwrap_or(1);
                return Ok(super::first_within(select, within, vec![by], shown, places));
            }
            if rank.limit.is_none() && rank.place.is_none() {
                scope.finish(self, &mut select);
                return Ok(first_with_ties(select, vec![by], shown));
            }
            select.order.push(by);
            select.limit = rank.limit.or(Some(1));
            select.offset = rank.place.map(|p| p.saturating_sub(1));
        }
        for (by, descending) in &intent.order {
            if let OrderBy::Column(c) = by {
                let expr = scope.column(self, *c, true)?;
                select.order.push(Order { expr, descending: *descending });
            }
        }
        // The rest of the order only makes the answer the same each time.
        if select.order.is_empty() {
            select.order.extend(plain.into_iter().map(|expr| Order { expr, descending: false }));
        } else if !select.distinct
            && let Some(key) = self.schema.single_key(root)
        {
            let expr = scope.column(self, key, true)?;
            if !select.order.iter().any(|o| o.expr == expr) {
                select.order.push(Order { expr, descending: false });
            }
        }
        if select.distinct {
            // An order by what is not shown is impossible among different rows.
            let shown: Vec<Expr> = select.items.iter().map(|i| i.expr.clone()).collect();
            let asked = intent.order.len() + usize::from(ranked.is_some());
            if select.order.iter().take(asked).any(|o| !shown.contains(&o.expr)) {
                return Err(Unsure::new("different rows cannot be ordered by a column that is not shown")
                    .with([intent.subject]));
            }
            select.order.retain(|o| shown.contains(&o.expr));
        }
        scope.finish(self, &mut select);
        Ok(select)
    }

    /// The table whose rows are listed: the subject, or the one that links it with all that is shown.
    fn row_root(&self) -> Result<TableId, Unsure> {
        let intent = self.intent;
        let mut tables = BTreeSet::from([intent.subject]);
        for output in &intent.outputs {
            if let Output::Column(c) = output {
                tables.insert(c.table);
            }
        }
        for key in &intent.keys {
            match key {
                crate::meaning::Key::Entity(t) => _ = tables.insert(*t),
                crate::meaning::Key::Column(c) | crate::meaning::Key::Part(_, c) => {
                    _ = tables.insert(c.table);
                }
                crate::meaning::Key::Parent(_) => {}
            }
        }
        if let Some(OrderBy::Column(c)) = intent.rank.map(|r| r.by) {
            tables.insert(c.table);
        }
        for (by, _) in &intent.order {
            if let OrderBy::Column(c) = by {
                tables.insert(c.table);
            }
        }
        match self.schema.root(&tables) {
            Root::One(root) => Ok(root),
            Root::Many(roots) if roots.contains(&intent.subject) => Ok(intent.subject),
            Root::Many(roots) => Err(Unsure::new("the tables are linked in several ways").with(roots)),
            Root::None => {
                let other = tables.iter().find(|t| **t != intent.subject).copied().unwrap_or(intent.subject);
                Err(self.apart(intent.subject, other))
            }
        }
    }

    pub(super) fn count(&mut self) -> Result<Select, Unsure> {
        let intent = self.intent;
        if intent.rank.is_some() {
            return Err(Unsure::new("what is counted is not clear").with([intent.subject]));
        }
        let root = intent.counted.map_or(intent.subject, |c| c.table);
        let mut scope = Scope::new(self, root);
        let filter = self.conditions(&mut scope, &intent.conds)?;
        let (expr, of) = if let Some(column) = intent.counted {
            let arg = Box::new(scope.column(self, column, false)?);
            (Expr::Agg { f: Agg::Count, distinct: true, arg }, Measured::Values(column))
        } else {
            (Expr::CountAll, Measured::Rows(root))
        };
        let name = super::figure_name(self.schema, &Measure { agg: Agg::Count, of });
        let mut select = Select { items: unique(vec![(expr, name)]), filter, ..Select::default() };
        scope.finish(self, &mut select);
        Ok(select)
    }

    /// The part of the whole, in percent.
    pub(super) fn share(&mut self) -> Result<Select, Unsure> {
        let intent = self.intent;
        let root = match intent.figures.as_slice() {
            [] => intent.subject,
            [only] => Self::measure_table(only),
            _ => return Err(Unsure::new("the share of several figures is asked for")),
        };
        let mut scope = Scope::new(self, root);
        let whole: Vec<_> = intent.conds.iter().filter(|c| !c.share).cloned().collect();
        let part: Vec<_> = intent.conds.iter().filter(|c| c.share).cloned().collect();
        let filter = self.conditions(&mut scope, &whole)?;
        let all = self.conditions(&mut scope, &part)?;
        let (counted, total) = match intent.figures.first() {
            None => {
                let then = Box::new(Expr::Constant(1));
                let arg = Box::new(Expr::When { all, then });
                (Expr::Agg { f: Agg::Count, distinct: false, arg }, Expr::CountAll)
            }
            Some(m) => {
                let value = self.measured(&mut scope, &m.of)?;
                let sum = |arg: Expr| Expr::Agg { f: Agg::Sum, distinct: false, arg: Box::new(arg) };
                (sum(Expr::When { all, then: Box::new(value.clone()) }), sum(value))
            }
        };
        let percent = Expr::Divide(Box::new(Expr::Product(vec![Expr::Hundred, counted])), Box::new(total));
        let mut select =
            Select { items: unique(vec![(percent, "percent".into())]), filter, ..Select::default() };
        scope.finish(self, &mut select);
        // Rows of the whole that lack what the part asks for still belong to the whole.
        for join in &mut select.joins {
            join.left = true;
        }
        Ok(select)
    }

    pub(super) fn key_columns(&self, table: TableId) -> Vec<ColumnId> {
        self.schema.table(table).key.iter().map(|index| ColumnId { table, index: *index }).collect()
    }
}

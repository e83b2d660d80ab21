//! Conditions: on rows that are reached directly as they stand, on related rows as sub-queries.

use std::collections::{BTreeMap, BTreeSet};

use super::{Compiler, Scope, number};
use crate::intent::Day;
use crate::meaning::{Cond, Having, Key, Measure, Test, Unsure};
use crate::plan::{Agg, Expr, Op, Part, Pred, Select, Stored, Value};
use crate::schema::{ColumnId, Root, TableId};

impl Compiler<'_> {
    /// The conditions of a level.
    pub(super) fn conditions(&mut self, scope: &mut Scope, conds: &[Cond]) -> Result<Vec<Pred>, Unsure> {
        let mut out = Vec::new();
        let mut related: BTreeMap<usize, Vec<&Cond>> = BTreeMap::new();
        for cond in conds {
            let Some(table) = cond.test.table() else { continue };
            if self.route(scope.root, table)?.is_some() {
                out.push(self.direct(scope, cond)?);
            } else {
                related.entry(cond.branch).or_default().push(cond);
            }
        }
        // `neither Rock nor Jazz`: two denials are two, each with what else is said of its row.
        let related = related.into_values().flat_map(|branch| {
            let denied: Vec<&Cond> = branch.iter().filter(|c| c.neg).copied().collect();
            if denied.len() < 2 {
                return vec![branch];
            }
            let others: Vec<&Cond> = branch.into_iter().filter(|c| !c.neg).collect();
            denied.into_iter().map(|d| others.iter().copied().chain([d]).collect()).collect()
        });
        for branch in related {
            // Where one of a branch is negated, no row may fulfil all of it.
            let negated = branch.iter().any(|c| c.neg);
            let inner: Vec<Cond> = branch.into_iter().map(|c| Cond { neg: false, ..c.clone() }).collect();
            let together = self.related(scope, &inner, negated);
            match together {
                Ok(pred) => out.push(pred),
                // What lies on different sides is asked for one by one.
                Err(unsure) if inner.len() > 1 && !negated => {
                    for cond in &inner {
                        out.push(
                            self.related(scope, std::slice::from_ref(cond), false)
                                .map_err(|_| unsure.clone())?,
                        );
                    }
                }
                Err(unsure) => return Err(unsure),
            }
        }
        Ok(out)
    }

    /// A condition on a row that each row of the level has at most one of.
    fn direct(&mut self, scope: &mut Scope, cond: &Cond) -> Result<Pred, Unsure> {
        if let Test::Exists(table) = &cond.test {
            let key = self.schema.table(*table).key.first().copied().unwrap_or_default();
            let expr = scope.column(self, ColumnId { table: *table, index: key }, true)?;
            return Ok(Pred::Null { expr, negated: !cond.neg });
        }
        self.test(scope, &cond.test, cond.neg)
    }

    fn test(&mut self, scope: &mut Scope, test: &Test, neg: bool) -> Result<Pred, Unsure> {
        let not = |pred: Pred| if neg { Pred::Not(Box::new(pred)) } else { pred };
        Ok(match test {
            Test::In(columns, values) => {
                let expr = self.spaced(scope, columns)?;
                Pred::In { expr, values: values.clone(), negated: neg }
            }
            Test::Flag(column, values) => {
                let expr = scope.column(self, *column, false)?;
                Pred::In { expr, values: values.clone(), negated: neg }
            }
            Test::Compare(column, op, value) => {
                let op = if neg { op.negated() } else { *op };
                Pred::Compare(scope.column(self, *column, false)?, op, Expr::Value(value.clone()))
            }
            Test::Between(column, low, high) => {
                let expr = scope.column(self, *column, false)?;
                not(Pred::all(vec![
                    Pred::Compare(expr.clone(), Op::Ge, Expr::Value(low.clone())),
                    Pred::Compare(expr, Op::Le, Expr::Value(high.clone())),
                ]))
            }
            Test::Columns(a, op, b) => {
                let op = if neg { op.negated() } else { *op };
                Pred::Compare(scope.column(self, *a, false)?, op, scope.column(self, *b, false)?)
            }
            Test::Figure(column, op, agg) => {
                let op = if neg { op.negated() } else { *op };
                let expr = scope.column(self, *column, false)?;
                Pred::Compare(expr, op, Expr::Query(Box::new(self.whole_figure(*column, *agg)?)))
            }
            Test::Like(columns, place, text) => {
                let expr = self.spaced(scope, columns)?;
                Pred::Like { expr, text: text.clone(), place: *place, negated: neg }
            }
            Test::Missing(column) => Pred::Null { expr: scope.column(self, *column, false)?, negated: neg },
            Test::Given(column) => Pred::Null { expr: scope.column(self, *column, false)?, negated: !neg },
            Test::Within(column, from, before) => not(self.within(scope, *column, *from, *before)?),
            Test::Month(column, month) => {
                let expr = scope.column(self, *column, false)?;
                let stored = self.stored(*column);
                let part = Expr::Part { part: Part::Month, of: Box::new(expr), stored };
                let op = if neg { Op::Ne } else { Op::Eq };
                Pred::Compare(part, op, Expr::Constant(*month))
            }
            Test::Parent { edge, columns, values } => {
                let parts: Vec<Expr> = columns.iter().map(|c| scope.parent(self, *edge, *c, false)).collect();
                let expr = one_or_spaced(parts);
                Pred::In { expr, values: values.clone(), negated: neg }
            }
            Test::Grouped(table, having) => {
                let (expr, query) = self.group_keys(scope, *table, having)?;
                Pred::InQuery { expr, query: Box::new(query), negated: neg }
            }
            Test::Exists(table) => {
                let cond = Cond { test: Test::Exists(*table), neg, branch: 0, share: false, never: false };
                self.direct(scope, &cond)?
            }
            Test::Value(column, inner) => {
                let mut level = Scope::new(self, column.table);
                let shown = level.column(self, *column, false)?;
                let filter = vec![
                    self.test(&mut level, inner, false)?,
                    Pred::Null { expr: shown.clone(), negated: true },
                ];
                let mut query = Select { items: vec![item(shown)], filter, ..Select::default() };
                level.finish(self, &mut query);
                Pred::InQuery {
                    expr: scope.column(self, *column, false)?,
                    query: Box::new(query),
                    negated: neg,
                }
            }
            Test::Any(tests) => {
                let preds =
                    tests.iter().map(|t| self.test(scope, t, false)).collect::<Result<Vec<_>, _>>()?;
                not(Pred::Any(preds))
            }
        })
    }

    fn spaced(&mut self, scope: &mut Scope, columns: &[ColumnId]) -> Result<Expr, Unsure> {
        let parts = columns.iter().map(|c| scope.column(self, *c, false)).collect::<Result<Vec<_>, _>>()?;
        Ok(one_or_spaced(parts))
    }

    pub(super) fn stored(&self, column: ColumnId) -> Stored {
        self.intent.stored.get(&column).copied().unwrap_or(Stored::Text)
    }

    fn within(
        &mut self,
        scope: &mut Scope,
        column: ColumnId,
        from: Option<Day>,
        before: Option<Day>,
    ) -> Result<Pred, Unsure> {
        let stored = self.stored(column);
        let year_only = stored == Stored::Year;
        let whole = |day: Day| day.month == 1 && day.date == 1;
        if year_only && ![from, before].into_iter().flatten().all(whole) {
            let name = self.schema.spoken_column(column);
            return Err(
                Unsure::new(format!("{name} holds years only, and days were asked for")).with([column.table])
            );
        }
        let value = |day: Day| match stored {
            Stored::Native => Value::Date(day.iso()),
            Stored::Text => Value::Text(day.iso()),
            Stored::Epoch => Value::Int(day.epoch_days() * 86_400),
            Stored::Year => Value::Int(i64::from(day.year)),
        };
        let expr = scope.column(self, column, false)?;
        let mut preds = Vec::new();
        if let Some(day) = from {
            preds.push(Pred::Compare(expr.clone(), Op::Ge, Expr::Value(value(day))));
        }
        if let Some(day) = before {
            preds.push(Pred::Compare(expr, Op::Lt, Expr::Value(value(day))));
        }
        Ok(Pred::all(preds))
    }

    /// A figure over all rows of a column's table.
    fn whole_figure(&mut self, column: ColumnId, agg: Agg) -> Result<Select, Unsure> {
        let mut scope = Scope::new(self, column.table);
        let arg = Box::new(scope.column(self, column, false)?);
        let mut select = Select {
            items: vec![crate::plan::Item { expr: Expr::Agg { f: agg, distinct: false, arg }, alias: None }],
            ..Select::default()
        };
        scope.finish(self, &mut select);
        Ok(select)
    }

    /// The rows of the level for which a related row fulfils all conditions of a branch, or none does.
    fn related(&mut self, scope: &mut Scope, conds: &[Cond], negated: bool) -> Result<Pred, Unsure> {
        let tables: BTreeSet<TableId> = conds.iter().filter_map(|c| c.test.table()).collect();
        let mut required = tables.clone();
        required.insert(scope.root);
        match self.schema.root(&required) {
            Root::One(root) => self.semi_join(scope, scope.root, root, conds, negated),
            Root::Many(roots) => {
                let names: Vec<String> =
                    roots.iter().map(|t| self.schema.table(*t).name.name.clone()).collect();
                Err(Unsure::new(format!("the way may lead through {}", names.join(" or "))).with(roots))
            }
            Root::None => self.through(scope, &tables, conds, negated),
        }
    }

    /// Two sub-queries, one inside the other, where no single table links both sides.
    fn through(
        &mut self,
        scope: &mut Scope,
        tables: &BTreeSet<TableId>,
        conds: &[Cond],
        negated: bool,
    ) -> Result<Pred, Unsure> {
        let mut ways: Vec<(usize, TableId, TableId)> = Vec::new();
        for (middle, _) in self.schema.tables() {
            let mut far: BTreeSet<TableId> = tables.clone();
            far.insert(middle);
            let near = BTreeSet::from([scope.root, middle]);
            if let (Root::One(a), Root::One(_)) = (self.schema.root(&near), self.schema.root(&far))
                && middle != scope.root
                && !tables.contains(&middle)
            {
                let cost = self.schema.apart(scope.root, middle).unwrap_or(9)
                    + tables.iter().map(|t| self.schema.apart(middle, *t).unwrap_or(9)).sum::<usize>();
                ways.push((cost, middle, a));
            }
        }
        ways.sort_unstable();
        let Some((cost, middle, root)) = ways.first().copied() else {
            let other = tables.first().copied().unwrap_or(scope.root);
            return Err(self.apart(scope.root, other));
        };
        if ways.iter().filter(|(c, ..)| *c == cost).count() > 1 {
            let names = ways.iter().filter(|(c, ..)| *c == cost).map(|(_, t, _)| *t);
            return Err(Unsure::new("the way between the tables is not clear").with(names));
        }
        let mut inner = Scope::new(self, root);
        let mut preds = Vec::new();
        let mut at_middle = Scope::new(self, middle);
        let condition = self.related(&mut at_middle, conds, false)?;
        let Some(key) = self.schema.single_key(middle) else { return Err(self.apart(scope.root, middle)) };
        let mut middle_query = Select {
            items: vec![item(at_middle.column(self, key, false)?)],
            filter: vec![condition],
            ..Select::default()
        };
        at_middle.finish(self, &mut middle_query);
        let expr = inner.column(self, key, false)?;
        preds.push(Pred::InQuery { expr, query: Box::new(middle_query), negated: false });
        self.close(scope, scope.root, inner, preds, negated)
    }

    fn semi_join(
        &mut self,
        scope: &mut Scope,
        target: TableId,
        root: TableId,
        conds: &[Cond],
        negated: bool,
    ) -> Result<Pred, Unsure> {
        let mut inner = Scope::new(self, root);
        let mut preds = Vec::new();
        for cond in conds {
            // That a row exists is said by the sub-query itself, if it starts there.
            match &cond.test {
                Test::Exists(t) if *t == root => {}
                _ => preds.push(self.direct(&mut inner, cond)?),
            }
        }
        self.close(scope, target, inner, preds, negated)
    }

    /// Ties a sub-query to its level by the key of the level's table.
    fn close(
        &mut self,
        scope: &mut Scope,
        target: TableId,
        mut inner: Scope,
        mut preds: Vec<Pred>,
        negated: bool,
    ) -> Result<Pred, Unsure> {
        let Some(path) = self.route(inner.root, target)? else { return Err(self.apart(inner.root, target)) };
        let Some(edge) = path.last().and_then(|s| self.schema.edge(s.edge)).cloned() else {
            return Err(self.apart(inner.root, target));
        };
        let keys: Vec<usize> =
            if path.last().is_some_and(|s| s.reversed) { edge.columns } else { edge.target_columns };
        if let [only] = keys.as_slice() {
            let id = ColumnId { table: target, index: *only };
            let linked = inner.column(self, id, false)?;
            if negated {
                preds.push(Pred::Null { expr: linked.clone(), negated: true });
            }
            let mut query = Select { items: vec![item(linked)], filter: preds, ..Select::default() };
            inner.finish(self, &mut query);
            return Ok(Pred::InQuery {
                expr: scope.column(self, id, false)?,
                query: Box::new(query),
                negated,
            });
        }
        for index in keys {
            let id = ColumnId { table: target, index };
            preds.push(Pred::Compare(inner.column(self, id, false)?, Op::Eq, scope.column(self, id, false)?));
        }
        let mut query = Select { items: vec![item(Expr::Constant(1))], filter: preds, ..Select::default() };
        inner.finish(self, &mut query);
        Ok(Pred::Exists { query: Box::new(query), negated })
    }

    /// The keys of a table's rows whose groups fulfil a condition.
    fn group_keys(
        &mut self,
        scope: &mut Scope,
        table: TableId,
        having: &Having,
    ) -> Result<(Expr, Select), Unsure> {
        let Some(key) = self.schema.single_key(table) else {
            return Err(Unsure::new(format!(
                "{} has no key of one column",
                self.schema.table(table).name.name
            ))
            .with([table]));
        };
        let expr = scope.column(self, key, false)?;
        let root = self.group_root(&[Key::Entity(table)], &[having.measure])?;
        let mut inner = Scope::new(self, root);
        let linked = inner.column(self, key, false)?;
        let figure = self.figure(&mut inner, &having.measure)?;
        let mut query = Select {
            items: vec![item(linked.clone())],
            group: vec![linked],
            having: vec![Pred::Compare(figure, having.op, number(having.value))],
            ..Select::default()
        };
        inner.finish(self, &mut query);
        Ok((expr, query))
    }

    pub(super) fn measure_table(m: &Measure) -> TableId {
        match &m.of {
            crate::meaning::Measured::Line { quantity, .. } => quantity.table,
            other => other.table(),
        }
    }
}

fn item(expr: Expr) -> crate::plan::Item {
    crate::plan::Item { expr, alias: None }
}

fn one_or_spaced(mut parts: Vec<Expr>) -> Expr {
    if parts.len() == 1 { parts.pop().unwrap_or(Expr::Constant(0)) } else { Expr::Spaced(parts) }
}

//! Queries for figures: one line for each group, or one in all.

use std::collections::BTreeSet;

use super::{Compiler, Scope, figure_name, first_with_ties, number, output_name, unique};
use crate::meaning::{Form, Key, Measure, Measured, OrderBy, Output, Unsure};
use crate::plan::{Agg, Expr, Ident, Item, Join, Order, Pred, Select, Source};
use crate::schema::{ColumnId, Root, TableId};

/// What a key shows, with names, and what it groups by.
type ShownAndGrouped = (Vec<(Expr, String)>, Vec<Expr>);

impl Compiler<'_> {
    /// The table whose rows are added up: it reaches all keys, and sums are over its own rows.
    pub(super) fn group_root(&self, keys: &[Key], figures: &[Measure]) -> Result<TableId, Unsure> {
        let mut tables: BTreeSet<TableId> = figures.iter().map(Self::measure_table).collect();
        for key in keys {
            match key {
                Key::Entity(t) => _ = tables.insert(*t),
                Key::Column(c) | Key::Part(_, c) => _ = tables.insert(c.table),
                Key::Parent(edge) => tables.extend(self.schema.edge(*edge).map(|e| e.from)),
            }
        }
        if tables.is_empty() {
            tables.insert(self.intent.subject);
        }
        let root = match self.schema.root(&tables) {
            Root::One(root) => root,
            Root::Many(roots) => {
                let names: Vec<String> =
                    roots.iter().map(|t| self.schema.table(*t).name.name.clone()).collect();
                return Err(
                    Unsure::new(format!("the way may lead through {}", names.join(" or "))).with(roots)
                );
            }
            Root::None => {
                let mut list = tables.into_iter();
                let (a, b) = (list.next(), list.next());
                return Err(match (a, b) {
                    (Some(a), Some(b)) => self.apart(a, b),
                    _ => Unsure::new("no table fits the figures"),
                });
            }
        };
        for m in figures {
            let adds = matches!(m.agg, Agg::Sum | Agg::Avg);
            if adds && Self::measure_table(m) != root {
                let name = crate::meaning::spoken_measure(self.schema, &m.of);
                return Err(
                    Unsure::new(format!("{name} would be counted several times")).with([m.of.table(), root])
                );
            }
        }
        self.same_way(keys, figures, root)?;
        Ok(root)
    }

    /// Two figures are worked out over the rows of one table only where each alone would be, too; else one of
    /// them would be reached over the rows of the other.
    fn same_way(&self, keys: &[Key], figures: &[Measure], root: TableId) -> Result<(), Unsure> {
        if figures.len() < 2 {
            return Ok(());
        }
        for m in figures {
            let alone = self.group_root(keys, std::slice::from_ref(m));
            if !alone.as_ref().is_ok_and(|a| *a == root || self.schema.distance(root, *a).is_some()) {
                let name = crate::meaning::spoken_measure(self.schema, &m.of);
                let table = &self.schema.table(root).name.name;
                return Err(Unsure::new(format!(
                    "{name} would be reached through {table}, which it need not belong to"
                ))
                .with([m.of.table(), root]));
            }
        }
        Ok(())
    }

    /// The value that a figure adds up.
    pub(super) fn measured(&mut self, scope: &mut Scope, of: &Measured) -> Result<Expr, Unsure> {
        match of {
            Measured::Column(c) | Measured::Values(c) => scope.column(self, *c, false),
            Measured::Line { quantity, price, discount } => {
                let mut factors =
                    vec![scope.column(self, *quantity, false)?, scope.column(self, *price, false)?];
                if let Some(d) = discount {
                    let d = scope.column(self, *d, false)?;
                    factors.push(Expr::Minus(Box::new(Expr::Constant(1)), Box::new(d)));
                }
                Ok(Expr::Product(factors))
            }
            Measured::Rows(table) => {
                let key = self.schema.single_key(*table);
                match key {
                    Some(key) => scope.column(self, key, false),
                    None => Err(Unsure::new(format!(
                        "{} has no key of one column to count by",
                        self.schema.table(*table).name.name
                    ))
                    .with([*table])),
                }
            }
        }
    }

    pub(super) fn figure(&mut self, scope: &mut Scope, m: &Measure) -> Result<Expr, Unsure> {
        if let Measured::Rows(table) = &m.of {
            if *table == scope.root {
                return Ok(Expr::CountAll);
            }
            // A link that goes there and nowhere else twice: each row of the root is one of them.
            let arg = Box::new(self.measured(scope, &m.of)?);
            return Ok(Expr::Agg { f: Agg::Count, distinct: true, arg });
        }
        let distinct = matches!(m.of, Measured::Values(_));
        let arg = Box::new(self.measured(scope, &m.of)?);
        Ok(Expr::Agg { f: m.agg, distinct, arg })
    }

    /// What a key shows and what it groups by.
    pub(super) fn key(&mut self, scope: &mut Scope, key: Key, left: bool) -> Result<ShownAndGrouped, Unsure> {
        match key {
            Key::Column(c) => {
                let expr = scope.column(self, c, left)?;
                Ok((vec![(expr.clone(), self.schema.column(c).name.clone())], vec![expr]))
            }
            Key::Part(part, c) => {
                let of = scope.column(self, c, left)?;
                let name = match part {
                    crate::plan::Part::Year => "year",
                    crate::plan::Part::Quarter => "quarter",
                    crate::plan::Part::YearMonth | crate::plan::Part::Month => "month",
                    crate::plan::Part::Day => "day",
                    crate::plan::Part::Weekday => "weekday",
                };
                if self.stored(c) == crate::plan::Stored::Year {
                    return Ok((vec![(of.clone(), name.to_owned())], vec![of]));
                }
                let expr = Expr::Part { part, of: Box::new(of), stored: self.stored(c) };
                Ok((vec![(expr.clone(), name.to_owned())], vec![expr]))
            }
            Key::Entity(t) => {
                let mut group = Vec::new();
                for c in self.key_columns(t) {
                    group.push(scope.column(self, c, left)?);
                }
                let shown: Vec<ColumnId> = self.shown_of(t);
                let mut items = Vec::new();
                for c in shown {
                    let expr = scope.column(self, c, left)?;
                    if !group.contains(&expr) {
                        group.push(expr.clone());
                    }
                    items.push((expr, self.schema.column(c).name.clone()));
                }
                Ok((items, group))
            }
            Key::Parent(edge) => {
                let Some(e) = self.schema.edge(edge).cloned() else { return Ok((Vec::new(), Vec::new())) };
                let mut group = Vec::new();
                for c in self.key_columns(e.to) {
                    group.push(scope.parent(self, edge, c, false));
                }
                let mut items = Vec::new();
                for c in self.schema.shown_columns(e.to) {
                    let expr = scope.parent(self, edge, c, false);
                    if !group.contains(&expr) {
                        group.push(expr.clone());
                    }
                    items.push((expr, self.schema.column(c).name.clone()));
                }
                Ok((items, group))
            }
        }
    }

    /// The columns that are shown of a row that figures belong to.
    fn shown_of(&self, table: TableId) -> Vec<ColumnId> {
        if self.intent.figures.is_empty() && self.intent.having.is_empty() {
            let names = self.schema.name_columns(table);
            return if names.is_empty() { self.key_columns(table) } else { names };
        }
        let asked: Vec<ColumnId> = self
            .intent
            .outputs
            .iter()
            .filter_map(|o| match o {
                Output::Column(c) if self.schema.distance(table, c.table).is_some() => Some(*c),
                _ => None,
            })
            .collect();
        let several = self.intent.keys.iter().filter(|k| matches!(k, Key::Entity(_))).count() > 1;
        if asked.is_empty() || (several && !asked.iter().any(|c| c.table == table)) {
            let names = self.schema.name_columns(table);
            if names.is_empty() { self.key_columns(table) } else { names }
        } else if several {
            asked.into_iter().filter(|c| c.table == table).collect()
        } else {
            asked
        }
    }

    pub(super) fn grouped(&mut self) -> Result<Select, Unsure> {
        let intent = self.intent;
        if intent.with_empty
            && let [Key::Entity(table)] = intent.keys.as_slice()
        {
            return self.with_empty(*table);
        }
        let mut wanted: Vec<Measure> = intent.figures.clone();
        wanted.extend(intent.having.iter().map(|h| h.measure));
        let root = self.group_root(&intent.keys, &wanted)?;
        let mut scope = Scope::new(self, root);
        let mut filter = self.conditions(&mut scope, &intent.conds)?;
        let mut items = Vec::new();
        let mut group = Vec::new();
        let mut key_orders = Vec::new();
        for key in &intent.keys {
            let (shown, by) = self.key(&mut scope, *key, false)?;
            if let (Key::Column(_) | Key::Part(..), Some(_), Some(expr)) = (key, intent.rank, by.first()) {
                // Rows without a value are no group that could be first.
                filter.push(Pred::Null { expr: expr.clone(), negated: true });
            }
            key_orders.extend(shown.iter().map(|(e, _)| Order { expr: e.clone(), descending: false }));
            items.extend(shown);
            group.extend(by);
        }
        let mut dedup: Vec<Expr> = Vec::new();
        for g in group {
            if !dedup.contains(&g) {
                dedup.push(g);
            }
        }
        let group = dedup;
        for m in &intent.figures {
            let expr = self.figure(&mut scope, m)?;
            items.push((expr, figure_name(self.schema, m)));
        }
        if items.is_empty() {
            return Err(Unsure::new("which figure is wanted is not clear").with([intent.subject]));
        }
        let mut having = Vec::new();
        for h in &intent.having {
            let expr = self.figure(&mut scope, &h.measure)?;
            having.push(Pred::Compare(expr, h.op, number(h.value)));
        }
        let shown = items.len();
        let mut select =
            Select { items: unique(items), filter, group, having, limit: intent.limit, ..Select::default() };
        if let Some(rank) = intent.rank {
            let expr = match rank.by {
                OrderBy::Measure(m) => self.figure(&mut scope, &m)?,
                OrderBy::Column(c) => scope.column(self, c, false)?,
            };
            let by = Order { expr, descending: rank.descending };
            if rank.limit.is_none() && rank.place.is_none() {
                scope.finish(self, &mut select);
                return Ok(first_with_ties(select, vec![by], shown));
            }
            select.order.push(by);
            select.limit = rank.limit.or(Some(1));
            select.offset = rank.place.map(|p| p.saturating_sub(1));
        }
        for (by, descending) in &intent.order {
            let expr = match by {
                OrderBy::Measure(m) => self.figure(&mut scope, m)?,
                OrderBy::Column(c) => scope.column(self, *c, false)?,
            };
            select.order.push(Order { expr, descending: *descending });
        }
        if select.order.is_empty() && !intent.keys.is_empty() {
            let dated = intent.keys.iter().any(|k| matches!(k, Key::Part(..)));
            if !dated && let Some(m) = intent.figures.first() {
                let expr = self.figure(&mut scope, m)?;
                select.order.push(Order { expr, descending: true });
            }
        }
        select.order.extend(key_orders);
        if intent.form == Form::Versus {
            select.limit = None;
        }
        scope.finish(self, &mut select);
        Ok(select)
    }

    /// Groups of a table's rows where a row without any counts as zero.
    fn with_empty(&mut self, table: TableId) -> Result<Select, Unsure> {
        let intent = self.intent;
        let [having] = intent.having.as_slice() else {
            return Err(Unsure::new("several conditions on counts are asked for").with([table]));
        };
        let Some(key) = self.schema.single_key(table) else {
            return Err(Unsure::new(format!(
                "{} has no key of one column",
                self.schema.table(table).name.name
            ))
            .with([table]));
        };
        let root = self.group_root(&[Key::Entity(table)], &[having.measure])?;
        let mut inner = Scope::new(self, root);
        let linked = inner.column(self, key, false)?;
        let figure = self.figure(&mut inner, &having.measure)?;
        let (own, related): (Vec<_>, Vec<_>) = intent
            .conds
            .iter()
            .cloned()
            .partition(|c| c.test.table().is_some_and(|t| self.schema.distance(table, t).is_some()));
        let filter = self.conditions(&mut inner, &related)?;
        let name = Ident::new(figure_name(self.schema, &having.measure));
        let mut counted = Select {
            items: vec![
                Item { expr: linked.clone(), alias: Some(Ident::new("id")) },
                Item { expr: figure, alias: Some(name.clone()) },
            ],
            filter,
            group: vec![linked],
            ..Select::default()
        };
        inner.finish(self, &mut counted);
        let mut scope = Scope::new(self, table);
        let mut filter = self.conditions(&mut scope, &own)?;
        let mut items = Vec::new();
        for c in self.shown_of(table) {
            let expr = scope.column(self, c, true)?;
            items.push((expr, output_name(self.schema, &Output::Column(c))));
        }
        let of = Ident::new("counted");
        let count = Expr::Coalesce(
            Box::new(Expr::Column { of: of.clone(), name: name.clone() }),
            Box::new(Expr::Constant(0)),
        );
        items.push((count.clone(), name.0.clone()));
        filter.push(Pred::Compare(count.clone(), having.op, number(having.value)));
        let order = std::iter::once(Order { expr: count, descending: true })
            .chain(items.iter().map(|(e, _)| Order { expr: e.clone(), descending: false }).take(1))
            .collect();
        let own_key = scope.column(self, key, false)?;
        let mut select = Select { items: unique(items), filter, order, ..Select::default() };
        scope.finish(self, &mut select);
        select.joins.push(Join {
            left: true,
            source: Source::Query { query: Box::new(counted), alias: of.clone() },
            on: vec![(Expr::Column { of, name: Ident::new("id") }, own_key)],
        });
        Ok(select)
    }

    /// How many groups fulfil the conditions.
    pub(super) fn count_groups(&mut self) -> Result<Select, Unsure> {
        if self.intent.rank.is_some() {
            return Err(Unsure::new("what is counted is not clear").with([self.intent.subject]));
        }
        let mut inner = self.grouped()?;
        inner.order.clear();
        let name = match self.intent.keys.first() {
            Some(Key::Entity(t)) => {
                figure_name(self.schema, &Measure { agg: Agg::Count, of: Measured::Rows(*t) })
            }
            Some(Key::Column(c)) => {
                figure_name(self.schema, &Measure { agg: Agg::Count, of: Measured::Values(*c) })
            }
            _ => "number_of_groups".to_owned(),
        };
        Ok(Select {
            items: vec![Item { expr: Expr::CountAll, alias: Some(Ident::new(name)) }],
            from: Some(Source::Query { query: Box::new(inner), alias: Ident::new("groups_found") }),
            ..Select::default()
        })
    }

    /// The average of a figure over groups.
    pub(super) fn mean(&mut self) -> Result<Select, Unsure> {
        let Some(m) = self.intent.figures.first().copied() else {
            return Err(Unsure::new("which average is wanted is not clear"));
        };
        let mut inner = self.grouped()?;
        inner.order.clear();
        let alias = inner.items.last().and_then(|i| i.alias.clone()).unwrap_or_else(|| Ident::new("figure"));
        let name = format!("average_{}", figure_name(self.schema, &m));
        Ok(Select {
            items: vec![Item {
                expr: Expr::Agg { f: Agg::Avg, distinct: false, arg: Box::new(Expr::Alias(alias)) },
                alias: Some(Ident::new(name)),
            }],
            from: Some(Source::Query { query: Box::new(inner), alias: Ident::new("groups_found") }),
            ..Select::default()
        })
    }
}

//! From what a question means to one query: joins along links that never multiply rows, conditions on
//! related rows as sub-queries, groups, order and limits.

mod condition;
mod group;
mod rows;
mod scope;

use std::collections::{BTreeMap, BTreeSet};

use crate::meaning::{Form, Intent, Measure, Measured, Output, Unsure};
use crate::plan::{Agg, Expr, Ident, Item, Order, Pred, Select, Source, Value};
use crate::schema::{ColumnId, Edge, Path, Route, Schema, TableId};
use crate::words::plural;

pub(crate) use scope::Scope;

/// Builds the query of an intent.
pub(crate) fn compile(schema: &Schema, intent: &Intent) -> Result<Select, Unsure> {
    let mut compiler = Compiler { schema, intent, names: BTreeMap::new(), followed: BTreeSet::new() };
    compiler.build()
}

/// Which links a query follows, where they had to be taken for one or chosen among several; for people.
#[derive(Debug, Clone, Default)]
pub(crate) struct Taken {
    /// Links without a declared key, one sentence each.
    pub(crate) assumed: Vec<String>,
    /// Columns that link two tables which others link, too: `game.home_team_id`.
    pub(crate) chosen: Vec<String>,
}

/// The links that the query of an intent follows.
pub(crate) fn links_taken(schema: &Schema, intent: &Intent) -> Taken {
    let mut compiler = Compiler { schema, intent, names: BTreeMap::new(), followed: BTreeSet::new() };
    if compiler.build().is_err() {
        return Taken::default();
    }
    let column = |e: &Edge| {
        e.columns
            .first()
            .map(|c| schema.spoken_column(ColumnId { table: e.from, index: *c }))
            .unwrap_or_default()
    };
    let edges: Vec<(usize, &Edge)> =
        compiler.followed.iter().filter_map(|e| Some((*e, schema.edge(*e)?))).collect();
    let assumed = edges
        .iter()
        .filter(|(_, e)| e.assumed)
        .map(|(_, e)| format!("{} is taken to point to {}", column(e), schema.table(e.to).name.name))
        .collect();
    let twin = |at: usize, e: &Edge| schema.edges().any(|(i, o)| i != at && o.from == e.from && o.to == e.to);
    let chosen = edges.iter().filter(|(at, e)| twin(*at, e)).map(|(_, e)| column(e)).collect();
    Taken { assumed, chosen }
}

pub(crate) struct Compiler<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) intent: &'a Intent,
    /// How often each alias was given.
    names: BTreeMap<String, usize>,
    /// Links that were followed.
    followed: BTreeSet<usize>,
}

impl Compiler<'_> {
    fn build(&mut self) -> Result<Select, Unsure> {
        let ranked_rows = matches!(self.intent.rank.map(|r| r.by), Some(crate::meaning::OrderBy::Column(_)))
            && self.intent.figures.is_empty()
            && self.intent.having.is_empty();
        if ranked_rows && self.intent.form == Form::Rows {
            return self.rows();
        }
        let grouped =
            !self.intent.keys.is_empty() || !self.intent.figures.is_empty() || !self.intent.having.is_empty();
        match self.intent.form {
            Form::Share => self.share(),
            Form::MeanOfGroups => self.mean(),
            Form::Count if grouped => self.count_groups(),
            Form::Count => self.count(),
            Form::Rows | Form::Exists | Form::Versus if grouped => self.grouped(),
            Form::Rows | Form::Exists | Form::Versus => self.rows(),
        }
    }

    /// An alias for a table that no other part of the statement has.
    fn alias(&mut self, name: &str) -> Ident {
        let count = self.names.entry(name.to_owned()).or_default();
        *count += 1;
        if *count == 1 { Ident::new(name) } else { Ident::new(format!("{name}_{count}")) }
    }

    /// The way from one table to another, or why there is none.
    fn route(&self, from: TableId, to: TableId) -> Result<Option<Path>, Unsure> {
        match self.schema.route(from, to, &self.intent.hints) {
            Route::None => Ok(None),
            Route::One(path) => Ok(Some(path)),
            Route::Many(paths) => {
                let (a, b) = (&self.schema.table(from).name.name, &self.schema.table(to).name.name);
                let way = |p: &Path| {
                    let mut edges = p.iter().filter_map(|s| self.schema.edge(s.edge));
                    let first = edges.clone().next();
                    let edge = edges.find(|e| !e.role.is_empty()).or(first)?;
                    let index = *edge.columns.first()?;
                    Some(self.schema.spoken_column(ColumnId { table: edge.from, index }))
                };
                let ways: Vec<String> = paths.iter().filter_map(way).collect();
                Err(Unsure::new(format!("{a} and {b} are linked in several ways ({})", ways.join(", ")))
                    .with([from, to]))
            }
        }
    }

    fn apart(&self, a: TableId, b: TableId) -> Unsure {
        let (x, y) = (&self.schema.table(a).name.name, &self.schema.table(b).name.name);
        Unsure::new(format!("no way was found that leads from {x} to {y}")).with([a, b])
    }
}

/// A name for a figure.
pub(crate) fn figure_name(schema: &Schema, m: &Measure) -> String {
    let of = match &m.of {
        Measured::Rows(t) => {
            let mut words = schema.table(*t).label.words.clone();
            if let Some(last) = words.last_mut() {
                *last = plural(last);
            }
            return format!("number_of_{}", words.join("_"));
        }
        Measured::Values(c) => {
            let mut words = schema.column(*c).label.words.clone();
            if let Some(last) = words.last_mut() {
                *last = plural(last);
            }
            return format!("number_of_{}", words.join("_"));
        }
        Measured::Column(c) => schema.column(*c).name.clone(),
        Measured::Line { .. } => "amount".to_owned(),
    };
    let dated = matches!(&m.of, Measured::Column(c) if schema.column(*c).class == crate::schema::Class::Date);
    let word = match m.agg {
        Agg::Min if dated => "earliest",
        Agg::Max if dated => "latest",
        Agg::Count => "number_of",
        Agg::Sum => "total",
        Agg::Avg => "average",
        Agg::Min => "lowest",
        Agg::Max => "highest",
    };
    if m.agg == Agg::Sum && of.to_lowercase().starts_with("total") { of } else { format!("{word}_{of}") }
}

/// The items of a query with aliases that differ.
pub(super) fn unique(items: Vec<(Expr, String)>) -> Vec<Item> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    items
        .into_iter()
        .map(|(expr, name)| {
            let count = seen.entry(name.to_lowercase()).or_default();
            *count += 1;
            let alias = if *count == 1 { name } else { format!("{name}_{count}") };
            Item { expr, alias: Some(Ident::new(alias)) }
        })
        .collect()
}

/// Keeps the rows that come first by an order, with all that are equal to it.
pub(super) fn first_with_ties(inner: Select, orders: Vec<Order>, shown: usize) -> Select {
    first_within(inner, Vec::new(), orders, shown, 1)
}

/// The same within each group, for the first `places`.
pub(super) fn first_within(
    mut inner: Select,
    within: Vec<Expr>,
    by: Vec<Order>,
    shown: usize,
    places: u32,
) -> Select {
    let place = Ident::new("place");
    inner.items.push(Item { expr: Expr::Rank { within, by }, alias: Some(place.clone()) });
    inner.order.clear();
    let items: Vec<Item> = inner
        .items
        .iter()
        .take(shown)
        .filter_map(|i| i.alias.clone())
        .map(|a| Item { expr: Expr::Alias(a), alias: None })
        .collect();
    let order = items.iter().take(1).map(|i| Order { expr: i.expr.clone(), descending: false }).collect();
    Select {
        items,
        from: Some(Source::Query { query: Box::new(inner), alias: Ident::new("ranked") }),
        filter: vec![Pred::Compare(Expr::Alias(place), crate::plan::Op::Le, Expr::Constant(places))],
        order,
        ..Select::default()
    }
}

pub(super) fn number(value: f64) -> Expr {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number well within 64 bits")]
        return Expr::Value(Value::Int(value as i64));
    }
    Expr::Value(Value::Real(value))
}

pub(super) fn output_name(schema: &Schema, output: &Output) -> String {
    match output {
        Output::Column(c) => schema.column(*c).name.clone(),
        Output::Parent { edge, column } => {
            let role = schema.edge(*edge).map(|e| e.role.join("_")).filter(|r| !r.is_empty());
            format!("{}_{}", role.unwrap_or_else(|| "parent".into()), schema.column(*column).name)
        }
    }
}

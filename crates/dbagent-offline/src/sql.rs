//! Prints a query for a dialect: names in its quotes, values as its placeholders.

use std::fmt::Write as _;

use dbagent_core::name::ObjectName;
use serde_json::{Value as Json, json};

use crate::plan::{Agg, Expr, Ident, Join, Op, Order, Part, Place, Pred, Select, Source, Stored, Value};

/// The SQL of an engine, as far as the planner must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
    MySql,
    DuckDb,
}

impl Dialect {
    /// The dialect that a text for the model names; absent where it names none.
    pub(crate) fn named_in(text: &str) -> Option<Self> {
        let text = text.to_lowercase();
        let names = [
            ("sqlite", Self::Sqlite),
            ("postgres", Self::Postgres),
            ("mysql", Self::MySql),
            ("mariadb", Self::MySql),
            ("duckdb", Self::DuckDb),
        ];
        let mut found: Vec<(usize, Self)> =
            names.into_iter().filter_map(|(name, d)| text.find(name).map(|at| (at, d))).collect();
        found.sort_by_key(|(at, _)| *at);
        found.first().map(|(_, d)| *d)
    }

    fn quote(self) -> char {
        if self == Self::MySql { '`' } else { '"' }
    }

    fn placeholder(self, number: usize) -> String {
        if self == Self::Postgres { format!("${number}") } else { "?".to_owned() }
    }

    /// How a column of a date type keeps its values, where the engine decides it.
    pub(crate) fn stored(self) -> Option<Stored> {
        (self != Self::Sqlite).then_some(Stored::Native)
    }

    fn part(self, part: Part, column: &str, stored: Stored) -> String {
        let format = match part {
            Part::Year => "%Y",
            Part::YearMonth => "%Y-%m",
            Part::Month | Part::Quarter => "%m",
            Part::Day => "%Y-%m-%d",
            Part::Weekday => "%w",
        };
        let whole = |text: String| match part {
            Part::Quarter => format!("(CAST({text} AS INTEGER) + 2) / 3"),
            Part::YearMonth | Part::Day => text,
            _ => format!("CAST({text} AS INTEGER)"),
        };
        match (self, stored) {
            (Self::Sqlite, Stored::Epoch) => whole(format!("strftime('{format}', {column}, 'unixepoch')")),
            (Self::Sqlite, _) => whole(format!("strftime('{format}', {column})")),
            (_, Stored::Text) if part == Part::Weekday => {
                self.part(part, &format!("CAST({column} AS DATE)"), Stored::Native)
            }
            (_, Stored::Text) => whole(match part {
                Part::Year => format!("SUBSTR({column}, 1, 4)"),
                Part::YearMonth => format!("SUBSTR({column}, 1, 7)"),
                Part::Day | Part::Weekday => format!("SUBSTR({column}, 1, 10)"),
                Part::Month | Part::Quarter => format!("SUBSTR({column}, 6, 2)"),
            }),
            (Self::MySql, _) => match part {
                Part::YearMonth | Part::Day => format!("DATE_FORMAT({column}, '{format}')"),
                // Counted from 0 for Sunday, as the others do.
                Part::Weekday => format!("DAYOFWEEK({column}) - 1"),
                _ => format!("EXTRACT({} FROM {column})", field(part)),
            },
            (Self::DuckDb, _) => match part {
                Part::YearMonth | Part::Day => format!("STRFTIME({column}, '{format}')"),
                _ => format!("EXTRACT({} FROM {column})", field(part)),
            },
            (Self::Postgres, _) => match part {
                Part::YearMonth => format!("TO_CHAR({column}, 'YYYY-MM')"),
                Part::Day => format!("TO_CHAR({column}, 'YYYY-MM-DD')"),
                _ => format!("EXTRACT({} FROM {column})", field(part)),
            },
        }
    }
}

fn field(part: Part) -> &'static str {
    match part {
        Part::Year | Part::YearMonth => "YEAR",
        Part::Quarter => "QUARTER",
        Part::Month => "MONTH",
        Part::Day => "DAY",
        Part::Weekday => "DOW",
    }
}

/// A statement and its parameters, ready for the tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statement {
    pub(crate) text: String,
    pub(crate) params: Vec<Json>,
}

/// Prints a query.
pub(crate) fn print(select: &Select, dialect: Dialect) -> Statement {
    let mut printer = Printer { dialect, out: String::new(), params: Vec::new(), depth: 0 };
    printer.select(select);
    Statement { text: printer.out, params: printer.params }
}

struct Printer {
    dialect: Dialect,
    out: String,
    params: Vec<Json>,
    depth: usize,
}

impl Printer {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn ident(&mut self, ident: &Ident) {
        self.name(&ident.0);
    }

    fn name(&mut self, name: &str) {
        let quote = self.dialect.quote();
        self.out.push(quote);
        for c in name.chars() {
            if c == quote {
                self.out.push(quote);
            }
            self.out.push(c);
        }
        self.out.push(quote);
    }

    fn object(&mut self, object: &ObjectName) {
        // SQLite's own name for the file that was opened says nothing.
        if let Some(namespace) = object.namespace.as_deref().filter(|n| *n != "main") {
            self.name(namespace);
            self.put(".");
        }
        self.name(&object.name);
    }

    fn value(&mut self, value: &Value) {
        self.params.push(match value {
            Value::Text(t) => json!(t),
            Value::Int(n) => json!(n),
            Value::Real(x) => json!(x),
            Value::Date(d) => json!({ "$date": d }),
        });
        let placeholder = self.dialect.placeholder(self.params.len());
        self.put(&placeholder);
    }

    fn list<T>(&mut self, items: &[T], between: &str, mut each: impl FnMut(&mut Self, &T)) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.put(between);
            }
            each(self, item);
        }
    }

    /// Starts a clause: on a line of its own in the outer query.
    fn clause(&mut self, words: &str) {
        self.put(if self.depth == 0 { "\n" } else { " " });
        self.put(words);
        self.put(" ");
    }

    fn nested(&mut self, select: &Select) {
        self.depth += 1;
        self.put("(");
        self.select(select);
        self.put(")");
        self.depth -= 1;
    }

    fn select(&mut self, select: &Select) {
        self.put(if select.distinct { "SELECT DISTINCT " } else { "SELECT " });
        self.list(&select.items, ", ", |p, item| {
            p.expr(&item.expr);
            if let Some(alias) = &item.alias {
                p.put(" AS ");
                p.ident(alias);
            }
        });
        if let Some(from) = &select.from {
            self.clause("FROM");
            self.source(from);
        }
        for join in &select.joins {
            self.join(join);
        }
        if !select.filter.is_empty() {
            self.clause("WHERE");
            self.list(&select.filter, " AND ", Self::pred);
        }
        if !select.group.is_empty() {
            self.clause("GROUP BY");
            self.list(&select.group, ", ", Self::expr);
        }
        if !select.having.is_empty() {
            self.clause("HAVING");
            self.list(&select.having, " AND ", Self::pred);
        }
        if !select.order.is_empty() {
            self.clause("ORDER BY");
            self.orders(&select.order);
        }
        if let Some(limit) = select.limit {
            self.clause("LIMIT");
            // Writing to a String cannot fail.
            _ = write!(self.out, "{limit}");
            if let Some(offset) = select.offset {
                _ = write!(self.out, " OFFSET {offset}");
            }
        }
    }

    fn orders(&mut self, orders: &[Order]) {
        self.list(orders, ", ", |p, o| {
            p.expr(&o.expr);
            if o.descending {
                p.put(" DESC");
            }
        });
    }

    fn source(&mut self, source: &Source) {
        match source {
            Source::Table { name, alias } => {
                self.object(name);
                if alias.0 != name.name {
                    self.put(" AS ");
                    self.ident(alias);
                }
            }
            Source::Query { query, alias } => {
                self.nested(query);
                self.put(" AS ");
                self.ident(alias);
            }
            Source::Union { queries, alias } => {
                self.depth += 1;
                self.put("(");
                self.list(queries, "\nUNION ALL ", Self::select);
                self.put("\n) AS ");
                self.ident(alias);
                self.depth -= 1;
            }
        }
    }

    fn join(&mut self, join: &Join) {
        if join.on.is_empty() {
            self.clause("CROSS JOIN");
            self.source(&join.source);
            return;
        }
        self.clause(if join.left { "LEFT JOIN" } else { "JOIN" });
        self.source(&join.source);
        self.put(" ON ");
        self.list(&join.on, " AND ", |p, (a, b)| {
            p.expr(a);
            p.put(" = ");
            p.expr(b);
        });
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Column { of, name } => {
                self.ident(of);
                self.put(".");
                self.ident(name);
            }
            Expr::Alias(alias) => self.ident(alias),
            Expr::Value(value) => self.value(value),
            Expr::Constant(n) => self.put(&n.to_string()),
            Expr::Hundred => self.put("100.0"),
            Expr::CountAll => self.put("COUNT(*)"),
            Expr::Agg { f, distinct, arg } => {
                self.put(match f {
                    Agg::Count => "COUNT(",
                    Agg::Sum => "SUM(",
                    Agg::Avg => "AVG(",
                    Agg::Min => "MIN(",
                    Agg::Max => "MAX(",
                });
                if *distinct {
                    self.put("DISTINCT ");
                }
                self.expr(arg);
                self.put(")");
            }
            Expr::Product(factors) => self.list(factors, " * ", |p, f| match f {
                Expr::Minus(..) | Expr::Divide(..) => {
                    p.put("(");
                    p.expr(f);
                    p.put(")");
                }
                f => p.expr(f),
            }),
            Expr::Minus(a, b) => {
                self.expr(a);
                self.put(" - ");
                self.expr(b);
            }
            Expr::Divide(a, b) => {
                self.expr(a);
                self.put(" / ");
                self.expr(b);
            }
            Expr::Part { part, of, stored } => {
                // A part is taken of a column, which holds no parameter.
                let mut inner = Printer {
                    dialect: self.dialect,
                    out: String::new(),
                    params: Vec::new(),
                    depth: self.depth,
                };
                inner.expr(of);
                let text = self.dialect.part(*part, &inner.out, *stored);
                self.put(&text);
            }
            Expr::When { all, then } => {
                self.put("CASE WHEN ");
                self.list(all, " AND ", Self::pred);
                self.put(" THEN ");
                self.expr(then);
                self.put(" END");
            }
            Expr::Coalesce(a, b) => {
                self.put("COALESCE(");
                self.expr(a);
                self.put(", ");
                self.expr(b);
                self.put(")");
            }
            Expr::Lower(e) => {
                self.put("LOWER(");
                self.expr(e);
                self.put(")");
            }
            Expr::Spaced(parts) if self.dialect == Dialect::MySql => {
                self.put("CONCAT(");
                self.list(parts, ", ' ', ", Self::expr);
                self.put(")");
            }
            Expr::Spaced(parts) => self.list(parts, " || ' ' || ", Self::expr),
            Expr::Rank { within, by } => {
                self.put("RANK() OVER (");
                if !within.is_empty() {
                    self.put("PARTITION BY ");
                    self.list(within, ", ", Self::expr);
                    self.put(" ");
                }
                self.put("ORDER BY ");
                self.orders(by);
                self.put(")");
            }
            Expr::Query(query) => self.nested(query),
        }
    }

    fn pred(&mut self, pred: &Pred) {
        match pred {
            Pred::Compare(a, op, b) => {
                self.expr(a);
                self.put(match op {
                    Op::Eq => " = ",
                    Op::Ne => " <> ",
                    Op::Lt => " < ",
                    Op::Le => " <= ",
                    Op::Gt => " > ",
                    Op::Ge => " >= ",
                });
                self.expr(b);
            }
            Pred::In { expr, values, negated } => {
                self.expr(expr);
                match (values.as_slice(), negated) {
                    ([only], false) => {
                        self.put(" = ");
                        self.value(only);
                    }
                    ([only], true) => {
                        self.put(" <> ");
                        self.value(only);
                    }
                    _ => {
                        self.put(if *negated { " NOT IN (" } else { " IN (" });
                        self.list(values, ", ", Self::value);
                        self.put(")");
                    }
                }
            }
            Pred::InQuery { expr, query, negated } => {
                self.expr(expr);
                self.put(if *negated { " NOT IN " } else { " IN " });
                self.nested(query);
            }
            Pred::Exists { query, negated } => {
                self.put(if *negated { "NOT EXISTS " } else { "EXISTS " });
                self.nested(query);
            }
            Pred::Like { expr, text, place, negated } => {
                let mut pattern = String::new();
                if *place != Place::Start {
                    pattern.push('%');
                }
                for c in text.to_lowercase().chars() {
                    if matches!(c, '%' | '_' | '!') {
                        pattern.push('!');
                    }
                    pattern.push(c);
                }
                if *place != Place::End {
                    pattern.push('%');
                }
                self.put("LOWER(");
                self.expr(expr);
                self.put(if *negated { ") NOT LIKE " } else { ") LIKE " });
                self.value(&Value::Text(pattern));
                self.put(" ESCAPE '!'");
            }
            Pred::Null { expr, negated } => {
                self.expr(expr);
                self.put(if *negated { " IS NOT NULL" } else { " IS NULL" });
            }
            Pred::Not(inner) => {
                self.put("NOT (");
                self.pred(inner);
                self.put(")");
            }
            Pred::All(preds) | Pred::Any(preds) if preds.is_empty() => {
                self.put(if matches!(pred, Pred::All(_)) { "1 = 1" } else { "1 = 0" });
            }
            Pred::All(preds) => {
                self.put("(");
                self.list(preds, " AND ", Self::pred);
                self.put(")");
            }
            Pred::Any(preds) => {
                self.put("(");
                self.list(preds, " OR ", Self::pred);
                self.put(")");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Item;

    fn column(of: &str, name: &str) -> Expr {
        Expr::Column { of: Ident::new(of), name: Ident::new(name) }
    }

    fn sample() -> Select {
        Select {
            items: vec![Item { expr: column("we\"ird", "a b"), alias: Some(Ident::new("x")) }],
            from: Some(Source::Table {
                name: ObjectName::within("main", "we\"ird"),
                alias: Ident::new("we\"ird"),
            }),
            filter: vec![
                Pred::In {
                    expr: column("we\"ird", "c"),
                    values: vec![Value::Text("'; DROP TABLE x".into()), Value::Int(5)],
                    negated: false,
                },
                Pred::Like {
                    expr: column("we\"ird", "d"),
                    text: "100%".into(),
                    place: Place::Start,
                    negated: true,
                },
            ],
            limit: Some(3),
            ..Select::default()
        }
    }

    #[test]
    fn names_are_quoted_and_values_are_bound() {
        let s = print(&sample(), Dialect::Sqlite);
        assert_eq!(
            s.text,
            "SELECT \"we\"\"ird\".\"a b\" AS \"x\"\nFROM \"we\"\"ird\"\nWHERE \"we\"\"ird\".\"c\" IN (?, ?) AND \
             LOWER(\"we\"\"ird\".\"d\") NOT LIKE ? ESCAPE '!'\nLIMIT 3"
        );
        assert_eq!(s.params, [json!("'; DROP TABLE x"), json!(5), json!("100!%%")]);
    }

    #[test]
    fn each_dialect_has_its_own_signs() {
        assert!(print(&sample(), Dialect::Postgres).text.contains("IN ($1, $2)"));
        assert!(print(&sample(), Dialect::MySql).text.contains("`we\"ird`.`a b`"));
        assert_eq!(Dialect::named_in("Runs PostgreSQL, unlike SQLite"), Some(Dialect::Postgres));
        assert_eq!(Dialect::named_in("a database"), None);
    }

    #[test]
    fn parts_of_dates_follow_the_dialect() {
        let part = |d: Dialect, part, stored| {
            let expr = Expr::Part { part, of: Box::new(column("t", "d")), stored };
            print(&Select { items: vec![Item { expr, alias: None }], ..Select::default() }, d).text
        };
        assert_eq!(
            part(Dialect::Sqlite, Part::Year, Stored::Text),
            "SELECT CAST(strftime('%Y', \"t\".\"d\") AS INTEGER)"
        );
        assert_eq!(
            part(Dialect::Postgres, Part::Year, Stored::Native),
            "SELECT EXTRACT(YEAR FROM \"t\".\"d\")"
        );
        assert_eq!(
            part(Dialect::MySql, Part::YearMonth, Stored::Native),
            "SELECT DATE_FORMAT(`t`.`d`, '%Y-%m')"
        );
        // Sunday is 0 with every one of them.
        assert_eq!(part(Dialect::MySql, Part::Weekday, Stored::Native), "SELECT DAYOFWEEK(`t`.`d`) - 1");
        assert_eq!(
            part(Dialect::Postgres, Part::Weekday, Stored::Text),
            "SELECT EXTRACT(DOW FROM CAST(\"t\".\"d\" AS DATE))"
        );
    }
}

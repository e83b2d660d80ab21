//! Expressions, walked without recursion: a sum of ten thousand terms is as deep as it is long.

use dbagent_core::guard::{Finding, Rule};
use sqlite3_parser::ast::{Expr, FunctionCallOrder, LikeOperator, Literal, Operator, UnaryOperator};

use super::scope::Env;
use super::sizes;
use super::walk::Walk;

impl Walk<'_, '_> {
    /// An expression and everything in it.
    pub(super) fn expr(&mut self, root: &Expr<'_>, env: Env) {
        let mut open = vec![root];
        while let Some(expr) = open.pop() {
            let first = open.len();
            match expr {
                Expr::Between { lhs, not: _, start, end } => open.extend([*lhs, *start, *end]),
                Expr::Binary(left, operator, right) => {
                    self.binary(*operator);
                    open.extend([*left, *right]);
                }
                Expr::Case { base, when_then_pairs, else_expr } => {
                    open.extend(*base);
                    for (when, then) in *when_then_pairs {
                        open.extend([when, then]);
                    }
                    open.extend(*else_expr);
                }
                Expr::Cast { expr, type_name: _ } => open.push(expr),
                Expr::DoublyQualified(_schema, table, column) => {
                    let (table, column) = (self.word(table), self.word(column));
                    self.qualified_column(&table, column, env);
                }
                Expr::Exists(select) | Expr::Subquery(select) => self.select(select, env),
                Expr::FunctionCall { name, distinctness: _, args, order_by, filter_over } => {
                    let args = args.unwrap_or_default();
                    let word = self.word_of(name.0);
                    if let Some(message) = sizes::too_large(&word.text, args) {
                        self.find(Finding::new(Rule::SizeCap, message, word.span).choice("size_cap"));
                    }
                    if word.text.eq_ignore_ascii_case("match") {
                        for arg in args {
                            self.searched(arg, env);
                        }
                    }
                    self.function(word, Some(args.len()));
                    open.extend(args);
                    match order_by {
                        None => {}
                        Some(FunctionCallOrder::SortList(terms)) => {
                            open.extend(terms.iter().map(|t| &t.expr));
                        }
                    }
                    if let Some(tail) = filter_over {
                        self.tail(tail, env);
                    }
                }
                Expr::FunctionCallStar { name, filter_over } => {
                    let word = self.word_of(name.0);
                    self.function(word, Some(0));
                    if let Some(tail) = filter_over {
                        self.tail(tail, env);
                    }
                }
                Expr::Id(id) => {
                    let word = self.word_of(id.0);
                    self.column(word, env);
                }
                Expr::Name(name) => {
                    let word = self.word(name);
                    self.column(word, env);
                }
                Expr::InList { lhs, not: _, rhs } => {
                    open.push(lhs);
                    open.extend(rhs.unwrap_or_default());
                }
                Expr::InSelect { lhs, not: _, rhs } => {
                    open.push(lhs);
                    self.select(rhs, env);
                }
                Expr::InTable { lhs, not: _, rhs, args } => {
                    open.push(lhs);
                    let source = match args {
                        Some(args) => {
                            open.extend(*args);
                            self.table_call(rhs, args, None)
                        }
                        None => self.table_source(rhs, None, env),
                    };
                    self.column_of(source.objects, None, None);
                }
                Expr::Collate(inner, _) | Expr::IsNull(inner) | Expr::NotNull(inner) => open.push(inner),
                Expr::Like { lhs, not: _, op, rhs, escape } => {
                    if matches!(op, LikeOperator::Match) {
                        self.searched(lhs, env);
                    }
                    self.operator(match op {
                        LikeOperator::Glob => "glob",
                        LikeOperator::Like => "like",
                        LikeOperator::Match => "match",
                        LikeOperator::Regexp => "regexp",
                    });
                    open.extend([*lhs, *rhs]);
                    open.extend(*escape);
                }
                Expr::Literal(literal) => self.literal(literal),
                Expr::Parenthesized(items) => open.extend(items.iter()),
                Expr::Qualified(table, column) => {
                    let (table, column) = (self.word(table), self.word(column));
                    self.qualified_column(&table, column, env);
                }
                Expr::Raise(_, message) => {
                    if !self.in_trigger {
                        self.find(Finding::new(
                            Rule::UnknownSyntax,
                            "RAISE has a meaning only inside a trigger",
                            None,
                        ));
                    }
                    open.extend(*message);
                }
                Expr::Unary(operator, inner) => {
                    match operator {
                        UnaryOperator::BitwiseNot
                        | UnaryOperator::Negative
                        | UnaryOperator::Not
                        | UnaryOperator::Positive => {}
                    }
                    open.push(inner);
                }
                // Parameters are counted from the tokens: their numbers follow the order of the text.
                Expr::Variable(_) => {}
            }
            // Children come off the stack in the order of the text: parameters are counted in it.
            if let Some(children) = open.get_mut(first..) {
                children.reverse();
            }
        }
    }

    /// What a MATCH searches: whatever column stands there, a query of FTS3 or FTS4 may name any other of its
    /// table (`title MATCH 'email:ada'`), so all of them are read.
    fn searched(&mut self, expr: &Expr<'_>, env: Env) {
        let mut expr = expr;
        let name = loop {
            match expr {
                Expr::Parenthesized(items) => match items.first() {
                    Some(inner) => expr = inner,
                    None => return,
                },
                Expr::Collate(inner, _) | Expr::Unary(_, inner) => expr = inner,
                Expr::Id(id) => break self.word_of(id.0),
                Expr::Name(name) => break self.word(name),
                Expr::Qualified(table, _) | Expr::DoublyQualified(_, table, _) => break self.word(table),
                _ => return,
            }
        };
        match self.scopes.named(env.scope, &name.text).filter(|objects| !objects.is_empty()) {
            Some(objects) => self.column_of(objects, None, name.span),
            // The column of a sub-select or of a common table expression may be one of any table.
            None => self.searches.push(name.span),
        }
    }

    fn binary(&mut self, operator: Operator) {
        match operator {
            Operator::ArrowRight => self.operator("->"),
            Operator::ArrowRightShift => self.operator("->>"),
            Operator::Add
            | Operator::And
            | Operator::BitwiseAnd
            | Operator::BitwiseOr
            | Operator::Concat
            | Operator::Equals
            | Operator::Divide
            | Operator::Greater
            | Operator::GreaterEquals
            | Operator::Is
            | Operator::IsNot
            | Operator::LeftShift
            | Operator::Less
            | Operator::LessEquals
            | Operator::Modulus
            | Operator::Multiply
            | Operator::NotEquals
            | Operator::Or
            | Operator::RightShift
            | Operator::Subtract => {}
        }
    }

    fn literal(&mut self, literal: &Literal<'_>) {
        match literal {
            Literal::CurrentDate => self.operator("current_date"),
            Literal::CurrentTime => self.operator("current_time"),
            Literal::CurrentTimestamp => self.operator("current_timestamp"),
            Literal::Numeric(_)
            | Literal::String(_)
            | Literal::Blob(_)
            | Literal::Keyword(_)
            | Literal::Null => {}
        }
    }
}

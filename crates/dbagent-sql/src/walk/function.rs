//! Calls of functions, in whatever position.

use dbagent_core::guard::{Finding, Rule, Span};
use dbagent_core::{Effects, ObjectName as Name};
use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgOperator, FunctionArgumentClause,
    FunctionArgumentList, FunctionArguments, HavingBound, JsonReturningClause, ListAggOnOverflow, ObjectName,
    ObjectNamePart, UnaryOperator, Value,
};

use super::{Walk, clip};
use crate::options::Folding;

/// The largest constant that may say how long a text becomes.
const SIZE_CAP: f64 = 10_000_000.0;
/// Functions that make a value as long as an argument says, and which argument that is.
const SIZED: [(&str, usize); 8] = [
    ("lpad", 1),
    ("randomblob", 0),
    ("repeat", 1),
    ("replicate", 1),
    ("rpad", 1),
    ("space", 0),
    ("string_repeat", 1),
    ("zeroblob", 0),
];

impl Walk<'_> {
    pub(super) fn function(&mut self, function: &Function) {
        let arguments = match (&function.parameters, &function.args) {
            (FunctionArguments::None, FunctionArguments::None) => Some(0),
            (FunctionArguments::None, FunctionArguments::List(list)) => Some(list.args.len()),
            _ => None,
        };
        let span = self.place_of(&function.name);
        let name = self.call(&function.name, arguments, span);
        if let (Some(name), FunctionArguments::List(list)) = (&name, &function.args) {
            self.size(name, &list.args, span);
            if name == "columns" {
                // DuckDB: columns by a pattern.
                let objects = self.objects_here(0);
                self.star(objects, span);
            }
        }
        self.function_parts(function);
    }

    /// A function in FROM.
    pub(super) fn table_function(&mut self, name: &ObjectName, args: &[FunctionArg]) {
        let span = self.place_of(name);
        self.call(name, Some(args.len()), span);
        for arg in args {
            self.function_arg(arg, false);
        }
    }

    /// Everything that belongs to a call beside the function itself.
    pub(super) fn function_parts(&mut self, function: &Function) {
        let Function {
            name,
            uses_odbc_syntax: _,
            parameters,
            args,
            within_group,
            filter,
            null_treatment: _,
            over,
        } = function;
        // `count(*)` counts rows; any other function of `*` reads columns.
        let counts = matches!(name.0.as_slice(),
            [ObjectNamePart::Identifier(i)] if i.value.eq_ignore_ascii_case("count"));
        self.function_arguments(parameters, counts);
        self.function_arguments(args, counts);
        for item in within_group {
            self.order_expr(item);
        }
        self.optional(filter.as_deref());
        if let Some(window) = over {
            self.window(window);
        }
    }

    /// Notes a call and returns the function's name in lower case.
    fn call(&mut self, name: &ObjectName, arguments: Option<usize>, span: Option<Span>) -> Option<String> {
        let idents = self.idents(name)?;
        let spaces = self.grammar().builtin_spaces();
        let (own, qualified) = match idents.as_slice() {
            // The engine's own namespace: the function's bare name says all.
            [space, own] if spaces.iter().any(|s| s.eq_ignore_ascii_case(&space.value)) => (*own, false),
            [own] => (*own, false),
            [.., own] => (*own, true),
            [] => return None,
        };
        if qualified {
            let written: Vec<_> = idents.iter().map(|i| i.value.as_str()).collect();
            let written = written.join(".");
            let effects = self.grammar().known(&written).map_or(Effects::UNKNOWN, |k| k.effects);
            self.function_use(&written, arguments, effects, span);
            return None;
        }
        let lower = own.value.to_ascii_lowercase();
        // Standard SQL keeps the case of a quoted name: "Count" is not count.
        let other = own.quote_style.is_some()
            && self.grammar().how_names_fold() == Folding::Bare
            && own.value != lower;
        let other = other || (own.quote_style.is_some() && self.grammar().is_bare_function(&lower));
        let known = if other { None } else { self.grammar().known(&lower) };
        let effects = known.map_or(Effects::UNKNOWN, |k| k.effects);
        if let Some(choice) = known.and_then(|k| k.choice) {
            self.finding(
                Finding::new(
                    Rule::ForbiddenFunction,
                    format!("the function {} is not allowed here", clip(&own.value)),
                    span,
                )
                .choice(choice),
            );
        }
        self.function_use(&own.value, arguments, effects, span);
        Some(lower)
    }

    fn function_arguments(&mut self, arguments: &FunctionArguments, counts: bool) {
        match arguments {
            FunctionArguments::None => {}
            FunctionArguments::Subquery(query) => {
                let class = self.query(query);
                self.note_write(class);
            }
            FunctionArguments::List(FunctionArgumentList { duplicate_treatment: _, args, clauses }) => {
                for arg in args {
                    self.function_arg(arg, counts);
                }
                for clause in clauses {
                    self.argument_clause(clause);
                }
            }
        }
    }

    pub(super) fn function_arg(&mut self, arg: &FunctionArg, counts: bool) {
        match arg {
            FunctionArg::Unnamed(arg) => self.argument(arg, counts),
            FunctionArg::Named { name, arg, operator } => {
                // `f(@v := 1)` sets a variable where it is no name of an argument.
                if *operator == FunctionArgOperator::Assignment && name.value.starts_with('@') {
                    self.effect(Effects::SESSION);
                }
                self.argument(arg, counts);
            }
            FunctionArg::ExprNamed { name, arg, operator: _ } => {
                self.expr(name);
                self.argument(arg, counts);
            }
        }
    }

    fn argument_clause(&mut self, clause: &FunctionArgumentClause) {
        match clause {
            FunctionArgumentClause::IgnoreOrRespectNulls(_) | FunctionArgumentClause::JsonNullClause(_) => {}
            FunctionArgumentClause::Where(expr)
            | FunctionArgumentClause::Limit(expr)
            | FunctionArgumentClause::Having(HavingBound(_, expr)) => self.expr(expr),
            FunctionArgumentClause::OrderBy(items) => items.iter().for_each(|i| self.order_expr(i)),
            FunctionArgumentClause::OnOverflow(overflow) => match overflow {
                ListAggOnOverflow::Error => {}
                ListAggOnOverflow::Truncate { filler, with_count: _ } => self.optional(filler.as_deref()),
            },
            FunctionArgumentClause::Separator(value) => self.value(value),
            FunctionArgumentClause::JsonReturningClause(JsonReturningClause { data_type }) => {
                self.data_type(data_type);
            }
        }
    }

    /// Objects to a constant that asks for an unreasonable amount of memory.
    fn size(&mut self, name: &str, args: &[FunctionArg], span: Option<Span>) {
        let Some((_, index)) = SIZED.iter().find(|(n, _)| *n == name) else { return };
        let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))) = args.get(*index) else { return };
        let number = match expr {
            Expr::Value(value) => &value.value,
            Expr::UnaryOp { op: UnaryOperator::Plus, expr } => match expr.as_ref() {
                Expr::Value(value) => &value.value,
                _ => return,
            },
            _ => return,
        };
        if let Value::Number(digits, _) = number
            && digits.parse::<f64>().is_ok_and(|n| n > SIZE_CAP)
        {
            self.finding(
                Finding::new(
                    Rule::SizeCap,
                    format!("{name} would make a value of {} bytes", clip(digits)),
                    span,
                )
                .choice("size_cap"),
            );
        }
    }

    /// A custom operator: the database says what function is behind it.
    pub(super) fn custom_operator(&mut self, symbol: &str, span: Option<Span>) {
        let effects = self.grammar().known(symbol).map_or(Effects::UNKNOWN, |k| k.effects);
        self.function_use(symbol, Some(2), effects, span);
    }

    /// A type that the grammar does not know: a cast to it may call a function of its owner.
    pub(super) fn custom_type(&mut self, name: &ObjectName) {
        let span = self.place_of(name);
        let Some(idents) = self.idents(name) else { return };
        let written: Vec<_> = idents.iter().map(|i| i.value.as_str()).collect();
        let written = written.join(".");
        if !self.grammar().is_type(&Name::new(written.as_str())) {
            self.function_use(&written, Some(1), Effects::UNKNOWN, span);
        }
    }
}

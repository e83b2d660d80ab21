//! Calls of functions, in whatever position.

use dbagent_core::Effects;
use dbagent_core::guard::{Finding, Rule, Span};
use pg_query::protobuf::{FuncCall, NamedArgExpr, a_const};
use pg_query::{Node, NodeEnum};

use super::inner;
use super::scope::Env;
use super::secrets;
use super::walk::{Walk, qualified};
use crate::functions::{self, Called, Qualified};

/// The largest constant that may say how long a value becomes.
const SIZE_CAP: f64 = 10_000_000.0;
/// How deep calls that make long values of long values are looked into.
const SIZE_DEPTH: usize = 8;

impl Walk<'_> {
    pub(super) fn call<'n>(&mut self, call: &'n FuncCall, env: Env, open: &mut Vec<&'n Node>) {
        let FuncCall {
            funcname,
            args,
            agg_order,
            agg_filter,
            over,
            agg_within_group,
            // `count(*)` counts rows and reads no column.
            agg_star: _,
            agg_distinct,
            func_variadic,
            funcformat: _,
            location,
        } = call;
        let span = self.span(*location, funcname.len());
        let arguments = (!func_variadic).then_some(args.len());
        // What stands behind WITHIN GROUP are arguments too.
        let untyped =
            if *func_variadic || *agg_within_group { Called::ANY } else { self.untyped_arguments(args, env) };
        match qualified(funcname) {
            Some(name) => {
                self.untyped(&Called::Function(name.clone()), untyped);
                self.function(name, arguments, args, span);
            }
            None => self.unknown("the name of this function", span),
        }
        if *agg_distinct {
            self.operator_named(Qualified::bare("="), if untyped == 0 { 0 } else { Called::ANY }, None);
        }
        for arg in args {
            match inner(arg) {
                Some(NodeEnum::NamedArgExpr(named)) => {
                    let NamedArgExpr { xpr: _, arg, name: _, argnumber: _, location: _ } = named.as_ref();
                    open.extend(arg.as_deref());
                }
                _ => open.push(arg),
            }
        }
        for sort in agg_order {
            self.sorted(sort, &[], env);
        }
        open.extend(agg_filter.as_deref());
        if let Some(window) = over {
            self.window(window, env);
        }
    }

    fn function(&mut self, name: Qualified, arguments: Option<usize>, args: &[Node], span: Option<Span>) {
        let known = functions::known(&name, arguments);
        if let Some(choice) = known.and_then(|k| k.choice) {
            self.not_allowed(&name.name, choice, span);
        }
        if known.is_some() {
            self.sizes(&name.name, args, span);
        }
        if let Some(catalogue) = secrets::read_by(&name) {
            self.object(catalogue, false, span);
        }
        let effects = known.map_or(Effects::UNKNOWN, |k| k.effects);
        self.called(&Called::Function(name), arguments, effects, span);
    }

    /// Which arguments have no type of their own. One that is given by its name may be any.
    fn untyped_arguments(&self, args: &[Node], env: Env) -> i64 {
        let bit = |(at, arg): (usize, &Node)| match inner(arg) {
            Some(NodeEnum::NamedArgExpr(_)) => Called::ANY,
            _ if !self.is_untyped(arg, env) => 0,
            _ => u32::try_from(at).ok().and_then(|at| 1_i64.checked_shl(at)).unwrap_or(Called::ANY),
        };
        args.iter().enumerate().map(bit).fold(0, |all, bit| all | bit)
    }

    /// Objects to a function that a policy would have to choose.
    pub(super) fn not_allowed(&mut self, name: &str, choice: &str, span: Option<Span>) {
        let why = format!("the function {name} is not allowed here");
        self.find(Finding::new(Rule::ForbiddenFunction, why, span).choice(choice));
    }

    /// Objects to a constant that asks for an unreasonable amount of memory.
    fn sizes(&mut self, name: &str, args: &[Node], span: Option<Span>) {
        if let Some(size) = made_size(name, args, 0).filter(|size| *size > SIZE_CAP) {
            self.size_cap(format!("{name} would make a value of {size:.0} bytes or more"), span);
        }
    }
}

/// How large the value of a call is at least, where its constants tell.
fn made_size(name: &str, args: &[Node], depth: usize) -> Option<f64> {
    match (name, args) {
        ("repeat", [text, count]) => Some(number(count)? * size_of(text, depth).unwrap_or(1.0)),
        ("lpad" | "rpad", [_, length, ..]) => number(length),
        ("array_fill", [_, lengths, ..]) => match inner(lengths)? {
            NodeEnum::AArrayExpr(array) => array.elements.iter().map(number).product(),
            _ => None,
        },
        _ => None,
    }
}

fn size_of(node: &Node, depth: usize) -> Option<f64> {
    if depth > SIZE_DEPTH {
        return None;
    }
    match inner(node)? {
        NodeEnum::AConst(constant) => match constant.val.as_ref()? {
            a_const::Val::Sval(text) => Some(text.sval.len() as f64),
            _ => None,
        },
        NodeEnum::TypeCast(cast) => size_of(cast.arg.as_deref()?, depth + 1),
        NodeEnum::FuncCall(call) => {
            let name = qualified(&call.funcname)?;
            made_size(&name.name, &call.args, depth + 1)
        }
        _ => None,
    }
}

/// The number that a constant is, casts and signs aside.
fn number(node: &Node) -> Option<f64> {
    match inner(node)? {
        NodeEnum::AConst(constant) => match constant.val.as_ref()? {
            a_const::Val::Ival(n) => Some(f64::from(n.ival)),
            a_const::Val::Fval(n) => n.fval.replace('_', "").parse().ok(),
            a_const::Val::Sval(n) => n.sval.trim().replace('_', "").parse().ok(),
            _ => None,
        },
        NodeEnum::TypeCast(cast) => match cast.arg.as_deref().and_then(inner)? {
            NodeEnum::AConst(_) => number(cast.arg.as_deref()?),
            _ => None,
        },
        NodeEnum::AExpr(sum) => {
            let (left, right) = (sum.lexpr.as_deref(), number(sum.rexpr.as_deref()?)?);
            let name = qualified(&sum.name)?;
            match (name.name.as_str(), left) {
                ("+", None) => Some(right),
                ("+", Some(left)) => shallow(left).map(|l| l + right),
                ("*", Some(left)) => shallow(left).map(|l| l * right),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A constant and nothing else: sums and products are looked at one level deep.
fn shallow(node: &Node) -> Option<f64> {
    matches!(inner(node)?, NodeEnum::AConst(_)).then(|| number(node)).flatten()
}

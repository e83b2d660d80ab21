//! Constants that ask for unreasonable sizes. What is computed at run time meets the engine's own limit.

use sqlite3_parser::ast::{Expr, Literal, Operator, UnaryOperator};

use super::lex::unquote;

/// Bytes that a constant may ask for.
pub(crate) const MAX_BYTES: f64 = (1 << 20) as f64;
/// How deep constant arithmetic is followed.
const MAX_DEPTH: usize = 32;

/// Says what is too large about a call, if anything is.
pub(super) fn too_large(function: &str, args: &[Expr<'_>]) -> Option<String> {
    let is = |name: &str| function.eq_ignore_ascii_case(name);
    let size = if is("zeroblob") || is("randomblob") {
        constant(args.first()?, 0)?
    } else if is("printf") || is("format") {
        printed(args)?
    } else {
        return None;
    };
    (size.abs() > MAX_BYTES)
        .then(|| format!("{function} is asked for {size:.0} bytes, at most {MAX_BYTES:.0} are made"))
}

/// The bytes that a format asks for at least, as far as its text and its constants tell.
fn printed(args: &[Expr<'_>]) -> Option<f64> {
    let (format, rest) = args.split_first()?;
    let Expr::Literal(Literal::String(raw)) = format else { return None };
    let format = unquote(raw);
    let mut size = 0.0;
    let mut stars = false;
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            continue;
        }
        let mut number = 0.0_f64;
        // Flags, a width, a point, a precision; then the letter.
        while let Some(c) = chars.next_if(|c| c.is_ascii_digit() || "-+ #!,.*l0".contains(*c)) {
            if let Some(digit) = c.to_digit(10) {
                number = number.mul_add(10.0, f64::from(digit));
            } else {
                stars |= c == '*';
                size += number;
                number = 0.0;
            }
        }
        size += number;
        chars.next();
    }
    if stars {
        // Which argument is a width is not worth telling: a constant of that size is none of anything else.
        size += rest.iter().filter_map(|a| constant(a, 0)).map(f64::abs).fold(0.0, f64::max);
    }
    Some(size)
}

/// The value of an expression of constants.
fn constant(expr: &Expr<'_>, depth: usize) -> Option<f64> {
    if depth > MAX_DEPTH {
        return None;
    }
    let of = |e: &Expr<'_>| constant(e, depth + 1);
    if let Expr::Literal(Literal::Numeric(text)) = expr {
        return number(text);
    }
    if let Expr::Literal(Literal::String(raw)) = expr {
        return number(unquote(raw).trim());
    }
    if let Expr::Parenthesized(items) = expr
        && let [one] = items.as_slice()
    {
        return of(one);
    }
    if let Expr::Cast { expr, .. } | Expr::Collate(expr, _) = expr {
        return of(expr);
    }
    if let Expr::Unary(sign @ (UnaryOperator::Negative | UnaryOperator::Positive), inner) = expr {
        let value = of(inner)?;
        return Some(if *sign == UnaryOperator::Negative { -value } else { value });
    }
    if let Expr::Binary(left, operator, right) = expr {
        return calculate(of(left)?, *operator, of(right)?);
    }
    // Anything else is no constant, and the engine's limit is there for it.
    None
}

fn calculate(left: f64, operator: Operator, right: f64) -> Option<f64> {
    if operator == Operator::Add {
        Some(left + right)
    } else if operator == Operator::Subtract {
        Some(left - right)
    } else if operator == Operator::Multiply {
        Some(left * right)
    } else if operator == Operator::Divide && right != 0.0 {
        Some(left / right)
    } else if operator == Operator::LeftShift {
        Some(left * right.clamp(-64.0, 64.0).exp2())
    } else if operator == Operator::BitwiseOr {
        Some(left.max(right))
    } else {
        None
    }
}

fn number(text: &str) -> Option<f64> {
    let text = text.replace('_', "");
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok().map(|v| v as f64),
        None => text.parse().ok(),
    }
}

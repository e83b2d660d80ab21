//! Which columns an index would need for a condition of a plan, as the server prints it.
//!
//! Only conditions that a plain index serves: comparisons of a column with a literal, all of them joined by AND.
//! Of anything else it cannot be told here how much of its effect an index would have.

use dbagent_sql::sqlparser::ast::{BinaryOperator, Expr, Value};
use dbagent_sql::sqlparser::dialect::MySqlDialect;
use dbagent_sql::sqlparser::parser::Parser;

/// How deep a condition is read.
const DEEPEST: usize = 32;

/// A column that is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// Whether it is compared with a number: then a column of text is turned into numbers, and an index on it is
    /// of no use.
    pub(crate) with_number: bool,
}

/// The columns of a scan's condition, in an order that an index on them could use: those that equal something
/// before one that has a range.
pub(super) fn columns(condition: &str, alias: &str) -> Option<Vec<Column>> {
    let mut parser =
        Parser::new(&MySqlDialect {}).with_recursion_limit(DEEPEST).try_with_sql(condition).ok()?;
    let expression = parser.parse_expr().ok()?;
    // Something behind it that was not read may mean anything.
    if parser.peek_token().token != dbagent_sql::sqlparser::tokenizer::Token::EOF {
        return None;
    }
    let mut found: Vec<(bool, Column)> = Vec::new();
    gather(&expression, alias, &mut found)?;
    found.sort_by_key(|(is_range, _)| *is_range);
    // An index serves one range only.
    let ranges = found.iter().filter(|(is_range, _)| *is_range).count();
    (ranges <= 1 && !found.is_empty()).then(|| found.into_iter().map(|(_, c)| c).collect())
}

fn gather(expression: &Expr, alias: &str, found: &mut Vec<(bool, Column)>) -> Option<()> {
    match expression {
        Expr::Nested(inner) => gather(inner, alias, found),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            gather(left, alias, found)?;
            gather(right, alias, found)
        }
        Expr::BinaryOp { left, op, right } => {
            let is_range = match op {
                BinaryOperator::Eq => false,
                BinaryOperator::Lt | BinaryOperator::Gt | BinaryOperator::LtEq | BinaryOperator::GtEq => true,
                _ => return None,
            };
            let with_number = match right.as_ref() {
                Expr::Value(value) => match value.value {
                    Value::Number(..) => true,
                    Value::SingleQuotedString(_) => false,
                    _ => return None,
                },
                _ => return None,
            };
            let Expr::CompoundIdentifier(path) = left.as_ref() else { return None };
            // `table.column`, or `database.table.column`.
            let [.., table, name] = path.as_slice() else { return None };
            let column = Column { name: name.value.clone(), with_number };
            if table.value != alias {
                return None;
            }
            if !found.iter().any(|(_, c)| c.name == column.name) {
                found.push((is_range, column));
            }
            Some(())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_are_compared_with_literals() {
        let names = |condition: &str| {
            let columns = columns(condition, "b")?;
            Some(
                columns
                    .iter()
                    .map(|c| format!("{}{}", c.name, if c.with_number { "#" } else { "" }))
                    .collect::<Vec<_>>(),
            )
        };
        let of = |names: &[&str]| Some(names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        for (condition, expected) in [
            ("(b.`name` = 'name 7')", of(&["name"])),
            ("((`shapes`.`b`.`id` < 5) and (`shapes`.`b`.`name` = 'x'))", of(&["name", "id#"])),
            ("b.`name` = 'name 7' and b.kind > 2", of(&["name", "kind#"])),
            ("((b.id < 5) and (b.kind > 3))", None),
            ("((b.id = 5) or (b.kind = 3))", None),
            ("(lower(b.`name`) = 'x')", None),
            ("(b.id = c.id)", None),
            ("(c.id = 5)", None),
            ("(b.`name` like '%x%')", None),
            ("(b.id <> 5)", None),
            ("(b.id is null)", None),
            ("<in_optimizer>(b.id,b.id in (select 1))", None),
            ("(b.id = 5) trailing words", None),
            ("", None),
        ] {
            assert_eq!(names(condition), expected, "{condition}");
        }
        let deep = format!("{}b.id = 1{}", "(".repeat(5_000), ")".repeat(5_000));
        assert_eq!(names(&deep), None);
    }
}

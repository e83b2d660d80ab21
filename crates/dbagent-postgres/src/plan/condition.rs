//! Which columns an index would need for a condition of a plan, as the server prints it.
//!
//! Only conditions that a plain index serves: comparisons of a column with a constant, all of them joined by
//! AND. Of anything else it cannot be told here how much of its effect an index would have.

use pg_query::protobuf::{AExprKind, BoolExprType};
use pg_query::{NodeEnum, ParserOptions};

/// Brackets of a condition that is looked at, so that reading it needs little of a stack.
const MOST_BRACKETS: usize = 64;

/// A column that is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    /// Whether it is turned into text before, which costs nothing for `varchar` and the index otherwise.
    pub(super) as_text: bool,
}

/// The columns of a scan's condition, in an order that an index on them could use: those that equal something
/// before one that has a range.
pub(super) fn columns(filter: &str, alias: &str) -> Option<Vec<Column>> {
    let condition = parse(filter)?;
    let mut found: Vec<(bool, Column)> = Vec::new();
    for term in terms(&condition)? {
        let (operator, left, right) = comparison(term)?;
        let column = column(left, alias).filter(|_| is_constant(right))?;
        let is_range = match operator {
            "=" => false,
            "<" | ">" | "<=" | ">=" => true,
            _ => return None,
        };
        if !found.iter().any(|(_, c)| *c == column) {
            found.push((is_range, column));
        }
    }
    found.sort_by_key(|(is_range, _)| *is_range);
    // An index serves one range only.
    let ranges = found.iter().filter(|(is_range, _)| *is_range).count();
    (ranges <= 1 && !found.is_empty()).then(|| found.into_iter().map(|(_, c)| c).collect())
}

/// The column of the inner side of a loop whose condition is one equality with something of the outer side.
pub(super) fn joined_column(filter: &str, alias: &str) -> Option<Column> {
    let condition = parse(filter)?;
    let [term] = terms(&condition)?.try_into().ok()?;
    let (operator, left, right) = comparison(term)?;
    let own = |side| column(side, alias);
    match (own(left), own(right)) {
        (Some(column), None) if operator == "=" && qualifier(right)? != alias => Some(column),
        (None, Some(column)) if operator == "=" && qualifier(left)? != alias => Some(column),
        _ => None,
    }
}

fn parse(filter: &str) -> Option<NodeEnum> {
    if filter.matches(['(', '[']).count() > MOST_BRACKETS {
        return None;
    }
    // What stands for a sub-plan is no SQL, and ends here.
    let parsed = pg_query::parse(&format!("SELECT {filter}"), ParserOptions::DEFAULT).ok()?;
    let [only] = parsed.protobuf.stmts.as_slice() else { return None };
    let Some(NodeEnum::SelectStmt(select)) = only.stmt.as_deref()?.node.as_ref() else { return None };
    let [target] = select.target_list.as_slice() else { return None };
    let Some(NodeEnum::ResTarget(target)) = target.node.as_ref() else { return None };
    target.val.as_deref()?.node.clone()
}

/// The parts of an AND, or the condition itself.
fn terms(condition: &NodeEnum) -> Option<Vec<&NodeEnum>> {
    match condition {
        NodeEnum::BoolExpr(all) if all.boolop == BoolExprType::AndExpr as i32 => {
            all.args.iter().map(|arg| arg.node.as_ref()).collect()
        }
        NodeEnum::BoolExpr(_) => None,
        one => Some(vec![one]),
    }
}

/// The operator and both sides of a comparison; `= ANY` of a constant list counts as `=`.
fn comparison(term: &NodeEnum) -> Option<(&str, &NodeEnum, &NodeEnum)> {
    let NodeEnum::AExpr(expr) = term else { return None };
    let [name] = expr.name.as_slice() else { return None };
    let Some(NodeEnum::String(operator)) = name.node.as_ref() else { return None };
    let (left, right) = (expr.lexpr.as_deref()?.node.as_ref()?, expr.rexpr.as_deref()?.node.as_ref()?);
    let is_plain = expr.kind == AExprKind::AexprOp as i32;
    let is_any = expr.kind == AExprKind::AexprOpAny as i32 && operator.sval == "=";
    (is_plain || is_any).then_some((operator.sval.as_str(), left, right))
}

fn column(side: &NodeEnum, alias: &str) -> Option<Column> {
    let (side, as_text) = match side {
        NodeEnum::TypeCast(cast) => {
            let names = &cast.type_name.as_ref()?.names;
            let last = names.last()?.node.as_ref()?;
            let NodeEnum::String(last) = last else { return None };
            (cast.arg.as_deref()?.node.as_ref()?, (last.sval == "text").then_some(true)?)
        }
        side => (side, false),
    };
    let [table, name] = path(side)?.try_into().ok()?;
    (table == alias).then(|| Column { name: name.to_owned(), as_text })
}

/// The table that a plain column of a condition is of.
fn qualifier(side: &NodeEnum) -> Option<&str> {
    let [table, _] = path(side)?.try_into().ok()?;
    Some(table)
}

fn path(side: &NodeEnum) -> Option<Vec<&str>> {
    let NodeEnum::ColumnRef(column) = side else { return None };
    let name = |node: &'_ pg_query::Node| matches!(node.node, Some(NodeEnum::String(_)));
    if !column.fields.iter().all(name) {
        return None;
    }
    let names = column.fields.iter().filter_map(|node| match node.node.as_ref() {
        Some(NodeEnum::String(name)) => Some(name.sval.as_str()),
        _ => None,
    });
    Some(names.collect())
}

fn is_constant(side: &NodeEnum) -> bool {
    match side {
        NodeEnum::AConst(_) | NodeEnum::ParamRef(_) => true,
        NodeEnum::TypeCast(cast) => {
            cast.arg.as_deref().and_then(|arg| arg.node.as_ref()).is_some_and(is_constant)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(filter: &str) -> Option<Vec<String>> {
        let columns = columns(filter, "b")?;
        Some(
            columns
                .into_iter()
                .map(|c| if c.as_text { format!("{}::text", c.name) } else { c.name })
                .collect(),
        )
    }

    #[test]
    fn columns_that_are_compared_with_constants() {
        let of = |names: &[&str]| Some(names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        for (filter, expected) in [
            ("(b.name = 'name 7'::text)", of(&["name"])),
            ("((b.name)::text = 'x'::text)", of(&["name::text"])),
            ("((b.id < 5) AND (b.kind = ANY ('{1,2}'::integer[])))", of(&["kind", "id"])),
            ("(b.\"Odd Name\" >= $1)", of(&["Odd Name"])),
            ("((b.id < 5) AND (b.kind > 3))", None),
            ("((b.id = 5) OR (b.kind = 3))", None),
            ("(lower(b.name) = 'x'::text)", None),
            ("((b.id)::numeric = 5.0)", None),
            ("(b.id = c.id)", None),
            ("(c.id = 5)", None),
            ("(b.name ~~ '%x%'::text)", None),
            ("(b.id <> 5)", None),
            ("(b.id IS NULL)", None),
            ("(NOT (hashed SubPlan 1))", None),
            ("(b.id = (InitPlan 1).col1)", None),
            ("", None),
        ] {
            assert_eq!(names(filter), expected, "{filter}");
        }
        let deep = format!("{}b.id = 1{}", "(".repeat(65), ")".repeat(65));
        assert_eq!(names(&deep), None);
    }

    #[test]
    fn the_inner_column_of_a_join() {
        let name = |filter: &str| joined_column(filter, "b").map(|c| c.name);
        assert_eq!(name("(a.id = b.kind)").as_deref(), Some("kind"));
        assert_eq!(name("(b.kind = a.id)").as_deref(), Some("kind"));
        for filter in [
            "(b.kind < a.id)",
            "(b.kind = b.id)",
            "((b.id + a.id) < 7)",
            "(b.kind = (a.id + 1))",
            "(a.x = c.y)",
        ] {
            assert_eq!(name(filter), None, "{filter}");
        }
    }
}

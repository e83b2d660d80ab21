//! Expressions, walked without recursion: a sum of ten thousand terms is as deep as it is long.

use dbagent_core::Effects;
use dbagent_core::guard::StatementClass;
use pg_query::protobuf::{
    AArrayExpr, AExpr, AExprKind, AIndirection, BoolExpr, BooleanTest, CaseExpr, CaseWhen, CoalesceExpr,
    CollateClause, GroupingFunc, MinMaxExpr, MultiAssignRef, NamedArgExpr, NullTest, ParamRef, RowExpr,
    SqlValueFunctionOp, SubLink, SubLinkType, TypeCast, XmlExpr, XmlSerialize,
};
use pg_query::{Node, NodeEnum};

use super::inner;
use super::nodes::{analysed, part, source, statement};
use super::scope::Env;
use super::walk::Walk;
use crate::functions::Called;

/// Parameters are numbered to this at most; the protocol counts them in 16 bits.
const MAX_PARAMETER: usize = 65_535;

impl Walk<'_> {
    pub(super) fn optional(&mut self, node: Option<&Node>, env: Env) {
        if let Some(node) = node {
            self.expr(node, env);
        }
    }

    pub(super) fn exprs(&mut self, nodes: &[Node], env: Env) {
        for node in nodes {
            self.expr(node, env);
        }
    }

    /// An expression and everything in it.
    pub(super) fn expr(&mut self, root: &Node, env: Env) {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            let first = open.len();
            if let Some(node) = inner(node) {
                self.one(node, env, &mut open);
            }
            // What stands first in the text is looked at first.
            if let Some(added) = open.get_mut(first..) {
                added.reverse();
            }
        }
    }

    /// One node; what it holds is left in `open`.
    #[expect(unreachable_patterns, reason = "a group also names what other arms handle")]
    #[expect(clippy::unnested_or_patterns, reason = "each group is one macro")]
    fn one<'n>(&mut self, node: &'n NodeEnum, env: Env, open: &mut Vec<&'n Node>) {
        match node {
            // Constants; `DEFAULT` in a list of values, the column's own, which only writes use; which action of a
            // MERGE made the row.
            NodeEnum::AConst(_) | NodeEnum::SetToDefault(_) | NodeEnum::MergeSupportFunc(_) => {}
            NodeEnum::ColumnRef(column) => self.column_ref(column, env),
            NodeEnum::ParamRef(parameter) => self.parameter(*parameter),
            NodeEnum::AExpr(expr) => self.operation(expr, env, open),
            NodeEnum::BoolExpr(and) => {
                let BoolExpr { xpr: _, boolop: _, args, location: _ } = and.as_ref();
                open.extend(args);
            }
            NodeEnum::FuncCall(call) => self.call(call, env, open),
            NodeEnum::NamedArgExpr(named) => {
                let NamedArgExpr { xpr: _, arg, name: _, argnumber: _, location: _ } = named.as_ref();
                open.extend(arg.as_deref());
            }
            NodeEnum::TypeCast(cast) => {
                let TypeCast { arg, type_name, location: _ } = cast.as_ref();
                self.optional_type(type_name.as_ref());
                open.extend(arg.as_deref());
            }
            NodeEnum::CollateClause(collate) => {
                // A collation has no code of users.
                let CollateClause { arg, collname: _, location: _ } = collate.as_ref();
                open.extend(arg.as_deref());
            }
            NodeEnum::SubLink(link) => self.sub_link(link, env, open),
            NodeEnum::CaseExpr(case) => self.case(case, open),
            NodeEnum::RowExpr(row) => {
                let RowExpr { xpr: _, args, row_typeid: _, row_format: _, colnames: _, location: _ } =
                    row.as_ref();
                open.extend(args);
            }
            NodeEnum::CoalesceExpr(coalesce) => {
                let CoalesceExpr { xpr: _, coalescetype: _, coalescecollid: _, args, location: _ } =
                    coalesce.as_ref();
                open.extend(args);
            }
            NodeEnum::MinMaxExpr(least) => {
                let MinMaxExpr {
                    xpr: _,
                    minmaxtype: _,
                    minmaxcollid: _,
                    inputcollid: _,
                    op: _,
                    args,
                    location: _,
                } = least.as_ref();
                self.comparison("<", None);
                open.extend(args);
            }
            NodeEnum::NullTest(test) => {
                let NullTest { xpr: _, arg, nulltesttype: _, argisrow: _, location: _ } = test.as_ref();
                open.extend(arg.as_deref());
            }
            NodeEnum::BooleanTest(test) => {
                let BooleanTest { xpr: _, arg, booltesttype: _, location: _ } = test.as_ref();
                open.extend(arg.as_deref());
            }
            NodeEnum::AArrayExpr(AArrayExpr { elements, list_start: _, list_end: _, location: _ }) => {
                open.extend(elements);
            }
            NodeEnum::AIndirection(indirection) => {
                let AIndirection { arg, indirection } = indirection.as_ref();
                open.extend(arg.as_deref());
                self.indirection(indirection, open);
            }
            NodeEnum::List(list) => open.extend(&list.items),
            NodeEnum::GroupingSet(set) => self.grouping_set(set, open),
            NodeEnum::GroupingFunc(grouping) => {
                let GroupingFunc { xpr: _, args, refs: _, agglevelsup: _, location: _ } = grouping.as_ref();
                open.extend(args);
            }
            NodeEnum::SqlvalueFunction(value) => {
                let span = self.span(value.location, 1);
                match value_function(value.op) {
                    Some(name) => self.syntax(name, span),
                    None => self.unknown("this value", span),
                }
            }
            NodeEnum::XmlExpr(xml) => {
                let XmlExpr {
                    xpr: _,
                    op: _,
                    name: _,
                    named_args,
                    arg_names: _,
                    args,
                    xmloption: _,
                    indent: _,
                    r#type: _,
                    typmod: _,
                    location: _,
                } = xml.as_ref();
                open.extend(named_args);
                open.extend(args);
            }
            NodeEnum::XmlSerialize(xml) => {
                let XmlSerialize { xmloption: _, expr, type_name, indent: _, location: _ } = xml.as_ref();
                self.optional_type(type_name.as_ref());
                open.extend(expr.as_deref());
            }
            NodeEnum::ResTarget(target) => {
                let pg_query::protobuf::ResTarget { name: _, indirection, val, location: _ } =
                    target.as_ref();
                self.indirection(indirection, open);
                open.extend(val.as_deref());
            }
            NodeEnum::MultiAssignRef(assign) => {
                let MultiAssignRef { source, colno: _, ncolumns: _ } = assign.as_ref();
                open.extend(source.as_deref());
            }
            NodeEnum::CurrentOfExpr(_) => self.note(StatementClass::Session, Effects::SESSION),
            NodeEnum::JsonFuncExpr(_)
            | NodeEnum::JsonParseExpr(_)
            | NodeEnum::JsonScalarExpr(_)
            | NodeEnum::JsonSerializeExpr(_)
            | NodeEnum::JsonObjectConstructor(_)
            | NodeEnum::JsonArrayConstructor(_)
            | NodeEnum::JsonArrayQueryConstructor(_)
            | NodeEnum::JsonObjectAgg(_)
            | NodeEnum::JsonArrayAgg(_)
            | NodeEnum::JsonIsPredicate(_) => self.json(node, env, open),
            // A select in brackets, a row of VALUES; other statements stand nowhere in an expression.
            NodeEnum::SelectStmt(select) => self.select(select, env),
            source!() | statement!() | part!() | analysed!() => {
                self.unknown("this part of an expression", None);
            }
        }
    }

    fn parameter(&mut self, parameter: ParamRef) {
        let ParamRef { number, location } = parameter;
        match usize::try_from(number) {
            Ok(n) if (1..=MAX_PARAMETER).contains(&n) => {
                let most = &mut self.parsed.parameters.positional;
                *most = n.max(*most);
            }
            _ => {
                let span = self.span(location, 1);
                self.unknown("a parameter of this number", span);
            }
        }
    }

    fn operation<'n>(&mut self, expr: &'n AExpr, env: Env, open: &mut Vec<&'n Node>) {
        let AExpr { kind, name, lexpr, rexpr, rexpr_list_start: _, rexpr_list_end: _, location } = expr;
        let span = self.span(*location, 1);
        match AExprKind::try_from(*kind) {
            Ok(
                AExprKind::AexprOp
                | AExprKind::AexprOpAny
                | AExprKind::AexprOpAll
                | AExprKind::AexprDistinct
                | AExprKind::AexprNotDistinct
                | AExprKind::AexprNullif
                | AExprKind::AexprIn
                | AExprKind::AexprLike
                | AExprKind::AexprIlike
                | AExprKind::AexprSimilar,
            ) => {
                let untyped = self.untyped_operands(expr, env);
                self.operator(name, untyped, span);
            }
            // Their name is a word; what they run is comparisons.
            Ok(
                AExprKind::AexprBetween
                | AExprKind::AexprNotBetween
                | AExprKind::AexprBetweenSym
                | AExprKind::AexprNotBetweenSym,
            ) => {
                for comparison in ["<", "<=", ">", ">="] {
                    self.comparison(comparison, span);
                }
            }
            Ok(AExprKind::Undefined) | Err(_) => self.unknown("this operator", span),
        }
        open.extend(lexpr.as_deref());
        open.extend(rexpr.as_deref());
    }

    /// Which operands have no type of their own, the left one first. Values in lists and rows are compared one
    /// by one; all of those may have none.
    fn untyped_operands(&self, expr: &AExpr, env: Env) -> i64 {
        let is_plain = matches!(
            AExprKind::try_from(expr.kind),
            Ok(AExprKind::AexprOp
                | AExprKind::AexprDistinct
                | AExprKind::AexprNotDistinct
                | AExprKind::AexprNullif)
        );
        let (left, right) = (expr.lexpr.as_deref(), expr.rexpr.as_deref());
        let is_list = |node: &Node| matches!(inner(node), Some(NodeEnum::RowExpr(_) | NodeEnum::List(_)));
        if !is_plain || left.is_some_and(is_list) || right.is_some_and(is_list) {
            return Called::ANY;
        }
        let is_untyped = |node: &Node| self.is_untyped(node, env);
        i64::from(left.is_some_and(is_untyped)) | (i64::from(right.is_some_and(is_untyped)) << 1)
    }

    fn sub_link<'n>(&mut self, link: &'n SubLink, env: Env, open: &mut Vec<&'n Node>) {
        let SubLink { xpr: _, sub_link_type, sub_link_id: _, testexpr, oper_name, subselect, location } =
            link;
        let span = self.span(*location, 1);
        match SubLinkType::try_from(*sub_link_type) {
            Ok(
                SubLinkType::ExistsSublink
                | SubLinkType::ExprSublink
                | SubLinkType::MultiexprSublink
                | SubLinkType::ArraySublink,
            ) => {}
            Ok(SubLinkType::AllSublink | SubLinkType::AnySublink | SubLinkType::RowcompareSublink) => {
                if oper_name.is_empty() {
                    self.comparison("=", span);
                } else {
                    self.operator(oper_name, Called::ANY, span);
                }
            }
            Ok(SubLinkType::CteSublink | SubLinkType::Undefined) | Err(_) => {
                self.unknown("this sub-select", span);
            }
        }
        open.extend(testexpr.as_deref());
        self.query(subselect.as_deref(), env);
    }

    fn case<'n>(&mut self, case: &'n CaseExpr, open: &mut Vec<&'n Node>) {
        let CaseExpr { xpr: _, casetype: _, casecollid: _, arg, args, defresult, location: _ } = case;
        if arg.is_some() {
            self.comparison("=", None);
        }
        open.extend(arg.as_deref());
        for when in args {
            match inner(when) {
                Some(NodeEnum::CaseWhen(when)) => {
                    let CaseWhen { xpr: _, expr, result, location: _ } = when.as_ref();
                    open.extend(expr.as_deref());
                    open.extend(result.as_deref());
                }
                _ => self.unknown("this part of CASE", None),
            }
        }
        open.extend(defresult.as_deref());
    }
}

/// The name of what looks like a column and is a value of the session.
fn value_function(op: i32) -> Option<&'static str> {
    use SqlValueFunctionOp as Op;
    Some(match Op::try_from(op).ok()? {
        Op::SqlvalueFunctionOpUndefined => return None,
        Op::SvfopCurrentDate => "current_date",
        Op::SvfopCurrentTime | Op::SvfopCurrentTimeN => "current_time",
        Op::SvfopCurrentTimestamp | Op::SvfopCurrentTimestampN => "current_timestamp",
        Op::SvfopLocaltime | Op::SvfopLocaltimeN => "localtime",
        Op::SvfopLocaltimestamp | Op::SvfopLocaltimestampN => "localtimestamp",
        Op::SvfopCurrentRole => "current_role",
        Op::SvfopCurrentUser => "current_user",
        Op::SvfopUser => "user",
        Op::SvfopSessionUser => "session_user",
        Op::SvfopCurrentCatalog => "current_catalog",
        Op::SvfopCurrentSchema => "current_schema",
    })
}

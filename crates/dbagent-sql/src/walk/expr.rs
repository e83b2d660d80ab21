//! Expressions.

use dbagent_core::guard::StatementClass;
use sqlparser::ast::{
    AccessExpr, Array, CaseWhen, CastFormat, CeilFloorKind, DictionaryField, Expr, Ident, InTarget, Interval,
    LambdaFunction, LambdaFunctionParameter, Map, MapEntry, MemberOf, ObjectName, OneOrManyWithParens, Query,
    Subscript, TypedString, Value, ValueWithSpan,
};

use super::Walk;

impl Walk<'_> {
    pub(super) fn optional(&mut self, expr: Option<&Expr>) {
        if let Some(expr) = expr {
            self.expr(expr);
        }
    }

    pub(super) fn exprs<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        for expr in exprs {
            self.expr(expr);
        }
    }

    /// Walks an expression. Chains of operators are deep to the left: they are followed in a loop.
    pub(super) fn expr(&mut self, expr: &Expr) {
        let mut outer = Vec::new();
        let mut node = expr;
        while let Some(first) = first_operand(node) {
            outer.push(node);
            node = first;
        }
        self.rest(node);
        while let Some(node) = outer.pop() {
            self.rest(node);
        }
    }

    fn subquery(&mut self, query: &Query) {
        let class = self.query(query);
        self.note_write(class);
    }

    /// Walks all of an expression but its first operand.
    fn rest(&mut self, expr: &Expr) {
        self.census.exprs += 1;
        match expr {
            Expr::Identifier(ident) => self.identifier(ident),
            Expr::CompoundIdentifier(idents) => self.column_path(&idents.iter().collect::<Vec<_>>()),
            Expr::CompoundFieldAccess { root, access_chain } => self.field_access(root, access_chain),
            Expr::JsonAccess { value, path } => {
                // `'a': name` is a key and a column for some engines, and a path for sqlparser.
                if matches!(value.as_ref(), Expr::Value(_)) {
                    self.unknown("a path into a constant", None);
                }
                self.json_path(path);
            }
            Expr::IsFalse(_)
            | Expr::IsNotFalse(_)
            | Expr::IsTrue(_)
            | Expr::IsNotTrue(_)
            | Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::IsUnknown(_)
            | Expr::IsNotUnknown(_)
            | Expr::IsJson { expr: _, kind: _, unique_keys: _, negated: _ }
            | Expr::IsNormalized { expr: _, form: _, negated: _ }
            | Expr::Nested(_)
            | Expr::OuterJoin(_)
            | Expr::Prior(_)
            | Expr::Named { expr: _, name: _ }
            | Expr::Prefixed { prefix: _, value: _ }
            // A collation is the engine's own or was made by its owner; it compares texts.
            | Expr::Collate { expr: _, collation: _ } => {}
            Expr::IsDistinctFrom(_, right) | Expr::IsNotDistinctFrom(_, right) => self.expr(right),
            Expr::In { expr: _, target, negated: _, global: _ } => self.in_target(target),
            Expr::Between { expr: _, negated: _, low, high } => {
                self.expr(low);
                self.expr(high);
            }
            Expr::BinaryOp { left: _, op, right } => {
                self.binary_operator(op);
                self.expr(right);
            }
            Expr::Like { negated: _, any: _, expr: _, pattern, escape_char }
            | Expr::ILike { negated: _, any: _, expr: _, pattern, escape_char }
            | Expr::SimilarTo { negated: _, expr: _, pattern, escape_char } => {
                self.expr(pattern);
                self.optional(escape_char.as_deref());
            }
            Expr::RLike { negated: _, expr: _, pattern, regexp: _ } => self.expr(pattern),
            Expr::AnyOp { left: _, compare_op, right, is_some: _ }
            | Expr::AllOp { left: _, compare_op, right } => {
                self.binary_operator(compare_op);
                self.expr(right);
            }
            Expr::UnaryOp { op, expr: _ } => Self::unary_operator(*op),
            Expr::Convert { is_try: _, expr: _, data_type, charset: _, target_before_value: _, styles } => {
                self.syntax_function("convert", 2);
                if let Some(data_type) = data_type {
                    self.data_type(data_type);
                }
                self.exprs(styles);
            }
            Expr::Cast { kind: _, expr: _, data_type, format } => {
                self.syntax_function("cast", 1);
                self.data_type(data_type);
                match format {
                    None => {}
                    Some(CastFormat::Value(value)) => self.value(value),
                    Some(CastFormat::ValueAtTimeZone(value, zone)) => {
                        self.value(value);
                        self.value(zone);
                    }
                }
            }
            Expr::AtTimeZone { timestamp: _, time_zone } => self.expr(time_zone),
            Expr::Extract { field: _, syntax: _, expr: _ } => self.syntax_function("extract", 1),
            Expr::Ceil { expr: _, field } => self.rounding("ceil", field),
            Expr::Floor { expr: _, field } => self.rounding("floor", field),
            Expr::Position { expr: _, r#in } => {
                self.syntax_function("position", 2);
                self.expr(r#in);
            }
            Expr::Substring { expr: _, substring_from, substring_for, special: _, shorthand: _ } => {
                self.syntax_function("substring", 3);
                self.optional(substring_from.as_deref());
                self.optional(substring_for.as_deref());
            }
            Expr::Trim { trim_where: _, trim_what, expr: _, trim_characters } => {
                self.syntax_function("trim", 1);
                self.optional(trim_what.as_deref());
                self.exprs(trim_characters.iter().flatten());
            }
            Expr::Overlay { expr: _, overlay_what, overlay_from, overlay_for } => {
                self.syntax_function("overlay", 3);
                self.expr(overlay_what);
                self.expr(overlay_from);
                self.optional(overlay_for.as_deref());
            }
            Expr::Value(value) => self.value(value),
            Expr::TypedString(TypedString { data_type, value, uses_odbc_syntax: _ }) => {
                self.data_type(data_type);
                self.value(value);
            }
            Expr::Function(function) => self.function(function),
            Expr::Case { case_token: _, end_token: _, operand, conditions, else_result } => {
                self.optional(operand.as_deref());
                for CaseWhen { condition, result } in conditions {
                    self.expr(condition);
                    self.expr(result);
                }
                self.optional(else_result.as_deref());
            }
            Expr::Exists { subquery, negated: _ } | Expr::Subquery(subquery) => self.subquery(subquery),
            Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => {
                for set in sets {
                    self.exprs(set);
                }
            }
            Expr::Tuple(items) => self.exprs(items),
            Expr::Struct { values, fields } => {
                self.exprs(values);
                self.struct_fields(fields);
            }
            Expr::Dictionary(fields) => {
                for DictionaryField { key: _, value } in fields {
                    self.expr(value);
                }
            }
            Expr::Map(Map { entries }) => {
                for MapEntry { key, value } in entries {
                    self.expr(key);
                    self.expr(value);
                }
            }
            Expr::Array(Array { elem, named: _ }) => self.exprs(elem),
            Expr::Interval(Interval {
                value,
                leading_field: _,
                leading_precision: _,
                last_field: _,
                fractional_seconds_precision: _,
            }) => self.expr(value),
            Expr::MatchAgainst { columns, match_value, opt_search_modifier: _ } => {
                for column in columns {
                    if let Some(idents) = self.idents(column) {
                        self.column_path(&idents);
                    }
                }
                self.value(match_value);
            }
            Expr::Wildcard(_) => {
                let objects = self.objects_here(0);
                self.star(objects, None);
            }
            Expr::QualifiedWildcard(name, _) => self.qualified_star(name),
            Expr::Lambda(lambda) => self.lambda(lambda),
            Expr::MemberOf(MemberOf { value: _, array }) => self.expr(array),
        }
    }

    fn identifier(&mut self, ident: &Ident) {
        self.column_path(&[ident]);
    }

    fn rounding(&mut self, name: &str, field: &CeilFloorKind) {
        self.syntax_function(name, 1);
        match field {
            CeilFloorKind::DateTimeField(_) => {}
            CeilFloorKind::Scale(value) => self.value(value),
        }
    }

    fn in_target(&mut self, target: &InTarget) {
        match target {
            InTarget::List(items) => {
                self.exprs(items);
                if let ([item], true) = (items.as_slice(), self.grammar().has_bare_in()) {
                    self.bare_in(item);
                }
            }
            InTarget::Subquery(query) => self.subquery(query),
            InTarget::Unnest(expr) => {
                self.syntax_function("unnest", 1);
                self.expr(expr);
            }
            InTarget::Table { name, args: None } => {
                let source = self.source(name);
                let span = self.place_of(name);
                self.star(source.objects, span);
            }
            InTarget::Table { name, args: Some(args) } => self.table_function(name, args),
        }
    }

    /// `x IN name`: a table for ClickHouse, an expression for sqlparser. It counts as both.
    fn bare_in(&mut self, item: &Expr) {
        let name: ObjectName = match item {
            Expr::Identifier(ident) => ident.clone().into(),
            Expr::CompoundIdentifier(idents) => idents.clone().into(),
            _ => return,
        };
        let source = self.source(&name);
        let span = self.place_of(&name);
        self.star(source.objects, span);
    }

    /// `a.b[1].c` and `(…).f`: how far the name of a column reaches is told by the identifiers at its head.
    fn field_access(&mut self, root: &Expr, chain: &[AccessExpr]) {
        let mut path: Vec<&Ident> = Vec::new();
        match root {
            Expr::Identifier(ident) => path.push(ident),
            Expr::CompoundIdentifier(idents) => path.extend(idents),
            _ => {}
        }
        if path.is_empty() {
            self.expr(root);
        } else {
            self.census.exprs += 1;
        }
        let mut head = !path.is_empty();
        for access in chain {
            match access {
                AccessExpr::Dot(Expr::Identifier(field)) => {
                    self.census.exprs += 1;
                    if head {
                        path.push(field);
                    }
                }
                AccessExpr::Dot(expr) => {
                    head = false;
                    self.expr(expr);
                }
                AccessExpr::Subscript(subscript) => {
                    head = false;
                    self.subscript(subscript);
                }
            }
        }
        if !path.is_empty() {
            self.column_path(&path);
        }
    }

    fn subscript(&mut self, subscript: &Subscript) {
        match subscript {
            Subscript::Index { index } => self.expr(index),
            Subscript::Slice { lower_bound, upper_bound, stride } => {
                self.optional(lower_bound.as_ref());
                self.optional(upper_bound.as_ref());
                self.optional(stride.as_ref());
            }
        }
    }

    fn lambda(&mut self, lambda: &LambdaFunction) {
        let LambdaFunction { params, body, syntax: _ } = lambda;
        self.scope.push_frame();
        let params = match params {
            OneOrManyWithParens::One(param) => std::slice::from_ref(param),
            OneOrManyWithParens::Many(params) => params,
        };
        for LambdaFunctionParameter { name, data_type } in params {
            self.scope.add_local(name.into());
            if let Some(data_type) = data_type {
                self.data_type(data_type);
            }
        }
        self.expr(body);
        self.scope.pop_frame();
    }

    pub(super) fn value(&mut self, value: &ValueWithSpan) {
        self.census.values += 1;
        match &value.value {
            Value::Placeholder(marker) => self.parameter(marker),
            Value::Number(..)
            | Value::SingleQuotedString(_)
            | Value::DollarQuotedString(_)
            | Value::TripleSingleQuotedString(_)
            | Value::TripleDoubleQuotedString(_)
            | Value::EscapedStringLiteral(_)
            | Value::UnicodeStringLiteral(_)
            | Value::SingleQuotedByteStringLiteral(_)
            | Value::DoubleQuotedByteStringLiteral(_)
            | Value::TripleSingleQuotedByteStringLiteral(_)
            | Value::TripleDoubleQuotedByteStringLiteral(_)
            | Value::SingleQuotedRawStringLiteral(_)
            | Value::DoubleQuotedRawStringLiteral(_)
            | Value::TripleSingleQuotedRawStringLiteral(_)
            | Value::TripleDoubleQuotedRawStringLiteral(_)
            | Value::NationalStringLiteral(_)
            | Value::QuoteDelimitedStringLiteral(_)
            | Value::NationalQuoteDelimitedStringLiteral(_)
            | Value::HexStringLiteral(_)
            | Value::DoubleQuotedString(_)
            | Value::Boolean(_)
            | Value::Null => {}
        }
    }

    /// Notes a parameter: `?` is the next one, `?3`, `$3` and `:3` are the third, anything else has a name.
    pub(super) fn parameter(&mut self, marker: &str) {
        let name = marker.trim_start_matches(['?', '$', ':', '@']);
        if name.is_empty() {
            self.positional += 1;
        } else if let Ok(number) = name.parse::<usize>() {
            self.positional = self.positional.max(number);
        } else if !self.parsed.parameters.named.iter().any(|n| n == name) {
            self.parsed.parameters.named.push(name.to_owned());
        }
    }

    /// Walks a statement within another one.
    pub(super) fn nested_statement(&mut self, statement: &sqlparser::ast::Statement) -> StatementClass {
        let class = self.statement(statement);
        self.note_write(class);
        class
    }
}

/// The operand that an expression begins with, where a chain of them grows deep on that side.
fn first_operand(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::JsonAccess { value: first, path: _ }
        | Expr::IsFalse(first)
        | Expr::IsNotFalse(first)
        | Expr::IsTrue(first)
        | Expr::IsNotTrue(first)
        | Expr::IsNull(first)
        | Expr::IsNotNull(first)
        | Expr::IsUnknown(first)
        | Expr::IsNotUnknown(first)
        | Expr::IsDistinctFrom(first, _)
        | Expr::IsNotDistinctFrom(first, _)
        | Expr::IsJson { expr: first, .. }
        | Expr::IsNormalized { expr: first, .. }
        | Expr::In { expr: first, .. }
        | Expr::Between { expr: first, .. }
        | Expr::BinaryOp { left: first, .. }
        | Expr::Like { expr: first, .. }
        | Expr::ILike { expr: first, .. }
        | Expr::SimilarTo { expr: first, .. }
        | Expr::RLike { expr: first, .. }
        | Expr::AnyOp { left: first, .. }
        | Expr::AllOp { left: first, .. }
        | Expr::UnaryOp { expr: first, .. }
        | Expr::Convert { expr: first, .. }
        | Expr::Cast { expr: first, .. }
        | Expr::AtTimeZone { timestamp: first, .. }
        | Expr::Extract { expr: first, .. }
        | Expr::Ceil { expr: first, .. }
        | Expr::Floor { expr: first, .. }
        | Expr::Position { expr: first, .. }
        | Expr::Substring { expr: first, .. }
        | Expr::Trim { expr: first, .. }
        | Expr::Overlay { expr: first, .. }
        | Expr::Collate { expr: first, .. }
        | Expr::Nested(first)
        | Expr::Prefixed { value: first, .. }
        | Expr::Named { expr: first, .. }
        | Expr::OuterJoin(first)
        | Expr::Prior(first)
        | Expr::MemberOf(MemberOf { value: first, .. }) => Some(first),
        Expr::Identifier(_)
        | Expr::CompoundIdentifier(_)
        | Expr::CompoundFieldAccess { .. }
        | Expr::Value(_)
        | Expr::TypedString(_)
        | Expr::Function(_)
        | Expr::Case { .. }
        | Expr::Exists { .. }
        | Expr::Subquery(_)
        | Expr::GroupingSets(_)
        | Expr::Cube(_)
        | Expr::Rollup(_)
        | Expr::Tuple(_)
        | Expr::Struct { .. }
        | Expr::Dictionary(_)
        | Expr::Map(_)
        | Expr::Array(_)
        | Expr::Interval(_)
        | Expr::MatchAgainst { .. }
        | Expr::Wildcard(_)
        | Expr::QualifiedWildcard(..)
        | Expr::Lambda(_) => None,
    }
}

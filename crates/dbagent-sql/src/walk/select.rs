//! One SELECT, clause by clause.

use dbagent_core::Effects;
use dbagent_core::guard::StatementClass;
use sqlparser::ast::{
    ConnectByKind, Distinct, ExcludeSelectItem, Expr, FunctionArgExpr, GroupByExpr, GroupByWithModifier,
    LateralView, NamedWindowDefinition, NamedWindowExpr, ReplaceSelectElement, Select, SelectFlavor,
    SelectInto, SelectItem, SelectItemQualifiedWildcardKind, Top, TopQuantity, WildcardAdditionalOptions,
    WindowFrame, WindowFrameBound, WindowSpec, WindowType,
};

use super::Walk;
use super::scope::Source;

impl Walk<'_> {
    /// Walks a SELECT and leaves its frame open.
    pub(super) fn select(&mut self, select: &Select) {
        let Select {
            select_token: _,
            // Refused by the lexer where the engine obeys them.
            optimizer_hints: _,
            distinct,
            // How rows are fetched (HIGH_PRIORITY, SQL_BIG_RESULT …), never which.
            select_modifiers: _,
            top,
            top_before_distinct: _,
            projection,
            exclude,
            into,
            from,
            lateral_views,
            prewhere,
            selection,
            connect_by,
            group_by,
            cluster_by,
            distribute_by,
            sort_by,
            having,
            named_window,
            qualify,
            window_before_qualify: _,
            value_table_mode: _,
            flavor,
        } = select;
        self.census.selects += 1;
        self.scope.push_frame();
        for table in from {
            self.table_with_joins(table);
        }
        for LateralView { lateral_view, lateral_view_name, lateral_col_alias: _, outer: _ } in lateral_views {
            self.expr(lateral_view);
            if let Some(name) = self.idents(lateral_view_name).and_then(|i| i.last().copied().cloned()) {
                self.scope.add(Source { name: Some((&name).into()), ..Source::default() });
            }
        }
        match distinct {
            None | Some(Distinct::All | Distinct::Distinct) => {}
            Some(Distinct::On(exprs)) => self.exprs(exprs),
        }
        if let Some(Top { with_ties: _, percent: _, quantity }) = top {
            match quantity {
                None | Some(TopQuantity::Constant(_)) => {}
                Some(TopQuantity::Expr(expr)) => self.expr(expr),
            }
        }
        for item in projection {
            self.select_item(item);
        }
        match exclude {
            // Columns that `*` leaves out: it counts as if it left none out.
            None | Some(ExcludeSelectItem::Single(_) | ExcludeSelectItem::Multiple(_)) => {}
        }
        match flavor {
            SelectFlavor::Standard | SelectFlavor::FromFirst => {}
            SelectFlavor::FromFirstNoSelect => {
                let objects = self.objects_here(0);
                self.star(objects, None);
            }
        }
        if let Some(into) = into {
            self.select_into(into, true);
        }
        self.optional(prewhere.as_ref());
        self.optional(selection.as_ref());
        for clause in connect_by {
            match clause {
                ConnectByKind::ConnectBy { connect_token: _, nocycle: _, relationships } => {
                    self.exprs(relationships);
                }
                ConnectByKind::StartWith { start_token: _, condition } => self.expr(condition),
            }
        }
        self.group_by(group_by);
        self.exprs(cluster_by);
        self.exprs(distribute_by);
        for item in sort_by {
            self.order_expr(item);
        }
        self.optional(having.as_ref());
        for NamedWindowDefinition(_, window) in named_window {
            match window {
                NamedWindowExpr::NamedWindow(_) => {}
                NamedWindowExpr::WindowSpec(spec) => self.window_spec(spec),
            }
        }
        self.optional(qualify.as_ref());
    }

    pub(super) fn select_item(&mut self, item: &SelectItem) {
        match item {
            SelectItem::UnnamedExpr(expr) => {
                self.expr(expr);
                match expr {
                    Expr::Identifier(name) => self.scope.add_output(&name.value),
                    Expr::CompoundIdentifier(path) => {
                        if let Some(name) = path.last() {
                            self.scope.add_output(&name.value);
                        }
                    }
                    // What an engine calls any other column is its own affair.
                    _ => {}
                }
            }
            SelectItem::ExprWithAlias { expr, alias } => {
                self.expr(expr);
                self.scope.add_output(&alias.value);
            }
            SelectItem::ExprWithAliases { expr, aliases } => {
                self.expr(expr);
                for alias in aliases {
                    self.scope.add_output(&alias.value);
                }
            }
            SelectItem::QualifiedWildcard(kind, options) => {
                match kind {
                    SelectItemQualifiedWildcardKind::ObjectName(name) => self.qualified_star(name),
                    SelectItemQualifiedWildcardKind::Expr(expr) => self.expr(expr),
                }
                self.wildcard_options(options);
            }
            SelectItem::Wildcard(options) => {
                let objects = self.objects_here(0);
                let span = self.under.places.span(options.wildcard_token.0.span);
                self.star(objects, span);
                self.wildcard_options(options);
            }
        }
    }

    pub(super) fn wildcard_options(&mut self, options: &WildcardAdditionalOptions) {
        let WildcardAdditionalOptions {
            wildcard_token: _,
            // What is left out or renamed: it counts as if nothing were.
            opt_ilike: _,
            opt_exclude: _,
            opt_except: _,
            opt_replace,
            opt_rename: _,
            opt_alias: _,
        } = options;
        for item in opt_replace.iter().flat_map(|r| &r.items) {
            let ReplaceSelectElement { expr, column_name: _, as_keyword: _ } = item.as_ref();
            self.expr(expr);
        }
    }

    /// `SELECT … INTO`: a table that is made, or a variable that is set. `OUTPUT … INTO` adds to a table.
    pub(super) fn select_into(&mut self, into: &SelectInto, makes_table: bool) {
        let SelectInto { temporary: _, unlogged: _, table: _, targets } = into;
        for target in targets {
            let name = match target {
                Expr::Identifier(ident) => vec![ident],
                Expr::CompoundIdentifier(idents) => idents.iter().collect(),
                other => {
                    self.unknown("the target of INTO", None);
                    self.note_write(StatementClass::Unknown);
                    self.expr(other);
                    continue;
                }
            };
            self.census.exprs += 1;
            let is_variable =
                name.first().is_some_and(|i| i.quote_style.is_none() && i.value.starts_with('@'));
            if is_variable {
                self.effect(Effects::SESSION);
                self.note_write(StatementClass::Session);
            } else {
                self.effect(Effects::WRITE);
                if makes_table {
                    self.effect(Effects::SCHEMA);
                    self.note_write(StatementClass::Schema);
                }
                let name = name.into_iter().cloned().collect::<Vec<_>>();
                self.named_object(&name.into(), true);
            }
        }
    }

    fn group_by(&mut self, group_by: &GroupByExpr) {
        let modifiers = match group_by {
            GroupByExpr::All(modifiers) => modifiers,
            GroupByExpr::Expressions(exprs, modifiers) => {
                self.exprs(exprs);
                modifiers
            }
        };
        for modifier in modifiers {
            match modifier {
                GroupByWithModifier::Rollup | GroupByWithModifier::Cube | GroupByWithModifier::Totals => {}
                GroupByWithModifier::GroupingSets(expr) => self.expr(expr),
            }
        }
    }

    pub(super) fn window(&mut self, window: &WindowType) {
        match window {
            WindowType::WindowSpec(spec) => self.window_spec(spec),
            WindowType::NamedWindow(_) => {}
        }
    }

    fn window_spec(&mut self, spec: &WindowSpec) {
        let WindowSpec { window_name: _, partition_by, order_by, window_frame } = spec;
        self.exprs(partition_by);
        for item in order_by {
            self.order_expr(item);
        }
        if let Some(WindowFrame { units: _, start_bound, end_bound }) = window_frame {
            for bound in std::iter::once(start_bound).chain(end_bound) {
                match bound {
                    WindowFrameBound::CurrentRow => {}
                    WindowFrameBound::Preceding(expr) | WindowFrameBound::Following(expr) => {
                        self.optional(expr.as_deref());
                    }
                }
            }
        }
    }

    /// The argument of a function. `counts` says that `*` means rows there and not columns.
    pub(super) fn argument(&mut self, arg: &FunctionArgExpr, counts: bool) {
        match arg {
            FunctionArgExpr::Expr(expr) => self.expr(expr),
            FunctionArgExpr::QualifiedWildcard(name) => self.qualified_star(name),
            FunctionArgExpr::Wildcard if counts => {}
            FunctionArgExpr::Wildcard => {
                let objects = self.objects_here(0);
                self.star(objects, None);
            }
            FunctionArgExpr::WildcardWithOptions(options) => {
                let objects = self.objects_here(0);
                self.star(objects, None);
                self.wildcard_options(options);
            }
        }
    }
}

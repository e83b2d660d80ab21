//! What stands in FROM.

use dbagent_core::{Effects, ObjectName};
use pg_query::protobuf::{
    Alias, JoinExpr, RangeFunction, RangeSubselect, RangeTableFunc, RangeTableFuncCol, RangeTableSample,
    RangeVar, ResTarget,
};
use pg_query::{Node, NodeEnum};

use super::inner;
use super::nodes::{analysed, expression, part, statement};
use super::scope::{Env, Source};
use super::walk::{Walk, qualified, string};
use crate::functions::{self, Called};

/// What a FROM clause leaves to walk once all its names are known.
#[derive(Default)]
pub(super) struct Later<'n> {
    on: Vec<&'n Node>,
    using: Vec<(Vec<usize>, &'n str)>,
    natural: Vec<Vec<usize>>,
}

impl Walk<'_> {
    /// Walks what a FROM clause left.
    pub(super) fn later(&mut self, later: Later<'_>, env: Env) {
        for expr in later.on {
            self.expr(expr, env);
        }
        for (objects, column) in later.using {
            self.equality("=", None);
            self.column(objects, Some(column), None);
        }
        // Which columns a natural join compares only the catalogue knows: all of them may be read.
        for objects in later.natural {
            self.equality("=", None);
            self.column(objects, None, None);
        }
    }

    /// Adds the sources of an item and returns the objects behind them.
    #[expect(clippy::unnested_or_patterns, reason = "each group is one macro")]
    pub(super) fn source<'n>(
        &mut self,
        node: &'n Node,
        inside: Env,
        outside: Env,
        later: &mut Later<'n>,
    ) -> Vec<usize> {
        match inner(node) {
            None => Vec::new(),
            Some(NodeEnum::RangeVar(table)) => self.table(table, inside),
            Some(NodeEnum::RangeSubselect(select)) => {
                let RangeSubselect { lateral, subquery, alias } = select.as_ref();
                self.query(subquery.as_deref(), if *lateral { inside } else { outside });
                self.derived(alias.as_ref(), inside)
            }
            Some(NodeEnum::RangeFunction(function)) => {
                let RangeFunction { lateral: _, ordinality: _, is_rowsfrom: _, functions, alias, coldeflist } =
                    function;
                for item in functions {
                    self.table_function(item, later);
                }
                self.column_definitions(coldeflist);
                if let Some(scope) = inside.scope {
                    let name = alias.as_ref().map(|a| a.aliasname.clone());
                    self.scopes.add(scope, Source { is_function: true, ..Source::derived(name) });
                }
                Vec::new()
            }
            Some(NodeEnum::RangeTableFunc(table)) => {
                self.xml_table(table, later);
                self.derived(table.alias.as_ref(), inside)
            }
            Some(NodeEnum::JsonTable(table)) => {
                self.json_table(table, later.on.as_mut());
                self.derived(table.alias.as_ref(), inside)
            }
            Some(NodeEnum::RangeTableSample(sample)) => {
                let RangeTableSample { relation, method, args, repeatable, location } = sample.as_ref();
                later.on.extend(args);
                later.on.extend(repeatable.as_deref());
                self.sample_method(method, *location);
                match relation.as_deref() {
                    Some(relation) => self.source(relation, inside, outside, later),
                    None => Vec::new(),
                }
            }
            Some(NodeEnum::JoinExpr(join)) => self.join(join, inside, outside, later),
            Some(expression!() | statement!() | part!() | analysed!()) => {
                self.unknown("this item of FROM", None);
                Vec::new()
            }
        }
    }

    fn join<'n>(
        &mut self,
        join: &'n JoinExpr,
        inside: Env,
        outside: Env,
        later: &mut Later<'n>,
    ) -> Vec<usize> {
        let JoinExpr {
            jointype: _,
            is_natural,
            larg,
            rarg,
            using_clause,
            join_using_alias,
            quals,
            alias,
            rtindex: _,
        } = join;
        let mut objects = Vec::new();
        for side in [larg, rarg].into_iter().flatten() {
            objects.extend(self.source(side, inside, outside, later));
        }
        later.on.extend(quals.as_deref());
        for column in using_clause {
            match string(column) {
                Some(name) => later.using.push((objects.clone(), name)),
                None => self.unknown("this column of USING", None),
            }
        }
        if *is_natural {
            later.natural.push(objects.clone());
        }
        for alias in [join_using_alias, alias].into_iter().flatten() {
            self.renamed(alias, &objects);
            // The names inside stay visible; with an alias they have one more.
            if let Some(scope) = inside.scope {
                let source = Source::of(alias.aliasname.clone(), objects.clone());
                self.scopes.add(scope, source);
            }
        }
        objects
    }

    /// A table, a view or a common table expression.
    fn table(&mut self, table: &RangeVar, inside: Env) -> Vec<usize> {
        let RangeVar { catalogname: _, schemaname, relname, inh: _, relpersistence: _, alias, location: _ } =
            table;
        let name = alias.as_ref().map_or(relname, |a| &a.aliasname).clone();
        let expression = schemaname.is_empty() && self.scopes.is_cte(inside.ctes, relname);
        let objects = if expression { Vec::new() } else { vec![self.relation(table, false)] };
        if let Some(alias) = alias {
            self.renamed(alias, &objects);
        }
        if let Some(scope) = inside.scope {
            self.scopes.add(scope, Source::of(name, objects.clone()));
        }
        objects
    }

    /// `t AS x(a, b)` gives the columns other names, by position: all of them count as read.
    fn renamed(&mut self, alias: &Alias, objects: &[usize]) {
        let Alias { aliasname: _, colnames } = alias;
        if !colnames.is_empty() && !objects.is_empty() {
            self.column(objects.to_vec(), None, None);
        }
    }

    /// Something that is no object itself.
    fn derived(&mut self, alias: Option<&Alias>, inside: Env) -> Vec<usize> {
        if let Some(scope) = inside.scope {
            self.scopes.add(scope, Source::derived(alias.map(|a| a.aliasname.clone())));
        }
        Vec::new()
    }

    /// Adds a use of a table by its name.
    pub(super) fn relation(&mut self, table: &RangeVar, written: bool) -> usize {
        let RangeVar { catalogname, schemaname, relname, inh: _, relpersistence: _, alias: _, location } =
            table;
        let parts = 1 + usize::from(!schemaname.is_empty()) + usize::from(!catalogname.is_empty());
        let span = self.span(*location, parts);
        let name = if schemaname.is_empty() {
            ObjectName::new(relname.as_str())
        } else {
            ObjectName::within(schemaname.as_str(), relname.as_str())
        };
        self.object(name, written, span)
    }

    /// Adds a table that is changed.
    pub(super) fn written_object(&mut self, table: &RangeVar) -> usize {
        self.relation(table, true)
    }

    /// A function in FROM, with the columns that it is said to return.
    fn table_function<'n>(&mut self, node: &'n Node, later: &mut Later<'n>) {
        let Some(NodeEnum::List(list)) = inner(node) else {
            return self.unknown("this function of FROM", None);
        };
        match list.items.as_slice() {
            [call] => later.on.push(call),
            [call, columns] => {
                later.on.push(call);
                match inner(columns) {
                    None => {}
                    Some(NodeEnum::List(columns)) => self.column_definitions(&columns.items),
                    Some(_) => self.unknown("these columns of a function", None),
                }
            }
            _ => self.unknown("this function of FROM", None),
        }
    }

    /// `AS t(a int, b text)`.
    fn column_definitions(&mut self, columns: &[Node]) {
        for column in columns {
            match inner(column) {
                Some(NodeEnum::ColumnDef(column)) => self.optional_type(column.type_name.as_ref()),
                _ => self.unknown("this column of a function", None),
            }
        }
    }

    fn sample_method(&mut self, method: &[Node], location: i32) {
        let span = self.span(location, 1);
        let Some(name) = qualified(method) else { return self.unknown("this way to sample", span) };
        let own = matches!(name.schema.as_deref(), None | Some("pg_catalog"));
        let effects = match name.name.as_str() {
            "bernoulli" | "system" if own => Effects::READ,
            _ => functions::known(&name, None).map_or(Effects::UNKNOWN, |k| k.effects),
        };
        let method = Called::Function(name);
        self.untyped(&method, Called::ANY);
        self.called(&method, Some(1), effects, span);
    }

    fn xml_table<'n>(&mut self, table: &'n RangeTableFunc, later: &mut Later<'n>) {
        let RangeTableFunc { lateral: _, docexpr, rowexpr, namespaces, columns, alias: _, location: _ } =
            table;
        later.on.extend(docexpr.as_deref());
        later.on.extend(rowexpr.as_deref());
        for namespace in namespaces {
            match inner(namespace) {
                Some(NodeEnum::ResTarget(target)) => {
                    let ResTarget { name: _, indirection: _, val, location: _ } = target.as_ref();
                    later.on.extend(val.as_deref());
                }
                _ => self.unknown("this namespace of XMLTABLE", None),
            }
        }
        for column in columns {
            let Some(NodeEnum::RangeTableFuncCol(column)) = inner(column) else {
                self.unknown("this column of XMLTABLE", None);
                continue;
            };
            let RangeTableFuncCol {
                colname: _,
                type_name,
                for_ordinality: _,
                is_not_null: _,
                colexpr,
                coldefexpr,
                location: _,
            } = column.as_ref();
            self.optional_type(type_name.as_ref());
            later.on.extend(colexpr.as_deref());
            later.on.extend(coldefexpr.as_deref());
        }
    }
}

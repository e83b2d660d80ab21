//! One level of a query: a table and what is joined to it along links to at most one row.

use std::collections::BTreeMap;

use super::Compiler;
use crate::meaning::Unsure;
use crate::plan::{Expr, Ident, Join, Select, Source};
use crate::schema::{ColumnId, Path, Step, TableId};

/// The tables of one level.
pub(crate) struct Scope {
    pub(crate) root: TableId,
    pub(crate) alias: Ident,
    joined: BTreeMap<Path, usize>,
    joins: Vec<Join>,
    aliases: Vec<Ident>,
}

impl Scope {
    pub(crate) fn new(c: &mut Compiler<'_>, root: TableId) -> Self {
        let alias = c.alias(&c.schema.table(root).name.name);
        Self { root, alias, joined: BTreeMap::new(), joins: Vec::new(), aliases: Vec::new() }
    }

    /// Fills in where the rows of a query come from.
    pub(crate) fn finish(self, c: &Compiler<'_>, select: &mut Select) {
        select.from = Some(Source::Table { name: c.schema.table(self.root).name.clone(), alias: self.alias });
        select.joins = self.joins;
    }

    /// The alias of the table at the end of a path, joined if it is not yet. `left` keeps rows that have
    /// no row there.
    pub(crate) fn at(&mut self, c: &mut Compiler<'_>, path: &[Step], left: bool) -> Ident {
        let mut here = self.alias.clone();
        let mut table = self.root;
        for (i, step) in path.iter().enumerate() {
            let Some(edge) = c.schema.edge(step.edge).cloned() else { break };
            c.followed.insert(step.edge);
            let prefix: Path = path.iter().take(i + 1).copied().collect();
            let (target, own, other) = if step.reversed {
                (edge.from, edge.target_columns, edge.columns)
            } else {
                (edge.to, edge.columns, edge.target_columns)
            };
            if let Some(at) = self.joined.get(&prefix).copied() {
                if !left && let Some(join) = self.joins.get_mut(at) {
                    join.left = false;
                }
                here = self.aliases.get(at).cloned().unwrap_or(here);
                table = target;
                continue;
            }
            let alias = c.alias(&c.schema.table(target).name.name);
            let column = |of: &Ident, table: TableId, index: usize| Expr::Column {
                of: of.clone(),
                name: Ident::new(c.schema.column(ColumnId { table, index }).name.clone()),
            };
            let on = own
                .iter()
                .zip(&other)
                .map(|(a, b)| (column(&alias, target, *b), column(&here, table, *a)))
                .collect();
            let source = Source::Table { name: c.schema.table(target).name.clone(), alias: alias.clone() };
            self.joined.insert(prefix, self.joins.len());
            self.joins.push(Join { left, source, on });
            self.aliases.push(alias.clone());
            here = alias;
            table = target;
        }
        here
    }

    /// A column of a table that is reached from this level.
    pub(crate) fn column(&mut self, c: &mut Compiler<'_>, id: ColumnId, left: bool) -> Result<Expr, Unsure> {
        let Some(path) = c.route(self.root, id.table)? else { return Err(c.apart(self.root, id.table)) };
        // The key of a table is what the link to it holds; the table itself need not be joined.
        if let Some((last, before)) = path.split_last()
            && !last.reversed
            && let Some(edge) = c.schema.edge(last.edge).cloned()
            && let Some(at) = edge.target_columns.iter().position(|t| *t == id.index)
            && let Some(index) = edge.columns.get(at)
            && !self.joined.contains_key(&path)
        {
            c.followed.insert(last.edge);
            let of = self.at(c, before, left);
            let name = c.schema.column(ColumnId { table: edge.from, index: *index }).name.clone();
            return Ok(Expr::Column { of, name: Ident::new(name) });
        }
        let of = self.at(c, &path, left);
        Ok(Expr::Column { of, name: Ident::new(c.schema.column(id).name.clone()) })
    }

    /// A column of the row that a link of the root to its own table leads to.
    pub(crate) fn parent(&mut self, c: &mut Compiler<'_>, edge: usize, id: ColumnId, left: bool) -> Expr {
        let of = self.at(c, &[Step { edge, reversed: false }], left);
        Expr::Column { of, name: Ident::new(c.schema.column(id).name.clone()) }
    }
}

//! WITH: which names its expressions see, and which of them write.

use pg_query::NodeEnum;
use pg_query::protobuf::{CommonTableExpr, CteCycleClause, CteSearchClause, WithClause};

use super::inner;
use super::scope::Env;
use super::walk::Walk;

impl Walk<'_> {
    /// Walks the expressions of WITH and returns the environment in which their names are known.
    ///
    /// With RECURSIVE all of them see all of them; without it each sees those before it, so that the same
    /// name may be a table in its own definition.
    pub(super) fn with(&mut self, with: Option<&WithClause>, env: Env) -> Env {
        let Some(WithClause { ctes, recursive, location: _ }) = with else { return env };
        let mut expressions = Vec::new();
        for node in ctes {
            match inner(node) {
                Some(NodeEnum::CommonTableExpr(cte)) => expressions.push(cte.as_ref()),
                _ => self.unknown("this part of WITH", None),
            }
        }
        let mut inside = env;
        if *recursive {
            let names = expressions.iter().map(|c| c.ctename.clone());
            inside.ctes = Some(self.scopes.with(names, env.ctes));
        }
        for cte in expressions {
            self.common_table(cte, inside);
            if !*recursive {
                let name = std::iter::once(cte.ctename.clone());
                inside.ctes = Some(self.scopes.with(name, inside.ctes));
            }
        }
        inside
    }

    fn common_table(&mut self, cte: &CommonTableExpr, env: Env) {
        let CommonTableExpr {
            ctename: _,
            aliascolnames: _,
            ctematerialized: _,
            ctequery,
            search_clause,
            cycle_clause,
            location: _,
            // What the analyser fills in.
            cterecursive: _,
            cterefcount: _,
            ctecolnames: _,
            ctecoltypes: _,
            ctecoltypmods: _,
            ctecolcollations: _,
        } = cte;
        self.query(ctequery.as_deref(), env);
        if let Some(CteSearchClause {
            search_col_list: _,
            search_breadth_first: _,
            search_seq_column: _,
            location: _,
        }) = search_clause
        {
            // Rows are compared to say which was there before.
            self.equality("<", None);
        }
        if let Some(CteCycleClause {
            cycle_col_list: _,
            cycle_mark_column: _,
            cycle_mark_value,
            cycle_mark_default,
            cycle_path_column: _,
            location: _,
            cycle_mark_type: _,
            cycle_mark_typmod: _,
            cycle_mark_collation: _,
            cycle_mark_neop: _,
        }) = cycle_clause.as_deref()
        {
            self.optional(cycle_mark_value.as_deref(), env);
            self.optional(cycle_mark_default.as_deref(), env);
            self.equality("=", None);
            self.equality("<>", None);
        }
    }
}

//! Tables that link to themselves: who reports to whom.

use super::resolve::{Resolver, Use, Wish};
use super::{Form, Key, Measure, Measured, Output, Stop, Test, Unsure, pick};
use crate::intent::{Ask, Kw, What};
use crate::plan::{Agg, Value};
use crate::schema::TableId;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Those who report.
    Report,
    /// Those whom they report to.
    Manager,
}

impl Resolver<'_> {
    /// Answers questions about such a link. Gives `false` where the question speaks of none.
    pub(super) fn self_reference(&mut self) -> Result<bool, Stop> {
        let links: Vec<(usize, TableId)> = self
            .schema
            .edges()
            .filter(|(_, e)| e.from == e.to && e.columns.len() == 1)
            .map(|(i, e)| (i, e.from))
            .collect();
        let Some((edge, table)) =
            links.iter().find(|(_, t)| self.context.contains(t)).or(links.first()).copied()
        else {
            return Ok(false);
        };
        // The word for the link, wherever it stands.
        let mut role = None;
        for (at, chunk) in self.chunks.iter().enumerate() {
            let found = match chunk.kw {
                Some(Kw::Reports | Kw::Subordinates) => Some(Role::Report),
                Some(Kw::Manager) => Some(Role::Manager),
                _ => None,
            };
            let other_table = chunk.link.table_score() >= crate::link::FULL;
            let value = chunk.hits.iter().any(|h| h.exact);
            if let Some(r) = found
                && !other_table
                && !value
            {
                role = Some((r, at, chunk.kw));
            }
        }
        let Some((role, at, kw)) = role else { return Ok(false) };
        self.intent.subject = table;
        self.explicit = true;
        self.near = vec![table];
        self.last = Some(table);
        let named = self.named_people(table)?;
        let counts = self.ask == Ask::Count
            || self
                .heads
                .iter()
                .chain(self.items.iter().flatten())
                .any(|n| n.core.aggs.contains(&Agg::Count));
        let most = self.sentence.items.iter().find_map(|i| match &i.what {
            What::Rank { rank, .. } => Some(*rank),
            _ => None,
        });
        let each = self.heads.iter().chain(self.items.iter().flatten()).any(|n| n.core.each);
        let neg = self.chunks.iter().any(|c| matches!(c.kw, Some(Kw::Not | Kw::No | Kw::Without)));
        let verb = self.chunks.get(at).is_some_and(|c| {
            matches!(
                c.words.last().map(String::as_str),
                Some("manages" | "manage" | "supervises" | "supervise")
            )
        });
        let behind = named.iter().any(|(place, _)| *place > at);
        let rows = Measure { agg: Agg::Count, of: Measured::Rows(table) };
        let known = self.heads.iter().chain(self.items.iter().flatten()).all(|n| {
            n.is_value() || n.table.is_none_or(|t| t == table) && n.figure.is_none() && n.part.is_none()
        });
        if !known {
            return Err(Unsure::new(
                "the question mixes who reports to whom with more than this planner follows",
            )
            .with([table])
            .into());
        }
        if let Some(rank) = most {
            // Who has the most reports.
            self.intent.keys = vec![Key::Parent(edge)];
            self.wish(Wish::Fixed(rows), Use::Rank(rank));
            return self.end_self_reference();
        }
        if let Some((_, test)) = named.first().cloned() {
            let (columns, values) = test;
            // `X's manager`, `who does X report to`: up. `who reports to X`, `managed by X`: down.
            let up = match (role, kw) {
                (Role::Report, Some(Kw::Subordinates)) => false,
                (Role::Report, _) => !behind,
                (Role::Manager, _) if verb => behind,
                (Role::Manager, _) => {
                    let by = self.chunks.get(at).is_some_and(|c| c.words.last().is_some_and(|w| w == "by"));
                    !by
                }
            };
            if up {
                for column in self.schema.shown_columns(table) {
                    self.intent.outputs.push(Output::Parent { edge, column });
                }
                self.cond(Test::In(columns, values), false, false);
                self.ask = Ask::List;
            } else {
                self.cond(Test::Parent { edge, columns, values }, false, false);
                if counts {
                    self.intent.form = Form::Count;
                }
            }
            return self.end_self_reference();
        }
        if neg {
            let own = self.schema.edge(edge).and_then(|e| e.columns.first().copied());
            let Some(index) = own else { return Ok(false) };
            self.cond(Test::Missing(crate::schema::ColumnId { table, index }), false, false);
            if counts {
                self.intent.form = Form::Count;
            }
            return self.end_self_reference();
        }
        if counts {
            self.intent.keys = vec![Key::Parent(edge)];
            self.wish(Wish::Fixed(rows), Use::Show);
            self.ask = Ask::List;
            return self.end_self_reference();
        }
        // Everyone with the one they report to.
        let asks_manager_only = role == Role::Manager && self.heads.iter().all(|h| !h.is_table()) && !each;
        if asks_manager_only {
            return Err(Unsure::new("whose manager is meant is not said").with([table]).into());
        }
        for column in self.schema.shown_columns(table) {
            self.intent.outputs.push(Output::Column(column));
        }
        for column in self.schema.shown_columns(table) {
            self.intent.outputs.push(Output::Parent { edge, column });
        }
        self.end_self_reference()
    }

    fn end_self_reference(&mut self) -> Result<bool, Stop> {
        self.finish_self_reference()?;
        Ok(true)
    }

    /// The people of the table that the question names, with the place of their chunk.
    #[expect(clippy::type_complexity, reason = "a place, and the columns and values of a condition")]
    fn named_people(
        &self,
        table: TableId,
    ) -> Result<Vec<(usize, (Vec<crate::schema::ColumnId>, Vec<Value>))>, Unsure> {
        let mut out = Vec::new();
        for (place, chunk) in self.chunks.iter().enumerate() {
            let own: Vec<_> = chunk
                .hits
                .iter()
                .filter(|h| h.exact && h.columns.first().is_some_and(|c| c.table == table))
                .cloned()
                .collect();
            if own.is_empty() || chunk.link.score() >= crate::link::FULL {
                continue;
            }
            let around = pick::Around {
                near: &[table],
                context: &[],
                beside: &[],
                tables: &[table],
                hints: &[],
                by: false,
                apposed: false,
                not_name_of: &[],
            };
            let found = pick::hits(self.schema, &own, &around, &chunk.text)?;
            if let Some(first) = found.first() {
                let values = found.iter().map(|h| Value::Text(h.value.clone())).collect();
                out.push((place, (first.columns.clone(), values)));
            }
        }
        Ok(out)
    }
}

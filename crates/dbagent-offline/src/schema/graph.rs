//! Ways between tables along their links. Every step goes from a row to at most one other row, so joins
//! along a path never multiply rows.

use std::collections::{BTreeMap, BTreeSet};

use super::{Schema, TableId};

/// One link, followed from its own side or, where it is one to one, from the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Step {
    pub(crate) edge: usize,
    pub(crate) reversed: bool,
}

/// Steps in order; empty for a table itself.
pub(crate) type Path = Vec<Step>;

/// The way from one table to another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Route {
    /// There is none.
    None,
    /// The only shortest one.
    One(Path),
    /// Several equally short ones; the question does not say which.
    Many(Vec<Path>),
}

/// The table whose rows each belong to at most one row of all the tables asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Root {
    None,
    One(TableId),
    Many(Vec<TableId>),
}

/// Longest way that is looked for.
const MAX_STEPS: usize = 6;

impl Schema {
    fn steps(&self, from: TableId) -> impl Iterator<Item = (Step, TableId)> {
        self.edges().filter(|(_, e)| e.from != e.to).flat_map(move |(edge, e)| {
            let forward = (e.from == from).then_some((Step { edge, reversed: false }, e.to));
            let back = (e.to == from && e.unique).then_some((Step { edge, reversed: true }, e.from));
            forward.into_iter().chain(back)
        })
    }

    /// The way from `from` to `to` in steps to at most one row. Among several shortest ways, `hints` (words
    /// of the question) may name one by its role: the home team, the billing address.
    pub(crate) fn route(&self, from: TableId, to: TableId, hints: &BTreeSet<String>) -> Route {
        if from == to {
            return Route::One(Vec::new());
        }
        let mut layer: Vec<(TableId, Path)> = vec![(from, Vec::new())];
        let mut seen = BTreeSet::from([from]);
        for _ in 0..MAX_STEPS {
            let mut next: Vec<(TableId, Path)> = Vec::new();
            for (table, path) in &layer {
                for (step, target) in self.steps(*table) {
                    if !seen.contains(&target) && next.len() < 256 {
                        let mut path = path.clone();
                        path.push(step);
                        next.push((target, path));
                    }
                }
            }
            let found: Vec<Path> = next.iter().filter(|(t, _)| *t == to).map(|(_, p)| p.clone()).collect();
            if !found.is_empty() {
                return self.choose(found, hints);
            }
            seen.extend(next.iter().map(|(t, _)| *t));
            layer = next;
            if layer.is_empty() {
                break;
            }
        }
        Route::None
    }

    fn choose(&self, mut paths: Vec<Path>, hints: &BTreeSet<String>) -> Route {
        let roles = |path: &Path| -> Vec<String> {
            path.iter().filter_map(|s| self.edge(s.edge)).flat_map(|e| e.role.clone()).collect()
        };
        if paths.len() > 1 {
            let named: Vec<Path> =
                paths.iter().filter(|p| roles(p).iter().any(|r| hints.contains(r))).cloned().collect();
            let plain: Vec<Path> = paths.iter().filter(|p| roles(p).is_empty()).cloned().collect();
            let declared: Vec<Path> = paths
                .iter()
                .filter(|p| p.iter().all(|s| self.edge(s.edge).is_some_and(|e| !e.assumed)))
                .cloned()
                .collect();
            for fewer in [named, plain, declared] {
                if fewer.len() == 1 {
                    paths = fewer;
                    break;
                }
            }
        }
        match paths.len() {
            0 => Route::None,
            1 => Route::One(paths.pop().unwrap_or_default()),
            _ => Route::Many(paths),
        }
    }

    /// How many steps away a table is.
    pub(crate) fn distance(&self, from: TableId, to: TableId) -> Option<usize> {
        match self.route(from, to, &BTreeSet::new()) {
            Route::None => None,
            Route::One(path) => Some(path.len()),
            Route::Many(paths) => paths.first().map(Vec::len),
        }
    }

    /// The nearest table from whose rows all of `tables` are reached.
    pub(crate) fn root(&self, tables: &BTreeSet<TableId>) -> Root {
        let mut best: BTreeMap<usize, Vec<TableId>> = BTreeMap::new();
        for (candidate, _) in self.tables() {
            let distances: Option<Vec<usize>> = tables.iter().map(|t| self.distance(candidate, *t)).collect();
            if let Some(distances) = distances {
                best.entry(distances.iter().sum()).or_default().push(candidate);
            }
        }
        match best.into_iter().next() {
            None => Root::None,
            Some((_, roots)) => match roots.as_slice() {
                [only] => Root::One(*only),
                _ => Root::Many(roots),
            },
        }
    }

    /// How far apart two tables are in either direction: 0 for the same, 1 for linked ones.
    pub(crate) fn apart(&self, a: TableId, b: TableId) -> Option<usize> {
        let mut layer = BTreeSet::from([a]);
        let mut seen = layer.clone();
        for far in 0..=MAX_STEPS {
            if layer.contains(&b) {
                return Some(far);
            }
            let next: BTreeSet<TableId> = self
                .edges()
                .flat_map(|(_, e)| [(e.from, e.to), (e.to, e.from)])
                .filter(|(x, y)| layer.contains(x) && !seen.contains(y))
                .map(|(_, y)| y)
                .collect();
            seen.extend(&next);
            layer = next;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use dbagent_core::catalog::{Column, ForeignKey, ObjectDetail, ObjectKind};
    use dbagent_core::name::ObjectName;

    use super::super::build;
    use super::*;

    fn table(name: &str, columns: &[&str], links: &[(&str, &str)]) -> ObjectDetail {
        let mut o = ObjectDetail::new(ObjectName::new(name), ObjectKind::Table);
        o.columns = columns
            .iter()
            .map(|c| Column { name: (*c).into(), data_type: "INTEGER".into(), ..Column::default() })
            .collect();
        o.primary_key = vec!["id".into()];
        o.foreign_keys = links
            .iter()
            .map(|(c, t)| ForeignKey {
                columns: vec![(*c).into()],
                target: ObjectName::new(*t),
                target_columns: vec!["id".into()],
            })
            .collect();
        o
    }

    fn id(schema: &Schema, name: &str) -> TableId {
        schema.tables().find(|(_, t)| t.name.name == name).map(|(i, _)| i).unwrap()
    }

    fn league() -> Schema {
        build(&[
            table("city", &["id"], &[]),
            table("team", &["id", "city_id"], &[("city_id", "city")]),
            table("game", &["id", "home_team", "away_team"], &[("home_team", "team"), ("away_team", "team")]),
            table("ticket", &["id", "game_id", "fan_id"], &[]),
            table("fan", &["id", "boss"], &[("boss", "fan")]),
        ])
    }

    #[test]
    fn two_links_to_one_table_need_a_word() {
        let s = league();
        let (game, team) = (id(&s, "game"), id(&s, "team"));
        assert!(matches!(s.route(game, team, &BTreeSet::new()), Route::Many(p) if p.len() == 2));
        let Route::One(path) = s.route(game, team, &BTreeSet::from(["home".to_owned()])) else { panic!() };
        assert_eq!(s.edge(path[0].edge).unwrap().role, ["home"]);
    }

    #[test]
    fn names_suggest_links_where_none_is_declared() {
        let s = league();
        let (ticket, game) = (id(&s, "ticket"), id(&s, "game"));
        let Route::One(path) = s.route(ticket, game, &BTreeSet::new()) else { panic!() };
        assert!(s.edge(path[0].edge).unwrap().assumed);
    }

    #[test]
    fn the_root_is_the_finest_table_that_reaches_all() {
        let s = league();
        let both = BTreeSet::from([id(&s, "fan"), id(&s, "game")]);
        assert_eq!(s.root(&both), Root::One(id(&s, "ticket")));
        assert_eq!(s.root(&BTreeSet::from([id(&s, "city")])), Root::One(id(&s, "city")));
        assert_eq!(s.apart(id(&s, "city"), id(&s, "fan")), Some(4));
    }

    #[test]
    fn a_table_may_link_to_itself() {
        let s = league();
        assert_eq!(s.edges().filter(|(_, e)| e.from == e.to).count(), 1);
    }
}

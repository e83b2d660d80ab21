//! Which columns name a row to a person.

use super::{Class, ColumnId, Schema, TableId};

impl Schema {
    /// The columns by which people know a row of a table: its name or title, or first and last name.
    /// Empty where it has none, as a line of an invoice.
    pub(crate) fn name_columns(&self, table: TableId) -> Vec<ColumnId> {
        let own = &self.table(table).label.words;
        let texts: Vec<(ColumnId, Vec<&str>)> = self
            .columns(table)
            .filter(|(_, c)| matches!(c.class, Class::Text | Class::Unknown) && !c.links)
            .map(|(id, c)| {
                (
                    id,
                    c.label
                        .words
                        .iter()
                        .map(String::as_str)
                        .filter(|w| !own.iter().any(|o| o == w))
                        .collect(),
                )
            })
            .collect();
        let is = |wanted: &[&[&str]]| {
            wanted
                .iter()
                .find_map(|w| texts.iter().find(|(_, words)| words.as_slice() == *w).map(|(id, _)| *id))
        };
        if let Some(id) = is(&[&["name"], &["full", "name"]]) {
            return vec![id];
        }
        let part = |first: &str| {
            texts.iter().find(|(_, w)| w.contains(&first) && w.contains(&"name")).map(|(id, _)| *id)
        };
        if let (Some(first), Some(last)) = (part("first"), part("last")) {
            return if first < last { vec![first, last] } else { vec![last, first] };
        }
        if let Some(id) = is(&[&["title"], &["company", "name"], &["display", "name"]]) {
            return vec![id];
        }
        // A name of something else does not name a row that only happened: the receiver of an order.
        let happened = self.columns(table).any(|(_, c)| c.class == Class::Date)
            && self.edges().any(|(_, e)| e.from == table && e.to != table);
        let ends_in_name = texts.iter().filter(|_| !happened).find(|(_, w)| w.last() == Some(&"name"));
        if let Some((id, _)) = ends_in_name {
            return vec![*id];
        }
        // A column that is called like its table: `country.country`.
        let like_table = self.columns(table).find(|(_, c)| c.class == Class::Text && c.label.words == *own);
        if let Some((id, _)) = like_table {
            return vec![id];
        }
        is(&[&["label"], &["subject"], &["heading"], &["description"]]).into_iter().collect()
    }

    /// What to show of a row where nothing else was asked for: its name, else its key and what says most.
    pub(crate) fn shown_columns(&self, table: TableId) -> Vec<ColumnId> {
        let names = self.name_columns(table);
        if !names.is_empty() {
            return names;
        }
        let count = self.table(table).columns.len();
        self.columns(table)
            .filter(|(_, c)| c.class != Class::Blob)
            .filter(|(_, c)| {
                count <= 8
                    || c.in_key
                    || (matches!(c.class, Class::Date | Class::Real | Class::Int) && !c.links)
            })
            .map(|(id, _)| id)
            .take(8)
            .collect()
    }

    /// Whether rows of a table are people.
    pub(crate) fn is_person(&self, table: TableId) -> bool {
        const PEOPLE: [&str; 34] = [
            "person",
            "customer",
            "client",
            "employee",
            "staff",
            "user",
            "member",
            "author",
            "artist",
            "actor",
            "director",
            "singer",
            "musician",
            "player",
            "student",
            "teacher",
            "professor",
            "instructor",
            "doctor",
            "physician",
            "patient",
            "driver",
            "pilot",
            "owner",
            "manager",
            "worker",
            "passenger",
            "guest",
            "visitor",
            "contact",
            "writer",
            "faculty",
            "candidate",
            "individual",
        ];
        let t = self.table(table);
        let named =
            self.columns(table).any(|(_, c)| c.label.has("name") && c.label.has_any(&["first", "last"]));
        named || t.label.words.last().is_some_and(|w| PEOPLE.contains(&w.as_str()))
    }
}

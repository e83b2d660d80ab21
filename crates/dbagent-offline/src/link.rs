//! Links words of a question to tables and columns of the schema, each with a score.

use crate::schema::{ColumnId, Schema, TableId};
use crate::words::{Label, same_meaning, stem};

/// How well a name fits, from 1 to 100. From [`FULL`] on, the words name it and nothing else is needed.
pub(crate) type Score = u16;

/// The words are the whole name.
pub(crate) const FULL: Score = 90;

/// What some words of a question may mean in a schema; best first.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Link {
    pub(crate) tables: Vec<(TableId, Score)>,
    pub(crate) columns: Vec<(ColumnId, Score)>,
}

impl Link {
    pub(crate) fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.columns.is_empty()
    }

    pub(crate) fn table_score(&self) -> Score {
        self.tables.first().map_or(0, |(_, s)| *s)
    }

    pub(crate) fn column_score(&self) -> Score {
        self.columns.first().map_or(0, |(_, s)| *s)
    }

    pub(crate) fn score(&self) -> Score {
        self.table_score().max(self.column_score())
    }

    pub(crate) fn table(&self, id: TableId) -> Option<Score> {
        self.tables.iter().find(|(t, _)| *t == id).map(|(_, s)| *s)
    }
}

/// Links some words (singular, lower case).
pub(crate) fn link(schema: &Schema, words: &[String]) -> Link {
    if words.iter().any(|w| ["the", "a", "an"].contains(&w.as_str())) {
        return Link::default();
    }
    let kept: Vec<&str> = words.iter().map(String::as_str).filter(|w| *w != "of").collect();
    let ordered = kept.len() == words.len();
    if kept.is_empty() {
        return Link::default();
    }
    let mut out = Link::default();
    for (id, table) in schema.tables() {
        if let Some(score) = table_score(&kept, &table.label, ordered) {
            out.tables.push((id, score));
        }
        for (column, c) in schema.columns(id) {
            // A link or a number is no name of what it stands for.
            let nameless = matches!(kept.last(), Some(&("name" | "title")))
                && (c.links || c.class.is_number())
                && !c.label.has_any(&["name", "title"]);
            let plain = column_score(&kept, &c.label, &table.label, ordered).filter(|_| !nameless);
            let named = ((kept == ["name"] || kept == ["full", "name"])
                && schema.name_columns(id).contains(&column))
            .then_some(FULL);
            if let Some(score) = plain.max(named) {
                out.columns.push((column, score));
            }
        }
    }
    if out.is_empty()
        && let [word] = kept.as_slice()
        && let Some((_, columns)) = DIMENSIONS.iter().find(|(names, _)| names.contains(word))
    {
        for (id, _) in schema.tables() {
            let fits = columns.iter().find_map(|w| {
                schema.columns(id).find(|(_, c)| c.is_figure() && c.label.has(w)).map(|(c, _)| c)
            });
            out.columns.extend(fits.map(|c| (c, 70)));
        }
    }
    for (_, edge) in schema.edges().filter(|(_, e)| e.from != e.to) {
        if let Some(score) = role_score(schema, &kept, edge)
            && out.tables.iter().all(|(t, s)| *t != edge.to || *s < score)
        {
            out.tables.retain(|(t, _)| *t != edge.to);
            out.tables.push((edge.to, score));
        }
    }
    // `catalog entries` are no catalogs where a column speaks of a catalog entry.
    if kept.len() > 1 {
        let called = schema.tables().any(|(_, t)| {
            t.columns.iter().any(|c| {
                let own: Vec<&str> = c.label.words.iter().map(String::as_str).collect();
                own.len() > kept.len() && own.starts_with(&kept)
            })
        });
        for (id, score) in &mut out.tables {
            if called && *score == 95 && schema.table(*id).label.words.len() < kept.len() {
                *score = 50;
            }
        }
    }
    // `menu items`, `team members`: where other rows belong to a table, what it consists of are those.
    for (id, score) in &mut out.tables {
        let tail = kept.get(schema.table(*id).label.words.len()..).unwrap_or_default();
        if *score == 95 && consists_of(schema, *id, tail) {
            *score = 50;
        }
    }
    // Views stand behind the tables that they show.
    for (id, score) in &mut out.tables {
        if schema.table(*id).kind != dbagent_core::catalog::ObjectKind::Table {
            *score = score.saturating_sub(15);
        }
    }
    for (id, score) in &mut out.columns {
        if schema.table(id.table).kind != dbagent_core::catalog::ObjectKind::Table {
            *score = score.saturating_sub(15);
        }
    }
    // A weak likeness counts only where nothing is named outright.
    let best = out.score();
    if best >= FULL {
        out.tables.retain(|(_, s)| *s >= 60);
        out.columns.retain(|(_, s)| *s >= 55);
    }
    out.tables.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    out.columns.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    out
}

/// The table that a link leads to, by what its column says: `support rep`, `home team`, `seller`.
fn role_score(schema: &Schema, words: &[&str], edge: &crate::schema::Edge) -> Option<Score> {
    let role: Vec<&str> = edge.role.iter().map(String::as_str).collect();
    if role.is_empty() || role.iter().any(|w| ["to", "via", "by", "in", "of", "from"].contains(w)) {
        return None;
    }
    let own: Vec<&str> = schema.table(edge.to).label.words.iter().map(String::as_str).collect();
    let alike =
        |a: &[&str], b: &[&str]| a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same_meaning(x, y));
    if alike(words, &[role.as_slice(), own.as_slice()].concat()) {
        return Some(96);
    }
    let person = schema.is_person(edge.to)
        && role.last().is_some_and(|w| {
            ["er", "or", "ee", "ist", "ant", "ent", "rep"].iter().any(|end| w.ends_with(end))
        });
    (alike(words, &role) && person).then_some(94)
}

/// What people call a figure whose column is called by its unit.
const DIMENSIONS: [(&[&str], &[&str]); 2] = [
    (
        &["length", "duration", "runtime", "playtime"],
        &["millisecond", "second", "minute", "hour", "length", "duration"],
    ),
    (&["size"], &["byte", "kilobyte", "megabyte", "kb", "mb", "size"]),
];

/// Words that add nothing behind a table's name.
const GENERIC: [&str; 14] = [
    "record",
    "entry",
    "row",
    "table",
    "list",
    "data",
    "information",
    "info",
    "item",
    "detail",
    "object",
    "instance",
    "master",
    "member",
];

/// Whether words behind the name of a table may mean what belongs to its rows, and not these themselves.
fn consists_of(schema: &Schema, table: TableId, tail: &[&str]) -> bool {
    let parts = ["entry", "item", "object", "instance", "list", "detail", "member"];
    let holds = tail.iter().any(|w| parts.contains(w));
    let own = &schema.table(table).label.words;
    holds
        && schema.edges().filter(|(_, e)| e.to == table && e.from != table).any(|(_, e)| {
            match tail {
                // `staff members` are the staff; `customer details` are what is known of them, unless there are
                // tables of customer lines.
                ["member"] => !schema.is_person(table),
                ["detail"] => schema.table(e.from).label.words.starts_with(own),
                _ => true,
            }
        })
}

fn table_score(words: &[&str], label: &Label, ordered: bool) -> Option<Score> {
    let own: Vec<&str> = label.words.iter().map(String::as_str).collect();
    if words == own.as_slice() {
        return Some(100);
    }
    if words.concat() == own.concat() {
        return Some(98);
    }
    let without_generic = |list: &[&str]| -> Vec<String> {
        let mut list: Vec<String> = list.iter().map(|w| (*w).to_owned()).collect();
        while list.len() > 1 && list.last().is_some_and(|w| GENERIC.contains(&w.as_str())) {
            list.pop();
        }
        list
    };
    if words.len() > own.len() && without_generic(words) == own {
        return Some(95);
    }
    let bare = if own.last().is_some_and(|w| ["item", "detail", "member", "object", "instance"].contains(w)) {
        own.iter().map(|w| (*w).to_owned()).collect()
    } else {
        without_generic(&own)
    };
    if bare.len() < own.len() && bare == words {
        return Some(FULL);
    }
    if let [first, rest @ ..] = own.as_slice()
        && ["reference", "dim", "fact", "lookup"].contains(first)
        && rest == words
    {
        return Some(FULL);
    }
    if words.len() > 1 && same_set(words, &own) {
        return Some(if ordered { FULL } else { 80 });
    }
    alike(words, &own).map(|s| s + 10).or_else(|| {
        if own.len() > words.len() && own.ends_with(words) {
            Some(60)
        } else if own.len() > words.len() && own.starts_with(words) {
            Some(45)
        } else {
            None
        }
    })
}

fn column_score(words: &[&str], label: &Label, table: &Label, ordered: bool) -> Option<Score> {
    let own: Vec<&str> = label.words.iter().map(String::as_str).filter(|w| *w != "of").collect();
    if words == own.as_slice() {
        return Some(100);
    }
    let table: Vec<&str> = table.words.iter().map(String::as_str).collect();
    let prefixed = [table.as_slice(), own.as_slice()].concat();
    // `employees report to` is a sentence, not the name of a column.
    if words.len() > 1 && words == prefixed.as_slice() && !own.contains(&"to") {
        return Some(99);
    }
    if let [rest @ .., "number" | "address" | "name" | "field" | "value" | "date"] = words
        && rest == own.as_slice()
    {
        return Some(94);
    }
    if words.concat() == own.concat() {
        return Some(98);
    }
    if words == ["job", "title"] && own == ["title"] {
        return Some(90);
    }
    let rest: Vec<&str> = own.iter().copied().filter(|w| !table.contains(w)).collect();
    if rest.len() < own.len() && rest == words {
        return Some(95);
    }
    if words.len() > 1 && same_set(words, &own) {
        return Some(if ordered { 92 } else { 93 });
    }
    if words.len() > 1 && !ordered && same_set(words, &prefixed) {
        return Some(92);
    }
    if let Some(score) =
        alike(words, &own).or_else(|| (rest.len() < own.len()).then(|| alike(words, &rest)).flatten())
    {
        return Some(score);
    }
    if own.len() > words.len() && own.ends_with(words) {
        return Some(if own.len() == words.len() + 1 { 65 } else { 60 });
    }
    if own.len() > words.len() && own.starts_with(words) {
        return Some(55);
    }
    if let ([word], [.., last]) = (words, own.as_slice())
        && own.len() > 1
        && same_meaning(word, last)
    {
        return Some(60);
    }
    if let [word] = words
        && own.len() > 1
        && own.iter().any(|o| same_stem(word, o))
    {
        return Some(50);
    }
    None
}

fn same_set(a: &[&str], b: &[&str]) -> bool {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    a.sort_unstable();
    b.sort_unstable();
    a == b
}

/// Word by word the same meaning, or one word of the same stem.
fn alike(words: &[&str], own: &[&str]) -> Option<Score> {
    if words.len() != own.len() {
        return None;
    }
    if words.iter().zip(own).all(|(w, o)| same_meaning(w, o)) {
        return Some(if words.len() == 1 { 75 } else { 80 });
    }
    match (words, own) {
        ([w], [o]) if same_stem(w, o) => Some(62),
        _ => None,
    }
}

/// Whether two words come from one verb.
pub(crate) fn same_stem(a: &str, b: &str) -> bool {
    matches!((stem(a), stem(b)), (Some(x), Some(y)) if x == y)
}

/// `attended` and `attendance`, `shipped` and `shipment`.
pub(crate) fn speaks_of(verb: &str, noun: &str) -> bool {
    let base = ["ed", "ing", "s"].iter().find_map(|end| verb.strip_suffix(end)).unwrap_or(verb);
    let mut letters: Vec<char> = base.chars().collect();
    if let [.., a, b] = letters.as_slice()
        && a == b
    {
        letters.pop();
    }
    let base: String = letters.into_iter().collect();
    same_stem(verb, noun) || (base.len() >= 4 && noun.starts_with(&base))
}

#[cfg(test)]
mod tests {
    use dbagent_core::catalog::{Column, ObjectDetail, ObjectKind};
    use dbagent_core::name::ObjectName;

    use super::*;
    use crate::schema::build;

    fn schema() -> Schema {
        let table = |name: &str, columns: &[&str]| {
            let mut o = ObjectDetail::new(ObjectName::new(name), ObjectKind::Table);
            o.columns = columns
                .iter()
                .map(|c| Column { name: (*c).into(), data_type: "TEXT".into(), ..Column::default() })
                .collect();
            o
        };
        build(&[
            table("InvoiceLine", &["InvoiceLineId", "UnitPrice"]),
            table("Track", &["TrackId", "Name"]),
            table("Category", &["CategoryName"]),
            table("Employee", &["BirthDate", "HireDate"]),
        ])
    }

    fn best(words: &str) -> (String, Score) {
        let schema = schema();
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let link = link(&schema, &words);
        if link.table_score() >= link.column_score() {
            let (id, score) = link.tables[0];
            (schema.table(id).name.name.clone(), score)
        } else {
            let (id, score) = link.columns[0];
            (schema.spoken_column(id), score)
        }
    }

    #[test]
    fn names_are_found_by_what_they_say() {
        assert_eq!(best("invoice line"), ("InvoiceLine".into(), 100));
        assert_eq!(best("invoice line item"), ("InvoiceLine".into(), 95));
        assert_eq!(best("song").0, "Track");
        assert_eq!(best("price").0, "InvoiceLine.UnitPrice");
        assert_eq!(best("track name"), ("Track.Name".into(), 99));
        assert_eq!(best("date of birth").0, "Employee.BirthDate");
        assert_eq!(best("hired").0, "Employee.HireDate");
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        assert!(link(&schema(), &["weather".to_owned()]).is_empty());
    }

    #[test]
    fn verbs_speak_of_the_tables_made_from_them() {
        assert!(speaks_of("attended", "attendance"));
        assert!(speaks_of("shipped", "shipment"));
        assert!(!speaks_of("sold", "shipment"));
    }
}

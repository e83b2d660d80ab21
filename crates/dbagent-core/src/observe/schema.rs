//! How objects are listed and described to a model, and how that is read back.
//!
//! A description is one block of cell lines per object:
//!
//! ```text
//! | table main.Album | 347 rows |
//! | column | type | null | key | notes |
//! | AlbumId | INTEGER | no | primary key |  |
//! | ArtistId | INTEGER | no | references Artist.ArtistId | indexed |
//! ```
//!
//! Keys and links over several columns follow as lines of their own: `| primary key | a, b |`,
//! `| foreign key | a, b | T | x, y |`, then `| index | … |` and `| note | … |`.

use super::{Frame, read_tables, text_cell};
use crate::catalog::{Column, ForeignKey, Index, ObjectDetail, ObjectKind, ObjectSummary, RowCount};
use crate::name::ObjectName;
use crate::text::shorten;

const COLUMN_HEAD: [&str; 5] = ["column", "type", "null", "key", "notes"];
const LIST_HEAD: [&str; 4] = ["kind", "name", "rows", "comment"];
const MAX_COMMENT: usize = 200;

fn optional(text: Option<&str>) -> String {
    text.map(|t| text_cell(&shorten(t, MAX_COMMENT))).unwrap_or_default()
}

fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|n| ObjectName::new(n.as_str()).to_string()).collect();
    quoted.join(", ")
}

/// Writes a list of objects as one framed table.
pub fn list_table(objects: &[ObjectSummary]) -> String {
    let mut frame = Frame::new();
    frame.cells(LIST_HEAD);
    for o in objects {
        frame.cells([
            o.kind.as_str().to_owned(),
            text_cell(&o.name.to_string()),
            o.rows.to_string(),
            optional(o.comment.as_deref()),
        ]);
    }
    frame.close()
}

/// Writes descriptions, one block an object, in one frame.
pub fn write_descriptions(objects: &[ObjectDetail]) -> String {
    let mut frame = Frame::new();
    for (i, object) in objects.iter().enumerate() {
        if i > 0 {
            frame.gap();
        }
        write_one(&mut frame, object);
    }
    frame.close()
}

fn write_one(frame: &mut Frame, object: &ObjectDetail) {
    let s = &object.summary;
    let rows = if s.rows == RowCount::Exactly(1) { "1 row".to_owned() } else { format!("{} rows", s.rows) };
    let mut head = vec![text_cell(&format!("{} {}", s.kind.as_str(), s.name)), rows];
    if let Some(comment) = &s.comment {
        head.push(text_cell(&shorten(comment, MAX_COMMENT)));
    }
    frame.cells(head);
    frame.cells(COLUMN_HEAD);
    for column in &object.columns {
        let null = match column.nullable {
            Some(true) => "yes",
            Some(false) => "no",
            None => "",
        };
        frame.cells([
            text_cell(&column.name),
            if column.data_type.is_empty() { String::new() } else { text_cell(&column.data_type) },
            null.to_owned(),
            text_or_nothing(&key_of(object, &column.name)),
            text_or_nothing(&notes_of(object, column)),
        ]);
    }
    if object.primary_key.len() > 1 {
        frame.cells(["primary key".to_owned(), text_cell(&list(&object.primary_key))]);
    }
    for fk in object.foreign_keys.iter().filter(|fk| fk.columns.len() != 1) {
        frame.cells([
            "foreign key".to_owned(),
            text_cell(&list(&fk.columns)),
            text_cell(&fk.target.to_string()),
            text_cell(&list(&fk.target_columns)),
        ]);
    }
    for index in object.indexes.iter().filter(|i| i.columns.len() > 1 || i.condition.is_some()) {
        let unique = if index.unique { "unique index" } else { "index" };
        let mut cells = vec![unique.to_owned(), text_cell(&index.name), text_cell(&list(&index.columns))];
        if let Some(condition) = &index.condition {
            cells.push(text_cell(&format!("where {}", shorten(condition, MAX_COMMENT))));
        }
        frame.cells(cells);
    }
    for note in &object.notes {
        frame.cells(["note".to_owned(), text_cell(&shorten(note, MAX_COMMENT))]);
    }
}

fn text_or_nothing(text: &str) -> String {
    if text.is_empty() { String::new() } else { text_cell(text) }
}

fn key_of(object: &ObjectDetail, column: &str) -> String {
    let mut keys = Vec::new();
    if let [only] = object.primary_key.as_slice()
        && only == column
    {
        keys.push("primary key".to_owned());
    }
    for fk in &object.foreign_keys {
        if let ([own], [target]) = (fk.columns.as_slice(), fk.target_columns.as_slice())
            && own == column
        {
            keys.push(format!("references {}.{}", fk.target, ObjectName::new(target.as_str())));
        }
    }
    keys.join("; ")
}

fn notes_of(object: &ObjectDetail, column: &Column) -> String {
    let mut notes = Vec::new();
    for index in &object.indexes {
        if index.columns.as_slice() == std::slice::from_ref(&column.name) && index.condition.is_none() {
            let word = if index.unique { "unique" } else { "indexed" };
            if !notes.iter().any(|n| n == word) {
                notes.push(word.to_owned());
            }
        }
    }
    if let Some(generated) = &column.generated {
        notes.push(if generated.is_empty() {
            "generated".into()
        } else {
            format!("generated as {}", shorten(generated, MAX_COMMENT))
        });
    }
    if let Some(default) = &column.default {
        notes.push(format!("default {}", shorten(default, 80)));
    }
    if !column.allowed_values.is_empty() {
        notes.push(format!("one of {}", shorten(&column.allowed_values.join(", "), MAX_COMMENT)));
    }
    if column.hidden {
        notes.push("hidden".into());
    }
    if let Some(comment) = &column.comment {
        notes.push(shorten(comment, MAX_COMMENT));
    }
    notes.join("; ")
}

/// Reads a list back.
pub fn read_list(text: &str) -> Vec<ObjectSummary> {
    let mut objects = Vec::new();
    for table in read_tables(text) {
        for line in table.lines {
            let mut cells = line.into_iter();
            let (Some(Some(kind)), Some(Some(name))) = (cells.next(), cells.next()) else { continue };
            let (Some(kind), Some(name)) = (ObjectKind::from_word(&kind), ObjectName::parse(&name)) else {
                continue;
            };
            let rows = cells.next().flatten().and_then(|r| RowCount::parse(&r)).unwrap_or_default();
            let comment = cells.next().flatten().filter(|c| !c.is_empty());
            objects.push(ObjectSummary { name, kind, rows, comment });
        }
    }
    objects
}

/// Reads descriptions back: names, types, keys and links; notes stay in the column's comment.
pub fn read_descriptions(text: &str) -> Vec<ObjectDetail> {
    read_tables(text).iter().filter_map(|t| read_one(&t.lines)).collect()
}

fn read_one(lines: &[Vec<Option<String>>]) -> Option<ObjectDetail> {
    let mut lines = lines.iter();
    let head = lines.next()?;
    let title = head.first()?.as_deref()?;
    let (kind, name) = ["virtual table ", "foreign table ", "system table ", "materialized view "]
        .iter()
        .find_map(|k| title.strip_prefix(k).map(|n| (k.trim(), n)))
        .or_else(|| title.split_once(' '))?;
    let mut object = ObjectDetail::new(ObjectName::parse(name)?, ObjectKind::from_word(kind)?);
    if let Some(Some(rows)) = head.get(1) {
        object.summary.rows = RowCount::parse(rows.strip_suffix(" rows").or(rows.strip_suffix(" row"))?)?;
    }
    object.summary.comment = head.get(2).cloned().flatten();
    if lines.next()?.first()?.as_deref()? != "column" {
        return None;
    }
    for line in lines {
        let cell = |i: usize| line.get(i).and_then(|c| c.as_deref()).unwrap_or_default();
        // A column line always has five cells; the lines about several columns have fewer.
        match (line.len(), cell(0)) {
            (2, "primary key") => object.primary_key = names(cell(1)),
            (4, "foreign key") => {
                if let Some(target) = ObjectName::parse(cell(2)) {
                    object.foreign_keys.push(ForeignKey {
                        columns: names(cell(1)),
                        target,
                        target_columns: names(cell(3)),
                    });
                }
            }
            (3 | 4, word @ ("index" | "unique index")) => object.indexes.push(Index {
                name: cell(1).to_owned(),
                columns: names(cell(2)),
                unique: word == "unique index",
                condition: (line.len() == 4).then(|| cell(3).trim_start_matches("where ").to_owned()),
            }),
            (2, "note") => object.notes.push(cell(1).to_owned()),
            (5, column) => {
                for key in cell(3).split("; ") {
                    if key == "primary key" {
                        object.primary_key = vec![column.to_owned()];
                    } else if let Some(mut parts) =
                        key.strip_prefix("references ").and_then(crate::name::split_quoted)
                        && let Some(target_column) = parts.pop()
                        && let Some(name) = parts.pop()
                    {
                        object.foreign_keys.push(ForeignKey {
                            columns: vec![column.to_owned()],
                            target: ObjectName { namespace: parts.pop(), name },
                            target_columns: vec![target_column],
                        });
                    }
                }
                object.columns.push(Column {
                    name: column.to_owned(),
                    data_type: cell(1).to_owned(),
                    nullable: match cell(2) {
                        "yes" => Some(true),
                        "no" => Some(false),
                        _ => None,
                    },
                    comment: Some(cell(4)).filter(|c| !c.is_empty()).map(str::to_owned),
                    ..Column::default()
                });
            }
            _ => {}
        }
    }
    Some(object)
}

fn names(text: &str) -> Vec<String> {
    // Names are separated by ", " and quoted like object names where they hold a dot or a quote.
    text.split(", ").filter_map(|n| ObjectName::parse(n).map(|o| o.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn album() -> ObjectDetail {
        let mut o = ObjectDetail::new(ObjectName::within("main", "Order Details"), ObjectKind::Table);
        o.summary.rows = RowCount::About(347);
        o.columns = vec![
            Column {
                name: "OrderId".into(),
                data_type: "INTEGER".into(),
                nullable: Some(false),
                ..Column::default()
            },
            Column {
                name: "a|b".into(),
                data_type: String::new(),
                nullable: Some(true),
                ..Column::default()
            },
        ];
        o.primary_key = vec!["OrderId".into(), "a|b".into()];
        o.foreign_keys = vec![ForeignKey {
            columns: vec!["OrderId".into()],
            target: ObjectName::new("Orders"),
            target_columns: vec!["Id".into()],
        }];
        o.indexes = vec![Index {
            name: "i".into(),
            columns: vec!["OrderId".into(), "a|b".into()],
            unique: true,
            condition: None,
        }];
        o.notes = vec!["STRICT".into()];
        o
    }

    #[test]
    fn descriptions_come_back() {
        let objects = vec![album(), ObjectDetail::new(ObjectName::new("v"), ObjectKind::View)];
        assert_eq!(read_descriptions(&write_descriptions(&objects)), objects);
    }

    #[test]
    fn lists_come_back() {
        let objects = vec![album().summary];
        assert_eq!(read_list(&list_table(&objects)), objects);
    }
}

//! What a collection holds, found by looking: the fields of its documents, with their types.

use dbagent_core::ObjectName;
use dbagent_core::catalog::{Column, Described, ObjectDetail, ObjectKind, ObjectPage, Page, RowCount};
use dbagent_core::guard::{Needs, Resolution, ResolvedObject};
use dbagent_core::json::Json;

use super::engine::{Collection, Store};

/// A field by its dotted name, and what its values are.
struct Field {
    name: String,
    types: Vec<&'static str>,
}

/// Fields of the top level, in the order in which they appear.
pub(super) fn top_fields(collection: &Collection) -> Vec<String> {
    fields(collection).into_iter().map(|f| f.name).filter(|name| !name.contains('.')).collect()
}

fn fields(collection: &Collection) -> Vec<Field> {
    let mut found = Vec::new();
    match collection {
        Collection::Sequence(_) => found.push(Field { name: "n".to_owned(), types: vec!["number"] }),
        Collection::Documents(documents) => documents.iter().for_each(|d| gather(d, "", &mut found)),
    }
    found
}

fn gather(json: &Json, prefix: &str, found: &mut Vec<Field>) {
    match json {
        // A list stands for each of its items.
        Json::Array(items) => items.iter().for_each(|item| gather(item, prefix, found)),
        Json::Object(members) => {
            for (key, value) in members {
                let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                let kind = value.type_name();
                match found.iter_mut().find(|field| field.name == name) {
                    Some(field) if !field.types.contains(&kind) => field.types.push(kind),
                    Some(_) => {}
                    None => found.push(Field { name: name.clone(), types: vec![kind] }),
                }
                gather(value, &name, found);
            }
        }
        _ => {}
    }
}

pub(super) fn list(store: &Store, pattern: Option<&str>, page: Page) -> ObjectPage {
    let names: Vec<&String> =
        store.collections.keys().filter(|name| pattern.is_none_or(|p| fits(p, name))).collect();
    let objects = names.iter().skip(page.offset).take(page.size);
    let objects = objects.filter_map(|name| detail(store, name).map(|d| d.summary)).collect();
    ObjectPage { objects, total: names.len() }
}

/// A part of a name, or with `*` and `?` the whole of it.
fn fits(pattern: &str, name: &str) -> bool {
    if !pattern.contains(['*', '?']) {
        return name.contains(pattern);
    }
    // Which lengths of the name fit the pattern so far: linear in both, whatever the stars.
    let name: Vec<char> = name.chars().collect();
    let mut reached: Vec<bool> = std::iter::once(true).chain(name.iter().map(|_| false)).collect();
    for p in pattern.chars() {
        let mut any = false;
        let mut shorter = false;
        for (i, fits) in reached.iter_mut().enumerate() {
            any |= *fits;
            let letter = i.checked_sub(1).and_then(|before| name.get(before));
            let one_more = shorter && letter.is_some_and(|n| p == '?' || p == *n);
            shorter = *fits;
            *fits = if p == '*' { any } else { one_more };
        }
    }
    reached.last().copied().unwrap_or_default()
}

fn detail(store: &Store, name: &str) -> Option<ObjectDetail> {
    let collection = store.collections.get(name)?;
    let mut detail = ObjectDetail::new(ObjectName::new(name), ObjectKind::Collection);
    detail.summary.rows = match collection {
        Collection::Documents(documents) => RowCount::Exactly(documents.len() as u64),
        Collection::Sequence(end) => end.map_or(RowCount::Unknown, RowCount::Exactly),
    };
    detail.columns = fields(collection)
        .into_iter()
        .map(|field| Column { name: field.name, data_type: field.types.join(" or "), ..Column::default() })
        .collect();
    Some(detail)
}

pub(super) fn describe(store: &Store, names: &[ObjectName]) -> Described {
    let mut described = Described::default();
    for name in names {
        match detail(store, &name.name).filter(|_| name.namespace.is_none()) {
            Some(found) => described.found.push(found),
            None => described.missing.push(name.clone()),
        }
    }
    described
}

pub(super) fn resolve(store: &Store, needs: &Needs) -> Resolution {
    let mut resolution = Resolution::live();
    for name in &needs.objects {
        let Some(collection) = store.collections.get(&name.name) else { continue };
        let columns: Vec<String> = fields(collection).into_iter().map(|f| f.name).collect();
        let mut column_aliases = Vec::new();
        for inner in &columns {
            // Reading a nested value reads what is inside, and a rule for the whole counts inside as well.
            for outer in columns.iter().filter(|outer| inner.starts_with(&format!("{outer}."))) {
                column_aliases.push((outer.clone(), inner.clone()));
                column_aliases.push((inner.clone(), outer.clone()));
            }
        }
        let object = ResolvedObject {
            name: name.clone(),
            kind: ObjectKind::Collection,
            columns,
            column_aliases,
            body: None,
        };
        resolution.objects.push((name.clone(), object));
    }
    resolution
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns_match_whole_names_and_texts_match_parts() {
        for (pattern, name, expected) in [
            ("ser", "users", true),
            ("us*", "users", true),
            ("*s", "users", true),
            ("user?", "users", true),
            ("u?", "users", false),
            ("?users", "users", false),
            ("*", "", true),
            ("**r**", "users", true),
            ("%", "users", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
        assert!(!fits(&"*a".repeat(2_000), &"a".repeat(1_999)));
    }
}

//! Names of tables from names of files: letters, digits and underscores, each name once.

use std::collections::BTreeMap;

use super::LakeTable;
use super::scan::Format;

/// The name where there is nothing to make one of.
const NAMELESS: &str = "data";

/// The name of the table of one file: its folders and its own name, without its ending.
pub(super) fn of_file(path: &str) -> String {
    let (folder, own) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = Format::of(own).map_or(own, |(_, stem)| stem);
    plain(&format!("{folder}/{stem}"))
}

/// The name of the table of a folder.
pub(super) fn of_folder(path: &str) -> String {
    plain(path)
}

/// Turns everything but letters and digits into single underscores.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric() {
            out.push(c);
        } else if !out.ends_with('_') {
            out.push('_');
        }
    }
    let out = out.trim_matches('_');
    if out.is_empty() { NAMELESS.to_owned() } else { out.to_owned() }
}

/// A name without the numbers and dates in it, and without what joins them.
pub(super) fn without_numbers(stem: &str) -> String {
    let parts = stem.split(|c: char| !c.is_alphanumeric()).filter(|p| !p.chars().all(|c| c.is_ascii_digit()));
    let kept: Vec<&str> = parts.map(|p| p.trim_end_matches(|c: char| c.is_ascii_digit())).collect();
    kept.join("_")
}

/// Whether a name only says that a file is a part of something.
pub(super) fn says_nothing(stem: &str) -> bool {
    ["", "part", "data", "chunk", "file", "batch", NAMELESS].iter().any(|w| stem.eq_ignore_ascii_case(w))
}

/// Makes every name one of its own: by the format first, then by a number.
pub(super) fn distinct(tables: &mut [LakeTable]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for table in tables.iter() {
        *seen.entry(table.name.to_lowercase()).or_default() += 1;
    }
    let mut taken: Vec<String> = Vec::new();
    for table in tables {
        let many = seen.get(&table.name.to_lowercase()).is_some_and(|n| *n > 1);
        let base = if many { format!("{}_{}", table.name, table.format.word()) } else { table.name.clone() };
        let mut name = base.clone();
        let mut number = 2;
        while taken.contains(&name.to_lowercase()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        taken.push(name.to_lowercase());
        table.name = name;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for (path, name) in [
            ("orders.csv", "orders"),
            ("2024/my orders (new).csv.gz", "2024_my_orders_new"),
            ("müller.parquet", "müller"),
            ("--.json", "data"),
            ("a/b/c.d.jsonl", "a_b_c_d"),
        ] {
            assert_eq!(of_file(path), name, "{path}");
        }
    }

    #[test]
    fn numbers_and_dates_do_not_count() {
        for (stem, rest) in [
            ("sales_2023", "sales"),
            ("sales-2024-01-31", "sales"),
            ("part-00000", "part"),
            ("q1", "q"),
            ("2024", ""),
            ("a_1_b", "a_b"),
            ("plain", "plain"),
        ] {
            assert_eq!(without_numbers(stem), rest, "{stem}");
        }
        assert!(says_nothing(&without_numbers("part-1")) && says_nothing(&without_numbers("2024")));
    }
}

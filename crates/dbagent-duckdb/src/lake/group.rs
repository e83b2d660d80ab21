//! Which files are one table.
//!
//! - A folder with sub-folders such as `year=2024` is one table of all files of a format below it.
//! - Files of one folder whose names differ only in numbers or dates (`sales_2023.csv`, `sales_2024.csv`,
//!   `part-0.parquet`) are one table when they have the same columns.
//! - Any other file is a table of its own.

use std::collections::BTreeMap;

use super::name;
use super::scan::{DataFile, Format};

/// How the files of a table lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Layout {
    Plain,
    /// In folders that say the value of these columns.
    Partitioned(Vec<String>),
}

/// Files that are one table.
#[derive(Debug)]
pub(super) struct Group<'f> {
    pub(super) name: String,
    pub(super) format: Format,
    pub(super) layout: Layout,
    pub(super) files: Vec<&'f DataFile>,
}

/// Puts files into groups, in order of their names.
pub(super) fn groups<'f>(
    files: &'f [DataFile],
    same_columns: impl Fn(&DataFile, &DataFile) -> bool,
) -> Vec<Group<'f>> {
    let mut partitioned: BTreeMap<(String, Format, Vec<String>), Vec<&DataFile>> = BTreeMap::new();
    let mut numbered: BTreeMap<(String, Format, String), Vec<&DataFile>> = BTreeMap::new();
    for file in files {
        let (folder, own) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
        if let Some((base, keys)) = partitions(folder) {
            partitioned.entry((base, file.format, keys)).or_default().push(file);
        } else {
            let stem = Format::of(own).map_or(own, |(_, stem)| stem);
            let key = (folder.to_owned(), file.format, name::without_numbers(stem));
            numbered.entry(key).or_default().push(file);
        }
    }
    let mut groups: Vec<Group<'f>> = partitioned
        .into_iter()
        .map(|((base, format, keys), files)| Group {
            name: name::of_folder(&base),
            format,
            layout: Layout::Partitioned(keys),
            files,
        })
        .collect();
    for ((folder, format, stem), files) in numbered {
        let one = |file: &'f DataFile| Group {
            name: name::of_file(&file.path),
            format,
            layout: Layout::Plain,
            files: vec![file],
        };
        let (first, rest) = match files.split_first() {
            Some((first, rest)) if !rest.is_empty() => (*first, rest),
            _ => {
                groups.extend(files.into_iter().map(one));
                continue;
            }
        };
        if rest.iter().all(|f| same_columns(first, f)) {
            // Files that are called nothing but `part` or a number are what their folder is called.
            let name = if name::says_nothing(&stem) && !folder.is_empty() {
                name::of_folder(&folder)
            } else {
                name::of_file(&format!("{folder}/{stem}.{}", format.word()))
            };
            groups.push(Group { name, format, layout: Layout::Plain, files });
        } else {
            groups.extend(files.into_iter().map(one));
        }
    }
    groups
}

/// The folder above those that name partitions, and the columns that they name, if all the lowest do.
fn partitions(folder: &str) -> Option<(String, Vec<String>)> {
    let parts: Vec<&str> = folder.split('/').collect();
    let keys: Vec<String> = parts
        .iter()
        .rev()
        .map_while(|part| part.split_once('=').filter(|(k, _)| !k.is_empty()))
        .map(|(key, _)| key.to_owned())
        .collect();
    if keys.is_empty() {
        return None;
    }
    let base = parts.get(..parts.len() - keys.len()).unwrap_or_default().join("/");
    Some((base, keys.into_iter().rev().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_the_lowest_folders() {
        let keys = |k: &[&str]| k.iter().map(|k| (*k).to_owned()).collect::<Vec<_>>();
        assert_eq!(partitions("sales/year=2024/month=1"), Some(("sales".into(), keys(&["year", "month"]))));
        assert_eq!(partitions("year=2024"), Some((String::new(), keys(&["year"]))));
        assert_eq!(partitions("year=2024/plain"), None);
        assert_eq!(partitions(""), None);
    }
}

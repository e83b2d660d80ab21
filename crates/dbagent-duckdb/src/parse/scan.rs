//! Names in FROM that the engine takes for files where no table has them.

use dbagent_core::ObjectName;

/// Endings that the engine, or an extension of it, reads as a file.
const ENDINGS: &[&str] = &[
    "arrow", "arrows", "avro", "csv", "csv.gz", "csv.zst", "db", "ddb", "duckdb", "feather", "geojson",
    "gpkg", "gz", "ipc", "json", "json.gz", "json.zst", "jsonl", "ndjson", "orc", "parquet", "sqlite",
    "sqlite3", "tsv", "txt", "vortex", "xlsx", "zst",
];

/// Whether the engine may take a name for a file. It joins the parts of a name by dots first, so that
/// `FROM passwd.csv` is one too.
pub(super) fn names_a_file(path: &[&str]) -> bool {
    let joined = path.join(".").to_ascii_lowercase();
    // A dot in a single name is in quotes, and no name that anybody needs without a table behind it.
    if let [name] = path
        && name.contains('.')
    {
        return true;
    }
    joined.contains(['/', '\\', ':', '*', '?', '['])
        || ENDINGS.iter().any(|e| joined.strip_suffix(e).is_some_and(|rest| rest.ends_with('.')))
}

/// The function that would read the file, as the judge is asked about it.
pub(crate) fn function(object: &ObjectName) -> String {
    format!("{PREFIX}{object}")
}

/// The name that is scanned, when the function is of that kind.
pub(crate) fn scanned(function: &str) -> Option<ObjectName> {
    function.strip_prefix(PREFIX).and_then(ObjectName::parse)
}

const PREFIX: &str = "scan of ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_from_tables() {
        for path in [
            vec!["x.csv"],
            vec!["passwd", "csv"],
            vec!["A", "B", "PARQUET"],
            vec!["x.csv?y"],
            vec!["s3://b/x"],
            vec!["x", "csv?z"],
            vec!["data/*"],
            vec!["a.unheard_of"],
            vec!["t", "csv.gz"],
        ] {
            assert!(names_a_file(&path), "{path:?}");
        }
        for path in [vec!["users"], vec!["main", "users"], vec!["csv"], vec!["a", "b", "c"], vec!["my table"]]
        {
            assert!(!names_a_file(&path), "{path:?}");
        }
    }

    #[test]
    fn a_scan_leads_back_to_its_name() {
        for name in [ObjectName::new("x.csv"), ObjectName::within("a b", "c\"d.e"), ObjectName::new(" x ")] {
            assert_eq!(scanned(&function(&name)), Some(name));
        }
        assert_eq!(scanned("read_csv"), None);
    }
}

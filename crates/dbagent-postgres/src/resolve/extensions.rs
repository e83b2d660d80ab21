//! Functions of extensions that may be called.
//!
//! An extension is on the list when none of its stable and immutable functions in C or SQL runs SQL from a
//! text, reads files or reaches another server. A function in a language that can build SQL from text, such as
//! PL/pgSQL, is not vouched for (`ST_FindExtent` of PostGIS takes the name of a table and of a column as
//! texts), nor is one that the extension itself calls volatile; the few that are harmless all the same are
//! named.

/// Extensions whose stable and immutable functions only read.
const EXTENSIONS: &[&str] = &[
    "btree_gin",
    "btree_gist",
    "citext",
    "cube",
    "earthdistance",
    "fuzzystrmatch",
    "hstore",
    "intagg",
    "intarray",
    "isn",
    "ltree",
    "pg_trgm",
    "pgcrypto",
    "postgis",
    "postgis_sfcgal",
    "seg",
    "unaccent",
    "uuid-ossp",
    "vector",
];

/// Functions that are not what their extension calls them, or read what only a text names. One in SQL is judged
/// by its body, as a user's would be.
const BARRED: &[(&str, &str)] = &[
    // It changes how the session reads numbers, and no reset takes that back.
    ("isn", "isn_weak"),
    ("postgis", "_postgis_index_extent"),
    ("postgis", "_postgis_join_selectivity"),
    ("postgis", "_postgis_selectivity"),
    ("postgis", "_postgis_stats"),
    ("postgis", "postgis_constraint_dims"),
    ("postgis", "postgis_constraint_srid"),
    ("postgis", "postgis_constraint_type"),
    ("postgis", "st_estimatedextent"),
    // With bytes of another table it takes the server down: seen with PostGIS 3.5.2.
    ("postgis", "st_fromflatgeobuf"),
    // It makes a table.
    ("postgis", "st_fromflatgeobuftotable"),
];

/// Functions that only compute, although they are called volatile or their extension is not on the list. Why
/// one is not stable: chance, the clock, a sample, or nobody said.
const HARMLESS: &[(&str, &str)] = &[
    ("pgcrypto", "gen_random_bytes"),
    ("pgcrypto", "gen_random_uuid"),
    ("pgcrypto", "gen_salt"),
    ("postgis", "st_clusterkmeans"),
    ("postgis", "st_generatepoints"),
    ("postgis", "st_symmetricdifference"),
    // What rasters are compared by: with a raster among the columns, `=` of numbers may be theirs.
    ("postgis_raster", "raster_hash"),
    ("tablefunc", "normal_rand"),
    ("timescaledb", "first"),
    ("timescaledb", "histogram"),
    ("timescaledb", "last"),
    ("timescaledb", "time_bucket"),
    ("tsm_system_rows", "system_rows"),
    ("tsm_system_time", "system_time"),
    ("uuid-ossp", "uuid_generate_v1"),
    ("uuid-ossp", "uuid_generate_v1mc"),
    ("uuid-ossp", "uuid_generate_v4"),
];

/// Why a function of an extension may be called, if it may.
pub(super) fn vouches(extension: &str, function: &str, language: &str, volatility: &str) -> Option<String> {
    let listed = EXTENSIONS.binary_search(&extension).is_ok()
        && BARRED.binary_search(&(extension, function)).is_err()
        && matches!(language, "c" | "internal" | "sql")
        && matches!(volatility, "i" | "s");
    let named = HARMLESS.binary_search(&(extension, function)).is_ok();
    (listed || named).then(|| format!("a harmless function of the extension {extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        assert!(EXTENSIONS.is_sorted_by(|a, b| a < b));
        assert!(HARMLESS.is_sorted_by(|a, b| a < b));
        assert!(BARRED.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn what_an_extension_calls_volatile_is_not_vouched_for() {
        assert!(vouches("pg_trgm", "similarity", "c", "i").is_some());
        assert!(vouches("pg_trgm", "set_limit", "c", "v").is_none());
        assert!(vouches("uuid-ossp", "uuid_generate_v4", "c", "v").is_some());
        assert!(
            vouches("isn", "isn_weak", "c", "i").is_none() && vouches("isn", "is_valid", "c", "i").is_some()
        );
        assert!(vouches("postgis", "st_area", "c", "i").is_some());
        assert!(vouches("postgis", "st_findextent", "plpgsql", "s").is_none());
        assert!(vouches("postgis", "st_estimatedextent", "c", "s").is_none());
        assert!(vouches("postgis", "st_fromflatgeobuftotable", "c", "i").is_none());
        assert!(vouches("postgis", "st_generatepoints", "c", "v").is_some());
        assert!(vouches("postgis_raster", "st_value", "c", "i").is_none());
        assert!(vouches("tablefunc", "crosstab", "c", "s").is_none());
        assert!(vouches("dblink", "dblink", "c", "v").is_none());
    }
}

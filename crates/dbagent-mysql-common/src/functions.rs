//! The functions that both servers have, and the rules for all of their functions.
//!
//! A name is here only where the server itself answers to it (a test asks both): a name that it does not know
//! would be a function of whoever made one. Loadable functions of plugins and components are never listed.

use dbagent_core::Effects;
use dbagent_core::guard::{FunctionUse, Parsed};

use crate::flavor::Flavor;

/// Functions that not all versions of a server have.
#[derive(Debug, Clone, Copy)]
pub struct Since {
    /// The first version that has them.
    pub first: (u16, u16, u16),
    /// The first version that no longer has them, if any.
    pub gone: Option<(u16, u16, u16)>,
    /// Their names, in lower case.
    pub names: &'static [&'static str],
}

dbagent_sql::functions! {
    /// What both servers have, in all versions that are supported.
    pub const SHARED = {
        read {
            abs acos adddate addtime aes_decrypt aes_encrypt ascii asin atan atan2 avg bin bit_and
            bit_count bit_length bit_or bit_xor cast ceil ceiling char char_length
            character_length charset coalesce coercibility collation compress concat concat_ws
            connection_id conv convert convert_tz cos cot count crc32 cume_dist curdate
            current_date current_role current_time current_timestamp current_user curtime database
            date date_add date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear
            default degrees dense_rank elt exp export_set extract extractvalue field find_in_set
            first_value floor format found_rows from_base64 from_days from_unixtime
            geometrycollection get_format greatest group_concat hex hour if ifnull inet6_aton
            inet6_ntoa inet_aton inet_ntoa insert instr interval is_free_lock is_ipv4
            is_ipv4_compat is_ipv4_mapped is_ipv6 is_used_lock isnull json_array json_array_append
            json_array_insert json_arrayagg json_contains json_contains_path json_depth
            json_extract json_insert json_keys json_length json_merge json_merge_patch
            json_merge_preserve json_object json_objectagg json_overlaps json_pretty json_quote
            json_remove json_replace json_search json_set json_type json_unquote
            json_valid json_value lag last_day last_insert_id last_value lcase lead least left
            length linestring ln localtime localtimestamp locate log log10 log2 lower lpad ltrim
            make_set makedate maketime match max mbrcontains mbrdisjoint mbrequals mbrintersects
            mbroverlaps mbrtouches mbrwithin microsecond mid min minute mod month monthname
            multilinestring multipoint multipolygon name_const now nth_value ntile nullif oct
            octet_length ord percent_rank period_add period_diff pi point polygon position pow
            power quarter quote radians rand random_bytes rank regexp_instr regexp_replace
            regexp_substr repeat replace reverse right round row_count row_number rpad rtrim
            schema sec_to_time second session_user sha2 sign sin soundex space sqrt st_area
            st_asbinary st_asgeojson st_astext st_aswkb st_aswkt st_buffer st_centroid st_contains
            st_convexhull st_crosses st_difference st_dimension st_disjoint st_distance
            st_distance_sphere st_endpoint st_envelope st_equals st_exteriorring
            st_geomcollfromtext st_geomcollfromwkb st_geometrycollectionfromtext
            st_geometrycollectionfromwkb st_geometryfromtext st_geometryfromwkb st_geometryn
            st_geometrytype st_geomfromgeojson st_geomfromtext st_geomfromwkb st_interiorringn
            st_intersection st_intersects st_isclosed st_isempty st_issimple st_length
            st_linefromtext st_linefromwkb st_linestringfromtext st_linestringfromwkb
            st_mlinefromtext st_mlinefromwkb st_mpointfromtext st_mpointfromwkb st_mpolyfromtext
            st_mpolyfromwkb st_multilinestringfromtext st_multilinestringfromwkb
            st_multipointfromtext st_multipointfromwkb st_multipolygonfromtext
            st_multipolygonfromwkb st_numgeometries st_numinteriorrings st_numpoints st_overlaps
            st_pointfromtext st_pointfromwkb st_pointn st_polyfromtext st_polyfromwkb
            st_polygonfromtext st_polygonfromwkb st_srid st_startpoint st_symdifference st_touches
            st_union st_within st_x st_y std stddev stddev_pop stddev_samp str_to_date strcmp
            subdate substr substring substring_index subtime sum sysdate system_user tan time
            time_format time_to_sec timediff timestamp timestampadd timestampdiff to_base64
            to_days to_seconds trim truncate ucase uncompress uncompressed_length unhex
            unix_timestamp updatexml upper user utc_date utc_time utc_timestamp uuid uuid_short
            values var_pop var_samp variance version week weekday weekofyear weight_string year
            yearweek
        }
        lock {
            get_lock release_all_locks release_lock
        }
        server_io {
            load_file
        }
        "sleep" {
            benchmark master_pos_wait sleep
        }
    }
}

/// Functions that are the server's own only where their name is written without quotes: their names are words
/// of the grammar. In quotes it is a stored function, if there is one.
pub const BARE: &[&str] = &[
    "adddate",
    "ascii",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "cast",
    "char",
    "charset",
    "coalesce",
    "collation",
    "column_add",
    "column_create",
    "column_delete",
    "column_get",
    "convert",
    "count",
    "cume_dist",
    "curdate",
    "current_date",
    "current_role",
    "current_time",
    "current_timestamp",
    "current_user",
    "curtime",
    "database",
    "date",
    "date_add",
    "date_sub",
    "day",
    "default",
    "dense_rank",
    "extract",
    "first_value",
    "format",
    "geomcollection",
    "geometrycollection",
    "get_format",
    "group_concat",
    "grouping",
    "hour",
    "if",
    "insert",
    "interval",
    "json_arrayagg",
    "json_objectagg",
    "json_table",
    "json_value",
    "lag",
    "last_value",
    "lastval",
    "lead",
    "left",
    "linestring",
    "localtime",
    "localtimestamp",
    "match",
    "max",
    "median",
    "microsecond",
    "mid",
    "min",
    "minute",
    "mod",
    "month",
    "multilinestring",
    "multipoint",
    "multipolygon",
    "nextval",
    "now",
    "nth_value",
    "ntile",
    "password",
    "percent_rank",
    "percentile_cont",
    "percentile_disc",
    "point",
    "polygon",
    "position",
    "quarter",
    "rank",
    "repeat",
    "replace",
    "right",
    "row_count",
    "row_number",
    "schema",
    "second",
    "session_user",
    "setval",
    "st_collect",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "subdate",
    "substr",
    "substring",
    "sum",
    "sysdate",
    "system_user",
    "time",
    "timestamp",
    "timestampadd",
    "timestampdiff",
    "trim",
    "truncate",
    "user",
    "utc_date",
    "utc_time",
    "utc_timestamp",
    "value",
    "values",
    "var_pop",
    "var_samp",
    "variance",
    "week",
    "weight_string",
    "year",
];

/// Of those, the words that are no words of the grammar where something stands between them and their bracket:
/// a comment always, a blank without `IGNORE_SPACE`.
pub const TIGHT: &[&str] = &[
    "adddate",
    "bit_and",
    "bit_or",
    "bit_xor",
    "cast",
    "count",
    "cume_dist",
    "curdate",
    "curtime",
    "date_add",
    "date_sub",
    "dense_rank",
    "extract",
    "first_value",
    "group_concat",
    "json_arrayagg",
    "json_objectagg",
    "lag",
    "lead",
    "max",
    "median",
    "mid",
    "min",
    "now",
    "nth_value",
    "ntile",
    "percent_rank",
    "percentile_cont",
    "percentile_disc",
    "position",
    "rank",
    "session_user",
    "st_collect",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "subdate",
    "substr",
    "substring",
    "sum",
    "sysdate",
    "system_user",
    "trim",
    "var_pop",
    "var_samp",
    "variance",
];

/// Forms that sqlparser takes for its own syntax and that are calls of stored functions to the servers.
pub(crate) const FOREIGN: &[&str] = &[
    "array",
    "cube",
    "openjson",
    "overlay",
    "rollup",
    "safe_cast",
    "try_cast",
    "try_convert",
    "unnest",
    "xmltable",
];

/// Corrects what the table says of the functions of a statement by the version of the server and the number
/// of their arguments.
pub(crate) fn correct(flavor: &Flavor, version: (u16, u16, u16), parsed: &mut Parsed) {
    for function in &mut parsed.functions {
        let name = function.name.to_ascii_lowercase();
        if !is_there(flavor.since(), version, &name) {
            function.effects = Effects::UNKNOWN;
        }
        if name == "last_insert_id" && sets(function) {
            // With an argument it sets what the next call answers.
            function.effects = Effects::SESSION;
        }
        if flavor.is_mariadb() && !is_shape(&name, function.arguments) {
            function.effects = Effects::UNKNOWN;
        }
    }
}

/// MariaDB knows the words for shapes by what stands in their brackets: two numbers for a point, something for
/// the others. Else they are stored functions.
fn is_shape(name: &str, arguments: Option<usize>) -> bool {
    match name {
        "point" => arguments == Some(2),
        "geometrycollection" | "linestring" | "multilinestring" | "multipoint" | "multipolygon"
        | "polygon" => arguments.is_some_and(|count| count > 0),
        _ => true,
    }
}

fn sets(function: &FunctionUse) -> bool {
    function.arguments != Some(0) && !function.effects.contains(Effects::UNKNOWN)
}

pub(crate) fn is_there(since: &[Since], version: (u16, u16, u16), name: &str) -> bool {
    let mut listed = since.iter().filter(|s| s.names.contains(&name)).peekable();
    listed.peek().is_none() || listed.any(|s| s.first <= version && s.gone.is_none_or(|gone| version < gone))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_a_version_has_not_is_not_the_servers() {
        const SINCE: &[Since] = &[
            Since { first: (8, 0, 17), gone: None, names: &["json_overlaps"] },
            Since { first: (0, 0, 0), gone: Some((9, 0, 0)), names: &["md5"] },
        ];
        assert!(is_there(SINCE, (8, 0, 17), "json_overlaps"));
        assert!(!is_there(SINCE, (8, 0, 16), "json_overlaps"));
        assert!(is_there(SINCE, (8, 4, 0), "md5"));
        assert!(!is_there(SINCE, (9, 0, 0), "md5"));
        assert!(is_there(SINCE, (5, 7, 0), "abs"));
    }

    #[test]
    fn words_that_need_their_bracket_are_words_of_the_grammar() {
        assert!(TIGHT.iter().all(|t| BARE.contains(t)));
    }
}

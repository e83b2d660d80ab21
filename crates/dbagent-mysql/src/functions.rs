//! The functions of MySQL beside those that MariaDB has too.

use dbagent_core::Effects;
use dbagent_mysql_common::dbagent_sql::{FunctionGroup, FunctionTable, functions};
use dbagent_mysql_common::functions::{SHARED, Since};

functions! {
    /// What MySQL has and MariaDB has not, or not in the same versions.
    const OWN = over SHARED {
        read {
            any_value bin_to_uuid format_bytes format_pico_time from_vector geomcollection
            grouping gtid_subset gtid_subtract icu_version is_uuid json_schema_valid
            json_schema_validation_report json_storage_free json_storage_size mbrcoveredby
            mbrcovers md5 ps_current_thread_id ps_thread_id regexp_like sha sha1
            st_buffer_strategy st_collect st_frechetdistance st_geohash st_geomcollfromtxt
            st_hausdorffdistance st_isvalid st_latfromgeohash st_latitude st_lineinterpolatepoint
            st_lineinterpolatepoints st_longfromgeohash st_longitude st_makeenvelope
            st_numinteriorring st_pointatdistance st_pointfromgeohash st_simplify st_swapxy
            st_transform st_validate statement_digest statement_digest_text string_to_vector
            to_vector uuid_to_bin validate_password_strength vector_dim vector_to_string
        }
        "sleep" {
            source_pos_wait wait_for_executed_gtid_set
        }
    }
}

/// Functions of the `sys` schema that compute, with their schema before them: a stored function may have any
/// name, but nobody makes one in `sys` without the right to change the server.
const SYS: &[FunctionGroup] = &[FunctionGroup::new(
    Effects::READ,
    &[
        "sys.extract_schema_from_file_name",
        "sys.extract_table_from_file_name",
        "sys.format_bytes",
        "sys.format_path",
        "sys.format_statement",
        "sys.format_time",
        "sys.list_add",
        "sys.list_drop",
        "sys.quote_identifier",
        "sys.version_major",
        "sys.version_minor",
        "sys.version_patch",
    ],
)];

/// All functions that MySQL has.
pub(crate) const FUNCTIONS: FunctionTable = FunctionTable::new(SYS).over(&OWN);

/// Functions that came after 8.0.11, the first 8.0 for general use, or went.
pub(crate) const SINCE: &[Since] = &[
    Since { first: (8, 0, 12), gone: None, names: &["st_latitude", "st_longitude"] },
    Since { first: (8, 0, 13), gone: None, names: &["st_transform"] },
    Since {
        first: (8, 0, 16),
        gone: None,
        names: &["format_bytes", "format_pico_time", "ps_current_thread_id", "ps_thread_id"],
    },
    Since {
        first: (8, 0, 17),
        gone: None,
        names: &["json_overlaps", "json_schema_valid", "json_schema_validation_report"],
    },
    Since { first: (8, 0, 21), gone: None, names: &["json_value"] },
    Since { first: (8, 0, 23), gone: None, names: &["st_frechetdistance", "st_hausdorffdistance"] },
    Since {
        first: (8, 0, 24),
        gone: None,
        names: &["st_collect", "st_lineinterpolatepoint", "st_lineinterpolatepoints", "st_pointatdistance"],
    },
    Since { first: (8, 0, 26), gone: None, names: &["source_pos_wait"] },
    Since {
        first: (9, 0, 0),
        gone: None,
        names: &["from_vector", "string_to_vector", "to_vector", "vector_dim", "vector_to_string"],
    },
    // A component brings them today; on innovation releases nobody vouches for which.
    Since { first: (0, 0, 0), gone: Some((9, 0, 0)), names: &["md5", "sha", "sha1"] },
];

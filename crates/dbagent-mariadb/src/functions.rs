//! The functions of MariaDB beside those that MySQL has too.

use dbagent_mysql_common::dbagent_sql::functions;
use dbagent_mysql_common::functions::{SHARED, Since};

functions! {
    /// All functions that MariaDB has.
    pub(crate) const FUNCTIONS = over SHARED {
        read {
            add_months area asbinary astext aswkb aswkt boundary buffer centroid chr column_add
            column_check column_create column_delete column_exists column_get column_json
            column_list concat_operator_oracle contains convexhull crc32c crosses decode
            decode_histogram decode_oracle des_decrypt des_encrypt dimension disjoint encode
            encrypt endpoint envelope equals exteriorring format_bytes format_pico_time
            geomcollfromtext geometrycollectionfromtext geometryfromtext geometryfromwkb geometryn
            geometrytype geomfromtext geomfromwkb glength interiorringn intersects isclosed
            isempty isring issimple json_array_intersect json_compact json_detailed json_equals
            json_exists json_key_value json_loose json_normalize json_object_filter_keys
            json_object_to_array json_query json_schema_valid lastval lengthb linefromtext
            linefromwkb linestringfromtext lpad_oracle ltrim_oracle mbrequal md5 median
            mlinefromtext mpointfromtext mpolyfromtext natural_sort_key numgeometries
            numinteriorrings numpoints nvl nvl2 old_password overlaps password percentile_cont
            percentile_disc pointfromtext pointfromwkb pointn pointonsurface polyfromtext
            polyfromwkb polygonfromtext replace_oracle rpad_oracle rtrim_oracle sformat sha sha1
            srid st_boundary st_collect st_geohash st_isring st_isvalid st_latfromgeohash
            st_longfromgeohash st_pointfromgeohash st_pointonsurface st_relate st_simplify
            st_validate startpoint substr_oracle sys_guid to_char touches uuid_v4 uuid_v7 value
            vec_distance vec_distance_cosine vec_distance_euclidean vec_fromtext vec_totext within
            wsrep_last_seen_gtid wsrep_last_written_gtid x y
        }
        write {
            nextval setval
        }
        "sleep" {
            master_gtid_wait wsrep_sync_wait_upto_gtid
        }
    }
}

/// Functions that came after 10.6.
pub(crate) const SINCE: &[Since] = &[
    Since {
        first: (10, 7, 0),
        gone: None,
        names: &["json_equals", "json_normalize", "natural_sort_key", "sformat"],
    },
    Since { first: (10, 8, 0), gone: None, names: &["crc32c"] },
    Since { first: (10, 9, 0), gone: None, names: &["json_overlaps"] },
    Since { first: (10, 10, 0), gone: None, names: &["random_bytes"] },
    Since { first: (10, 10, 3), gone: None, names: &["json_pretty"] },
];

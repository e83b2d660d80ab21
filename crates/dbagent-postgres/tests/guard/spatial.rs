//! PostGIS and pgvector as they really are: what is judged how, what runs, and what the server stops by itself.

use dbagent_core::guard::Policy;
use dbagent_postgres::sqlx::{self, AssertSqlSafe, Row as _};

use crate::door::traces;
use crate::support::{Judged, Row, Scratch, WITH_EXTENSIONS, execute, rows_of};

const SETUP: &str = include_str!("../../../../tests/corpora/postgres/extensions.sql");

/// Deny rows that leave a trace without the guard. As in `door.rs`, the list can only shrink.
const STILL_CHANGE: &[&str] = &[];

fn rows() -> Vec<Row> {
    rows_of("extensions.jsonl")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_row_is_judged_as_it_says_and_what_is_cleared_runs() {
    let Some(mut scratch) = Scratch::on(WITH_EXTENSIONS, &[SETUP]).await else { return };
    let (mut wrong, mut ran) = (Vec::new(), 0);
    for row in rows() {
        let judged = scratch.judge(&row.statement, &Policy::default()).await;
        if matches!(judged, Judged::Read) != row.allow {
            wrong.push(format!("{} {:?}: {judged:?}", row.id, row.statement));
        }
        if row.allow {
            ran += 1;
            if let Err(e) = scratch.read(&row.statement).await {
                wrong.push(format!("{} {:?}: {e}", row.id, row.statement));
            }
        }
    }
    drop(scratch);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ran > 50, "{ran}");
}

#[tokio::test(flavor = "multi_thread")]
async fn deny_rows_leave_no_trace_but_for_those_that_are_listed() {
    let Some(mut scratch) = Scratch::alone("postgres-extensions", &[SETUP]).await else { return };
    let target = scratch.as_plain_owner(&["users", "orders", "places", "items", "spatial_ref_sys"]).await;
    let rows: Vec<_> = rows().into_iter().filter(|r| !r.allow).collect();
    let (traces, ran) = traces(&mut scratch, target, &rows).await;
    drop(scratch);
    let found: Vec<&str> = traces.keys().map(String::as_str).collect();
    assert_eq!(found, STILL_CHANGE, "{traces:#?}");
    // Without the guard, much of what it denies does run.
    assert!(ran > 10, "{ran}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_hidden_is_hidden_from_extensions_too() {
    let Some(mut scratch) = Scratch::on(WITH_EXTENSIONS, &[SETUP]).await else { return };
    let column = Policy::default().deny("public.places.at").unwrap();
    let table = Policy::default().deny("public.places").unwrap();
    let mut wrong = Vec::new();
    for (statement, behind_column, behind_table) in [
        ("SELECT name FROM places WHERE ST_DWithin(area, ST_Point(9, 48, 4326), 1)", true, false),
        ("SELECT name FROM places WHERE ST_DWithin(at, ST_Point(9, 48, 4326), 1)", false, false),
        ("SELECT name FROM places ORDER BY at <-> ST_Point(9, 48, 4326)", false, false),
        ("SELECT ST_AsGeoJSON(p) FROM places p", false, false),
        ("SELECT ST_AsMVT(p) FROM places p", false, false),
        ("SELECT p.st_asgeojson FROM places p", false, false),
        ("SELECT name FROM near", true, false),
        ("SELECT id FROM items ORDER BY embedding <-> '[1,2,3]'", true, true),
        // They tell of every table by its name.
        ("SELECT ST_EstimatedExtent('places', 'at')", false, false),
        ("SELECT _postgis_index_extent('places'::regclass, 'at')", false, false),
        ("SELECT postgis_constraint_srid('public', 'places', 'at')", false, false),
        ("SELECT f_table_name FROM geometry_columns", false, false),
    ] {
        for (policy, allow) in [(&column, behind_column), (&table, behind_table)] {
            let judged = scratch.judge(statement, policy).await;
            if matches!(judged, Judged::Read) != allow {
                wrong.push(format!("{statement} {policy:?}: {judged:?}"));
            }
        }
    }
    drop(scratch);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An argument of each type that functions of these extensions take.
fn sample(type_name: &str, text: &str) -> Option<String> {
    let geometry = "'SRID=4326;POLYGON((8 47,10 47,10 49,8 49,8 47))'::geometry";
    Some(match type_name {
        "geometry" => geometry.to_owned(),
        "geometry[]" => format!("ARRAY[{geometry}]"),
        "geography" => "'POINT(9 48)'::geography".to_owned(),
        "raster" => "public.ST_MakeEmptyRaster(2, 2, 8, 49, 1)".to_owned(),
        "box2d" => "'BOX(0 0,1 1)'::box2d".to_owned(),
        "box3d" => "'BOX3D(0 0 0,1 1 1)'::box3d".to_owned(),
        "vector" => "'[1,2,3]'::vector".to_owned(),
        "halfvec" => "'[1,2,3]'::halfvec".to_owned(),
        "sparsevec" => "'{1:1}/3'::sparsevec".to_owned(),
        "regclass" => "'places'::regclass".to_owned(),
        // What `ST_FromFlatGeobufToTable` would make a table of.
        "bytea" => {
            "(SELECT ST_AsFlatGeobuf(p) FROM (SELECT id, at FROM places WHERE at IS NOT NULL) p)".to_owned()
        }
        "text" | "character varying" | "name" => format!("'{text}'::{type_name}"),
        "integer" | "smallint" | "bigint" => format!("1::{type_name}"),
        "double precision" | "real" | "numeric" => format!("0.5::{type_name}"),
        "double precision[]" | "real[]" | "integer[]" | "numeric[]" => format!("'{{1,2,3}}'::{type_name}"),
        "boolean" => "true".to_owned(),
        "json" | "jsonb" => format!("'{{}}'::{type_name}"),
        "bit" => "B'101'".to_owned(),
        "record" => "(SELECT p FROM places p WHERE id = 1)".to_owned(),
        "anyelement" => "NULL::places".to_owned(),
        _ => return None,
    })
}

/// What an extension says of its own functions is its claim: one of PostGIS that makes a table calls itself
/// immutable. So each that is cleared is called where it could write, and must not have a transaction's number
/// afterwards, which the server gives to whatever writes.
#[tokio::test(flavor = "multi_thread")]
async fn no_cleared_function_of_these_extensions_writes() {
    let Some(mut scratch) = Scratch::on(WITH_EXTENSIONS, &[SETUP]).await else { return };
    let functions = sqlx::query(
        "SELECT p.proname::text, ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) AS t)
         FROM pg_proc AS p
         JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
         JOIN pg_extension AS e ON e.oid = d.refobjid
         WHERE e.extname ~ '^(postgis|vector)' AND p.prokind = 'f' AND p.pronamespace = 'public'::regnamespace
         ORDER BY p.oid::regprocedure::text",
    )
    .fetch_all(&mut scratch.owner)
    .await
    .unwrap();
    let (mut wrote, mut ran) = (Vec::new(), 0);
    for function in &functions {
        let (name, types): (String, Vec<String>) = (function.get(0), function.get(1));
        let texts = ["public", "made", "at"];
        let arguments: Option<Vec<String>> =
            types.iter().zip(texts.iter().cycle()).map(|(name, text)| sample(name, text)).collect();
        let Some(arguments) = arguments else { continue };
        let call = format!("SELECT public.\"{name}\"({})", arguments.join(", "));
        if !matches!(scratch.judge(&call, &Policy::default()).await, Judged::Read) {
            continue;
        }
        execute(&mut scratch.owner, "BEGIN; SET LOCAL statement_timeout = '5s'; SAVEPOINT before")
            .await
            .unwrap();
        let number = if execute(&mut scratch.owner, &call).await.is_ok() {
            ran += 1;
            let number = "SELECT pg_current_xact_id_if_assigned()::text";
            sqlx::query_scalar::<_, Option<String>>(AssertSqlSafe(number.to_owned()))
                .fetch_one(&mut scratch.owner)
                .await
                .unwrap()
        } else {
            None
        };
        execute(&mut scratch.owner, "ROLLBACK").await.unwrap();
        if number.is_some() {
            wrote.push(call);
        }
    }
    drop(scratch);
    assert!(wrote.is_empty(), "{}", wrote.join("\n"));
    assert!(ran > 250, "{ran} of {}", functions.len());
}

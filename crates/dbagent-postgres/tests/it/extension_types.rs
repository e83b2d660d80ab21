//! Types that extensions bring: the server's own text in the Arrow batch and in what the model is shown.

use std::sync::Arc;

use dbagent_core::Agent;
use dbagent_core::model::Message;
use dbagent_core::observe::ReadTable;
use dbagent_core::serde_json::json;
use dbagent_core::tools::Database;
use dbagent_testkit::conformance::Value;
use dbagent_testkit::model::{ScriptedModel, call};

use crate::support::{Scratch, run, skipped};

/// A type, an expression of it, and its exact text.
type Case<'a> = (&'a str, &'a str, &'a str);

/// Two values of a type, NULL between them, as a column and as an array; read as Arrow batches and by a model.
async fn check(db: &Scratch, cases: &[Case<'_>]) {
    for (number, (type_name, expression, expected)) in cases.iter().enumerate() {
        let table = format!("typed_{number}");
        db.change(&format!(
            "CREATE TABLE {table} (id integer, v {type_name}, many {type_name}[]);
             INSERT INTO {table} VALUES (1, {expression}, ARRAY[{expression}, NULL]), (2, NULL, NULL), (3, {expression}, '{{}}')"
        ))
        .await;
        // The server's own output, not a cast to text, which an extension may make another.
        let many = db.value(&format!("SELECT many FROM {table} WHERE id = 1")).await;
        assert!(many.contains("NULL"), "{type_name}[]: {many}");

        let session = db.session().await;
        let query = format!("SELECT id, v, many FROM {table} ORDER BY id");
        let text = |text: &str| Value::text(text);
        let rows = run(&session, &query).await.rows();
        assert_eq!(
            rows,
            [
                [Value::Int(1), text(expected), text(&many)],
                [Value::Int(2), Value::Null, Value::Null],
                [Value::Int(3), text(expected), text("{}")],
            ],
            "{type_name}"
        );
        // Alone, and behind a condition that no row fulfils.
        assert_eq!(
            run(&session, &format!("SELECT v FROM {table} WHERE id = 2")).await.rows(),
            [[Value::Null]]
        );
        assert!(run(&session, &format!("SELECT v FROM {table} WHERE id = 9")).await.rows().is_empty());

        let model =
            ScriptedModel::new().calls(vec![call("query", json!({ "statement": query }))]).text("done");
        let agent =
            Agent::builder(Arc::new(model.clone())).database(Database::open(session)).build().unwrap();
        agent.ask("types", "go").await.unwrap();
        let shown = model.last_request().unwrap().messages.iter().find_map(|message| match message {
            Message::Tool(tool) => Some(tool.text.clone()),
            _ => None,
        });
        let shown = shown.unwrap();
        let table = ReadTable::from_observation(&shown).unwrap_or_else(|| panic!("{type_name}: {shown}"));
        let cell = |text: &str| Some(text.to_owned());
        assert_eq!(
            table.rows,
            [
                vec![cell("1"), cell(expected), cell(&many)],
                vec![cell("2"), None, None],
                vec![cell("3"), cell(expected), cell("{}")],
            ],
            "{type_name}: {shown}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn those_of_every_server() {
    let Some(db) = Scratch::new().await else { return };
    for (extension, case) in [
        ("citext", ("citext", "'MiXed'::citext", "MiXed")),
        ("hstore", ("hstore", "'a=>1, b=>NULL'::hstore", "\"a\"=>\"1\", \"b\"=>NULL")),
        ("ltree", ("ltree", "'a.b.c'::ltree", "a.b.c")),
        ("cube", ("cube", "'(1,2)'::cube", "(1, 2)")),
        ("isn", ("isbn13", "'978-0-393-04002-9'::isbn13", "978-0-393-04002-9")),
        ("seg", ("seg", "'1.50 .. 2'::seg", "1.50 .. 2")),
    ] {
        let there = db
            .value(&format!("SELECT count(*) FROM pg_available_extensions WHERE name = '{extension}'"))
            .await;
        if there == "0" {
            skipped(&format!("the server has no {extension}"));
            continue;
        }
        db.change(&format!("CREATE EXTENSION {extension}")).await;
        db.change("DROP TABLE IF EXISTS typed_0").await;
        check(&db, &[case]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors() {
    let Some(db) = Scratch::with_extensions("CREATE EXTENSION vector").await else { return };
    check(
        &db,
        &[
            ("vector(3)", "'[1,2.5,-3e-05]'::vector", "[1,2.5,-3e-05]"),
            ("vector", "'[0.1,16777217,1e+38]'::vector", "[0.1,1.6777216e+07,1e+38]"),
            ("halfvec(3)", "'[1,0.1,65504]'::halfvec", "[1,0.099975586,65504]"),
            ("sparsevec(5)", "'{1:1,3:-2.5}/5'::sparsevec", "{1:1,3:-2.5}/5"),
            ("sparsevec", "'{}/3'::sparsevec", "{}/3"),
        ],
    )
    .await;
    let session = db.session().await;
    db.change("CREATE TABLE items AS SELECT i AS id, ('[' || i || ',0]')::vector AS v FROM generate_series(1, 9) AS g(i)")
        .await;
    let near = run(&session, "SELECT id, v <-> '[3,4]' FROM items ORDER BY v <-> '[3,4]', id LIMIT 2").await;
    let distance = |f: f64| Value::Float(f);
    assert_eq!(near.rows(), [[Value::Int(3), distance(4.0)], [Value::Int(2), distance(17_f64.sqrt())]]);
    assert_eq!(run(&session, "SELECT avg(v) FROM items").await.value(), Value::text("[5,0]"));
}

#[tokio::test(flavor = "multi_thread")]
async fn places() {
    let setup = "CREATE EXTENSION postgis; CREATE EXTENSION postgis_raster";
    let Some(db) = Scratch::with_extensions(setup).await else { return };
    let point = "0101000000000000000000F03F0000000000000040";
    let with_srid = "0101000020E6100000000000000000F03F0000000000000040";
    // One band of one byte, which is 7.
    let band = "ST_AddBand(ST_MakeEmptyRaster(1, 1, 8, 49, 1, -1, 0, 0, 0), '8BUI'::text, 7, NULL)";
    let raster = "0100000100000000000000F03F000000000000F0BF0000000000002040000000000080484000000000000000\
                  00000000000000000000000000010001000400\
                  07";
    check(
        &db,
        &[
            ("geometry", "ST_Point(1, 2)", point),
            ("geometry(Point, 4326)", "'SRID=4326;POINT(1 2)'::geometry", with_srid),
            ("geometry", "'POINT EMPTY'::geometry", "0101000000000000000000F87F000000000000F87F"),
            ("geography", "'POINT(1 2)'::geography", with_srid),
            ("box2d", "'BOX(0 0,1.5 1)'::box2d", "BOX(0 0,1.5 1)"),
            ("box3d", "'BOX3D(0 0 -1,1 1 1)'::box3d", "BOX3D(0 0 -1,1 1 1)"),
            (
                "geometry_dump",
                "ROW('{1,2}', ST_Point(1, 2))::geometry_dump",
                &format!("(\"{{1,2}}\",{point})"),
            ),
            ("raster", band, raster),
        ],
    )
    .await;
    let session = db.session().await;
    db.change(
        "CREATE TABLE places AS SELECT i AS id, ST_Point(i, 0, 4326) AS at FROM generate_series(1, 9) AS g(i);
         CREATE INDEX ON places USING gist (at)",
    )
    .await;
    for condition in [
        "ST_DWithin(at, 'SRID=4326;POINT(0 0)'::geometry, 2.5)",
        "at && ST_MakeEnvelope(0, -1, 2.5, 1, 4326)",
        "at <-> 'SRID=4326;POINT(0 0)'::geometry < 2.5",
    ] {
        let found = run(&session, &format!("SELECT id FROM places WHERE {condition} ORDER BY id")).await;
        assert_eq!(found.rows(), [[Value::Int(1)], [Value::Int(2)]], "{condition}");
    }
    let json = run(&session, "SELECT ST_AsGeoJSON(at) FROM places WHERE id = 1").await.value();
    assert_eq!(json, Value::text("{\"type\":\"Point\",\"coordinates\":[1,0]}"));
}

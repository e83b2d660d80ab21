//! Every type, with the exact value read back: in binary as it usually comes, and as the server's own text.

use dbagent_core::{GuardedSession, Param, Params, Request};
use dbagent_testkit::conformance::Value;

use crate::support::{Scratch, call, run, run_up_to};

fn text(t: &str) -> Value {
    Value::text(t)
}

/// An expression and the value that it must be.
type Case<'a> = (&'a str, Value);

/// Reads each expression alone, which is in binary; and beside a column of a type that only the server can
/// write out, which takes the whole row through a cursor in text. Both must be the same exact value.
async fn check(session: &GuardedSession, cases: &[Case<'_>]) {
    for (expression, expected) in cases {
        let alone = run(session, &format!("SELECT {expression} AS v")).await.value();
        assert_eq!(&alone, expected, "{expression}");
        let beside = run(session, &format!("SELECT {expression} AS v, point(1, 2) AS p")).await.rows();
        assert_eq!(beside, [[expected.clone(), text("(1,2)")]], "{expression} as text");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers() {
    let Some(db) = Scratch::new().await else { return };
    let session = db.session().await;
    let thousand = format!("{}.{}", "9".repeat(500), "1".repeat(500));
    let long = format!("'{thousand}'::numeric");
    check(
        &session,
        &[
            ("'-32768'::int2", Value::Int(-32_768)),
            ("32767::int2", Value::Int(32_767)),
            ("'-2147483648'::int4", Value::Int(-2_147_483_648)),
            ("'-9223372036854775808'::int8", Value::Int(i64::MIN)),
            ("9223372036854775807", Value::Int(i64::MAX)),
            ("4294967295::oid", Value::Int(4_294_967_295)),
            ("0.1::float4", Value::Float(0.1)),
            ("'-0'::float8", Value::Float(-0.0)),
            ("0.1::float8", Value::Float(0.1)),
            ("1e308::float8", Value::Float(1e308)),
            ("5e-324::float8", Value::Float(5e-324)),
            ("'NaN'::float8", Value::Float(f64::NAN)),
            ("'Infinity'::float8", Value::Float(f64::INFINITY)),
            ("'-Infinity'::float4", Value::Float(f64::NEG_INFINITY)),
            ("'NaN'::float4", Value::Float(f64::NAN)),
            (&long, text(&thousand)),
            ("0::numeric", text("0")),
            ("0.00::numeric(5,2)", text("0.00")),
            ("'-0.000123'::numeric", text("-0.000123")),
            ("10000::numeric", text("10000")),
            ("100000000::numeric", text("100000000")),
            ("12345678.90120::numeric", text("12345678.90120")),
            ("1e-20::numeric", text("0.00000000000000000001")),
            ("'NaN'::numeric", text("NaN")),
            ("'Infinity'::numeric", text("Infinity")),
            ("'-Infinity'::numeric", text("-Infinity")),
            ("'12345.67'::money", text("12345.67")),
            ("'-0.05'::money", text("-0.05")),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            ("NULL::int4", Value::Null),
            ("NULL::numeric", Value::Null),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_and_binary() {
    let Some(db) = Scratch::new().await else { return };
    let session = db.session().await;
    check(
        &session,
        &[
            ("'ünï 表 🦀'::text", text("ünï 表 🦀")),
            ("''::text", text("")),
            ("E'line\\nbreak \\\\ \"q\"'::varchar", text("line\nbreak \\ \"q\"")),
            ("'ab'::char(4)", text("ab  ")),
            ("'a'::\"char\"", text("a")),
            ("''::\"char\"", text("")),
            ("'a_name'::name", text("a_name")),
            ("'\\x00ff'::bytea", Value::Bytes(vec![0, 255])),
            ("''::bytea", Value::Bytes(vec![])),
            ("'f47ac10b-58cc-4372-a567-0e02b2c3d479'::uuid", text("f47ac10b-58cc-4372-a567-0e02b2c3d479")),
            ("B'10110000111'::varbit", text("10110000111")),
            ("B'101'::bit(3)", text("101")),
            ("B''::varbit", text("")),
            ("'<a>ü</a>'::xml", text("<a>ü</a>")),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dates_and_times() {
    let Some(db) = Scratch::new().await else { return };
    let session = db.session().await;
    let zone = "'2024-05-01 10:00:00.5+02'::timestamptz";
    check(
        &session,
        &[
            ("'2024-02-29'::date", text("2024-02-29")),
            ("'0044-03-15 BC'::date", text("0044-03-15 BC")),
            ("'infinity'::date", text("infinity")),
            ("'-infinity'::date", text("-infinity")),
            ("'5874897-12-31'::date", text("5874897-12-31")),
            ("'4713-01-01 BC'::date", text("4713-01-01 BC")),
            ("'23:59:59.999999'::time", text("23:59:59.999999")),
            ("'24:00:00'::time", text("24:00:00")),
            ("'10:00:00+05:30'::timetz", text("10:00:00+05:30")),
            ("'10:00:00-03:30:15'::timetz", text("10:00:00-03:30:15")),
            ("'10:00:00Z'::timetz", text("10:00:00+00")),
            ("'2024-05-01 10:00:00'::timestamp", text("2024-05-01 10:00:00")),
            ("'2024-05-01 10:00:00.12'::timestamp", text("2024-05-01 10:00:00.12")),
            ("'0001-01-01 00:00:00 BC'::timestamp", text("0001-01-01 00:00:00 BC")),
            ("'294276-12-31 23:59:59.999999'::timestamp", text("294276-12-31 23:59:59.999999")),
            ("'infinity'::timestamp", text("infinity")),
            (zone, text("2024-05-01 08:00:00.5+00")),
            ("'1969-12-31 23:59:59.999999Z'::timestamptz", text("1969-12-31 23:59:59.999999+00")),
            ("'-infinity'::timestamptz", text("-infinity")),
            ("'1 year 2 mons 3 days 04:05:06.5'::interval", text("1 year 2 mons 3 days 04:05:06.5")),
            ("'-1 day +01:00'::interval", text("-1 days +01:00:00")),
            ("'0'::interval", text("00:00:00")),
            ("'-178000000 years'::interval", text("-178000000 years")),
        ],
    )
    .await;
    assert_eq!(run(&session, "SHOW timezone").await.value(), text("UTC"));
}

/// Years, months and days at random, written by the server and by us.
#[tokio::test(flavor = "multi_thread")]
async fn many_moments_are_written_as_the_server_does() {
    let Some(db) = Scratch::new().await else { return };
    let session = db.session().await;
    for shape in ["timestamp", "date", "timestamptz", "time", "interval"] {
        let value = match shape {
            "interval" => {
                "(i * 7919)::text::interval * 1000 - make_interval(months => (i * 31 % 4001 - 2000)::int)"
            }
            "time" => "time '00:00' + make_interval(secs => i * 3.000007)",
            _ => {
                "timestamp '2000-01-01' + make_interval(days => (i * i * 13 - 1000000)::int, secs => i * 1.000013)"
            }
        };
        let query = format!(
            "SELECT v, v::text FROM (SELECT ({value})::{shape} AS v FROM generate_series(1, 2000) AS g(i)) AS t"
        );
        for row in run(&session, &query).await.rows() {
            assert_eq!(row[0], row[1], "{shape}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nested_values() {
    let setup = "CREATE TYPE mood AS ENUM ('sad', 'it''s ok', 'HAPPY'); CREATE DOMAIN positive AS int CHECK (VALUE > 0);
        CREATE TYPE address AS (street text, \"No\" int, moods mood[]); CREATE DOMAIN moods AS mood[];
        CREATE TYPE person AS (name text, home address)";
    let Some(db) = Scratch::with(setup).await else { return };
    let session = db.session().await;
    let json = Value::json;
    check(
        &session,
        &[
            ("'{\"a\": 1.50, \"b\": [true, null]}'::json", json("{\"a\": 1.50, \"b\": [true, null]}")),
            (
                "'{\"b\":1,\"a\":12345678901234567890.10}'::jsonb",
                json("{\"a\": 12345678901234567890.10, \"b\": 1}"),
            ),
            ("'null'::jsonb", json("null")),
            ("'\"text\"'::jsonb", json("\"text\"")),
            ("ARRAY[1, NULL, 3]", json("[1,null,3]")),
            ("'{}'::int[]", json("[]")),
            ("ARRAY[[1,2],[3,4]]", json("[[1,2],[3,4]]")),
            ("'{{{1,2}},{{3,NULL}}}'::int8[]", json("[[[1,2]],[[3,null]]]")),
            ("'[0:1]={5,6}'::int[]", json("{\"lower_bounds\":[0],\"elements\":[5,6]}")),
            (
                "ARRAY['a', NULL, 'NULL', 'q\"\\', 'x,y', '']",
                json("[\"a\",null,\"NULL\",\"q\\\"\\\\\",\"x,y\",\"\"]"),
            ),
            ("ARRAY[1.50, 2]::numeric[]", json("[\"1.50\",\"2\"]")),
            ("ARRAY['NaN', 0.5]::float8[]", json("[{\"$double\":\"NaN\"},0.5]")),
            ("ARRAY[true, false]", json("[true,false]")),
            ("ARRAY['\\x00ff']::bytea[]", json("[{\"$bytes\":\"AP8=\"}]")),
            ("ARRAY['2024-05-01']::date[]", json("[\"2024-05-01\"]")),
            ("ARRAY['2024-05-01 10:00']::timestamp[]", json("[\"2024-05-01 10:00:00\"]")),
            ("ARRAY['{\"a\":1}']::jsonb[]", json("[{\"a\": 1}]")),
            ("'it''s ok'::mood", text("it's ok")),
            ("ARRAY['sad', 'HAPPY']::mood[]", json("[\"sad\",\"HAPPY\"]")),
            ("5::positive", Value::Int(5)),
            ("ARRAY[5, 6]::positive[]", json("[5,6]")),
            ("'{sad}'::moods", json("[\"sad\"]")),
            (
                "ROW('a \"b\", c', 7, '{sad,\"it''s ok\"}')::address",
                json("{\"street\":\"a \\\"b\\\", c\",\"No\":7,\"moods\":[\"sad\",\"it's ok\"]}"),
            ),
            ("ROW(NULL, NULL, NULL)::address", json("{\"street\":null,\"No\":null,\"moods\":null}")),
            (
                "ROW('Ann', ROW('x', 1, '{}')::address)::person",
                json("{\"name\":\"Ann\",\"home\":{\"street\":\"x\",\"No\":1,\"moods\":[]}}"),
            ),
            ("ARRAY[ROW('x', 1, NULL)::address]", json("[{\"street\":\"x\",\"No\":1,\"moods\":null}]")),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn networks_ranges_search_and_geometry() {
    let Some(db) = Scratch::new().await else { return };
    let session = db.session().await;
    check(
        &session,
        &[
            ("'192.168.1.5'::inet", text("192.168.1.5")),
            ("'192.168.1.5/24'::inet", text("192.168.1.5/24")),
            ("'10.0.0.0/8'::cidr", text("10.0.0.0/8")),
            ("'10.1.2.3/32'::cidr", text("10.1.2.3/32")),
            ("'::1'::inet", text("::1")),
            ("'2001:db8::ff00:42:8329/64'::inet", text("2001:db8::ff00:42:8329/64")),
            ("'::ffff:1.2.3.4'::inet", text("::ffff:1.2.3.4")),
            ("'::1.2.3.4'::inet", text("::1.2.3.4")),
            ("'1:0:0:2:0:0:0:3'::inet", text("1:0:0:2::3")),
            ("'08:00:2b:01:02:03'::macaddr", text("08:00:2b:01:02:03")),
            ("'08:00:2b:01:02:03:04:05'::macaddr8", text("08:00:2b:01:02:03:04:05")),
            ("'[1,5]'::int4range", text("[1,6)")),
            ("'empty'::int8range", text("empty")),
            ("'[1.5,)'::numrange", text("[1.5,)")),
            (
                "'[2024-01-01 00:00,2024-02-01)'::tsrange",
                text("[\"2024-01-01 00:00:00\",\"2024-02-01 00:00:00\")"),
            ),
            ("ARRAY['[1,3)']::int4range[]", text("{\"[1,3)\"}")),
            ("'{[1,3),[5,8)}'::int4multirange", text("{[1,3),[5,8)}")),
            ("'{}'::nummultirange", text("{}")),
            ("to_tsvector('simple', 'fat cats ate')", text("'ate':3 'cats':2 'fat':1")),
            ("'fat & !rat'::tsquery", text("'fat' & !'rat'")),
            ("point(1.5, -2)", text("(1.5,-2)")),
            ("'((0,0),(1,1))'::box", text("(1,1),(0,0)")),
            ("'<(0,0),2>'::circle", text("<(0,0),2>")),
            ("'[(0,0),(1,1)]'::path", text("[(0,0),(1,1)]")),
            ("'{1,2,3}'::line", text("{1,2,3}")),
            ("'16/B374D848'::pg_lsn", text("16/B374D848")),
            ("'pg_class'::regclass", text("pg_class")),
            ("'(0,1)'::tid", text("(0,1)")),
        ],
    )
    .await;
    // No binary form at all, no name for the driver, no names for the fields.
    let acl = run(&session, "SELECT '{=r/postgres}'::aclitem[] AS a, 1 AS i").await.rows();
    assert_eq!(acl, [[text("{=r/postgres}"), Value::Int(1)]]);
    assert_eq!(run(&session, "SELECT ROW(1, 'a b') AS r").await.value(), text("(1,\"a b\")"));
}

#[tokio::test(flavor = "multi_thread")]
async fn results_without_rows_have_their_columns() {
    let Some(db) = Scratch::new().await else { return };
    let session = db.session().await;
    for (query, expected) in [
        ("SELECT 1 AS a, 'x'::text AS \"b c\" WHERE false", vec!["a", "b c"]),
        ("SELECT point(1,2) AS \"a b\", 1 AS \"<&>_x\" WHERE false", vec!["a b", "<&>_x"]),
        (
            "SELECT '{}'::int4multirange AS \"Ünï表\", 1 AS \"a\"\"b\", 2 AS \"_x0041_\" WHERE false",
            vec!["Ünï表", "a\"b", "_x0041_"],
        ),
    ] {
        let mut rows =
            crate::support::start(&session, Request::text(query), Some(10), &call()).await.unwrap();
        assert!(rows.next().await.unwrap().is_none_or(|b| b.num_rows() == 0), "{query}");
        let names: Vec<String> = rows.schema().unwrap().fields().iter().map(|f| f.name().clone()).collect();
        assert_eq!(names, expected, "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_are_bound_as_what_the_server_takes_them_for() {
    let Some(db) =
        Scratch::with("CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN positive AS int").await
    else {
        return;
    };
    let session = db.session().await;
    let t = |s: &str| Param::Text(s.into());
    for (query, value, expected) in [
        ("SELECT $1::int2", Param::I64(-5), Value::Int(-5)),
        ("SELECT $1::int4 + 1", t("41"), Value::Int(42)),
        ("SELECT $1::int8", Param::Decimal("9223372036854775807".into()), Value::Int(i64::MAX)),
        ("SELECT $1::float8", Param::F64(0.1), Value::Float(0.1)),
        ("SELECT $1::float4", Param::F64(0.1), Value::Float(0.1)),
        ("SELECT $1::numeric", Param::Decimal("-1234567890.012300".into()), text("-1234567890.012300")),
        ("SELECT $1::numeric", Param::Decimal("0.00001".into()), text("0.00001")),
        ("SELECT $1::numeric", Param::I64(100_000_000), text("100000000")),
        ("SELECT $1::numeric", Param::F64(1e21), text("1000000000000000000000")),
        ("SELECT $1::bool", Param::Bool(true), Value::Bool(true)),
        ("SELECT $1::date", Param::Date("2024-02-29".into()), text("2024-02-29")),
        ("SELECT $1::timestamp", Param::Date("2024-05-01T10:00:00.5".into()), text("2024-05-01 10:00:00.5")),
        (
            "SELECT $1::timestamptz",
            Param::Date("2024-05-01T10:00:00+02:00".into()),
            text("2024-05-01 08:00:00+00"),
        ),
        ("SELECT $1::timestamptz", Param::Date("1969-12-31".into()), text("1969-12-31 00:00:00+00")),
        ("SELECT $1::time", t("10:30"), text("10:30:00")),
        ("SELECT $1::bytea", Param::Bytes(vec![0, 255]), Value::Bytes(vec![0, 255])),
        (
            "SELECT $1::uuid",
            Param::Uuid("f47ac10b-58cc-4372-a567-0e02b2c3d479".into()),
            text("f47ac10b-58cc-4372-a567-0e02b2c3d479"),
        ),
        ("SELECT $1::jsonb", t("{\"a\":1}"), Value::json("{\"a\": 1}")),
        ("SELECT $1::mood", t("ok"), text("ok")),
        ("SELECT $1::positive", Param::I64(7), Value::Int(7)),
        ("SELECT $1::text::inet", t("10.0.0.1"), text("10.0.0.1")),
        ("SELECT $1::int4", Param::Null, Value::Null),
        ("SELECT $1", t("plain"), text("plain")),
        ("SELECT point(1,2) WHERE $1 = 'a'", t("a"), text("(1,2)")),
    ] {
        let request = Request::text(query).with_params(Params::Positional(vec![value]));
        assert_eq!(run_up_to(&session, request, Some(10), &call()).await.value(), expected, "{query}");
    }
    for (query, value, says) in [
        ("SELECT $1::int2", Param::I64(70_000), "out of range"),
        ("SELECT $1::int4", t("many"), "whole number"),
        ("SELECT $1::date", t("2023-02-29"), "no such day"),
        ("SELECT $1::bool", t("yes"), "true or false"),
        ("SELECT $1::inet", t("10.0.0.1"), "cannot be bound"),
        ("SELECT $1::uuid", t("1"), "32"),
    ] {
        let request = Request::text(query).with_params(Params::Positional(vec![value]));
        let e = run_up_to(&session, request, Some(10), &call()).await.error();
        assert_eq!(e.kind(), dbagent_core::ErrorKind::Data, "{query}: {e}");
        assert!(e.to_string().contains(says), "{query}: {e}");
    }
}

/// Older servers speak the same words.
#[tokio::test(flavor = "multi_thread")]
async fn older_servers_too() {
    for db in [Scratch::old().await, Scratch::oldest().await].into_iter().flatten() {
        let session = db.session().await;
        check(
            &session,
            &[
                ("1.50::numeric", text("1.50")),
                ("'2024-05-01 10:00:00+02'::timestamptz", text("2024-05-01 08:00:00+00")),
                ("ARRAY[1, NULL]", Value::json("[1,null]")),
                ("'[1,3)'::int4range", text("[1,3)")),
                ("'12.34'::money", text("12.34")),
                ("'a=>1'::text", text("a=>1")),
            ],
        )
        .await;
        if !session.server(&call()).await.unwrap().contains(" 13.") {
            check(&session, &[("'{[1,3)}'::int4multirange", text("{[1,3)}"))]).await;
        }
    }
}

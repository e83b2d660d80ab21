//! Every type comes back exactly, in the Arrow batch and as the text that people and models see.

use dbagent_core::arrow_schema::{DataType, IntervalUnit, TimeUnit};
use dbagent_core::rows::Cell;
use dbagent_core::session::Verdict;
use dbagent_core::{ErrorKind, GuardedSession, Request};

use crate::support::{Scratch, call, run};

/// The type of the one column of a query, and the text of its one value.
async fn value(session: &GuardedSession, sql: &str) -> (DataType, String) {
    let Ok(Verdict::Cleared(cleared)) = session.judge(Request::text(sql), Some(1), &call()).await else {
        panic!("{sql} is not cleared");
    };
    let mut rows = session.read(cleared, &call()).unwrap();
    let batch = rows.next().await.unwrap_or_else(|e| panic!("{sql}: {e}")).expect("a row");
    assert_eq!(rows.schema().unwrap(), batch.schema(), "{sql}");
    (batch.schema().field(0).data_type().clone(), Cell::at(&batch, 0, 0).to_text())
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_types_come_back_exactly() {
    let scratch = Scratch::new();
    let session = scratch.session().await;
    let utc = || Some("UTC".into());
    for (sql, kind, text) in [
        ("true", DataType::Boolean, "true"),
        ("(-128)::TINYINT", DataType::Int8, "-128"),
        ("(-32768)::SMALLINT", DataType::Int16, "-32768"),
        ("(-2147483648)::INTEGER", DataType::Int32, "-2147483648"),
        ("(-9223372036854775808)::BIGINT", DataType::Int64, "-9223372036854775808"),
        ("255::UTINYINT", DataType::UInt8, "255"),
        ("65535::USMALLINT", DataType::UInt16, "65535"),
        ("4294967295::UINTEGER", DataType::UInt32, "4294967295"),
        ("18446744073709551615::UBIGINT", DataType::UInt64, "18446744073709551615"),
        (
            "170141183460469231731687303715884105727::HUGEINT",
            DataType::Decimal256(39, 0),
            "170141183460469231731687303715884105727",
        ),
        (
            "(-170141183460469231731687303715884105728)::HUGEINT",
            DataType::Decimal256(39, 0),
            "-170141183460469231731687303715884105728",
        ),
        (
            "340282366920938463463374607431768211455::UHUGEINT",
            DataType::Decimal256(39, 0),
            "340282366920938463463374607431768211455",
        ),
        ("(-12.5)::DECIMAL(4,1)", DataType::Decimal128(4, 1), "-12.5"),
        (
            "99999999999999999999999999999999999.999::DECIMAL(38,3)",
            DataType::Decimal128(38, 3),
            "99999999999999999999999999999999999.999",
        ),
        ("0.1::FLOAT::DOUBLE::FLOAT", DataType::Float32, "0.10000000149011612"),
        ("0.1::DOUBLE", DataType::Float64, "0.1"),
        ("'nan'::DOUBLE", DataType::Float64, "NaN"),
        ("'-inf'::DOUBLE", DataType::Float64, "-Infinity"),
        ("'ünï'", DataType::Utf8, "ünï"),
        ("'\\x00\\xFF'::BLOB", DataType::Binary, "x'00ff'"),
        ("DATE '2024-02-29'", DataType::Date32, "2024-02-29"),
        ("DATE '0044-03-15 (BC)'", DataType::Date32, "-0043-03-15"),
        ("'infinity'::DATE", DataType::Date32, "infinity"),
        ("'-infinity'::DATE", DataType::Date32, "-infinity"),
        ("TIME '10:11:12.345678'", DataType::Time64(TimeUnit::Microsecond), "10:11:12.345678"),
        ("'10:11:12.123456789'::TIME_NS", DataType::Time64(TimeUnit::Nanosecond), "10:11:12.123456789"),
        ("'10:11:12.5+02:30'::TIMETZ", DataType::Utf8, "10:11:12.5+02:30"),
        ("'10:11:12-08'::TIMETZ", DataType::Utf8, "10:11:12-08:00"),
        (
            "'2024-05-01 10:11:12'::TIMESTAMP_S",
            DataType::Timestamp(TimeUnit::Second, None),
            "2024-05-01T10:11:12",
        ),
        (
            "'2024-05-01 10:11:12.123'::TIMESTAMP_MS",
            DataType::Timestamp(TimeUnit::Millisecond, None),
            "2024-05-01T10:11:12.123",
        ),
        (
            "'2024-05-01 10:11:12.123456'::TIMESTAMP",
            DataType::Timestamp(TimeUnit::Microsecond, None),
            "2024-05-01T10:11:12.123456",
        ),
        (
            "'2024-05-01 10:11:12.123456789'::TIMESTAMP_NS",
            DataType::Timestamp(TimeUnit::Nanosecond, None),
            "2024-05-01T10:11:12.123456789",
        ),
        ("'infinity'::TIMESTAMP", DataType::Timestamp(TimeUnit::Microsecond, None), "infinity"),
        ("'-infinity'::TIMESTAMP", DataType::Timestamp(TimeUnit::Microsecond, None), "-infinity"),
        (
            "'2024-05-01 10:11:12+02'::TIMESTAMPTZ",
            DataType::Timestamp(TimeUnit::Microsecond, utc()),
            "2024-05-01T08:11:12Z",
        ),
        (
            "INTERVAL '1 year 2 months -3 days 4 hours'",
            DataType::Interval(IntervalUnit::MonthDayNano),
            "14 months -3 days 14400000000000 nanoseconds",
        ),
        (
            "'f47ac10b-58cc-4372-a567-0e02b2c3d479'::UUID",
            DataType::Utf8,
            "f47ac10b-58cc-4372-a567-0e02b2c3d479",
        ),
        ("'10110'::BIT", DataType::Utf8, "10110"),
        ("'1111111110'::BIT", DataType::Utf8, "1111111110"),
        ("'{\"a\": 1}'::JSON", DataType::Utf8, "{\"a\": 1}"),
        ("NULL", DataType::Null, "NULL"),
        (
            "(-123456789012345678901234567890123456789012345678901234567890)::VARCHAR::BIGNUM",
            DataType::Utf8,
            "-123456789012345678901234567890123456789012345678901234567890",
        ),
        ("'1000000000000000000'::BIGNUM", DataType::Utf8, "1000000000000000000"),
    ] {
        // A number of sixty digits is no literal of the engine, but a text of it is.
        let sql = sql.replace(
            "(-123456789012345678901234567890123456789012345678901234567890)::VARCHAR",
            "'-123456789012345678901234567890123456789012345678901234567890'",
        );
        let (found, shown) = value(&session, &format!("SELECT {sql} AS v")).await;
        assert_eq!((found, shown.as_str()), (kind, text), "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nested_types_come_back_exactly_with_everything_in_them() {
    let scratch = Scratch::new();
    let session = scratch.session().await;
    for (sql, text) in [
        ("[1, NULL, 3]", "[1,null,3]"),
        ("[[1], []]", "[[1],[]]"),
        ("{'a': 1, 'b': {'c': 'x\"y'}}", r#"{"a":1,"b":{"c":"x\"y"}}"#),
        ("MAP {'k': [1.5]}", r#"[{"key":"k","value":["1.5"]}]"#),
        ("[1, 2]::INTEGER[2]", "[1,2]"),
        ("union_value(num := 1)", r#"{"num":1}"#),
        ("'b'::ENUM('a', 'b')", "b"),
        ("['b'::ENUM('a', 'b'), NULL]", r#"["b",null]"#),
        (
            "[170141183460469231731687303715884105727::HUGEINT, NULL]",
            r#"["170141183460469231731687303715884105727",null]"#,
        ),
        (
            "{'id': 'f47ac10b-58cc-4372-a567-0e02b2c3d479'::UUID, 'n': NULL}",
            r#"{"id":"f47ac10b-58cc-4372-a567-0e02b2c3d479","n":null}"#,
        ),
        ("MAP {'101'::BIT: '10:00:00+00'::TIMETZ}", r#"[{"key":"101","value":"10:00:00+00:00"}]"#),
        ("[1::HUGEINT, 2::HUGEINT]::HUGEINT[2]", r#"["1","2"]"#),
        ("union_value(h := 5::HUGEINT)", r#"{"h":"5"}"#),
        ("[{'t': ['10:00:00+00'::TIMETZ]}]", r#"[{"t":["10:00:00+00:00"]}]"#),
    ] {
        let (_, shown) = value(&session, &format!("SELECT {sql} AS v")).await;
        assert_eq!(shown, text, "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn values_are_exact_in_every_batch_and_beside_nulls() {
    let scratch = Scratch::new();
    let session = scratch.session().await;
    let sql = "SELECT if(i % 3 = 0, NULL, (i * 100000000000000000000)::HUGEINT) AS h, \
               if(i % 3 = 1, NULL, i::BIT) AS b, [i::UHUGEINT] AS l FROM range(5000) t(i) ORDER BY i";
    let rows = run(&session, sql).await.rows();
    assert_eq!(rows.len(), 5_000);
    for (i, row) in rows.iter().enumerate() {
        let huge = if i % 3 == 0 {
            "NULL".to_owned()
        } else {
            (i as u128 * 100_000_000_000_000_000_000).to_string()
        };
        let bits = if i % 3 == 1 { "NULL".to_owned() } else { format!("{i:064b}") };
        assert_eq!(row, &[huge, bits, format!("[\"{i}\"]")], "row {i}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_driver_cannot_hand_on_says_what_to_do() {
    let scratch = Scratch::new();
    let session = scratch.session().await;
    let e = run(&session, "SELECT 1::VARIANT AS v").await.error();
    assert_eq!(e.kind(), ErrorKind::Unsupported, "{e}");
    assert!(e.hint_text().unwrap().contains("VARCHAR"), "{:?}", e.hint_text());
    assert_eq!(run(&session, "SELECT {'a': [1]}::VARIANT::JSON::VARCHAR").await.rows(), [[r#"{"a":[1]}"#]]);
}

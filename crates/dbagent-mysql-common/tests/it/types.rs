//! Every type of a column, and exactly the value that is in it.

use dbagent_testkit::conformance::Value;

use super::support::{digits, rows, scratch_with, session};

fn decimal(text: &str) -> Value {
    Value::Decimal(text.into())
}

fn time(text: &str) -> Value {
    Value::Time(text.into())
}

fn bytes(bytes: &[u8]) -> Value {
    Value::Bytes(bytes.to_vec())
}

/// A table of one column, its values as SQL, and what is read back.
async fn column(definition: &str, values: &[(&str, Value)]) {
    let create = format!("CREATE TABLE t (id INTEGER PRIMARY KEY, v {definition})");
    let inserts: Vec<String> = values
        .iter()
        .enumerate()
        .map(|(id, (sql, _))| format!("INSERT INTO t (id, v) VALUES ({id}, {sql})"))
        .collect();
    // Whatever a type can hold, an owner can store.
    let mut statements = vec!["SET sql_mode = ''", create.as_str()];
    statements.extend(inserts.iter().map(String::as_str));
    let Some(scratch) = scratch_with(&statements).await else { return };
    let session = session(&scratch).await;
    let found = rows(&session, "SELECT v FROM t ORDER BY id").await;
    let expected: Vec<Vec<Value>> = values.iter().map(|(_, value)| vec![value.clone()]).collect();
    assert_eq!(found, expected, "{definition}");
    // Nothing but the type tells what a column without rows would have held.
    assert_eq!(rows(&session, "SELECT v FROM t WHERE id < 0").await, Vec::<Vec<Value>>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn integers() {
    for (definition, least, most) in [
        ("TINYINT", i64::from(i8::MIN), i64::from(i8::MAX)),
        ("SMALLINT", i64::from(i16::MIN), i64::from(i16::MAX)),
        ("MEDIUMINT", -8_388_608, 8_388_607),
        ("INT", i64::from(i32::MIN), i64::from(i32::MAX)),
        ("BIGINT", i64::MIN, i64::MAX),
        ("TINYINT UNSIGNED", 0, i64::from(u8::MAX)),
        ("SMALLINT UNSIGNED", 0, i64::from(u16::MAX)),
        ("MEDIUMINT UNSIGNED", 0, 16_777_215),
        ("INT UNSIGNED", 0, i64::from(u32::MAX)),
        ("TINYINT(1)", -128, 127),
        ("TINYINT(1) UNSIGNED", 0, 255),
        ("INT(5) ZEROFILL", 0, 42),
    ] {
        let (low, high) = (least.to_string(), most.to_string());
        column(definition, &[(&low, least.into()), (&high, most.into()), ("NULL", Value::Null)]).await;
    }
    column("BIGINT UNSIGNED", &[("0", 0.into()), ("18446744073709551615", Value::Unsigned(u64::MAX))]).await;
    column("BOOL", &[("TRUE", 1.into()), ("FALSE", 0.into())]).await;
    column("YEAR", &[("1901", 1901.into()), ("2155", 2155.into()), ("0", 0.into())]).await;
    column("BIT(1)", &[("b'1'", 1.into()), ("b'0'", 0.into())]).await;
    column("BIT(10)", &[("b'1000000001'", 513.into())]).await;
    column("BIT(64)", &[("18446744073709551615", Value::Unsigned(u64::MAX)), ("1", 1.into())]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_with_fractions() {
    column(
        "DECIMAL(5,2)",
        &[("-999.99", decimal("-999.99")), ("0.05", decimal("0.05")), ("NULL", Value::Null)],
    )
    .await;
    column("DECIMAL(10,0)", &[("1234567890", decimal("1234567890"))]).await;
    let long = "12345678901234567890123456789012345.123456789012345678901234567890";
    column(
        "DECIMAL(65,30)",
        &[(long, decimal(long)), ("-0.5", decimal("-0.500000000000000000000000000000"))],
    )
    .await;
    column("DECIMAL(10,2) UNSIGNED", &[("99999999.99", decimal("99999999.99")), ("0", decimal("0.00"))])
        .await;
    column("DOUBLE UNSIGNED", &[("0.1", 0.1.into())]).await;
    column("FLOAT UNSIGNED", &[("16777217", 16_777_216.0.into())]).await;
    let nines = "9".repeat(65);
    column("DECIMAL(65,0)", &[(&nines, decimal(&nines))]).await;
    column("FLOAT", &[("0.1", 0.1.into()), ("-3.5e10", (-3.5e10).into()), ("0", 0.0.into())]).await;
    column(
        "DOUBLE",
        &[
            ("0.1", 0.1.into()),
            ("1.7976931348623157e308", f64::MAX.into()),
            ("2.2250738585072014e-308", f64::MIN_POSITIVE.into()),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dates_and_times() {
    column(
        "DATE",
        &[
            ("'2024-02-29'", time("2024-02-29")),
            ("'1000-01-01'", time("1000-01-01")),
            ("'9999-12-31'", time("9999-12-31")),
            ("NULL", Value::Null),
        ],
    )
    .await;
    column(
        "DATETIME(6)",
        &[
            ("'2024-05-01 10:20:30.123456'", time("2024-05-01T10:20:30.123456")),
            ("'1000-01-01 00:00:00'", time("1000-01-01T00:00:00")),
        ],
    )
    .await;
    column("DATETIME", &[("'2024-05-01 23:59:59'", time("2024-05-01T23:59:59"))]).await;
    // Stored by an owner whose time zone is UTC too.
    column(
        "TIMESTAMP(6) NULL",
        &[
            ("'2024-05-01 10:20:30.5'", time("2024-05-01T10:20:30.500")),
            ("'1970-01-01 00:00:01'", time("1970-01-01T00:00:01")),
            ("NULL", Value::Null),
        ],
    )
    .await;
    column("TIME(6)", &[("'10:20:30.000001'", time("10:20:30.000001")), ("'00:00:00'", time("00:00:00"))])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_calendar_holds() {
    column(
        "DATE",
        &[
            ("'0000-00-00'", "0000-00-00".into()),
            ("'2024-05-01'", "2024-05-01".into()),
            ("'2024-00-00'", "2024-00-00".into()),
            ("NULL", Value::Null),
        ],
    )
    .await;
    column(
        "DATETIME",
        &[
            ("'2024-05-01 10:00:00'", "2024-05-01 10:00:00".into()),
            ("'0000-00-00 00:00:00'", "0000-00-00 00:00:00".into()),
        ],
    )
    .await;
    column("TIMESTAMP NULL", &[("0", "0000-00-00 00:00:00".into())]).await;
    column(
        "TIME",
        &[
            ("'838:59:59'", "838:59:59".into()),
            ("'-838:59:59'", "-838:59:59".into()),
            ("'24:00:00'", "24:00:00".into()),
            ("'10:00:00'", "10:00:00".into()),
        ],
    )
    .await;
    column(
        "TIME(6)",
        &[
            ("'838:59:58.999999'", "838:59:58.999999".into()),
            ("'-00:00:00.000001'", "-00:00:00.000001".into()),
        ],
    )
    .await;
    column(
        "DATETIME(6)",
        &[
            ("'0000-00-00 00:00:00'", "0000-00-00 00:00:00".into()),
            ("'2024-00-01 01:02:03.000004'", "2024-00-01 01:02:03.000004".into()),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_of_every_size_and_collation() {
    for definition in [
        "CHAR(20)",
        "VARCHAR(20)",
        "TINYTEXT",
        "TEXT",
        "MEDIUMTEXT",
        "LONGTEXT",
        // Compared byte by byte, and texts all the same.
        "VARCHAR(20) COLLATE utf8mb4_bin",
        "TEXT COLLATE utf8mb4_bin",
        "CHAR(20) CHARACTER SET utf16",
        "VARCHAR(20) CHARACTER SET utf32",
    ] {
        column(
            definition,
            &[
                ("'ünï 表 🦀'", "ünï 表 🦀".into()),
                ("''", "".into()),
                ("'it''s'", "it's".into()),
                ("NULL", Value::Null),
            ],
        )
        .await;
    }
    column("VARCHAR(20) CHARACTER SET latin1", &[("'grün €'", "grün €".into())]).await;
    column("VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_bin", &[("'grün'", "grün".into())]).await;
    column("VARCHAR(20) CHARACTER SET sjis", &[("'日本'", "日本".into())]).await;
    column("VARCHAR(20) CHARACTER SET koi8r", &[("'ключ'", "ключ".into())]).await;
    // As long as each may be, and longer than the next smaller one.
    for (definition, length) in [
        ("CHAR(255)", 255),
        ("VARCHAR(16000)", 16_000),
        ("TINYTEXT", 127),
        ("TEXT", 32_767),
        ("MEDIUMTEXT", 40_000),
        ("LONGTEXT", 100_000),
    ] {
        let long = "ü".repeat(length);
        column(definition, &[(&format!("'{long}'"), long.as_str().into())]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_of_every_size() {
    column("BINARY(4)", &[("x'00ff'", bytes(&[0, 255, 0, 0])), ("NULL", Value::Null)]).await;
    for definition in ["VARBINARY(20)", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB"] {
        column(
            definition,
            &[("x'00ff27'", bytes(&[0, 255, 39])), ("''", bytes(&[])), ("'abc'", bytes(b"abc"))],
        )
        .await;
    }
    for (definition, length) in [
        ("BINARY(255)", 255),
        ("VARBINARY(65000)", 65_000),
        ("TINYBLOB", 255),
        ("BLOB", 65_535),
        ("MEDIUMBLOB", 70_000),
        ("LONGBLOB", 70_000),
    ] {
        let long: Vec<u8> = (0..=u8::MAX).rev().cycle().take(length).collect();
        let digits = digits(&long, "");
        column(definition, &[(&format!("x'{digits}'"), bytes(&long))]).await;
    }
    column("VARCHAR(20) CHARACTER SET binary", &[("x'c328'", bytes(&[0xc3, 0x28]))]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn enums_sets_and_json() {
    column(
        "ENUM('new','it''s','表')",
        // What is none of them is stored as a text of its own, the empty one.
        &[("'new'", "new".into()), ("2", "it's".into()), ("'表'", "表".into()), ("'none'", "".into())],
    )
    .await;
    column("ENUM('a','B') COLLATE utf8mb4_bin", &[("'B'", "B".into())]).await;
    column("SET('a','b','c')", &[("'a,c'", "a,c".into()), ("''", "".into())]).await;
    // One server has a type for it, the other a text.
    for document in [r#"{"a": [1, "ü", null]}"#, "[18446744073709551615, -0.5, true]", r#""text""#, "null"] {
        let value = if crate::own::JSON_IS_TEXT { document.into() } else { Value::json(document) };
        column("JSON", &[(&format!("'{document}'"), value), ("NULL", Value::Null)]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn geometry_is_the_bytes_that_are_stored() {
    // Four bytes of SRID, then well-known binary.
    let mut point = vec![0, 0, 0, 0, 1, 1, 0, 0, 0];
    point.extend(1.5_f64.to_le_bytes());
    point.extend((-2.0_f64).to_le_bytes());
    column("POINT", &[("ST_GeomFromText('POINT(1.5 -2)')", bytes(&point)), ("NULL", Value::Null)]).await;
    point[..4].copy_from_slice(&4_326_u32.to_le_bytes());
    let elsewhere = if crate::own::JSON_IS_TEXT { "POINT(1.5 -2)" } else { "POINT(-2 1.5)" };
    let placed = format!("ST_GeomFromText('{elsewhere}', 4326)");
    column("GEOMETRY", &[(&placed, bytes(&point))]).await;
    // Every kind, by the digits that the server says its bytes have.
    let Some(scratch) = scratch_with(&["CREATE TABLE t (g GEOMETRY)"]).await else { return };
    let (session, mut owner) = (session(&scratch).await, scratch.owner().await.unwrap());
    for shape in [
        "LINESTRING(0 0, 1 1)",
        "POLYGON((0 0, 4 0, 4 4, 0 0))",
        "MULTIPOINT(0 0, 1 1)",
        "MULTILINESTRING((0 0, 1 1), (2 2, 3 3))",
        "MULTIPOLYGON(((0 0, 4 0, 4 4, 0 0)))",
        "GEOMETRYCOLLECTION(POINT(1 2), LINESTRING(0 0, 1 1))",
    ] {
        owner.run("DELETE FROM t").await.unwrap();
        owner.run(&format!("INSERT INTO t VALUES (ST_GeomFromText('{shape}'))")).await.unwrap();
        let found = rows(&session, "SELECT g, HEX(g) FROM t").await;
        let [[Value::Bytes(stored), Value::Text(told)]] = [found[0].as_slice()] else { panic!("{found:?}") };
        assert_eq!(digits(stored, ""), told.to_lowercase(), "{shape}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn generated_and_hidden_columns() {
    let Some(scratch) = scratch_with(&[
        "CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS (a * 2) VIRTUAL, c VARCHAR(20) GENERATED ALWAYS AS \
         (CONCAT('n', a)) STORED, h INT DEFAULT 7 INVISIBLE)",
        "INSERT INTO t (a) VALUES (21)",
    ])
    .await
    else {
        return;
    };
    let session = session(&scratch).await;
    assert_eq!(rows(&session, "SELECT * FROM t").await, [[21.into(), 42.into(), "n21".into()]]);
    assert_eq!(rows(&session, "SELECT h FROM t").await, [[Value::from(7)]]);
}

/// The first batch announces the type of a column; what comes later and does not fit is kept all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_zero_date_after_many_good_ones() {
    let Some(scratch) = scratch_with(&[
        "SET sql_mode = ''",
        "CREATE TABLE t (i INTEGER PRIMARY KEY, d DATE)",
        "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) \
         SELECT a.i + 100 * (b.i - 1), '2024-05-01' FROM n a JOIN n b",
        "UPDATE t SET d = '0000-00-00' WHERE i = 9999",
    ])
    .await
    else {
        return;
    };
    let session = session(&scratch).await;
    let found = rows(&session, "SELECT d FROM t ORDER BY i").await;
    assert_eq!(found.len(), 10_000);
    assert_eq!(found[0], [time("2024-05-01")]);
    assert_eq!(found[9_997], [Value::json("\"2024-05-01\"")]);
    assert_eq!(found[9_998], [Value::json("\"0000-00-00\"")]);
}

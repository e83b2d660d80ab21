//! The statements that prepare a scratch database, and what the conformance suite asks of it.

use dbagent_core::{ErrorKind, ObjectName, Param, Params, Request};
use dbagent_testkit::conformance::{Expected, Material, Value, sql};

/// Statements that prepare a scratch database, one each.
pub(crate) fn setup() -> Vec<String> {
    let mut statements = vec!["SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')".to_owned()];
    statements.extend(sql::setup().into_iter().map(|statement| {
        // A key beside the column is no key everywhere, and TEXT holds one byte less than is needed.
        statement
            .replace("user_id INTEGER REFERENCES users(id)", "user_id INTEGER")
            .replace(
                "created_at TIMESTAMP)",
                "created_at TIMESTAMP NULL, FOREIGN KEY (user_id) REFERENCES users(id))",
            )
            .replace("kit_big (body TEXT)", "kit_big (body LONGTEXT)")
    }));
    statements.extend(
        [
            "CREATE TABLE kit_comment (id INTEGER) COMMENT 'what people said'",
            "CREATE TABLE kit_numbers (i INTEGER PRIMARY KEY)",
            "INSERT INTO kit_numbers WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) \
             SELECT a.i + 200 * (b.i - 1) FROM n a JOIN n b ON b.i <= 100",
            // So that the statistics are the same whenever they are asked for.
            "ANALYZE TABLE users, orders, kit_numbers",
        ]
        .map(str::to_owned),
    );
    statements
}

/// 60,001 rows out of nothing, of which the servers expect a handful. Two of them joined are more than anybody
/// waits for, and of three MySQL would first hash two.
const MANY: &str = "JSON_TABLE(CONCAT('[0', REPEAT(',0', 60000), ']'), '$[*]' COLUMNS (i FOR ORDINALITY))";

/// What both servers answer alike.
pub(crate) fn shared() -> Material {
    let text = |s: &str| Request::text(s);
    let mut material = Material::sql();
    material.nulls = vec![Expected::new(
        text("SELECT name, email, `update` FROM users ORDER BY id"),
        &["name", "email", "update"],
        vec![
            vec!["Ada".into(), "ada@example.org".into(), Value::Null],
            vec!["Grace".into(), Value::Null, Value::Null],
            vec!["Edsger".into(), "edsger@example.org".into(), Value::Null],
        ],
    )];
    material.empty = vec![
        Expected::new(
            text("SELECT id, name AS `the name` FROM users WHERE id < 0"),
            &["id", "the name"],
            vec![],
        ),
        Expected::new(text("SELECT email FROM users WHERE 1 = 0"), &["email"], vec![]),
    ];
    material.many_rows = Some((text("SELECT i, 'a text of some length' AS t FROM kit_numbers"), sql::MANY));
    material.endless =
        Some(text("SELECT sum(a.i * b.i + c.i) FROM kit_numbers a, kit_numbers b, kit_numbers c"));
    material.endless_rows =
        Some(Request::text(format!("SELECT a.i, 'a text of some length' AS t FROM {MANY} a JOIN {MANY} b")));
    material.errors = vec![
        (text("SELECT (SELECT id FROM users)"), ErrorKind::Data),
        (text("SELECT 9223372036854775807 + id FROM users"), ErrorKind::Data),
        (text("SELECT abs(1, 2)"), ErrorKind::Syntax),
    ];
    material.parameters = vec![Expected::new(
        text(
            "SELECT ? IS NULL AS a, ? + 0 AS b, ? * 1 AS c, ? AND 1 AS d, CAST(? AS DECIMAL(30, 2)) AS e, CAST(? AS DATE) AS f, HEX(?) AS g, \
             CAST(? AS DATETIME) AS h",
        )
        .with_params(Params::Positional(vec![
            Param::Null,
            Param::I64(9_007_199_254_740_993),
            Param::F64(0.5),
            Param::Bool(true),
            Param::Decimal("12345678901234567890.50".into()),
            Param::Date("2024-05-01".into()),
            Param::Bytes(vec![0, 255]),
            Param::Date("2024-05-01T10:00:00+02:00".into()),
        ])),
        &["a", "b", "c", "d", "e", "f", "g", "h"],
        vec![vec![
            1.into(),
            9_007_199_254_740_993.into(),
            0.5.into(),
            1.into(),
            Value::Decimal("12345678901234567890.50".into()),
            Value::Time("2024-05-01".into()),
            "00FF".into(),
            Value::Time("2024-05-01T08:00:00".into()),
        ]],
    )];
    material.writes.extend(
        [
            "REPLACE INTO users (id) VALUES (1)",
            "INSERT INTO orders SELECT id + 10, user_id, total, status, created_at FROM orders",
            "UPDATE users u JOIN orders o ON o.user_id = u.id SET u.name = 'Mallory', o.status = 'x'",
            "TRUNCATE TABLE kit_numbers",
            "CREATE INDEX kit_index ON orders (status)",
            "CREATE VIEW kit_view AS SELECT 1",
            "RENAME TABLE orders TO kit_orders",
            "CREATE TEMPORARY TABLE kit_temporary (a INTEGER)",
            "CREATE DATABASE kit_database",
            "CREATE USER kit_user@localhost",
            "GRANT SELECT ON *.* TO root@localhost",
        ]
        .map(text),
    );
    material.comment = Some((ObjectName::new("kit_comment"), "what people said".to_owned()));
    material.types = types();
    material
}

fn one(sql: &str, columns: &[&str], row: Vec<Value>) -> Expected {
    Expected::new(Request::text(sql), columns, vec![row])
}

/// Values that need no table; `tests/it/types.rs` has those of columns.
fn types() -> Vec<Expected> {
    let bytes = |b: &[u8]| Value::Bytes(b.to_vec());
    let decimal = |s: &str| Value::Decimal(s.into());
    let time = |s: &str| Value::Time(s.into());
    vec![
        one(
            "SELECT 9007199254740993 AS i, -9223372036854775808 AS least, 18446744073709551615 AS most, 1e0/3 AS f, \
             12.50 AS d, SUM(3) AS s, 1 AS a, 2 AS a",
            &["i", "least", "most", "f", "d", "s", "a", "a"],
            vec![
                9_007_199_254_740_993.into(),
                i64::MIN.into(),
                Value::Unsigned(u64::MAX),
                (1.0 / 3.0).into(),
                decimal("12.50"),
                decimal("3"),
                1.into(),
                2.into(),
            ],
        ),
        one(
            "SELECT 'ünï 表 🦀' AS t, '' AS e, 'line\\nbreak' AS n, x'00ff' AS b, x'' AS nob, NULL AS nothing",
            &["t", "e", "n", "b", "nob", "nothing"],
            vec![
                "ünï 表 🦀".into(),
                "".into(),
                "line\nbreak".into(),
                bytes(&[0, 255]),
                bytes(&[]),
                Value::Null,
            ],
        ),
        one(
            "SELECT CAST('2024-02-29' AS DATE) AS d, CAST('2024-02-29 23:59:59.123456' AS DATETIME(6)) AS t, \
             CAST('10:20:30' AS TIME) AS h, CAST('-100:00:00' AS TIME) AS far, TRUE AS yes",
            &["d", "t", "h", "far", "yes"],
            vec![
                time("2024-02-29"),
                time("2024-02-29T23:59:59.123456"),
                time("10:20:30"),
                "-100:00:00".into(),
                1.into(),
            ],
        ),
    ]
}

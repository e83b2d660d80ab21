//! The material of SQL databases, and the statements that prepare one.

use dbagent_core::{ObjectName, Request};

use super::material::{Expected, Hostile, Material};
use super::value::Value;

/// Rows of the table `kit_numbers` and of [`Material::many_rows`].
pub const MANY: u64 = 20_000;

/// Names that are meant to break something. All are legal in double quotes.
pub const HOSTILE_NAMES: &[&str] = &[
    "with space",
    "Mixed Case",
    "select",
    "it's",
    "a \"quoted\" name",
    "back`tick",
    "[brackets]",
    "dotted.name",
    "semi;colon",
    "dash--comment",
    "slash/*comment*/",
    "back\\slash",
    "per%cent_under",
    "dollar$1 :name ?1 @x",
    "новая таблица",
    "表",
    "e\u{301} decomposed",
    "line\nbreak",
    "tab\tname",
    "'; DROP TABLE users; --",
];

/// Columns of the hostile tables.
pub const HOSTILE_COLUMNS: &[&str] = &["id", "order", "a \"b\" c", "per cent %", "ключ"];

/// A name in double quotes, as standard SQL writes it. Only for preparing scratch databases.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Statements that prepare a scratch database for [`Material::sql`], in standard SQL, one each.
pub fn setup() -> Vec<String> {
    let mut statements: Vec<String> = [
        "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, email TEXT, \"update\" TEXT, data TEXT, tags TEXT)",
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES users(id), total DECIMAL(12,2), \
         status TEXT, created_at TIMESTAMP)",
        "INSERT INTO users (id, name, email) VALUES (1, 'Ada', 'ada@example.org'), (2, 'Grace', NULL), \
         (3, 'Edsger', 'edsger@example.org')",
        "INSERT INTO orders (id, user_id, total, status, created_at) VALUES (1, 1, 12.5, 'open', '2024-05-01 10:00:00'), \
         (2, 1, 99.99, 'paid', '2024-05-02 11:30:00'), (3, 3, 1, NULL, NULL)",
        "CREATE VIEW user_emails AS SELECT id, email AS contact FROM users",
        "CREATE TABLE kit_big (body TEXT)",
    ]
    .into_iter()
    .map(str::to_owned)
    .collect();
    statements.push(format!("INSERT INTO kit_big (body) VALUES ('{}')", "0123456789abcdef".repeat(4_096)));
    for name in HOSTILE_NAMES {
        let columns: Vec<String> = HOSTILE_COLUMNS.iter().map(|c| format!("{} INTEGER", quoted(c))).collect();
        statements.push(format!("CREATE TABLE {} ({})", quoted(name), columns.join(", ")));
        for row in 1..=2 {
            let values = vec![row.to_string(); HOSTILE_COLUMNS.len()].join(", ");
            statements.push(format!("INSERT INTO {} VALUES ({values})", quoted(name)));
        }
    }
    statements
}

fn counting(rows: Option<u64>, select: &str) -> Request {
    let end = rows.map(|n| format!(" WHERE i < {n}")).unwrap_or_default();
    Request::text(format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n{end}) SELECT {select} FROM n"
    ))
}

impl Material {
    /// What the suite asks of a SQL database that was prepared with [`setup`]. Engines that spell something
    /// otherwise change that field; every engine adds its own [`types`](Material::types).
    pub fn sql() -> Self {
        let text = |s: &str| Request::text(s);
        let nothing = |s: &str, columns: &[&str]| Expected::new(Request::text(s), columns, vec![]);
        Material {
            users: Some(ObjectName::new("users")),
            orders: Some(ObjectName::new("orders")),
            view: Some(ObjectName::new("user_emails")),
            read_users: Some(text("SELECT * FROM users ORDER BY id")),
            read_name: Some(text("SELECT name FROM users ORDER BY id")),
            read_email: Some(text("SELECT id, email FROM users ORDER BY id")),
            read_view: Some(text("SELECT contact FROM user_emails ORDER BY id")),
            read_orders: Some(text("SELECT * FROM orders ORDER BY id")),
            types: vec![Expected::new(
                text("SELECT 1 AS i, 'a' AS t"),
                &["i", "t"],
                vec![vec![Value::Int(1), Value::text("a")]],
            )],
            nulls: vec![Expected::new(
                text("SELECT name, email, \"update\" FROM users ORDER BY id"),
                &["name", "email", "update"],
                vec![
                    vec!["Ada".into(), "ada@example.org".into(), Value::Null],
                    vec!["Grace".into(), Value::Null, Value::Null],
                    vec!["Edsger".into(), "edsger@example.org".into(), Value::Null],
                ],
            )],
            empty: vec![
                nothing("SELECT id, name AS \"the name\" FROM users WHERE id < 0", &["id", "the name"]),
                nothing("SELECT email FROM users WHERE 1 = 0", &["email"]),
            ],
            many_rows: Some((counting(Some(MANY), "i, 'a text of some length' AS t"), MANY)),
            big_cell: Some(text("SELECT body FROM kit_big")),
            endless: Some(counting(None, "count(*)")),
            endless_rows: Some(counting(None, "i, 'a text of some length' AS t")),
            syntax_errors: ["SELEC 1", "SELECT FROM WHERE", "SELECT (1", "SELECT 'open"].map(text).into(),
            unknown_object: Some(text("SELECT * FROM no_such_table")),
            unknown_column: Some(text("SELECT no_such_column FROM users")),
            writes: [
                "INSERT INTO users (id, name) VALUES (4, 'Mallory')",
                "UPDATE users SET name = 'Mallory'",
                "DELETE FROM orders",
                "CREATE TABLE kit_new (a INTEGER)",
                "ALTER TABLE orders ADD COLUMN note TEXT",
                "DROP VIEW user_emails",
                "DROP TABLE orders",
            ]
            .map(text)
            .into(),
            echo_positional: Some(text("SELECT ? AS v")),
            hostile: HOSTILE_NAMES
                .iter()
                .map(|name| Hostile {
                    name: ObjectName::new(*name),
                    columns: HOSTILE_COLUMNS.iter().map(|c| (*c).to_owned()).collect(),
                    rows: 2,
                })
                .collect(),
            hostile_texts: hostile_texts(),
            ..Material::default()
        }
    }

    /// Lets `echo_positional` take its parameter by this name too, written as `marker` in the text.
    pub fn with_named(mut self, marker: &str, name: &str) -> Self {
        self.echo_named = Some((Request::text(format!("SELECT {marker} AS v")), name.to_owned()));
        self
    }
}

/// Long chains and deep nests, each under the default limit of bytes.
fn hostile_texts() -> Vec<String> {
    let times = |piece: &str| piece.repeat(60_000 / piece.len());
    vec![
        format!("SELECT {}1{}", "(".repeat(30_000), ")".repeat(30_000)),
        format!("SELECT 1{}", times("+1")),
        format!("SELECT 'a'{}", times("||'a'")),
        format!("SELECT 1 WHERE {}1", times("NOT ")),
        format!("SELECT 1 WHERE 1=1{}", times(" AND 1=1")),
        format!("SELECT 1{}", times(" UNION SELECT 1")),
        format!("SELECT {}1", times("CASE WHEN 1 THEN ")),
        format!("SELECT * FROM users{}", times(" JOIN users")),
        format!("SELECT {}", times("-")),
        times("SELECT("),
    ]
}

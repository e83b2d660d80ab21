//! The conformance suite of the testkit, on files of its own.

use std::path::{Path, PathBuf};

use dbagent_core::context::CallContext;
use dbagent_core::{
    ConnUrl, Dialect, Error, ErrorKind, ObjectName, Param, Params, Request, Result, Target, async_trait,
};
use dbagent_sqlite::testing::{create_database, raw_hardened};
use dbagent_testkit::conformance::{Change, Corpus, Expected, Fixture, Material, Value, sql};
use tempfile::TempDir;

dbagent_testkit::dialect_conformance!(fixture = SqliteFixture::new());

static DIALECT: Dialect = dbagent_sqlite::DIALECT;

struct SqliteFixture {
    folder: std::io::Result<TempDir>,
}

impl SqliteFixture {
    fn new() -> Self {
        Self { folder: tempfile::tempdir() }
    }

    fn folder(&self) -> Result<&Path> {
        let folder = self.folder.as_ref().map(TempDir::path);
        folder.map_err(|e| Error::new(ErrorKind::Io, format!("no folder can be made: {e}")))
    }

    fn file(&self, name: &str) -> Result<PathBuf> {
        Ok(self.folder()?.join(name))
    }

    /// The scratch database, made by the first call.
    fn scratch(&self) -> Result<PathBuf> {
        let file = self.file("scratch database.db")?;
        if !file.exists() {
            let mut setup = sql::setup();
            setup.push("CREATE TABLE kit_comment ( -- what people said\n  id INTEGER)".to_owned());
            // Without an index there is nothing that REINDEX would be kept from.
            setup.push("CREATE INDEX kit_index ON orders (status)".to_owned());
            create_database(&file, &setup.join(";\n"))?;
        }
        Ok(file)
    }
}

fn target(name: &str, file: &Path) -> Result<Target> {
    // Everything that a URL could take for something of its own is escaped.
    let path: String = file
        .to_string_lossy()
        .bytes()
        .map(|b| match b {
            b'/' | b'-' | b'_' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => char::from(b).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect();
    Ok(Target::new(name, ConnUrl::parse(&format!("sqlite:///{path}"))?))
}

fn one(sql: &str, columns: &[&str], row: Vec<Value>) -> Expected {
    Expected::new(Request::text(sql), columns, vec![row])
}

#[async_trait]
impl Fixture for SqliteFixture {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    async fn target(&self) -> Result<Target> {
        target("scratch", &self.scratch()?)
    }

    fn material(&self) -> Material {
        let bytes = |b: &[u8]| Value::Bytes(b.to_vec());
        let mut material = Material::sql().with_named(":v", "v");
        material.types = vec![
            one(
                "SELECT 9007199254740993 AS i, -9223372036854775808 AS least, 0.1 AS f, 1e999 AS inf, -1e999 AS neg",
                &["i", "least", "f", "inf", "neg"],
                vec![
                    9_007_199_254_740_993.into(),
                    i64::MIN.into(),
                    0.1.into(),
                    f64::INFINITY.into(),
                    f64::NEG_INFINITY.into(),
                ],
            ),
            one(
                "SELECT 'ünï 表' AS t, '' AS e, 'line' || char(10) || 'break' AS n, x'00ff' AS b, x'' AS nob",
                &["t", "e", "n", "b", "nob"],
                vec!["ünï 表".into(), "".into(), "line\nbreak".into(), bytes(&[0, 255]), bytes(&[])],
            ),
            one(
                "SELECT date('2024-02-29') AS d, datetime(0, 'unixepoch') AS t, TRUE AS yes, 12.50 AS dec, 1 AS a, 2 AS a",
                &["d", "t", "yes", "dec", "a", "a"],
                vec![
                    "2024-02-29".into(),
                    "1970-01-01 00:00:00".into(),
                    1.into(),
                    12.5.into(),
                    1.into(),
                    2.into(),
                ],
            ),
        ];
        material.mixed = vec![Expected::new(
            Request::text("SELECT column1 AS v FROM (VALUES (1), ('a'), (x'01'), (2.5), (NULL), (1e999))"),
            &["v"],
            vec![
                vec![Value::json("1")],
                vec![Value::json("\"a\"")],
                vec![Value::json("{\"$bytes\":\"AQ==\"}")],
                vec![Value::json("2.5")],
                vec![Value::Null],
                vec![Value::json("{\"$double\":\"Infinity\"}")],
            ],
        )];
        let text = |s: &str| Request::text(s);
        material.errors = vec![
            (text("SELECT json('{')"), ErrorKind::Data),
            (text("SELECT abs(-9223372036854775807 - id) FROM users"), ErrorKind::Data),
            (text("SELECT length(zeroblob(id * 1000000000)) FROM users"), ErrorKind::TooLarge),
            (text("SELECT median(id) FROM users"), ErrorKind::UnknownFunction),
            (text("SELECT abs(1, 2)"), ErrorKind::Syntax),
        ];
        material.parameters = vec![one(
            "SELECT typeof(?1) AS a, typeof(?2) AS b, typeof(?3) AS c, typeof(?4) AS d, ?5 AS e, ?6 AS f, hex(?7) AS g",
            &["a", "b", "c", "d", "e", "f", "g"],
            vec![
                "null".into(),
                "integer".into(),
                "real".into(),
                "integer".into(),
                "12.50".into(),
                "2024-05-01".into(),
                "00FF".into(),
            ],
        )];
        let values = vec![
            Param::Null,
            Param::I64(9_007_199_254_740_993),
            Param::F64(0.5),
            Param::Bool(true),
            Param::Decimal("12.50".into()),
            Param::Date("2024-05-01".into()),
            Param::Bytes(vec![0, 255]),
        ];
        for expected in &mut material.parameters {
            expected.request = expected.request.clone().with_params(Params::Positional(values.clone()));
        }
        material.writes.extend(
            [
                "REPLACE INTO users (id) VALUES (1)",
                "ATTACH ':memory:' AS kit",
                "VACUUM",
                "REINDEX",
                "ANALYZE",
                "PRAGMA user_version = 5",
                "PRAGMA query_only = OFF",
                "BEGIN IMMEDIATE",
                "CREATE TEMP TABLE kit_temp (a)",
                "CREATE VIRTUAL TABLE kit_text USING fts5 (a)",
            ]
            .map(Request::text),
        );
        material.comment = Some((ObjectName::new("kit_comment"), "what people said".to_owned()));
        material
    }

    async fn raw_hardened(&self, request: &Request) -> Option<Result<()>> {
        let call = CallContext::within(std::time::Duration::from_secs(60));
        let run = |target: Target| raw_hardened(&target, &call)?.run(request.as_str()).map(|_| ());
        Some(self.target().await.and_then(run))
    }

    async fn beside(&self, change: Change) -> Option<Result<()>> {
        let sql = match change {
            Change::Create(name) => format!("CREATE TABLE {} (a INTEGER)", sql::quoted(&name.name)),
            Change::ViewOverOrders => {
                "DROP VIEW user_emails; CREATE VIEW user_emails AS SELECT id, status AS contact FROM orders"
                    .to_owned()
            }
            _ => return None,
        };
        Some(self.scratch().and_then(|file| create_database(&file, &sql)))
    }

    async fn wrong_targets(&self) -> Result<Vec<(Target, ErrorKind)>> {
        let write = |name: &str, bytes: &[u8]| {
            let file = self.file(name)?;
            std::fs::write(&file, bytes).map_err(|e| Error::new(ErrorKind::Io, e.to_string()))?;
            Ok::<_, Error>(file)
        };
        let garbage = write("garbage.db", b"this is no database, whatever its name says\n")?;
        // Noise as even as that of a cipher.
        let noise: Vec<u8> =
            (0..8_192_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0]).collect();
        let encrypted = write("encrypted.db", &noise)?;
        let mut bytes =
            std::fs::read(self.scratch()?).map_err(|e| Error::new(ErrorKind::Io, e.to_string()))?;
        for byte in bytes.iter_mut().skip(100).take(200) {
            *byte = 0xee;
        }
        let corrupt = write("corrupt.db", &bytes)?;
        let mut nonsense = self.target().await?;
        nonsense.credential = nonsense.credential.set("connect_timeout", "soon");
        Ok(vec![
            (target("missing", &self.file("missing.db")?)?, ErrorKind::DatabaseNotFound),
            (target("no folder", &self.file("nowhere")?.join("x.db"))?, ErrorKind::DatabaseNotFound),
            (target("folder", self.folder()?)?, ErrorKind::IsDirectory),
            (target("garbage", &garbage)?, ErrorKind::NotADatabase),
            (target("encrypted", &encrypted)?, ErrorKind::Encrypted),
            (target("corrupt", &corrupt)?, ErrorKind::Corrupt),
            (Target::new("memory", ConnUrl::parse("sqlite://:memory:")?), ErrorKind::Config),
            (nonsense, ErrorKind::Config),
        ])
    }

    fn corpora(&self) -> Vec<Corpus> {
        vec![
            Corpus::new("sqlite.jsonl", include_str!("../../../tests/corpora/sqlite/sqlite.jsonl")),
            Corpus::new("own.jsonl", include_str!("../../../tests/corpora/sqlite/own.jsonl")),
        ]
    }
}

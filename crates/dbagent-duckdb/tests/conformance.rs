//! The conformance suite of the testkit, on files of its own.

use std::path::{Path, PathBuf};

use dbagent_core::{
    ConnUrl, Dialect, Error, ErrorKind, ObjectName, Param, Params, Request, Result, Target, async_trait,
};
use dbagent_duckdb::testing::{create_database, raw_hardened};
use dbagent_testkit::conformance::{Change, Corpus, Expected, Fixture, Material, Value, sql};
use tempfile::TempDir;

dbagent_testkit::dialect_conformance!(fixture = DuckdbFixture::new());

static DIALECT: Dialect = dbagent_duckdb::DIALECT;

struct DuckdbFixture {
    folder: std::io::Result<TempDir>,
}

impl DuckdbFixture {
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
            create_database(&file, &setup().join(";\n"))?;
        }
        Ok(file)
    }
}

fn setup() -> Vec<String> {
    let mut setup = sql::setup();
    setup.push("CREATE TABLE kit_comment (id INTEGER)".to_owned());
    setup.push("COMMENT ON TABLE kit_comment IS 'what people said'".to_owned());
    setup.push("CREATE SEQUENCE kit_sequence".to_owned());
    setup
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
    Ok(Target::new(name, ConnUrl::parse(&format!("duckdb:///{path}"))?))
}

fn one(sql: &str, columns: &[&str], row: Vec<Value>) -> Expected {
    Expected::new(Request::text(sql), columns, vec![row])
}

#[async_trait]
impl Fixture for DuckdbFixture {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    async fn target(&self) -> Result<Target> {
        target("scratch", &self.scratch()?)
    }

    fn material(&self) -> Material {
        let bytes = |b: &[u8]| Value::Bytes(b.to_vec());
        let decimal = |s: &str| Value::Decimal(s.to_owned());
        let time = |s: &str| Value::Time(s.to_owned());
        let mut material = Material::sql().with_named("$v", "v");
        material.types = vec![
            one(
                "SELECT 9007199254740993 AS i, -9223372036854775808 AS least, 0.1::DOUBLE AS f, 'inf'::DOUBLE AS inf, 'nan'::DOUBLE AS nan",
                &["i", "least", "f", "inf", "nan"],
                vec![
                    9_007_199_254_740_993.into(),
                    i64::MIN.into(),
                    0.1.into(),
                    f64::INFINITY.into(),
                    f64::NAN.into(),
                ],
            ),
            one(
                "SELECT 'ünï 表' AS t, '' AS e, 'line' || chr(10) || 'break' AS n, '\\x00\\xFF'::BLOB AS b, ''::BLOB AS nob",
                &["t", "e", "n", "b", "nob"],
                vec!["ünï 表".into(), "".into(), "line\nbreak".into(), bytes(&[0, 255]), bytes(&[])],
            ),
            one(
                "SELECT DATE '2024-02-29' AS d, TIMESTAMP '1970-01-01 00:00:00' AS t, true AS yes, 12.50 AS dec, 1 AS a, 2 AS a",
                &["d", "t", "yes", "dec", "a", "a"],
                vec![
                    time("2024-02-29"),
                    time("1970-01-01T00:00:00"),
                    true.into(),
                    decimal("12.50"),
                    1.into(),
                    2.into(),
                ],
            ),
            one(
                "SELECT 170141183460469231731687303715884105727::HUGEINT AS h, 18446744073709551615::UBIGINT AS u, \
                 'f47ac10b-58cc-4372-a567-0e02b2c3d479'::UUID AS id",
                &["h", "u", "id"],
                vec![
                    decimal("170141183460469231731687303715884105727"),
                    Value::Unsigned(u64::MAX),
                    "f47ac10b-58cc-4372-a567-0e02b2c3d479".into(),
                ],
            ),
        ];
        material.nested = vec![one(
            "SELECT [1, NULL] AS l, {'a': 1, 'b': ['x']} AS s, MAP {'k': 1.5} AS m",
            &["l", "s", "m"],
            vec![
                Value::Other("[1,null]".into()),
                Value::Other("{\"a\":1,\"b\":[\"x\"]}".into()),
                Value::Other("[{\"key\":\"k\",\"value\":\"1.5\"}]".into()),
            ],
        )];
        let text = |s: &str| Request::text(s);
        material.errors = vec![
            (text("SELECT name::INTEGER FROM users"), ErrorKind::Data),
            (text("SELECT error('no') FROM users"), ErrorKind::Data),
            (text("SELECT nvl(name, 'x') FROM users"), ErrorKind::UnknownFunction),
            (text("SELECT abs(1, 2)"), ErrorKind::Syntax),
            (text("SELECT 1::VARIANT"), ErrorKind::Unsupported),
        ];
        material.parameters = vec![one(
            "SELECT typeof($1) AS a, typeof($2) AS b, typeof($3) AS c, typeof($4) AS d, $5 AS e, $6 AS f, hex($7) AS g",
            &["a", "b", "c", "d", "e", "f", "g"],
            vec![
                "\"NULL\"".into(),
                "BIGINT".into(),
                "DOUBLE".into(),
                "BOOLEAN".into(),
                decimal("12.50"),
                time("2024-05-01"),
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
                "INSERT OR REPLACE INTO users (id) VALUES (1)",
                "TRUNCATE orders",
                "SELECT nextval('kit_sequence')",
            ]
            .map(Request::text),
        );
        material.default_namespace = Some("main".to_owned());
        material.comment = Some((ObjectName::new("kit_comment"), "what people said".to_owned()));
        material
    }

    async fn raw_hardened(&self, request: &Request) -> Option<Result<()>> {
        let run = |target: Target| raw_hardened(&target)?.run(request.as_str());
        Some(self.target().await.and_then(run))
    }

    /// A file that is open for reading cannot be changed by anybody. Another file takes its place.
    async fn beside(&self, change: Change) -> Option<Result<()>> {
        let sql = match change {
            Change::Create(name) => format!("CREATE TABLE {} (a INTEGER)", sql::quoted(&name.name)),
            Change::ViewOverOrders => {
                "DROP VIEW user_emails; CREATE VIEW user_emails AS SELECT id, status AS contact FROM orders"
                    .to_owned()
            }
            _ => return None,
        };
        let replace = || {
            let (file, other) = (self.scratch()?, self.file("other.db")?);
            create_database(&other, &format!("{};\n{sql}", setup().join(";\n")))?;
            std::fs::rename(&other, &file).map_err(|e| Error::new(ErrorKind::Io, e.to_string()))
        };
        Some(replace())
    }

    async fn wrong_targets(&self) -> Result<Vec<(Target, ErrorKind)>> {
        let write = |name: &str, bytes: &[u8]| {
            let file = self.file(name)?;
            std::fs::write(&file, bytes).map_err(|e| Error::new(ErrorKind::Io, e.to_string()))?;
            Ok::<_, Error>(file)
        };
        let garbage = write("garbage.db", b"this is no database, whatever its name says\n")?;
        let empty = write("empty.db", b"")?;
        let bytes = std::fs::read(self.scratch()?).map_err(|e| Error::new(ErrorKind::Io, e.to_string()))?;
        let cut = write("cut.db", bytes.get(..20_000).unwrap_or_default())?;
        let mut damaged = bytes;
        for byte in damaged.iter_mut().skip(4_200).take(8_000) {
            *byte = 0xee;
        }
        let corrupt = write("corrupt.db", &damaged)?;
        let mut nonsense = self.target().await?;
        nonsense.credential = nonsense.credential.set("user", "bob");
        Ok(vec![
            (target("missing", &self.file("missing.db")?)?, ErrorKind::DatabaseNotFound),
            (target("no folder", &self.file("nowhere")?.join("x.db"))?, ErrorKind::DatabaseNotFound),
            (target("folder", self.folder()?)?, ErrorKind::IsDirectory),
            (target("garbage", &garbage)?, ErrorKind::NotADatabase),
            (target("empty", &empty)?, ErrorKind::NotADatabase),
            (target("cut", &cut)?, ErrorKind::Corrupt),
            (target("corrupt", &corrupt)?, ErrorKind::Corrupt),
            (target("no lake", &self.file("nowhere/")?)?, ErrorKind::DatabaseNotFound),
            (Target::new("memory", ConnUrl::parse("duckdb://:memory:")?), ErrorKind::Config),
            (nonsense, ErrorKind::Config),
        ])
    }

    fn corpora(&self) -> Vec<Corpus> {
        vec![
            Corpus::new("duckdb.jsonl", include_str!("../../../tests/corpora/duckdb/duckdb.jsonl"))
                .disputed(include_str!("../../../tests/corpora/duckdb/disputed.jsonl")),
            Corpus::new("own.jsonl", include_str!("../../../tests/corpora/duckdb/own.jsonl")),
        ]
    }
}

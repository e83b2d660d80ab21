//! A scratch file for the conformance suite, and a sample for tests of agents.

use std::path::{Path, PathBuf};

use dbagent_core::serde_json::Value as JsonValue;
use dbagent_core::{
    ConnUrl, Dialect, Error, ErrorKind, ObjectName, Request, Result, Secret, Target, async_trait,
};
use tempfile::TempDir;

use super::DIALECT;
use super::engine::{Connection, Mode};
use crate::conformance::{CANARY, Change, Corpus, Expected, Fixture, Hostile, Material, Value, sql};

static REGISTERED: Dialect = DIALECT;

/// The fixture of the fake document database.
pub struct DocumentsFixture {
    folder: Result<TempDir, std::io::Error>,
}

impl Default for DocumentsFixture {
    fn default() -> Self {
        Self::new()
    }
}

/// A small database of users and orders, and a target on it. The folder is removed with the first value.
///
/// # Errors
/// [`ErrorKind::Io`] when no file can be made.
pub fn sample() -> Result<(TempDir, Target)> {
    let folder = tempfile::tempdir().map_err(|e| io("no folder can be made", e))?;
    let file = folder.path().join("sample.json");
    write(&file, SAMPLE)?;
    let target = target_on("sample", &file)?;
    Ok((folder, target))
}

fn io(what: &str, source: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, what).source(source)
}

fn write(file: &Path, content: &str) -> Result<()> {
    std::fs::write(file, content).map_err(|e| io("the file cannot be written", e))
}

fn target_on(name: &str, file: &Path) -> Result<Target> {
    // Every character that a URL could take for something of its own is escaped.
    let path: String = file
        .to_string_lossy()
        .bytes()
        .map(|b| match b {
            b'/' | b'-' | b'_' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => char::from(b).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect();
    Ok(Target::new(name, ConnUrl::parse(&format!("documents://{path}"))?))
}

/// Users and orders.
const SAMPLE: &str = r#"{"collections":{
    "users":{"documents":[
        {"id":1,"name":"Ada","email":"ada@example.org","address":{"city":"London","zip":"W1"}},
        {"id":2,"name":"Grace","email":null,"tags":["navy","cobol"]},
        {"id":3,"name":"Edsger","email":"edsger@example.org","address":{"city":"Nuenen"}}
    ]},
    "orders":{"documents":[
        {"id":1,"user_id":1,"total":12.5,"status":"open"},
        {"id":2,"user_id":1,"total":99.99,"status":"paid"},
        {"id":3,"user_id":3,"total":1,"status":null}
    ]}
}}"#;

/// The same, and collections that only the suite wants.
fn scratch() -> String {
    let more = format!(
        r#","empty":{{"documents":[]}},"many":{{"sequence":{}}},"endless":{{"sequence":null}}}}}}"#,
        sql::MANY
    );
    SAMPLE.trim_end_matches('}').to_owned() + &more
}

/// Values that must survive as they are, written as text so that every digit stays.
const TYPED: &str = r#"{"op":"insert","collection":"typed","documents":[
    {"k":1,"i":9007199254740993,"f":0.1,"t":"ünï 表","b":true,"big":123456789012345678901234567890,"mix":1,"nest":{"b":1,"a":[1,{"c":null}]}},
    {"k":2,"i":-9223372036854775808,"f":1e300,"t":"","b":false,"big":0.12345678901234567890,"mix":"one","nest":[]},
    {"k":3,"i":0,"f":-0.0,"t":"line\nbreak","b":true,"big":1,"mix":[1.50,true],"nest":"flat"}
]}"#;

impl DocumentsFixture {
    /// A fixture with a folder of its own.
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir() }
    }

    fn file(&self, name: &str) -> Result<PathBuf> {
        match &self.folder {
            Ok(folder) => Ok(folder.path().join(name)),
            Err(e) => Err(Error::new(ErrorKind::Io, format!("no folder can be made: {e}"))),
        }
    }

    fn prepared(&self) -> Result<PathBuf> {
        let file = self.file("scratch database.json")?;
        if !file.exists() {
            write(&file, &scratch())?;
            let connection = Connection::open(&file, None, Mode::ReadWrite)?;
            connection.execute(&Request::json(TYPED))?;
            let big = "0123456789abcdef".repeat(4_096);
            let insert = |name: &str, documents: &str| {
                let name = JsonValue::from(name);
                let text = format!(r#"{{"op":"insert","collection":{name},"documents":[{documents}]}}"#);
                connection.execute(&Request::json(text))
            };
            insert("big", &format!(r#"{{"body":"{big}"}}"#))?;
            for name in sql::HOSTILE_NAMES {
                insert(name, r#"{"id":1,"with space":1,"quote\"d":1},{"id":2,"with space":2,"quote\"d":2}"#)?;
            }
        }
        Ok(file)
    }
}

/// A request of `typed`, reduced to some fields.
fn typed(columns: &[&str]) -> Request {
    let fields: Vec<String> = columns.iter().map(|column| format!("\"{column}\":1")).collect();
    let fields = fields.join(",");
    Request::json(format!(
        r#"{{"op":"find","collection":"typed","sort":{{"k":1}},"projection":{{{fields}}}}}"#
    ))
}

fn pipeline(collection: &str, stages: &str) -> Request {
    Request::json(format!(r#"{{"op":"aggregate","collection":"{collection}","pipeline":[{stages}]}}"#))
}

#[async_trait]
impl Fixture for DocumentsFixture {
    fn dialect(&self) -> &'static Dialect {
        &REGISTERED
    }

    async fn target(&self) -> Result<Target> {
        target_on("scratch", &self.prepared()?)
    }

    fn material(&self) -> Material {
        let read = |text: &str| Some(Request::json(text));
        let with_text = r#"{"$project":{"n":1,"t":{"$literal":"a text of some length"}}}"#;
        Material {
            users: Some(ObjectName::new("users")),
            orders: Some(ObjectName::new("orders")),
            read_users: read(r#"{"op":"find","collection":"users","sort":{"id":1}}"#),
            read_name: read(
                r#"{"op":"find","collection":"users","sort":{"name":1},"projection":{"name":1}}"#,
            ),
            read_email: Some(pipeline("users", r#"{"$group":{"_id":"$email","n":{"$sum":1}}}"#)),
            read_orders: read(r#"{"op":"find","collection":"orders","sort":{"id":1}}"#),
            types: types(),
            nulls: vec![Expected::new(
                Request::json(
                    r#"{"op":"find","collection":"users","sort":{"id":1},"projection":{"name":1,"email":1,"absent":1}}"#,
                ),
                &["name", "email", "absent"],
                vec![
                    vec!["Ada".into(), "ada@example.org".into(), Value::Null],
                    vec!["Grace".into(), Value::Null, Value::Null],
                    vec!["Edsger".into(), "edsger@example.org".into(), Value::Null],
                ],
            )],
            empty: vec![
                Expected::new(
                    Request::json(r#"{"op":"find","collection":"orders","filter":{"id":{"$lt":0}}}"#),
                    &["id", "user_id", "total", "status"],
                    vec![],
                ),
                Expected::new(pipeline("empty", r#"{"$project":{"a":1}}"#), &["a"], vec![]),
            ],
            mixed: vec![Expected::new(
                typed(&["mix"]),
                &["mix"],
                vec![vec![Value::json("1")], vec![Value::json("\"one\"")], vec![Value::json("[1.50,true]")]],
            )],
            nested: vec![Expected::new(
                typed(&["nest"]),
                &["nest"],
                vec![
                    vec![Value::json(r#"{"b":1,"a":[1,{"c":null}]}"#)],
                    vec![Value::json("[]")],
                    vec![Value::json("\"flat\"")],
                ],
            )],
            many_rows: Some((pipeline("many", with_text), sql::MANY)),
            big_cell: read(r#"{"op":"find","collection":"big"}"#),
            endless: Some(pipeline("endless", r#"{"$count":"n"}"#)),
            endless_rows: Some(pipeline("endless", with_text)),
            syntax_errors: syntax_errors(),
            unknown_object: read(r#"{"op":"find","collection":"no_such_collection"}"#),
            errors: vec![
                (pipeline("users", r#"{"$project":{"x":{"$add":["$name",1]}}}"#), ErrorKind::Data),
                (pipeline("users", r#"{"$unwind":"$address.city"}"#), ErrorKind::Unsupported),
            ],
            writes: writes(),
            hostile: sql::HOSTILE_NAMES
                .iter()
                .map(|name| Hostile {
                    name: ObjectName::new(*name),
                    columns: ["id", "with space", "quote\"d"].map(str::to_owned).to_vec(),
                    rows: 2,
                })
                .collect(),
            hostile_texts: hostile_texts(),
            ..Material::default()
        }
    }

    async fn raw_hardened(&self, request: &Request) -> Option<Result<()>> {
        let run = || Connection::open(self.prepared()?, None, Mode::ReadOnly)?.execute(request);
        Some(run())
    }

    async fn beside(&self, change: Change) -> Option<Result<()>> {
        let run = |text: String| {
            Connection::open(self.prepared()?, None, Mode::ReadWrite)?.execute(&Request::json(text))
        };
        match change {
            Change::Create(name) => {
                let name = JsonValue::from(name.name);
                Some(run(format!(r#"{{"op":"insert","collection":{name},"documents":[{{"a":1}}]}}"#)))
            }
            _ => None,
        }
    }

    async fn wrong_targets(&self) -> Result<Vec<(Target, ErrorKind)>> {
        let (garbage, locked) = (self.file("garbage.json")?, self.file("locked.json")?);
        write(&garbage, "\u{1}\u{2}")?;
        write(&locked, r#"{"token":"something else","collections":{}}"#)?;
        let mut wrong_token = target_on("wrong", &locked)?;
        wrong_token.credential = wrong_token.credential.set("token", "wrong");
        Ok(vec![
            (target_on("missing", &self.file("missing.json")?)?, ErrorKind::DatabaseNotFound),
            (target_on("folder", &self.file("")?)?, ErrorKind::IsDirectory),
            (target_on("garbage", &garbage)?, ErrorKind::NotADatabase),
            (target_on("no token", &locked)?, ErrorKind::Authentication),
            (wrong_token, ErrorKind::Authentication),
        ])
    }

    async fn secret_targets(&self) -> Result<Vec<Target>> {
        let file = self.file("secret.json")?;
        write(&file, &scratch().replacen('{', &format!("{{\"token\":\"{CANARY}\","), 1))?;
        let mut target = target_on("secret", &file)?;
        target.credential = target.credential.set("token", Secret::new(CANARY));
        Ok(vec![target])
    }

    fn corpora(&self) -> Vec<Corpus> {
        vec![Corpus::new("documents", include_str!("corpus.jsonl"))]
    }

    fn lacks(&self) -> Vec<(&'static str, &'static str)> {
        vec![
            ("unknown_column", "documents have no schema: a field that is nowhere is null"),
            ("policy_views", "the engine has no views"),
        ]
    }
}

fn types() -> Vec<Expected> {
    vec![
        Expected::new(
            typed(&["i", "f", "t", "b"]),
            &["i", "f", "t", "b"],
            vec![
                vec![9_007_199_254_740_993.into(), 0.1.into(), "ünï 表".into(), true.into()],
                vec![i64::MIN.into(), 1e300.into(), "".into(), false.into()],
                vec![0.into(), (-0.0).into(), "line\nbreak".into(), true.into()],
            ],
        ),
        // More digits than any machine number has stay what they are.
        Expected::new(
            typed(&["big"]),
            &["big"],
            vec![
                vec![Value::json("123456789012345678901234567890")],
                vec![Value::json("0.12345678901234567890")],
                vec![Value::json("1")],
            ],
        ),
    ]
}

fn syntax_errors() -> Vec<Request> {
    vec![
        Request::text("SELECT 1"),
        Request::json("{"),
        Request::json("[]"),
        Request::json(r#"{"op":"find","collection":"users","collection":"orders"}"#),
        Request::json(r#"{"op":"find"}"#),
        Request::json(r#"{"op":"find","collection":"users","filter":{"name":{"$near":1}}}"#),
        pipeline("users", r#"{"$sideways":1}"#),
        pipeline("users", r#"{"$match":{},"$limit":1}"#),
    ]
}

fn writes() -> Vec<Request> {
    vec![
        Request::json(r#"{"op":"insert","collection":"users","documents":[{"id":4}]}"#),
        Request::json(r#"{"op":"update","collection":"users","set":{"name":"Mallory"}}"#),
        Request::json(r#"{"op":"delete","collection":"orders"}"#),
        Request::json(r#"{"op":"create","collection":"kit_new"}"#),
        Request::json(r#"{"op":"drop","collection":"orders"}"#),
        pipeline("users", r#"{"$out":"orders"}"#),
        pipeline("users", r#"{"$match":{}},{"$merge":"orders"}"#),
    ]
}

fn hostile_texts() -> Vec<String> {
    let nested = |depth: usize, open: &str, close: &str| {
        format!(
            "{{\"op\":\"find\",\"collection\":\"users\",\"filter\":{}{{}}{}}}",
            open.repeat(depth),
            close.repeat(depth)
        )
    };
    vec![
        nested(40, "{\"$and\":[", "]}"),
        nested(6_000, "{\"$and\":[", "]}"),
        nested(10_000, "{\"a\":", "}"),
        format!(
            "{{\"op\":\"aggregate\",\"collection\":\"users\",\"pipeline\":[{}{{}}]}}",
            "{\"$limit\":1},".repeat(4_000)
        ),
    ]
}

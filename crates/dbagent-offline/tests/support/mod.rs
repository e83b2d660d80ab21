//! A small stand-in for the agent: it drives the planner over a SQLite file, with tools that answer in the
//! form of the real ones. It is here so that hundreds of questions can be asked quickly.

use std::sync::Arc;

use dbagent_core::catalog::{Column, ForeignKey, ObjectDetail, ObjectKind, ObjectSummary, RowCount};
use dbagent_core::model::{AssistantMessage, Message, Model, ModelRequest, OutputMode, Reply, ToolMessage, drain};
use dbagent_core::name::ObjectName;
use dbagent_core::observe::{Frame, NULL, list_table, text_cell, write_descriptions};
use dbagent_core::tool::{ToolHints, ToolSpec};
use dbagent_offline::Offline;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OpenFlags};
use serde_json::json;

/// What came of a question.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// The answer's text.
    pub answer: String,
    /// Every statement that was run, in order.
    pub statements: Vec<String>,
    /// The rows of the last query.
    pub rows: Vec<Vec<Option<String>>>,
    /// How many replies it took.
    pub turns: usize,
}

impl Run {
    /// Whether the planner said that it is not sure.
    pub fn is_unsure(&self) -> bool {
        self.answer.starts_with("I am not sure")
    }
}

/// A database with the tools over it.
pub struct Bench {
    connection: Connection,
    tools: Arc<[ToolSpec]>,
}

impl Bench {
    /// Opens a file for reading.
    pub fn open(path: &std::path::Path) -> Self {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Self::new(Connection::open_with_flags(path, flags).expect("the sample database opens"))
    }

    /// A database in memory, made by a script.
    pub fn script(sql: &str) -> Self {
        let connection = Connection::open_in_memory().expect("a database in memory opens");
        connection.execute_batch(sql).expect("the script runs");
        Self::new(connection)
    }

    fn new(connection: Connection) -> Self {
        Self { connection, tools: tools() }
    }

    /// The tools, as the agent offers them.
    pub fn tools(&self) -> Arc<[ToolSpec]> {
        Arc::clone(&self.tools)
    }

    /// Asks one question on a new thread.
    pub fn ask(&self, question: &str) -> Run {
        self.thread(&[question]).pop().unwrap_or_default()
    }

    /// Asks several on one thread.
    pub fn thread(&self, questions: &[&str]) -> Vec<Run> {
        let mut messages = Vec::new();
        let mut runs = Vec::new();
        for question in questions {
            messages.push(Message::user(*question));
            runs.push(self.turn(&mut messages));
        }
        runs
    }

    fn turn(&self, messages: &mut Vec<Message>) -> Run {
        let mut run = Run::default();
        for _ in 0..16 {
            run.turns += 1;
            let reply = self.reply(messages, OutputMode::Text).expect("the planner answers");
            messages.push(Message::Assistant(AssistantMessage {
                text: reply.text.clone(),
                calls: reply.calls.clone(),
                ..AssistantMessage::default()
            }));
            if reply.calls.is_empty() {
                run.answer = reply.text;
                return run;
            }
            assert!(reply.calls.len() <= 12, "too many calls in one turn: {}", reply.calls.len());
            for call in &reply.calls {
                let arguments: serde_json::Value = serde_json::from_str(&call.arguments).expect("arguments are JSON");
                let (text, is_error) = self.call(&call.name, &arguments, &mut run);
                messages.push(Message::Tool(ToolMessage {
                    call_id: String::new(),
                    name: call.name.clone(),
                    text,
                    is_error,
                }));
            }
        }
        panic!("no answer after {} turns: {messages:?}", run.turns);
    }

    /// One reply of the planner.
    pub fn reply(&self, messages: &[Message], output: OutputMode) -> Result<Reply, dbagent_core::model::ModelError> {
        let mut request = ModelRequest::new(messages.to_vec());
        request.tools = self.tools();
        request.output = output;
        block_on(async { drain(Offline::new().stream(request).await?, |_| {}).await })
    }

    fn call(&self, tool: &str, arguments: &serde_json::Value, run: &mut Run) -> (String, bool) {
        match tool {
            "list_objects" => {
                let objects: Vec<ObjectSummary> = self.objects().into_iter().map(|o| o.summary).collect();
                (format!("{} in all\n{}", objects.len(), list_table(&objects)), false)
            }
            "describe_objects" => {
                let names: Vec<&str> =
                    arguments["names"].as_array().into_iter().flatten().filter_map(|n| n.as_str()).collect();
                let found: Vec<ObjectDetail> =
                    self.objects().into_iter().filter(|o| names.contains(&o.summary.name.to_string().as_str())).collect();
                (write_descriptions(&found), found.is_empty())
            }
            "query" => match self.query(arguments, run) {
                Ok(text) => (text, false),
                Err(e) if e.starts_with("REFUSED") => (e, true),
                Err(e) => (format!("ERROR (syntax).\n{e}"), true),
            },
            other => (format!("no tool {other}"), true),
        }
    }

    fn query(&self, arguments: &serde_json::Value, run: &mut Run) -> Result<String, String> {
        let sql = arguments["statement"].as_str().ok_or("$.statement is missing")?;
        let limit = usize::try_from(arguments["limit"].as_u64().unwrap_or(100)).unwrap_or(100);
        run.statements.push(sql.to_owned());
        run.rows.clear();
        let params: Vec<Value> = arguments["params"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|p| match p {
                serde_json::Value::String(s) => Value::Text(s.clone()),
                serde_json::Value::Number(n) => n.as_i64().map_or_else(
                    || Value::Real(n.as_f64().expect("a number")),
                    Value::Integer,
                ),
                other => panic!("no such parameter: {other}"),
            })
            .collect();
        let mut statement = self.connection.prepare(sql).map_err(|e| e.to_string())?;
        assert!(statement.readonly(), "the planner only reads: {sql}");
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query(rusqlite::params_from_iter(params)).map_err(|e| e.to_string())?;
        let mut frame = Frame::new();
        frame.cells(names.iter().map(|n| format!("{} text", text_cell(n))));
        let mut more = false;
        while let Some(row) = rows.next().map_err(|e| e.to_string())? {
            if run.rows.len() == limit {
                more = true;
                break;
            }
            let cells: Vec<Option<String>> =
                (0..names.len()).map(|i| cell(row.get_ref(i).expect("a cell"))).collect();
            frame.cells(cells.iter().map(|c| c.as_deref().map_or_else(|| NULL.to_owned(), text_cell)));
            run.rows.push(cells);
        }
        if frame.len() > 20_000 {
            let rows = run.rows.len();
            return Err(format!("REFUSED: the result is over the limit of 5,000 tokens. Size: {rows} rows."));
        }
        let head = if more {
            format!("INCOMPLETE: more than {limit} rows exist; these are the first {limit} that the database returned.\n")
        } else {
            String::new()
        };
        Ok(format!("{head}{} rows, {} columns\n{}", run.rows.len(), names.len(), frame.close()))
    }

    /// The catalogue, as the SQLite dialect reports it.
    fn objects(&self) -> Vec<ObjectDetail> {
        let c = &self.connection;
        let mut list = c
            .prepare("SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name")
            .expect("the catalogue is there");
        let names: Vec<(String, String)> = list
            .query_map([], |r| Ok((r.get(0)?, r.get(1)?)))
            .expect("the catalogue is read")
            .map(|r| r.expect("a name"))
            .collect();
        names
            .into_iter()
            .map(|(kind, name)| {
                let kind = if kind == "view" { ObjectKind::View } else { ObjectKind::Table };
                let mut o = ObjectDetail::new(ObjectName::within("main", name.clone()), kind);
                if kind == ObjectKind::Table {
                    let quoted = name.replace('"', "\"\"");
                    let count: i64 = c
                        .query_row(&format!("SELECT COUNT(*) FROM \"{quoted}\""), [], |r| r.get(0))
                        .expect("rows are counted");
                    o.summary.rows = RowCount::Exactly(u64::try_from(count).expect("a count"));
                }
                let mut info = c.prepare("SELECT name, type, \"notnull\", pk FROM pragma_table_info(?)").expect("a pragma");
                let columns = info
                    .query_map([&name], |r| Ok((r.get(0)?, r.get(1)?, r.get::<_, bool>(2)?, r.get::<_, i64>(3)?)))
                    .expect("columns are read");
                let mut key: Vec<(i64, String)> = Vec::new();
                for column in columns {
                    let (column, data_type, not_null, pk): (String, String, bool, i64) = column.expect("a column");
                    if pk > 0 {
                        key.push((pk, column.clone()));
                    }
                    o.columns.push(Column { name: column, data_type, nullable: Some(!not_null), ..Column::default() });
                }
                key.sort();
                o.primary_key = key.into_iter().map(|(_, n)| n).collect();
                let mut keys = c
                    .prepare("SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?) ORDER BY id, seq")
                    .expect("a pragma");
                let links = keys
                    .query_map([&name], |r| {
                        Ok((r.get::<_, i64>(0)?, r.get::<_, String>(1)?, r.get::<_, String>(2)?, r.get::<_, Option<String>>(3)?))
                    })
                    .expect("keys are read");
                let mut last = -1;
                for link in links {
                    let (id, target, from, to) = link.expect("a key");
                    if id != last {
                        o.foreign_keys.push(ForeignKey {
                            columns: Vec::new(),
                            target: ObjectName::within("main", target),
                            target_columns: Vec::new(),
                        });
                        last = id;
                    }
                    if let Some(key) = o.foreign_keys.last_mut() {
                        key.columns.push(from.clone());
                        key.target_columns.push(to.unwrap_or(from));
                    }
                }
                o
            })
            .collect()
    }

    /// Runs a statement of the test itself.
    pub fn expected(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        let mut statement = self.connection.prepare(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        let width = statement.column_count();
        let mut rows = statement.query([]).unwrap_or_else(|e| panic!("{sql}: {e}"));
        let mut out = Vec::new();
        while let Some(row) = rows.next().unwrap_or_else(|e| panic!("{sql}: {e}")) {
            out.push((0..width).map(|i| cell(row.get_ref(i).expect("a cell"))).collect());
        }
        out
    }
}

fn cell(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n.to_string()),
        ValueRef::Real(x) => Some(x.to_string()),
        ValueRef::Text(t) => Some(String::from_utf8_lossy(t).into_owned()),
        ValueRef::Blob(b) => Some(format!("<{} bytes>", b.len())),
    }
}

fn tools() -> Arc<[ToolSpec]> {
    let tool = |name: &str, description: &str, parameters: serde_json::Value| ToolSpec {
        name: name.into(),
        description: description.into(),
        parameters: Arc::new(parameters),
        hints: ToolHints::READ_ONLY,
    };
    Arc::from([
        tool("list_objects", "Lists the tables of the SQLite database.", json!({"type": "object", "properties": {}})),
        tool("describe_objects", "Describes tables.", json!({"type": "object", "properties": {"names": {"type": "array"}}})),
        tool(
            "query",
            "Runs one SQLite statement that only reads.",
            json!({"type": "object", "properties": {
                "statement": {"type": "string"}, "params": {}, "limit": {"type": "integer", "maximum": 1000}
            }}),
        ),
    ])
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime starts").block_on(future)
}

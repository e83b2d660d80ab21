//! Asks the planner through the real agent over a real SQLite file, and reads what it ran.

use std::path::Path;
use std::sync::Arc;

use dbagent_core::artifact::Artifact;
use dbagent_core::observe::ReadTable;
use dbagent_core::tools::render_rows;
use dbagent_core::{Agent, ConnUrl, Database, Target};
use dbagent_offline::Offline;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

pub(crate) type Rows = Vec<Vec<Option<String>>>;

/// What came of a question.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) text: String,
    pub(crate) statements: Vec<String>,
    /// The rows of the last query.
    pub(crate) rows: Rows,
}

/// A database, asked through the agent and directly.
pub(crate) struct Bench {
    agent: Agent,
    direct: Connection,
}

impl Bench {
    pub(crate) fn open(path: &Path) -> Self {
        let url: ConnUrl = format!("sqlite:///{}", path.display()).parse().unwrap();
        let mut target = Target::new("test", url);
        // What is compared is which rows were asked for, not how many of them fit into a prompt.
        target.guardrails.max_result_tokens *= 2;
        let database = Database::new(&dbagent_sqlite::DIALECT, target);
        let agent = Agent::builder(Arc::new(Offline::new())).database(database).build().unwrap();
        let direct = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        Self { agent, direct }
    }

    /// Asks some questions one after the other on one thread; gives what came of the last.
    pub(crate) async fn ask(&self, thread: &str, questions: &[String]) -> Asked {
        let mut asked = Asked::default();
        for question in questions {
            let answer = self.agent.ask(thread, question.as_str()).await.unwrap();
            asked = Asked { text: answer.text, ..Asked::default() };
            for (_, artifact) in answer.artifacts {
                if let Artifact::Rows(rows) = artifact {
                    let shown = render_rows(&rows.schema, &rows.batches, 10_000);
                    asked.rows = ReadTable::from_observation(&shown).map(|t| t.rows).unwrap_or_default();
                    asked.statements.push(rows.statement);
                }
            }
        }
        asked
    }

    /// What a statement of the test itself gives.
    pub(crate) fn expected(&self, sql: &str) -> Rows {
        let mut statement = self.direct.prepare(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        let width = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        let mut out = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            out.push((0..width).map(|i| cell(row.get_ref(i).unwrap())).collect());
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
        ValueRef::Blob(b) => Some(format!("{} bytes", b.len())),
    }
}

//! What the tests share: where the sample is, a scratch database, one call and what the model read of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dbagent::model::{Message, ModelRequest};
use dbagent::{Answer, LightAgent, LightAgentBuilder};
use dbagent_testkit::model::{ScriptedModel, call};

/// The sample of the repository.
pub(crate) fn chinook() -> String {
    url(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data/chinook/chinook.sqlite"))
}

pub(crate) fn url(path: &Path) -> String {
    format!("sqlite:///{}", path.display())
}

/// A database of its own, gone with the folder.
pub(crate) struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    pub(crate) fn new(sql: &str) -> Self {
        let scratch = Self { folder: tempfile::tempdir().unwrap() };
        scratch.execute(sql);
        scratch
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("scratch.db")
    }

    pub(crate) fn url(&self) -> String {
        url(&self.path())
    }

    pub(crate) fn execute(&self, sql: &str) {
        rusqlite::Connection::open(self.path()).unwrap().execute_batch(sql).unwrap();
    }
}

/// What the model read about the calls of its last reply.
pub(crate) fn observations(request: &ModelRequest) -> Vec<String> {
    let mut texts: Vec<String> = request
        .messages
        .iter()
        .rev()
        .map_while(|m| match m {
            Message::Tool(t) => Some(t.text.clone()),
            _ => None,
        })
        .collect();
    texts.reverse();
    texts
}

/// One call on a database, and what the model read of it.
pub(crate) async fn observe(
    builder: LightAgentBuilder,
    tool: &str,
    arguments: serde_json::Value,
) -> (String, Answer) {
    let model = ScriptedModel::new().calls([call(tool, arguments.to_string())]).text("done");
    let agent = builder.model(Arc::new(model.clone())).build().unwrap();
    let answer = agent.ask("q").await.unwrap();
    (observations(&model.requests()[1]).remove(0), answer)
}

/// One statement, and what the model read of it.
pub(crate) async fn query(url: &str, statement: &str) -> String {
    observe(LightAgent::builder().url(url), "query", serde_json::json!({"statement": statement})).await.0
}

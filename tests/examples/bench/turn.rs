//! A turn of the agent with an instant scripted model, a store in memory and one query on Chinook.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use dbagent::LightAgent;
use dbagent::model::{
    Message, Model, ModelError, ModelEvent, ModelProfile, ModelRequest, ModelStream, Reply, ToolCall,
};
use futures_util::{StreamExt as _, stream};

use crate::{Figure, Floor, median};

/// Asks for one query, then answers. Answers at once where it is told [`IDLE`].
pub(crate) struct Instantly {
    /// The arguments of the call, as JSON.
    arguments: String,
}

/// The question to which nothing is looked up.
pub(crate) const IDLE: &str = "say done";

impl Instantly {
    pub(crate) fn asking(statement: &str) -> Self {
        Self { arguments: format!("{{\"statement\":\"{statement}\"}}") }
    }
}

#[dbagent::async_trait]
impl Model for Instantly {
    fn id(&self) -> &'static str {
        "instantly"
    }

    fn profile(&self) -> ModelProfile {
        ModelProfile::default()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let reply = match request.messages.last() {
            Some(Message::Tool(_)) => Reply::text("done"),
            Some(Message::User { text }) if text.contains(IDLE) => Reply::text("done"),
            _ => Reply::calls(vec![ToolCall::new("query", self.arguments.as_str())]),
        };
        Ok(stream::iter([Ok(ModelEvent::End(reply))]).boxed())
    }
}

const STATEMENT: &str =
    "SELECT BillingCountry, sum(Total) FROM Invoice GROUP BY BillingCountry ORDER BY 2 DESC LIMIT 5";

pub(crate) async fn run() -> Vec<Figure> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/chinook/chinook.sqlite");
    let agent = LightAgent::builder()
        .url(format!("sqlite:///{}", path.display()))
        .model(Arc::new(Instantly::asking(STATEMENT)))
        .build()
        .unwrap();
    agent.connect().await.unwrap();
    let mut millis = Vec::new();
    for _ in 0..201 {
        let started = Instant::now();
        let answer = agent.ask("q").await.unwrap();
        millis.push(started.elapsed().as_secs_f64() * 1e3);
        assert_eq!(answer.artifacts.len(), 1);
    }
    vec![Figure {
        what: "a run with one query on Chinook, instant model".to_owned(),
        value: median(millis),
        unit: "ms",
        floor: Floor::Under(2.0),
    }]
}

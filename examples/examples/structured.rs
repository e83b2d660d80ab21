//! An answer as data: it must fit the JSON schema of a Rust type, and one that does not is asked for again.
//!
//! `cargo run --package dbagent-examples --example structured`
//!
//! The model here is scripted and forgets a field the first time, to show the repair.
#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::sync::Arc;

use dbagent::fact::Fact;
use dbagent::{Error, ErrorKind, LightAgent, OutputSchema, serde_json};
use dbagent_testkit::model::{ScriptedModel, call};

/// The longest track of a genre.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct LongestTrack {
    /// Name of the track.
    track: String,
    /// Name of the genre.
    genre: String,
    /// Length in whole minutes.
    minutes: u32,
}

const STATEMENT: &str = "SELECT t.Name, g.Name AS genre, t.Milliseconds / 60000 AS minutes \
     FROM Track t JOIN Genre g USING (GenreId) ORDER BY t.Milliseconds DESC LIMIT 1";

#[tokio::main]
async fn main() -> dbagent::Result<()> {
    let model = ScriptedModel::new()
        .calls([call("query", serde_json::json!({"statement": STATEMENT}))])
        .text(r#"{"track": "Occupation / Precipice", "genre": "TV Shows"}"#)
        .text(r#"{"track": "Occupation / Precipice", "genre": "TV Shows", "minutes": 88}"#);
    let agent = LightAgent::builder()
        .url("sqlite:///tests/data/chinook/chinook.sqlite")
        .model(Arc::new(model))
        .output(OutputSchema::of::<LongestTrack>()?)
        .build()?;

    let answer = agent.ask("Which track is the longest, and how long is it?").await?;

    for record in &answer.facts {
        if let Fact::MessageInjected { text, .. } = &record.fact {
            println!("asked again: {}", text.lines().last().unwrap_or_default());
        }
    }
    let value = answer.structured.ok_or_else(|| {
        Error::new(ErrorKind::Model, "the run ended without an answer that fits the schema")
    })?;
    let longest: LongestTrack = serde_json::from_value(value)
        .map_err(|e| Error::new(ErrorKind::Model, "the answer does not fit the type").source(e))?;
    println!("{longest:?}");
    println!("{} of the genre {} takes {} minutes", longest.track, longest.genre, longest.minutes);
    Ok(())
}

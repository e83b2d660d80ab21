//! A run as it happens: each call, each judged statement, the rows, the words of the answer.
//!
//! `cargo run --package dbagent-examples --example stream_events`
//!
//! A second question continues the same thread. Dropping the events stops nothing; `run.cancel()` does.
#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use dbagent::LightAgent;
use dbagent::event::EventKind;
use dbagent::fact::Fact;
use dbagent::text::{counted, shorten};

#[tokio::main]
async fn main() -> dbagent::Result<()> {
    let agent = LightAgent::builder().url("sqlite:///tests/data/chinook/chinook.sqlite").build()?;
    let thread = agent.new_thread();
    for question in ["How many customers are in Canada?", "Which three genres have the most tracks?"] {
        println!("you: {question}");
        let run = agent.stream(&thread, question);
        let mut events = run.events();
        while let Some(event) = events.next().await {
            show(&event.kind);
        }
        let answer = run.outcome().await?;
        println!("dbagent: {}\n", answer.text);
    }
    let facts = agent.agent().store().load(&thread, 0).await?;
    println!("The thread remembers {} facts; its state is their fold.", facts.len());
    Ok(())
}

fn show(event: &EventKind) {
    match event {
        // Facts are what the thread remembers; everything else is only for whoever watches.
        EventKind::Fact(record) => match &record.fact {
            Fact::CallReady { key, arguments } => println!("  {key}: called with {}", line(arguments)),
            Fact::CallFinished { key, is_error, .. } => {
                println!("  {key}: {}", if *is_error { "did not work" } else { "done" });
            }
            _ => {}
        },
        EventKind::Judged { statement, refusal: None, .. } => println!("  cleared: {}", line(statement)),
        EventKind::Judged { statement, refusal: Some(why), .. } => {
            println!("  refused: {}: {why}", line(statement));
        }
        EventKind::Ran { rows, complete, elapsed, .. } => {
            let rows = counted(*rows, "row", "rows");
            println!("  {rows}{} in {elapsed:?}", if *complete { "" } else { ", incomplete" });
        }
        // Kinds that a later version adds are passed over.
        _ => {}
    }
}

/// A statement on one line, shortened with a word on by how much.
fn line(text: &str) -> String {
    shorten(&text.split_whitespace().collect::<Vec<_>>().join(" "), 100)
}

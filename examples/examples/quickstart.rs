//! Asks one question about a database, with the planner that needs no language model.
//!
//! `cargo run --package dbagent-examples --example quickstart`; the README shows what follows.
#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use dbagent::LightAgent;

#[tokio::main]
async fn main() -> dbagent::Result<()> {
    // No model is named, so the offline planner answers: no network, no key.
    let agent = LightAgent::builder().url("sqlite:///tests/data/chinook/chinook.sqlite").build()?;

    let answer = agent.ask("Which five artists have the most albums?").await?;

    println!("{}", answer.text);
    println!("{}", agent.metrics().summary());
    Ok(())
}

//! The guard and the database without any model: a program judges statements and reads rows.
//!
//! `cargo run --package dbagent-examples --example guarded_session`
//!
//! This is the road that every tool of an agent takes: judge, estimate, read. What is cleared is a value
//! that cannot be made, copied or kept; reading consumes it.
#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;
use std::time::Duration;

use dbagent::request::{Param, Params};
use dbagent::rows::Cell;
use dbagent::session::Verdict;
use dbagent::text::counted;
use dbagent::tools::column_type;
use dbagent::{CallContext, ConnUrl, GuardedSession, Policy, Registry, Request, Target};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url: ConnUrl = "sqlite:///tests/data/chinook/chinook.sqlite".parse()?;
    let dialect = Registry::collected()?.for_url(&url)?;
    let mut target = Target::new("chinook", url);
    target.policy = Policy::default().deny("main.Customer.Email")?;
    target.guardrails.max_cell_bytes = 64 << 10;

    let call = CallContext::within(Duration::from_secs(10));
    let session = GuardedSession::open(dialect, target, &call).await?;
    println!("connected to {}\n", session.server(&call).await?);

    // Values are bound, never written into the text.
    let by_country = Request::text(
        "SELECT FirstName || ' ' || LastName AS customer, City, SupportRepId FROM Customer WHERE Country = ? ORDER BY 1",
    )
    .with_params(Params::Positional(vec![Param::Text("Canada".into())]));
    read(&session, by_country, &call).await?;

    for refused in [
        "SELECT FirstName, Email FROM Customer",
        "SELECT * FROM Customer",
        "DELETE FROM Customer WHERE CustomerId = 1",
        "SELECT 1; DROP TABLE Customer",
        "ATTACH DATABASE 'elsewhere.db' AS other",
        "SELECT load_extension('anything')",
    ] {
        read(&session, Request::text(refused), &call).await?;
    }
    session.close().await;
    Ok(())
}

/// Judges a statement and prints its first rows, or why it does not run.
async fn read(session: &GuardedSession, request: Request, call: &CallContext) -> dbagent::Result<()> {
    println!("> {}", request.as_str());
    let cleared = match session.judge(request, Some(3), call).await? {
        Verdict::Cleared(cleared) => cleared,
        Verdict::Refused(refusal) => {
            println!("  refused: {refusal}\n");
            return Ok(());
        }
        // Only on a target whose access is `Access::Propose`; ours reads.
        Verdict::Proposed(_) => {
            println!("  a person would have to approve this\n");
            return Ok(());
        }
    };
    if let Err(refusal) = session.estimate(&cleared, call).await? {
        println!("  refused: {refusal}\n");
        return Ok(());
    }
    let mut rows = session.read(cleared, call)?;
    while let Some(batch) = rows.next().await? {
        // A batch is an Arrow record batch; `Cell` reads any value of it as text or JSON without loss.
        let schema = batch.schema();
        let columns: Vec<_> =
            schema.fields().iter().map(|f| format!("{} ({})", f.name(), column_type(f))).collect();
        println!("  {}", columns.join(" | "));
        for row in 0..batch.num_rows() {
            let cells: Vec<_> =
                (0..batch.num_columns()).map(|column| Cell::at(&batch, column, row).to_text()).collect();
            println!("  {}", cells.join(" | "));
        }
    }
    let ending = rows.ending();
    let rows = counted(ending.rows, "row", "rows");
    println!("  {rows}{}\n", if ending.more_rows { ", and there are more" } else { "" });
    Ok(())
}

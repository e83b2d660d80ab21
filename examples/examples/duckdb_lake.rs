//! A folder of files as a database: CSV files are asked in SQL, guarded like any other database.
//!
//! `cargo run --package dbagent-examples --features dbagent/duckdb --example duckdb_lake`
//!
//! It needs the library of DuckDB; `crates/dbagent-duckdb/README.md` says how to get it.
#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;
use std::time::Duration;

use dbagent::catalog::Page;
use dbagent::rows::Cell;
use dbagent::session::Verdict;
use dbagent::{CallContext, ConnUrl, GuardedSession, Registry, Request, Target};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    for (file, text) in [
        ("customers.csv", "id,name,country\n1,Ann,FR\n2,Bob,DE\n3,Cem,DE\n"),
        ("orders_2023.csv", "customer,total\n1,10.50\n2,20.00\n"),
        ("orders_2024.csv", "customer,total\n2,5.25\n3,7.00\n"),
    ] {
        std::fs::write(folder.path().join(file), text)?;
    }

    // The slash at the end makes the folder a database.
    let url = ConnUrl::parse(&format!("duckdb:///{}/", folder.path().display()))?;
    let dialect = Registry::collected()?.for_url(&url)?;
    let call = CallContext::within(Duration::from_secs(10));
    let session = GuardedSession::open(dialect, Target::new("shop", url), &call).await?;

    for object in session.objects(None, Page::default(), &call).await?.objects {
        println!("{} ({})", object.name, object.comment.unwrap_or_default());
    }
    for statement in [
        "SELECT country, sum(total) AS total FROM orders JOIN customers ON customer = id GROUP BY ALL ORDER BY ALL",
        "SELECT * FROM '/etc/passwd.csv'",
        "COPY customers TO 'stolen.csv'",
    ] {
        println!("\n> {statement}");
        let cleared = match session.judge(Request::text(statement), Some(10), &call).await? {
            Verdict::Cleared(cleared) => cleared,
            Verdict::Refused(refusal) => {
                println!("  refused: {refusal}");
                continue;
            }
            Verdict::Proposed(_) => continue,
        };
        let mut rows = session.read(cleared, &call)?;
        while let Some(batch) = rows.next().await? {
            for row in 0..batch.num_rows() {
                let cells: Vec<String> =
                    (0..batch.num_columns()).map(|column| Cell::at(&batch, column, row).to_text()).collect();
                println!("  {}", cells.join("  "));
            }
        }
    }
    session.close().await;
    Ok(())
}

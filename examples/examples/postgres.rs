//! A question to PostgreSQL by hand: what is there, what a read would cost, its rows, and what is refused.
//!
//! `cargo run --package dbagent-examples --example postgres -- postgres://reader:password@127.0.0.1/chinook`
//!
//! Without a URL it takes the one of the server that `cargo xtask services` started, if there is one.
#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;
use std::time::Duration;

use dbagent::catalog::Page;
use dbagent::request::{Param, Params};
use dbagent::rows::Cell;
use dbagent::session::Verdict;
use dbagent::{CallContext, ConnUrl, GuardedSession, Request, Target};

static POSTGRES: dbagent::Dialect = dbagent::postgres::DIALECT;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    const READER: &str = "DBAGENT_TEST_POSTGRES_READER_URL";
    let Some(url) = std::env::args().nth(1).or_else(|| std::env::var(READER).ok()) else {
        println!("SKIPPED postgres: no URL is given and {READER} is not set");
        return Ok(());
    };
    let call = CallContext::within(Duration::from_secs(30));
    let target = Target::new("chinook", ConnUrl::parse(&url)?);
    let session = GuardedSession::open(&POSTGRES, target, &call).await?;
    println!("connected to {}\n", session.server(&call).await?);

    let tables = session.objects(None, Page { offset: 0, size: 5 }, &call).await?;
    for table in &tables.objects {
        println!("{} {}, {} rows", table.kind.as_str(), table.name, table.rows);
    }
    println!("{} in all\n", tables.total);

    // Values are bound, never written into the text.
    let dearest = Request::text(
        "SELECT billing_country AS country, sum(total) AS total, array_agg(DISTINCT extract(year FROM invoice_date)) AS years \
         FROM invoice WHERE total > $1 AND invoice_date >= $2 GROUP BY billing_country ORDER BY total DESC",
    )
    .with_params(Params::Positional(vec![Param::Decimal("5.00".into()), Param::Date("2010-01-01".into())]));
    read(&session, dearest, &call).await?;

    for refused in [
        "DELETE FROM customer",
        "SELECT 1; DROP TABLE customer",
        "WITH gone AS (DELETE FROM invoice RETURNING *) SELECT count(*) FROM gone",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT query_to_xml('DROP TABLE customer', true, true, '')",
        "SELECT * FROM customer FOR UPDATE",
        "COPY customer TO PROGRAM 'mail'",
    ] {
        read(&session, Request::text(refused), &call).await?;
    }
    session.close().await;
    Ok(())
}

/// Judges a statement and prints its first rows with what the planner expected, or why it does not run.
async fn read(session: &GuardedSession, request: Request, call: &CallContext) -> dbagent::Result<()> {
    println!("> {}", request.as_str());
    let cleared = match session.judge(request, Some(3), call).await? {
        Verdict::Cleared(cleared) => cleared,
        Verdict::Refused(refusal) => {
            println!("  refused: {refusal}\n");
            return Ok(());
        }
        Verdict::Proposed(_) => {
            println!("  a person would have to approve it\n");
            return Ok(());
        }
    };
    match session.estimate(&cleared, call).await? {
        Ok(estimate) => {
            println!("  expected rows: {:?}, rows read: {:?}", estimate.rows_out, estimate.rows_scanned);
        }
        Err(refusal) => {
            println!("  refused: {refusal}\n");
            return Ok(());
        }
    }
    let mut rows = session.read(cleared, call)?;
    while let Some(batch) = rows.next().await? {
        for row in 0..batch.num_rows() {
            let cells: Vec<String> =
                (0..batch.num_columns()).map(|column| Cell::at(&batch, column, row).to_text()).collect();
            println!("  {}", cells.join(" | "));
        }
    }
    println!("  more rows exist: {}\n", rows.ending().more_rows);
    Ok(())
}

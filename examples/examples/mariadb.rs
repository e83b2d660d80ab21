//! A question to MariaDB by hand: what is there, one judged read, and what is refused.
//!
//! `cargo run --package dbagent-examples --example mariadb -- mariadb://reader:password@127.0.0.1/chinook`
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

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    const READER: &str = "DBAGENT_TEST_MARIADB_READER_URL";
    let Some(url) = std::env::args().nth(1).or_else(|| std::env::var(READER).ok()) else {
        println!("SKIPPED mariadb: no URL is given and {READER} is not set");
        return Ok(());
    };
    let call = CallContext::within(Duration::from_secs(30));
    let target = Target::new("chinook", ConnUrl::parse(&url)?);
    let session = GuardedSession::open(&dbagent_mariadb::DIALECT, target, &call).await?;
    println!("connected to {}\n", session.server(&call).await?);

    let tables = session.objects(None, Page { offset: 0, size: 5 }, &call).await?;
    for table in &tables.objects {
        println!("{} {}, {} rows", table.kind.as_str(), table.name, table.rows);
    }
    println!("{} in all\n", tables.total);

    // Values are bound, never written into the text.
    let dearest = Request::text(
        "SELECT i.BillingCountry AS country, SUM(i.Total) AS total, MAX(i.InvoiceDate) AS last_seen \
         FROM Invoice i WHERE i.Total > ? GROUP BY i.BillingCountry ORDER BY total DESC",
    )
    .with_params(Params::Positional(vec![Param::Decimal("5.00".into())]));
    read(&session, dearest, &call).await?;

    for refused in [
        "DELETE FROM Customer",
        "SELECT 1; DROP TABLE Customer",
        "SELECT /*!50000 SLEEP(100) */ 1",
        "SELECT LOAD_FILE('/etc/passwd')",
        "SELECT * FROM Customer INTO OUTFILE '/tmp/customers'",
        "SELECT @total := SUM(Total) FROM Invoice",
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
        Verdict::Proposed(_) => return Ok(()),
    };
    let mut rows = session.read(cleared, call)?;
    while let Some(batch) = rows.next().await? {
        for row in 0..batch.num_rows() {
            let cells: Vec<_> =
                (0..batch.num_columns()).map(|column| Cell::at(&batch, column, row).to_text()).collect();
            println!("  {}", cells.join(" | "));
        }
    }
    println!("{}", if rows.ending().more_rows { "  and there are more\n" } else { "" });
    Ok(())
}

//! The statements in `docs/guardrails.md` are judged as the page says.
#![expect(clippy::unwrap_used, reason = "a page that cannot be read fails the test")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use dbagent::session::Verdict;
use dbagent::{CallContext, ConnUrl, GuardedSession, Policy, Registry, Request, Target};

/// The table that follows a heading, as pairs of a statement and what the page says of it.
fn table(page: &str, heading: &str) -> Vec<(String, String)> {
    let section = page.split_once(heading).unwrap().1;
    let section = section.split_once("\n#").map_or(section, |(section, _)| section);
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"));
    rows.map(|row| {
        let (statement, rest) = row.split_once('`').unwrap();
        let (_, says) = rest.rsplit_once("| ").unwrap();
        (statement.to_owned(), says.to_owned())
    })
    .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_statements_on_the_page_are_judged_as_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = fs::read_to_string(root.join("docs/guardrails.md")).unwrap();
    let rows = table(&page, "## What it comes to on SQLite");
    assert!(rows.len() > 20, "{rows:?}");

    let file = root.join("tests/data/chinook/chinook.sqlite");
    let url = ConnUrl::parse(&format!("sqlite:///{}", file.display())).unwrap();
    let dialect = Registry::collected().unwrap().for_url(&url).unwrap();
    let mut target = Target::new("chinook", url);
    target.policy = Policy::default().deny("Employee").unwrap().deny("main.Customer.Email").unwrap();
    let call = CallContext::within(Duration::from_secs(60));
    let session = GuardedSession::open(dialect, target, &call).await.unwrap();
    for (statement, says) in rows {
        let verdict = match session.judge(Request::text(&*statement), None, &call).await.unwrap() {
            Verdict::Cleared(_) => "cleared".to_owned(),
            Verdict::Proposed(_) => "proposed".to_owned(),
            Verdict::Refused(refusal) => refusal.rule.to_string(),
        };
        assert_eq!(verdict, says, "{statement}");
    }
}

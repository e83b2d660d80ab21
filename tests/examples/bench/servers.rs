//! The engines beside SQLite: two million rows of mixed types through the whole road against the bare driver, and
//! what a call costs beside its round trips. A server is there when its variable is set, which `cargo xtask bench`
//! does; DuckDB when the program was built with it.

mod mysql;
mod postgres;

use std::sync::Arc;
use std::time::{Duration, Instant};

use dbagent::session::Verdict;
use dbagent::{CallContext, ConnUrl, GuardedSession, LightAgent, Registry, Request, Target};

use crate::memory::{peak, reset_peak, resident};
use crate::turn::{IDLE, Instantly};
use crate::{Figure, Floor, median};

/// Rows of the table that is streamed.
pub(crate) const ROWS: u64 = 2_000_000;
const PAIRS: usize = 7;
const CALLS: usize = 501;

/// Every server that is wanted and there.
pub(crate) async fn run(wanted: &impl Fn(&str) -> bool) -> Vec<Figure> {
    let mut figures = Vec::new();
    if wanted("postgres")
        && let Some(url) = variable("DBAGENT_TEST_POSTGRES_URL")
    {
        figures.extend(postgres::run(&url).await);
    }
    for (id, name) in [("mysql", "DBAGENT_TEST_MYSQL_URL"), ("mariadb", "DBAGENT_TEST_MARIADB_URL")] {
        if wanted(id)
            && let Some(url) = variable(name)
        {
            figures.extend(mysql::run(id, &url).await);
        }
    }
    #[cfg(feature = "duckdb")]
    if wanted("duckdb") {
        figures.extend(crate::duckdb::run().await);
    }
    figures
}

fn variable(name: &str) -> Option<String> {
    let url = std::env::var(name).ok();
    if url.is_none() {
        println!("SKIPPED {name} is not set");
    }
    url
}

/// The bare driver, to which the road is compared.
pub(crate) trait Bare {
    /// Reads every row of the table into values of the language; how many.
    async fn stream(&mut self) -> u64;
    /// Runs `SELECT 1` and reads its value.
    async fn one(&mut self);
}

/// What is measured of one server.
pub(crate) struct Subject {
    /// For the lines of the report.
    pub(crate) id: &'static str,
    /// The address of the database with the table.
    pub(crate) url: String,
    /// Reads every row and column of the table.
    pub(crate) query: &'static str,
    /// About a thousand bytes over the same table.
    pub(crate) long_query: String,
    /// Round trips of one guarded call, where the bare driver has one.
    pub(crate) trips: u32,
    pub(crate) floors: Floors,
}

/// What is asked of the figures.
pub(crate) struct Floors {
    /// The least speed of the stream, as a part of the bare driver's.
    pub(crate) streaming: f64,
    /// The most memory above start-up, in MiB.
    pub(crate) memory: f64,
    /// The most that judging a thousand bytes may take, in microseconds, where something is asked.
    pub(crate) judging: Option<f64>,
}

/// Streams, calls and judges.
pub(crate) async fn measure(subject: &Subject, bare: &mut impl Bare) -> Vec<Figure> {
    let session = open(&subject.url).await;
    let mut figures = stream(subject, &session, bare).await;
    figures.push(road_overhead(subject, &session, bare).await);
    figures.push(agent_overhead(subject, bare).await);
    if let Some(most) = subject.floors.judging {
        figures.push(judging(subject, &session, most).await);
    }
    session.close().await;
    figures
}

async fn stream(subject: &Subject, session: &GuardedSession, bare: &mut impl Bare) -> Vec<Figure> {
    let (mut ratios, mut memory) = (Vec::new(), Vec::new());
    let before = resident();
    for pair in 1..=PAIRS {
        reset_peak();
        let started = Instant::now();
        assert_eq!(road(session, subject.query).await, ROWS);
        let own = started.elapsed().as_secs_f64();
        memory.push((peak() - before) as f64 / 1024.0);
        let started = Instant::now();
        assert_eq!(bare.stream().await, ROWS);
        let driver = started.elapsed().as_secs_f64();
        println!("{}: pair {pair}: road {own:.2} s, bare driver {driver:.2} s", subject.id);
        ratios.push(driver / own);
    }
    vec![
        Figure {
            what: format!("{}: 2 million rows into Arrow, against the bare driver", subject.id),
            value: median(ratios),
            unit: "x",
            floor: Floor::AtLeast(subject.floors.streaming),
        },
        Figure {
            what: format!("{}: memory above start-up meanwhile", subject.id),
            value: memory.iter().copied().fold(0.0, f64::max),
            unit: "MiB",
            floor: Floor::Under(subject.floors.memory),
        },
    ]
}

/// The road alone: judged, estimated, read.
async fn road_overhead(subject: &Subject, session: &GuardedSession, bare: &mut impl Bare) -> Figure {
    let (mut own, mut driver) = (Vec::new(), Vec::new());
    for _ in 0..CALLS {
        let started = Instant::now();
        assert_eq!(road(session, "SELECT 1").await, 1);
        own.push(started.elapsed().as_secs_f64() * 1e6);
        let started = Instant::now();
        bare.one().await;
        driver.push(started.elapsed().as_secs_f64() * 1e6);
    }
    let (own, driver) = (median(own), median(driver));
    println!(
        "{}: SELECT 1 {own:.0} µs in {} round trips, bare driver {driver:.0} µs in one",
        subject.id, subject.trips
    );
    Figure {
        what: format!("{}: judge, estimate, read beside {} round trips", subject.id, subject.trips),
        value: own - driver * f64::from(subject.trips),
        unit: "µs",
        floor: Floor::Under(300.0),
    }
}

/// A tool call of an agent: a run with one query less a run without, so that what every run has falls out.
async fn agent_overhead(subject: &Subject, bare: &mut impl Bare) -> Figure {
    let agent = LightAgent::builder()
        .url(&subject.url)
        .model(Arc::new(Instantly::asking("SELECT 1")))
        .build()
        .unwrap();
    agent.connect().await.unwrap();
    let (mut asking, mut idle, mut driver) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..CALLS {
        let started = Instant::now();
        let answer = agent.ask("q").await.unwrap();
        asking.push(started.elapsed().as_secs_f64() * 1e6);
        assert_eq!(answer.artifacts.len(), 1);
        let started = Instant::now();
        let answer = agent.ask(IDLE).await.unwrap();
        idle.push(started.elapsed().as_secs_f64() * 1e6);
        assert!(answer.artifacts.is_empty());
        let started = Instant::now();
        bare.one().await;
        driver.push(started.elapsed().as_secs_f64() * 1e6);
    }
    let (asking, idle, driver) = (median(asking), median(idle), median(driver));
    println!(
        "{}: an agent's run with one SELECT 1 {asking:.0} µs, without {idle:.0} µs, bare driver {driver:.0} µs. Between \
         the two: one more reply of the model, its call's arguments read, guard, estimate, budget reserved and charged, \
         read, the observation, and the facts of all this appended to a store in memory",
        subject.id
    );
    Figure {
        what: format!("{}: a tool call (guard, budget, facts) beside {} trips", subject.id, subject.trips),
        value: asking - idle - driver * f64::from(subject.trips),
        unit: "µs",
        floor: Floor::Under(300.0),
    }
}

async fn judging(subject: &Subject, session: &GuardedSession, most: f64) -> Figure {
    let mut micros = Vec::new();
    for _ in 0..CALLS {
        let call = long_call();
        let started = Instant::now();
        let verdict = session.judge(Request::text(&subject.long_query), None, &call).await.unwrap();
        micros.push(started.elapsed().as_secs_f64() * 1e6);
        assert!(matches!(verdict, Verdict::Cleared(_)), "{verdict:?}");
    }
    Figure {
        what: format!("{}: judging {} bytes, warm catalogue", subject.id, subject.long_query.len()),
        value: median(micros),
        unit: "µs",
        floor: Floor::Under(most),
    }
}

/// A query of about a thousand bytes over the table that is streamed.
pub(crate) fn long_query() -> String {
    let mut text =
        String::from("SELECT t.name, count(*) AS n, sum(t.amount) FROM mixed t WHERE t.flag IS NOT NULL");
    let mut n = 0;
    while text.len() < 1_000 {
        n += 1;
        text.push_str(&format!(" AND (t.amount > {n} OR lower(t.note) LIKE '%{n} of it')"));
    }
    text.push_str(" GROUP BY t.name ORDER BY n DESC LIMIT 10");
    text
}

/// Opens a session on a database.
pub(crate) async fn open(url: &str) -> GuardedSession {
    let url = ConnUrl::parse(url).unwrap();
    let dialect = Registry::collected().unwrap().for_url(&url).unwrap();
    let mut target = Target::new("bench", url);
    target.guardrails.query_timeout_s = 600;
    target.guardrails.explain_row_threshold = 2 * ROWS;
    GuardedSession::open(dialect, target, &long_call()).await.unwrap()
}

/// One statement by every step of the road; how many rows came.
async fn road(session: &GuardedSession, query: &str) -> u64 {
    let call = long_call();
    let verdict = session.judge(Request::text(query), None, &call).await.unwrap();
    let Verdict::Cleared(cleared) = verdict else { unreachable!("a plain read is cleared: {verdict:?}") };
    session.estimate(&cleared, &call).await.unwrap().unwrap();
    let mut rows = session.read(cleared, &call).unwrap();
    let mut seen = 0;
    while let Some(batch) = rows.next().await.unwrap() {
        seen += batch.num_rows() as u64;
    }
    seen
}

pub(crate) fn long_call() -> CallContext {
    CallContext::within(Duration::from_secs(600))
}

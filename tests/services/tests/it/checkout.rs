//! The servers that stay: up, down, two checkouts side by side.

use dbagent_services::{State, Up};

use crate::client::{Answer, mysql, mysql_url, nobody_listens, postgres, postgres_url};
use crate::{Scratch, had, has_ended, pid, variable};

const SHARED: &[&str] = &["packages", "golden"];

#[test]
fn a_server_stays_up_until_it_is_told_and_comes_back_with_what_it_held() {
    let Some(scratch) = Scratch::sharing(SHARED, "postgres") else { return };
    let checkout = scratch.checkout("one");
    assert_eq!(checkout.status("postgres").unwrap().state, State::Down);
    assert!(checkout.variables("postgres").unwrap().is_empty());
    assert!(checkout.log("postgres").unwrap().is_none());
    let Some(up) = had("postgres", checkout.up("postgres")) else { return };
    assert_eq!(up, Up::Started);
    let first = pid(&checkout, "postgres").unwrap();
    assert_eq!(checkout.up("postgres").unwrap(), Up::WasUp);
    assert_eq!(pid(&checkout, "postgres"), Some(first));

    let url = variable(&checkout, "postgres", "DBAGENT_TEST_POSTGRES_URL").unwrap();
    let kept = "CREATE TABLE kept AS SELECT 'here'::text AS x";
    assert_eq!(postgres(&postgres_url(&url), kept), Answer::Nothing);
    let status = checkout.status("postgres").unwrap();
    let State::Up { port, memory, .. } = status.state else { panic!("{status:?}") };
    assert!(memory > 1_000_000 && status.size > 10_000_000, "{status:?}");
    assert!(status.version.unwrap().starts_with("18."));

    assert_eq!(checkout.down("postgres").unwrap(), ["postgres"]);
    assert!(has_ended(first) && nobody_listens(port));
    assert!(checkout.down("postgres").unwrap().is_empty());
    assert!(checkout.variables("postgres").unwrap().is_empty());

    assert_eq!(checkout.up("postgres").unwrap(), Up::Started);
    let again = variable(&checkout, "postgres", "DBAGENT_TEST_POSTGRES_URL").unwrap();
    assert_eq!(again, url, "the same port and password, so that nothing need be told anew");
    assert_eq!(postgres(&postgres_url(&url), "SELECT x FROM kept"), Answer::text("here"));
    let log = checkout.log("postgres").unwrap().unwrap();
    assert!(std::fs::read_to_string(log).unwrap().matches("ready to accept connections").count() == 2);

    assert_eq!(checkout.wipe("postgres").unwrap(), ["postgres"]);
    assert!(!checkout.folder("postgres").exists());
    assert_eq!(checkout.up("postgres").unwrap(), Up::Started);
    let afresh = variable(&checkout, "postgres", "DBAGENT_TEST_POSTGRES_URL").unwrap();
    assert_ne!(afresh, url);
    assert_eq!(postgres(&postgres_url(&afresh), "SELECT x FROM kept"), Answer::refused("42P01"));
}

#[test]
fn two_checkouts_do_not_disturb_each_other() {
    let Some(scratch) = Scratch::sharing(SHARED, "mariadb") else { return };
    let (one, other) = (scratch.checkout("one"), scratch.checkout("other"));
    // At the same time: neither waits for the other, nor takes its port.
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| one.up("mariadb"));
        (other.up("mariadb"), first.join().unwrap())
    });
    let (Some(_), Some(_)) = (had("mariadb", first), had("mariadb", second)) else { return };
    let url = |checkout| variable(checkout, "mariadb", "DBAGENT_TEST_MARIADB_URL").unwrap();
    assert_ne!(url(&one), url(&other));
    assert_ne!(pid(&one, "mariadb"), pid(&other, "mariadb"));

    assert_eq!(mysql(&mysql_url(&url(&one)), "CREATE TABLE mine (x int)"), Answer::Nothing);
    assert_eq!(mysql(&mysql_url(&url(&other)), "SELECT 'x' FROM mine"), Answer::refused("1146"));
    assert_eq!(one.down("mariadb").unwrap(), ["mariadb"]);
    let count = "SELECT CAST(COUNT(*) AS CHAR) FROM Album";
    assert_eq!(mysql(&mysql_url(&url(&other)), count), Answer::text("347"));
}

#[test]
fn the_pooler_comes_with_its_server_goes_before_it_and_follows_it() {
    let Some(scratch) = Scratch::sharing(SHARED, "pgbouncer") else { return };
    let checkout = scratch.checkout("one");
    if had("pgbouncer", checkout.up("pgbouncer")).is_none() {
        return;
    }
    assert!(pid(&checkout, "postgres").is_some());
    let url = || variable(&checkout, "pgbouncer", "DBAGENT_TEST_POSTGRES_PGBOUNCER_URL").unwrap();
    let count = "SELECT count(*)::text FROM album";
    // Through a pooler that hands statements out to any connection, none may be kept prepared.
    let options = |url: &str| postgres_url(url).statement_cache_capacity(0);
    assert_eq!(postgres(&options(&url()).extra_float_digits(None), count), Answer::text("347"));
    let refused = postgres(&options(&url()), count);
    assert_eq!(refused, Answer::refused("08P01"), "it refuses start-up parameters that it does not know");

    assert_eq!(checkout.down("postgres").unwrap(), ["pgbouncer", "postgres"]);
    checkout.wipe("postgres").unwrap();
    // Another server now, with other passwords and another port.
    assert_eq!(checkout.up("pgbouncer").unwrap(), Up::Started);
    assert_eq!(postgres(&options(&url()).extra_float_digits(None), count), Answer::text("347"));
}

#[test]
fn what_tests_started_goes_with_the_last_of_them_and_what_a_person_started_stays() {
    let Some(scratch) = Scratch::sharing(SHARED, "postgres") else { return };
    let checkout = scratch.checkout("one");
    let Some(first) = had("postgres", checkout.lease("postgres")) else { return };
    assert_eq!(first.up(), Up::Started);
    let second = checkout.lease("postgres").unwrap();
    assert_eq!(second.up(), Up::WasUp);
    assert!(!first.give_back().unwrap());
    assert!(pid(&checkout, "postgres").is_some(), "the second run still needs it");
    assert!(second.give_back().unwrap());
    assert_eq!(pid(&checkout, "postgres"), None);

    checkout.up("postgres").unwrap();
    assert!(!checkout.lease("postgres").unwrap().give_back().unwrap());
    assert!(pid(&checkout, "postgres").is_some(), "it was up before");
    checkout.down("postgres").unwrap();

    let started = checkout.lease("postgres").unwrap();
    assert_eq!(checkout.up("postgres").unwrap(), Up::WasUp);
    assert!(!started.give_back().unwrap());
    assert!(pid(&checkout, "postgres").is_some(), "somebody asked for it meanwhile");
}

#[test]
fn the_library_of_duckdb_is_fetched_and_there_is_nothing_to_stop() {
    let Some(scratch) = Scratch::sharing(&["packages"], "duckdb") else { return };
    let checkout = scratch.checkout("one");
    if had("duckdb", checkout.up("duckdb")).is_none() {
        return;
    }
    assert_eq!(checkout.status("duckdb").unwrap().state, State::Ready);
    assert_eq!(checkout.client("duckdb").unwrap(), None);
    let Some(empty) = Scratch::sharing(&[], "duckdb") else { return };
    assert_eq!(empty.checkout("one").client("duckdb").unwrap(), Some("mvn"));
    let folder = variable(&checkout, "duckdb", "DUCKDB_LIB_DIR").unwrap();
    let library = std::path::Path::new(&folder).join("libduckdb.so");
    assert!(library.metadata().unwrap().len() > 50_000_000);
    assert!(checkout.down("duckdb").unwrap().is_empty());
    assert!(library.exists());
}

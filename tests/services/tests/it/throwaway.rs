//! The server that belongs to one test.

use std::os::unix::fs::PermissionsExt;

use dbagent_services::Server;

use crate::client::{
    Answer, Asked, ask_mysql, ask_postgres, mysql, mysql_url, nobody_listens, postgres, postgres_url,
};
use crate::{has_ended, server};

#[test]
fn postgres_freezes_thaws_dies_and_comes_back() {
    let Some(server) = server("postgres") else { return };
    assert!(server.pids().len() > 3, "a postmaster has children: {:?}", server.pids());
    let options = postgres_url(server.url());
    assert_eq!(postgres(&options, "CREATE TABLE kept AS SELECT 'here'::text AS x"), Answer::Nothing);
    freezes_thaws_dies_and_comes_back(server, ask_postgres, || postgres(&options, "SELECT x FROM kept"));
}

#[test]
fn mysql_freezes_thaws_dies_and_comes_back() {
    of_mysql("mysql");
}

#[test]
fn mariadb_freezes_thaws_dies_and_comes_back() {
    of_mysql("mariadb");
}

fn of_mysql(name: &str) {
    let Some(server) = server(name) else { return };
    let options = mysql_url(server.url());
    assert_eq!(mysql(&options, "CREATE TABLE kept AS SELECT 'here' AS x"), Answer::Nothing);
    freezes_thaws_dies_and_comes_back(server, ask_mysql, || mysql(&options, "SELECT x FROM kept"));
}

fn freezes_thaws_dies_and_comes_back(
    mut server: Server,
    ask: impl Fn(u16) -> std::io::Result<Asked>,
    read_back: impl Fn() -> Answer,
) {
    let port = server.port();
    let before = server.pids();
    server.freeze().unwrap();
    // The kernel takes the connection; nobody answers.
    let mut asked = ask(port).unwrap();
    assert!(asked.is_silent());
    server.thaw().unwrap();
    assert!(asked.is_answered());
    drop(asked);

    server.kill().unwrap();
    assert!(nobody_listens(port));
    assert!(before.iter().all(|pid| has_ended(*pid)), "{before:?}");
    assert!(server.pids().is_empty());
    assert!(server.freeze().unwrap_err().to_string().contains("restart it first"));

    server.restart().unwrap();
    assert_eq!((server.port(), read_back()), (port, Answer::text("here")), "after a crash");
    let before = server.pids();
    server.freeze().unwrap();
    server.restart().unwrap();
    assert_eq!((server.port(), read_back()), (port, Answer::text("here")), "after an end in order");
    assert!(before.iter().all(|pid| !server.pids().contains(pid)));
}

#[test]
fn a_frozen_server_is_gone_after_a_panic_of_its_test() {
    let Some(server) = server("postgres") else { return };
    let (port, pids, log) = (server.port(), server.pids(), server.log());
    assert!(log.exists());
    let died = std::thread::spawn(move || {
        server.freeze().unwrap();
        panic!("as a failed assertion would");
    });
    assert!(died.join().is_err());
    assert!(nobody_listens(port));
    assert!(pids.iter().all(|pid| has_ended(*pid)), "{pids:?}");
    assert!(!log.exists());
}

#[test]
fn a_test_has_its_server_otherwise() {
    let Some(_) = server("postgres") else { return };
    let server = Server::throwaway_with("postgres", &["-c", "max_connections=7"]).unwrap();
    assert_eq!(postgres(&postgres_url(server.url()), "SHOW max_connections"), Answer::text("7"));
    let error = Server::throwaway_with("postgres", &["-c", "no_such_setting=1"]).unwrap_err().to_string();
    assert!(error.contains("no_such_setting"), "{error}");
}

#[test]
fn a_server_whose_accounts_cannot_be_made_is_none() {
    for name in ["mysql", "mariadb"] {
        if server(name).is_none() {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("accounts.sql");
        std::fs::write(&script, "ALTER USER somebody_else IDENTIFIED BY 'x';\n").unwrap();
        // The server reads it under an account of its own.
        for (path, mode) in [(folder.path(), 0o755), (&script, 0o644)] {
            std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        }
        let argument = format!("--init-file={}", script.display());
        let error = Server::throwaway_with(name, &[&argument]).unwrap_err().to_string();
        assert!(error.contains("ALTER USER failed"), "{name}: {error}");
    }
}

#[test]
fn what_cannot_be_had_alone_or_at_all_is_an_error_that_says_so() {
    let of = |name| Server::throwaway(name).unwrap_err().to_string();
    assert!(of("oracle").contains("postgres, postgres-old"), "{}", of("oracle"));
    assert!(of("duckdb").contains("library"), "{}", of("duckdb"));
    assert!(of("pgbouncer").contains("alone"), "{}", of("pgbouncer"));
}

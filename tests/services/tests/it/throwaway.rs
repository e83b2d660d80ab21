//! The server that belongs to one test.

use std::path::Path;

use dbagent_services::Server;

use crate::probe::{ask_postgres, nobody_listens};
use crate::server;

/// TLS is spoken.
const YES: Option<u8> = Some(b'S');

#[test]
fn postgres_freezes_thaws_dies_and_comes_back() {
    let Some(mut server) = server("postgres") else { return };
    let port = server.port();
    assert_eq!(ask_postgres(port).unwrap().answer(), YES);
    let before = server.pids();
    assert!(before.len() > 3, "a postmaster has children: {before:?}");

    server.freeze().unwrap();
    // The kernel takes the connection; nobody answers.
    let mut asked = ask_postgres(port).unwrap();
    assert!(asked.is_silent());
    server.thaw().unwrap();
    assert_eq!(asked.answer(), YES);

    server.kill().unwrap();
    assert!(nobody_listens(port));
    assert!(before.iter().all(|pid| has_ended(*pid)), "{before:?}");
    assert!(server.pids().is_empty());
    assert!(server.freeze().unwrap_err().to_string().contains("restart it first"));

    server.restart().unwrap();
    assert_eq!(server.port(), port);
    assert_eq!(ask_postgres(port).unwrap().answer(), YES);
    server.restart().unwrap();
    assert_eq!(ask_postgres(port).unwrap().answer(), YES);
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
    let server = Server::throwaway_with("postgres", &["-c", "ssl=off"]).unwrap();
    assert_eq!(ask_postgres(server.port()).unwrap().answer(), Some(b'N'));
    let error = Server::throwaway_with("postgres", &["-c", "no_such_setting=1"]).unwrap_err().to_string();
    assert!(error.contains("no_such_setting"), "{error}");
}

#[test]
fn what_does_not_exist_is_an_error_with_what_does() {
    let error = Server::throwaway("oracle").unwrap_err().to_string();
    assert!(error.contains("`oracle`") && error.contains("postgres"), "{error}");
}

fn has_ended(pid: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")) else {
        return true;
    };
    status.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('Z'))
}

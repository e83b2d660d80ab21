//! Pipes, full disks, signals, arguments that are no text.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;

use crate::support::{Place, is_clean, ran};

#[test]
fn piped_output_is_clean() {
    let place = Place::new();
    for args in [
        vec!["ask", "shop.db", "How many tracks are there?"],
        vec!["run", "shop.db", "SELECT * FROM Track"],
        vec!["run", "shop.db", "DELETE FROM Track"],
        vec!["schema", "shop.db"],
        vec!["schema", "shop.db", "Track"],
        vec!["doctor", "shop.db"],
        vec!["judge", "--dialect", "sqlite", "DROP TABLE x"],
        vec!["models"],
        vec!["dialects"],
        vec!["demo", "How many tracks are there?"],
        vec!["config", "show"],
        vec!["--help"],
        vec!["nonsense"],
    ] {
        let ran = place.run(&args);
        assert!(is_clean(&ran.out), "{args:?}: {ran:?}");
        assert!(is_clean(&ran.err), "{args:?}: {ran:?}");
        assert!(!ran.err.contains("panicked"), "{args:?}: {ran:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let place = Place::new();
    for args in [
        vec!["run", "shop.db", "SELECT * FROM Track"],
        vec!["run", "shop.db", "SELECT * FROM Track", "--all", "--format", "csv"],
        vec!["ask", "shop.db", "How many tracks are there?"],
        vec!["schema", "shop.db"],
        vec!["doctor", "shop.db"],
        vec!["judge", "--dialect", "sqlite", "SELECT 1"],
        vec!["config", "schema"],
        vec!["completions", "bash"],
        vec!["help-markdown"],
        vec!["--help"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ran = ran(place.command(&args).stdout(full));
        assert_eq!(ran.code, 6, "{args:?}: {ran:?}");
        assert!(ran.err.contains("the output could not be written"), "{args:?}: {ran:?}");
        assert!(!ran.err.contains("panicked"), "{args:?}: {ran:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_error_stops_nothing() {
    let place = Place::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let ran = ran(place.command(["run", "shop.db", "SELECT 1 a", "-f", "csv"]).stderr(full));
    assert_eq!((ran.code, ran.out.as_str()), (0, "a\n1\n"));
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let place = Place::new();
    let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";
    let mut child = place.command(["run", "shop.db", endless, "--all", "-f", "csv"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "x");
    drop(lines);
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{err}");
    assert_eq!(err, "");
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_the_statement_and_ends_with_130() {
    let place = Place::new();
    let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";
    let mut child = place.command(["run", "shop.db", endless, "--all", "-f", "csv"]).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    // What was on its way must be taken, or the writer waits.
    let rest = std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{err}");
    assert!(err.contains("cancelled"), "{err}");
    rest.join().unwrap().unwrap();
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_question_and_not_the_chat() {
    let place = Place::new();
    // A model server that is asked and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let model = format!("http://{}/v1#m", silent.local_addr().unwrap());
    let mut chat = place.command(["chat", "shop.db", "--model", &model]);
    let mut child = chat.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "How many tracks?").unwrap();
    let asked = silent.accept().unwrap();
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    writeln!(stdin, "/sql SELECT 6 * 7 answer").unwrap();
    drop(stdin);
    let said = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
    assert_eq!(said.status.code(), Some(0), "{out}{err}");
    assert!(out.contains(" 42\n"), "{out}{err}");
    assert!(err.contains("Cancelled."), "{err}");
    drop(asked);
}

#[cfg(unix)]
#[test]
fn arguments_that_are_no_text_are_an_error() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let place = Place::new();
    let bad = OsStr::from_bytes(b"SELECT \xff");
    for args in [
        vec![OsStr::new("run"), OsStr::new("shop.db"), bad],
        vec![OsStr::new("ask"), OsStr::new("shop.db"), bad],
        vec![OsStr::new("run"), bad, OsStr::new("SELECT 1")],
        vec![OsStr::new("judge"), OsStr::new("--dialect"), OsStr::new("sqlite"), bad],
        vec![bad],
    ] {
        let ran = place.run(&args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.err.contains("error:") && !ran.err.contains("panicked"), "{args:?}: {ran:?}");
    }
}

#[test]
fn a_closed_standard_input_is_no_hang() {
    let place = Place::new();
    let ran = ran(place.command(["chat", "shop.db"]).stdin(Stdio::null()));
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[cfg(unix)]
#[test]
fn a_demo_that_is_terminated_leaves_nothing_behind() {
    let place = Place::new();
    for signal in ["-TERM", "-HUP"] {
        // A model server that is asked and never answers.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let model = format!("http://{}/v1#m", silent.local_addr().unwrap());
        let mut child = place.command(["demo", "--model", &model, "How many tracks?"]).spawn().unwrap();
        let asked = silent.accept().unwrap();
        let left = || std::fs::read_dir(place.path("tmp")).unwrap().count();
        assert_eq!(left(), 1, "the sample is unpacked");
        let kill = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(143), "{err}");
        assert_eq!(left(), 0, "{signal}");
        drop(asked);
    }
}

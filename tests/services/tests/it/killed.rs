//! A run that is killed leaves nothing that blocks the next one.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dbagent_services::{Cache, Checkout, Server, State, Up};

use crate::client::{Answer, mysql, mysql_url, postgres, postgres_url};
use crate::{Scratch, had, has_ended, pid, server, variable};

/// Set in a child: what it is to do.
const CHILD: &str = "DBAGENT_SERVICES_CHILD";

/// Runs this test program again for one test, which does what a child is to do and nothing else.
fn child(test: &str, what: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(CHILD, what);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits for an event that the child is to cause, and kills it there.
fn kill_when(child: &mut Child, event: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_mins(2);
    let mut came = is_so();
    while !came && Instant::now() < end && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
        came = is_so();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(came, "the child ended, or two minutes went by, before this: {event}");
}

#[test]
fn in_the_middle_of_up() {
    if let Ok(what) = std::env::var(CHILD) {
        let (cache, name) = what.split_once('=').unwrap();
        let cache = Cache::at(Path::new(cache)).unwrap();
        let root = cache.path().join("roots/one");
        Checkout::of(cache, &root).unwrap().up(name).unwrap();
        return;
    }
    for name in ["postgres", "mysql"] {
        // The golden folder is made by this test too.
        if server(name).is_none() {
            continue;
        }
        let Some(scratch) = Scratch::sharing(&["packages"], name) else { return };
        let checkout = scratch.checkout("one");
        let start = || {
            let what = format!("{}={name}", scratch.cache.path().display());
            child("killed::in_the_middle_of_up", &what)
        };
        let golden = scratch.cache.path().join("golden");
        let home = checkout.folder(name);
        kill_when(&mut start(), "a golden folder is begun", || !partial(&golden).is_empty());
        assert!(partial(&golden).len() == 1 && !home.join("record").exists());
        works(&checkout, name, Up::Started);
        assert!(partial(&golden).is_empty(), "what the killed run began is swept");
        checkout.wipe(name).unwrap();

        kill_when(&mut start(), "a data folder is being copied", || home.join("data").exists());
        assert!(!home.join("record").exists());
        works(&checkout, name, Up::Started);
        checkout.wipe(name).unwrap();

        // Killed when there is a process and it may not listen yet: it is taken over.
        kill_when(&mut start(), "a server was begun", || pid(&checkout, name).is_some());
        let begun = pid(&checkout, name);
        works(&checkout, name, Up::WasUp);
        assert_eq!(pid(&checkout, name), begun);
    }
}

fn partial(section: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(section) else { return Vec::new() };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().contains(".partial-"))
        .map(|entry| entry.path())
        .collect()
}

fn works(checkout: &Checkout, name: &str, how: Up) {
    assert_eq!(checkout.up(name).unwrap(), how);
    let answer = if name == "postgres" {
        let url = variable(checkout, name, "DBAGENT_TEST_POSTGRES_READER_URL").unwrap();
        postgres(&postgres_url(&url), "SELECT count(*)::text FROM album")
    } else {
        let url = variable(checkout, name, "DBAGENT_TEST_MYSQL_READER_URL").unwrap();
        mysql(&mysql_url(&url), "SELECT CAST(COUNT(*) AS CHAR) FROM Album")
    };
    assert_eq!(answer, Answer::text("347"));
}

#[test]
fn while_it_has_servers_for_its_tests() {
    if let Ok(what) = std::env::var(CHILD) {
        let cache = Cache::at(Path::new(&what)).unwrap();
        let root = cache.path().join("roots/one");
        let out = cache.path().join("leased");
        let _lease = Checkout::of(cache, &root).unwrap().lease("postgres").unwrap();
        std::fs::write(out, "").unwrap();
        loop {
            std::thread::park();
        }
    }
    if server("postgres").is_none() {
        return;
    }
    let Some(scratch) = Scratch::sharing(&["packages", "golden"], "postgres") else { return };
    let checkout = scratch.checkout("one");
    let out = scratch.cache.path().join("leased");
    let mut child =
        child("killed::while_it_has_servers_for_its_tests", &scratch.cache.path().display().to_string());
    kill_when(&mut child, "it has a server", || out.exists());
    assert!(pid(&checkout, "postgres").is_some());
    let lease = checkout.lease("postgres").unwrap();
    assert_eq!(lease.up(), Up::WasUp);
    assert!(lease.give_back().unwrap(), "nobody but the dead wanted it");
    assert_eq!(pid(&checkout, "postgres"), None);
}

#[test]
fn with_children_that_outlive_it_and_a_pid_file_that_names_another_server() {
    let Some(scratch) = Scratch::sharing(&["packages", "golden"], "postgres") else { return };
    let (one, other) = (scratch.checkout("one"), scratch.checkout("other"));
    if had("postgres", one.up("postgres")).is_none() {
        return;
    }
    other.up("postgres").unwrap();
    let (ours, theirs) = (pid(&one, "postgres").unwrap(), pid(&other, "postgres").unwrap());
    // Children that stand still do not notice that their server is gone.
    let children = Command::new("pgrep").args(["--parent", &ours.to_string()]).output().unwrap();
    let children = String::from_utf8(children.stdout).unwrap();
    let children: Vec<u32> = children.lines().map(|pid| pid.parse().unwrap()).collect();
    for child in &children {
        assert!(Command::new("kill").args(["-STOP", &child.to_string()]).status().unwrap().success());
    }
    kill_process(ours);
    assert!(children.len() > 2 && children.iter().all(|child| !has_ended(*child)));
    // The number was given anew, to a process of the very same account.
    let file = one.folder("postgres").join("data/postmaster.pid");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen(&ours.to_string(), &theirs.to_string(), 1)).unwrap();
    assert_eq!(one.status("postgres").unwrap().state, State::Down);
    assert!(one.down("postgres").unwrap().is_empty());
    assert!(!has_ended(theirs));
    works(&one, "postgres", Up::Started);
    assert!(children.iter().all(|child| has_ended(*child)), "none of them may write beside the new ones");
}

#[test]
fn a_throwaway_server_is_swept_by_the_next_when_its_test_was_killed() {
    if let Ok(what) = std::env::var(CHILD) {
        let (cache, out) = what.split_once('=').unwrap();
        let server = Server::throwaway_in(&Cache::at(Path::new(cache)).unwrap(), "postgres", &[]).unwrap();
        server.freeze().unwrap();
        let pids: Vec<String> = server.pids().iter().map(u32::to_string).collect();
        std::fs::write(format!("{out}.new"), pids.join(" ")).unwrap();
        std::fs::rename(format!("{out}.new"), out).unwrap();
        loop {
            std::thread::park();
        }
    }
    let Some(scratch) = Scratch::sharing(&["packages", "golden"], "postgres") else { return };
    let begin = || Server::throwaway_in(&scratch.cache, "postgres", &[]);
    let Some(living) = had("postgres", begin()) else { return };
    let out = scratch.cache.path().join("pids");
    let what = format!("{}={}", scratch.cache.path().display(), out.display());
    let mut child = child("killed::a_throwaway_server_is_swept_by_the_next_when_its_test_was_killed", &what);
    kill_when(&mut child, "it has a server", || out.exists());
    let orphans: Vec<u32> =
        std::fs::read_to_string(&out).unwrap().split(' ').map(|pid| pid.parse().unwrap()).collect();
    assert!(orphans.iter().all(|pid| !has_ended(*pid)));

    let _next = begin().unwrap();
    assert!(orphans.iter().all(|pid| has_ended(*pid)), "{orphans:?}");
    assert_eq!(postgres(&postgres_url(living.url()), "SELECT 'lives'::text"), Answer::text("lives"));
    let folders = std::fs::read_dir(scratch.cache.path().join("throwaway")).unwrap().flatten();
    assert_eq!(folders.filter(|entry| entry.path().is_dir()).count(), 2, "of the living and of the next");
}

/// As the kernel does when memory is short. The children of a postmaster end by themselves.
fn kill_process(pid: u32) {
    let status = Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap();
    assert!(status.success());
    let end = Instant::now() + Duration::from_mins(1);
    while !has_ended(pid) {
        assert!(Instant::now() < end, "{pid} is still there");
        std::thread::yield_now();
    }
}

//! The processes of a server, found by their command line rather than by a remembered number.
//!
//! Every server is started with the path of its data folder (or configuration) among its arguments.
//! That path names one server on this machine, so a process that carries it is ours, and a number
//! that some file remembers and that meanwhile belongs to another program is never signalled.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::os::{self, Signal};

/// How often an event that cannot be waited for is looked for.
pub(crate) const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// The main process that was started with this path among its arguments.
pub(crate) fn find(marker: &Path) -> Option<u32> {
    let marker = marker.to_str()?;
    let carriers: BTreeSet<u32> = all().into_iter().filter(|pid| carries(*pid, marker)).collect();
    // A child between its birth and its own name still carries its parent's arguments.
    carriers.iter().copied().find(|pid| parent(*pid).is_none_or(|parent| !carriers.contains(&parent)))
}

/// A process with its descendants, itself first.
pub(crate) fn family(main: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = all().into_iter().filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let mut family = vec![main];
    let mut next = 0;
    while let Some(&elder) = family.get(next) {
        family.extend(parents.iter().filter(|(_, parent)| *parent == elder).map(|(pid, _)| *pid));
        next += 1;
    }
    family
}

/// Whether a process is there and has not ended.
pub(crate) fn is_alive(pid: u32) -> bool {
    status(pid).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X'))
}

/// Whether a process stands still.
pub(crate) fn is_stopped(pid: u32) -> bool {
    status(pid).is_some_and(|(state, _)| state == 'T')
}

/// The memory that is in use by these processes alone or in equal shares with others, in bytes.
pub(crate) fn memory(pids: &[u32]) -> u64 {
    let of_one = |pid: &u32| -> Option<u64> {
        let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        let line = rollup.lines().find(|line| line.starts_with("Pss:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
    };
    pids.iter().filter_map(of_one).sum()
}

/// Waits until all of them have ended.
pub(crate) fn wait_for_end(pids: &[u32], limit: Duration) -> bool {
    wait_until(limit, || pids.iter().all(|pid| !is_alive(*pid)))
}

/// Looks again and again until something is so; says whether it came to be in time.
pub(crate) fn wait_until(limit: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + limit;
    loop {
        if is_so() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        thread::sleep(BETWEEN_LOOKS);
    }
}

/// Stops a process and all its descendants where they are. None of them runs when this returns.
pub(crate) fn freeze(main: u32) -> Result<()> {
    // The main process first, so that no new children come.
    os::signal(main, Signal::Stop)?;
    if !wait_until(Duration::from_secs(10), || is_stopped(main)) {
        return Err(Error::new(format!("process {main} was told to stand still and did not within 10 s")));
    }
    for pid in family(main) {
        os::signal(pid, Signal::Stop)?;
    }
    let stands = |pid: &u32| is_stopped(*pid) || !is_alive(*pid);
    if !wait_until(Duration::from_secs(10), || family(main).iter().all(stands)) {
        return Err(Error::new(format!("the children of process {main} did not stand still within 10 s")));
    }
    Ok(())
}

/// Lets frozen processes go on, the children first.
pub(crate) fn thaw(main: u32) -> Result<()> {
    for pid in family(main).into_iter().rev() {
        os::signal(pid, Signal::Continue)?;
    }
    Ok(())
}

/// Asks a process to end, and makes it where it does not. It is gone with its descendants afterwards.
pub(crate) fn end(main: u32, how: Signal) -> Result<()> {
    let family = family(main);
    os::signal(main, how)?;
    // One that was frozen must wake to hear it.
    thaw(main)?;
    if wait_for_end(&family, Duration::from_secs(30)) { Ok(()) } else { kill(main) }
}

/// Ends a process and its descendants at once, and waits until they are gone.
pub(crate) fn kill(main: u32) -> Result<()> {
    // Stopped first, so that the list of children is whole.
    os::signal(main, Signal::Stop)?;
    let family = family(main);
    for pid in &family {
        os::signal(*pid, Signal::Kill)?;
    }
    if wait_for_end(&family, Duration::from_secs(20)) {
        Ok(())
    } else {
        Err(Error::new(format!("processes {family:?} were killed and are still there after 20 s")))
    }
}

/// Ends what works in a folder, which only servers of ours do: the children that outlived their server,
/// and would go on writing beside the next one.
pub(crate) fn clear(folder: &Path) -> Result<()> {
    let works_there = |pid: &u32| {
        fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|place| place == folder) && is_alive(*pid)
    };
    let left: Vec<u32> = all().into_iter().filter(works_there).collect();
    for pid in &left {
        os::signal(*pid, Signal::Kill)?;
    }
    if wait_for_end(&left, Duration::from_secs(20)) {
        Ok(())
    } else {
        Err(Error::new(format!(
            "processes {left:?} of an earlier server in {} were killed and are still there after 20 s",
            folder.display()
        )))
    }
}

fn all() -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn carries(pid: u32, marker: &str) -> bool {
    let Ok(line) = fs::read(format!("/proc/{pid}/cmdline")) else { return false };
    line.split(|byte| *byte == 0).any(|argument| is_marked(argument, marker.as_bytes()))
}

/// Whether an argument is the marker, bare or as `--option=marker`.
fn is_marked(argument: &[u8], marker: &[u8]) -> bool {
    argument.strip_suffix(marker).is_some_and(|before| before.is_empty() || before.ends_with(b"="))
}

fn parent(pid: u32) -> Option<u32> {
    status(pid).map(|(_, parent)| parent)
}

fn status(pid: u32) -> Option<(char, u32)> {
    parse_status(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// State and parent in `12 (a name) S 1 …`; the name may hold anything, also parentheses.
fn parse_status(line: &str) -> Option<(char, u32)> {
    let (_, rest) = line.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_a_whole_path() {
        assert!(is_marked(b"/c/data", b"/c/data"));
        assert!(is_marked(b"--datadir=/c/data", b"/c/data"));
        assert!(!is_marked(b"/c/data2", b"/c/data"));
        assert!(!is_marked(b"/x/c/data", b"/c/data"));
    }

    #[test]
    fn a_process_may_be_called_anything() {
        assert_eq!(parse_status("7 (a) S 1 (b) R 12 7"), Some(('R', 12)));
        assert_eq!(parse_status("nonsense"), None);
    }

    #[cfg(target_os = "linux")]
    mod live {
        use std::process::{Child, Command};

        use super::super::*;

        /// A process that carries a marker and has one child.
        fn parent_of_one(marker: &Path) -> Child {
            let mut command = Command::new("sh");
            command.args(["-c", "sleep 600 & wait"]).arg(marker);
            command.spawn().unwrap()
        }

        #[test]
        fn a_process_is_found_by_its_command_line_with_its_family() {
            let folder = tempfile::tempdir().unwrap();
            assert_eq!(find(folder.path()), None);
            let mut child = parent_of_one(folder.path());
            assert!(wait_until(Duration::from_secs(20), || family(child.id()).len() == 2));
            assert_eq!(find(folder.path()), Some(child.id()));
            assert_eq!(find(&folder.path().join("other")), None);

            let everybody = family(child.id());
            freeze(child.id()).unwrap();
            assert!(everybody.iter().all(|pid| is_stopped(*pid)));
            thaw(child.id()).unwrap();
            assert!(wait_until(Duration::from_secs(20), || everybody.iter().all(|pid| !is_stopped(*pid))));

            kill(child.id()).unwrap();
            child.wait().unwrap();
            assert!(everybody.iter().all(|pid| !is_alive(*pid)));
            assert_eq!(find(folder.path()), None);
        }
    }
}

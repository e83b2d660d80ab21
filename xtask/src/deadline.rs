//! A child process that is not waited for without end.

use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::cargo;

const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Runs a command with its output on the terminal. None when it ran past the limit and was ended.
pub(crate) fn run_within(command: &mut Command, limit: Duration) -> Result<Option<ExitStatus>> {
    let cannot_wait = |command: &Command| format!("cannot wait for `{}`", cargo::shown(command));
    let mut child = command.spawn().with_context(|| format!("cannot start `{}`", cargo::shown(command)))?;
    let end = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait().with_context(|| cannot_wait(command))? {
            return Ok(Some(status));
        }
        if Instant::now() >= end {
            // It may have ended by itself just now; either way it is gone after the wait.
            child.kill().ok();
            child.wait().with_context(|| cannot_wait(command))?;
            return Ok(None);
        }
        thread::sleep(BETWEEN_LOOKS);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_command_in_time_gives_its_status() {
        let status = run_within(&mut Command::new("false"), Duration::from_mins(1)).unwrap();
        assert_eq!(status.unwrap().code(), Some(1));
    }

    #[test]
    fn a_command_past_its_limit_is_ended() {
        let status = run_within(Command::new("sleep").arg("600"), Duration::from_millis(50)).unwrap();
        assert!(status.is_none());
    }
}

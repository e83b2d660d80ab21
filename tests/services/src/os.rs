//! What the operating system knows about people, owners and signals.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use crate::error::{Doing as _, Error, Result};

/// Servers can be had where their prebuilt programs run.
pub(crate) fn supported() -> Result<()> {
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        Ok(())
    } else {
        Err(Error::new(
            "servers are fetched for Linux on x86_64 only; start one yourself and name it in \
             DBAGENT_TEST_<NAME>_URL",
        ))
    }
}

/// The account that a server runs under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: String,
    uid: u32,
    gid: u32,
}

impl User {
    /// The account to run a server under: ours, or an unprivileged one of `names` where we are root,
    /// since servers refuse root.
    pub(crate) fn for_server(names: &[&str]) -> Result<Option<Self>> {
        if !is_root() {
            return Ok(None);
        }
        let accounts = std::fs::read_to_string("/etc/passwd").doing(|| "cannot read /etc/passwd".into())?;
        let found = names.iter().find_map(|name| Self::parse(&accounts, name));
        found.map(Some).ok_or_else(|| {
            Error::new(format!(
                "this server refuses to run as root, and there is no account called {}; add one",
                names.join(" or ")
            ))
        })
    }

    fn parse(accounts: &str, name: &str) -> Option<Self> {
        let line = accounts.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        let uid = fields.next()?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        Some(Self { name: name.to_owned(), uid, gid })
    }
}

/// Writes a file that only the given account, or we, may read.
pub(crate) fn write_private(path: &Path, text: &str, reader: Option<&User>) -> Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    let folder = path.parent().ok_or_else(|| Error::new(cannot()))?;
    // Temporary files are made for their owner only.
    let mut file = tempfile::NamedTempFile::new_in(folder).doing(cannot)?;
    file.write_all(text.as_bytes()).doing(cannot)?;
    file.persist(path).doing(cannot)?;
    give(path, reader)
}

/// What is sent to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Postgres: end now, cleanly.
    Interrupt,
    /// End cleanly.
    Terminate,
    Kill,
    Stop,
    Continue,
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt as _, chown};
    use std::os::unix::process::CommandExt as _;

    use super::*;

    pub(crate) fn is_root() -> bool {
        rustix::process::geteuid().is_root()
    }

    /// Gives a file to an account; nothing to do when there is none.
    pub(crate) fn give(path: &Path, user: Option<&User>) -> Result<()> {
        let Some(user) = user else { return Ok(()) };
        chown(path, Some(user.uid), Some(user.gid))
            .doing(|| format!("cannot give {} to the account {}", path.display(), user.name))
    }

    /// Makes a command run under an account, in a process group of its own: Ctrl+C is not for it.
    pub(crate) fn run_as(command: &mut Command, user: Option<&User>) {
        command.process_group(0);
        if let Some(user) = user {
            // The standard library drops the supplementary groups where it changes the account.
            command.uid(user.uid).gid(user.gid);
        }
    }

    pub(crate) fn set_mode(path: &Path, mode: u32) -> Result<()> {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
            .doing(|| format!("cannot set the permissions of {}", path.display()))
    }

    /// The folder on the way to `path` that other accounts may not pass.
    pub(crate) fn closed_folder(path: &Path) -> Option<&Path> {
        let passable = |folder: &&Path| {
            folder
                .metadata()
                .is_ok_and(|metadata| !metadata.is_dir() || metadata.permissions().mode() & 1 == 1)
        };
        path.ancestors().filter(|folder| !folder.as_os_str().is_empty()).find(|folder| !passable(folder))
    }

    /// Sends a signal; a process that is gone already is no error.
    pub(crate) fn signal(pid: u32, signal: Signal) -> Result<()> {
        use rustix::process::{Pid, Signal as Native, kill_process};
        let cannot = || format!("cannot signal process {pid}");
        let native = match signal {
            Signal::Interrupt => Native::INT,
            Signal::Terminate => Native::TERM,
            Signal::Kill => Native::KILL,
            Signal::Stop => Native::STOP,
            Signal::Continue => Native::CONT,
        };
        let number = i32::try_from(pid).doing(cannot)?;
        let Some(process) = Pid::from_raw(number) else {
            return Err(Error::new(format!("{}: there is no such number", cannot())));
        };
        match kill_process(process, native) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(error) => Err(error).doing(cannot),
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use super::*;

    // `supported` has said no before any of these is reached.

    pub(crate) fn is_root() -> bool {
        false
    }

    pub(crate) fn give(_: &Path, _: Option<&User>) -> Result<()> {
        supported()
    }

    pub(crate) fn run_as(_: &mut Command, _: Option<&User>) {}

    pub(crate) fn set_mode(_: &Path, _: u32) -> Result<()> {
        supported()
    }

    pub(crate) fn closed_folder(_: &Path) -> Option<&Path> {
        None
    }

    pub(crate) fn signal(_: u32, _: Signal) -> Result<()> {
        supported()
    }
}

#[cfg(not(unix))]
pub(crate) use elsewhere::*;
#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_whole_name() {
        let accounts =
            "root:x:0:0::/:/bin/sh\npostgresql:x:7:8::/:/bin/sh\npostgres:x:101:104:x:/var:/bin/sh\n";
        let user = User::parse(accounts, "postgres").unwrap();
        assert_eq!((user.uid, user.gid), (101, 104));
        assert_eq!(User::parse(accounts, "nobody"), None);
        assert_eq!(User::parse("postgres:x:many:few::", "postgres"), None);
    }

    #[cfg(unix)]
    #[test]
    fn the_folder_that_is_closed_to_others_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("closed/inner");
        std::fs::create_dir_all(&inner).unwrap();
        set_mode(folder.path(), 0o755).unwrap();
        set_mode(&folder.path().join("closed"), 0o700).unwrap();
        assert_eq!(closed_folder(&inner), Some(&*folder.path().join("closed")));
        set_mode(&folder.path().join("closed"), 0o711).unwrap();
        assert_ne!(closed_folder(&inner), Some(&*folder.path().join("closed")));
    }
}

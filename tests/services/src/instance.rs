//! One server: made from a golden data folder, started, watched until it answers, stopped.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::cache::{Cache, open_folder, remove};
use crate::engine::{Account, Engine, Ground, Home, Record};
use crate::error::{Doing as _, Error, Result};
use crate::os::{self, User};
use crate::packages::{Package, last_lines};
use crate::process;
use crate::{sample, secrets};

/// A slow machine under load still comes up within this.
const START_LIMIT: Duration = Duration::from_secs(120);
/// A log of this size is begun anew at the next start.
const LOG_LIMIT: u64 = 16 << 20;
/// Below the ports that Linux gives to outgoing connections: one of ours stays free while its server
/// is down for a moment.
const PORTS: std::ops::Range<u16> = 15_000..32_000;

/// A server that is made and may or may not run.
pub(crate) struct Instance {
    engine: &'static dyn Engine,
    package: Package,
    user: Option<User>,
    pub(crate) home: Home,
    pub(crate) record: Record,
    /// More arguments for the server, of a test that wants it otherwise.
    extra: Vec<String>,
}

impl Instance {
    /// Finds the server in its folder, or makes it anew where there is no whole one of this version.
    ///
    /// `upstream` are the values that a server before another one takes over from it.
    pub(crate) fn prepare(
        cache: &Cache,
        name: &str,
        engine: &'static dyn Engine,
        home: Home,
        upstream: Option<&Record>,
    ) -> Result<Self> {
        os::supported()?;
        let user = User::for_server(engine.users())?;
        let package = engine.fetch(cache)?;
        let ground = Ground { package: &package, user: user.as_ref() };
        let origin = match engine.recipe() {
            Some(recipe) => format!("{name}-{}-{}.{recipe}", package.version, sample::fingerprint()),
            None => format!("{name}-{}", package.version),
        };

        let path = home.file(RECORD);
        let known = Record::read(&path).filter(|record| record.get("origin") == Some(&origin));
        let record = if let Some(record) = known {
            record
        } else {
            let record = make(cache, engine, &ground, &home, &origin)?;
            record.write(&path)?;
            record
        };
        let mut instance =
            Self { engine, package: package.clone(), user: user.clone(), home, record, extra: Vec::new() };
        if let Some(upstream) = upstream {
            instance.follow(upstream)?;
        }
        Ok(instance)
    }

    pub(crate) fn with_arguments(mut self, extra: &[&str]) -> Self {
        self.extra = extra.iter().map(|argument| (*argument).to_owned()).collect();
        self
    }

    /// The main process, when it runs.
    pub(crate) fn pid(&self) -> Option<u32> {
        process::find(&self.engine.marker(&self.home))
    }

    pub(crate) fn variables(&self) -> Result<Vec<(&'static str, String)>> {
        self.engine.variables(&self.home, &self.record)
    }

    /// Starts it and waits until it takes connections: on the port it had, or on another where that is
    /// taken meanwhile.
    pub(crate) fn start(&mut self) -> Result<Child> {
        let mut wanted = self.record.port();
        for _ in 0..5 {
            let port = free_port(wanted)?;
            self.record.set("port", port.to_string());
            match self.try_start()? {
                Started::Yes(child) => return Ok(child),
                // Somebody took the port between our look and its start.
                Started::PortTaken => wanted = 0,
            }
        }
        Err(Error::new(format!("five ports in {PORTS:?} were taken just before the server could have them")))
    }

    /// Asks it to end, and makes it where it does not.
    pub(crate) fn stop(&self, main: u32) -> Result<()> {
        process::end(main, self.engine.stop_signal())
    }

    /// Waits until a server that somebody started, and did not live to see ready, takes connections.
    /// Says whether it came to that.
    pub(crate) fn adopt(&self, pid: u32) -> bool {
        let begin = self.record.get("log").and_then(|begin| begin.parse().ok()).unwrap_or(0);
        let mut is_ready = false;
        process::wait_until(START_LIMIT, || {
            is_ready =
                self.engine.is_ready(&self.home, &self.record, pid, &read_from(&self.home.log(), begin));
            is_ready || !process::is_alive(pid)
        });
        is_ready
    }

    fn try_start(&mut self) -> Result<Started> {
        let (log, begin) = open_log(&self.home.log())?;
        // Remembered before there is a server, so that no end of ours leaves one that nobody knows.
        self.record.set("log", begin.to_string());
        self.record.write(&self.home.file(RECORD))?;
        let ground = Ground { package: &self.package, user: self.user.as_ref() };
        self.engine.configure(&ground, &self.home, &self.record)?;
        let mut command = self.engine.command(&ground, &self.home, &self.record)?;
        command.args(&self.extra).stdin(Stdio::null());
        command.stdout(log.try_clone().doing(|| "cannot share the log".into())?).stderr(log);
        let mut child = spawn(&mut command, &ground)?;

        let pid = child.id();
        let said = || read_from(&self.home.log(), begin);
        let mut ended = None;
        let is_ready = process::wait_until(START_LIMIT, || {
            ended = child.try_wait().ok().flatten();
            ended.is_some() || self.engine.is_ready(&self.home, &self.record, pid, &said())
        });
        if is_ready && ended.is_none() {
            return Ok(Started::Yes(child));
        }
        let said = said();
        let log = self.home.log();
        let Some(status) = ended else {
            process::kill(pid)?;
            child.wait().doing(|| "cannot wait for the server".into())?;
            return Err(Error::new(format!(
                "it was not ready after {} s; the end of {}: {}",
                START_LIMIT.as_secs(),
                log.display(),
                last_lines(&said, 8)
            )));
        };
        if said.to_ascii_lowercase().contains("address already in use") {
            return Ok(Started::PortTaken);
        }
        Err(Error::new(format!(
            "it ended with {status} instead of taking connections; the end of {}: {}",
            log.display(),
            last_lines(&said, 8)
        )))
    }

    /// Takes over what the server behind this one has; one that ran with other values is stopped.
    fn follow(&mut self, upstream: &Record) -> Result<()> {
        let mut record = self.record.clone();
        record.set("upstream", upstream.port().to_string());
        for account in Account::ALL {
            record.set(account.key(), upstream.password(account)?);
        }
        if record != self.record {
            if let Some(pid) = self.pid() {
                self.stop(pid)?;
            }
            self.record = record;
            self.record.write(&self.home.file(RECORD))?;
        }
        Ok(())
    }
}

enum Started {
    Yes(Child),
    PortTaken,
}

/// The name of the file that holds the record of a server.
pub(crate) const RECORD: &str = "record";

/// Makes the folder of a server anew; what is in its place goes.
fn make(
    cache: &Cache,
    engine: &dyn Engine,
    ground: &Ground<'_>,
    home: &Home,
    origin: &str,
) -> Result<Record> {
    if let Some(pid) = process::find(&engine.marker(home)) {
        process::kill(pid)?;
    }
    remove(home.folder())?;
    for folder in [home.folder().to_owned(), home.sockets(), home.file("tls")] {
        open_folder(&folder)?;
    }
    os::give(&home.sockets(), ground.user)?;
    home.tls().make(Account::Certificate.login(), ground.user)?;
    if engine.recipe().is_some() {
        let golden = cache.ready("golden", origin, |partial| {
            crate::cache::say(&format!("making a data folder with the sample: {origin}"));
            os::give(partial, ground.user)?;
            engine.initialise(ground, &partial.join("data"))
        })?;
        copy_tree(&golden.join("data"), &home.data(), ground.user)?;
    }
    let mut record = Record::default();
    record.set("origin", origin);
    record.set("version", &ground.package.version);
    for account in Account::ALL {
        record.set(account.key(), secrets::password()?);
    }
    engine.equip(ground, home, &record)?;
    Ok(record)
}

/// Starts a command under the account of a server, with nothing of our environment in it.
pub(crate) fn spawn(command: &mut Command, ground: &Ground<'_>) -> Result<Child> {
    os::run_as(command, ground.user);
    command.env_clear().envs([("PATH", "/usr/bin:/bin"), ("HOME", "/tmp"), ("LC_ALL", "C"), ("TZ", "UTC")]);
    // Not in a folder that somebody may want to remove.
    command.current_dir("/");
    command.spawn().doing(|| format!("cannot start {}", command.get_program().to_string_lossy()))
}

/// Runs a program of a package to its end. Where it says one of `complaints`, that is an error too.
pub(crate) fn finish(
    mut command: Command,
    ground: &Ground<'_>,
    name: &str,
    input: &str,
    complaints: &[&str],
) -> Result<()> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = spawn(&mut command, ground)?;
    let mut pipe = child.stdin.take();
    // Fed from the side: it may complain at length before it has read all.
    let output = thread::scope(|scope| {
        scope.spawn(move || {
            // An end of it before all is read shows in its status.
            pipe.as_mut().map(|pipe| pipe.write_all(input.as_bytes()).ok());
        });
        child.wait_with_output()
    });
    let output = output.doing(|| format!("cannot wait for `{name}`"))?;
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let worst: Vec<&str> =
        said.lines().filter(|line| complaints.iter().any(|complaint| line.contains(complaint))).collect();
    match (output.status.success(), worst.as_slice()) {
        (true, []) => Ok(()),
        (_, []) => {
            Err(Error::new(format!("`{name}` ended with {}: {}", output.status, last_lines(&said, 6))))
        }
        (_, worst) => Err(Error::new(format!("`{name}` complained: {}", last_lines(&worst.join("\n"), 6)))),
    }
}

/// A port that nobody listens on: the wanted one when it is free.
fn free_port(wanted: u16) -> Result<u16> {
    let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    if wanted != 0 && is_free(wanted) {
        return Ok(wanted);
    }
    let mut bytes = [0; 2];
    for _ in 0..200 {
        getrandom::fill(&mut bytes).doing(|| "the system gave no random bytes".into())?;
        let port = PORTS.start + u16::from_le_bytes(bytes) % (PORTS.end - PORTS.start);
        if is_free(port) {
            return Ok(port);
        }
    }
    Err(Error::new(format!("no free port of 127.0.0.1 was found in {PORTS:?}")))
}

/// Opens a log to add to it, with the place where the new part begins.
fn open_log(path: &Path) -> Result<(File, u64)> {
    let cannot = || format!("cannot open the log {}", path.display());
    let file = File::options().create(true).append(true).open(path).doing(cannot)?;
    let mut size = file.metadata().doing(cannot)?.len();
    if size > LOG_LIMIT {
        file.set_len(0).doing(cannot)?;
        size = 0;
    }
    Ok((file, size))
}

fn read_from(path: &Path, begin: u64) -> String {
    let read = || -> std::io::Result<String> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(begin))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    // A log that cannot be read says nothing; that the server is not ready comes out anyway.
    read().unwrap_or_default()
}

/// Copies a folder with its permissions and gives all of it to an account.
fn copy_tree(from: &Path, to: &Path, user: Option<&User>) -> Result<()> {
    let cannot = || format!("cannot copy {} to {}", from.display(), to.display());
    fs::create_dir(to).doing(cannot)?;
    for entry in fs::read_dir(from).doing(cannot)? {
        let entry = entry.doing(cannot)?;
        let target = to.join(entry.file_name());
        if entry.file_type().doing(cannot)?.is_dir() {
            copy_tree(&entry.path(), &target, user)?;
        } else {
            fs::copy(entry.path(), &target).doing(cannot)?;
            os::give(&target, user)?;
        }
    }
    let permissions = from.metadata().doing(cannot)?.permissions();
    fs::set_permissions(to, permissions).doing(cannot)?;
    os::give(to, user)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wanted_port_is_had_unless_somebody_listens_there() {
        let port = free_port(0).unwrap();
        assert!(PORTS.contains(&port));
        assert_eq!(free_port(port).unwrap(), port);
        let taken = TcpListener::bind(("127.0.0.1", port)).unwrap();
        assert_ne!(free_port(port).unwrap(), port);
        drop(taken);
    }

    #[test]
    fn a_log_is_read_from_where_it_was_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.log");
        fs::write(&path, "old: ready\n").unwrap();
        let (mut log, begin) = open_log(&path).unwrap();
        assert_eq!(read_from(&path, begin), "");
        log.write_all(b"new: ready\n").unwrap();
        assert_eq!(read_from(&path, begin), "new: ready\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old: ready\nnew: ready\n");
    }

    #[cfg(unix)]
    #[test]
    fn a_copied_folder_keeps_its_permissions() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("inner")).unwrap();
        fs::write(from.join("inner/file"), "text").unwrap();
        os::set_mode(&from.join("inner/file"), 0o600).unwrap();
        os::set_mode(&from.join("inner"), 0o700).unwrap();
        copy_tree(&from, &to, None).unwrap();
        let mode = |path: &str| to.join(path).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("inner"), mode("inner/file")), (0o700, 0o600));
        assert_eq!(fs::read_to_string(to.join("inner/file")).unwrap(), "text");
    }
}

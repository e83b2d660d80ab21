//! Programs that Debian publishes: a private apt fetches them with their libraries, nothing is installed.
//!
//! The apt here has folders of its own and an empty list of installed packages, so it downloads
//! everything that the program needs, from whatever suite, and the system's own apt never knows. It
//! checks signatures and sums as always. A program is run by the dynamic loader that came with it, so
//! that it need not fit the C library of this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::{Package, run};
use crate::cache::{Cache, open_folder, remove, say};
use crate::error::{Doing as _, Error, Result};

/// One program with the suite it is taken from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DebianProgram {
    pub(crate) suite: &'static str,
    pub(crate) package: &'static str,
    /// More packages, which belong to it.
    pub(crate) with: &'static [&'static str],
    /// Packages that apt takes for installed: the program does without them and all that only they need.
    pub(crate) without: &'static [&'static str],
    /// The program within the package.
    pub(crate) program: &'static str,
    /// What is thrown away after unpacking, beside what all can miss.
    pub(crate) prune: &'static [&'static str],
}

const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
const ADVICE: &str = "this server is taken from Debian and needs apt-get and dpkg-deb; on another system start one \
                      yourself and name it in DBAGENT_TEST_<NAME>_URL";

/// Dependencies of the package's scripts, not of the program.
const NOT_UNPACKED: &[&str] =
    &["perl", "libperl", "libgdbm", "libdb5", "libc-gconv", "debconf", "dpkg_", "tar_", "gcc-"];
/// Where libraries are. An installation reaches the last ones through links that it makes.
const LIBRARIES: &[&str] = &[
    "lib/x86_64-linux-gnu",
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/x86_64-linux-gnu/blas",
    "usr/lib/x86_64-linux-gnu/lapack",
    "usr/lib",
];
const PRUNE_ALWAYS: &[&str] = &[
    "etc",
    "usr/share/doc",
    "usr/share/man",
    "usr/share/locale",
    "usr/share/bug",
    "usr/share/lintian",
    "usr/lib/systemd",
];

impl DebianProgram {
    /// The name of its folder among the packages of the cache.
    pub(crate) fn folder(&self) -> String {
        format!("debian-{}-{}", self.suite, self.package)
    }

    /// Fetches and unpacks it where it is not there yet.
    pub(crate) fn fetch(&self, cache: &Cache) -> Result<Package> {
        self.fetch_and(cache, |_| Ok(()))
    }

    /// The same, with something done to the folder before it is taken for whole.
    pub(crate) fn fetch_and(
        &self,
        cache: &Cache,
        finish: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<Package> {
        let folder = cache.ready("packages", &self.folder(), |partial| {
            self.unpack(partial)?;
            finish(partial)
        })?;
        let path = folder.join("VERSION");
        let version = fs::read_to_string(&path).doing(|| {
            format!("cannot read {}; remove its folder to fetch the package anew", path.display())
        })?;
        Ok(Package { version: version.trim().to_owned(), folder })
    }

    /// The start of a command that runs the program with its own loader and libraries.
    pub(crate) fn command(&self, package: &Package) -> Result<Command> {
        let own = Loader::within(&package.folder)?;
        let libraries = std::env::join_paths(own.libraries.iter().map(|folder| package.folder.join(folder)))
            .doing(|| "the cache has a colon in its path".into())?;
        let mut command = Command::new(package.folder.join(own.program));
        command.arg("--library-path").arg(libraries).arg(package.folder.join(self.program));
        Ok(command)
    }

    fn unpack(&self, partial: &Path) -> Result<()> {
        let private = partial.join(".apt");
        let apt = PrivateApt { folder: &private, suite: self.suite, installed: self.without };
        let configuration = apt.write()?;
        say(&format!("fetching {} from Debian {} with apt-get", self.package, self.suite));
        let apt = |arguments: &[&str]| {
            let mut command = Command::new("apt-get");
            command.env("APT_CONFIG", &configuration).arg("-qq").args(arguments);
            run(&mut command, ADVICE)
        };
        apt(&["update"])?;
        let install = ["--yes", "--download-only", "--no-install-recommends", "install", self.package];
        apt(&[&install, self.with].concat())?;

        let (mut version, mut chosen) = (None, Vec::new());
        for archive in archives(&private.join("cache/archives"))? {
            let file = archive.file_name().unwrap_or_default().to_string_lossy().into_owned();
            version = version.or_else(|| version_of(&file, self.package));
            if !NOT_UNPACKED.iter().any(|prefix| file.starts_with(prefix)) {
                chosen.push(archive);
            }
        }
        extract(&chosen, partial)?;
        let Some(version) = version else {
            return Err(Error::new(format!("apt-get fetched no {} from {}", self.package, self.suite)));
        };
        for folder in PRUNE_ALWAYS.iter().chain(self.prune) {
            let path = partial.join(folder);
            if path.is_dir() {
                remove(&path)?;
            } else if path.exists() {
                fs::remove_file(&path).doing(|| format!("cannot remove {}", path.display()))?;
            }
        }
        remove(&private)?;
        let path = partial.join("VERSION");
        fs::write(&path, version).doing(|| format!("cannot write {}", path.display()))
    }
}

/// The dynamic loader that came with a program, and the folders that it looks into.
#[derive(Debug)]
pub(crate) struct Loader {
    /// Its path within the package.
    pub(crate) program: PathBuf,
    /// Paths within the package.
    pub(crate) libraries: Vec<&'static str>,
}

impl Loader {
    /// The one in a folder into which packages were unpacked.
    pub(crate) fn within(folder: &Path) -> Result<Self> {
        let libraries: Vec<&str> =
            LIBRARIES.iter().copied().filter(|name| folder.join(name).is_dir()).collect();
        let mut programs = libraries.iter().map(|name| Path::new(name).join("ld-linux-x86-64.so.2"));
        let Some(program) = programs.find(|path| folder.join(path).exists()) else {
            return Err(Error::new(format!(
                "there is no dynamic loader in {}; remove that folder to fetch the package anew",
                folder.display()
            )));
        };
        Ok(Self { program, libraries })
    }
}

/// Unpacks archives into one folder, as many at once as there are processors.
fn extract(archives: &[PathBuf], folder: &Path) -> Result<()> {
    let next = AtomicUsize::new(0);
    let unpack = || {
        while let Some(archive) = archives.get(next.fetch_add(1, Ordering::Relaxed)) {
            run(Command::new("dpkg-deb").arg("--extract").arg(archive).arg(folder), ADVICE)?;
        }
        Ok(())
    };
    let workers = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(unpack)).collect();
        running.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|_| Err(Error::new("a thread that unpacked archives died")))
        })
    })
}

/// An apt with folders of its own.
struct PrivateApt<'a> {
    folder: &'a Path,
    suite: &'a str,
    /// What it takes for installed.
    installed: &'a [&'a str],
}

impl PrivateApt<'_> {
    /// Writes its configuration and returns the path of it.
    fn write(&self) -> Result<PathBuf> {
        if !Path::new(KEYRING).exists() {
            return Err(Error::new(format!("{KEYRING} is missing; {ADVICE}")));
        }
        for folder in [
            "state/lists/partial",
            "cache/archives/partial",
            "etc/sources.list.d",
            "etc/preferences.d",
            "etc/apt.conf.d",
        ] {
            open_folder(&self.folder.join(folder))?;
        }
        let write = |name: &str, text: &str| {
            let path = self.folder.join(name);
            fs::write(&path, text).doing(|| format!("cannot write {}", path.display())).map(|()| path)
        };
        write("status", &status(self.installed))?;
        let mirror = mirror(&sources())?;
        // An unstable suite's index may be past its date; its signature is checked all the same.
        let source = format!("deb [check-valid-until=no signed-by={KEYRING}] {mirror} {} main\n", self.suite);
        write("etc/sources.list", &source)?;
        let folder = self.folder.display();
        let text = format!(
            "Dir::State \"{folder}/state\";\nDir::State::status \"{folder}/status\";\nDir::Cache \"{folder}/cache\";\n\
             Dir::Etc \"{folder}/etc\";\nDir::Etc::sourcelist \"{folder}/etc/sources.list\";\n\
             Dir::Etc::sourceparts \"{folder}/etc/sources.list.d\";\nDir::Etc::parts \"{folder}/etc/apt.conf.d\";\n\
             APT::Architecture \"amd64\";\nAPT::Architectures \"amd64\";\nAPT::Install-Recommends \"0\";\n\
             APT::Sandbox::User \"root\";\nAcquire::Languages \"none\";\nAcquire::Retries \"3\";\n"
        );
        write("apt.conf", &text)
    }
}

/// A list of installed packages, each newer than whatever is asked for.
fn status(installed: &[&str]) -> String {
    let entry = |name: &&str| {
        format!(
            "Package: {name}\nStatus: install ok installed\nVersion: 999:0\nArchitecture: amd64\nMulti-Arch: foreign\n\
             Maintainer: none\nDescription: taken for installed\n\n"
        )
    };
    installed.iter().map(entry).collect()
}

/// What the system's apt is told, in both of its formats.
fn sources() -> String {
    let mut paths =
        vec![PathBuf::from("/etc/apt/sources.list.d/debian.sources"), PathBuf::from("/etc/apt/sources.list")];
    if let Ok(entries) = fs::read_dir("/etc/apt/sources.list.d") {
        let mut others: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        others.sort();
        paths.extend(others);
    }
    paths.iter().filter_map(|path| fs::read_to_string(path).ok()).collect::<Vec<_>>().join("\n")
}

/// The Debian mirror that the system uses: it may be the only one that can be reached.
fn mirror(sources: &str) -> Result<String> {
    let addresses = sources.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        match words.next()? {
            "URIs:" | "deb" => words.find(|word| word.contains("://")),
            _ => None,
        }
    });
    let is_debian = |address: &&str| {
        let path = address.trim_end_matches('/');
        path.ends_with("/debian")
    };
    addresses
        .into_iter()
        .find(is_debian)
        .map(str::to_owned)
        .ok_or_else(|| Error::new(format!("no Debian mirror is named in apt's sources; {ADVICE}")))
}

fn archives(folder: &Path) -> Result<Vec<PathBuf>> {
    let cannot = || format!("cannot list {}", folder.display());
    let mut archives = Vec::new();
    for entry in fs::read_dir(folder).doing(cannot)? {
        let path = entry.doing(cannot)?.path();
        if path.extension().is_some_and(|extension| extension == "deb") {
            archives.push(path);
        }
    }
    archives.sort();
    Ok(archives)
}

/// `9.7.4-1` in `mysql-server-core_9.7.4-1_amd64.deb`; a colon comes as `%3a`.
fn version_of(file: &str, package: &str) -> Option<String> {
    let version = file.strip_prefix(package)?.strip_prefix('_')?.split('_').next()?;
    let version = version.replace("%3a", ":");
    // The epoch orders packages and says nothing about the program.
    Some(version.split_once(':').map_or(version.clone(), |(_, rest)| rest.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_programs_own() {
        let of = |file: &str| version_of(file, "mariadb-server-core");
        assert_eq!(
            of("mariadb-server-core_1%3a11.8.6-0+deb13u1_amd64.deb").as_deref(),
            Some("11.8.6-0+deb13u1")
        );
        assert_eq!(of("mariadb-server-core_10.11.14-0_amd64.deb").as_deref(), Some("10.11.14-0"));
        assert_eq!(of("mariadb-server-core-extra_1_amd64.deb"), None);
    }

    #[test]
    fn the_mirror_is_the_one_of_the_system_in_either_format() {
        let modern = "Types: deb\n# old\nURIs: http://mirror.example/debian\nSuites: bookworm\n";
        assert_eq!(mirror(modern).unwrap(), "http://mirror.example/debian");
        let classic =
            "deb-src http://a.example/debian x main\ndeb [arch=amd64] https://b.example/debian/ x main\n";
        assert_eq!(mirror(classic).unwrap(), "https://b.example/debian/");
        let none = "URIs: http://security.example/debian-security\ndeb https://other.example/apt stable main";
        assert!(mirror(none).unwrap_err().to_string().contains("DBAGENT_TEST_<NAME>_URL"));
    }
}

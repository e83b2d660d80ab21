//! What the tests need from the system, and how to install what is missing.
//!
//! Each need is one entry of a table: how to see that it is there, and its package for each package
//! manager. Nothing is installed unless this may be done without asking: as root, or where `sudo`
//! wants no password.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// One thing that a build or a test needs.
#[derive(Debug)]
pub(crate) struct Tool {
    /// What it is, for messages.
    name: &'static str,
    /// The environment variable by which a person chooses another one.
    variable: &'static str,
    presence: Presence,
    /// Package manager and packages, with spaces between them.
    packages: &'static [(&'static str, &'static str)],
}

/// How to see that a tool is there.
#[derive(Debug)]
enum Presence {
    /// Any one of these programs on PATH will do.
    Program(&'static [&'static str]),
    /// A file of this name, or beginning so and a dot or a dash, in one of [`library_folders`].
    Library(&'static str),
}

/// SQLite is compiled from its source.
pub(crate) const C_COMPILER: Tool = Tool {
    name: "a C compiler",
    variable: "CC",
    presence: Presence::Program(&["cc", "gcc", "clang"]),
    packages: &[
        ("apt-get", "build-essential"),
        ("dnf", "gcc"),
        ("apk", "build-base"),
        ("pacman", "gcc"),
        ("zypper", "gcc"),
    ],
};

/// The grammar of PostgreSQL is compiled from its source, with bindings made from its headers.
pub(crate) const LIBCLANG: Tool = Tool {
    name: "libclang",
    variable: "LIBCLANG_PATH",
    presence: Presence::Library("libclang.so"),
    packages: &[
        ("apt-get", "libclang-dev"),
        ("dnf", "clang-devel"),
        ("apk", "clang-dev"),
        ("pacman", "clang"),
        ("zypper", "clang-devel"),
    ],
};

/// Some servers for tests are published as Maven artifacts.
pub(crate) const MAVEN: Tool = Tool {
    name: "Maven",
    variable: "MAVEN_HOME",
    presence: Presence::Program(&["mvn"]),
    packages: &[
        ("apt-get", "default-jre-headless maven"),
        ("dnf", "maven"),
        ("apk", "maven"),
        ("pacman", "maven"),
        ("zypper", "maven"),
    ],
};

/// How each package manager is told to install without asking.
const INSTALL: &[(&str, &[&str])] = &[
    ("apt-get", &["install", "--yes", "--no-install-recommends"]),
    ("dnf", &["install", "--assumeyes"]),
    ("apk", &["add"]),
    ("pacman", &["--sync", "--refresh", "--noconfirm"]),
    ("zypper", &["--non-interactive", "install"]),
];

impl Tool {
    /// Sees to it that the tool is there, installing it where that is allowed.
    pub(crate) fn ensure(&self) -> Result<()> {
        // Visual Studio's compiler is found by its registry entries, not on PATH.
        if cfg!(windows) || env::var_os(self.variable).is_some() || self.is_there() {
            return Ok(());
        }
        let Some(plan) = self.plan(|program| find(&search_path(), program).is_some(), privilege()) else {
            bail!("{}", self.advice());
        };
        println!("{} is missing; installing it: {}", self.name, plan.join(" "));
        self.install(&plan)?;
        if !self.is_there() {
            bail!("{} is still not found after it was installed; {}", self.name, self.advice());
        }
        Ok(())
    }

    fn install(&self, plan: &[String]) -> Result<()> {
        let Some((program, arguments)) = plan.split_first() else { bail!("{}", self.advice()) };
        let status = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .status()
            .with_context(|| format!("cannot start `{program}`"))?;
        if !status.success() {
            bail!("`{}` ended with {status}; {}", plan.join(" "), self.advice());
        }
        Ok(())
    }

    fn is_there(&self) -> bool {
        match self.presence {
            Presence::Program(_) => self.on(&search_path()).is_some(),
            Presence::Library(_) => self.on(&library_folders(Path::new("/"))).is_some(),
        }
    }

    fn on(&self, folders: &[PathBuf]) -> Option<PathBuf> {
        match self.presence {
            Presence::Program(programs) => programs.iter().find_map(|program| find(folders, program)),
            Presence::Library(name) => folders.iter().find_map(|folder| find_library(folder, name)),
        }
    }

    /// The command that installs the tool; none when it would have to ask or no manager is known.
    fn plan(&self, has: impl Fn(&str) -> bool, privilege: Privilege) -> Option<Vec<String>> {
        let prefix: &[&str] = match privilege {
            Privilege::Root => &[],
            Privilege::Sudo => &["sudo", "-n"],
            Privilege::None => return None,
        };
        let (manager, package) = self.packages.iter().find(|(manager, _)| has(manager))?;
        let (_, install) = INSTALL.iter().find(|(name, _)| name == manager)?;
        let words = prefix.iter().chain([manager]).chain(install.iter());
        Some(words.copied().chain(package.split_whitespace()).map(str::to_owned).collect())
    }

    fn advice(&self) -> String {
        let packages: Vec<String> =
            self.packages.iter().map(|(manager, package)| format!("{package} ({manager})")).collect();
        let missing = match self.presence {
            Presence::Program(programs) => format!("none of {} is on PATH", programs.join(", ")),
            Presence::Library(name) => format!("{name} is in none of the usual folders"),
        };
        format!(
            "{} is needed and {missing}. Install it, for example {}, or name yours in {}",
            self.name,
            packages.join(", "),
            self.variable
        )
    }
}

/// Whether software may be installed without asking a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Privilege {
    Root,
    Sudo,
    None,
}

fn privilege() -> Privilege {
    let quiet = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output()
    };
    if quiet("id", &["-u"]).is_ok_and(|output| output.stdout.trim_ascii() == b"0") {
        Privilege::Root
    } else if quiet("sudo", &["-n", "true"]).is_ok_and(|output| output.status.success()) {
        Privilege::Sudo
    } else {
        Privilege::None
    }
}

/// Whether a program of this name is on PATH.
pub(crate) fn is_on_path(program: &str) -> bool {
    find(&search_path(), program).is_some()
}

fn search_path() -> Vec<PathBuf> {
    env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default()
}

fn find(folders: &[PathBuf], program: &str) -> Option<PathBuf> {
    let name = format!("{program}{}", env::consts::EXE_SUFFIX);
    folders.iter().map(|folder: &PathBuf| Path::join(folder, &name)).find(|path| path.is_file())
}

/// Where libraries for developers are: in the usual folders, and in those of each LLVM.
fn library_folders(root: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        ["usr/lib", "usr/lib64", "usr/local/lib", "usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu"]
            .iter()
            .map(|folder| root.join(folder))
            .collect();
    let is_of_llvm =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("llvm"));
    let entries = std::fs::read_dir(root.join("usr/lib")).into_iter().flatten().flatten();
    let mut of_llvm: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_of_llvm).collect();
    of_llvm.sort();
    folders.extend(of_llvm.iter().flat_map(|folder| [folder.join("lib"), folder.join("lib64")]));
    folders
}

/// `libclang.so`, `libclang.so.1` or `libclang-14.so`, but not `libclang-cpp.so`.
fn find_library(folder: &Path, name: &str) -> Option<PathBuf> {
    let (stem, ending) = name.split_once('.')?;
    let is_it = |file: &str| {
        let Some(rest) = file.strip_prefix(stem) else { return false };
        let version: String =
            rest.chars().take_while(|letter| matches!(letter, '-' | '.' | '0'..='9')).collect();
        let version = version.trim_end_matches('.');
        let rest = rest.strip_prefix(version).unwrap_or(rest).strip_prefix('.');
        rest.is_some_and(|rest| rest == ending || rest.starts_with(&format!("{ending}.")))
    };
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .flatten()
        .filter(|entry| is_it(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    paths.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_installs_with_the_manager_that_is_there() {
        let plan = C_COMPILER.plan(|program| program == "apk", Privilege::Root).unwrap();
        assert_eq!(plan, ["apk", "add", "build-base"]);
    }

    #[test]
    fn sudo_is_never_asked_for_a_password() {
        let plan = C_COMPILER.plan(|program| program == "dnf", Privilege::Sudo).unwrap();
        assert_eq!(plan, ["sudo", "-n", "dnf", "install", "--assumeyes", "gcc"]);
    }

    #[test]
    fn without_a_right_or_a_manager_nothing_is_installed() {
        assert_eq!(C_COMPILER.plan(|_| true, Privilege::None), None);
        assert_eq!(C_COMPILER.plan(|_| false, Privilege::Root), None);
        assert!(C_COMPILER.advice().contains("build-essential (apt-get)"));
    }

    #[test]
    fn every_package_manager_has_its_words() {
        for tool in [C_COMPILER, LIBCLANG, MAVEN] {
            for (manager, _) in tool.packages {
                assert!(INSTALL.iter().any(|(name, _)| name == manager), "{manager}");
            }
        }
    }

    #[test]
    fn a_tool_may_be_of_several_packages() {
        let plan = MAVEN.plan(|program| program == "apt-get", Privilege::Root).unwrap();
        assert_eq!(plan.get(plan.len() - 2..).unwrap(), ["default-jre-headless", "maven"]);
    }

    #[test]
    fn a_library_is_found_in_the_folder_of_an_llvm_and_told_from_its_kin() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("usr/lib/llvm-14/lib");
        std::fs::create_dir_all(&folder).unwrap();
        let is_found = || LIBCLANG.on(&library_folders(root.path())).is_some();
        for other in ["libclang-cpp.so.14", "libclangAST.a", "libclang-14.a", "libclang.sock"] {
            std::fs::write(folder.join(other), "").unwrap();
        }
        assert!(!is_found());
        for name in ["libclang-14.so", "libclang.so.1", "libclang.so", "libclang-14.so.14.0.6"] {
            std::fs::write(folder.join(name), "").unwrap();
            assert!(is_found(), "{name}");
            std::fs::remove_file(folder.join(name)).unwrap();
        }
        assert!(LIBCLANG.advice().contains("libclang-dev (apt-get)"));
    }

    #[test]
    fn a_program_is_found_in_the_folders_given_and_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let name = format!("cc{}", env::consts::EXE_SUFFIX);
        std::fs::write(folder.path().join(&name), "").unwrap();
        let folders = [folder.path().to_owned()];
        assert_eq!(C_COMPILER.on(&folders), Some(folder.path().join(name)));
        assert_eq!(C_COMPILER.on(&[]), None);
    }
}

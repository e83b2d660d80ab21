//! What the tests need from the system, and how to install what is missing.
//!
//! Each need is one entry of a table: how to see that it is there, and its package for each package
//! manager. Nothing is installed unless this may be done without asking: as root, or where `sudo`
//! wants no password.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// One program that a build needs.
#[derive(Debug)]
pub(crate) struct Tool {
    /// What it is, for messages.
    name: &'static str,
    /// The environment variable by which a person chooses another one.
    variable: &'static str,
    /// Any one of these on PATH will do.
    programs: &'static [&'static str],
    /// Package manager and package.
    packages: &'static [(&'static str, &'static str)],
}

/// SQLite is compiled from its source.
pub(crate) const C_COMPILER: Tool = Tool {
    name: "a C compiler",
    variable: "CC",
    programs: &["cc", "gcc", "clang"],
    packages: &[
        ("apt-get", "build-essential"),
        ("dnf", "gcc"),
        ("apk", "build-base"),
        ("pacman", "gcc"),
        ("zypper", "gcc"),
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
        if cfg!(windows) || env::var_os(self.variable).is_some() || self.on(&search_path()).is_some() {
            return Ok(());
        }
        let Some(plan) = self.plan(|program| find(&search_path(), program).is_some(), privilege()) else {
            bail!("{}", self.advice());
        };
        println!("{} is missing; installing it: {}", self.name, plan.join(" "));
        self.install(&plan)?;
        if self.on(&search_path()).is_none() {
            bail!("{} is still not on PATH after it was installed; {}", self.name, self.advice());
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

    fn on(&self, folders: &[PathBuf]) -> Option<PathBuf> {
        self.programs.iter().find_map(|program| find(folders, program))
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
        let words = prefix.iter().chain([manager]).chain(install.iter()).chain([package]);
        Some(words.map(|word| (*word).to_owned()).collect())
    }

    fn advice(&self) -> String {
        let packages: Vec<String> =
            self.packages.iter().map(|(manager, package)| format!("{package} ({manager})")).collect();
        format!(
            "{} is needed and none of {} is on PATH. Install one, for example {}, or name yours in {}",
            self.name,
            self.programs.join(", "),
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
        for (manager, _) in C_COMPILER.packages {
            assert!(INSTALL.iter().any(|(name, _)| name == manager), "{manager}");
        }
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

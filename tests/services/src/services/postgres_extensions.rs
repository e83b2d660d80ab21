//! PostgreSQL with PostGIS and pgvector: Debian's build of all three, one release, nothing compiled.
//!
//! The programs run with the loader and the libraries that came with them, as everything from Debian here.
//! But `initdb` starts `postgres` by its path, and knows nothing of a loader. So both stand behind a small
//! script under their own names, which also says where the data of the libraries is.
//!
//! Tests that need it say `SKIPPED postgres-extensions: why` where it cannot be had, and fail where
//! `DBAGENT_REQUIRE` names `postgres-extensions`.

use std::fs;
use std::path::Path;

use crate::cache::Cache;
use crate::error::{Doing as _, Error, Result};
use crate::os;
use crate::packages::Package;
use crate::packages::debian::{DebianProgram, Loader};

/// The folder of the programs within the package.
pub(super) const PROGRAMS: &str = "usr/lib/postgresql/17/bin";

const PACKAGE: DebianProgram = DebianProgram {
    suite: "trixie",
    package: "postgresql-17",
    with: &["postgresql-17-postgis-3", "postgresql-17-pgvector"],
    // The compiler of queries, programs for a person, and what only draws or decrypts documents.
    without: &[
        "libllvm19",
        "postgresql-common",
        "postgresql-client-17",
        "ssl-cert",
        "tzdata",
        "locales",
        "gnupg",
        "fontconfig-config",
        "mariadb-common",
        "mysql-common",
    ],
    program: "usr/lib/postgresql/17/bin/postgres",
    // Without its library PostgreSQL would complain about the compiler; without the compiler it is silent.
    prune: &["usr/lib/postgresql/17/lib/bitcode", "usr/lib/postgresql/17/lib/llvmjit.so", "usr/share/fonts"],
};

const EXTENSIONS: &str = "usr/share/postgresql/17/extension";

/// The name of its folder among the packages of the cache.
pub(super) fn folder() -> String {
    PACKAGE.folder()
}

/// Fetches and unpacks it where it is not there yet.
pub(super) fn fetch(cache: &Cache) -> Result<Package> {
    PACKAGE.fetch_and(cache, |partial| {
        name_extensions(&partial.join(EXTENSIONS))?;
        let loader = Loader::within(partial)?;
        for name in ["postgres", "initdb"] {
            wrap(&partial.join(PROGRAMS), name, &loader)?;
        }
        Ok(())
    })
}

/// Debian's installation lets one version of PostGIS have the plain names; here there is only one.
fn name_extensions(folder: &Path) -> Result<()> {
    let cannot = || format!("cannot name the extensions in {}", folder.display());
    let mut named = false;
    for entry in fs::read_dir(folder).doing(cannot)? {
        let path = entry.doing(cannot)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(plain) = name.strip_suffix("-3.control") {
            fs::rename(&path, folder.join(format!("{plain}.control"))).doing(cannot)?;
            named = true;
        }
    }
    if named { Ok(()) } else { Err(Error::new(format!("{}: there is no PostGIS", cannot()))) }
}

/// Puts a script in the place of a program, which goes beside it under another name.
fn wrap(folder: &Path, name: &str, loader: &Loader) -> Result<()> {
    let path = folder.join(name);
    let cannot = || format!("cannot put a script in the place of {}", path.display());
    fs::rename(&path, folder.join(format!("{name}.program"))).doing(cannot)?;
    fs::write(&path, script(name, loader)).doing(cannot)?;
    os::set_mode(&path, 0o755)
}

/// It finds everything from where it stands itself: the folder is moved once it is whole.
fn script(name: &str, loader: &Loader) -> String {
    let up = "/..".repeat(PROGRAMS.split('/').count());
    let libraries: Vec<String> = loader.libraries.iter().map(|folder| format!("$root/{folder}")).collect();
    format!(
        "#!/bin/sh\nroot=${{0%/*}}{up}\nexport PROJ_DATA=\"$root/usr/share/proj\" GDAL_DATA=\"$root/usr/share/gdal\"\n\
         exec \"$root/{}\" --library-path \"{}\" \"$root/{PROGRAMS}/{name}.program\" \"$@\"\n",
        loader.program.display(),
        libraries.join(":")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_stands_for_its_program_wherever_the_folder_is() {
        let folder = tempfile::tempdir().unwrap();
        let programs = folder.path().join("a b").join(PROGRAMS);
        let libraries = folder.path().join("a b/usr/lib/x86_64-linux-gnu");
        fs::create_dir_all(&programs).unwrap();
        fs::create_dir_all(&libraries).unwrap();
        let loader = libraries.join("ld-linux-x86-64.so.2");
        fs::write(&loader, "#!/bin/sh\nprintf '%s\\n' \"$PROJ_DATA\" \"$@\"\n").unwrap();
        os::set_mode(&loader, 0o755).unwrap();
        fs::write(programs.join("postgres"), "").unwrap();
        wrap(&programs, "postgres", &Loader::within(&folder.path().join("a b")).unwrap()).unwrap();

        let moved = folder.path().join("moved here");
        fs::rename(folder.path().join("a b"), &moved).unwrap();
        let program = moved.join(PROGRAMS).join("postgres");
        let output = std::process::Command::new(program).args(["-D", "x y"]).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<&str> = said.lines().collect();
        let [proj, option, path, own, rest @ ..] = lines.as_slice() else { panic!("{said}") };
        assert!(proj.starts_with(moved.to_str().unwrap()) && proj.ends_with("/usr/share/proj"), "{proj}");
        assert_eq!(*option, "--library-path");
        assert!(path.contains("/usr/lib/x86_64-linux-gnu:") && path.ends_with("/usr/lib"), "{path}");
        assert!(own.ends_with("/usr/lib/postgresql/17/bin/postgres.program"), "{own}");
        assert_eq!(rest, ["-D", "x y"]);
    }

    #[test]
    fn extensions_get_their_plain_names_and_a_folder_without_them_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(name_extensions(folder.path()).unwrap_err().to_string().contains("PostGIS"));
        for name in ["postgis-3.control", "postgis_raster-3.control", "vector.control"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        name_extensions(folder.path()).unwrap();
        for name in ["postgis.control", "postgis_raster.control", "vector.control"] {
            assert!(folder.path().join(name).exists(), "{name}");
        }
    }
}

//! The library of DuckDB, which some members are linked with: where it is, or what is left out without it.
//!
//! Nothing here compiles its C++. The library is fetched like a server of the tests
//! (`cargo xtask services`), or it is a person's own, named by `DUCKDB_LIB_DIR`. What only looks at the code
//! (check, clippy, documentation) does without.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::test::Servers;
use crate::workspace::Workspace;

/// The crate that links it; the service that fetches it has the same name.
pub(crate) const CRATE: &str = "duckdb";
const FOLDER: &str = "DUCKDB_LIB_DIR";
const SEARCH: &str = "LD_LIBRARY_PATH";

/// Where the library is.
#[derive(Debug)]
pub(crate) struct Library {
    folder: Option<PathBuf>,
}

impl Library {
    /// Fetches it where it is not there yet. Why it cannot be had is among the skips of the servers.
    pub(crate) fn fetch(workspace: &Workspace) -> (Self, Servers) {
        let servers = Servers::bring_up(workspace, &[CRATE]);
        (Self::of(&servers), servers)
    }

    /// The one that was brought up with servers, or a person's own.
    pub(crate) fn of(servers: &Servers) -> Self {
        let fetched =
            servers.variables().iter().find(|(name, _)| name == FOLDER).map(|(_, value)| value.into());
        Self { folder: env::var_os(FOLDER).map(PathBuf::from).or(fetched) }
    }

    /// The workspace without what cannot be linked.
    pub(crate) fn fit(&self, workspace: &Workspace) -> Workspace {
        if self.folder.is_some() { workspace.clone() } else { workspace.without(CRATE) }
    }

    /// Whether it is there.
    pub(crate) fn is_there(&self) -> bool {
        self.folder.is_some()
    }

    /// What a build, and a program that was built, must be told.
    pub(crate) fn environment(&self) -> Vec<(String, OsString)> {
        let Some(folder) = &self.folder else { return Vec::new() };
        let others = env::var_os(SEARCH).unwrap_or_default();
        let folders = std::iter::once(folder.clone()).chain(env::split_paths(&others));
        // A folder with a colon in its name cannot be searched; then the program says so itself.
        let search = env::join_paths(folders).unwrap_or_default();
        vec![
            (FOLDER.to_owned(), folder.into()),
            ("DUCKDB_DOWNLOAD_LIB".to_owned(), "0".into()),
            (SEARCH.to_owned(), search),
        ]
    }
}

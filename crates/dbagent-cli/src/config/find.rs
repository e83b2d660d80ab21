//! Where the configuration and the history are.

use std::path::{Path, PathBuf};

use dbagent::{Error, ErrorKind};

use super::Environment;
use crate::mask::shown_path;

const NAME: &str = "dbagent.toml";

/// The file to read: the named one, which must exist; else `./dbagent.toml`; else the user's.
///
/// # Errors
/// [`ErrorKind::Config`] when the named file is not there.
pub(crate) fn find(named: Option<&Path>, environment: Environment<'_>) -> Result<Option<PathBuf>, Error> {
    if let Some(path) = named {
        let wrong = match path.metadata() {
            Ok(found) if found.is_file() => return Ok(Some(path.to_owned())),
            Ok(_) => "the configuration must be a file, and this is a folder or a device",
            Err(_) => "the configuration file does not exist",
        };
        return Err(Error::new(ErrorKind::Config, wrong)
            .with("file", shown_path(path))
            .hint("check --config and the environment variable DBAGENT_CONFIG"));
    }
    let candidates = [Some(PathBuf::from(NAME)), user_file(environment)];
    Ok(candidates.into_iter().flatten().find(|path| path.is_file()))
}

/// The user's own configuration file, whether it exists or not.
pub(crate) fn user_file(environment: Environment<'_>) -> Option<PathBuf> {
    Some(folder(environment, "XDG_CONFIG_HOME", ".config", "APPDATA")?.join(NAME))
}

/// Where the history is kept.
pub(crate) fn state_folder(environment: Environment<'_>) -> Option<PathBuf> {
    folder(environment, "XDG_STATE_HOME", ".local/state", "LOCALAPPDATA")
}

fn folder(environment: Environment<'_>, xdg: &str, below_home: &str, windows: &str) -> Option<PathBuf> {
    let absolute = |name: &str| environment(name).map(PathBuf::from).filter(|p| p.is_absolute());
    // The XDG rules: a relative path in these variables is ignored.
    let base = absolute(xdg).or_else(|| {
        if cfg!(windows) { absolute(windows) } else { absolute("HOME").map(|home| home.join(below_home)) }
    })?;
    Some(base.join("dbagent"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn folders_follow_xdg() {
        let xdg = |name: &str| match name {
            "XDG_CONFIG_HOME" => Some("/x".to_owned()),
            "XDG_STATE_HOME" => Some("relative".to_owned()),
            "HOME" => Some("/h".to_owned()),
            _ => None,
        };
        assert_eq!(user_file(&xdg).unwrap(), Path::new("/x/dbagent/dbagent.toml"));
        assert_eq!(state_folder(&xdg).unwrap(), Path::new("/h/.local/state/dbagent"));
        assert_eq!(state_folder(&|_| None), None);
    }

    #[test]
    fn a_named_file_must_exist() {
        let e = find(Some(Path::new("no/such/file.toml")), &|_| None).unwrap_err();
        assert!(e.to_string().contains("no/such/file.toml"), "{e}");
        let e = find(Some(Path::new("/dev/null")), &|_| None).unwrap_err();
        assert!(e.to_string().contains("must be a file") && !e.to_string().contains("exist"), "{e}");
    }
}

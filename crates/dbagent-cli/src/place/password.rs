//! Where a password comes from: a prompt, a file, the configuration, the environment.

use std::io;
use std::path::Path;

use dbagent::{ConnUrl, Credential, Dialect, Error, ErrorKind, Secret};

use super::Access;
use crate::app::{App, hold_interrupts};
use crate::config;
use crate::exit::usage;
use crate::mask::shown_path;

/// The variable that holds a password for whatever database is asked.
pub(crate) const VARIABLE: &str = "DBAGENT_PASSWORD";
/// The largest password file.
const MAX_FILE: u64 = 64 << 10;

/// The password to set, if any: what the command line asks for wins; the environment is used where neither
/// the URL nor the configuration has one and the dialect knows passwords.
pub(super) fn find(
    app: &App,
    dialect: &Dialect,
    url: &ConnUrl,
    credential: &Credential,
    access: &Access,
) -> Result<Option<Secret>, Error> {
    let known = dialect.known_credentials().iter().any(|key| key.name == "password");
    if !known && (access.ask_password || access.password_file.is_some()) {
        return Err(usage(format!("{} takes no password", dialect.display_name()))
            .hint("leave out --ask-password and --password-file"));
    }
    if access.ask_password {
        return ask(app, "Password: ").map(Some);
    }
    if let Some(path) = &access.password_file {
        return from_file(path).map(Some);
    }
    let has_one = url.password().is_some() || credential.get("password").is_some();
    if !known || has_one {
        return Ok(None);
    }
    Ok(config::environment(VARIABLE).filter(|p| !p.is_empty()).map(Secret::new))
}

/// Asks a person at the terminal.
///
/// # Errors
/// [`ErrorKind::Config`] where there is no terminal.
pub(crate) fn ask(app: &App, prompt: &str) -> Result<Secret, Error> {
    app.ui.detail("asking for the password");
    // At Ctrl-C the prompt raises the signal before it gives the terminal its echo back.
    let held = hold_interrupts();
    let typed = rpassword::prompt_password(prompt);
    drop(held);
    read(typed)
}

/// What was typed, or why nothing was.
fn read(typed: io::Result<String>) -> Result<Secret, Error> {
    match typed {
        Ok(password) if password.is_empty() => Err(Error::new(ErrorKind::Config, "no password was typed")
            .hint("type it at the prompt, or leave out --ask-password where there is none")),
        Ok(password) => Ok(Secret::new(password)),
        Err(e) => Err(match e.kind() {
            io::ErrorKind::Interrupted => {
                Error::new(ErrorKind::Cancelled, "cancelled while the password was asked for")
            }
            io::ErrorKind::UnexpectedEof => Error::new(ErrorKind::Config, "no password was typed"),
            _ => Error::new(ErrorKind::Config, "the password cannot be asked for: there is no terminal")
                .hint(format!("use {VARIABLE} or --password-file")),
        }
        .source(e)),
    }
}

/// The first line of a file.
///
/// # Errors
/// [`ErrorKind::Config`] for a file that cannot be one.
pub(crate) fn from_file(path: &Path) -> Result<Secret, Error> {
    let failed = |message: &str| Error::new(ErrorKind::Config, message).with("file", shown_path(path));
    let read = std::fs::metadata(path)
        .and_then(|meta| if meta.len() > MAX_FILE { Ok(None) } else { std::fs::read(path).map(Some) });
    let bytes = match read {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err(failed("the password file is too large to be one")),
        Err(e) => {
            let why = crate::input::reason(&e);
            return Err(failed(&format!("the password file cannot be read: {why}")).source(e));
        }
    };
    let text = String::from_utf8(bytes).map_err(|_| failed("the password file is not UTF-8 text"))?;
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(Secret::new(line)),
        _ => Err(failed("the first line of the password file is empty")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_told_from_nothing() {
        assert_eq!(read(Ok("can ary".to_owned())).unwrap().expose(), "can ary");
        let kind = |typed| read(typed).unwrap_err().kind();
        assert_eq!(kind(Ok(String::new())), ErrorKind::Config);
        assert_eq!(kind(Err(io::ErrorKind::Interrupted.into())), ErrorKind::Cancelled);
        let e = read(Err(io::ErrorKind::UnexpectedEof.into())).unwrap_err();
        assert_eq!(e.to_string(), "no password was typed");
        let e = read(Err(io::ErrorKind::NotFound.into())).unwrap_err();
        assert!(e.to_string().contains("no terminal") && e.hint_text().unwrap().contains("--password-file"));
    }

    #[test]
    fn a_file_gives_its_first_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        std::fs::write(&path, "can ary\r\nrest").unwrap();
        assert_eq!(from_file(&path).unwrap().expose(), "can ary");
        std::fs::write(&path, "\nrest").unwrap();
        assert!(from_file(&path).unwrap_err().to_string().contains("empty"));
        std::fs::write(&path, [0xff, b'c']).unwrap();
        assert!(from_file(&path).unwrap_err().to_string().contains("UTF-8"));
        assert!(from_file(&folder.path().join("absent")).unwrap_err().to_string().contains("cannot be read"));
    }
}

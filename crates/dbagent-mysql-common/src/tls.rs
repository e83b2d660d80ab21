//! Encryption, by the names that MySQL's own programs use.

use std::path::{Path, PathBuf};

use dbagent_core::{Error, ErrorKind, Result};
use sqlx::mysql::{MySqlConnectOptions, MySqlSslMode};

/// How much encryption is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// None.
    Disabled,
    /// If the server offers it. The server is not checked.
    Preferred,
    /// Always. The server is not checked.
    Required,
    /// Always, and a trusted authority signed the server's certificate.
    VerifyCa,
    /// The same, and the certificate is for the host that was named.
    VerifyIdentity,
}

const MODES: &[(&str, Mode)] = &[
    ("DISABLED", Mode::Disabled),
    ("PREFERRED", Mode::Preferred),
    ("REQUIRED", Mode::Required),
    ("VERIFY_CA", Mode::VerifyCa),
    ("VERIFY_IDENTITY", Mode::VerifyIdentity),
];

/// What is wanted, and the files that it needs.
#[derive(Debug, Clone)]
pub(crate) struct Tls {
    pub(crate) mode: Mode,
    ca: Option<PathBuf>,
    /// The client's certificate and key.
    client: Option<(PathBuf, PathBuf)>,
}

impl Tls {
    /// Reads the settings. Without a mode it is `PREFERRED`, or `VERIFY_CA` where an authority is named:
    /// whoever names one wants it to be asked.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] for an unknown mode, for half of a client certificate, and for files beside
    /// `DISABLED`.
    pub(crate) fn of(
        mode: Option<&str>,
        ca: Option<&str>,
        cert: Option<&str>,
        key: Option<&str>,
    ) -> Result<Self> {
        let config = |message: String| Error::new(ErrorKind::Config, message).op("open");
        let client = match (cert, key) {
            (Some(cert), Some(key)) => Some((PathBuf::from(cert), PathBuf::from(key))),
            (None, None) => None,
            _ => return Err(config("a client certificate needs both ssl-cert and ssl-key".to_owned())),
        };
        let mode = match mode {
            None if ca.is_some() => Mode::VerifyCa,
            None => Mode::Preferred,
            Some(text) => {
                let name = text.trim().to_ascii_uppercase().replace('-', "_");
                let Some((_, mode)) = MODES.iter().find(|(known, _)| *known == name) else {
                    let known: Vec<&str> = MODES.iter().map(|(name, _)| *name).collect();
                    return Err(config("the value of ssl-mode is none of its modes".to_owned())
                        .hint(format!("it is one of {}", known.join(", "))));
                };
                *mode
            }
        };
        if mode == Mode::Disabled && (ca.is_some() || client.is_some()) {
            return Err(config("ssl-mode is DISABLED and certificates are given".to_owned())
                .hint("leave out one of the two"));
        }
        if matches!(mode, Mode::Preferred | Mode::Required) && ca.is_some() {
            return Err(config("ssl-ca is given and ssl-mode would not look at it".to_owned())
                .hint("use VERIFY_CA or VERIFY_IDENTITY"));
        }
        Ok(Self { mode, ca: ca.map(PathBuf::from), client })
    }

    /// Checks that the files are there: the driver would only say so in the middle of a handshake. Their paths
    /// may have come as credentials, so they are not shown.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] that says which one.
    pub(crate) fn check_files(&self) -> Result<()> {
        let readable = |what: &str, path: &Path| {
            std::fs::File::open(path).map(drop).map_err(|e| {
                Error::new(ErrorKind::Config, format!("the file of {what} cannot be read"))
                    .op("open")
                    .hint("check its path and the rights on it")
                    .source(e)
            })
        };
        if let Some(ca) = &self.ca {
            readable("ssl-ca", ca)?;
        }
        if let Some((cert, key)) = &self.client {
            readable("ssl-cert", cert)?;
            readable("ssl-key", key)?;
        }
        Ok(())
    }

    /// Sets it on the driver's options.
    pub(crate) fn apply(&self, options: MySqlConnectOptions) -> MySqlConnectOptions {
        let mut options = options.ssl_mode(match self.mode {
            Mode::Disabled => MySqlSslMode::Disabled,
            Mode::Preferred => MySqlSslMode::Preferred,
            Mode::Required => MySqlSslMode::Required,
            Mode::VerifyCa => MySqlSslMode::VerifyCa,
            Mode::VerifyIdentity => MySqlSslMode::VerifyIdentity,
        });
        if let Some(ca) = &self.ca {
            options = options.ssl_ca(ca);
        }
        if let Some((cert, key)) = &self.client {
            options = options.ssl_client_cert(cert).ssl_client_key(key);
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_authority_is_always_asked() {
        assert_eq!(Tls::of(None, Some("/ca.pem"), None, None).unwrap().mode, Mode::VerifyCa);
        assert_eq!(Tls::of(None, None, None, None).unwrap().mode, Mode::Preferred);
        assert_eq!(Tls::of(Some("verify-identity"), None, None, None).unwrap().mode, Mode::VerifyIdentity);
        for mode in ["DISABLED", "PREFERRED", "REQUIRED"] {
            assert!(Tls::of(Some(mode), Some("/ca.pem"), None, None).is_err(), "{mode}");
        }
        assert!(Tls::of(None, None, Some("/c.pem"), None).is_err());
    }

    #[test]
    fn missing_files_are_named() {
        let tls = Tls::of(None, Some("/no/such/ca.pem"), None, None).unwrap();
        let e = tls.check_files().unwrap_err();
        assert!(e.kind() == ErrorKind::Config && e.to_string().contains("ssl-ca"), "{e}");
    }
}

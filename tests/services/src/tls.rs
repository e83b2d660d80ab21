//! Certificates for one server: an authority of its own, the server's, and one for a client.

use std::fs;
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};

use crate::error::{Doing as _, Result};
use crate::os::{self, User};

/// Where the files are. The keys can be read by their owner only.
#[derive(Debug, Clone)]
pub(crate) struct Tls {
    folder: PathBuf,
}

impl Tls {
    pub(crate) fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// The certificate of the authority, which clients trust.
    pub(crate) fn authority(&self) -> PathBuf {
        self.folder.join("ca.pem")
    }

    pub(crate) fn server_certificate(&self) -> PathBuf {
        self.folder.join("server.pem")
    }

    pub(crate) fn server_key(&self) -> PathBuf {
        self.folder.join("server.key")
    }

    pub(crate) fn client_certificate(&self) -> PathBuf {
        self.folder.join("client.pem")
    }

    pub(crate) fn client_key(&self) -> PathBuf {
        self.folder.join("client.key")
    }

    /// Makes all of them. The server's key is for the account it runs under, the client's is for us.
    pub(crate) fn make(&self, client: &str, server: Option<&User>) -> Result<()> {
        let cannot = || "cannot make certificates".to_owned();
        let mut authority = named("dbagent test authority", &[])?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let authority =
            CertifiedIssuer::self_signed(authority, KeyPair::generate().doing(cannot)?).doing(cannot)?;
        write(&self.authority(), &authority.pem(), 0o644)?;

        for (name, alternatives, usage, certificate_path, key_path) in [
            (
                "localhost",
                &["localhost", "127.0.0.1"][..],
                ExtendedKeyUsagePurpose::ServerAuth,
                self.server_certificate(),
                self.server_key(),
            ),
            (
                client,
                &[][..],
                ExtendedKeyUsagePurpose::ClientAuth,
                self.client_certificate(),
                self.client_key(),
            ),
        ] {
            let mut parameters = named(name, alternatives)?;
            parameters.use_authority_key_identifier_extension = true;
            parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
            parameters.extended_key_usages = vec![usage];
            let key = KeyPair::generate().doing(cannot)?;
            let certificate = parameters.signed_by(&key, &authority).doing(cannot)?;
            write(&certificate_path, &certificate.pem(), 0o644)?;
            write(&key_path, &key.serialize_pem(), 0o600)?;
        }
        os::give(&self.server_key(), server)
    }
}

fn write(path: &Path, text: &str, mode: u32) -> Result<()> {
    fs::write(path, text).doing(|| format!("cannot write {}", path.display()))?;
    os::set_mode(path, mode)
}

fn named(name: &str, alternatives: &[&str]) -> Result<CertificateParams> {
    let alternatives: Vec<String> = alternatives.iter().map(|name| (*name).to_owned()).collect();
    let mut parameters = CertificateParams::new(alternatives).doing(|| "cannot make certificates".into())?;
    parameters.distinguished_name = rcgen::DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.not_before = date_time_ymd(2020, 1, 1);
    parameters.not_after = date_time_ymd(2120, 1, 1);
    Ok(parameters)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn keys_are_for_their_owner_and_certificates_for_everybody() {
        let folder = tempfile::tempdir().unwrap();
        let tls = Tls::at(folder.path());
        tls.make("somebody", None).unwrap();
        let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(tls.server_key()), 0o600);
        assert_eq!(mode(tls.client_key()), 0o600);
        for path in [tls.authority(), tls.server_certificate(), tls.client_certificate()] {
            assert!(fs::read_to_string(&path).unwrap().starts_with("-----BEGIN CERTIFICATE-----"));
            assert_eq!(mode(path), 0o644);
        }
    }
}

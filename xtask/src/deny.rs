//! `deny.toml`, read as cargo-deny reads it, so that both hold the same lists.
//!
//! The table of who may depend on what lives there and nowhere else: a ban with `wrappers` names the
//! packages that may use a crate, a ban without them forbids it altogether.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

/// What xtask needs of `deny.toml`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Deny {
    pub(crate) licenses: Licenses,
    pub(crate) bans: Bans,
}

/// `[licenses]`: what may be in the graph.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Licenses {
    pub(crate) allow: Vec<String>,
    #[serde(default)]
    pub(crate) exceptions: Vec<Exception>,
}

/// A licence allowed for one crate only.
#[derive(Debug, Deserialize)]
pub(crate) struct Exception {
    #[serde(rename = "crate")]
    pub(crate) name: String,
    pub(crate) allow: Vec<String>,
}

/// `[bans]`: who may depend on what.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Bans {
    #[serde(default)]
    pub(crate) deny: Vec<Ban>,
}

/// One crate that not everybody may depend on.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Ban {
    #[serde(rename = "crate")]
    pub(crate) name: String,
    /// Who may depend on it directly; nobody when empty.
    #[serde(default)]
    pub(crate) wrappers: Vec<String>,
    pub(crate) reason: String,
}

impl Deny {
    /// Reads `deny.toml` in the root folder.
    pub(crate) fn load(root: &Path) -> Result<Self> {
        let path = root.join("deny.toml");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("cannot use {}", path.display()))
    }

    pub(crate) fn parse(text: &str) -> Result<Self> {
        let deny: Self = toml::from_str(text)?;
        if let Some(ban) = deny.bans.deny.iter().find(|ban| ban.name.contains(['@', ':', '*'])) {
            bail!("the ban of `{}` names more than a crate; xtask reads plain names only", ban.name);
        }
        Ok(deny)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_deny_needs_and_xtask_does_not_is_passed_over() {
        let deny = Deny::parse(
            r#"
            [graph]
            all-features = false
            [licenses]
            allow = ["MIT"]
            confidence-threshold = 0.9
            [[licenses.exceptions]]
            crate = "webpki-roots"
            allow = ["CDLA-Permissive-2.0"]
            [bans]
            multiple-versions = "allow"
            deny = [
                { crate = "rusqlite", wrappers = ["dbagent-sqlite"], reason = "drivers stay in their dialect" },
                { crate = "openssl", reason = "one TLS provider" },
            ]
            "#,
        )
        .unwrap();
        assert_eq!(deny.licenses.allow, ["MIT"]);
        assert_eq!(deny.licenses.exceptions[0].name, "webpki-roots");
        assert_eq!(deny.bans.deny[0].wrappers, ["dbagent-sqlite"]);
        assert!(deny.bans.deny[1].wrappers.is_empty());
    }

    #[test]
    fn a_ban_needs_a_reason_and_a_plain_name() {
        let without_reason = "[licenses]\nallow = []\n[bans]\ndeny = [{ crate = 'openssl' }]";
        assert!(Deny::parse(without_reason).is_err());
        let with_version = "[licenses]\nallow = []\n[bans]\ndeny = [{ crate = 'ring@0.16', reason = 'old' }]";
        let error = Deny::parse(with_version).unwrap_err().to_string();
        assert!(error.contains("plain names only"), "{error}");
    }
}

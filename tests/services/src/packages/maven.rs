//! Programs that are published as Maven artifacts: `mvn` fetches, with its mirrors and proxies.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{check_sum, last_lines, run};
use crate::cache::say;
use crate::error::{Doing as _, Error, Result};

/// One jar of one version.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Artifact {
    pub(crate) group: &'static str,
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// Of the jar as it was published.
    pub(crate) sha256: &'static str,
}

/// The plugin that copies an artifact to a folder, pinned: its newest may need a newer Maven.
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

impl Artifact {
    /// Fetches the jar into a folder. Maven compares it with the registry's sum, we with ours.
    pub(crate) fn fetch(&self, folder: &Path) -> Result<PathBuf> {
        say(&format!("fetching {} {} with mvn", self.name, self.version));
        let mut command = Command::new("mvn");
        command
            // A `pom.xml` where we happen to be is not ours to read.
            .current_dir(folder)
            .args(["--quiet", "--batch-mode", "--strict-checksums", COPY])
            .arg(format!("-Dartifact={}:{}:{}", self.group, self.name, self.version))
            .arg(format!("-DoutputDirectory={}", folder.display()));
        run(
            &mut command,
            "install Maven and a Java runtime, for example `apt-get install maven default-jre-headless`",
        )?;
        let jar = folder.join(format!("{}-{}.jar", self.name, self.version));
        check_sum(&jar, self.sha256)?;
        Ok(jar)
    }
}

/// One file of a jar.
pub(crate) fn read_entry(jar: &Path, name: &str) -> Result<Vec<u8>> {
    let cannot = || format!("cannot read `{name}` in {}", jar.display());
    let mut archive = zip::ZipArchive::new(File::open(jar).doing(cannot)?).doing(cannot)?;
    let mut entry = archive.by_name(name).doing(cannot)?;
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes).doing(cannot)?;
    Ok(bytes)
}

/// Unpacks a tar archive, compressed by xz, into a folder.
pub(crate) fn unpack_tar_xz(archive: &[u8], folder: &Path) -> Result<()> {
    let mut child = Command::new("tar")
        .args(["--extract", "--xz", "--no-same-owner", "--directory"])
        .arg(folder)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .doing(|| "cannot start `tar`".into())?;
    // An end of it before all is written shows in its status.
    let written = child.stdin.take().map_or(Ok(()), |mut pipe| io::Write::write_all(&mut pipe, archive));
    let output = child.wait_with_output().doing(|| "cannot wait for `tar`".into())?;
    if output.status.success() && written.is_ok() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Error::new(format!("`tar --xz` failed (is xz-utils installed?): {}", last_lines(&said, 3))))
}

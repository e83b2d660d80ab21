//! The files of the checkout that people write and read.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

/// One text file.
#[derive(Debug)]
pub(super) struct TextFile {
    /// From the root, with `/` between folders.
    pub(super) path: String,
    pub(super) text: String,
}

const EXTENSIONS: &[&str] = &["rs", "md", "toml", "yml", "yaml", "txt"];

impl TextFile {
    /// What comes after the last dot of the name.
    pub(super) fn extension(&self) -> &str {
        extension(&self.path)
    }

    /// The name without its folders.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

/// Reads them all, by path. Left out is what cargo or git made: `target`, `.git`, and any folder that
/// calls itself a cache.
pub(super) fn read(root: &Path) -> Result<Vec<TextFile>> {
    let mut files = Vec::new();
    visit(root, "", &mut files)?;
    files.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(files)
}

fn visit(folder: &Path, prefix: &str, files: &mut Vec<TextFile>) -> Result<()> {
    let cannot_list = || format!("cannot list {}", folder.display());
    for entry in fs::read_dir(folder).with_context(cannot_list)? {
        let entry = entry.with_context(cannot_list)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        let kind = entry.file_type().with_context(|| format!("cannot look at {}", path.display()))?;
        if kind.is_dir() {
            // A folder of a crate may be called `target` too: only the one at the root is cargo's by its name.
            let is_build = prefix.is_empty() && name == "target";
            if !is_build && name != ".git" && !path.join("CACHEDIR.TAG").exists() {
                visit(&path, &format!("{prefix}{name}/"), files)?;
            }
        } else if kind.is_file() && (EXTENSIONS.contains(&extension(&name)) || prefix == ".ci/") {
            let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let text =
                String::from_utf8(bytes).with_context(|| format!("{} is not UTF-8", path.display()))?;
            files.push(TextFile { path: format!("{prefix}{name}"), text });
        }
    }
    Ok(())
}

fn extension(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}

#[cfg(test)]
pub(super) fn file(path: &str, text: &str) -> TextFile {
    TextFile { path: path.to_owned(), text: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_read_and_what_tools_make_is_not() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        };
        for path in ["crates/a/src/lib.rs", "README.md", ".ci/run", ".cargo/config.toml", "tests/data/x.db"] {
            write(path);
        }
        for path in ["target/debug/x.rs", ".git/y.md", "cache/CACHEDIR.TAG", "cache/z.rs"] {
            write(path);
        }
        let paths: Vec<String> = read(root.path()).unwrap().into_iter().map(|file| file.path).collect();
        assert_eq!(paths, [".cargo/config.toml", ".ci/run", "README.md", "crates/a/src/lib.rs"]);
    }
}

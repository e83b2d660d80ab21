//! Where each value of a configuration comes from.

use std::collections::BTreeMap;

use toml::de::DeValue;

use super::check::Document;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Origin {
    /// The line of the file.
    pub(crate) line: usize,
    /// The environment variables in it.
    pub(crate) variables: Vec<String>,
}

/// The origins of all values, by path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Origins(BTreeMap<Vec<String>, Origin>);

impl Origins {
    pub(super) fn of(document: &Document<'_>) -> Self {
        let mut origins = Self::default();
        for (key, value) in document.table() {
            origins.add(document, vec![key.get_ref().to_string()], key.span().start, value.get_ref());
        }
        origins
    }

    fn add(&mut self, document: &Document<'_>, path: Vec<String>, at: usize, value: &DeValue<'_>) {
        self.0.insert(path.clone(), Origin { line: document.line(at), variables: Vec::new() });
        let below = |name: String| path.iter().cloned().chain([name]).collect::<Vec<_>>();
        match value {
            DeValue::Table(table) => {
                for (key, value) in table {
                    self.add(document, below(key.get_ref().to_string()), key.span().start, value.get_ref());
                }
            }
            DeValue::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    self.add(document, below(i.to_string()), item.span().start, item.get_ref());
                }
            }
            _ => {}
        }
    }

    /// Where the value of that path comes from.
    pub(crate) fn get(&self, path: &[String]) -> Option<&Origin> {
        self.0.get(path)
    }

    /// The line of that path, or of the nearest that stands in the file above it.
    pub(crate) fn line(&self, path: &[String]) -> Option<usize> {
        (1..=path.len()).rev().find_map(|n| self.0.get(path.get(..n)?)).map(|o| o.line)
    }

    pub(super) fn note_variable(&mut self, path: &[String], name: &str) {
        self.0.entry(path.to_vec()).or_default().variables.push(name.to_owned());
    }
}

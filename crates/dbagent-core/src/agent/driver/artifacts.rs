//! What a run keeps for the host: the newest artifacts, within a number of bytes.

use crate::artifact::{Artifact, NotKept};

/// The artifacts of a run, oldest first.
pub(super) struct Artifacts {
    kept: Vec<(String, Artifact)>,
    /// Place of the oldest that may still hold something.
    oldest: usize,
    bytes: u64,
    limit: u64,
}

impl Artifacts {
    pub(super) fn new(limit: u64) -> Self {
        Self { kept: Vec::new(), oldest: 0, bytes: 0, limit }
    }

    /// Keeps one more. The oldest make room for it: the last results are those that an answer rests on.
    pub(super) fn keep(&mut self, key: String, artifact: Artifact) {
        self.bytes = self.bytes.saturating_add(artifact.bytes());
        self.kept.push((key, artifact));
        while self.bytes > self.limit {
            let Some((_, old)) = self.kept.get_mut(self.oldest) else { break };
            let bytes = old.bytes();
            let gone = NotKept {
                kind: old.kind(),
                statement: match old {
                    Artifact::Rows(rows) => Some(rows.statement.clone()),
                    Artifact::Plan { statement, .. } => Some(statement.clone()),
                    _ => None,
                },
                rows: match old {
                    Artifact::Rows(rows) => Some(rows.ending.rows),
                    _ => None,
                },
                bytes,
                limit: self.limit,
            };
            *old = Artifact::NotKept(gone);
            self.bytes = self.bytes.saturating_sub(bytes);
            self.oldest += 1;
        }
    }

    /// All of them.
    pub(super) fn take(&mut self) -> Vec<(String, Artifact)> {
        self.bytes = 0;
        self.oldest = 0;
        std::mem::take(&mut self.kept)
    }
}

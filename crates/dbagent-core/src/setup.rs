//! What an agent was made of when it worked on a thread: model, prompt, tools, policies. Written with each
//! run and compared when a thread goes on, so that nobody finishes a call under rules that it was not
//! asked under.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// What an agent is made of, as digests. Two of them are compared with [`changes`](Self::changes).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Setup {
    /// The model's id.
    pub model: String,
    /// Digest of the system text and of what the tools say about themselves.
    pub prompt: String,
    /// Digest of the arguments and hints of each tool, by name.
    pub tools: BTreeMap<String, String>,
    /// Digest of the policy and the access of each database, by the target's name.
    pub policies: BTreeMap<String, String>,
    /// The tools that work on the databases, and thus under their policies.
    pub guarded: Vec<String>,
}

/// One thing that is not as it was.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetupChange {
    /// Another model.
    Model {
        /// The one before.
        from: String,
        /// The one now.
        to: String,
    },
    /// Another system text, or other descriptions of tools.
    Prompt,
    /// A tool that was not there.
    ToolAdded(String),
    /// A tool that is no longer there.
    ToolGone(String),
    /// A tool that takes other arguments, or says something else about what its calls do.
    Tool(String),
    /// The policy or the access of the target of that name.
    Policy(String),
}

impl fmt::Display for SetupChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model { from, to } => write!(f, "the model was {from:?} and is {to:?}"),
            Self::Prompt => f.write_str("the prompt is another one"),
            Self::ToolAdded(name) => write!(f, "the tool {name:?} is new"),
            Self::ToolGone(name) => write!(f, "the tool {name:?} is gone"),
            Self::Tool(name) => write!(f, "the tool {name:?} takes other arguments or does something else"),
            Self::Policy(name) => {
                write!(f, "the policy or the access of the database {name:?} is another one")
            }
        }
    }
}

impl Setup {
    /// What is not as it was in `before`, in a stable order.
    pub fn changes(&self, before: &Setup) -> Vec<SetupChange> {
        let mut changes = Vec::new();
        if self.model != before.model {
            changes.push(SetupChange::Model { from: before.model.clone(), to: self.model.clone() });
        }
        if self.prompt != before.prompt {
            changes.push(SetupChange::Prompt);
        }
        for (name, digest) in &before.tools {
            match self.tools.get(name) {
                None => changes.push(SetupChange::ToolGone(name.clone())),
                Some(now) if now != digest => changes.push(SetupChange::Tool(name.clone())),
                Some(_) => {}
            }
        }
        let new = self.tools.keys().filter(|name| !before.tools.contains_key(*name));
        changes.extend(new.cloned().map(SetupChange::ToolAdded));
        let mut targets: Vec<&String> = self.policies.keys().chain(before.policies.keys()).collect();
        targets.sort_unstable();
        targets.dedup();
        for name in targets {
            if self.policies.get(name) != before.policies.get(name) {
                changes.push(SetupChange::Policy(name.clone()));
            }
        }
        changes
    }

    /// Whether a change touches a call of that tool: its own arguments, or the rules that it runs under.
    pub fn touches(&self, change: &SetupChange, tool: &str) -> bool {
        match change {
            SetupChange::Tool(name) | SetupChange::ToolGone(name) => name == tool,
            SetupChange::Policy(_) => self.guarded.iter().any(|name| name == tool),
            SetupChange::Model { .. } | SetupChange::Prompt | SetupChange::ToolAdded(_) => false,
        }
    }

    /// One digest of everything.
    pub fn fingerprint(&self) -> String {
        // Strings in maps and lists always become JSON.
        digest([serde_json::to_vec(self).unwrap_or_default()])
    }
}

/// Digest of parts that cannot run into each other.
pub(crate) fn digest(parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        let part = part.as_ref();
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(16).fold(String::new(), |mut out, b| {
        // Writing to a String cannot fail.
        _ = write!(out, "{b:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_named_and_touches_only_its_own_calls() {
        let map = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<BTreeMap<_, _>>()
        };
        let before = Setup {
            model: "a".into(),
            prompt: "1".into(),
            tools: map(&[("mail", "1"), ("old", "1"), ("query", "1")]),
            policies: map(&[("main", "1")]),
            guarded: vec!["query".into()],
        };
        assert!(before.changes(&before).is_empty());
        let now = Setup {
            model: "b".into(),
            prompt: "2".into(),
            tools: map(&[("mail", "2"), ("new", "1"), ("query", "1")]),
            policies: map(&[("main", "2")]),
            guarded: vec!["query".into()],
        };
        let changes = now.changes(&before);
        assert_eq!(
            changes,
            [
                SetupChange::Model { from: "a".into(), to: "b".into() },
                SetupChange::Prompt,
                SetupChange::Tool("mail".into()),
                SetupChange::ToolGone("old".into()),
                SetupChange::ToolAdded("new".into()),
                SetupChange::Policy("main".into()),
            ]
        );
        let touching =
            |tool: &str| changes.iter().filter(|c| now.touches(c, tool)).cloned().collect::<Vec<_>>();
        assert_eq!(touching("mail"), [SetupChange::Tool("mail".into())]);
        assert_eq!(touching("query"), [SetupChange::Policy("main".into())]);
        assert_eq!(touching("old"), [SetupChange::ToolGone("old".into())]);
        assert_ne!(now.fingerprint(), before.fingerprint());
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(digest(["ab", "c"]), digest(["a", "bc"]));
    }
}

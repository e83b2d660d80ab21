//! Facts: what a thread remembers. State is the fold of its facts; nothing else is durable truth.
//!
//! A record is stored as kind, version and body. A kind that this program does not know, or a version newer
//! than its own, stops the run with a clear error instead of being skipped. Older versions are read: what a
//! newer one added is absent in them. The golden files `facts-v*.jsonl` hold old logs that must stay readable.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::budget::Dimension;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Finish, ToolCall, Usage};
use crate::setup::Setup;

macro_rules! facts {
    ($($(#[doc = $doc:literal])+ $variant:ident = $kind:literal v $version:literal { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* })+) => {
        /// One thing that happened in a thread.
        #[non_exhaustive]
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        pub enum Fact {
            $($(#[doc = $doc])+ $variant { $($(#[$field_meta])* $field: $type,)* },)+
        }

        impl Fact {
            /// The stable name of the kind.
            pub const fn kind(&self) -> &'static str {
                match self { $(Fact::$variant { .. } => $kind,)+ }
            }

            /// The version in which the kind's body is written.
            pub const fn version(&self) -> u32 {
                match self { $(Fact::$variant { .. } => $version,)+ }
            }

            /// Every kind that this program knows, with its newest version.
            pub const KINDS: &'static [(&'static str, u32)] = &[$(($kind, $version),)+];
        }
    };
}

facts! {
    /// A run began with what a person (or a parent agent) said.
    RunStarted = "run_started" v 2 {
        /// Number of the run within its thread, from 1.
        run: u32,
        /// The question.
        input: String,
        /// Digest of what the agent was made of.
        fingerprint: String,
        /// What the agent was made of, part by part. Since version 2.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        setup: Option<Setup>,
    }
    /// An interrupted run goes on with an agent that is made of something else.
    RunResumed = "run_resumed" v 1 {
        /// What the agent is made of from here on.
        setup: Setup,
    }
    /// The model replied.
    ModelReplied = "model_replied" v 2 {
        /// The text.
        text: String,
        /// The calls.
        calls: Vec<ToolCall>,
        /// Why the reply ended.
        finish: Finish,
        /// Tokens and, since version 2, cost.
        usage: Usage,
        /// The model, as its server names it.
        model: String,
        /// Provider fields to be sent back.
        #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
        extras: serde_json::Map<String, serde_json::Value>,
    }
    /// Something was said to the model that is no answer of a tool: a repair, a host's steering.
    MessageInjected = "message_injected" v 1 {
        /// The text.
        text: String,
        /// Who said it.
        by: String,
    }
    /// A call may run, with these arguments.
    CallReady = "call_ready" v 1 {
        /// Our key.
        key: String,
        /// The arguments that run; they may differ from what the model wrote.
        arguments: String,
    }
    /// A call waits for a person.
    CallAsked = "call_asked" v 1 {
        /// Our key.
        key: String,
        /// Id of the approval.
        approval: String,
        /// Why a person is asked.
        reason: String,
        /// Digest of exactly what was shown.
        shown_hash: String,
        /// The arguments shown.
        arguments: String,
        /// When it expires, in milliseconds since 1970; never when absent.
        expires_ms: Option<u64>,
    }
    /// A person decided.
    CallDecided = "call_decided" v 1 {
        /// Our key.
        key: String,
        /// Id of the approval.
        approval: String,
        /// Whether it may run.
        approved: bool,
        /// Words for the model.
        message: String,
        /// Who decided.
        by: String,
        /// Digest of what was shown to them.
        shown_hash: String,
    }
    /// A call began.
    CallBegun = "call_begun" v 1 {
        /// Our key.
        key: String,
        /// Number of the attempt.
        attempt: u32,
    }
    /// A call ended.
    CallFinished = "call_finished" v 1 {
        /// Our key.
        key: String,
        /// What the model reads.
        text: String,
        /// Whether it failed.
        is_error: bool,
        /// What the host got of it, as figures; the artifact itself is not stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        artifact: Option<ArtifactFigures>,
    }
    /// All calls of a reply are answered.
    TurnClosed = "turn_closed" v 1 {
        /// Number of the turn, from 1.
        turn: u32,
    }
    /// A middleware keeps a value.
    MiddlewareState = "middleware_state" v 1 {
        /// The middleware.
        name: String,
        /// Its value.
        value: serde_json::Value,
    }
    /// Part of a budget is set aside for a call.
    BudgetReserved = "budget_reserved" v 1 {
        /// The call.
        key: String,
        /// What is counted.
        dimension: Dimension,
        /// How much.
        amount: u64,
    }
    /// A call used this much; its reservation is over.
    BudgetCharged = "budget_charged" v 1 {
        /// The call.
        key: String,
        /// What is counted.
        dimension: Dimension,
        /// How much.
        amount: u64,
    }
    /// A write is about to be committed.
    WriteCommitting = "write_committing" v 1 {
        /// The call.
        key: String,
        /// What to ask the database later.
        token: Option<String>,
    }
    /// A run ended.
    RunEnded = "run_ended" v 2 {
        /// Why.
        why: RunEnd,
        /// Tokens and cost of all its model calls. Since version 2.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    }
}

/// Why a run ended.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// With an answer.
    Answered,
    /// A budget was used up; the answer is what was there.
    BudgetExhausted(String),
    /// A middleware stopped it.
    Stopped(String),
    /// The caller cancelled.
    Cancelled,
    /// An error that the model cannot mend.
    Failed {
        /// The kind of the error.
        kind: String,
        /// Its text.
        message: String,
    },
}

/// Figures of an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ArtifactFigures {
    /// What it is: `rows`, `plan`, …
    pub kind: String,
    /// The statement, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
    /// Rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Columns by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// Whether everything was handed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
}

/// A fact in its place in a log.
#[derive(Debug, Clone, PartialEq)]
pub struct FactRecord {
    /// Its number in the thread, from 1, without gaps.
    pub seq: u64,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// What.
    pub fact: Fact,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    seq: u64,
    at_ms: u64,
    kind: String,
    version: u32,
    body: BTreeMap<String, serde_json::Value>,
}

impl FactRecord {
    /// The stored form: one JSON object.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] when a value cannot be written, which no fact of ours holds.
    pub fn to_json(&self) -> Result<String> {
        let internal = |e| Error::new(ErrorKind::Internal, "a fact cannot be written").source(e);
        let value = serde_json::to_value(&self.fact).map_err(internal)?;
        let mut body: BTreeMap<String, serde_json::Value> =
            serde_json::from_value(value).map_err(internal)?;
        body.remove("kind");
        let stored = Stored {
            seq: self.seq,
            at_ms: self.at_ms,
            kind: self.fact.kind().to_owned(),
            version: self.fact.version(),
            body,
        };
        serde_json::to_string(&stored).map_err(internal)
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`] for a kind or a version that this program does not know, and for a body
    /// that does not fit its kind.
    pub fn from_json(text: &str) -> Result<Self> {
        let incompatible = |m: String| {
            Error::new(ErrorKind::Incompatible, m)
                .op("load")
                .hint("a newer version of the program wrote this thread; update, or start a new thread")
        };
        let stored: Stored = serde_json::from_str(text)
            .map_err(|e| incompatible("a stored fact cannot be read".into()).source(e))?;
        let Some((_, known)) = Fact::KINDS.iter().find(|(kind, _)| *kind == stored.kind) else {
            return Err(incompatible(format!("unknown kind of fact {:?} at {}", stored.kind, stored.seq)));
        };
        if stored.version == 0 || stored.version > *known {
            return Err(incompatible(format!(
                "version {} of the fact {:?} at {} is not known, only those up to {known}",
                stored.version, stored.kind, stored.seq
            )));
        }
        let mut body = serde_json::Map::new();
        body.insert("kind".into(), serde_json::Value::String(stored.kind.clone()));
        body.extend(stored.body);
        let fact = serde_json::from_value(serde_json::Value::Object(body)).map_err(|e| {
            incompatible(format!("the fact {:?} at {} cannot be read", stored.kind, stored.seq)).source(e)
        })?;
        Ok(Self { seq: stored.seq, at_ms: stored.at_ms, fact })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_and_strangers_stop() {
        let record = FactRecord {
            seq: 3,
            at_ms: 5,
            fact: Fact::CallFinished {
                key: "t1c0".into(),
                text: "x".into(),
                is_error: false,
                artifact: None,
            },
        };
        let text = record.to_json().unwrap();
        assert_eq!(FactRecord::from_json(&text).unwrap(), record);
        for other in
            [text.replace("call_finished", "call_teleported"), text.replace("\"version\":1", "\"version\":2")]
        {
            assert_eq!(FactRecord::from_json(&other).unwrap_err().kind(), ErrorKind::Incompatible);
        }
    }

    #[test]
    fn the_kind_in_the_log_is_the_kind_of_serde() {
        let fact = Fact::TurnClosed { turn: 1 };
        let value = serde_json::to_value(&fact).unwrap();
        assert_eq!(value["kind"], fact.kind());
    }
}

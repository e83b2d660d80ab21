//! A model that replays a recording. The request is an assertion too: one that drifted fails with a diff.
//!
//! A cassette is a JSON Lines file, one `{"request": …, "reply": …}` a line. Requests hold what a model is
//! told and nothing else: no credential, no server, no deadline.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dbagent_core::model::{
    Model, ModelError, ModelErrorKind, ModelProfile, ModelRequest, ModelStream, OutputMode, Reply, drain,
};
use dbagent_core::serde_json::{self, Map, Value, json};
use dbagent_core::{Error, ErrorKind, async_trait};

use super::in_pieces;

/// Most lines of a diff that are shown.
const DIFF_LINES: usize = 40;

/// Replays or records a cassette.
///
/// Replaying is the default in every sense: [`replay`](Self::replay) never asks a model and never writes.
/// Recording happens only where a test calls [`record`](Self::record) with a real model.
pub struct CassetteModel {
    id: String,
    profile: ModelProfile,
    path: PathBuf,
    mode: Mode,
}

enum Mode {
    Replay { entries: Vec<Entry>, at: Mutex<usize> },
    Record { model: Arc<dyn Model>, file: Mutex<std::fs::File> },
}

struct Entry {
    request: Value,
    reply: Reply,
}

impl CassetteModel {
    /// Replays the recording in this file.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when it cannot be read, [`ErrorKind::Incompatible`] for a line that is no entry.
    pub fn replay(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|e| io("the cassette cannot be read", path, e))?;
        let mut entries = Vec::new();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            entries.push(entry(line).ok_or_else(|| {
                Error::new(ErrorKind::Incompatible, "a line of the cassette is no recorded reply")
                    .with("file", path.display())
                    .with("line", index + 1)
                    .hint("record it again")
            })?);
        }
        Ok(Self {
            id: "cassette".to_owned(),
            profile: ModelProfile::default(),
            path: path.to_owned(),
            mode: Mode::Replay { entries, at: Mutex::new(0) },
        })
    }

    /// Asks a real model and writes each request and reply to this file, which is replaced.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when the file cannot be written.
    pub fn record(model: Arc<dyn Model>, path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let file = std::fs::File::create(path).map_err(|e| io("the cassette cannot be written", path, e))?;
        Ok(Self {
            id: model.id().to_owned(),
            profile: model.profile(),
            path: path.to_owned(),
            mode: Mode::Record { model, file: Mutex::new(file) },
        })
    }

    /// Sets what the replayed model claims to be able to do. Use the profile it was recorded with.
    pub fn with_profile(mut self, profile: ModelProfile) -> Self {
        self.profile = profile;
        self
    }

    /// Asserts that every recorded reply was used.
    ///
    /// # Panics
    /// When some are left.
    #[track_caller]
    pub fn assert_used_up(&self) {
        if let Mode::Replay { entries, at } = &self.mode {
            let at = *at.lock().unwrap_or_else(PoisonError::into_inner);
            assert!(
                at >= entries.len(),
                "the cassette has {} replies that nobody asked for",
                entries.len().saturating_sub(at)
            );
        }
    }
}

fn io(what: &str, path: &Path, source: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, what).with("file", path.display()).source(source)
}

#[async_trait]
impl Model for CassetteModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn profile(&self) -> ModelProfile {
        self.profile.clone()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let asked = canonical(&request);
        match &self.mode {
            Mode::Replay { entries, at } => {
                let number = {
                    let mut at = at.lock().unwrap_or_else(PoisonError::into_inner);
                    *at += 1;
                    *at
                };
                let wrong = |what: String| {
                    let message = format!("{what} ({})", self.path.display());
                    ModelError::new(ModelErrorKind::InvalidRequest, message).retryable(false)
                };
                let Some(entry) = entries.get(number - 1) else {
                    return Err(wrong(format!("the cassette has nothing for request {number}")));
                };
                if entry.request != asked {
                    let diff = diff(&pretty(&entry.request), &pretty(&asked));
                    return Err(wrong(format!(
                        "request {number} is not the recorded one; record it again if the change is meant\n{diff}"
                    )));
                }
                Ok(in_pieces(entry.reply.clone()))
            }
            Mode::Record { model, file } => {
                let reply = drain(model.stream(request).await?, |_| {}).await?;
                let line = json!({ "request": asked, "reply": reply_to_json(&reply) }).to_string();
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                writeln!(file, "{line}").map_err(|e| {
                    let message = format!("the cassette cannot be written: {e}");
                    ModelError::new(ModelErrorKind::Transport, message).retryable(false)
                })?;
                Ok(in_pieces(reply))
            }
        }
    }
}

/// What a model is told, as a value that compares.
fn canonical(request: &ModelRequest) -> Value {
    let output = match &request.output {
        OutputMode::Text => Value::String("text".to_owned()),
        OutputMode::JsonSchema { name, schema } => json!({ "name": name, "schema": **schema }),
    };
    json!({
        "system": *request.system,
        "messages": *request.messages,
        "tools": *request.tools,
        "output": output,
        "max_output": request.max_output,
        "temperature": request.temperature,
    })
}

fn reply_to_json(reply: &Reply) -> Value {
    json!({
        "text": reply.text,
        "calls": reply.calls,
        "finish": reply.finish,
        "usage": reply.usage,
        "model": reply.model,
        "extras": reply.extras,
    })
}

fn entry(line: &str) -> Option<Entry> {
    let mut line: Map<String, Value> = serde_json::from_str(line).ok()?;
    let request = line.remove("request")?;
    let mut reply = line.remove("reply")?;
    let mut take = |key: &str| reply.get_mut(key).map(Value::take);
    Some(Entry {
        request,
        reply: Reply {
            text: serde_json::from_value(take("text")?).ok()?,
            calls: serde_json::from_value(take("calls")?).ok()?,
            finish: serde_json::from_value(take("finish")?).ok()?,
            usage: serde_json::from_value(take("usage")?).ok()?,
            model: serde_json::from_value(take("model")?).ok()?,
            extras: serde_json::from_value(take("extras")?).ok()?,
        },
    })
}

/// One value a line, and one line of a text a line, so that a diff of a prompt reads like the prompt.
fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default().replace("\\n", "\n")
}

/// The lines that differ, between what is the same at both ends.
fn diff(recorded: &str, asked: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (recorded.lines().collect(), asked.lines().collect());
    let same_start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let left = old.len().min(new.len()) - same_start;
    let same_end = old.iter().rev().zip(new.iter().rev()).take(left).take_while(|(a, b)| a == b).count();
    let mut out = String::new();
    let mut show = |mark: char, lines: &[&str], start: usize| {
        let changed = lines.len().saturating_sub(start + same_end);
        for line in lines.iter().skip(start).take(changed.min(DIFF_LINES)) {
            // Writing to a String cannot fail.
            _ = writeln!(out, "{mark} {line}");
        }
        if changed > DIFF_LINES {
            _ = writeln!(out, "{mark} … {} more lines", changed - DIFF_LINES);
        }
    };
    show('-', &old, same_start);
    show('+', &new, same_start);
    out
}

#[cfg(test)]
mod tests {
    use dbagent_core::model::Message;

    use super::super::{ScriptedModel, call};
    use super::*;

    fn request(question: &str) -> ModelRequest {
        let mut request = ModelRequest::new([Message::user(question)]);
        request.system = Arc::from(["Line one.\nLine two.".to_owned()]);
        request
    }

    async fn ask(model: &CassetteModel, question: &str) -> Result<Reply, ModelError> {
        drain(model.stream(request(question)).await?, |_| {}).await
    }

    #[tokio::test]
    async fn what_was_recorded_is_replayed_and_a_drift_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("two.jsonl");
        let script = ScriptedModel::new().calls([call("query", "{\"statement\":\"SELECT 1\"}")]).text("one");
        let recorder = CassetteModel::record(Arc::new(script), &path).unwrap();
        let first = ask(&recorder, "how many?").await.unwrap();
        let second = ask(&recorder, "and now?").await.unwrap();
        drop(recorder);

        let player = CassetteModel::replay(&path).unwrap();
        assert_eq!(ask(&player, "how many?").await.unwrap(), first);
        assert_eq!(ask(&player, "and now?").await.unwrap(), second);
        player.assert_used_up();
        let error = ask(&player, "and then?").await.unwrap_err();
        assert!(error.message.starts_with("the cassette has nothing for request 3"), "{error}");

        let player = CassetteModel::replay(&path).unwrap();
        let error = ask(&player, "how few?").await.unwrap_err();
        assert!(!error.retryable);
        assert!(
            error.message.contains("\n-       \"text\": \"how many?\"\n+       \"text\": \"how few?\""),
            "{error}"
        );
        assert!(!error.message.contains("Line two"), "what is the same is not shown: {error}");
    }

    #[test]
    fn what_is_no_cassette_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(CassetteModel::replay(folder.path().join("none")).err().unwrap().kind(), ErrorKind::Io);
        let path = folder.path().join("bad.jsonl");
        std::fs::write(&path, "{\"request\":1}\n").unwrap();
        let error = CassetteModel::replay(&path).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Incompatible);
        assert!(error.to_string().contains("line: 1"), "{error}");
    }

    #[test]
    fn a_long_diff_says_how_much_is_left_out() {
        let long: String = (0..100).fold(String::new(), |mut out, n| {
            _ = writeln!(out, "{n}");
            out
        });
        let text = diff("same\nend", &format!("same\n{long}end"));
        assert!(text.contains("+ … 60 more lines"), "{text}");
    }
}

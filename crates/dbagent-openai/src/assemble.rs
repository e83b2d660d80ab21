//! Parts of a reply become events and, at its end, one reply.

use std::collections::HashMap;

use dbagent_core::model::{Finish, ModelEvent, Reply, ToolCall, Usage};
use dbagent_core::text::estimate_tokens;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::wire::reply::{CallPart, Choice, Chunk, Content, FinishReason, Part, text_of};

/// Fields in which servers show reasoning, the most specific first. Those that show it twice count once.
const REASONING: [&str; 4] = ["reasoning_content", "reasoning", "reasoning_text", "thinking"];

/// Fields of provider objects whose text arrives in pieces; every other text arrives whole.
const PIECEWISE: [&str; 7] =
    ["reasoning_content", "reasoning", "reasoning_text", "thinking", "text", "summary", "data"];

/// Whether a reply arrives in parts or at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Stream,
    Whole,
}

/// Why a reply cannot be taken.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The server reports a failure in the place of a reply.
    Failed,
    /// The model refused, with these words.
    Refused(String),
    /// The reply stopped before it was complete.
    Incomplete,
}

/// Collects one reply.
#[derive(Debug)]
pub(crate) struct Assembler {
    form: Form,
    text: String,
    refusal: String,
    reasoning: String,
    calls: Vec<ToolCall>,
    /// Which call the server means by an index.
    slots: HashMap<u64, usize>,
    extras: Map<String, Value>,
    finish: Option<Finish>,
    empty_finish: bool,
    usage: Option<Usage>,
    model: Option<String>,
}

impl Assembler {
    pub(crate) fn new(form: Form) -> Self {
        Self {
            form,
            text: String::new(),
            refusal: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            slots: HashMap::new(),
            extras: Map::new(),
            finish: None,
            empty_finish: false,
            usage: None,
            model: None,
        }
    }

    /// Whether the server said why the reply ended. Only its usage may still come.
    pub(crate) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Takes one event of a stream, or a whole reply.
    pub(crate) fn take(&mut self, chunk: Chunk, events: &mut impl Extend<ModelEvent>) -> Result<(), Problem> {
        if chunk.is_error() {
            return Err(Problem::Failed);
        }
        if let Some(name) = chunk.model_name() {
            self.model = Some(name.to_owned());
        }
        if let Some(usage) = chunk.usage() {
            self.usage = Some(usage);
        }
        for choice in chunk.choices.unwrap_or_default() {
            self.take_choice(choice, events)?;
        }
        Ok(())
    }

    fn take_choice(&mut self, choice: Choice, events: &mut impl Extend<ModelEvent>) -> Result<(), Problem> {
        if choice.error.is_some() || choice.finish_reason == Some(FinishReason::Error) {
            return Err(Problem::Failed);
        }
        let part = match self.form {
            Form::Whole => choice.message.or(choice.delta),
            // Some servers close a stream with the whole message once more.
            Form::Stream => choice.delta.or_else(|| choice.message.filter(|_| self.is_empty())),
        };
        if let Some(part) = part {
            self.take_part(part, events);
        }
        match choice.finish_reason {
            Some(FinishReason::Known(finish)) => self.finish = Some(finish),
            Some(FinishReason::Empty) => self.empty_finish = true,
            Some(FinishReason::Error) | None => {}
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls.is_empty() && self.reasoning.is_empty()
    }

    fn take_part(&mut self, part: Part, events: &mut impl Extend<ModelEvent>) {
        let shown =
            REASONING.iter().find_map(|key| part.extras.get(*key)?.as_str().filter(|t| !t.is_empty()));
        if let Some(text) = shown {
            self.take_reasoning(text.to_owned(), events);
        }
        merge(&mut self.extras, part.extras);
        match part.content {
            None => {}
            Some(Content::Text(text)) => self.take_text(text, events),
            Some(Content::Parts(parts)) => parts.iter().for_each(|p| self.take_typed(p, events)),
            Some(Content::Other(value)) => {
                self.take_text(text_of(&value).unwrap_or_else(|| value.to_string()), events);
            }
        }
        if let Some(words) = part.refusal.as_ref().and_then(text_of) {
            self.refusal.push_str(&words);
        }
        for call in part.tool_calls.unwrap_or_default() {
            self.take_call(call, events);
        }
    }

    fn take_text(&mut self, text: String, events: &mut impl Extend<ModelEvent>) {
        if !text.is_empty() {
            self.text.push_str(&text);
            events.extend([ModelEvent::TextDelta(text)]);
        }
    }

    fn take_reasoning(&mut self, text: String, events: &mut impl Extend<ModelEvent>) {
        if !text.is_empty() {
            self.reasoning.push_str(&text);
            events.extend([ModelEvent::ReasoningDelta(text)]);
        }
    }

    /// One typed part of a content list: text, or reasoning as a text or a list of texts.
    fn take_typed(&mut self, part: &Value, events: &mut impl Extend<ModelEvent>) {
        if let Some(text) = part.as_str().or_else(|| part.get("text")?.as_str()) {
            self.take_text(text.to_owned(), events);
        } else if let Some(thinking) = part.get("thinking").or_else(|| part.get("reasoning")) {
            let texts = thinking.as_array().map_or(std::slice::from_ref(thinking), Vec::as_slice);
            for text in texts {
                if let Some(text) = text.as_str().or_else(|| text.get("text")?.as_str()) {
                    self.take_reasoning(text.to_owned(), events);
                }
            }
        } else {
            tracing::debug!(kind = ?part.get("type"), "a part of the reply is neither text nor reasoning");
        }
    }

    fn take_call(&mut self, part: CallPart, events: &mut impl Extend<ModelEvent>) {
        let index = self.place(&part);
        let Some(call) = self.calls.get_mut(index) else { return };
        if let Some(id) = part.id().filter(|_| call.id.is_empty()) {
            call.id = id;
        }
        let mut extras = part.extras;
        if let Some(function) = part.function {
            match function.name() {
                // A name may come in pieces, but only before the arguments; one that comes again is the same.
                Some(name) if call.arguments.is_empty() && call.name != name => call.name.push_str(&name),
                _ => {}
            }
            if let Some(delta) = function.arguments().filter(|d| !d.is_empty()) {
                call.arguments.push_str(&delta);
                events.extend([ModelEvent::ArgumentsDelta { index, delta }]);
            }
            if !function.extras.is_empty() {
                extras.insert("function".to_owned(), Value::Object(function.extras));
            }
        }
        merge(&mut call.extras, extras);
    }

    /// Finds the call that this part goes on with, or begins a new one.
    fn place(&mut self, part: &CallPart) -> usize {
        let index = part.index();
        let known = match (self.form, index) {
            (Form::Whole, _) => None,
            (Form::Stream, Some(index)) => self.slots.get(&index).copied(),
            (Form::Stream, None) => self.calls.len().checked_sub(1),
        };
        if let Some(at) = known.filter(|at| self.calls.get(*at).is_some_and(|call| continues(call, part))) {
            return at;
        }
        self.calls.push(ToolCall::new("", ""));
        let at = self.calls.len() - 1;
        if let Some(index) = index {
            self.slots.insert(index, at);
        }
        at
    }

    /// The reply, if it is complete: the server said why it ended; or with an empty reason and then the
    /// stream's end marker; or it came as one whole document. In the last two cases it must hold something.
    /// `marker` tells whether the end marker came, `input` estimates what was read where the server does not
    /// count.
    pub(crate) fn finish(
        mut self,
        marker: bool,
        input: impl FnOnce() -> u64,
        chars_per_token: f32,
    ) -> Result<Reply, Problem> {
        if self.text.is_empty() && self.calls.is_empty() && !self.refusal.is_empty() {
            return Err(Problem::Refused(self.refusal));
        }
        let says_so = self.form == Form::Whole || (self.empty_finish && marker);
        let holds_something = !self.text.is_empty() || !self.calls.is_empty();
        let finish = match self.finish.take() {
            Some(finish) => finish,
            None if says_so && holds_something => Finish::Stop,
            None => return Err(Problem::Incomplete),
        };
        // Servers mix the two up; the calls themselves tell.
        let finish = match finish {
            Finish::Stop if !self.calls.is_empty() => Finish::ToolCalls,
            Finish::ToolCalls if self.calls.is_empty() => Finish::Stop,
            other => other,
        };
        let usage = self.usage.unwrap_or_else(|| {
            let tokens = |text: &str| estimate_tokens(text, chars_per_token);
            let calls: u64 = self.calls.iter().map(|c| tokens(&c.name) + tokens(&c.arguments)).sum();
            let reasoning = tokens(&self.reasoning);
            let output = tokens(&self.text) + reasoning + calls;
            Usage { input: input(), output, reasoning, estimated: true, ..Usage::default() }
        });
        Ok(Reply {
            text: self.text,
            calls: self.calls,
            finish,
            usage,
            model: self.model.unwrap_or_default(),
            extras: self.extras,
        })
    }
}

/// Whether a part that carries the call's index (or none) belongs to that call. Ollama and Gemini number every
/// call 0, older ones none at all: there a new id, or a name after arguments that are complete, begins a call.
fn continues(call: &ToolCall, part: &CallPart) -> bool {
    let Some(function) = &part.function else { return true };
    if call.name.is_empty() || function.name().is_none() {
        return true;
    }
    match part.id() {
        Some(id) if !call.id.is_empty() => id == call.id,
        _ if part.index().is_none() => false,
        _ => {
            let opens = function.arguments().is_some_and(|a| a.trim_start().starts_with('{'));
            !(opens && serde_json::from_str::<IgnoredAny>(&call.arguments).is_ok())
        }
    }
}

/// Adds provider fields to those that came before: texts that come in pieces are joined, lists grow (items
/// with the same `index` are one), the rest is replaced. Nulls and empty lists say nothing.
fn merge(into: &mut Map<String, Value>, from: Map<String, Value>) {
    for (key, new) in from {
        if new.is_null() || new.as_array().is_some_and(Vec::is_empty) {
            continue;
        }
        match (into.get_mut(&key), new) {
            (Some(Value::String(old)), Value::String(new)) if PIECEWISE.contains(&key.as_str()) => {
                old.push_str(&new);
            }
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
            (Some(Value::Array(old)), Value::Array(new)) => {
                for item in new {
                    merge_item(old, item);
                }
            }
            (_, new) => {
                into.insert(key, new);
            }
        }
    }
}

fn merge_item(list: &mut Vec<Value>, item: Value) {
    let same = |old: &&mut Value| {
        old.get("index").is_some_and(|i| i.is_number() && Some(i) == item.get("index"))
            && old.get("type") == item.get("type")
    };
    match (list.iter_mut().rev().find(same), item) {
        (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
        (_, item) => list.push(item),
    }
}

#[cfg(test)]
#[path = "assemble_tests.rs"]
mod tests;

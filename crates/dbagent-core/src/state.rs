//! The state of a thread: the fold of its facts. And what may happen next: a pure function of it.

use std::collections::BTreeMap;

use crate::budget::{Budgets, RowBudget};
use crate::error::{Error, ErrorKind, Result};
use crate::fact::{Fact, FactRecord, RunEnd};
use crate::model::{AssistantMessage, Message, ToolCall, ToolMessage, Usage};
use crate::setup::Setup;
use crate::text::counted;

/// Where a call stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallStatus {
    /// The model asked for it.
    Received,
    /// It waits for a person.
    Waiting,
    /// It may run.
    Ready,
    /// It runs, or ran when the process ended.
    Executing(u32),
    /// It is answered.
    Done,
}

/// One call of the current turn.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRecord {
    /// Our key, `t{turn}c{index}`.
    pub key: String,
    /// What the model asked for.
    pub call: ToolCall,
    /// The arguments that run.
    pub arguments: String,
    /// Where it stands.
    pub status: CallStatus,
    /// What the model reads, once it is answered.
    pub text: String,
    /// Whether it failed.
    pub is_error: bool,
}

/// The current (or last) run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunState {
    /// Its number, from 1; 0 before the first.
    pub number: u32,
    /// Replies so far.
    pub turns: u32,
    /// Calls so far.
    pub calls: u32,
    /// Tokens and cost so far.
    pub usage: Usage,
    /// Why it ended, once it did.
    pub ended: Option<RunEnd>,
    /// What the agent was made of; unknown in logs that do not say it.
    pub setup: Option<Setup>,
    /// Where in the conversation it begins: the place of its question.
    pub from: usize,
}

impl Default for RunState {
    fn default() -> Self {
        Self { number: 0, turns: 0, calls: 0, usage: Usage::NOTHING, ended: None, setup: None, from: 0 }
    }
}

/// The state of a thread.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Number of the last fact.
    pub seq: u64,
    /// The conversation, answered calls in call order.
    pub messages: Vec<Message>,
    /// Number of the current turn, over all runs.
    pub turn: u32,
    /// The calls of the current turn; empty once it is closed.
    pub calls: Vec<CallRecord>,
    /// The current run.
    pub run: RunState,
    /// Rows used by the thread.
    pub rows: RowBudget,
    /// Reservations of calls that have not ended.
    pub reserved: BTreeMap<String, u64>,
    /// Tokens and cost of the thread.
    pub usage: Usage,
    /// What middleware keeps.
    pub middleware: BTreeMap<String, serde_json::Value>,
    /// What was said while calls were open. It follows their answers: nothing may stand between.
    pub injected: Vec<String>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            seq: 0,
            messages: Vec::new(),
            turn: 0,
            calls: Vec::new(),
            run: RunState::default(),
            rows: RowBudget::default(),
            reserved: BTreeMap::new(),
            usage: Usage::NOTHING,
            middleware: BTreeMap::new(),
            injected: Vec::new(),
        }
    }
}

impl State {
    /// Folds a log.
    ///
    /// # Errors
    /// See [`apply`](Self::apply).
    pub fn fold<'a>(records: impl IntoIterator<Item = &'a FactRecord>) -> Result<Self> {
        let mut state = Self::default();
        for record in records {
            state.apply(record)?;
        }
        Ok(state)
    }

    /// Adds one fact.
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`] for a gap in the log, or a fact about a call that is not there.
    pub fn apply(&mut self, record: &FactRecord) -> Result<()> {
        if record.seq != self.seq + 1 {
            return Err(broken(format!("the log jumps from {} to {}", self.seq, record.seq)));
        }
        match &record.fact {
            Fact::RunStarted { run, input, setup, .. } => {
                let from = self.messages.len();
                self.run = RunState { number: *run, setup: setup.clone(), from, ..RunState::default() };
                self.messages.push(Message::user(input.clone()));
            }
            Fact::RunResumed { setup } => self.run.setup = Some(setup.clone()),
            Fact::MessageInjected { text, .. } if self.calls.is_empty() => {
                self.messages.push(Message::user(text.clone()));
            }
            Fact::MessageInjected { text, .. } => self.injected.push(text.clone()),
            Fact::ModelReplied { text, calls, usage, extras, .. } => {
                self.turn += 1;
                self.run.turns += 1;
                self.run.calls =
                    self.run.calls.saturating_add(u32::try_from(calls.len()).unwrap_or(u32::MAX));
                self.run.usage.add(usage);
                self.usage.add(usage);
                self.calls = calls
                    .iter()
                    .enumerate()
                    .map(|(i, call)| CallRecord {
                        key: format!("t{}c{i}", self.turn),
                        call: call.clone(),
                        arguments: call.arguments.clone(),
                        status: CallStatus::Received,
                        text: String::new(),
                        is_error: false,
                    })
                    .collect();
                self.messages.push(Message::Assistant(AssistantMessage {
                    text: text.clone(),
                    calls: calls.clone(),
                    extras: extras.clone(),
                }));
            }
            Fact::CallReady { key, arguments } => {
                let call = self.call(key)?;
                call.arguments.clone_from(arguments);
                call.status = CallStatus::Ready;
                // A call that runs again reserves again.
                self.release(key);
            }
            Fact::CallAsked { key, .. } => self.call(key)?.status = CallStatus::Waiting,
            Fact::CallDecided { key, approved, message, .. } => {
                let (approved, message) = (*approved, message.clone());
                let call = self.call(key)?;
                if approved {
                    call.status = CallStatus::Ready;
                } else {
                    call.status = CallStatus::Done;
                    call.text = message;
                    call.is_error = true;
                }
            }
            Fact::CallBegun { key, attempt } => self.call(key)?.status = CallStatus::Executing(*attempt),
            Fact::CallFinished { key, text, is_error, .. } => {
                let (text, is_error) = (text.clone(), *is_error);
                let call = self.call(key)?;
                call.status = CallStatus::Done;
                call.text = text;
                call.is_error = is_error;
                self.release(key);
            }
            Fact::TurnClosed { .. } => {
                for mut call in std::mem::take(&mut self.calls) {
                    // Every driver answers first; an empty text would look like a result.
                    if call.status != CallStatus::Done {
                        call.text = String::from("Not run: the turn was closed before.");
                        call.is_error = true;
                    }
                    self.messages.push(Message::Tool(ToolMessage {
                        call_id: call.call.id,
                        name: call.call.name,
                        text: call.text,
                        is_error: call.is_error,
                    }));
                }
                self.messages.extend(std::mem::take(&mut self.injected).into_iter().map(Message::user));
            }
            Fact::MiddlewareState { name, value } => {
                self.middleware.insert(name.clone(), value.clone());
            }
            Fact::BudgetReserved { key, amount, .. } => {
                let open = self.reserved.entry(key.clone()).or_default();
                *open = open.saturating_add(*amount);
                self.rows.reserved = self.rows.reserved.saturating_add(*amount);
            }
            Fact::BudgetCharged { key, amount, .. } => {
                self.release(key);
                self.rows.charged = self.rows.charged.saturating_add(*amount);
            }
            Fact::WriteCommitting { .. } => {}
            Fact::RunEnded { why, .. } => self.run.ended = Some(why.clone()),
        }
        self.seq = record.seq;
        Ok(())
    }

    fn release(&mut self, key: &str) {
        let open = self.reserved.remove(key).unwrap_or_default();
        self.rows.reserved = self.rows.reserved.saturating_sub(open);
    }

    fn call(&mut self, key: &str) -> Result<&mut CallRecord> {
        self.calls
            .iter_mut()
            .find(|c| c.key == key)
            .ok_or_else(|| broken(format!("the log speaks of a call {key} that is not there")))
    }

    /// The record of a call of the current turn.
    pub fn find_call(&self, key: &str) -> Option<&CallRecord> {
        self.calls.iter().find(|c| c.key == key)
    }
}

fn broken(message: String) -> Error {
    Error::new(ErrorKind::Incompatible, message)
        .op("fold")
        .hint("the log of this thread is damaged; start a new thread")
}

/// Something that may happen now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// A call was running when the process ended: run it again if it only reads, else its outcome is unknown.
    Recover(String),
    /// A call must be looked at by the middleware.
    Gate(String),
    /// A call may run; several may run at once.
    Execute(String),
    /// Calls wait for a person.
    Wait,
    /// All calls are answered.
    CloseTurn,
    /// The model is asked.
    Model {
        /// Whether tools are offered. At the caps they are not, and the model answers with what it has.
        tools: bool,
    },
    /// The run is over, or nothing was asked yet.
    Idle,
}

/// What may happen now, in strict order: recover, gate, execute, wait, close the turn, ask the model.
/// Because waiting comes after executing, safe siblings finish while one call waits.
pub fn next(state: &State, budgets: &Budgets) -> Vec<Next> {
    if state.run.ended.is_some() || state.run.number == 0 {
        return vec![Next::Idle];
    }
    let of = |wanted: fn(&CallStatus) -> bool, make: fn(String) -> Next| -> Vec<Next> {
        state.calls.iter().filter(|c| wanted(&c.status)).map(|c| make(c.key.clone())).collect()
    };
    for steps in [
        of(|s| matches!(s, CallStatus::Executing(_)), Next::Recover),
        of(|s| *s == CallStatus::Received, Next::Gate),
        of(|s| *s == CallStatus::Ready, Next::Execute),
    ] {
        if !steps.is_empty() {
            return steps;
        }
    }
    if state.calls.iter().any(|c| c.status == CallStatus::Waiting) {
        return vec![Next::Wait];
    }
    if !state.calls.is_empty() {
        return vec![Next::CloseTurn];
    }
    match state.messages.last() {
        Some(Message::User { .. } | Message::Tool(_)) => {
            vec![Next::Model { tools: over(state, budgets).is_none() }]
        }
        _ => vec![Next::Idle],
    }
}

/// Which cap of the run is reached, so that the next reply must be the last.
pub fn over(state: &State, budgets: &Budgets) -> Option<String> {
    if state.run.turns.saturating_add(1) >= budgets.turns {
        Some(counted(budgets.turns.into(), "model reply", "model replies"))
    } else if state.run.calls >= budgets.tool_calls {
        Some(counted(budgets.tool_calls.into(), "tool call", "tool calls"))
    } else if state.run.usage.total() >= budgets.tokens {
        Some(counted(budgets.tokens, "token", "tokens"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Finish;

    struct Log(State);

    impl Log {
        fn add(&mut self, fact: Fact) -> &mut Self {
            let record = FactRecord { seq: self.0.seq + 1, at_ms: 0, fact };
            self.0.apply(&record).unwrap();
            self
        }

        fn next(&self) -> Vec<Next> {
            next(&self.0, &Budgets::default())
        }
    }

    fn replied(calls: usize) -> Fact {
        Fact::ModelReplied {
            text: String::new(),
            calls: (0..calls).map(|_| ToolCall::new("query", "{}")).collect(),
            finish: Finish::ToolCalls,
            usage: Usage::default(),
            model: "m".into(),
            extras: serde_json::Map::new(),
        }
    }

    fn started() -> Log {
        let mut log = Log(State::default());
        log.add(Fact::RunStarted { run: 1, input: "q".into(), fingerprint: String::new(), setup: None });
        log
    }

    fn finished(key: &str) -> Fact {
        Fact::CallFinished { key: key.into(), text: key.into(), is_error: false, artifact: None }
    }

    #[test]
    fn the_order_is_strict_and_answers_keep_call_order() {
        let mut log = started();
        assert_eq!(log.next(), [Next::Model { tools: true }]);
        log.add(replied(3));
        assert_eq!(log.next().len(), 3);
        for key in ["t1c0", "t1c1", "t1c2"] {
            log.add(Fact::CallReady { key: key.into(), arguments: "{}".into() });
        }
        log.add(Fact::CallBegun { key: "t1c2".into(), attempt: 1 });
        // A call that was running when the process ended comes first.
        assert_eq!(log.next(), [Next::Recover("t1c2".into())]);
        log.add(finished("t1c2"));
        assert_eq!(log.next(), [Next::Execute("t1c0".into()), Next::Execute("t1c1".into())]);
        log.add(finished("t1c1")).add(finished("t1c0"));
        assert_eq!(log.next(), [Next::CloseTurn]);
        log.add(Fact::TurnClosed { turn: 1 });
        let texts: Vec<_> = log
            .0
            .messages
            .iter()
            .filter_map(|m| match m {
                Message::Tool(t) => Some(t.text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(texts, ["t1c0", "t1c1", "t1c2"]);
        assert_eq!(log.next(), [Next::Model { tools: true }]);
        log.add(replied(0));
        assert_eq!(log.next(), [Next::Idle]);
    }

    #[test]
    fn a_waiting_call_does_not_hold_its_siblings() {
        let mut log = started();
        log.add(replied(2));
        log.add(Fact::CallAsked {
            key: "t1c0".into(),
            approval: "a".into(),
            reason: String::new(),
            shown_hash: String::new(),
            arguments: "{}".into(),
            expires_ms: None,
        });
        log.add(Fact::CallReady { key: "t1c1".into(), arguments: "{}".into() });
        assert_eq!(log.next(), [Next::Execute("t1c1".into())]);
        log.add(finished("t1c1"));
        assert_eq!(log.next(), [Next::Wait]);
    }

    #[test]
    fn tools_go_away_at_the_cap() {
        let mut log = started();
        let budgets = Budgets { turns: 2, ..Budgets::default() };
        assert_eq!(next(&log.0, &budgets), [Next::Model { tools: true }]);
        log.add(replied(1)).add(finished("t1c0")).add(Fact::TurnClosed { turn: 1 });
        assert_eq!(next(&log.0, &budgets), [Next::Model { tools: false }]);
    }

    #[test]
    fn reservations_end_with_their_call() {
        let mut log = started();
        log.add(replied(1));
        log.add(Fact::BudgetReserved {
            key: "t1c0".into(),
            dimension: crate::budget::Dimension::Rows,
            amount: 100,
        });
        assert_eq!(log.0.rows, RowBudget { charged: 0, reserved: 100 });
        log.add(Fact::BudgetCharged {
            key: "t1c0".into(),
            dimension: crate::budget::Dimension::Rows,
            amount: 7,
        });
        assert_eq!(log.0.rows, RowBudget { charged: 7, reserved: 0 });
    }

    #[test]
    fn a_gap_or_a_stranger_stops() {
        let mut state = State::default();
        let gap = FactRecord { seq: 2, at_ms: 0, fact: Fact::TurnClosed { turn: 1 } };
        assert_eq!(state.apply(&gap).unwrap_err().kind(), ErrorKind::Incompatible);
        let stranger = FactRecord { seq: 1, at_ms: 0, fact: finished("t9c9") };
        assert_eq!(state.apply(&stranger).unwrap_err().kind(), ErrorKind::Incompatible);
    }
}

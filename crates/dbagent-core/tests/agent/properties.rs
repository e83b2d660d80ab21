//! Random runs of the loop: whatever is interleaved, cut off and resumed, the conversation stays paired and
//! no budget goes below zero. The seeds are fixed, so that a failure comes back.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::support::{Answerer, Script, asks, database, says, soon};
use dbagent_core::budget::{Budgets, Dimension};
use dbagent_core::fact::{Fact, FactRecord, RunEnd};
use dbagent_core::model::{Finish, Message, Reply, ToolCall, Usage};
use dbagent_core::state::{CallStatus, Next, State, next};
use dbagent_core::store::{MemoryStore, Store};
use dbagent_core::{Agent, Guardrails, serde_json};

/// xorshift64*: good enough to shuffle with, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap() % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// Every call of every reply has exactly one answer, in call order, before anything else is said.
fn assert_paired(messages: &[Message], seed: u64) {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        match message {
            Message::Tool(t) => {
                assert!(!open.is_empty() && open.remove(0) == t.call_id, "seed {seed}: {messages:?}");
                assert!(!t.text.is_empty(), "seed {seed}: an empty answer");
            }
            Message::Assistant(a) => {
                assert!(open.is_empty(), "seed {seed}: {open:?} unanswered");
                open = a.calls.iter().map(|c| c.id.as_str()).collect();
            }
            Message::User { .. } => assert!(open.is_empty(), "seed {seed}: {open:?} unanswered"),
        }
    }
    assert!(open.is_empty(), "seed {seed}: {open:?} unanswered");
}

const LIMIT: u64 = 1_000;

/// A thread as a driver writes it, with chance deciding what happens next.
struct Thread {
    seed: u64,
    random: Random,
    log: Vec<FactRecord>,
    state: State,
    requests: u32,
}

impl Thread {
    fn add(&mut self, fact: Fact) {
        let record = FactRecord { seq: self.state.seq + 1, at_ms: 0, fact };
        self.state.apply(&record).unwrap();
        self.log.push(record);
        let rows = self.state.rows;
        assert!(rows.charged + rows.reserved <= LIMIT, "seed {}: {rows:?}", self.seed);
        let open: u64 = self.state.reserved.values().sum();
        assert_eq!(rows.reserved, open, "seed {}", self.seed);
        for key in self.state.reserved.keys() {
            let call = self.state.find_call(key).map(|c| &c.status);
            assert!(matches!(call, Some(CallStatus::Executing(_))), "seed {}: {key} is {call:?}", self.seed);
        }
    }

    fn finish(&mut self, key: &str) {
        let is_error = self.random.one_in(4);
        self.add(Fact::CallFinished { key: key.into(), text: format!("of {key}"), is_error, artifact: None });
    }

    /// The process ends and another one reads the log.
    fn kill(&mut self) {
        let folded = State::fold(&self.log).unwrap();
        assert_eq!(folded, self.state, "seed {}", self.seed);
        self.state = folded;
    }

    /// Runs ready calls as a driver does: begun in order, everything else interleaved. `true` when killed.
    fn execute(&mut self, keys: Vec<String>) -> bool {
        let mut waiting = keys.into_iter();
        let mut running: BTreeMap<String, u64> = BTreeMap::new();
        loop {
            if running.len() < 4
                && let Some(key) = waiting.next()
            {
                self.add(Fact::CallBegun { key: key.clone(), attempt: 1 });
                running.insert(key, 0);
            }
            if running.is_empty() {
                return false;
            }
            if self.random.one_in(12) {
                return true;
            }
            let at = self.random.below(running.len());
            let (key, reserved) = running.iter().nth(at).map(|(k, r)| (k.clone(), *r)).unwrap();
            let left = LIMIT - self.state.rows.charged - self.state.rows.reserved;
            match self.random.below(3) {
                0 if reserved == 0 && left > 0 => {
                    let amount = (self.random.below(200) as u64 + 1).min(left);
                    self.add(Fact::BudgetReserved { key: key.clone(), dimension: Dimension::Rows, amount });
                    running.insert(key, amount);
                }
                1 if reserved > 0 => {
                    let amount = self.random.below(usize::try_from(reserved).unwrap() + 1) as u64;
                    self.add(Fact::BudgetCharged { key: key.clone(), dimension: Dimension::Rows, amount });
                    running.insert(key, 0);
                }
                // Also with a reservation that is still open: the call was dropped.
                _ => {
                    self.finish(&key);
                    running.remove(&key);
                }
            }
        }
    }

    fn reply(&mut self, tools: bool) {
        assert_paired(&self.state.messages, self.seed);
        self.requests += 1;
        let calls = if tools { self.random.below(5) } else { 0 };
        let calls: Vec<_> = (0..calls)
            .map(|i| ToolCall { id: format!("{}-{i}", self.requests), ..ToolCall::new("t", "{}") })
            .collect();
        self.add(Fact::ModelReplied {
            text: "text".into(),
            calls,
            finish: Finish::Stop,
            usage: Usage { input: 10, output: 1, ..Usage::default() },
            model: "m".into(),
            extras: serde_json::Map::new(),
        });
    }

    fn step(&mut self, step: Next, rest: Vec<Next>) {
        match step {
            Next::Recover(key) => {
                if self.random.one_in(2) {
                    self.add(Fact::CallReady { key, arguments: "{}".into() });
                } else {
                    self.finish(&key);
                }
            }
            Next::Gate(key) => match self.random.below(4) {
                0 => self.finish(&key),
                1 => self.add(Fact::CallAsked {
                    approval: format!("a/{key}"),
                    key,
                    reason: "r".into(),
                    shown_hash: "h".into(),
                    arguments: "{}".into(),
                    expires_ms: None,
                }),
                _ => self.add(Fact::CallReady { key, arguments: "{}".into() }),
            },
            Next::Execute(first) => {
                let rest = rest.into_iter().filter_map(|n| match n {
                    Next::Execute(key) => Some(key),
                    _ => None,
                });
                if self.execute(std::iter::once(first).chain(rest).collect()) {
                    self.kill();
                }
            }
            Next::Wait => {
                let waiting: Vec<_> = self
                    .state
                    .calls
                    .iter()
                    .filter(|c| c.status == CallStatus::Waiting)
                    .map(|c| c.key.clone())
                    .collect();
                let key = waiting[self.random.below(waiting.len())].clone();
                let approved = self.random.one_in(2);
                self.add(Fact::CallDecided {
                    approval: format!("a/{key}"),
                    key,
                    approved,
                    message: "decided".into(),
                    by: "somebody".into(),
                    shown_hash: "h".into(),
                });
            }
            Next::CloseTurn => {
                let done = self.state.calls.iter().all(|c| c.status == CallStatus::Done);
                assert!(done, "seed {}: {:?}", self.seed, self.state.calls);
                self.add(Fact::TurnClosed { turn: self.state.turn });
            }
            Next::Model { tools } => self.reply(tools),
            Next::Idle => {
                if self.state.run.ended.is_none() && self.state.run.number > 0 {
                    self.add(Fact::RunEnded { why: RunEnd::Answered, usage: None });
                }
                let run = self.state.run.number + 1;
                self.add(Fact::RunStarted {
                    run,
                    input: "q".into(),
                    fingerprint: String::new(),
                    setup: None,
                });
            }
        }
    }
}

#[test]
fn every_call_has_one_answer_before_the_model_is_asked_and_no_budget_goes_below_zero() {
    let budgets = Budgets { turns: 6, ..Budgets::default() };
    let mut requests = 0;
    for seed in 1..=400 {
        let mut thread =
            Thread { seed, random: Random(seed), log: Vec::new(), state: State::default(), requests: 0 };
        for _ in 0..150 {
            let mut steps = next(&thread.state, &budgets);
            assert!(!steps.is_empty(), "seed {seed}");
            let step = steps.remove(thread.random.below(steps.len()));
            thread.step(step, steps);
            if thread.random.one_in(20) {
                thread.kill();
            }
        }
        requests += thread.requests;
        assert!(thread.state.run.number > 1, "seed {seed}: no run came to its end");
    }
    assert!(requests > 5_000, "hardly anything was tried: {requests}");
}

/// The real driver: a random script, cut after a random fact, resumed, until it ends.
#[tokio::test]
async fn the_driver_keeps_the_same_promise_however_often_it_is_cut() {
    for seed in 1..=60 {
        let mut random = Random(seed);
        let turns: Vec<Vec<ToolCall>> = (0..3)
            .map(|turn| {
                (0..=random.below(3))
                    .map(|i| {
                        let arguments = match random.below(5) {
                            0 => "{".to_owned(),
                            1 => "{\"statement\":\"fail\"}".to_owned(),
                            n => format!("{{\"statement\":\"rows {n}\"}}"),
                        };
                        let name = if random.one_in(5) { "nope" } else { "query" };
                        ToolCall { id: format!("{turn}-{i}"), ..ToolCall::new(name, arguments) }
                    })
                    .collect()
            })
            .collect();
        let script = |from: usize| {
            let steps: Vec<Answerer> = turns
                .iter()
                .cloned()
                .map(|calls| -> Answerer { Box::new(move |_| Ok(Reply::calls(calls.clone()))) })
                .chain([says("done")])
                .skip(from)
                .collect();
            Script::new(steps)
        };
        let build = |script: &Script, store: &Arc<MemoryStore>| {
            let guardrails = Guardrails { row_budget: 1_000, ..Guardrails::default() };
            Agent::builder(Arc::new(script.clone()))
                .database(database(guardrails))
                .store(store.clone())
                .build()
                .unwrap()
        };
        let mut store = Arc::new(MemoryStore::new());
        soon(build(&script(0), &store).ask("t", "q")).await.unwrap();
        for _ in 0..3 {
            let log = store.load("t", 0).await.unwrap();
            let cut = log[..=random.below(log.len() - 1)].to_vec();
            let replies = cut.iter().filter(|r| matches!(r.fact, Fact::ModelReplied { .. })).count();
            store = Arc::new(MemoryStore::new());
            store.append("t", 0, cut).await.unwrap();
            let script = script(replies);
            let answer = soon(build(&script, &store).resume("t").outcome()).await.unwrap();
            assert_eq!(answer.text, "done", "seed {seed}");
            for request in script.requests() {
                assert_paired(&request.messages, seed);
            }
            let state = State::fold(&store.load("t", 0).await.unwrap()).unwrap();
            assert_eq!((state.rows.reserved, state.reserved.len()), (0, 0), "seed {seed}");
        }
    }
    // One that is not cut, so that the script itself is known to be good.
    let agent = Agent::builder(Arc::new(Script::new([asks("rows 1"), says("done")])));
    assert_eq!(
        agent.database(database(Guardrails::default())).build().unwrap().ask("t", "q").await.unwrap().text,
        "done"
    );
}

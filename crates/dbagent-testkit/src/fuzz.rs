//! A differential fuzzer: whatever is judged a pure read is executed, and nothing may be different afterwards.
//!
//! For authors of a dialect. The texts are rows of the corpora with tokens moved about ([`Mutations`]) and
//! statements made from a small grammar over the engine's own function names ([`Sentences`]). Each is judged
//! on a live session of an account that *could* write; what is cleared runs for a moment, and a fingerprint
//! of the whole state (rows, catalogue, settings, sequences, locks, files) is compared with the one before.
//! A find becomes a row of the dialect's own corpus.
//!
//! A dialect's test gives the engine ([`Fuzzed`]), the texts and a [`Plan`] with a fixed seed, and asserts
//! that the [`Report`] has no finds. `cargo xtask fuzz DIALECT --for 60s` runs the same test for longer, with
//! other seeds: it sets [`VARIABLE`], which the test hands to [`Plan::from_words`].

mod random;
mod sentences;
mod texts;

use std::time::{Duration, Instant};

use dbagent_core::session::Verdict;
use dbagent_core::{CallContext, Error, ErrorKind, GuardedSession, Request, Result, async_trait};

pub use random::Random;
pub use sentences::{Sentences, Vocabulary};
pub use texts::{Mutations, Texts};

/// The environment variable by which `cargo xtask fuzz` tells a test how long to go on and from which seed.
pub const VARIABLE: &str = "DBAGENT_FUZZ";

/// An engine with a scratch database on it.
#[async_trait]
pub trait Fuzzed: Send + Sync {
    /// A session on the scratch database, of an account that could write. Asked for once, and again when one
    /// was lost.
    async fn session(&self) -> Result<GuardedSession>;

    /// The state of everything that a statement could change, as parts with a name: a part that differs is
    /// named in the find.
    async fn fingerprint(&self) -> Result<Vec<(String, String)>>;

    /// Makes a request of a text. **Default:** the text without parameters.
    fn request(&self, text: &str) -> Request {
        Request::text(text)
    }
}

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Where the numbers begin: the same seed gives the same texts.
    pub seed: u64,
    /// When it ends.
    pub length: Length,
    /// How long a cleared statement may run.
    pub statement: Duration,
    /// After how many executed statements the state is compared.
    pub compare_every: usize,
}

/// When a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// After so many texts.
    Texts(usize),
    /// After so long.
    For(Duration),
}

impl Plan {
    /// So many texts from a seed; 150 ms a statement, compared after every 50.
    pub const fn texts(seed: u64, texts: usize) -> Self {
        Self { seed, length: Length::Texts(texts), statement: Duration::from_millis(150), compare_every: 50 }
    }

    /// Reads what [`VARIABLE`] holds, `SECONDS SEED`; without it the plan stays as it is.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] for anything else.
    pub fn from_words(self, words: Option<&str>) -> Result<Self> {
        let Some(words) = words else { return Ok(self) };
        let wrong = || {
            Error::new(ErrorKind::Config, format!("{VARIABLE} holds {words:?}")).hint("write SECONDS SEED")
        };
        let (seconds, seed) = words.split_once(' ').ok_or_else(wrong)?;
        let seconds = seconds.parse().map_err(|_| wrong())?;
        let seed = seed.trim().parse().map_err(|_| wrong())?;
        Ok(Self { seed, length: Length::For(Duration::from_secs(seconds)), ..self })
    }
}

/// What a run came to.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Texts that were judged.
    pub texts: usize,
    /// Those that were cleared, and so ran.
    pub cleared: usize,
    /// Those that were refused or proposed.
    pub refused: usize,
    /// Cleared ones that ran to an end without an error.
    pub answered: usize,
    /// What must not be.
    pub finds: Vec<Find>,
}

/// Something that must not be.
#[derive(Debug, Clone)]
pub struct Find {
    /// What was seen.
    pub what: String,
    /// The texts that ran since all was well; one of them did it.
    pub suspects: Vec<String>,
}

impl Report {
    /// One line for people.
    pub fn summary(&self) -> String {
        format!(
            "{} texts: {} refused, {} cleared and run, {} of them to an answer; {} finds",
            self.texts,
            self.refused,
            self.cleared,
            self.answered,
            self.finds.len()
        )
    }
}

/// Judges and runs texts until the plan is done, or something was found.
///
/// # Errors
/// What opening a session or taking a fingerprint says. What a statement says is part of the report.
pub async fn run(engine: &impl Fuzzed, texts: &mut dyn Texts, plan: Plan) -> Result<Report> {
    let started = Instant::now();
    let mut random = Random::new(plan.seed);
    let mut report = Report::default();
    let mut session = engine.session().await?;
    let before = engine.fingerprint().await?;
    let mut suspects = Vec::new();
    loop {
        let over = match plan.length {
            Length::Texts(most) => report.texts >= most,
            Length::For(long) => started.elapsed() >= long,
        };
        if suspects.len() >= plan.compare_every || over && !suspects.is_empty() {
            let now = engine.fingerprint().await?;
            if let Some(what) = difference(&before, &now) {
                report.finds.push(Find { what, suspects });
                return Ok(report);
            }
            suspects = Vec::new();
        }
        if over {
            session.close().await;
            return Ok(report);
        }
        let text = texts.next(&mut random);
        report.texts += 1;
        match attempt(engine, &session, &text, plan.statement).await {
            Attempt::Refused => report.refused += 1,
            Attempt::Ran(outcome) => {
                report.cleared += 1;
                suspects.push(text);
                match outcome {
                    Ok(()) => report.answered += 1,
                    Err(e) if e.kind() == ErrorKind::Internal => {
                        let what = format!("an internal error: {e}");
                        report.finds.push(Find { what, suspects: suspects.split_off(suspects.len() - 1) });
                    }
                    Err(e) if e.kind() == ErrorKind::Connection => {
                        session.close().await;
                        session = engine.session().await?;
                    }
                    Err(_) => {}
                }
            }
            Attempt::Defect(what) => report.finds.push(Find { what, suspects: vec![text] }),
        }
    }
}

enum Attempt {
    Refused,
    Ran(Result<()>),
    Defect(String),
}

async fn attempt(engine: &impl Fuzzed, session: &GuardedSession, text: &str, limit: Duration) -> Attempt {
    // Judging asks the catalogue, so it may take as long as a person would wait.
    let judging = CallContext::within(Duration::from_secs(30));
    let cleared = match session.judge(engine.request(text), Some(50), &judging).await {
        Ok(Verdict::Cleared(cleared)) => cleared,
        Err(e) if e.kind() == ErrorKind::Internal => return Attempt::Defect(format!("judging failed: {e}")),
        Ok(Verdict::Refused(_) | Verdict::Proposed(_)) | Err(_) => return Attempt::Refused,
    };
    let running = CallContext::within(limit);
    let outcome = async {
        let mut rows = session.read(cleared, &running)?;
        while rows.next().await?.is_some() {}
        Ok(())
    };
    Attempt::Ran(outcome.await)
}

fn difference(before: &[(String, String)], now: &[(String, String)]) -> Option<String> {
    if before == now {
        return None;
    }
    let changed: Vec<&str> = before
        .iter()
        .filter(|part| !now.contains(part))
        .chain(now.iter().filter(|part| !before.contains(part)))
        .map(|(name, _)| name.as_str())
        .collect();
    let mut names = changed;
    names.sort_unstable();
    names.dedup();
    Some(format!("the state changed: {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_environment_make_it_longer() {
        let plan = Plan::texts(7, 100);
        assert_eq!(plan.from_words(None).unwrap(), plan);
        let longer = plan.from_words(Some("60 12")).unwrap();
        assert_eq!((longer.seed, longer.length), (12, Length::For(Duration::from_secs(60))));
        for wrong in ["", "60", "x 1", "60 y"] {
            assert_eq!(plan.from_words(Some(wrong)).unwrap_err().kind(), ErrorKind::Config, "{wrong}");
        }
    }

    #[test]
    fn a_change_names_its_part() {
        let part = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let before = [part("rows", "1"), part("files", "a")];
        assert_eq!(difference(&before, &before), None);
        let now = [part("rows", "2"), part("files", "a")];
        assert_eq!(difference(&before, &now).unwrap(), "the state changed: rows");
    }
}

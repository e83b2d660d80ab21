//! The fuzzer notices a state that changed, and says what may have changed it.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::{AtomicUsize, Ordering};

use dbagent_core::{CallContext, GuardedSession, Request, Result, Target, async_trait};
use dbagent_testkit::documents::{DIALECT, sample};
use dbagent_testkit::fuzz::{Fuzzed, Plan, Random, Texts, run};

/// An engine whose state changes by itself after so many looks.
struct Restless {
    target: Target,
    looks: AtomicUsize,
    quiet: usize,
}

#[async_trait]
impl Fuzzed for Restless {
    async fn session(&self) -> Result<GuardedSession> {
        let call = CallContext::within(std::time::Duration::from_secs(30));
        GuardedSession::open(&DIALECT, self.target.clone(), &call).await
    }

    async fn fingerprint(&self) -> Result<Vec<(String, String)>> {
        let looks = self.looks.fetch_add(1, Ordering::Relaxed);
        let rows = if looks < self.quiet { "3" } else { "4" };
        Ok(vec![("rows".to_owned(), rows.to_owned()), ("files".to_owned(), "a".to_owned())])
    }

    fn request(&self, text: &str) -> Request {
        Request::json(text)
    }
}

/// A read, a write and nonsense in turn.
struct InTurn(usize);

impl Texts for InTurn {
    fn next(&mut self, _: &mut Random) -> String {
        self.0 += 1;
        let texts = [
            r#"{"op":"find","collection":"users"}"#,
            r#"{"op":"deleteMany","collection":"users","filter":{}}"#,
            "nonsense",
        ];
        texts.iter().cycle().nth(self.0).copied().unwrap_or_default().to_owned()
    }
}

async fn report_of(quiet: usize) -> dbagent_testkit::fuzz::Report {
    let (_folder, target) = sample().unwrap();
    let engine = Restless { target, looks: AtomicUsize::new(0), quiet };
    let plan = Plan { compare_every: 5, ..Plan::texts(1, 60) };
    run(&engine, &mut InTurn(0), plan).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_stays_is_no_find_and_everything_is_counted() {
    let report = report_of(usize::MAX).await;
    assert!(report.finds.is_empty(), "{:#?}", report.finds);
    assert_eq!((report.texts, report.cleared, report.refused, report.answered), (60, 20, 40, 20));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_changed_names_its_part_and_the_suspects() {
    let report = report_of(2).await;
    let [find] = report.finds.as_slice() else { panic!("{:#?}", report.finds) };
    assert_eq!(find.what, "the state changed: rows");
    // Only what was cleared can have done it, and only since the last look that found all well.
    assert_eq!(find.suspects, vec![r#"{"op":"find","collection":"users"}"#; 5]);
    assert_eq!(report.cleared, 10);
}

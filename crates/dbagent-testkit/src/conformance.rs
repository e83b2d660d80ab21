//! The conformance suite: what every dialect must do, as scenarios that a dialect runs with one line.
//!
//! ```text
//! // tests/conformance.rs of a dialect crate
//! dbagent_testkit::dialect_conformance!(fixture = my_dialect::testing::fixture());
//! ```
//!
//! The line becomes one test for each scenario and one for the books. Scenarios are gated by the dialect's
//! own [`Capabilities`]: a declared one that skips is a failure, and so is a
//! disclaimed one that works. A skip that is legal is printed as `SKIPPED dialect/scenario: why`, so that
//! somebody can count it. `docs/dialect-authors.md` says which scenario holds which contract.

mod fixture;
mod kit;
mod material;
mod scenarios;
pub mod sql;
mod value;

use std::sync::Arc;

use dbagent_core::Capabilities;

pub use fixture::{CANARY, Change, Corpus, Fixture};
pub use kit::Patience;
use kit::{Kit, Stop};
pub use material::{Expected, Hostile, Material};
pub use scenarios::{SCENARIOS, Scenario};
pub use value::{Table, Value};

/// Runs the whole suite on a dialect: `dialect_conformance!(fixture = EXPRESSION)`.
///
/// The expression makes a [`Fixture`]; it is evaluated once for each scenario.
#[macro_export]
macro_rules! dialect_conformance {
    (fixture = $fixture:expr $(,)?) => {
        $crate::__conformance_tests! {
            $fixture;
            registration types nulls empty_results mixed_columns nested_values
            caps_by_rows caps_by_bytes caps_by_cell slow_reader
            cancel timeout use_after_cancel use_after_timeout dropped_rows concurrent_reads
            syntax_errors unknown_object unknown_column other_errors wrong_targets hostile_texts
            read_only_session writes_are_never_cleared corpus
            policy_objects policy_views policy_columns judged_elsewhere
            hostile_identifiers count_and_sample list_objects describe_objects fresh_catalogue
            foreign_keys comments namespaces
            positional_parameters named_parameters
            estimates estimate_of_rows plans secrets tools
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_tests {
    ($fixture:expr; $($scenario:ident)+) => {
        /// The expression sees the names around the macro, and the tests get names of their own.
        fn conformance_fixture() -> impl $crate::conformance::Fixture {
            $fixture
        }

        mod conformance {
            $(
                #[test]
                fn $scenario() {
                    let required = ::std::env::var("DBAGENT_REQUIRE").unwrap_or_default();
                    let fixture = super::conformance_fixture();
                    $crate::conformance::test(stringify!($scenario), fixture, &required);
                }
            )+

            #[test]
            fn the_books_are_kept() {
                $crate::conformance::books(&[$(stringify!($scenario)),+], super::conformance_fixture());
            }
        }
    };
}

/// What came of one scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked {
    /// The dialect does what it must.
    Passed,
    /// Nothing was tested, and that is legal, for this reason.
    Skipped(String),
    /// The dialect does not do what it must, or what it declares.
    Failed(String),
}

/// Runs one scenario and says what came of it. Needs a runtime with several threads, time and IO.
pub async fn check(scenario: &str, fixture: impl Fixture, patience: Patience) -> Checked {
    let Some(scenario) = SCENARIOS.iter().find(|s| s.name == scenario) else {
        return Checked::Failed(format!("there is no scenario {scenario:?}"));
    };
    let kit = Arc::new(Kit::new(Box::new(fixture), patience));
    if let Some(why) = kit.fixture.unavailable().await {
        return Checked::Skipped(why);
    }
    let running = Arc::clone(&kit);
    // On a task of its own: a dialect that blocks its thread or panics fails this scenario and no other.
    let task = tokio::spawn(async move { (scenario.run)(&running).await });
    let outcome = match tokio::time::timeout(patience.scenario, task).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(died)) => Err(Stop::Failed(match died.try_into_panic() {
            Ok(panic) => format!("it panicked: {}", panic_text(&*panic)),
            Err(died) => format!("it ended early: {died}"),
        })),
        Err(_) => Err(Stop::Failed(format!("it hangs: not done after {} s", patience.scenario.as_secs()))),
    };
    settle(scenario, &kit, outcome)
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a text")
}

/// Holds the outcome against what the dialect declares and what the fixture lists as lacking.
fn settle(scenario: &Scenario, kit: &Kit, outcome: Result<(), Stop>) -> Checked {
    let gated = scenario.capability.is_some();
    let listed = kit.fixture.lacks().into_iter().find(|(name, _)| *name == scenario.name);
    let label = scenario.capability.unwrap_or_default();
    match (scenario.declared(kit.can()).is_there(), outcome) {
        (_, Err(Stop::Broken(why))) | (true, Err(Stop::Failed(why))) => Checked::Failed(why),
        (true, Ok(())) => match listed {
            None => Checked::Passed,
            Some(_) => {
                Checked::Failed("the fixture lists it as lacking, and it runs: take it off the list".into())
            }
        },
        (true, Err(Stop::Missing(what))) => match (gated, listed) {
            (true, _) => Checked::Failed(format!(
                "the capability \"{label}\" is declared, so this must run, and the fixture gives no {what}"
            )),
            (false, Some((_, why))) => Checked::Skipped(why.to_owned()),
            (false, None) => Checked::Failed(format!(
                "the fixture gives no {what}; give it, or list the scenario in Fixture::lacks with the reason"
            )),
        },
        (false, Ok(())) => {
            Checked::Failed(format!("the capability \"{label}\" is disclaimed, and it works: declare it"))
        }
        (false, Err(Stop::Missing(_))) => Checked::Skipped(format!("the dialect disclaims \"{label}\"")),
        (false, Err(Stop::Failed(why))) => {
            Checked::Skipped(format!("the dialect disclaims \"{label}\"; tried all the same: {why}"))
        }
    }
}

/// Runs one scenario as a test of its own: on a runtime of its own, failing by a panic.
///
/// # Panics
/// When the scenario fails, or when it is skipped although `required` (a list of dialect ids) names the
/// dialect and the database is not there.
#[doc(hidden)]
pub fn test(scenario: &str, fixture: impl Fixture, required: &str) {
    let id = fixture.dialect().id();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(4).build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(e) => fail_test(&format!("no runtime could be started: {e}")),
    };
    let (unavailable, checked) = runtime.block_on(async {
        (fixture.unavailable().await, check(scenario, fixture, Patience::default()).await)
    });
    // A thread that a broken dialect blocks must not keep the test from ending.
    runtime.shutdown_background();
    match (checked, unavailable) {
        (Checked::Passed, _) => {}
        (Checked::Failed(why), _) => fail_test(&format!("{id}/{scenario}: {why}")),
        (Checked::Skipped(why), Some(_)) if required.split(',').any(|name| name.trim() == id) => {
            fail_test(&format!("DBAGENT_REQUIRE names {id}, and it is not there: {why}"))
        }
        (Checked::Skipped(_), Some(why)) => skipped(&format!("{id}: {why}")),
        (Checked::Skipped(why), None) => skipped(&format!("{id}/{scenario}: {why}")),
    }
}

/// Keeps the books: every scenario is a test, every capability is held by a scenario, and the fixture lists
/// nothing that is not there.
///
/// # Panics
/// When they do not add up.
#[doc(hidden)]
pub fn books(tests: &[&str], fixture: impl Fixture) {
    let id = fixture.dialect().id();
    for scenario in SCENARIOS {
        if !tests.contains(&scenario.name) {
            fail_test(&format!("the scenario {} is no test", scenario.name));
        }
    }
    if tests.len() != SCENARIOS.len() {
        fail_test("there are tests for scenarios that do not exist");
    }
    for (label, _) in Capabilities::NONE.table() {
        if !SCENARIOS.iter().any(|s| s.capability == Some(label)) {
            fail_test(&format!("no scenario holds the capability \"{label}\""));
        }
    }
    for (name, why) in fixture.lacks() {
        match SCENARIOS.iter().find(|s| s.name == name) {
            None => fail_test(&format!("{id} lists {name:?} as lacking, which is no scenario")),
            Some(s) if s.capability.is_some() => fail_test(&format!(
                "{id} lists {name} as lacking; disclaim the capability \"{}\" instead",
                s.capability.unwrap_or_default()
            )),
            Some(_) if why.trim().is_empty() => {
                fail_test(&format!("{id} lists {name} as lacking without a reason"))
            }
            Some(_) => {}
        }
    }
}

#[expect(clippy::panic, reason = "a test fails by panicking")]
#[track_caller]
fn fail_test(why: &str) -> ! {
    panic!("{why}")
}

#[expect(clippy::print_stdout, reason = "whoever runs the tests counts the skips")]
fn skipped(what: &str) {
    println!("SKIPPED {what}");
}

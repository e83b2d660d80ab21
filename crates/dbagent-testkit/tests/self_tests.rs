//! The suite notices what it is there for: each scenario fails on a dialect that is broken in its way.
#![expect(clippy::panic, reason = "tests")]

// Marked as a test, so that its helpers may unwrap.
#[cfg(test)]
mod broken;

use std::time::Duration;

use broken::{BrokenFixture, Fault};
use dbagent_testkit::conformance::{Checked, Patience, SCENARIOS, books, check, test};
use dbagent_testkit::documents::DIALECT;

dbagent_core::inventory::submit! { DIALECT }

/// Short, because broken dialects let calls run out of time.
const PATIENCE: Patience = Patience { call: Duration::from_secs(3), scenario: Duration::from_secs(60) };

macro_rules! broken {
    ($($test:ident: $scenario:ident fails on $fault:ident because $why:literal;)+) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $test() {
                fails(stringify!($scenario), BrokenFixture::new(Fault::$fault), $why).await;
            }
        )+

        #[test]
        fn every_scenario_has_a_dialect_that_fails_it() {
            let tested = [$(stringify!($scenario)),+];
            for scenario in SCENARIOS {
                assert!(tested.contains(&scenario.name), "{} fails on nothing", scenario.name);
            }
        }
    };
}

async fn fails(scenario: &str, fixture: BrokenFixture, why: &str) {
    // On another thread: a broken dialect may block one.
    match check(scenario, fixture, PATIENCE).await {
        Checked::Failed(message) => assert!(message.contains(why), "failed for another reason: {message}"),
        other => panic!("{scenario} did not fail: {other:?}"),
    }
}

broken! {
    registration_1: registration fails on NotRegistered because "is not registered (registered are [\"documents\"])";
    types_1: types fails on RoundsNumbers because "returned Float(9007199254740992.0) as \"i\" of row 1";
    nulls_1: nulls fails on ForgetsNulls because "returned Text(\"\") as \"absent\"";
    empty_results_1: empty_results fails on ForgetsColumns because "announced the columns []";
    mixed_columns_1: mixed_columns fails on FlattensMixed because "returned Text(\"1\") as \"mix\"";
    nested_values_1: nested_values fails on CutsNested because "returned Json(\"{\\\"b\\\":1}\")";
    caps_by_rows_1: caps_by_rows fails on StopsAtTheCapQuietly because "the mark that more exist is false";
    caps_by_rows_2: caps_by_rows fails on IgnoresStop because "an honest read failed";
    caps_by_bytes_1: caps_by_bytes fails on StopsAfterSomeRows because "calls itself complete";
    caps_by_cell_1: caps_by_cell fails on ShortensValues because "came all the same, or was cut";
    slow_reader_1: slow_reader fails on CollectsFirst because "no batch of an endless result came";
    slow_reader_2: slow_reader fails on GiantBatches because "bytes wait for a slow reader";
    cancel_1: cancel fails on IgnoresTheCall because "had to be dropped after its grace";
    timeout_1: timeout fails on IgnoresTheCall because "had to be dropped after its grace";
    use_after_cancel_1: use_after_cancel fails on LeaksLanes because "does not work after cancelled calls";
    use_after_timeout_1: use_after_timeout fails on LeaksLanes because "does not work after timeouts";
    dropped_rows_1: dropped_rows fails on LeaksDroppedLanes because "no batch of an endless result came";
    concurrent_reads_1: concurrent_reads fails on OneLane because "4 reads at once are declared, and do not run";
    syntax_errors_1: syntax_errors fails on EverythingIsAnEngineError because "is an error of another kind";
    unknown_object_1: unknown_object fails on EverythingIsAnEngineError because "must be unknown_object";
    unknown_column_1: unknown_column fails on MissingColumnsAreNull because "must fail as unknown_column";
    other_errors_1: other_errors fails on EverythingIsAnEngineError because "must be data_error";
    wrong_targets_1: wrong_targets fails on OpenFailsVaguely because "must be database_not_found";
    hostile_texts_1: hostile_texts fails on ParserPanics because "[internal_error]";
    read_only_session_1: read_only_session fails on EngineWrites because "the engine itself ran";
    writes_are_never_cleared_1: writes_are_never_cleared fails on ClearsWrites because "was cleared as a read";
    corpus_1: corpus fails on ClearsCode because "doc-108 (line";
    corpus_2: corpus fails on RefusesEverything because "15 wrongly refused, 0 wrongly let through";
    policy_objects_1: policy_objects fails on HidesObjects because "is denied by the policy";
    policy_views_1: policy_views fails on ViewsAreOpaque because "is denied by the policy";
    policy_columns_1: policy_columns fails on HidesColumns because "is denied by the policy";
    judged_elsewhere_1: judged_elsewhere fails on CloseClosesAll because "after another session on the same target was closed";
    hostile_identifiers_1: hostile_identifiers fails on SkipsOddNames because "\"line\\nbreak\" is not listed";
    count_and_sample_1: count_and_sample fails on TrimsNamesInCounts because "an honest read failed";
    list_objects_1: list_objects fails on CountsPages because "the page of 1 at 0 has 1 objects and the total 1";
    list_objects_2: list_objects fails on ListsBackwards because "not ordered by namespace and name";
    describe_objects_1: describe_objects fails on DescribesInItsOwnOrder because "described were [\"users\", \"orders\"]";
    fresh_catalogue_1: fresh_catalogue fails on KeepsOldLists because "created beside the session is not listed";
    foreign_keys_1: foreign_keys fails on ClaimsForeignKeys because "refers to users.id, described were []";
    comments_1: comments fails on ClaimsComments because "is declared, so this must run, and the fixture gives no comment";
    namespaces_1: namespaces fails on ClaimsNamespaces because "main.users is not described";
    positional_parameters_1: positional_parameters fails on TrimsParameters because "the parameter \" \" came back as [[Text(\"\")]]";
    named_parameters_1: named_parameters fails on TrimsParameters because "the parameter \" \" came back as [[Text(\"\")]]";
    estimates_1: estimates fails on EstimatesByRunning because "the estimate of an endless statement failed";
    estimate_of_rows_1: estimate_of_rows fails on EstimatesBlindly because "20000 rows are estimated at 5";
    plans_1: plans fails on PlansNothing because "a plan is empty";
    secrets_1: secrets fails on LeaksInErrors because "a credential can be read in what is said about a target with the canary";
    secrets_2: secrets fails on LeaksInDescriptions because "a credential can be read in what is said about a target with the canary as a credential: …}], primary_key";
    tools_1: tools fails on HasNoSample because "sample failed";
    disclaimed_and_there_1: cancel fails on DisclaimsCancellation because "\"cancellation\" is disclaimed, and it works";
    disclaimed_and_there_2: policy_columns fails on DisclaimsColumnRules because "\"column rules\" is disclaimed, and it works";
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_dialect_without_fault_passes_behind_the_wrapper() {
    for scenario in
        ["types", "caps_by_rows", "use_after_cancel", "dropped_rows", "secrets", "tools", "corpus"]
    {
        assert_eq!(
            check(scenario, BrokenFixture::new(Fault::None), PATIENCE).await,
            Checked::Passed,
            "{scenario}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_dialect_that_blocks_its_thread_fails_as_hanging() {
    let patience = Patience { call: Duration::from_secs(1), scenario: Duration::from_secs(2) };
    match check("types", BrokenFixture::new(Fault::Blocks), patience).await {
        Checked::Failed(why) => assert!(why.starts_with("it hangs"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skip_without_a_reason_and_a_reason_without_a_skip_fail() {
    let mut silent = BrokenFixture::new(Fault::None);
    silent.change = |material| material.types.clear();
    fails("types", silent, "the fixture gives no types; give it, or list the scenario").await;

    let mut told = BrokenFixture::new(Fault::None);
    told.change = |material| material.types.clear();
    told.lacks = Some(vec![("types", "for this test")]);
    assert_eq!(check("types", told, PATIENCE).await, Checked::Skipped("for this test".into()));

    let mut stale = BrokenFixture::new(Fault::None);
    stale.lacks = Some(vec![("types", "for this test")]);
    fails("types", stale, "and it runs: take it off the list").await;

    let mut declared = BrokenFixture::new(Fault::None);
    declared.change = |material| material.endless = None;
    declared.lacks = Some(vec![("cancel", "for this test")]);
    fails("cancel", declared, "is declared, so this must run, and the fixture gives no endless").await;
}

fn absent() -> BrokenFixture {
    let mut fixture = BrokenFixture::new(Fault::None);
    fixture.absent = Some("no server".to_owned());
    fixture
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_not_there_is_a_skip() {
    assert_eq!(check("types", absent(), PATIENCE).await, Checked::Skipped("no server".into()));
}

#[test]
fn a_skip_is_no_failure_where_nobody_requires_it() {
    test("types", absent(), "postgres");
}

#[test]
#[should_panic(expected = "DBAGENT_REQUIRE names documents, and it is not there: no server")]
fn a_database_that_is_required_must_be_there() {
    test("types", absent(), "postgres, documents");
}

#[test]
#[should_panic(expected = "documents/types: `{")]
fn a_scenario_that_fails_fails_its_test() {
    test("types", BrokenFixture::new(Fault::RoundsNumbers), "");
}

fn all() -> Vec<&'static str> {
    SCENARIOS.iter().map(|s| s.name).collect()
}

#[test]
fn good_books_are_accepted() {
    books(&all(), BrokenFixture::new(Fault::None));
}

#[test]
#[should_panic(expected = "the scenario secrets is no test")]
fn a_scenario_that_is_no_test_is_missed() {
    let without: Vec<_> = all().into_iter().filter(|name| *name != "secrets").collect();
    books(&without, BrokenFixture::new(Fault::None));
}

#[test]
#[should_panic(expected = "lists \"no_such_scenario\" as lacking, which is no scenario")]
fn lacking_something_that_does_not_exist_is_noticed() {
    let mut fixture = BrokenFixture::new(Fault::None);
    fixture.lacks = Some(vec![("no_such_scenario", "why")]);
    books(&all(), fixture);
}

#[test]
#[should_panic(expected = "disclaim the capability \"cancellation\" instead")]
fn lacking_what_a_capability_says_is_noticed() {
    let mut fixture = BrokenFixture::new(Fault::None);
    fixture.lacks = Some(vec![("cancel", "why")]);
    books(&all(), fixture);
}

#[test]
#[should_panic(expected = "without a reason")]
fn lacking_without_a_reason_is_noticed() {
    let mut fixture = BrokenFixture::new(Fault::None);
    fixture.lacks = Some(vec![("unknown_column", " ")]);
    books(&all(), fixture);
}

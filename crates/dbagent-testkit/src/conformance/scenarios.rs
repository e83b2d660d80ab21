//! The scenarios by name, in the order in which a reader wants to meet them.

mod caps;
mod catalogue;
mod errors;
mod guard;
mod names;
mod parameters;
mod plans;
mod registration;
mod results;
mod secrets;
mod stopping;
mod tools;

use dbagent_core::{Capabilities, Support};
use futures_core::future::BoxFuture;

use super::kit::{Kit, Outcome};

/// One thing that every dialect must do.
pub struct Scenario {
    /// Its name, which is the name of its test.
    pub name: &'static str,
    /// What it holds, in one sentence.
    pub about: &'static str,
    /// The label of the capability that it belongs to; without one it always runs.
    pub capability: Option<&'static str>,
    pub(super) run: for<'a> fn(&'a Kit) -> BoxFuture<'a, Outcome>,
}

impl Scenario {
    /// Whether the dialect declares that it can do this.
    pub(super) fn declared(&self, can: &Capabilities) -> Support {
        let Some(label) = self.capability else { return Support::Yes };
        can.table().into_iter().find(|(known, _)| *known == label).map_or(Support::No, |(_, support)| support)
    }
}

macro_rules! scenarios {
    (@) => { None };
    (@ $capability:literal) => { Some($capability) };
    ($($module:ident::$name:ident $([$capability:literal])?: $about:literal;)+) => {
        /// Every scenario.
        pub const SCENARIOS: &[Scenario] = &[$(Scenario {
            name: stringify!($name),
            about: $about,
            capability: scenarios!(@ $($capability)?),
            run: |kit| Box::pin($module::$name(kit)),
        },)+];
    };
}

scenarios! {
    registration::registration: "The dialect registers itself, and the URL of its target finds it.";
    results::types: "Values of every type come back exactly.";
    results::nulls: "NULL stays NULL, wherever it stands.";
    results::empty_results: "A result without rows announces its columns.";
    results::mixed_columns ["mixed-type columns"]: "A column of several types keeps every value.";
    results::nested_values ["nested values"]: "Nested values come back whole.";
    caps::caps_by_rows: "N + 1 rows set the mark, N do not, and a capped statement stops.";
    caps::caps_by_bytes: "The byte cap ends a result and says so.";
    caps::caps_by_cell: "A value over the cell cap is an error of its own, not a shorter value.";
    caps::slow_reader: "A slow reader slows the writer: what waits is bounded.";
    stopping::cancel ["cancellation"]: "A cancelled call stops by itself and says that it was cancelled.";
    stopping::timeout ["statement timeout"]: "A statement past its time is stopped, also when its reader is stuck.";
    stopping::use_after_cancel ["cancellation"]: "After cancelled calls in every lane the session works.";
    stopping::use_after_timeout ["statement timeout"]: "After timeouts in every lane the session works.";
    stopping::dropped_rows: "Rows that are dropped stop their statement and free their lane.";
    stopping::concurrent_reads: "As many reads as declared run at once; more wait and then run.";
    errors::syntax_errors: "What the grammar does not accept is refused or a syntax error, and the session goes on.";
    errors::unknown_object: "A missing object is an error of that kind.";
    errors::unknown_column: "A missing column is an error of that kind.";
    errors::other_errors: "Other failures have the kinds that the fixture names.";
    errors::wrong_targets: "What cannot be opened says why by its kind.";
    errors::hostile_texts: "No text ends the process, hangs or is an internal error.";
    guard::read_only_session ["read-only session enforced by the engine"]: "With the guard out of the way the engine itself refuses writes.";
    guard::writes_are_never_cleared: "No write is ever cleared, and the scratch database stays as it is.";
    guard::corpus: "Every row of the corpora is judged as it says.";
    guard::policy_objects: "A denied object is refused, is not listed, and does not exist for describe.";
    guard::policy_views: "A view is what it reads: denied objects and columns stay denied behind it.";
    guard::policy_columns ["column rules"]: "A denied column is refused by name and through *, and the others stay readable.";
    guard::judged_elsewhere: "A statement judged for one session does not run on another, and sessions are independent.";
    names::hostile_identifiers: "Objects with hostile names are listed and described.";
    names::count_and_sample: "Hostile names are counted and sampled.";
    catalogue::list_objects: "Lists are ordered, complete over pages, and filtered by pattern.";
    catalogue::describe_objects: "Descriptions come in the order asked, with their columns; what is missing is said.";
    catalogue::fresh_catalogue: "A catalogue that changed is seen: a new object, and a view that reads something else.";
    catalogue::foreign_keys ["foreign keys"]: "Links between objects are described.";
    catalogue::comments ["comments"]: "Comments are described.";
    catalogue::namespaces ["namespaces"]: "Names mean the same with and without the default namespace, for rules too.";
    parameters::positional_parameters ["positional parameters"]: "Values by position arrive unchanged and never become text of the statement.";
    parameters::named_parameters ["named parameters"]: "Values by name arrive unchanged and never become text of the statement.";
    plans::estimates: "An estimate does not run the statement, and what it cannot tell it leaves out.";
    plans::estimate_of_rows ["estimate of result rows"]: "The estimate of a large result is of its order.";
    plans::plans ["plans"]: "Plans are shown, and nothing runs for them.";
    secrets::secrets: "No credential is in any error, description, prompt or debug text.";
    tools::tools: "The tools of the core work on the dialect: list, describe, count, sample and ask.";
}

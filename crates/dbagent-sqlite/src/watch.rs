//! The authorizer: what SQLite may compile on a session's connection, and what it says it compiled.
//!
//! SQLite asks it for every table, column, function and pragma of a statement while compiling, also for
//! those inside views. It denies by default. A recording is what the judged request is held against.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dbagent_core::Policy;
use dbagent_core::guard::RuleEffect;
use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use crate::functions;
use crate::parse::pragma;

/// A column that a statement reads, as the engine names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReadAccess {
    /// Absent where the text names none and no column is read.
    pub(crate) schema: Option<String>,
    pub(crate) table: String,
    /// Empty when rows are counted and no column is read. The table is the name in the text then, which may
    /// be that of a common table expression.
    pub(crate) column: String,
    /// Whether a view reads it.
    pub(crate) by_view: bool,
}

/// What the engine said of one statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Recording {
    pub(crate) reads: BTreeSet<ReadAccess>,
    pub(crate) functions: BTreeSet<String>,
    pub(crate) pragmas: BTreeSet<String>,
    /// What was denied, in words.
    pub(crate) denied: Vec<String>,
}

#[derive(Debug, Default)]
struct State {
    recording: Option<Recording>,
    /// While the crate's own catalogue statements run: connecting a spatial index compiles the statements
    /// that would write it, although nothing on this connection can.
    catalogue: bool,
}

/// A handle on the authorizer of one connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watch(Arc<Mutex<State>>);

impl Watch {
    /// Puts an authorizer under `policy` on a connection.
    pub(crate) fn install(connection: &mut Connection, policy: &Policy) -> rusqlite::Result<Self> {
        let watch = Self::default();
        let own = watch.clone();
        let policy = policy.clone();
        connection.authorizer(Some(move |context: AuthContext<'_>| own.decide(&context, &policy)))?;
        Ok(watch)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change of the state is one assignment: a panic elsewhere leaves it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` and returns what the engine said meanwhile.
    pub(crate) fn record<T>(&self, work: impl FnOnce() -> T) -> (T, Recording) {
        self.lock().recording = Some(Recording::default());
        let value = work();
        let recording = self.lock().recording.take().unwrap_or_default();
        (value, recording)
    }

    /// Marks whether the crate's own catalogue statements run.
    pub(crate) fn set_catalogue(&self, on: bool) {
        self.lock().catalogue = on;
    }

    fn decide(&self, context: &AuthContext<'_>, policy: &Policy) -> Authorization {
        let mut state = self.lock();
        let catalogue = state.catalogue;
        let mut unused = Recording::default();
        let recording = state.recording.as_mut().unwrap_or(&mut unused);
        let denied = match context.action {
            AuthAction::Select | AuthAction::Recursive => None,
            AuthAction::Read { table_name, column_name } => {
                recording.reads.insert(ReadAccess {
                    schema: context.database_name.map(str::to_owned),
                    table: table_name.to_owned(),
                    column: column_name.to_owned(),
                    by_view: context.accessor.is_some(),
                });
                None
            }
            AuthAction::Function { function_name } => {
                recording.functions.insert(function_name.to_ascii_lowercase());
                let allowed = match policy.function(function_name) {
                    Some(RuleEffect::Deny) => false,
                    Some(RuleEffect::Allow) => true,
                    None => functions::effects(function_name).is_pure_read(),
                };
                (!allowed).then(|| format!("the function {function_name}"))
            }
            AuthAction::Pragma { pragma_name, pragma_value } => {
                recording.pragmas.insert(pragma_name.to_ascii_lowercase());
                let allowed = pragma::only_reads(pragma_name, pragma_value.is_some());
                (!allowed).then(|| format!("the pragma {pragma_name}"))
            }
            AuthAction::Insert { table_name }
            | AuthAction::Delete { table_name }
            | AuthAction::Update { table_name, .. }
                if catalogue && is_spatial_storage(table_name) =>
            {
                None
            }
            other => Some(in_words(&other)),
        };
        match denied {
            None => Authorization::Allow,
            Some(what) => {
                recording.denied.push(match context.accessor {
                    Some(view) => format!("{what}, by way of {view}"),
                    None => what,
                });
                Authorization::Deny
            }
        }
    }
}

/// Whether a table is the storage of a spatial index, by the names that SQLite gives them.
fn is_spatial_storage(table: &str) -> bool {
    ["_node", "_rowid", "_parent"].iter().any(|suffix| table.ends_with(suffix))
}

fn in_words(action: &AuthAction<'_>) -> String {
    match action {
        AuthAction::Insert { table_name } => format!("an insert into {table_name}"),
        AuthAction::Update { table_name, .. } => format!("an update of {table_name}"),
        AuthAction::Delete { table_name } => format!("a delete from {table_name}"),
        AuthAction::Attach { .. } => "attaching another database".to_owned(),
        AuthAction::Detach { .. } => "detaching a database".to_owned(),
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => "a transaction".to_owned(),
        AuthAction::Analyze { .. } | AuthAction::Reindex { .. } => "work on the storage".to_owned(),
        AuthAction::Unknown { code, .. } => format!("an action of code {code}"),
        _ => "a change of the schema".to_owned(),
    }
}

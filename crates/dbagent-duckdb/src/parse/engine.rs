//! The engine as a reader: `json_serialize_sql` on a database in memory that holds nothing.
//!
//! It never sees the target. The text is bound as a value, so that nothing of it runs.

use std::sync::{Mutex, PoisonError};

use dbagent_core::{Error, ErrorKind, Result};
use duckdb::{Config, Connection};
use serde::Deserialize as _;
use serde_json::{Map, Value};

/// A part of the engine's tree.
pub(crate) type Node = Map<String, Value>;

/// Connections kept for the next parse.
const KEPT: usize = 8;
/// Serializes what can be serialized. What is at its default is left out.
const SERIALIZE: &str =
    "SELECT json_serialize_sql(?, skip_null := true, skip_empty := true, skip_default := true)";
/// What the database in memory may use; a tree of the longest statement fits many times.
const MEMORY: &str = "256MB";

/// What the engine made of a text.
pub(crate) enum Read {
    /// A query: its tree.
    Query(Node),
    /// Several statements, all queries.
    Several,
    /// A statement of another kind: it is not serialized.
    Other,
    /// The grammar does not accept it.
    Refused { message: String, at: Option<usize> },
    /// The engine's own limit of depth.
    TooDeep,
}

/// The engine as a reader.
pub(crate) struct Engine {
    root: Result<Mutex<Connection>, String>,
    idle: Mutex<Vec<Connection>>,
}

impl Engine {
    /// An engine over a hardened database in memory.
    pub(crate) fn new() -> Self {
        let root = open().map(Mutex::new).map_err(|e| e.to_string());
        Self { root, idle: Mutex::default() }
    }

    /// Reads a text.
    ///
    /// # Errors
    /// When the engine itself fails; what is wrong with the text is no error here.
    pub(crate) fn read(&self, text: &str) -> Result<Read> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let read = read_on(&connection, text)?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT {
            idle.push(connection);
        }
        Ok(read)
    }

    fn connect(&self) -> Result<Connection> {
        let root = self.root.as_ref().map_err(|why| {
            Error::new(ErrorKind::Internal, format!("the engine that reads statements does not start: {why}"))
                .op("parse")
        })?;
        root.lock().unwrap_or_else(PoisonError::into_inner).try_clone().map_err(failed)
    }
}

fn open() -> duckdb::Result<Connection> {
    let config = Config::default()
        .with("enable_external_access", "false")?
        .with("autoload_known_extensions", "false")?
        .with("autoinstall_known_extensions", "false")?
        .with("allow_persistent_secrets", "false")?
        .with("memory_limit", MEMORY)?
        .with("threads", "1")?
        .with("lock_configuration", "true")?;
    Connection::open_in_memory_with_flags(config)
}

/// Reads a text on a connection.
fn read_on(connection: &Connection, text: &str) -> Result<Read> {
    let mut statement = connection.prepare_cached(SERIALIZE).map_err(failed)?;
    let tree: String = statement.query_row([text], |row| row.get(0)).map_err(failed)?;
    // Trees are as deep as the statement; the stack of the thread is made for it.
    let mut reader = serde_json::Deserializer::from_str(&tree);
    reader.disable_recursion_limit();
    let tree = Value::deserialize(&mut reader).map_err(|e| {
        Error::new(ErrorKind::Internal, "the engine's tree of a statement cannot be read")
            .op("parse")
            .source(e)
    })?;
    Ok(told(tree))
}

fn failed(e: duckdb::Error) -> Error {
    Error::new(ErrorKind::Internal, "the engine could not read the statement").op("parse").source(e)
}

fn told(tree: Value) -> Read {
    let Value::Object(mut tree) = tree else { return Read::Other };
    let text = |key: &str| tree.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    if tree.get("error") != Some(&Value::Bool(false)) {
        let at = text("position").parse().ok();
        return match text("error_type").as_str() {
            // A statement of another kind has no place; what is refused on the way has one.
            "not implemented" if text("error_message").starts_with("Only SELECT") => Read::Other,
            "parser" if at.is_none() && text("error_message").starts_with("Max expression depth") => {
                Read::TooDeep
            }
            _ => Read::Refused { message: text("error_message"), at },
        };
    }
    match tree.remove("statements") {
        Some(Value::Array(mut statements)) if statements.len() == 1 => match statements.pop() {
            Some(Value::Object(statement)) => Read::Query(statement),
            _ => Read::Other,
        },
        Some(Value::Array(statements)) if statements.len() > 1 => Read::Several,
        _ => Read::Other,
    }
}

//! A fake document database: JSON requests, nested values, no SQL anywhere.
//!
//! It proves that nothing in the core assumes SQL, passes the conformance suite itself, and gives tests of
//! agents a database that needs no driver. It is a whole small dialect to read: an engine that keeps a
//! folder of collections in one JSON file and enforces its own read-only mode ([`Connection`]), a language
//! with a strict grammar, and the road in between. It does not register itself, so that linking the testkit
//! changes no registry; a test that wants it there submits [`DIALECT`].

mod catalogue;
mod effects;
mod engine;
mod expression;
mod fixture;
mod grammar;
mod language;
mod run;
mod session;

use dbagent_core::guard::Parsed;
use dbagent_core::json::{Json, JsonLimits};
use dbagent_core::request::RequestBody;
use dbagent_core::serde_json::json;
use dbagent_core::{
    Capabilities, CredentialKey, Dialect, Error, ErrorKind, Noun, ObjectName, ParseContext, Request, Result,
    Support, Verb,
};

pub use engine::{Connection, Mode};
pub use fixture::{DocumentsFixture, sample};
pub use session::open;

/// The dialect: `documents:///folder/file.json`.
pub const DIALECT: Dialect = Dialect::new("documents", parse, session::open)
    .name("Documents")
    .schemes(&["documents"])
    .language("JSON")
    .noun(Noun::COLLECTIONS)
    .credential_keys(&[CredentialKey::new("token", "the token that the file asks for, if it asks").secret()])
    .capabilities(Capabilities {
        read_only_session: Support::Yes,
        statement_timeout: Support::Yes,
        cancel: Support::Yes,
        column_rules: Support::Yes,
        mixed_columns: Support::Yes,
        nested_values: Support::Yes,
        max_concurrent_reads: session::LANES,
        ..Capabilities::NONE
    })
    .prompt(
        "Documents are nested JSON. Name a nested field with dots, such as address.city. Aggregate with \
         $match, $group and $sort instead of fetching documents.",
    )
    .verbs(&[FIND, AGGREGATE])
    .count(count)
    .sample(find_all);

const FIND: Verb = Verb {
    name: "find",
    description: "Finds documents of one collection, optionally filtered, sorted and reduced to some fields.",
    parameters: || {
        json!({
            "type": "object",
            "properties": {
                "collection": {"type": "string", "description": "Name as list_objects shows it."},
                "filter": {
                    "type": "object",
                    "description": "Conditions by field: a value, or operators $eq $ne $gt $gte $lt $lte $in $nin $exists; $and $or $nor over several."
                },
                "projection": {"type": "object", "description": "Fields to keep (1) or to leave out (0)."},
                "sort": {"type": "object", "description": "Fields with 1 (ascending) or -1 (descending)."},
                "skip": {"type": "integer", "minimum": 0}
            },
            "required": ["collection"],
            "additionalProperties": false
        })
    },
    compile: |arguments| compile("find", arguments),
};

const AGGREGATE: Verb = Verb {
    name: "aggregate",
    description: "Runs a pipeline over one collection and returns the documents of its last stage.",
    parameters: || {
        json!({
            "type": "object",
            "properties": {
                "collection": {"type": "string", "description": "Name as list_objects shows it."},
                "pipeline": {
                    "type": "array", "items": {"type": "object"},
                    "description": "Stages: $match $project $group $sort $skip $limit $unwind $count $lookup."
                }
            },
            "required": ["collection", "pipeline"],
            "additionalProperties": false
        })
    },
    compile: |arguments| compile("aggregate", arguments),
};

/// The one normal form: the operation first, then the arguments in the order given.
fn compile(op: &str, arguments: &Json) -> Result<Request> {
    let Json::Object(members) = arguments else {
        return Err(Error::new(ErrorKind::InvalidRequest, "the arguments must be an object"));
    };
    let mut all = vec![member("op", op)];
    all.extend(members.iter().filter(|(key, _)| key != "op").cloned());
    Ok(request(all))
}

fn count(name: &ObjectName) -> Request {
    let stage = Json::Object(vec![member("$count", "count")]);
    let pipeline = ("pipeline".to_owned(), Json::Array(vec![stage]));
    request(vec![member("op", "aggregate"), member("collection", &name.name), pipeline])
}

fn find_all(name: &ObjectName) -> Request {
    request(vec![member("op", "find"), member("collection", &name.name)])
}

fn member(key: &str, text: &str) -> (String, Json) {
    (key.to_owned(), Json::String(text.to_owned()))
}

fn request(members: Vec<(String, Json)>) -> Request {
    Request::json(Json::Object(members).to_string())
}

/// Says what a request does: strict JSON first, then the closed grammar, then the walk. Public for dialects
/// that wrap this one.
///
/// # Errors
/// [`ErrorKind::Syntax`] for what is no JSON.
pub fn parse(request: &Request, context: &ParseContext) -> Result<Parsed> {
    let limits = JsonLimits { bytes: context.limits().bytes, ..JsonLimits::default() };
    Ok(match command(request, limits)? {
        (json, _) if effects::nodes(&json) > context.limits().tokens => {
            effects::too_many(context.limits().tokens)
        }
        (_, Ok(command)) => effects::parsed(&command),
        (_, Err(finding)) => effects::objected(finding),
    })
}

type Read = std::result::Result<language::Command, dbagent_core::guard::Finding>;

/// Reads a request by the one grammar that judging and running share.
fn command(request: &Request, limits: JsonLimits) -> Result<(Json, Read)> {
    let syntax = |message: String| Error::new(ErrorKind::Syntax, message).op("parse");
    match &request.body {
        RequestBody::Text(_) => {
            Err(syntax("this database takes JSON requests, not text".into()).hint("use find or aggregate"))
        }
        RequestBody::JsonText(text) => {
            let json = Json::parse(text, limits).map_err(|e| syntax(e.to_string()).at(e.at))?;
            let command = grammar::command(&json);
            Ok((json, command))
        }
    }
}

//! What the planner can call, read from the tools that a request offers.

use dbagent_core::model::ModelRequest;
use serde_json::{Value, json};

use crate::knowledge::Call;
use crate::sql::{Dialect, Statement};

/// The tools of a request, as far as the planner uses them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tools {
    /// Whether any tool may be called.
    pub(crate) any: bool,
    pub(crate) list: bool,
    pub(crate) describe: bool,
    pub(crate) query: bool,
    /// Most rows of one query.
    pub(crate) most_rows: u64,
    pub(crate) dialect: Dialect,
}

impl Tools {
    pub(crate) fn of(request: &ModelRequest) -> Self {
        let find = |name: &str| request.tools.iter().find(|t| t.name == name);
        let takes = |name: &str, argument: &str| {
            find(name).is_some_and(|t| t.parameters.pointer(&format!("/properties/{argument}")).is_some())
        };
        let most_rows = find("query")
            .and_then(|t| t.parameters.pointer("/properties/limit/maximum"))
            .and_then(Value::as_u64)
            .unwrap_or(100);
        let dialect = find("query")
            .and_then(|t| {
                let statement =
                    t.parameters.pointer("/properties/statement/description").and_then(Value::as_str);
                Dialect::named_in(&t.description).or_else(|| statement.and_then(Dialect::named_in))
            })
            .or_else(|| request.system.iter().find_map(|s| Dialect::named_in(s)))
            .unwrap_or(Dialect::Sqlite);
        Self {
            any: !request.tools.is_empty(),
            list: find("list_objects").is_some(),
            describe: find("describe_objects").is_some(),
            query: takes("query", "statement"),
            most_rows,
            dialect,
        }
    }

    /// The limits to try, one after the other, when a result turns out too large to be shown.
    pub(crate) fn limits(&self) -> Vec<u64> {
        let mut out = vec![self.most_rows.min(1_000)];
        out.extend([200, 50, 10, 3].into_iter().filter(|l| *l < self.most_rows));
        out
    }
}

/// The call that runs a statement.
pub(crate) fn query(statement: &Statement, limit: Option<u64>) -> Call {
    let mut arguments = json!({ "statement": statement.text, "params": statement.params });
    if let (Some(limit), Some(map)) = (limit, arguments.as_object_mut()) {
        map.insert("limit".into(), json!(limit));
    }
    Call::new("query", arguments)
}

//! The core's own tools over the dialect, asked by a scripted model, read back as a planner would.

use std::sync::Arc;

use dbagent_core::model::Message;
use dbagent_core::observe::{ReadTable, read_descriptions, read_list};
use dbagent_core::serde_json::json;
use dbagent_core::tools::Database;
use dbagent_core::{Agent, ObjectName};

use super::super::kit::{Kit, Outcome, Stop, ensure, fail, need, told};
use crate::model::{ScriptedModel, call};

pub(super) async fn tools(kit: &Kit) -> Outcome {
    let users = need(kit.material.users.as_ref(), "users")?;
    let orders = need(kit.material.orders.as_ref(), "orders")?;
    let read_users = need(kit.material.read_users.as_ref(), "read_users")?;
    let session = kit.open().await?;
    let expected = kit.table(&session, read_users, None).await?;

    let mut wanted: Vec<&ObjectName> = vec![users, orders];
    wanted.extend(kit.material.hostile.iter().map(|h| &h.name).take(10));
    let names: Vec<String> = wanted.iter().map(ToString::to_string).collect();
    let mut calls = vec![
        call("list_objects", "{}"),
        call("describe_objects", json!({ "names": names })),
        call("count", json!({ "name": users.to_string() })),
        call("sample", json!({ "name": users.to_string() })),
    ];
    if kit.dialect().own_verbs().is_empty() {
        calls.push(call("query", json!({ "statement": read_users.as_str() })));
    }
    let asked = calls.len();
    let model = ScriptedModel::new().calls(calls).text("done");
    let agent = Agent::builder(Arc::new(model.clone()))
        .database(Database::open(session))
        .build()
        .map_err(|e| Stop::Failed(format!("no agent can be built over the dialect: {}", told(&e))))?;
    agent.ask("kit", "go").await.map_err(|e| Stop::Failed(format!("the run failed: {}", told(&e))))?;

    let Some(last) = model.last_request() else { fail!("the model was never asked") };
    let observations: Vec<_> = last
        .messages
        .iter()
        .filter_map(|m| match m {
            Message::Tool(tool) => Some(tool),
            _ => None,
        })
        .collect();
    ensure!(observations.len() == asked, "{asked} calls have {} observations", observations.len());
    for observation in &observations {
        ensure!(!observation.is_error, "{} failed: {}", observation.name, observation.text);
    }
    let text = |tool: &str| {
        observations.iter().find(|o| o.name == tool).map(|o| o.text.as_str()).unwrap_or_default()
    };
    let listed = read_list(text("list_objects"));
    let described = read_descriptions(text("describe_objects"));
    for name in &wanted {
        ensure!(listed.iter().any(|o| o.name.name == name.name), "{name} cannot be read in the list");
        ensure!(
            described.iter().any(|o| o.summary.name.name == name.name && !o.columns.is_empty()),
            "{name} cannot be read in the descriptions: {}",
            text("describe_objects")
        );
    }
    let read = |tool: &str| match ReadTable::from_observation(text(tool)) {
        Some(table) => Ok(table),
        None => fail!("the observation of {tool} holds no table: {}", text(tool)),
    };
    let count = read("count")?;
    let number = expected.rows.len().to_string();
    ensure!(count.rows == [[Some(number.clone())]], "count says {:?}, {users} has {number} rows", count.rows);
    let mut tables = vec![("sample", read("sample")?)];
    if kit.dialect().own_verbs().is_empty() {
        tables.push(("query", read("query")?));
    }
    for (tool, table) in tables {
        let columns: Vec<&str> = table.columns.iter().map(|(name, _)| name.as_str()).collect();
        ensure!(
            columns == expected.columns && table.rows.len() == expected.rows.len(),
            "{tool} shows the columns {columns:?} and {} rows, expected {:?} and {}",
            table.rows.len(),
            expected.columns,
            expected.rows.len()
        );
    }
    Ok(())
}

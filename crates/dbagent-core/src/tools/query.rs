//! `query` (or a dialect's own verbs), `count` and `sample`: the one road from a request to an observation.

use std::sync::Arc;

use arrow_array::RecordBatch;
use async_trait::async_trait;
use serde_json::json;
use tokio::time::Instant;
use tracing::Instrument as _;

use super::describe::object_name;
use super::{Database, call_context, feedback, render_rows};
use crate::artifact::{Artifact, RowsArtifact};
use crate::context::CallContext;
use crate::dialect::Verb;
use crate::error::{Error, ErrorKind};
use crate::estimate::{Estimate, PlanWarning};
use crate::guard::StatementClass;
use crate::guardrails::OnOverflow;
use crate::json::Json;
use crate::name::ObjectName;
use crate::request::{Params, Request};
use crate::rows::Cell;
use crate::session::Verdict;
use crate::text::{counted, estimate_tokens, thousands};
use crate::tool::{
    ArgumentError, Arguments, Tool, ToolContext, ToolError, ToolHints, ToolOutput, ToolSpec, TraceContent,
};

/// How many rows of a statement are handed on between two notes of progress.
const PROGRESS_ROWS: u64 = 1_000;

/// `query`, or one verb of a dialect.
pub(super) struct Query {
    database: Database,
    verb: Option<&'static Verb>,
    spec: ToolSpec,
}

fn limit_schema(database: &Database) -> serde_json::Value {
    let g = &database.target().guardrails;
    json!({
        "type": "integer", "minimum": 1, "maximum": g.hard_max_rows,
        "description": format!("Most {} to return; {} when left out.", database.dialect().nouns().rows, g.default_rows)
    })
}

impl Query {
    pub(super) fn new(database: Database) -> Self {
        let d = database.dialect();
        let g = &database.target().guardrails;
        let mut parameters = json!({
            "type": "object",
            "properties": {
                "statement": {"type": "string", "description": format!("One {} {} statement that only reads.", d.display_name(), d.query_language())},
                "limit": limit_schema(&database)
            },
            "required": ["statement"],
            "additionalProperties": false
        });
        let can = d.can();
        if can.positional_parameters.is_there() || can.named_parameters.is_there() {
            let form = if can.named_parameters.is_there() {
                "an array by position or an object by name"
            } else {
                "an array by position"
            };
            if let Some(properties) =
                parameters.get_mut("properties").and_then(serde_json::Value::as_object_mut)
            {
                properties.insert(
                    "params".into(),
                    json!({
                        "description": format!(
                            "Values for the statement's parameters: {form}. Null, boolean, number, text, or \
                             {{\"$decimal\": \"1.50\"}}, {{\"$date\": \"2024-05-01\"}}, {{\"$bytes\": \"base64\"}}, {{\"$uuid\": \"…\"}}."
                        )
                    }),
                );
            }
        }
        let spec = ToolSpec {
            name: "query".into(),
            description: format!(
                "Runs one {name} statement that only reads and returns its rows as a text table. One statement per call; \
                 writes and unknown functions are refused. At most {max} rows; more rows than the limit are marked \
                 INCOMPLETE. A result over {tokens} tokens is refused with its size and shown not at all: aggregate, name \
                 the columns you need, or lower the limit.",
                name = d.display_name(),
                max = g.hard_max_rows,
                tokens = g.max_result_tokens
            ),
            parameters: Arc::new(parameters),
            hints: ToolHints::READ_ONLY,
        };
        Self { database, verb: None, spec }
    }

    pub(super) fn of_verb(database: Database, verb: &'static Verb) -> Self {
        let g = &database.target().guardrails;
        let mut parameters = (verb.parameters)();
        if let Some(properties) = parameters.get_mut("properties").and_then(serde_json::Value::as_object_mut)
        {
            properties.insert("limit".into(), limit_schema(&database));
        }
        let spec = ToolSpec {
            name: verb.name.into(),
            description: format!(
                "{} At most {} {}; more than the limit are marked INCOMPLETE. A result over {} tokens is refused with its size.",
                verb.description,
                g.hard_max_rows,
                database.dialect().nouns().rows,
                g.max_result_tokens
            ),
            parameters: Arc::new(parameters),
            hints: ToolHints::READ_ONLY,
        };
        Self { database, verb: Some(verb), spec }
    }

    fn request(&self, arguments: &Arguments) -> Result<(Request, u64), Box<ToolOutput>> {
        let bad = |e: ArgumentError| Box::new(feedback::arguments(&e));
        let g = &self.database.target().guardrails;
        let limit = arguments
            .optional_u64("limit", 1..=g.hard_max_rows)
            .map_err(bad)?
            .unwrap_or(g.default_rows.min(g.hard_max_rows));
        let request = match self.verb {
            None => {
                arguments.only(&["statement", "params", "limit"]).map_err(bad)?;
                let statement = arguments.text("statement").map_err(bad)?;
                let params = Params::from_json(arguments.json().get("params").unwrap_or(&Json::Null))
                    .map_err(|e| Box::new(feedback::error(&e, None)))?;
                Request::text(statement).with_params(params)
            }
            Some(verb) => {
                let members = arguments.json().as_object().unwrap_or_default();
                let own = Json::Object(members.iter().filter(|(k, _)| k != "limit").cloned().collect());
                (verb.compile)(&own).map_err(|e| Box::new(feedback::error(&e, None)))?
            }
        };
        Ok((request, limit))
    }
}

#[async_trait]
impl Tool for Query {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, context: &ToolContext, arguments: Arguments) -> Result<ToolOutput, ToolError> {
        match self.request(&arguments) {
            Ok((request, limit)) => Ok(run(&self.database, context, request, limit, Overflow::Marked).await),
            Err(output) => Ok(*output),
        }
    }
}

/// `count` or `sample`: a request that the dialect makes from a name.
pub(super) struct Fixed {
    database: Database,
    make: fn(&crate::Dialect, &ObjectName) -> Option<Request>,
    most: u64,
    spec: ToolSpec,
}

/// Rows of a sample that names no limit.
const SAMPLE_ROWS: u64 = 5;
/// Most rows of a sample.
const SAMPLE_MAX: u64 = 20;

impl Fixed {
    pub(super) fn count(database: &Database) -> Option<Self> {
        let d = database.dialect();
        d.count_request(&ObjectName::new("x"))?;
        let noun = d.nouns();
        let spec = ToolSpec {
            name: "count".into(),
            description: format!("Counts all {} of one {} exactly.", noun.rows, noun.singular),
            parameters: Arc::new(json!({
                "type": "object",
                "properties": {"name": {"type": "string", "description": "Name as list_objects shows it."}},
                "required": ["name"],
                "additionalProperties": false
            })),
            hints: ToolHints::READ_ONLY,
        };
        Some(Self { database: database.clone(), make: |d, n| d.count_request(n), most: 1, spec })
    }

    pub(super) fn sample(database: &Database) -> Option<Self> {
        let d = database.dialect();
        d.sample_request(&ObjectName::new("x"))?;
        let noun = d.nouns();
        let spec = ToolSpec {
            name: "sample".into(),
            description: format!(
                "Shows a few {} of one {}, in no particular order, to see what its values look like. Not for answers.",
                noun.rows, noun.singular
            ),
            parameters: Arc::new(json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "Name as list_objects shows it."},
                    "limit": {"type": "integer", "minimum": 1, "maximum": SAMPLE_MAX, "description": format!("How many; {SAMPLE_ROWS} when left out.")}
                },
                "required": ["name"],
                "additionalProperties": false
            })),
            hints: ToolHints::READ_ONLY,
        };
        Some(Self { database: database.clone(), make: |d, n| d.sample_request(n), most: SAMPLE_MAX, spec })
    }
}

#[async_trait]
impl Tool for Fixed {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, context: &ToolContext, arguments: Arguments) -> Result<ToolOutput, ToolError> {
        let read = || {
            arguments.only(if self.most > 1 { &["name", "limit"] } else { &["name"] })?;
            let limit = arguments.optional_u64("limit", 1..=self.most)?.unwrap_or(SAMPLE_ROWS.min(self.most));
            Ok((object_name(arguments.text("name")?), limit))
        };
        let (name, limit) = match read() {
            Ok(read) => read,
            Err(e) => return Ok(feedback::arguments(&e)),
        };
        match (self.make)(self.database.dialect(), &name) {
            Some(request) => {
                let overflow = if self.most > 1 { Overflow::Expected } else { Overflow::Marked };
                Ok(run(&self.database, context, request, limit, overflow).await)
            }
            None => Ok(ToolOutput::feedback(
                "This database cannot do that for a single object; use the other tools.",
            )),
        }
    }
}

/// What more rows than the limit mean.
#[derive(Clone, Copy, PartialEq)]
enum Overflow {
    /// The result is incomplete and says so.
    Marked,
    /// A sample: that there is more is the point.
    Expected,
}

/// The one road: judge → estimate → reserve → read → shape.
async fn run(
    database: &Database,
    context: &ToolContext,
    request: Request,
    limit: u64,
    overflow: Overflow,
) -> ToolOutput {
    let statement = request.as_str().to_owned();
    let call = call_context(context);
    let span = tracing::info_span!(
        "db_query",
        db.system.name = database.dialect().id(),
        db.operation.name = database.dialect().query_language(),
        db.query.text = tracing::field::Empty,
        db.response.returned_rows = tracing::field::Empty,
        error.type = tracing::field::Empty,
    );
    if context.host.get::<TraceContent>().is_some() {
        span.record("db.query.text", statement.as_str());
    }
    let result = road(database, context, &call, request, limit).instrument(span.clone()).await;
    match &result {
        Ok(Ok(rows)) => _ = span.record("db.response.returned_rows", rows.ending.rows),
        Ok(Err(_)) => _ = span.record("error.type", "refused"),
        Err(e) => _ = span.record("error.type", e.kind().as_str()),
    }
    match result {
        Ok(Ok(rows)) => shape(database, context, rows, limit, overflow),
        Ok(Err(output)) => output,
        Err(e) => {
            context.metrics.error(e.kind());
            feedback::error(&e, Some(&statement))
        }
    }
}

async fn road(
    database: &Database,
    context: &ToolContext,
    call: &CallContext,
    request: Request,
    limit: u64,
) -> Result<Result<RowsArtifact, ToolOutput>, Error> {
    let statement = request.as_str().to_owned();
    let session = database.session(call).await?;
    let refused = |refusal: &crate::Refusal| {
        context.progress.judged(&statement, Some(refusal));
        if refusal.rule == crate::Rule::EstimateOverThreshold {
            context.metrics.blocked_by_estimate();
        } else {
            context.metrics.refused();
        }
        feedback::refusal(refusal, &statement)
    };
    let cleared = match session.judge(request, Some(limit), call).await? {
        Verdict::Cleared(cleared) => cleared,
        Verdict::Refused(refusal) => return Ok(Err(refused(&refusal))),
        Verdict::Proposed(_) => {
            let refusal =
                crate::Refusal::new(crate::Rule::Write, "the statement changes data; this tool only reads");
            return Ok(Err(refused(&refusal)));
        }
    };
    let estimate: Estimate = match session.estimate(&cleared, call).await? {
        Ok(estimate) => estimate,
        Err(refusal) => return Ok(Err(refused(&refusal))),
    };
    context.progress.judged(&statement, None);
    let budget = database.target().guardrails.row_budget;
    let reserved = match context.budget.reserve_rows(limit, budget).await {
        Ok(reserved) if reserved < limit => {
            context.budget.charge_rows(reserved, 0).await;
            context.metrics.budget_exhausted();
            return Ok(Err(feedback::budget(&format!(
                "The row budget of this conversation has {left} left, and this call may fetch {}; a limit of at \
                 most {} would fit",
                thousands(limit),
                thousands(reserved),
                left = counted(reserved, "row", "rows")
            ))));
        }
        Ok(reserved) => reserved,
        Err(e) => {
            context.metrics.budget_exhausted();
            return Ok(Err(feedback::budget(&format!(
                "All {} rows of this conversation's budget are used",
                thousands(e.limit)
            ))));
        }
    };
    let shows_a_plan = cleared.parsed().class == StatementClass::Explain;
    let started = Instant::now();
    // Counted while they stream: what came before a read failed was fetched too.
    let mut fetched = 0;
    let read = async {
        let mut rows = session.read(cleared, call)?;
        let mut batches = Vec::new();
        let mut next_note = PROGRESS_ROWS;
        loop {
            let next = rows.next().await;
            let so_far = rows.ending();
            fetched = so_far.rows;
            let Some(batch) = next? else { break };
            batches.push(batch);
            if so_far.rows >= next_note {
                context.progress.rows(so_far.rows, so_far.bytes);
                next_note = so_far.rows + PROGRESS_ROWS;
            }
        }
        if let Some(refusal) = rows.refusal() {
            return Ok(Err(refused(refusal)));
        }
        let schema = rows
            .schema()
            .ok_or_else(|| Error::new(ErrorKind::Internal, "the dialect announced no columns").op("read"))?;
        Ok(Ok((schema, batches, rows.ending())))
    };
    let result: Result<_, Error> = read.await;
    context.budget.charge_rows(reserved, fetched).await;
    let elapsed = started.elapsed();
    let (schema, batches, ending) = match result? {
        Ok(read) => read,
        Err(output) => return Ok(Err(output)),
    };
    context.metrics.query(ending.rows, ending.bytes, elapsed);
    context.progress.ran(ending.rows, ending.is_complete(), elapsed);
    let warnings: Vec<PlanWarning> = if shows_a_plan {
        database.dialect().read_plan(&first_column(&batches))
    } else {
        estimate.review(ending.rows, ending.is_complete(), elapsed).into_iter().collect()
    };
    for warning in &warnings {
        context.progress.warned(warning);
    }
    Ok(Ok(RowsArtifact { statement, schema, batches, ending, estimate, elapsed, warnings }))
}

/// The texts of the first column, one a line: what EXPLAIN prints.
fn first_column(batches: &[RecordBatch]) -> String {
    let mut text = String::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            if let Cell::Text(line) | Cell::Json(line) = Cell::at(batch, 0, row) {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text
}

/// A line for each warning about the figures of a plan: nothing in it is of the database's own words.
fn notes(warnings: &[PlanWarning]) -> impl Iterator<Item = String> + '_ {
    let figures = warnings.iter().filter(|w| matches!(w, PlanWarning::EstimateOff { .. }));
    figures.map(|warning| format!("Note: {warning}."))
}

/// Turns rows into what the model reads: design's table of observations.
fn shape(
    database: &Database,
    context: &ToolContext,
    rows: RowsArtifact,
    limit: u64,
    overflow: Overflow,
) -> ToolOutput {
    let g = &database.target().guardrails;
    let noun = database.dialect().nouns();
    let columns = rows.schema.fields().len();
    let refuse = |rows: RowsArtifact, tokens: u64, why: &str| {
        context.metrics.too_large();
        let at_least = if rows.ending.is_complete() { "" } else { "≥ " };
        let more = u64::from(rows.ending.more_rows);
        let mut text = format!(
            "REFUSED: {why}. Size: {at_least}{} × {}, {at_least}{}. Nothing of it is shown. Aggregate in the database, \
             name fewer columns, filter, or lower the limit.",
            noun.counted(rows.ending.rows + more),
            counted(columns as u64, "column", "columns"),
            counted(tokens, "token", "tokens")
        );
        for note in notes(&rows.warnings) {
            text.push('\n');
            text.push_str(&note);
        }
        ToolOutput { text, is_error: true, artifact: Some(Artifact::Rows(rows)) }
    };
    let table = render_rows(&rows.schema, &rows.batches, g.max_cell_chars);
    let tokens = estimate_tokens(&table, 4.0);
    if rows.ending.over_bytes {
        return refuse(
            rows,
            tokens,
            &format!("the result is over max_result_bytes = {}", crate::text::bytes(g.max_result_bytes)),
        );
    }
    if tokens > g.max_result_tokens {
        return refuse(
            rows,
            tokens,
            &format!("the result is over the limit of {} tokens", thousands(g.max_result_tokens)),
        );
    }
    let mut head = String::new();
    if rows.ending.more_rows && overflow == Overflow::Marked {
        if g.on_overflow == OnOverflow::Refuse {
            return refuse(rows, tokens, &format!("more than {} exist", noun.counted(limit)));
        }
        head = format!(
            "INCOMPLETE: more than {limited} exist; these are the first {limit} that the database returned. Do not \
             count or sum them: aggregate in the database, filter, or raise the limit (at most {max}).\n",
            limited = noun.counted(limit),
            limit = thousands(limit),
            max = thousands(g.hard_max_rows)
        );
    }
    let count = rows.ending.rows;
    head.push_str(&format!("{}, {}\n", noun.counted(count), counted(columns as u64, "column", "columns")));
    for note in notes(&rows.warnings) {
        head.push_str(&note);
        head.push('\n');
    }
    ToolOutput::text(format!("{head}{table}")).with_artifact(Artifact::Rows(rows))
}

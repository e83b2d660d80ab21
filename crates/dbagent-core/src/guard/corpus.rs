//! Corpora: statements with the verdict that the guard must give, one JSON object a line.
//!
//! A row says `allow` (an honest read: it must be cleared) or `deny` (it must never be cleared; whether it
//! becomes a proposal or is refused is all the same). The command line and the conformance kit run the
//! same rows through this one runner. Nothing here touches files, and nothing of a row is ever run.

use std::fmt;
use std::time::Duration;

use super::{Judgement, Policy, Refusal, Resolution, judge};
use crate::context::CallContext;
use crate::dialect::{Dialect, Settings};
use crate::error::{Error, ErrorKind, Result};
use crate::guardrails::StatementLimits;
use crate::json::{Json, JsonLimits};
use crate::request::{Param, Params, Request};
use crate::session::{GuardedSession, ParsePool, Verdict};

/// A corpus line holds a statement as a text inside a document, so it may be larger than a request.
const LINE_LIMITS: JsonLimits = JsonLimits { bytes: 16 << 20, depth: 200 };
/// How long judging one row may take.
const ROW_LIMIT: Duration = Duration::from_secs(30);

/// One row of a corpus.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its id, unique in its file.
    pub id: String,
    /// The line of the file, from 1.
    pub line: usize,
    /// The statement.
    pub statement: Statement,
    /// What must come of it.
    pub expected: Expected,
    /// What kind of case it is.
    pub kind: String,
    /// Why the verdict is what it is.
    pub why: String,
    /// Whether the verdict is a choice that a configuration may flip. The defaults follow the corpus.
    pub policy: bool,
}

/// The statement of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// Text: SQL, Cypher, or raw JSON that is meant to be read as it is.
    Text(String),
    /// A JSON request.
    Object(Json),
}

/// What must come of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// It must be cleared.
    Allow,
    /// It must never be cleared.
    Deny,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        })
    }
}

/// What the guard made of a row.
#[derive(Debug)]
pub enum Judged {
    /// Cleared as a pure read.
    Cleared,
    /// A write that a person would have to approve.
    Proposed,
    /// Refused.
    Refused(Refusal),
    /// Judging itself failed. That never agrees with a row, whatever it says.
    Failed(Error),
}

impl Judged {
    /// Whether that is what the row asks for.
    pub fn agrees(&self, expected: Expected) -> bool {
        match (self, expected) {
            (Self::Failed(_), _) => false,
            (Self::Cleared, expected) => expected == Expected::Allow,
            (Self::Proposed | Self::Refused(_), expected) => expected == Expected::Deny,
        }
    }
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cleared => f.write_str("cleared"),
            Self::Proposed => f.write_str("proposed: a person would have to approve it"),
            Self::Refused(refusal) => write!(f, "refused: {refusal}"),
            Self::Failed(error) => write!(f, "failed: {error}"),
        }
    }
}

/// Reads the rows of a corpus. Empty lines and lines that start with `#` are passed over.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] with the number of the first line that is no row; an id that is used
/// twice; a corpus without any row.
pub fn read(text: &str) -> Result<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    let mut ids = std::collections::HashSet::new();
    for (index, line) in text.lines().enumerate() {
        let line_number = index + 1;
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let row = row(line, line_number).map_err(|e| e.with("line", line_number))?;
        if !ids.insert(row.id.clone()) {
            return Err(invalid(format!("the id {:?} is used twice", row.id)).with("line", line_number));
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(invalid("the corpus has no rows").hint("one JSON object a line: id, statement, verdict"));
    }
    Ok(rows)
}

fn row(line: &str, number: usize) -> Result<Row> {
    let json = Json::parse(line, LINE_LIMITS)?;
    let text = |key: &str| json.get(key).and_then(Json::as_str);
    let required = |key: &str| text(key).ok_or_else(|| invalid(format!("a row needs the text {key:?}")));
    let statement = match json.get("statement") {
        Some(Json::String(s)) => Statement::Text(s.clone()),
        Some(object @ Json::Object(_)) => Statement::Object(object.clone()),
        _ => return Err(invalid("a row needs \"statement\": a text or an object")),
    };
    let expected = match required("verdict")? {
        "allow" => Expected::Allow,
        "deny" => Expected::Deny,
        other => return Err(invalid(format!("the verdict is \"allow\" or \"deny\", not {other:?}"))),
    };
    Ok(Row {
        id: required("id")?.to_owned(),
        line: number,
        statement,
        expected,
        kind: text("kind").unwrap_or_default().to_owned(),
        why: text("why").unwrap_or_default().to_owned(),
        policy: json.get("policy").and_then(Json::as_bool).unwrap_or_default(),
    })
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidRequest, message).op("corpus")
}

impl Row {
    /// The request that the row means for a dialect. An object becomes the normal form of a JSON request;
    /// a text is raw JSON where the dialect speaks JSON (it has verbs of its own), else its own language.
    pub fn request(&self, dialect: &Dialect) -> Request {
        match &self.statement {
            Statement::Object(json) => Request::json(json.to_string()),
            Statement::Text(text) if dialect.own_verbs().is_empty() => Request::text(text.clone()),
            Statement::Text(text) => Request::json(text.clone()),
        }
    }
}

/// Judges rows, offline or with a live catalogue.
pub struct Runner<'a> {
    dialect: &'static Dialect,
    source: Source<'a>,
}

enum Source<'a> {
    Offline { parser: ParsePool, policy: Policy },
    Live(&'a GuardedSession),
}

impl Runner<'static> {
    /// Judges without a database: by the grammar and its documented default settings. Names resolve to
    /// nothing, and functions that the engine's own list does not know are refused.
    pub fn offline(dialect: &'static Dialect, policy: Policy, limits: StatementLimits) -> Self {
        let parser = ParsePool::new(dialect, dialect.parse_context(limits, Settings::new()));
        Self { dialect, source: Source::Offline { parser, policy } }
    }
}

impl<'a> Runner<'a> {
    /// Judges with the live catalogue of a session, under its policy.
    pub fn live(session: &'a GuardedSession) -> Self {
        Self { dialect: session.dialect(), source: Source::Live(session) }
    }

    /// Judges one row.
    pub async fn judge(&self, row: &Row, call: &CallContext) -> Judged {
        let call = call.limited(ROW_LIMIT);
        self.try_judge(row, &call).await.unwrap_or_else(Judged::Failed)
    }

    async fn try_judge(&self, row: &Row, call: &CallContext) -> Result<Judged> {
        let request = row.request(self.dialect);
        match &self.source {
            Source::Offline { parser, policy } => {
                let parsed = parser.parse(&request, call).await?;
                Ok(match judge(&parsed, &Resolution::offline(), policy, self.dialect.case()) {
                    Judgement::Read => Judged::Cleared,
                    Judgement::Write => Judged::Proposed,
                    Judgement::Refused(refusal) => Judged::Refused(refusal),
                })
            }
            Source::Live(session) => {
                // A row has no values for its parameters; that is no reason to refuse its text.
                let wanted = session.parse(&request, call).await?.parameters;
                let params = if wanted.named.is_empty() {
                    Params::Positional(vec![Param::Null; wanted.positional])
                } else {
                    Params::Named(wanted.named.into_iter().map(|name| (name, Param::Null)).collect())
                };
                Ok(match session.judge(request.with_params(params), None, call).await? {
                    Verdict::Cleared(_) => Judged::Cleared,
                    Verdict::Proposed(_) => Judged::Proposed,
                    Verdict::Refused(refusal) => Judged::Refused(refusal),
                })
            }
        }
    }

    /// Judges all rows, in order, until the call is over; rows after that fail.
    pub async fn run(&self, rows: &[Row], call: &CallContext) -> Report {
        let mut report = Report::default();
        for row in rows {
            let judged = self.judge(row, call).await;
            report.add(row.clone(), judged);
        }
        report
    }
}

/// What came of one row.
#[derive(Debug)]
pub struct RowOutcome {
    /// The row.
    pub row: Row,
    /// What the guard made of it.
    pub judged: Judged,
}

impl RowOutcome {
    /// Whether that is what the row asks for.
    pub fn agrees(&self) -> bool {
        self.judged.agrees(self.row.expected)
    }
}

impl fmt::Display for RowOutcome {
    /// The row, what it expects and what came of it, on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { id, line, expected, why, .. } = &self.row;
        write!(f, "{id} (line {line}): expected {expected} ({why}), but {}", self.judged)
    }
}

/// What came of a corpus.
#[derive(Debug, Default)]
pub struct Report {
    outcomes: Vec<RowOutcome>,
}

impl Report {
    /// Adds one outcome.
    pub fn add(&mut self, row: Row, judged: Judged) {
        self.outcomes.push(RowOutcome { row, judged });
    }

    /// Every row, in order.
    pub fn outcomes(&self) -> &[RowOutcome] {
        &self.outcomes
    }

    /// The rows that did not come out as they should.
    pub fn disagreements(&self) -> impl Iterator<Item = &RowOutcome> {
        self.outcomes.iter().filter(|o| !o.agrees())
    }

    /// The sums.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for outcome in &self.outcomes {
            totals.rows += 1;
            match (outcome.row.expected, outcome.agrees()) {
                (Expected::Allow, true) => totals.allowed += 1,
                (Expected::Deny, true) => totals.denied += 1,
                (Expected::Allow, false) => totals.false_refusals += 1,
                (Expected::Deny, false) => totals.let_through += 1,
            }
        }
        totals
    }
}

/// The sums of a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// All rows.
    pub rows: usize,
    /// `allow` rows that were cleared.
    pub allowed: usize,
    /// `deny` rows that were not cleared.
    pub denied: usize,
    /// `allow` rows that were not cleared.
    pub false_refusals: usize,
    /// `deny` rows that were cleared, or whose judging failed.
    pub let_through: usize,
}

impl Totals {
    /// How many rows did not come out as they should.
    pub fn disagreements(&self) -> usize {
        self.false_refusals + self.let_through
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} rows: {} cleared and {} denied as expected, {} wrongly refused, {} wrongly let through",
            self.rows, self.allowed, self.denied, self.false_refusals, self.let_through
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Finding, Parsed, Rule, StatementClass};
    use super::*;
    use crate::dialect::{OpenContext, ParseContext, Verb};
    use crate::effects::Effects;
    use crate::session::Session;
    use crate::target::Target;

    fn parse(request: &Request, _: &ParseContext) -> Result<Parsed> {
        let text = request.as_str();
        assert!(!text.contains("panic"), "on purpose");
        let mut parsed = match text.split(' ').next() {
            Some("read") => Parsed::new(StatementClass::Read, Effects::READ),
            Some("write") => Parsed::new(StatementClass::Insert, Effects::WRITE),
            _ => return Err(Error::new(ErrorKind::Syntax, "neither read nor write")),
        };
        if text.contains("secret") {
            parsed.findings.push(Finding::new(Rule::SecretCatalogue, "a secret", None).choice("secrets"));
        }
        Ok(parsed)
    }

    fn open<'a>(
        _: &'a Target,
        _: &'a OpenContext,
    ) -> futures_core::future::BoxFuture<'a, Result<Box<dyn Session>>> {
        Box::pin(async { Err(Error::new(ErrorKind::Unsupported, "never opened")) })
    }

    static TOY: Dialect = Dialect::new("toy", parse, open);
    static JSON_TOY: Dialect = Dialect::new("json-toy", parse, open).verbs(&[Verb {
        name: "find",
        description: "",
        parameters: || serde_json::Value::Null,
        compile: |json| Ok(Request::json(json.to_string())),
    }]);

    const ROWS: &str = r#"
# a comment
{"id":"1","statement":"read a","verdict":"allow","kind":"k","why":"plain","policy":false}
{"id":"2","statement":"write a","verdict":"deny","why":"writes"}
{"id":"3","statement":"nonsense","verdict":"deny"}
{"id":"4","statement":"write b","verdict":"allow","why":"wrong on purpose"}
{"id":"5","statement":"read b","verdict":"deny","why":"wrong on purpose"}
{"id":"6","statement":"panic","verdict":"deny","why":"a parser that fails proves nothing"}
{"id":"7","statement":"read secret","verdict":"deny","policy":true}
"#;

    fn run(policy: Policy) -> Report {
        let rows = read(ROWS).unwrap();
        let runner = Runner::offline(&TOY, policy, StatementLimits::default());
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap()
            .block_on(runner.run(&rows, &CallContext::within(Duration::from_secs(60))))
    }

    #[test]
    fn rows_that_disagree_are_told_apart() {
        let report = run(Policy::default());
        let wrong: Vec<_> = report.disagreements().map(|o| o.row.id.as_str()).collect();
        assert_eq!(wrong, ["4", "5", "6"]);
        let totals = report.totals();
        assert_eq!(totals, Totals { rows: 7, allowed: 1, denied: 3, false_refusals: 1, let_through: 2 });
        assert_eq!(totals.disagreements(), 3);
        let line = report.disagreements().next().unwrap().to_string();
        assert_eq!(
            line,
            "4 (line 6): expected allow (wrong on purpose), but proposed: a person would have to approve it"
        );
    }

    #[test]
    fn a_policy_flips_what_is_its_choice() {
        let policy = Policy { allow_choices: ["secrets".to_owned()].into(), ..Policy::default() };
        assert!(run(policy).disagreements().any(|o| o.row.id == "7"));
    }

    #[test]
    fn statements_become_requests_of_the_dialect() {
        let rows = read(
            "{\"id\":\"a\",\"statement\":{\"op\": \"find\", \"n\": 1.50},\"verdict\":\"allow\"}\n\
             {\"id\":\"b\",\"statement\":\"{\\\"a\\\":1,\\\"a\\\":2}\",\"verdict\":\"deny\"}",
        )
        .unwrap();
        assert_eq!(rows[0].request(&JSON_TOY), Request::json("{\"op\":\"find\",\"n\":1.50}"));
        assert_eq!(rows[1].request(&JSON_TOY), Request::json("{\"a\":1,\"a\":2}"));
        assert_eq!(rows[1].request(&TOY), Request::text("{\"a\":1,\"a\":2}"));
    }

    #[test]
    fn what_is_no_row_is_an_error_with_its_line() {
        for (text, part) in [
            ("", "no rows"),
            ("{\"id\":\"1\"}", "statement"),
            ("\n{\"id\":\"1\",\"statement\":\"x\",\"verdict\":\"maybe\"}", "line: 2"),
            ("{\"id\":\"1\",\"statement\":\"x\",\"verdict\":\"deny\"}\n{", "line: 2"),
            (
                "{\"id\":\"1\",\"statement\":\"x\",\"verdict\":\"deny\"}\n\
                 {\"id\":\"1\",\"statement\":\"y\",\"verdict\":\"deny\"}",
                "used twice",
            ),
        ] {
            let e = read(text).unwrap_err();
            assert!(e.to_string().contains(part), "{e}");
        }
    }
}

//! Shows the steps of a run on standard error while they happen: tool, statement, rows, time.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use dbagent::Refusal;
use dbagent::event::{Event, EventKind};
use dbagent::fact::{ArtifactFigures, Fact};
use dbagent::json::{Json, JsonLimits};
use dbagent::model::ToolCall;
use dbagent::observe::{FRAME_CLOSE, FRAME_OPEN};
use dbagent::text::{mask_urls, printable, shorten, thousands};

use crate::caret;
use crate::highlight;
use crate::mask::mask_user_info;
use crate::paint::Paint;
use crate::ui::{Busy, Ui};
use crate::width::{counted, pad, width, wrap};

/// Watches one run.
pub(crate) struct Steps<'a> {
    ui: &'a Ui,
    busy: Busy<'a>,
    noun: &'static str,
    /// The calls of the last reply, by their place in it.
    asked: Vec<ToolCall>,
    /// The calls that have not ended, by key.
    calls: HashMap<String, Call>,
    written: usize,
}

/// What is known of one call.
struct Call {
    tool: String,
    arguments: String,
    began: Instant,
    statement: Option<String>,
    refusal: Option<Refusal>,
    ran: Option<(u64, bool, Duration)>,
    /// What is worth a word about its plan.
    warnings: Vec<String>,
}

/// Columns before the figures of a step.
const TOOL_WIDTH: usize = 18;
/// Characters of one argument.
const MAX_ARGUMENT: usize = 60;
/// Characters of a statement, and with `-v`.
const MAX_STATEMENT: (usize, usize) = (700, 10_000);
/// Characters of all values of a statement, and with `-v`.
const MAX_VALUES: (usize, usize) = (160, 10_000);
/// The tool whose rows are expected to be few of many.
pub(crate) const SAMPLE: &str = "sample";
/// Characters of an event in the trace.
const MAX_TRACE: usize = 4_000;
/// Characters of a warning about a plan.
const MAX_WARNING: usize = 300;
/// Lines of an error.
const MAX_ERROR_LINES: usize = 4;

impl<'a> Steps<'a> {
    /// Watches a run against a database whose rows are called `noun`.
    pub(crate) fn new(ui: &'a Ui, noun: &'static str) -> Self {
        Self { ui, busy: ui.busy("thinking"), noun, asked: Vec::new(), calls: HashMap::new(), written: 0 }
    }

    /// Shows what an event means.
    pub(crate) fn show(&mut self, event: &Event) {
        if let EventKind::Fact(record) = &event.kind {
            tracing::trace!(seq = record.seq, kind = record.fact.kind(), "a fact was written");
        }
        tracing::trace!(event = shorten(&format!("{:?}", event.kind), MAX_TRACE));
        match &event.kind {
            EventKind::Fact(record) => self.fact(&record.fact),
            EventKind::TextDelta(text) => {
                self.written += text.chars().count();
                self.busy.update(&format!("answering, {} characters", thousands(self.written as u64)));
            }
            EventKind::ReasoningDelta(_) => self.busy.update("thinking"),
            EventKind::ModelRetrying { attempt, after, reason } => self.ui.note(&format!(
                "the model is asked again in {:.1} s (attempt {attempt} failed: {reason})",
                after.as_secs_f32()
            )),
            EventKind::ModelFellBack { from, to, reason } => {
                self.ui.note(&format!("{to} takes over from {from}: {reason}"));
            }
            EventKind::Missed { reason, .. } => {
                self.ui.warn(&format!("some steps cannot be shown: {reason}"));
            }
            EventKind::Judged { key, statement, refusal } => {
                if let Some(call) = self.calls.get_mut(key) {
                    let statement = mask_urls(statement);
                    call.statement = Some(statement.clone().into_owned());
                    call.refusal.clone_from(refusal);
                    let message = format!("{} {statement}", call.tool);
                    self.busy.update(&message);
                }
            }
            EventKind::Progress { key, rows, .. } => {
                if let Some(call) = self.calls.get(key) {
                    let seconds = call.began.elapsed().as_secs_f32();
                    let message =
                        format!("{}: {} {}, {seconds:.1} s", call.tool, thousands(*rows), self.noun);
                    self.busy.update(&message);
                }
            }
            EventKind::Ran { key, rows, complete, elapsed } => {
                if let Some(call) = self.calls.get_mut(key) {
                    call.ran = Some((*rows, *complete, *elapsed));
                }
            }
            EventKind::Warned { key, warning } => {
                if let Some(call) = self.calls.get_mut(key) {
                    call.warnings.push(warning.to_string());
                }
            }
            _ => {}
        }
    }

    fn fact(&mut self, fact: &Fact) {
        match fact {
            Fact::ModelReplied { text, calls, .. } => {
                self.written = 0;
                if !calls.is_empty() && !text.trim().is_empty() {
                    self.ui.note(&shorten(text.trim(), 500));
                }
                self.asked.clone_from(calls);
            }
            Fact::CallBegun { key, .. } => {
                let call = self.begin(key);
                self.busy.update(&call.tool);
                self.calls.insert(key.clone(), call);
            }
            Fact::CallFinished { key, text, is_error, artifact } => {
                // A call that was refused before it could begin has no other fact.
                let call = self.calls.remove(key).unwrap_or_else(|| self.begin(key));
                let lines = call.lines(text, *is_error, artifact.as_ref(), self.noun, self.ui);
                self.ui.say(&lines.join("\n"));
            }
            Fact::TurnClosed { .. } => self.busy.update("thinking"),
            _ => {}
        }
    }

    /// The call of that key, `t3c1`: the second of its reply.
    fn begin(&self, key: &str) -> Call {
        let place = key.rsplit_once('c').and_then(|(_, place)| place.parse::<usize>().ok());
        let asked = place.and_then(|place| self.asked.get(place));
        Call {
            tool: asked.map(|c| c.name.clone()).unwrap_or_default(),
            arguments: asked.map(|c| c.arguments.clone()).unwrap_or_default(),
            began: Instant::now(),
            statement: None,
            refusal: None,
            ran: None,
            warnings: Vec::new(),
        }
    }
}

impl Call {
    /// The lines of a call that has ended.
    fn lines(
        &self,
        text: &str,
        is_error: bool,
        artifact: Option<&ArtifactFigures>,
        noun: &str,
        ui: &Ui,
    ) -> Vec<String> {
        let paint = ui.paint;
        let mark = if is_error { paint.red("✗") } else { paint.green("✓") };
        let elapsed = self.ran.map_or_else(|| self.began.elapsed(), |(_, _, elapsed)| elapsed);
        let mut figures = match (&self.refusal, is_error, artifact) {
            (Some(refusal), ..) => paint.red(format!("refused: {}", refusal.rule)),
            (None, true, _) => paint.red(shown(first_sentence(text), 80)),
            (None, false, Some(artifact)) => figures(artifact, &self.tool, noun),
            (None, false, None) => String::new(),
        };
        if !figures.is_empty() {
            figures.push_str(", ");
        }
        let room = ui.width.unwrap_or(100).saturating_sub(6);
        let below = self.below(text, is_error, room, ui);
        // What is shown below need not be shown here.
        let mut arguments = if below.is_empty() { self.short_arguments() } else { String::new() };
        if let Some(width) = ui.width {
            // What stands around them needs about this much; a few letters of them would say nothing.
            let room = width.saturating_sub(TOOL_WIDTH + 30);
            arguments = if room < 8 { String::new() } else { crate::width::shorten(&arguments, room) };
        }
        if !arguments.is_empty() {
            arguments.push_str(": ");
        }
        let tool = paint.bold(pad(&shown(&self.tool, 40), TOOL_WIDTH, false));
        let mut lines = vec![format!("{mark} {tool} {arguments}{figures}{}", paint.dim(time(elapsed)))];
        lines.extend(below.into_iter().map(|line| format!("    {line}")));
        let notes = self.warnings.iter().flat_map(|warning| wrap(&shown(warning, MAX_WARNING), room));
        lines.extend(notes.map(|line| format!("    {}", paint.dim(line))));
        lines
    }

    /// The lines under the first: the statement and its values, or what is wrong with it.
    fn below(&self, text: &str, is_error: bool, room: usize, ui: &Ui) -> Vec<String> {
        let (paint, verbose) = (ui.paint, ui.is_verbose());
        let mut lines = Vec::new();
        let statement = self.statement.as_deref();
        if let Some(refusal) = &self.refusal {
            match (statement, refusal.span) {
                (Some(statement), Some(span)) => lines.extend(caret::lines(statement, span, room)),
                (Some(statement), None) => {
                    lines.extend(statement_lines(statement, room, verbose, Paint::PLAIN));
                }
                (None, _) => {}
            }
            lines.extend(wrap(&shown(&mask_user_info(&refusal.message), 500), room));
            return lines.into_iter().map(|l| paint.red(l)).collect();
        }
        if is_error {
            let inside: Vec<String> = error_lines(text).into_iter().take(MAX_ERROR_LINES).collect();
            if !inside.is_empty() {
                return fitted(&inside, room).into_iter().map(|l| paint.red(l)).collect();
            }
        }
        if let Some(statement) = statement {
            lines.extend(statement_lines(statement, room, verbose, paint));
            if let Some(values) = self.parameters() {
                let values = format!("with {}", shorten(&values, most(MAX_VALUES, verbose)));
                lines.extend(wrap(&values, room).into_iter().map(|line| paint.dim(line)));
            }
        }
        lines
    }

    fn json(&self) -> Option<Json> {
        Json::parse(&self.arguments, JsonLimits::default()).ok()
    }

    /// The values of the arguments, for calls that have no statement.
    fn short_arguments(&self) -> String {
        let values: Vec<String> = match self.json() {
            Some(Json::Object(members)) => members.iter().map(|(_, value)| short(value)).collect(),
            _ => Vec::new(),
        };
        values.join(" ")
    }

    /// The values that were bound.
    fn parameters(&self) -> Option<String> {
        match self.json()?.get("params")? {
            Json::Array(items) if !items.is_empty() => {
                Some(listed(&items.iter().map(short).collect::<Vec<_>>()))
            }
            Json::Object(members) if !members.is_empty() => Some(
                members
                    .iter()
                    .map(|(k, v)| format!("{} = {}", shown(k, 40), short(v)))
                    .collect::<Vec<_>>()
                    .join(", "),
            ),
            _ => None,
        }
    }
}

/// How much of what came out of a call.
fn figures(artifact: &ArtifactFigures, tool: &str, noun: &str) -> String {
    let Some(rows) = artifact.rows else { return String::new() };
    let thing = match artifact.kind.as_str() {
        "objects" => "listed",
        "descriptions" => "described",
        _ => noun,
    };
    let complete = if artifact.complete == Some(false) && tool != SAMPLE { " (INCOMPLETE)" } else { "" };
    format!("{}{complete}", counted(rows, &singular(thing), thing))
}

/// One of what several are called.
fn singular(noun: &str) -> String {
    match noun.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => noun.strip_suffix('s').unwrap_or(noun).to_owned(),
    }
}

/// Lines that fit; a line with marks under it is shown around the marks.
fn fitted(lines: &[String], room: usize) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = lines.iter().peekable();
    while let Some(line) = rest.next() {
        let marks = rest.next_if(|next| is_marks(next));
        match marks {
            None => out.extend(wrap(line, room)),
            Some(marks) => {
                let column = marks.chars().take_while(|c| *c == ' ').count();
                let from =
                    if width(line).max(width(marks)) > room { column.saturating_sub(room / 2) } else { 0 };
                out.extend([line, marks].map(|l| l.chars().skip(from).take(room).collect::<String>()));
            }
        }
    }
    out
}

/// Whether a line only marks a place in the one above it.
fn is_marks(line: &str) -> bool {
    line.contains('^') && line.trim_start().chars().all(|c| c == '^')
}

/// A value on one line.
fn short(value: &Json) -> String {
    match value {
        Json::Array(items) => items.iter().map(short).collect::<Vec<_>>().join(", "),
        Json::String(text) => shown(text, MAX_ARGUMENT),
        other => shown(&other.to_string(), MAX_ARGUMENT),
    }
}

/// A text on one line with nothing in it that acts.
fn shown(text: &str, max: usize) -> String {
    shorten(&printable(text).replace(['\n', '\t'], " "), max)
}

fn most((usual, verbose): (usize, usize), is_verbose: bool) -> usize {
    if is_verbose { verbose } else { usual }
}

/// Values one after the other; a list that is only repeated is written once.
fn listed(values: &[String]) -> String {
    let repeats = |period: usize| values.chunks(period).all(|part| values.starts_with(part));
    let period = (1..=values.len() / 3).find(|p| values.len().is_multiple_of(*p) && repeats(*p));
    match period.and_then(|p| Some((values.get(..p)?, values.len() / p))) {
        Some((part, times)) => format!("{} ({times} times)", part.join(", ")),
        None => values.join(", "),
    }
}

/// A statement whose many parts of one kind are counted: a search through twenty columns is one look-up.
fn folded(statement: &str) -> String {
    const PART: &str = "UNION ALL ";
    let mut lines: Vec<String> = Vec::new();
    let mut parts = 0;
    let end = |lines: &mut Vec<String>, parts: usize| {
        if parts > 1 {
            lines.push(format!("… [{} more like the line above; -v shows them]", parts - 1));
        }
    };
    for line in statement.lines() {
        if line.starts_with(PART) {
            parts += 1;
            if parts > 1 {
                continue;
            }
        } else {
            end(&mut lines, parts);
            parts = 0;
        }
        lines.push(line.to_owned());
    }
    end(&mut lines, parts);
    lines.join("\n")
}

/// A statement, wrapped and coloured.
pub(crate) fn statement_lines(statement: &str, room: usize, verbose: bool, paint: Paint) -> Vec<String> {
    let statement = printable(&mask_urls(statement.trim())).replace('\t', "  ");
    let statement = if verbose { statement } else { folded(&statement) };
    let text = shorten(&statement, most(MAX_STATEMENT, verbose));
    wrap(&text, room).into_iter().map(|line| highlight::statement(&line, paint)).collect()
}

fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    line.split_once(". ").map_or(line, |(first, _)| first).trim_end_matches('.')
}

/// What an observation says inside its frames, for a person.
fn error_lines(text: &str) -> Vec<String> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        match line {
            FRAME_OPEN => inside = true,
            FRAME_CLOSE => inside = false,
            line if inside => lines.push(line.strip_prefix("| ").unwrap_or(line).to_owned()),
            _ => {}
        }
    }
    lines
}

/// A time as people read it.
pub(crate) fn time(elapsed: Duration) -> String {
    let millis = elapsed.as_millis();
    match millis {
        0 => "under 1 ms".to_owned(),
        1..1_000 => format!("{millis} ms"),
        _ => format!("{:.1} s", elapsed.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_shown_without_its_frame() {
        let text = format!(
            "ERROR (unknown_column, code 1).\n{FRAME_OPEN}\n| no such column: x\n| SELECT x\n{FRAME_CLOSE}\nCheck names."
        );
        assert_eq!(error_lines(&text), ["no such column: x", "SELECT x"]);
        assert_eq!(first_sentence(&text), "ERROR (unknown_column, code 1)");
    }

    #[test]
    fn marks_stay_under_their_place() {
        let line = format!("SELECT {} bad", "x,".repeat(60));
        let marks = format!("{}^^^", " ".repeat(line.find("bad").unwrap()));
        let shown = fitted(&["what is wrong".to_owned(), line, marks, "why".to_owned()], 40);
        assert_eq!(shown.len(), 4);
        assert_eq!(shown[1].find("bad"), shown[2].find("^^^"));
        assert!(shown.iter().all(|l| width(l) <= 40));
    }

    #[test]
    fn one_is_not_called_several() {
        assert_eq!(["rows", "entries", "documents"].map(singular), ["row", "entry", "document"]);
    }

    #[test]
    fn what_only_repeats_is_counted() {
        let values = |text: &str| listed(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(values("a b a b a b"), "a, b (3 times)");
        assert_eq!(values("a a a"), "a (3 times)");
        assert_eq!(values("a b a b"), "a, b, a, b");
        assert_eq!(values("a b a b a c"), "a, b, a, b, a, c");
        assert_eq!(values("a"), "a");
        let search =
            "SELECT f\nFROM (SELECT 0\nUNION ALL SELECT 1\nUNION ALL SELECT 2\nUNION ALL SELECT 3\n) AS s";
        assert_eq!(
            statement_lines(search, 80, false, Paint::PLAIN),
            [
                "SELECT f",
                "FROM (SELECT 0",
                "UNION ALL SELECT 1",
                "… [2 more like the line above; -v shows them]",
                ") AS s"
            ]
        );
        assert_eq!(statement_lines(search, 80, true, Paint::PLAIN).join("\n"), search);
        let two = "SELECT 1\nUNION ALL SELECT 2";
        assert_eq!(statement_lines(two, 80, false, Paint::PLAIN).join("\n"), two);
    }

    #[test]
    fn times_read_well() {
        assert_eq!(time(Duration::from_micros(10)), "under 1 ms");
        assert_eq!(time(Duration::from_millis(12)), "12 ms");
        assert_eq!(time(Duration::from_millis(1_250)), "1.2 s");
    }

    #[test]
    fn what_is_worth_a_word_stands_below_its_call() {
        let ui = crate::ui::tests::ui(0);
        let call = Call {
            tool: "query".to_owned(),
            arguments: String::new(),
            began: Instant::now(),
            statement: Some("SELECT 1".to_owned()),
            refusal: None,
            ran: Some((21, true, Duration::from_secs(3))),
            warnings: vec!["about 2 rows were expected and 21 came".to_owned()],
        };
        let lines = call.lines("", false, None, "rows", &ui);
        assert_eq!(lines.last().unwrap(), "    about 2 rows were expected and 21 came", "{lines:?}");
    }

    #[test]
    fn nothing_in_a_statement_acts() {
        let lines = statement_lines("SELECT '\u{1b}[2J'\n  FROM t", 40, false, Paint::PLAIN);
        assert_eq!(lines, ["SELECT '\\u{1b}[2J'", "  FROM t"]);
    }
}

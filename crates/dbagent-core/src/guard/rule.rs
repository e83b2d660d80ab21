//! The rules, by stable code.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::parsed::Span;

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $variant:ident = $code:literal, $name:literal, $advice:literal;)+) => {
        /// A rule of the guard. Codes are stable; `docs/guardrails.md` has a section for each.
        #[non_exhaustive]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Rule {
            $($(#[doc = $doc])+ #[serde(rename = $code)] $variant,)+
        }

        impl Rule {
            /// Every rule, by code.
            pub const ALL: &'static [Rule] = &[$(Rule::$variant,)+];

            /// The stable code.
            pub const fn code(self) -> &'static str {
                match self { $(Rule::$variant => $code,)+ }
            }

            /// The stable short name.
            pub const fn name(self) -> &'static str {
                match self { $(Rule::$variant => $name,)+ }
            }

            /// What to do instead, in general.
            pub const fn advice(self) -> &'static str {
                match self { $(Rule::$variant => $advice,)+ }
            }

            /// What the rule stops and why, as its documentation says.
            pub const fn explanation(self) -> &'static str {
                match self { $(Rule::$variant => concat!($($doc),+),)+ }
            }
        }
    };
}

rules! {
    /// The statement has more bytes than `max_statement_bytes`. Checked before any parser sees it.
    TooLarge = "G001", "too-large", "Write a shorter statement; pass long values as parameters.";
    /// The statement has more tokens than `max_statement_tokens`, so that no parser can be made to recurse without end.
    TooManyTokens = "G002", "too-many-tokens", "Write a simpler statement; pass lists as parameters or use a sub-select.";
    /// The text holds a NUL character: engines and parsers disagree about where such a text ends.
    NotText = "G003", "not-text", "Remove the NUL character; pass binary values as parameters.";
    /// There is nothing to run.
    Empty = "G004", "empty", "Write one statement.";
    /// More than one statement. One call runs one statement.
    SeveralStatements = "G005", "several-statements", "Send each statement as a call of its own.";
    /// The engine's grammar does not accept the text.
    Syntax = "G006", "syntax", "Correct the statement for this database's language.";
    /// The grammar accepts the text, but nobody has judged this construct.
    UnknownSyntax = "G007", "unknown-syntax", "Write it with constructs of a plain query.";
    /// Judging took too long or nested too deep.
    TooComplex = "G008", "too-complex", "Write a simpler statement.";
    /// Changes rows.
    Write = "G010", "write", "Only reads are allowed here. Answer from what can be read.";
    /// Changes the schema, accounts or rights.
    SchemaChange = "G011", "schema-change", "Only reads are allowed here.";
    /// Takes locks that others can feel.
    Locks = "G012", "locks", "Read without locking clauses.";
    /// Changes the session, its transaction or its settings, so that later statements would run differently.
    SessionChange = "G013", "session-change", "Settings and transactions are managed for you; leave this out.";
    /// Reaches files, the network, other processes or other sessions of the server.
    ServerIo = "G014", "server-io", "Use only data that is in the database.";
    /// Rebuilds, analyses, vacuums or checkpoints: work on the storage, not a question.
    Maintenance = "G015", "maintenance", "Only reads are allowed here.";
    /// The effect cannot be told.
    UnknownEffect = "G016", "unknown-effect", "Write a plain query.";
    /// A function that is neither on the engine's list of harmless ones nor allowed by the policy.
    UnknownFunction = "G020", "unknown-function", "Use the database's built-in functions, or ask the operator to allow this one by name.";
    /// A function that writes, locks, changes the session or reaches outside.
    ForbiddenFunction = "G021", "forbidden-function", "Leave this function out.";
    /// A function that the policy denies by name.
    DeniedFunction = "G022", "denied-function", "Leave this function out; the operator denied it.";
    /// An object outside the allowed scope.
    DeniedObject = "G030", "denied-object", "Use list_objects to see what is allowed.";
    /// A column outside the allowed scope, by name or through `*`.
    DeniedColumn = "G031", "denied-column", "Name the columns you need, without this one.";
    /// The object has rules for single columns, and which columns are read cannot be told.
    ColumnsUnknown = "G032", "columns-unknown", "Name the columns you need explicitly.";
    /// A catalogue of the engine that holds secrets or raw storage, or that tells of every object where a policy hides one.
    SecretCatalogue = "G033", "secret-catalogue", "Use list_objects and describe_objects to see the schema.";
    /// A constant asks for an unreasonable size or time.
    SizeCap = "G041", "size-cap", "Ask for a smaller value.";
    /// The parameters of the statement and the values given do not match.
    Parameters = "G050", "parameters", "Give exactly one value for each parameter.";
    /// The engine sees something else in the text than the parser did: nothing was run.
    EngineDisagrees = "G060", "engine-disagrees", "Write the statement in a plainer form.";
    /// The estimate is over `explain_row_threshold` or `max_scan_rows`. Hard: it cannot be worked around.
    EstimateOverThreshold = "G070", "estimate-over-threshold", "Aggregate in the database, filter, or limit the statement itself.";
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code(), self.name())
    }
}

/// Why a request was refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// The rule.
    pub rule: Rule,
    /// What was found, in one sentence.
    pub message: String,
    /// What to do instead.
    pub advice: String,
    /// Where in the text.
    pub span: Option<Span>,
}

impl Refusal {
    /// A refusal with the rule's own advice.
    pub fn new(rule: Rule, message: impl Into<String>) -> Self {
        Self { rule, message: message.into(), advice: rule.advice().to_owned(), span: None }
    }

    /// The same refusal with a place.
    pub fn at(mut self, span: Option<Span>) -> Self {
        self.span = span;
        self
    }

    /// The same refusal with other advice.
    pub fn advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = advice.into();
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}). {}", self.message, self.rule, self.advice)
    }
}

impl From<Refusal> for crate::Error {
    fn from(r: Refusal) -> Self {
        let mut e = crate::Error::new(crate::ErrorKind::Refused, r.message.clone())
            .code(r.rule.code())
            .hint(r.advice.clone());
        if let Some(span) = r.span {
            e = e.at(span.start);
        }
        e
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_are_unique_and_sorted() {
        let codes: Vec<_> = Rule::ALL.iter().map(|r| r.code()).collect();
        assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
        let mut names: Vec<_> = Rule::ALL.iter().map(|r| r.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), codes.len());
        assert!(Rule::ALL.iter().all(|r| r.explanation().trim().ends_with('.')));
    }
}

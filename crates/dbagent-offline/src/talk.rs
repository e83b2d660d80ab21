//! Talk that is no question about data: greetings, questions about the planner, requests to change
//! something, questions about the schema itself.

use crate::survey::Surveyed;

/// What kind of text it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Talk {
    About,
    /// Asks for a change; the verb.
    Write(String),
    Question,
}

/// Looks at a text before anything else does.
pub(crate) fn read(question: &str) -> Talk {
    if question.is_empty() { Talk::About } else { Talk::Question }
}

/// Answers a question about the schema itself.
pub(crate) fn schema_question(_question: &str, _surveyed: &Surveyed) -> Option<String> {
    None
}

//! Questions that refer to the one before.

use crate::knowledge::Knowledge;
use crate::schema::Schema;
use crate::sql::Dialect;
use crate::understand::{Understood, alone};

/// Understands a question, with the earlier ones of its thread at hand.
pub(crate) fn understand(
    schema: &Schema,
    questions: &[String],
    question: &str,
    dialect: Dialect,
    known: &Knowledge,
) -> Understood {
    _ = questions;
    alone(schema, question, dialect, known)
}

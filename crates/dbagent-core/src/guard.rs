//! The guard: parsed → resolved → judged. Pure: no IO, no clock, no model.
//!
//! A dialect says what a request does ([`Parsed`]) and what its names really are ([`Resolution`]); the
//! core alone decides ([`judge`]). It fails closed: what nobody vouched for is refused, with a rule code,
//! the place in the text, and what to do instead.

pub mod corpus;
mod judge;
mod parsed;
mod policy;
mod resolution;
mod rule;

pub use judge::{Judgement, judge};
pub use parsed::{ColumnUse, Finding, FunctionUse, ObjectUse, ParameterUse, Parsed, Span, StatementClass};
pub use policy::{Pattern, PatternError, Policy, RuleEffect, Scope};
pub use resolution::{
    MAX_COMPUTED, Needs, Resolution, ResolvedBody, ResolvedFunction, ResolvedObject, follow_computed,
};
pub use rule::{Refusal, Rule};

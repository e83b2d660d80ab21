//! Holds nothing: the programs are in `examples/`, one file each. The Rust code in the documents is
//! compiled as documentation tests of this package.

/// The code in `docs/guardrails.md`.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guardrails.md")]
pub struct GuardrailsPage;

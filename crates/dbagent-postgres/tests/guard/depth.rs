//! Deep statements.

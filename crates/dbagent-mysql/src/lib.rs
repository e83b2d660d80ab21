//! MySQL for dbagent.

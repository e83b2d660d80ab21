//! The thin core of dbagent.

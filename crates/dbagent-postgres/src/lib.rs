//! PostgreSQL for dbagent.

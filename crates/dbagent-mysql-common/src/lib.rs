//! What MySQL and MariaDB share in dbagent.

pub mod flavor;
pub mod functions;
mod lex;
pub mod parse;

pub use dbagent_sql;

//! MariaDB for dbagent.

mod flavor;
mod functions;

pub use flavor::FLAVOR;

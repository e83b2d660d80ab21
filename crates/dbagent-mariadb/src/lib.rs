//! MariaDB for dbagent.

//! What MySQL and MariaDB share in dbagent.

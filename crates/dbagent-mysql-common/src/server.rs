//! What a session does differently on each of the two servers.

use std::time::Duration;

use crate::flavor::Server;

impl Server {
    /// The name for people.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::MySql => "MySQL",
            Self::MariaDb => "MariaDB",
        }
    }

    /// The URL scheme.
    pub(crate) const fn scheme(self) -> &'static str {
        match self {
            Self::MySql => "mysql",
            Self::MariaDb => "mariadb",
        }
    }

    /// The product that a server's version says it is.
    pub(crate) fn of_version(version: &str) -> Self {
        if version.to_ascii_lowercase().contains("mariadb") { Self::MariaDb } else { Self::MySql }
    }

    /// Whether the version is too old for what sessions rely on, and the oldest that is not.
    pub(crate) fn too_old(self, version: &str) -> Option<&'static str> {
        let (oldest, text) = match self {
            Self::MySql => ((8, 0), "8.0"),
            Self::MariaDb => ((10, 6), "10.6"),
        };
        let mut numbers = version.split(|c: char| !c.is_ascii_digit()).map_while(|n| n.parse::<u64>().ok());
        let found = (numbers.next()?, numbers.next()?);
        (found < oldest).then_some(text)
    }

    /// Pins the SQL mode and how long a GROUP_CONCAT may become (the parameters), and asks for statistics as
    /// they are now.
    pub(crate) const fn pin(self) -> &'static str {
        match self {
            // The server keeps sizes of tables for a day otherwise.
            Self::MySql => {
                "SET SESSION sql_mode = ?, group_concat_max_len = ?, information_schema_stats_expiry = 0"
            }
            Self::MariaDb => "SET SESSION sql_mode = ?, group_concat_max_len = ?",
        }
    }

    /// Limits the time of the statements that follow (the one parameter).
    pub(crate) const fn limit_time(self) -> &'static str {
        match self {
            Self::MySql => "SET SESSION max_execution_time = ?",
            Self::MariaDb => "SET SESSION max_statement_time = ?",
        }
    }

    /// The number that [`limit_time`](Self::limit_time) takes: milliseconds or seconds.
    pub(crate) fn time_value(self, limit: Duration) -> u64 {
        let seconds = Self::whole_seconds(limit);
        match self {
            Self::MySql => seconds.saturating_mul(1_000).min(u64::from(u32::MAX)),
            Self::MariaDb => seconds.min(31_536_000),
        }
    }

    /// Whole seconds, rounded up: the same limit again needs no message to the server then. The deadline
    /// itself is kept by the client; this one is for the server that nobody reaches any more.
    fn whole_seconds(limit: Duration) -> u64 {
        limit.as_secs().saturating_add(u64::from(limit.subsec_nanos() > 0)).max(1)
    }

    /// Everything of a session that a statement could have changed and that the server tells, as one text,
    /// after letting go of all locks. Compared with the same text right after the session was hardened.
    pub(crate) const fn state(self) -> &'static str {
        match self {
            Self::MySql => {
                "SELECT CONCAT_WS('|', RELEASE_ALL_LOCKS(), @@SESSION.sql_mode, @@SESSION.transaction_read_only, \
                 @@SESSION.transaction_isolation, @@SESSION.autocommit, @@SESSION.time_zone, \
                 @@SESSION.character_set_client, @@SESSION.character_set_results, \
                 @@SESSION.collation_connection, @@SESSION.sql_select_limit, @@SESSION.lc_time_names, \
                 @@SESSION.group_concat_max_len, @@SESSION.foreign_key_checks, \
                 IFNULL(DATABASE(), ''), CURRENT_ROLE())"
            }
            Self::MariaDb => {
                "SELECT CONCAT_WS('|', RELEASE_ALL_LOCKS(), @@SESSION.sql_mode, @@SESSION.tx_read_only, \
                 @@SESSION.tx_isolation, @@SESSION.autocommit, @@SESSION.time_zone, \
                 @@SESSION.character_set_client, @@SESSION.character_set_results, \
                 @@SESSION.collation_connection, @@SESSION.sql_select_limit, @@SESSION.lc_time_names, \
                 @@SESSION.group_concat_max_len, @@SESSION.foreign_key_checks, \
                 IFNULL(DATABASE(), ''), IFNULL(CURRENT_ROLE(), ''))"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_say_what_they_are() {
        for (version, product) in [
            ("9.7.4-2", Server::MySql),
            ("8.0.36-28 Percona", Server::MySql),
            ("10.11.18-MariaDB-0+deb12u1", Server::MariaDb),
            ("5.5.5-10.6.1-mariadb", Server::MariaDb),
        ] {
            assert_eq!(Server::of_version(version), product, "{version}");
        }
    }

    #[test]
    fn versions_that_are_too_old_are_known() {
        assert_eq!(Server::MySql.too_old("5.7.44-log"), Some("8.0"));
        assert_eq!(Server::MariaDb.too_old("10.5.29-MariaDB"), Some("10.6"));
        for (server, version) in [
            (Server::MySql, "8.0.11-TiDB-v7.5.0"),
            (Server::MySql, "9.7.4-2"),
            (Server::MariaDb, "10.6.1-MariaDB"),
            (Server::MariaDb, "11.8.9-MariaDB"),
            // Who knows: what is missing will be said when it is missed.
            (Server::MySql, "devel"),
        ] {
            assert_eq!(server.too_old(version), None, "{version}");
        }
    }

    #[test]
    fn limits_are_whole_seconds_and_never_none() {
        let ms = Duration::from_millis;
        assert_eq!(Server::MySql.time_value(ms(29_950)), 30_000);
        assert_eq!(Server::MySql.time_value(ms(30_000)), 30_000);
        assert_eq!(Server::MySql.time_value(ms(0)), 1_000, "0 would be no limit");
        assert_eq!(Server::MariaDb.time_value(ms(1)), 1);
        assert_eq!(Server::MySql.time_value(Duration::MAX), u64::from(u32::MAX));
    }
}

//! The table of services. A new one is a file in `services/` and a line here.

mod duckdb;
mod mariadb;
mod mysql;
mod mysql_family;
mod pgbouncer;
mod postgres;
mod postgres_extensions;

use std::path::PathBuf;

use crate::cache::Cache;
use crate::engine::{Engine, Home};
use crate::error::{Error, Result};
use crate::packages::Package;

/// One line of the table.
pub(crate) struct Service {
    pub(crate) info: Info,
    pub(crate) kind: Kind,
}

/// What there is to do for a service.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// It is fetched, filled and started.
    Server(&'static dyn Engine),
    /// It is fetched.
    Library {
        version: &'static str,
        package: fn() -> String,
        fetch: fn(&Cache) -> Result<Package>,
        variables: fn(&Cache) -> Vec<(&'static str, String)>,
    },
}

/// What can be said about a service without touching it.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// What people call it: `postgres-old`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// The start of its environment variables: `DBAGENT_TEST_POSTGRES_OLD_`.
    pub prefix: &'static str,
    /// What comes first behind it. A person who has one of their own says so in this variable.
    pub first: &'static str,
    /// The package client that fetches it: `mvn` or `apt-get`.
    pub client: &'static str,
    /// The service that it stands before, which is started with it.
    pub needs: Option<&'static str>,
}

impl Info {
    /// The variable that holds its address. Where a person has set it, nothing is started.
    pub fn variable(&self) -> String {
        format!("{}{}", self.prefix, self.first)
    }
}

const SERVICES: &[Service] = &[
    Service {
        info: Info {
            name: "postgres",
            about: "PostgreSQL 18",
            prefix: "DBAGENT_TEST_POSTGRES_",
            first: "URL",
            client: "mvn",
            needs: None,
        },
        kind: Kind::Server(&postgres::NEW),
    },
    Service {
        info: Info {
            name: "postgres-old",
            about: "PostgreSQL 15, for what must not need the newest",
            prefix: "DBAGENT_TEST_POSTGRES_OLD_",
            first: "URL",
            client: "mvn",
            needs: None,
        },
        kind: Kind::Server(&postgres::OLD),
    },
    Service {
        info: Info {
            name: "postgres-oldest",
            about: "PostgreSQL 13, the oldest that the dialect is for",
            prefix: "DBAGENT_TEST_POSTGRES_OLDEST_",
            first: "URL",
            client: "mvn",
            needs: None,
        },
        kind: Kind::Server(&postgres::OLDEST),
    },
    Service {
        info: Info {
            name: "postgres-extensions",
            about: "PostgreSQL 17 with PostGIS and pgvector",
            prefix: "DBAGENT_TEST_POSTGRES_EXTENSIONS_",
            first: "URL",
            client: "apt-get",
            needs: None,
        },
        kind: Kind::Server(&postgres::EXTENSIONS),
    },
    Service {
        info: Info {
            name: "pgbouncer",
            about: "PgBouncer in transaction mode before postgres",
            prefix: "DBAGENT_TEST_POSTGRES_PGBOUNCER_",
            first: "URL",
            client: "apt-get",
            needs: Some("postgres"),
        },
        kind: Kind::Server(&pgbouncer::PgBouncer),
    },
    Service {
        info: Info {
            name: "mysql",
            about: "MySQL 9",
            prefix: "DBAGENT_TEST_MYSQL_",
            first: "URL",
            client: "apt-get",
            needs: None,
        },
        kind: Kind::Server(&mysql::MySql),
    },
    Service {
        info: Info {
            name: "mariadb",
            about: "MariaDB 11",
            prefix: "DBAGENT_TEST_MARIADB_",
            first: "URL",
            client: "apt-get",
            needs: None,
        },
        kind: Kind::Server(&mariadb::MariaDb),
    },
    Service {
        info: Info {
            name: "duckdb",
            about: "the DuckDB library, to link with",
            prefix: "",
            first: "DUCKDB_LIB_DIR",
            client: "mvn",
            needs: None,
        },
        kind: Kind::Library {
            version: duckdb::VERSION,
            package: duckdb::folder_name,
            fetch: duckdb::fetch,
            variables: duckdb::variables,
        },
    },
];

/// The names of all services, in the order in which they are started.
pub fn names() -> impl Iterator<Item = &'static str> {
    SERVICES.iter().map(|service| service.info.name)
}

/// The service of this name.
pub fn info(name: &str) -> Option<Info> {
    find(name).ok().map(|service| service.info)
}

pub(crate) fn find(name: &str) -> Result<&'static Service> {
    SERVICES.iter().find(|service| service.info.name == name).ok_or_else(|| {
        Error::new(format!(
            "there is no service `{name}`; there are: {}",
            names().collect::<Vec<_>>().join(", ")
        ))
    })
}

/// The services that stand before this one.
pub(crate) fn dependents(name: &str) -> impl Iterator<Item = &'static str> {
    SERVICES.iter().filter(move |service| service.info.needs == Some(name)).map(|service| service.info.name)
}

/// Every path by which a server in this folder could be recognised, whatever service it is of.
pub(crate) fn markers(home: &Home) -> Vec<PathBuf> {
    let engines = SERVICES.iter().filter_map(|service| match service.kind {
        Kind::Server(engine) => Some(engine),
        Kind::Library { .. } => None,
    });
    let mut markers: Vec<PathBuf> = engines.map(|engine| engine.marker(home)).collect();
    markers.sort();
    markers.dedup();
    markers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_variables_are_told_apart_and_needs_come_first() {
        for (index, service) in SERVICES.iter().enumerate() {
            let before = &SERVICES[..index];
            assert!(before.iter().all(|other| other.info.name != service.info.name));
            assert!(before.iter().all(|other| other.info.prefix != service.info.prefix));
            if let Some(needs) = service.info.needs {
                assert!(before.iter().any(|other| other.info.name == needs), "{}", service.info.name);
            }
        }
        assert_eq!(info("postgres-old").unwrap().variable(), "DBAGENT_TEST_POSTGRES_OLD_URL");
        assert_eq!(info("duckdb").unwrap().variable(), "DUCKDB_LIB_DIR");
        assert_eq!(dependents("postgres").collect::<Vec<_>>(), ["pgbouncer"]);
        assert!(find("postgre").err().unwrap().to_string().contains("postgres-old"));
    }
}

//! The table of services. A new one is a file in `services/` and a line here.

mod postgres;

use crate::engine::Engine;

/// One line of the table.
pub(crate) struct Service {
    pub(crate) info: Info,
    pub(crate) engine: &'static dyn Engine,
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
    /// The service that it stands before, which is started with it.
    pub needs: Option<&'static str>,
}

const SERVICES: &[Service] = &[
    Service {
        info: Info {
            name: "postgres",
            about: "PostgreSQL 18",
            prefix: "DBAGENT_TEST_POSTGRES_",
            needs: None,
        },
        engine: &postgres::NEW,
    },
    Service {
        info: Info {
            name: "postgres-old",
            about: "PostgreSQL 15, for what must not need the newest",
            prefix: "DBAGENT_TEST_POSTGRES_OLD_",
            needs: None,
        },
        engine: &postgres::OLD,
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

pub(crate) fn find(name: &str) -> crate::Result<&'static Service> {
    SERVICES.iter().find(|service| service.info.name == name).ok_or_else(|| {
        crate::Error::new(format!(
            "there is no service `{name}`; there are: {}",
            names().collect::<Vec<_>>().join(", ")
        ))
    })
}

/// Every path by which a server in this folder could be recognised, whatever service it is of.
pub(crate) fn markers(home: &crate::engine::Home) -> Vec<std::path::PathBuf> {
    let mut markers: Vec<_> = SERVICES.iter().map(|service| service.engine.marker(home)).collect();
    markers.sort();
    markers.dedup();
    markers
}

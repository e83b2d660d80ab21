//! What the server itself stops on a hardened connection of an owner, with the guard out of the way. On a server
//! of its own: most rows do damage.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dbagent_core::context::CallContext;
use dbagent_core::request::Params;
use dbagent_mysql_common::sqlx;
use dbagent_mysql_common::testing::raw_hardened;
use dbagent_services::Server;

use super::corpus::rows;
use super::server::{Scratch, Side, call, required, setup};
use super::state::State;
use crate::KIT;

/// Sends every deny row to the hardened connection and holds what changes something against the list. The list
/// can only shrink: a row that no longer changes anything must be taken off, and a new one must not be put on
/// without a line in `docs/threat-model.md`.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_does_not_stop_is_known() {
    let server = match Server::throwaway(KIT.id) {
        Ok(server) => server,
        Err(why) => return required(&why.to_string()),
    };
    let mut server = server;
    let url = server.url().to_owned();
    let mut world = World::new(&url).await;
    let mut changed: BTreeMap<String, String> = BTreeMap::new();
    for row in rows().into_iter().filter(|r| !r.allow) {
        if std::env::var_os("DOOR").is_some() {
            eprintln!("{} {:?}", row.id, row.statement);
        }
        let mut door = raw_hardened(KIT.flavor.server(), &world.scratch.target(), &call()).await.unwrap();
        let limit = CallContext::within(Duration::from_secs(20));
        // Some of them wait for what never comes.
        let ran = limit.bound("run", door.run(&row.statement, &Params::None)).await;
        drop(ran);
        match world.state().await {
            Some(now) if now == world.before => {}
            Some(now) => {
                changed.insert(
                    row.id.clone(),
                    format!("{:?}: {}", row.statement, now.differs_from(&world.before)),
                );
                drop(door);
                world.mend(&url, &now).await;
            }
            None => {
                changed.insert(row.id.clone(), format!("{:?}: the server is gone", row.statement));
                drop(door);
                server.restart().unwrap();
                world = World::new(&url).await;
            }
        }
    }
    let pinned: BTreeSet<&str> = KIT.still_change.iter().copied().collect();
    let new: Vec<_> = changed.iter().filter(|(id, _)| !pinned.contains(id.as_str())).collect();
    assert!(new.is_empty(), "{} change something and are not on the list: {new:#?}", new.len());
    let gone: Vec<_> = pinned.iter().filter(|id| !changed.contains_key(**id)).collect();
    assert!(gone.is_empty(), "these no longer change anything, take them off the list: {gone:?}");
}

/// The server and what it is like when nothing was done to it.
struct World {
    scratch: Scratch,
    watcher: Side,
    before: State,
}

impl World {
    async fn new(url: &str) -> Self {
        let scratch = Scratch::new(url).await;
        let mut watcher = watcher(&scratch).await.unwrap();
        let before = State::of(&mut watcher, &scratch.name).await.unwrap();
        Self { scratch, watcher, before }
    }

    /// The state now; `None` where the server is gone for good.
    async fn state(&mut self) -> Option<State> {
        if let Ok(state) = State::of(&mut self.watcher, &self.scratch.name).await {
            return Some(state);
        }
        // The connection may have been ended, or the server may be down for a moment.
        for _ in 0..20 {
            if let Ok(mut watcher) = watcher(&self.scratch).await
                && let Ok(state) = State::of(&mut watcher, &self.scratch.name).await
            {
                self.watcher = watcher;
                return Some(state);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        None
    }

    /// Makes everything as it was.
    async fn mend(&mut self, url: &str, now: &State) {
        let mut owner = Side::connect(url).await.unwrap();
        owner.run("SET SESSION lock_wait_timeout = 20").await.unwrap();
        let name = &self.scratch.name;
        for statement in now.undo(&self.before) {
            drop(owner.run(&statement).await);
        }
        for statement in [
            format!("DROP DATABASE IF EXISTS {name}"),
            format!("CREATE DATABASE {name}"),
            format!("USE {name}"),
        ] {
            owner.run(&statement).await.unwrap();
        }
        for statement in setup() {
            owner.run(&statement).await.unwrap_or_else(|e| panic!("{statement}: {e}"));
        }
        let Some(state) = self.state().await else { panic!("the server is gone") };
        // What cannot be undone (a counter, a file) is the new beginning.
        self.before = state;
    }
}

/// A connection that does not wait for what a row locked.
async fn watcher(scratch: &Scratch) -> sqlx::Result<Side> {
    let mut watcher = Side::connect(&scratch.url()).await?;
    watcher.run("SET SESSION lock_wait_timeout = 1, innodb_lock_wait_timeout = 1").await?;
    Ok(watcher)
}

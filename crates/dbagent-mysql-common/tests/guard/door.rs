//! What the server itself stops on a hardened connection of an owner, with the guard out of the way. On a server
//! of its own: most rows do damage.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dbagent_core::context::CallContext;
use dbagent_core::request::Params;
use dbagent_mysql_common::sqlx::{self, Executor as _};
use dbagent_mysql_common::testing::{RawHardened, raw_hardened};
use dbagent_services::Server;

use super::corpus::{Row, rows};
use super::server::{Scratch, Side, call, required};
use super::state::State;
use crate::KIT;

/// Servers that share the rows: most of the time goes by while one of them starts again, or waits for a lock.
const SERVERS: usize = 3;

/// Sends every deny row to the hardened connection and holds what changes something against the list. The list
/// can only shrink: a row that no longer changes anything must be taken off, and a new one must not be put on
/// without a line in `docs/threat-model.md`.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_does_not_stop_is_known() {
    let mut parts = vec![Vec::new(); SERVERS];
    for (index, row) in rows().into_iter().filter(|r| !r.allow).enumerate() {
        parts[index % SERVERS].push(row);
    }
    let mut doors = tokio::task::JoinSet::new();
    for part in parts {
        let server = tokio::task::spawn_blocking(|| Server::throwaway(KIT.id)).await.unwrap();
        match server {
            Ok(server) => doors.spawn(what_is_not_stopped(server, part)),
            Err(why) => return required(&why.to_string()),
        };
    }
    let mut changed: BTreeMap<String, String> = BTreeMap::new();
    while let Some(some) = doors.join_next().await {
        changed.extend(some.unwrap());
    }
    let pinned: BTreeSet<&str> = KIT.still_change.iter().copied().collect();
    let new: Vec<_> = changed.iter().filter(|(id, _)| !pinned.contains(id.as_str())).collect();
    assert!(new.is_empty(), "{} change something and are not on the list: {new:#?}", new.len());
    let gone: Vec<_> = pinned.iter().filter(|id| !changed.contains_key(**id)).collect();
    assert!(gone.is_empty(), "these no longer change anything, take them off the list: {gone:?}");
}

/// The rows that change something on a server, and what.
async fn what_is_not_stopped(mut server: Server, rows: Vec<Row>) -> BTreeMap<String, String> {
    let mut world = World::new(server.url()).await;
    let mut changed = BTreeMap::new();
    for row in rows {
        alone(&mut world.watcher).await;
        // Still open while somebody looks: what it holds can be seen.
        let door = run(&world, &row).await;
        match world.state().await {
            Ok(now) if now == world.before => continue,
            Ok(now) => changed
                .insert(row.id.clone(), format!("{:?}: {}", row.statement, now.differs_from(&world.before))),
            Err(e) => changed.insert(row.id.clone(), format!("{:?}: the server is gone: {e}", row.statement)),
        };
        drop(door);
        world = world.again(&mut server).await;
    }
    changed
}

/// Runs a row on a hardened connection of its own and returns the connection. `None` where the server is gone.
async fn run(world: &World, row: &Row) -> Option<RawHardened> {
    let mut door = raw_hardened(KIT.flavor.server(), &world.scratch.target(), &call()).await.ok()?;
    // Some of them wait for what never comes: the server stops them, or somebody does.
    let limit = match KIT.id {
        "mysql" => "SET SESSION max_execution_time = 1000",
        _ => "SET SESSION max_statement_time = 1",
    };
    door.connection().execute(limit).await.ok()?;
    let limit = CallContext::within(Duration::from_secs(2));
    // Files of its own: what is without a folder goes where the database is, which somebody looks at.
    let statement = row.statement.replace("'/tmp/", "'");
    drop(limit.bound("run", door.run(&statement, &Params::None)).await);
    Some(door)
}

/// The server and what it is like when nothing was done to it.
struct World {
    url: String,
    scratch: Scratch,
    watcher: Side,
    before: State,
}

impl World {
    async fn new(url: &str) -> Self {
        let scratch = Scratch::new(url).await;
        let mut watcher = watcher(&scratch).await.unwrap();
        alone(&mut watcher).await;
        let before = State::of(&mut watcher, &scratch.name).await.unwrap();
        Self { url: url.to_owned(), scratch, watcher, before }
    }

    /// The state now; an error where the server is gone.
    async fn state(&mut self) -> sqlx::Result<State> {
        if let Ok(state) = State::of(&mut self.watcher, &self.scratch.name).await {
            return Ok(state);
        }
        // Only the connection may have been ended.
        self.watcher = watcher(&self.scratch).await?;
        State::of(&mut self.watcher, &self.scratch.name).await
    }

    /// The server as it was, or as near as can be: what cannot be undone is the new beginning.
    async fn again(mut self, server: &mut Server) -> Self {
        let url = self.url.clone();
        match self.state().await {
            Ok(now) => {
                let mut owner = Side::connect(&url).await.unwrap();
                owner.run("SET SESSION lock_wait_timeout = 20").await.unwrap();
                for statement in now.undo(&self.before) {
                    drop(owner.run(&statement).await);
                }
            }
            Err(_) => server.restart().unwrap(),
        }
        // Its database goes before the next one is looked at.
        drop(self);
        Self::new(&url).await
    }
}

/// A connection that does not wait for what a row locked.
async fn watcher(scratch: &Scratch) -> sqlx::Result<Side> {
    let mut watcher = Side::connect(&scratch.url()).await?;
    watcher.run("SET SESSION lock_wait_timeout = 1, innodb_lock_wait_timeout = 1").await?;
    if KIT.id == "mariadb" {
        watcher.run("SET SESSION system_versioning_alter_history = KEEP").await?;
    }
    Ok(watcher)
}

/// Waits until the server has ended the connections that were closed: they may still hold locks.
async fn alone(watcher: &mut Side) {
    let question =
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = SUBSTRING_INDEX(USER(), '@', 1)";
    for _ in 0..1_000 {
        // This one and that of the scratch database.
        if watcher.lines(question).await.is_ok_and(|count| count == ["2"]) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

//! For tests: the hardened connection with the guard out of the way.
//!
//! The guard judges texts and the session stops what gets past it. A test that asks what the session stops
//! by itself comes in through this door. It is in no release build: the feature `testing` opens it.

use dbagent_core::context::CallContext;
use dbagent_core::{OpenContext, Request, Result, Target};
use sqlx::AssertSqlSafe;

use crate::bind;
use crate::read::{failed, parameters, prepare};
use crate::session::PostgresSession;

/// A session as dbagent opens it, with nobody judging what runs on it.
pub struct RawHardened {
    session: PostgresSession,
    call: CallContext,
}

/// Opens the hardened session of a target without a guard before it.
///
/// # Errors
/// As opening a session on it.
pub async fn raw_hardened(target: &Target, call: &CallContext) -> Result<RawHardened> {
    let context =
        OpenContext { call: call.clone(), access: target.access, guardrails: target.guardrails.clone() };
    Ok(RawHardened { session: PostgresSession::open(target, &context).await?, call: call.clone() })
}

impl RawHardened {
    /// Runs a text to its end as a session runs one that was cleared: one message of the extended protocol in
    /// a transaction of its own, which is rolled back and reset when this returns. Gives how many rows came.
    ///
    /// # Errors
    /// What the server says.
    pub async fn run(&self, request: &Request) -> Result<usize> {
        let mut link = self.session.pool().link(&self.call, "read").await?;
        let text = request.as_str();
        let outcome = match prepare(&mut link, text, &self.call).await? {
            Ok(statement) => {
                let arguments = bind::arguments(&request.params, parameters(&statement))?;
                let query = sqlx::query_with(AssertSqlSafe(text.to_owned()), arguments);
                self.call.bound("read", query.fetch_all(link.start()?)).await?
            }
            Err(e) => Err(e),
        };
        let rows = match outcome {
            Ok(rows) => link.done(Ok(rows.len()), &self.call, "read"),
            Err(e) => Err(failed(&mut link, e, text, 0, &self.call)),
        };
        link.finish().await;
        rows
    }

    /// The process of the server that the next statement runs in, once no other uses the session.
    ///
    /// # Errors
    /// What the server says.
    pub async fn process(&self) -> Result<i32> {
        let link = self.session.pool().link(&self.call, "read").await?;
        let pid = link.pid();
        link.finish().await;
        Ok(pid)
    }
}

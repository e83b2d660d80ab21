//! Settings of the server that change what a text means: a session keeps those that it began with.

use dbagent_services::Server;
use dbagent_testkit::conformance::Value;

use super::support::{call, collect, open, rows, skipped, start, target, variable};
use crate::own;

/// A server of the test's own with these arguments; none where it cannot be had.
pub(crate) async fn server_with(arguments: &'static [&'static str]) -> Option<Server> {
    variable("URL")?;
    let started = tokio::task::spawn_blocking(|| Server::throwaway_with(own::DIALECT.id(), arguments));
    match started.await.expect("the task ends") {
        Ok(server) => Some(server),
        Err(why) => {
            skipped(&why.to_string());
            None
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sql_mode_is_that_of_the_beginning() {
    let Some(server) = server_with(&["--sql-mode=ANSI_QUOTES,PIPES_AS_CONCAT"]).await else { return };
    let scratch = own::scratch(server.url(), own::Scratch::fresh_name()).await.unwrap();
    let mut owner = scratch.owner().await.unwrap();
    owner.run("CREATE TABLE t (a INT)").await.unwrap();
    owner.run("INSERT INTO t VALUES (1)").await.unwrap();
    let session = open(target(scratch.url())).await.unwrap();
    // Read by the parser and by the server alike: a name in double quotes, and texts that are joined.
    let sql = "SELECT \"a\" || 'b' AS v, @@session.sql_mode AS m FROM t";
    let expected = [[Value::text("1b"), Value::text("PIPES_AS_CONCAT,ANSI_QUOTES")]];
    assert_eq!(rows(&session, sql).await, expected);

    owner.run("SET GLOBAL sql_mode = 'STRICT_TRANS_TABLES'").await.unwrap();
    // Four at once: three of them by connections that are opened now.
    let call = call();
    let mut streams = Vec::new();
    for _ in 0..4 {
        streams.push(start(&session, sql, None, &call).await.unwrap());
    }
    let all = streams.into_iter().map(|stream| tokio::spawn(collect(stream)));
    for found in all.collect::<Vec<_>>() {
        assert_eq!(found.await.unwrap().unwrap(), expected);
    }
    // A session that begins now begins with what is now.
    let later = open(target(scratch.url())).await.unwrap();
    assert_eq!(
        rows(&later, "SELECT \"a\" AS v, @@session.sql_mode AS m FROM t").await,
        [[Value::text("a"), Value::text("STRICT_TRANS_TABLES")]]
    );
}

//! The lists of Postgres' own functions, operators and types hold what a real server has.

use dbagent_core::guard::{Judgement, Policy};
use dbagent_postgres::sqlx;

use crate::support::{SERVERS, Scratch, offline};

/// What every name of the server is asked for, as a call that the grammar accepts.
async fn names(scratch: &mut Scratch, query: &'static str) -> Vec<String> {
    sqlx::query_scalar(query).fetch_all(&mut scratch.owner).await.expect("names")
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_the_server_has_of_its_own_is_on_a_list() {
    for server in SERVERS {
        let Some(mut scratch) = Scratch::on(server, &[]).await else { continue };
        // Functions of the type `internal` cannot be called, nor can handlers and triggers.
        let functions = names(
            &mut scratch,
            "SELECT DISTINCT quote_ident(proname) FROM pg_proc
             WHERE oid < 16384 AND pronamespace = 'pg_catalog'::regnamespace
               AND NOT (proargtypes::oid[] && ARRAY['internal'::regtype]::oid[])
               AND prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype, 'internal'::regtype,
                                      'language_handler'::regtype, 'fdw_handler'::regtype)
             ORDER BY 1",
        )
        .await;
        let types = names(
            &mut scratch,
            "SELECT DISTINCT quote_ident(typname) FROM pg_type
             WHERE oid < 16384 AND typnamespace = 'pg_catalog'::regnamespace AND typname !~ 'pg_toast' ORDER BY 1",
        )
        .await;
        let operators = names(
            &mut scratch,
            "SELECT DISTINCT oprname::text FROM pg_operator WHERE oid < 16384 ORDER BY 1",
        )
        .await;
        drop(scratch);
        let found = (functions.len(), types.len(), operators.len());
        assert!(found.0 > 1_500 && found.1 > 250 && found.2 > 60, "{found:?}");
        let calls = functions.iter().map(|f| format!("SELECT pg_catalog.{f}()"));
        let casts = types.iter().map(|t| format!("SELECT NULL::pg_catalog.{t}"));
        let signs = operators.iter().map(|o| format!("SELECT 1 OPERATOR(pg_catalog.{o}) 2"));
        let mut unknown = Vec::new();
        let (mut reads, mut grave) = (0, 0);
        for text in calls.chain(casts).chain(signs) {
            match offline(&text, &Policy::default()) {
                Judgement::Read => reads += 1,
                Judgement::Refused(refusal) if refusal.message.contains("nothing vouches for") => {
                    unknown.push(text);
                }
                _ => grave += 1,
            }
        }
        assert!(unknown.is_empty(), "{server}: {unknown:#?}");
        assert!(reads > 2_000 && (100..250).contains(&grave), "{reads} {grave}");
    }
}

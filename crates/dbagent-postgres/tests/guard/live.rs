//! What users put into a database, and how statements that run into it are judged in the live catalogue.

use dbagent_core::guard::{Policy, Rule};

use crate::support::{Judged, OLDEST, SERVERS, Scratch};

pub(crate) const FIXTURE: &str = include_str!("fixture.sql");

async fn check(rows: &[(&str, bool)]) {
    // Version 14 brought the bodies without quotes that the fixture has.
    for server in SERVERS.into_iter().filter(|server| *server != OLDEST) {
        let Some(mut scratch) = Scratch::on(server, &[FIXTURE]).await else { continue };
        let mut wrong = Vec::new();
        for (statement, allow) in rows {
            // The only rows here that an old server cannot read.
            let new = statement.contains("JSON_VALUE") && server != SERVERS[0];
            let judged = scratch.judge(statement, &Policy::default()).await;
            if matches!(judged, Judged::Read) != *allow {
                wrong.push(format!("{statement}: expected allow {allow}, but {judged:?}"));
            }
            // What is cleared really runs, and the statements are no nonsense.
            if *allow
                && !new
                && let Err(e) = scratch.read(statement).await
            {
                wrong.push(format!("{statement}: {e}"));
            }
        }
        assert_eq!(scratch.touched().await, 0, "a function of the fixture ran");
        drop(scratch);
        assert!(wrong.is_empty(), "{server}: {}", wrong.join("\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn functions_are_what_the_catalogue_says() {
    check(&[
        ("SELECT nuke()", false),
        ("SELECT public.nuke()", false),
        ("SELECT liar()", false),
        ("SELECT * FROM nuke()", false),
        ("SELECT sql_read(1), sql_atomic(1), sql_return(1), sql_two(1)", true),
        ("SELECT sql_self(3)", true),
        ("SELECT sql_void()", true),
        ("SELECT sql_writes(9)", false),
        ("SELECT sql_writes_first(9)", false),
        ("SELECT sql_atomic_writes(9)", false),
        ("SELECT sql_calls_nuke()", false),
        ("SELECT sql_atomic_nuke()", false),
        ("SELECT sql_definer()", false),
        ("SELECT sql_configured()", false),
        ("SELECT sql_default()", false),
        ("SELECT sql_file()", false),
        ("SELECT sql_7()", true),
        ("SELECT sql_8()", false),
        ("SELECT sql_12()", false),
        ("SELECT nobody_has_this()", false),
        ("SELECT id FROM users ORDER BY sql_return(id)", true),
        ("SELECT id FROM users ORDER BY nuke_bool(id)", false),
        ("SELECT count(*) FILTER (WHERE nuke_bool(id)) FROM users", false),
        ("SELECT sum(id) OVER (PARTITION BY nuke_bool(id)) FROM users", false),
        ("SELECT 1 LIMIT nuke()", false),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_of_postgres_does_not_cover_for_a_user() {
    check(&[
        ("SELECT length('A'), ceil(1.5)", true),
        // Which of several functions is meant the types tell, so that every one of them is judged.
        ("SELECT abs(-1)", false),
        ("SELECT abs('1'::text)", false),
        ("SELECT pg_catalog.abs(-1)", true),
        ("SELECT lower('A', 1)", false),
        ("SELECT pg_catalog.lower('A')", true),
        ("SELECT public.abs('x')", false),
        // A user's harmless overload does not vouch for Postgres' own.
        ("SELECT * FROM ts_stat('SELECT 1')", false),
        ("SELECT \"Lower\"('A')", true),
        ("SELECT \"a.b\"(1)", false),
        // A domain by the name of a function, called like one.
        ("SELECT upper('a'::text)", false),
        ("SELECT public.upper('a')", false),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_looks_like_a_column_may_be_a_call() {
    check(&[
        ("SELECT users.full_name FROM users", true),
        ("SELECT u.full_name FROM users u", true),
        ("SELECT (u).full_name FROM users u", true),
        ("SELECT users.shadow FROM users", false),
        ("SELECT (u).shadow FROM users u", false),
        ("SELECT public.users.shadow FROM public.users", false),
        ("SELECT ('a'::text).shadow_text", false),
        ("SELECT ('a'::text).lower", true),
        // A domain is called so too: whether this is the function or a cast depends on the type before it.
        ("SELECT ('a'::text).upper", false),
        ("SELECT (1).upper", false),
        ("SELECT ('/etc/hostname'::text).pg_read_file", false),
        ("SELECT users.name FROM users WHERE users.row_to_json IS NOT NULL", true),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn operators_casts_and_aggregates_are_functions() {
    check(&[
        ("SELECT 1 + 2, 'a' || 'b', 1 = 2", true),
        ("SELECT 1 |+| 2", true),
        ("SELECT 1 OPERATOR(public.|+|) 2", true),
        ("SELECT 1 ### 2", false),
        ("SELECT 1 |<| 2", false),
        ("SELECT 1 OPERATOR(public.###) 2", false),
        ("SELECT 1 OPERATOR(other.+) 2", false),
        ("SELECT !!! '/etc/hostname'", false),
        ("SELECT 1 = ANY (SELECT id FROM users)", true),
        ("SELECT id FROM users ORDER BY id USING <", true),
        ("SELECT 'ok'::mood, 'sad'::public.mood", true),
        ("SELECT '(1,b)'::pair, ROW(1, 'b')::pair", true),
        ("SELECT ROW(1, 'b')::pair::text", true),
        ("SELECT 1::positive", true),
        ("SELECT 1::evil", false),
        ("SELECT CAST(1 AS public.evil)", false),
        ("SELECT '(1)'::holds_evil", false),
        ("SELECT ARRAY[1]::evil[]", false),
        ("SELECT 1::evil_pair", false),
        ("SELECT * FROM json_to_record('{\"a\": 1}') AS t(a evil)", false),
        ("SELECT * FROM jsonb_populate_record(NULL::holds_evil, '{\"e\": 1}')", false),
        ("SELECT JSON_VALUE('1', '$' RETURNING evil)", false),
        ("SELECT p + p FROM evil_pairs", false),
        ("SELECT id + id FROM evil_pairs", false),
        ("SELECT id FROM evil_pairs", true),
        ("SELECT floats(1.0, 2.0) @> 1.5::float8", true),
        ("SELECT good_sum(id) FROM users", true),
        ("SELECT sql_last(id) FROM users", true),
        ("SELECT evil_sum(id) FROM users", false),
        ("SELECT evil_sum(id) OVER () FROM users", false),
        ("SELECT pg_input_is_valid('1', 'evil')", false),
        ("SELECT domain_in('1', 'evil'::regtype, -1)", false),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn casts_that_nobody_writes_are_seen() {
    check(&[
        ("SELECT 1::float8::bytea", false),
        ("SELECT bytea(1::float8)", false),
        ("SELECT '1'::bytea", false),
        ("SELECT s FROM shades", false),
        ("SELECT id FROM users WHERE id = 1::bigint", true),
        ("SELECT sum(s) FROM shades", false),
        ("SELECT 'dark'::shade", false),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_in_every_form_are_calls() {
    check(&[
        ("SELECT any_row(1)", false),
        ("SELECT users.any_row FROM users", false),
        ("SELECT named(1), named(a => 1, b => 2), named(1, b := 3)", true),
        ("SELECT many(1, 2, 3), many(VARIADIC ARRAY[1])", true),
        ("SELECT * FROM rows_of()", true),
        ("SELECT (rows_of()).name", true),
        ("SELECT r.name FROM rows_of() r", true),
        ("SELECT * FROM table_of() t WHERE t.a = 1", true),
        ("SELECT * FROM users u, LATERAL sql_read(u.id) n", true),
        ("SELECT sql_locks()", false),
        ("SELECT sql_sets()", false),
        ("SELECT sql_temp()", false),
        ("SELECT proc()", false),
        ("CALL proc()", false),
        ("SELECT id FROM nested_default", true),
        ("SELECT m FROM v_nested", false),
        ("SELECT * FROM v_secret", false),
        ("SELECT * FROM v_window", false),
        ("SELECT pg_temp.nuke()", false),
        ("SELECT other.nuke()", false),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn relations_are_followed_to_what_they_run() {
    check(&[
        ("SELECT * FROM v_ok", true),
        ("SELECT * FROM v_evil", false),
        ("SELECT * FROM v_over_evil", false),
        ("SELECT * FROM v_operator", false),
        ("SELECT * FROM v_cast", false),
        ("SELECT * FROM v_function", true),
        ("SELECT * FROM (SELECT 1) s CROSS JOIN public.v_evil", false),
        ("EXPLAIN SELECT * FROM v_evil", false),
        ("SELECT * FROM tower_7", true),
        ("SELECT * FROM tower_8", false),
        ("SELECT * FROM tower_12", false),
        // What it holds was computed when it was filled.
        ("SELECT n FROM m_plain", true),
        ("SELECT plain()", false),
        ("SELECT * FROM secured", true),
        ("SELECT * FROM computed", true),
        ("SELECT * FROM parted", true),
        ("SELECT last_value FROM touched", true),
        ("SELECT * FROM far", false),
        ("SELECT * FROM parted_far", false),
        ("WITH v_evil AS (SELECT 1) SELECT * FROM v_evil", true),
        ("WITH v_evil AS (SELECT * FROM v_evil) SELECT * FROM v_evil", false),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn policies_of_rows_run_where_they_apply() {
    let Some(mut scratch) = Scratch::with(&[FIXTURE]).await else { return };
    // They do not apply to a superuser.
    let judged = scratch.judge("SELECT * FROM evil_secured", &Policy::default()).await;
    assert!(matches!(judged, Judged::Read), "{judged:?}");
    let role = scratch.role().await;
    scratch.become_role(&role).await;
    let judged = scratch.judge("SELECT * FROM evil_secured", &Policy::default()).await;
    assert!(matches!(&judged, Judged::Refused(r) if r.rule == Rule::UnknownFunction), "{judged:?}");
    let judged = scratch.judge("SELECT * FROM secured", &Policy::default()).await;
    assert!(matches!(judged, Judged::Read), "{judged:?}");
    drop(scratch);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_names_the_line_that_would_allow_it() {
    let Some(mut scratch) = Scratch::with(&[FIXTURE]).await else { return };
    for (statement, function) in [
        ("SELECT nuke()", "public.nuke"),
        ("SELECT 1 ### 2", "public.nuke_pair"),
        ("SELECT 1::evil", "public.nuke_bool"),
        ("SELECT evil_sum(id) FROM users", "public.nuke_pair"),
        ("SELECT users.shadow FROM users", "public.shadow"),
        ("SELECT * FROM v_evil", "nuke"),
        ("SELECT \"a.b\"(1)", "public.\"a.b\""),
    ] {
        let judged = scratch.judge(statement, &Policy::default()).await;
        let Judged::Refused(refusal) = judged else { panic!("{statement}: {judged:?}") };
        assert!(
            refusal.advice.contains(&format!("allow_functions = [\"{function}\"]"))
                || refusal.message.contains(function),
            "{statement}: {refusal}"
        );
        let allowed = Policy {
            allow_functions: [function.to_owned(), "public.nuke".to_owned()].into(),
            ..Policy::default()
        };
        let judged = scratch.judge(statement, &allowed).await;
        assert!(matches!(judged, Judged::Read), "{statement}: {judged:?}");
    }
    drop(scratch);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalogue_of_the_oldest_server_says_as_much() {
    let fixture = "CREATE FUNCTION reads(int) RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) FROM users WHERE id = $1';
         CREATE FUNCTION writes(int) RETURNS int LANGUAGE sql AS 'INSERT INTO orders (id) VALUES ($1) RETURNING 1';
         CREATE FUNCTION code() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
         CREATE VIEW contacts AS SELECT id, email FROM users;
         CREATE VIEW sly AS SELECT writes(1) AS w;
         CREATE OPERATOR !!! (RIGHTARG = int, FUNCTION = writes);
         CREATE TABLE parts (a int, b int GENERATED ALWAYS AS (a * 2) STORED) PARTITION BY LIST (a);
         CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1)";
    let Some(mut scratch) = Scratch::on(OLDEST, &[fixture]).await else { return };
    let hiding = Policy::default().deny("public.users.email").unwrap().deny("public.parts").unwrap();
    for (statement, open, hidden) in [
        ("SELECT reads(1)", true, true),
        ("SELECT writes(1)", false, false),
        ("SELECT code()", false, false),
        ("SELECT !!! 1", false, false),
        ("SELECT w FROM sly", false, false),
        ("SELECT id FROM contacts", true, false),
        ("SELECT a, b FROM part_1", true, false),
        ("SELECT lower(name) || 'x' FROM users", true, true),
    ] {
        for (policy, allow) in [(&Policy::default(), open), (&hiding, hidden)] {
            let judged = scratch.judge(statement, policy).await;
            assert_eq!(matches!(judged, Judged::Read), allow, "{statement}: {judged:?}");
        }
        if open {
            scratch.read(statement).await.unwrap_or_else(|e| panic!("{statement}: {e}"));
        }
    }
    drop(scratch);
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_are_checked_behind_everything() {
    let Some(mut scratch) = Scratch::with(&[FIXTURE]).await else { return };
    let policy = Policy::default().deny("public.users.email").unwrap().deny("public.computed.id").unwrap();
    for (statement, allow) in [
        ("SELECT name FROM users", true),
        ("SELECT email FROM users", false),
        ("SELECT * FROM users", false),
        ("SELECT users FROM users", false),
        ("SELECT u FROM users u", false),
        ("SELECT row_to_json(u) FROM users u", false),
        ("SELECT (u).email FROM users u", false),
        ("SELECT (u.*)::text FROM users u", false),
        ("SELECT users.email FROM users", false),
        ("SELECT public.users.email FROM public.users", false),
        ("SELECT name FROM users ORDER BY email", false),
        ("SELECT name FROM users WHERE email LIKE 'a%'", false),
        ("SELECT x.c FROM users AS x(a, b, c)", false),
        ("SELECT name FROM users NATURAL JOIN orders", false),
        ("SELECT name FROM users JOIN orders USING (id)", true),
        ("SELECT email FROM orders", true),
        ("SELECT email(users) FROM users", false),
        ("SELECT count(*) FROM users", true),
        ("TABLE users", false),
        ("SELECT contact FROM v_deny_column", false),
        ("SELECT name FROM v_ok", true),
        ("SELECT users.full_name FROM users", false),
        ("SELECT users.row_to_json FROM users", false),
        ("SELECT o.row_to_json FROM orders o, users u", true),
        ("SELECT sql_read(1)", true),
        ("SELECT twice FROM computed", false),
        ("SELECT s.* FROM (SELECT name FROM users) s", true),
        ("SELECT s FROM (SELECT name FROM users) s", true),
        ("WITH u AS (SELECT * FROM users) SELECT name FROM u", false),
        ("SELECT (SELECT email) FROM users", false),
        ("SELECT l.* FROM users u, LATERAL (SELECT u.email) l", false),
        ("SELECT j.* FROM (users JOIN orders ON true) AS j", false),
        ("SELECT xmin FROM users", true),
        ("SELECT array_agg(u) FROM users u", false),
        ("SELECT name FROM users GROUP BY ROLLUP (name, email)", false),
        ("SELECT rank() OVER (ORDER BY email) FROM users", false),
        ("SELECT most_common_vals FROM pg_stats", false),
        // It tells of the column as well.
        ("SELECT n_distinct FROM pg_stats WHERE tablename = 'users'", false),
        ("SELECT * FROM pg_stats", false),
    ] {
        let judged = scratch.judge(statement, &policy).await;
        // One of them is no column of that table: the engine will say so.
        assert_eq!(matches!(judged, Judged::Read), allow, "{statement}: {judged:?}");
    }
    drop(scratch);
}

/// A definition is read where there is stack enough, not on the thread that waits for the server.
#[test]
fn a_deep_definition_does_not_overflow_a_small_stack() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_stack_size(1 << 20)
        .enable_all()
        .build()
        .unwrap();
    let work = async {
        let sum = "+1".repeat(3_000);
        let view = format!("CREATE VIEW deep AS SELECT 1{sum} AS n");
        let function = format!("CREATE FUNCTION deep_sum() RETURNS integer LANGUAGE sql AS 'SELECT 1{sum}'");
        let Some(mut scratch) = Scratch::with(&[FIXTURE, &view, &function]).await else { return };
        for statement in ["SELECT * FROM deep", "SELECT deep_sum()"] {
            let judged = scratch.judge(statement, &Policy::default()).await;
            assert!(matches!(judged, Judged::Read), "{statement}: {judged:?}");
        }
        drop(scratch);
    };
    runtime.block_on(runtime.spawn(work)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partition_is_denied_with_its_table_and_the_table_with_its_partition() {
    let Some(mut scratch) = Scratch::with(&[FIXTURE]).await else { return };
    let deny = |pattern: &str| Policy::default().deny(pattern).unwrap();
    for (statement, policy, allow) in [
        ("SELECT id FROM parted", Policy::default(), true),
        ("SELECT id FROM parted", deny("public.parted"), false),
        ("SELECT id FROM parted_1", deny("public.parted"), false),
        ("SELECT id FROM parted", deny("public.parted_1"), false),
        ("SELECT id FROM parted_1", deny("public.parted.id"), false),
        ("SELECT count(*) FROM parted_1", deny("public.parted.id"), true),
        ("SELECT id FROM parted", Policy::default().allow("public.parted").unwrap(), true),
        ("SELECT id FROM parted_1", Policy::default().allow("public.parted").unwrap(), false),
        ("SELECT id FROM users", deny("public.parted"), true),
    ] {
        let judged = scratch.judge(statement, &policy).await;
        assert_eq!(matches!(judged, Judged::Read), allow, "{statement} {policy:?}: {judged:?}");
    }
}

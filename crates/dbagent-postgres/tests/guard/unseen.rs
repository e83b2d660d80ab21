//! Calls of a user's code that nothing in the text spells out as one, and code that reaches the guard's own
//! questions.

use dbagent_core::guard::Policy;

use crate::support::{Judged, SERVERS, Scratch, judged_as};

const SETUP: &str = "
CREATE FUNCTION chk(integer) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
CREATE DOMAIN dom AS integer CHECK (chk(value));
CREATE FUNCTION boomi(integer) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE FUNCTION boomc(pg_class) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE TYPE pair AS (a integer, b integer);
CREATE FUNCTION two(text, integer) RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1';
CREATE FUNCTION two(integer, pair) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE TYPE hue AS ENUM ('red', 'blue');
CREATE FUNCTION number_of(hue) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE CAST (hue AS integer) WITH FUNCTION number_of(hue);
CREATE TYPE shade AS ENUM ('dark', 'light');
CREATE FUNCTION text_of(shade) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE CAST (shade AS text) WITH FUNCTION text_of(shade);
CREATE TABLE hues (id integer, h hue, hs hue[], s shade);
CREATE DOMAIN numbers AS integer[];
CREATE FUNCTION apart(float8, float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 - $2; END';
CREATE TYPE span AS RANGE (subtype = float8, subtype_diff = apart);
CREATE TABLE spans (r span);
CREATE TABLE pairs (id integer, p pair);
";

const ROWS: &[(&str, bool)] = &[
    // A type behind a dot is a cast.
    ("SELECT (id).dom FROM users", false),
    ("SELECT ('1').dom", false),
    ("SELECT g.dom FROM generate_series(1, 1) g", false),
    ("SELECT 1 FROM users WHERE (id).dom = 1 ORDER BY (id).dom", false),
    ("SELECT ((ARRAY[1, 2])[1]).dom", false),
    // What a function in FROM returns may be one value, and a row of Postgres' own.
    ("SELECT g.boomi FROM generate_series(1, 1) g", false),
    ("SELECT generate_series.boomi FROM generate_series(1, 1)", false),
    ("SELECT u.boomi FROM unnest(ARRAY[1]) u", false),
    ("SELECT c.boomc FROM pg_class c", false),
    ("SELECT pg_class.boomc FROM pg_catalog.pg_class", false),
    // A constant of the type `unknown` becomes anything.
    ("SELECT two(1, '(1,2)'::unknown)", false),
    ("SELECT two(1, CAST(NULL AS unknown))", false),
    ("SELECT two(1, unknown '(1,2)')", false),
    // Casts to what holds another type.
    ("SELECT hs::int[] FROM hues", false),
    ("SELECT hs::_int4 FROM hues", false),
    ("SELECT hs::pg_catalog._int4 FROM hues", false),
    ("SELECT hs::numbers FROM hues", false),
    ("SELECT h::information_schema.cardinal_number FROM hues", false),
    ("SELECT hs::information_schema._cardinal_number FROM hues", false),
    // Functions of Postgres that cast inside.
    ("SELECT quote_literal(s) FROM hues", false),
    ("SELECT quote_nullable(s) FROM hues", false),
    // The planner measures ranges.
    ("SELECT count(*) FROM spans WHERE r && span(1, 100)", false),
    // Values of a column that a table had before it was there.
    ("SELECT attmissingval FROM pg_attribute", false),
    ("SELECT to_json(a) FROM pg_attribute a", false),
    ("SELECT attname FROM pg_attribute", true),
    ("SELECT (p).a, (p).b FROM pairs", true),
    ("SELECT g, g + 1 FROM generate_series(1, 2) g", true),
    ("SELECT g.n FROM generate_series(1, 2) AS g(n)", true),
    ("SELECT u.id::bigint::text, u.name FROM users u", true),
    ("SELECT ARRAY[1, 2]::bigint[], '{1}'::_int4", true),
    ("SELECT two('a'::text, 1)", true),
    ("SELECT c.relname FROM pg_class c", true),
];

#[tokio::test(flavor = "multi_thread")]
async fn no_code_of_a_user_runs_unseen() {
    judged_as(SETUP, ROWS).await;
}

/// Operators and functions that fit the guard's own questions better than Postgres' own do.
const CLOSER: &str = "
CREATE TABLE vault (s text);
CREATE VIEW v AS SELECT s FROM vault;
CREATE FUNCTION loud() RETURNS integer LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE VIEW noisy AS SELECT loud() AS n;
CREATE FUNCTION no(oid, integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT false';
CREATE OPERATOR public.>= (LEFTARG = oid, RIGHTARG = integer, FUNCTION = no);
CREATE OPERATOR public.= (LEFTARG = oid, RIGHTARG = integer, FUNCTION = no);
CREATE FUNCTION unnest(oid[]) RETURNS SETOF oid LANGUAGE sql AS 'SELECT 1::oid WHERE false';
CREATE FUNCTION unnest(text[]) RETURNS SETOF text LANGUAGE sql AS 'SELECT ''x'' WHERE false';
";

#[tokio::test(flavor = "multi_thread")]
async fn what_a_user_defines_answers_no_question_of_the_guard() {
    for server in SERVERS {
        let Some(mut scratch) = Scratch::on(server, &[CLOSER]).await else { continue };
        let policy = Policy::default().deny("*.vault").unwrap();
        for statement in ["SELECT s FROM v", "SELECT n FROM noisy", "SELECT loud()", "SELECT s FROM vault"] {
            let judged = scratch.judge(statement, &policy).await;
            assert!(!matches!(judged, Judged::Read), "{server}: {statement}: {judged:?}");
        }
        let judged = scratch.judge("SELECT id FROM users", &policy).await;
        assert!(matches!(judged, Judged::Read), "{server}: {judged:?}");
    }
}

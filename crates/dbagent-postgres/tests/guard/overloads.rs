//! Functions of one name for different types: only those count that a value of the statement can be given to.

use crate::support::{OLDEST, SERVERS, judged_as};

/// `weigh` of a number or a text reads; that of a pair or of an `hstore` is code that nobody can look into.
const SETUP: &str = "
CREATE EXTENSION hstore;
CREATE TYPE pair AS (a integer, b integer);
CREATE TYPE lone AS (a integer);
CREATE TABLE kept (a integer);
CREATE TABLE heir () INHERITS (kept);
CREATE TABLE made OF lone;
CREATE DOMAIN tags AS hstore;
CREATE FUNCTION weigh(integer) RETURNS integer LANGUAGE sql STABLE AS 'SELECT $1';
CREATE FUNCTION weigh(text) RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1';
CREATE FUNCTION weigh(text, text) RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1';
CREATE FUNCTION weigh(pair) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE FUNCTION weigh(hstore) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE FUNCTION weigh(hstore, integer) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE FUNCTION of_kept(integer) RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1';
CREATE FUNCTION of_kept(kept) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE FUNCTION of_lone(integer) RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1';
CREATE FUNCTION of_lone(lone) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE FUNCTION with_default(integer) RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1';
CREATE FUNCTION with_default(integer, hstore DEFAULT 'a=>1') RETURNS hstore LANGUAGE plpgsql AS 'BEGIN RETURN $2; END';
CREATE FUNCTION many(integer) RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1';
CREATE FUNCTION many(VARIADIC hstore[]) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE FUNCTION through(h hstore) RETURNS integer LANGUAGE sql STABLE AS 'SELECT weigh(h)';
CREATE FUNCTION through_two(text) RETURNS integer LANGUAGE sql STABLE AS 'SELECT weigh($1) + through($1::hstore)';
CREATE FUNCTION gives(integer) RETURNS hstore LANGUAGE sql STABLE AS 'SELECT ''a=>1''::hstore';
CREATE FUNCTION same(hstore) RETURNS hstore LANGUAGE sql STABLE AS 'SELECT $1';
CREATE FUNCTION same(integer) RETURNS integer LANGUAGE sql STABLE AS 'SELECT $1';
CREATE FUNCTION heavier(hstore, hstore) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
CREATE OPERATOR >>> (LEFTARG = hstore, RIGHTARG = hstore, FUNCTION = heavier);
CREATE FUNCTION heavier(integer, integer) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT $1 > $2';
CREATE OPERATOR >>> (LEFTARG = integer, RIGHTARG = integer, FUNCTION = heavier);
CREATE FUNCTION mixed(text, hstore) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
CREATE OPERATOR >>> (LEFTARG = text, RIGHTARG = hstore, FUNCTION = mixed);
CREATE TABLE bags (id integer, bag hstore, more tags, several hstore[]);
INSERT INTO bags VALUES (1, 'a=>1', 'a=>1', ARRAY['a=>1'::hstore]);
CREATE TABLE pairs (id integer, p pair);
CREATE VIEW heavy AS SELECT id FROM bags WHERE weigh(bag) > 0;
CREATE VIEW light AS SELECT id FROM users WHERE weigh(id) > 0;
";

const ROWS: &[(&str, bool)] = &[
    ("SELECT weigh(id), weigh(name) FROM users", true),
    ("SELECT weigh(id + 1), weigh(name || 'x'), weigh(lower(name)), weigh(id::text) FROM users", true),
    ("SELECT weigh(name, 'x'), weigh('x'::text), weigh(1) FROM users", true),
    ("SELECT id FROM light", true),
    ("SELECT weigh(coalesce(name, 'x')), weigh(CASE WHEN true THEN 'a' END) FROM users", true),
    ("SELECT weigh(s.n) FROM (SELECT name AS n FROM users) s", true),
    ("SELECT weigh(u.id) FROM users u ORDER BY weigh(u.name)", true),
    ("SELECT same(id) FROM users WHERE id >>> 1", true),
    ("SELECT count(*) FROM users GROUP BY id, name HAVING weigh(max(id)) > 0", true),
    // A constant, NULL or a parameter may become anything.
    ("SELECT weigh('a=>1')", false),
    ("SELECT weigh('a=>1', 1)", false),
    ("SELECT weigh('a=>1' COLLATE \"C\")", false),
    ("SELECT weigh(NULL)", false),
    ("SELECT weigh($1)", false),
    ("SELECT weigh(id), weigh('a=>1') FROM users", false),
    ("SELECT weigh(same('a=>1'))", false),
    ("SELECT 'a=>1' >>> 'b=>1'", false),
    ("SELECT name >>> 'b=>1' FROM users", false),
    ("SELECT name >>> ANY (ARRAY[]::hstore[]) FROM users", false),
    // A value of the type, wherever it is from.
    ("SELECT weigh(bag) FROM bags", false),
    ("SELECT weigh(b.bag) FROM bags b", false),
    ("SELECT weigh(more) FROM bags", false),
    ("SELECT weigh(several[1]) FROM bags", false),
    ("SELECT weigh(unnest(several)) FROM bags", false),
    ("SELECT weigh((b).bag) FROM bags b", false),
    ("SELECT weigh(s.x) FROM (SELECT bag AS x FROM bags) s", false),
    ("WITH s(x) AS (SELECT bag FROM bags) SELECT weigh(x) FROM s", false),
    ("SELECT weigh(max) FROM (SELECT (array_agg(bag))[1] AS max FROM bags) s", false),
    ("SELECT weigh(id::text::hstore) FROM users", false),
    ("SELECT weigh(name::tags) FROM users", false),
    ("SELECT weigh(hstore 'a=>1')", false),
    ("SELECT weigh(hstore('a', 'b'))", false),
    ("SELECT weigh(gives(1))", false),
    ("SELECT weigh(same(gives(1)))", false),
    ("SELECT weigh((NULL::bags).bag)", false),
    ("SELECT weigh(j.bag) FROM jsonb_populate_record(NULL::bags, '{}') j", false),
    ("SELECT weigh(j.x) FROM json_to_record('{}') AS j(x hstore)", false),
    ("SELECT bag >>> bag FROM bags", false),
    ("SELECT id FROM heavy", false),
    // Behind the body of a function, where a name means more than it does outside.
    ("SELECT through(bag) FROM bags", false),
    ("SELECT through('a=>1')", false),
    ("SELECT weigh(id), through(NULL) FROM users", false),
    ("SELECT through_two(name) FROM users", false),
    // Rows become of any type of rows.
    ("SELECT weigh(ROW(1, 2))", false),
    ("SELECT weigh((1, 2))", false),
    ("SELECT weigh(s) FROM (SELECT 1, 2) s", false),
    ("SELECT weigh(s.*) FROM (SELECT 1, 2) s", false),
    ("WITH s AS (SELECT 1, 2) SELECT weigh(s) FROM s", false),
    ("SELECT weigh(g) FROM generate_series(1, 2) g", false),
    ("SELECT weigh(p) FROM pairs", false),
    ("SELECT (s).weigh FROM (SELECT p FROM pairs) q(s)", false),
    // A row of an heir, or of a table of the type, is such a row too.
    ("SELECT of_kept(heir) FROM heir", false),
    ("SELECT of_lone(made) FROM made", false),
    // What need not be given, or may be given many times.
    ("SELECT with_default(1)", false),
    ("SELECT weigh(with_default(1))", false),
    ("SELECT many(1)", false),
];

#[tokio::test(flavor = "multi_thread")]
async fn an_overload_counts_where_something_can_be_given_to_it() {
    judged_as(SETUP, ROWS).await;
    // The oldest is among them, since the catalogue is asked in words that it must know.
    assert!(SERVERS.contains(&OLDEST));
}

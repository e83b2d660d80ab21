//! Whatever makes JSON of a value runs a cast to `json` that somebody defined for its type.

use crate::support::judged_as;

/// A value of `money2` becomes JSON by code that nobody can look into, one of `calm` by none.
const SETUP: &str = "
CREATE TYPE money2 AS ENUM ('low', 'high');
CREATE TYPE calm AS ENUM ('yes', 'no');
CREATE FUNCTION spill(money2) RETURNS json LANGUAGE plpgsql AS 'BEGIN RETURN ''1''; END';
CREATE CAST (money2 AS json) WITH FUNCTION spill(money2);
CREATE TABLE prices (id integer, cur money2);
CREATE TABLE moods (id integer, mood calm);
INSERT INTO prices VALUES (1, 'low');
INSERT INTO moods VALUES (1, 'yes');
";

const ROWS: &[(&str, bool)] = &[
    ("SELECT to_json(cur) FROM prices", false),
    ("SELECT to_jsonb(cur) FROM prices", false),
    ("SELECT row_to_json(p) FROM prices p", false),
    ("SELECT json_agg(p) FROM prices p", false),
    ("SELECT jsonb_build_object('c', cur) FROM prices", false),
    ("SELECT to_json(x) FROM unnest(enum_range(NULL::money2)) x", false),
    ("EXPLAIN ANALYZE SELECT to_json(cur) FROM prices", false),
    ("SELECT cur::json FROM prices", false),
    ("SELECT to_json(mood), row_to_json(m) FROM moods m", true),
    ("SELECT to_jsonb(u) FROM users u", true),
    ("SELECT id FROM moods", true),
];

#[tokio::test(flavor = "multi_thread")]
async fn json_is_made_by_no_code_that_nobody_judged() {
    judged_as(SETUP, ROWS).await;
}

-- Types that values of the statement may have, and what a value of them may run.
-- $1 schemas and $2 names of the types that are named; $3 row types of relations; $4 names of functions and
-- $5 of operators that are called, whose results have types too; $6 types that are known already.
WITH RECURSIVE path AS (
  SELECT s.name, s.place FROM unnest(current_schemas(true)::text[]) WITH ORDINALITY AS s (name, place)
),
named AS (
  SELECT i.place, t.oid
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS i (schema, name, place)
  CROSS JOIN LATERAL (
    SELECT y.oid
    FROM pg_catalog.pg_type AS y
    JOIN pg_catalog.pg_namespace AS n ON n.oid = y.typnamespace
    LEFT JOIN path ON path.name = n.nspname::text
    WHERE y.typname = i.name
      AND CASE
        WHEN i.schema IS NULL THEN path.place IS NOT NULL
        WHEN i.schema = 'pg_temp' THEN n.oid = pg_catalog.pg_my_temp_schema()
        ELSE n.nspname = i.schema
      END
    ORDER BY path.place
    LIMIT 1
  ) AS t
),
reached (oid, named) AS (
  SELECT named.oid, true FROM named
  UNION
  SELECT r.oid, false FROM unnest($3::oid[] || $6::oid[]) AS r (oid)
  UNION
  SELECT t.oid, false
  FROM pg_catalog.pg_proc AS p
  CROSS JOIN LATERAL unnest(p.prorettype || coalesce(p.proallargtypes, p.proargtypes::oid[])) AS t (oid)
  WHERE p.oid >= 16384 AND p.proname = ANY ($4::text[])
  UNION
  SELECT o.oprresult, false
  FROM pg_catalog.pg_operator AS o
  WHERE o.oid >= 16384 AND o.oprname = ANY ($5::text[])
  UNION
  SELECT k.casttarget, false
  FROM pg_catalog.pg_cast AS k
  WHERE k.oid >= 16384 AND k.castcontext = 'i' AND k.castsource < 16384
  UNION
  SELECT next.oid, reached.named
  FROM reached
  JOIN pg_catalog.pg_type AS t ON t.oid = reached.oid
  CROSS JOIN LATERAL (
    SELECT t.typelem WHERE t.typelem <> 0
    UNION ALL
    SELECT t.typbasetype WHERE t.typbasetype <> 0
    UNION ALL
    SELECT a.atttypid
    FROM pg_catalog.pg_attribute AS a
    WHERE t.typtype = 'c' AND t.oid >= 16384
      AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT r.rngsubtype
    FROM pg_catalog.pg_range AS r
    WHERE r.rngtypid = t.oid OR (to_jsonb(r) ->> 'rngmultitypid')::oid = t.oid
    UNION ALL
    SELECT k.casttarget
    FROM pg_catalog.pg_cast AS k
    WHERE k.oid >= 16384 AND k.castcontext = 'i' AND k.castsource = t.oid
  ) AS next (oid)
  WHERE t.oid >= 16384
)
SELECT
  (SELECT min(n.place) FROM named AS n WHERE n.oid = t.oid)::int4 AS place,
  coalesce((SELECT array_agg(n.place::int4) FROM named AS n WHERE n.oid = t.oid), ARRAY[]::int4[]) AS places,
  t.oid AS oid,
  s.nspname::text AS schema,
  t.typname::text AS name,
  r.named AS named,
  coalesce((
    SELECT array_agg(f.oid)
    FROM unnest(ARRAY[
      CASE WHEN r.named THEN t.typinput::oid END,
      CASE WHEN r.named THEN t.typmodin::oid END,
      t.typoutput::oid,
      t.typsend::oid,
      (SELECT g.rngcanonical::oid FROM pg_catalog.pg_range AS g WHERE g.rngtypid = t.oid)
    ]) AS f (oid)
    WHERE f.oid >= 16384
  ), ARRAY[]::oid[]) AS routines,
  coalesce((
    SELECT array_agg(pg_catalog.pg_get_expr(c.conbin, 0) ORDER BY c.oid)
    FROM pg_catalog.pg_constraint AS c
    WHERE c.contypid = t.oid AND c.contype = 'c' AND t.oid >= 16384 AND c.conbin IS NOT NULL
  ), ARRAY[]::text[]) AS checks
FROM (SELECT reached.oid, bool_or(reached.named) AS named FROM reached GROUP BY reached.oid) AS r
JOIN pg_catalog.pg_type AS t ON t.oid = r.oid
JOIN pg_catalog.pg_namespace AS s ON s.oid = t.typnamespace
ORDER BY t.oid

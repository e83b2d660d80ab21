-- Types that values of the statement may have, and what a value of them may run.
-- $1 schemas and $2 names of the types that are named; $3 row types of relations; $4 names of functions that
-- are called, whose results have types too, $5 which of their arguments have none, a bit each; $6 and $7 the
-- same of operators; $8 types that are known already, $9 those of them that values have.
-- A value comes from a column, a cast or a function. A function that must be given a value of the type that it
-- returns makes none by itself, unless what it is given there has no type.
WITH RECURSIVE path AS (
  SELECT s.name, s.place FROM unnest(
    current_setting('dbagent.schemas')::text[] || pg_catalog.pg_my_temp_schema()::regnamespace::text
  ) WITH ORDINALITY AS s (name, place)
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
reached (oid, named, value) AS (
  SELECT named.oid, true, true FROM named
  UNION
  SELECT r.oid, false, true FROM unnest($3::oid[] || $9::oid[]) AS r (oid)
  UNION
  SELECT r.oid, false, false FROM unnest($8::oid[]) AS r (oid)
  UNION
  SELECT
    t.oid,
    false,
    y.typtype NOT IN ('b', 'c') OR NOT EXISTS (
      SELECT
      FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a (oid, place)
      WHERE a.oid = t.oid AND a.place <= p.pronargs - p.pronargdefaults
        AND (c.untyped >> least(a.place - 1, 63)::int4) & 1 = 0
    )
  FROM unnest($4::text[], $5::int8[]) AS c (name, untyped)
  JOIN pg_catalog.pg_proc AS p ON p.proname = c.name AND p.oid >= 16384
  CROSS JOIN LATERAL unnest(p.prorettype || coalesce(p.proallargtypes, p.proargtypes::oid[])) AS t (oid)
  JOIN pg_catalog.pg_type AS y ON y.oid = t.oid
  UNION
  SELECT
    o.oprresult,
    false,
    NOT (o.oprresult = o.oprleft AND c.untyped & 1 = 0 OR o.oprresult = o.oprright AND c.untyped & 2 = 0)
  FROM unnest($6::text[], $7::int8[]) AS c (name, untyped)
  JOIN pg_catalog.pg_operator AS o ON o.oprname = c.name AND o.oid >= 16384
  UNION
  SELECT k.casttarget, false, true
  FROM pg_catalog.pg_cast AS k
  WHERE k.oid >= 16384 AND k.castcontext = 'i' AND k.castsource < 16384
  UNION
  SELECT next.oid, reached.named, reached.value
  FROM reached
  JOIN pg_catalog.pg_type AS t ON t.oid = reached.oid
  CROSS JOIN LATERAL (
    SELECT t.typelem WHERE t.typelem <> 0
    UNION ALL
    SELECT t.typbasetype WHERE t.typbasetype <> 0
    UNION ALL
    SELECT a.atttypid
    FROM pg_catalog.pg_attribute AS a
    WHERE t.typtype = 'c' AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT r.rngsubtype
    FROM pg_catalog.pg_range AS r
    WHERE r.rngtypid = t.oid OR (to_jsonb(r) ->> 'rngmultitypid')::oid = t.oid
    UNION ALL
    SELECT k.casttarget
    FROM pg_catalog.pg_cast AS k
    WHERE k.oid >= 16384 AND k.castcontext = 'i' AND k.castsource = t.oid AND t.oid >= 16384
  ) AS next (oid)
  -- Casting to an array, a row or a domain casts to what is in it, also where the type is Postgres' own.
  WHERE t.oid >= 16384 OR reached.named
)
SELECT
  (SELECT min(n.place) FROM named AS n WHERE n.oid = t.oid)::int4 AS place,
  coalesce((SELECT array_agg(n.place::int4) FROM named AS n WHERE n.oid = t.oid), ARRAY[]::int4[]) AS places,
  t.oid AS oid,
  s.nspname::text AS schema,
  t.typname::text AS name,
  r.named AS named,
  r.value AS value,
  coalesce((
    SELECT array_agg(f.oid)
    FROM unnest(ARRAY[
      CASE WHEN r.named THEN t.typinput::oid END,
      CASE WHEN r.named THEN t.typmodin::oid END,
      t.typoutput::oid,
      t.typsend::oid,
      (SELECT g.rngcanonical::oid FROM pg_catalog.pg_range AS g WHERE g.rngtypid = t.oid),
      -- The planner asks it how far apart two bounds are.
      (SELECT g.rngsubdiff::oid FROM pg_catalog.pg_range AS g WHERE g.rngtypid = t.oid)
    ]) AS f (oid)
    WHERE f.oid >= 16384
  ), ARRAY[]::oid[]) AS routines,
  coalesce((
    SELECT array_agg(pg_catalog.pg_get_expr(c.conbin, 0) ORDER BY c.oid)
    FROM pg_catalog.pg_constraint AS c
    WHERE c.contypid = t.oid AND c.contype = 'c' AND t.oid >= 16384 AND c.conbin IS NOT NULL
  ), ARRAY[]::text[]) AS checks
FROM (
  SELECT reached.oid, bool_or(reached.named) AS named, bool_or(reached.value) AS value
  FROM reached
  GROUP BY reached.oid
) AS r
JOIN pg_catalog.pg_type AS t ON t.oid = r.oid
JOIN pg_catalog.pg_namespace AS s ON s.oid = t.typnamespace
ORDER BY t.oid

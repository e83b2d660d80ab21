-- Which functions of users may run behind these names.
-- $1 schemas and $2 names of functions; $3 schemas and $4 names of operators; $5 names that stand behind a
-- dot, $6 whether what is before it is a row; $7 types that values of the statement may have; $8 types that
-- something is cast to; $9 types of users that values have; $10 and $11 which arguments of each function and
-- operator may have no type, a bit each.
-- What must be given a value of a type that no value has is strange: it is not what is called.
WITH fits AS (
  SELECT t.oid
  FROM pg_catalog.pg_type AS t
  WHERE t.oid < 16384 OR t.oid = ANY ($7::oid[]) OR t.typelem = ANY ($7::oid[]) OR t.typcategory = 'S'
),
strange AS (
  SELECT t.oid
  FROM pg_catalog.pg_type AS t
  LEFT JOIN pg_catalog.pg_type AS e ON e.oid = t.typelem AND t.typcategory = 'A'
  WHERE t.oid >= 16384 AND t.typcategory <> 'S' AND t.oid <> ALL ($9::oid[])
    -- A row of a table is also one of what the table inherits from, and of the type that it was made of.
    AND (t.typtype = 'b' OR t.typtype = 'c' AND EXISTS (
      SELECT FROM pg_catalog.pg_class AS c WHERE c.oid = t.typrelid AND c.relkind = 'c'
    ) AND NOT EXISTS (SELECT FROM pg_catalog.pg_class AS c WHERE c.reloftype = t.oid))
    -- An array is made of values.
    AND (e.oid IS NULL
      OR (e.oid >= 16384 AND e.typtype = 'b' AND e.typcategory <> 'S' AND e.oid <> ALL ($9::oid[])))
),
path AS (
  SELECT n.oid
  FROM pg_catalog.pg_namespace AS n
  WHERE n.nspname::text = ANY (current_setting('dbagent.schemas')::text[])
    OR n.oid = pg_catalog.pg_my_temp_schema()
)
SELECT
  'function'::text AS kind,
  i.place::int4 AS place,
  p.oid AS oid,
  p.provariadic = 0 AND EXISTS (
    SELECT
    FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a (oid, place)
    WHERE a.oid IN (SELECT strange.oid FROM strange)
      AND a.place <= p.pronargs - p.pronargdefaults
      AND (i.untyped >> least(a.place - 1, 63)::int4) & 1 = 0
  ) AS strange
FROM unnest($1::text[], $2::text[], $10::int8[]) WITH ORDINALITY AS i (schema, name, untyped, place)
JOIN pg_catalog.pg_proc AS p ON p.proname = i.name AND p.oid >= 16384
JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
WHERE CASE
    WHEN i.schema IS NULL THEN n.oid IN (SELECT path.oid FROM path)
    WHEN i.schema = 'pg_temp' THEN n.oid = pg_catalog.pg_my_temp_schema()
    ELSE n.nspname = i.schema
  END
  AND (
    coalesce(i.schema, 'pg_catalog') <> 'pg_catalog'
    OR p.provariadic <> 0
    OR p.pronargdefaults > 0
    -- Postgres' own function of as many arguments is the better match, unless a value has the user's type.
    OR NOT EXISTS (
      SELECT FROM pg_catalog.pg_proc AS b
      WHERE b.proname = p.proname AND b.oid < 16384 AND b.pronargs = p.pronargs
        AND b.pronamespace = 'pg_catalog'::regnamespace
    )
    OR NOT EXISTS (
      SELECT FROM unnest(p.proargtypes::oid[]) AS a (oid) WHERE a.oid NOT IN (SELECT fits.oid FROM fits)
    )
  )
UNION
SELECT
  'operator',
  i.place::int4,
  f.oid,
  (i.untyped & 1 = 0 AND o.oprleft IN (SELECT strange.oid FROM strange))
    OR (i.untyped & 2 = 0 AND o.oprright IN (SELECT strange.oid FROM strange))
FROM unnest($3::text[], $4::text[], $11::int8[]) WITH ORDINALITY AS i (schema, name, untyped, place)
JOIN pg_catalog.pg_operator AS o ON o.oprname = i.name AND o.oid >= 16384
JOIN pg_catalog.pg_namespace AS n ON n.oid = o.oprnamespace
LEFT JOIN pg_catalog.pg_operator AS c ON c.oid = o.oprcom
LEFT JOIN pg_catalog.pg_operator AS g ON g.oid = o.oprnegate
CROSS JOIN LATERAL (VALUES (o.oprcode::oid), (c.oprcode::oid), (g.oprcode::oid)) AS f (oid)
WHERE CASE
    WHEN i.schema IS NULL THEN n.oid IN (SELECT path.oid FROM path)
    WHEN i.schema = 'pg_temp' THEN n.oid = pg_catalog.pg_my_temp_schema()
    ELSE n.nspname = i.schema
  END
  AND f.oid <> 0
  AND (o.oprleft = 0 OR i.untyped & 1 <> 0 OR o.oprleft IN (SELECT fits.oid FROM fits))
  AND (o.oprright = 0 OR i.untyped & 2 <> 0 OR o.oprright IN (SELECT fits.oid FROM fits))
  -- Where only some uses may have operands without a type, one of the two has one.
  AND (
    i.untyped = 3 OR o.oprleft = 0 OR o.oprleft IN (SELECT fits.oid FROM fits)
    OR o.oprright IN (SELECT fits.oid FROM fits)
  )
UNION
SELECT 'dotted', i.place::int4, p.oid, false
FROM unnest($5::text[], $6::bool[]) WITH ORDINALITY AS i (name, is_row, place)
JOIN pg_catalog.pg_proc AS p ON p.proname = i.name AND p.oid >= 16384
JOIN pg_catalog.pg_type AS t ON t.oid = p.proargtypes[0]
WHERE p.pronamespace IN (SELECT path.oid FROM path)
  AND p.prokind IN ('f', 'a')
  AND p.pronargs - p.pronargdefaults <= 1
  AND (NOT i.is_row OR t.oid >= 16384 OR t.typtype IN ('c', 'p'))
UNION
SELECT 'cast', 0, k.castfunc, k.castsource IN (SELECT strange.oid FROM strange)
FROM pg_catalog.pg_cast AS k
WHERE k.oid >= 16384 AND k.castfunc <> 0
  AND k.castsource IN (SELECT fits.oid FROM fits)
  AND (
    k.casttarget = ANY ($8::oid[])
    -- to_json and everything that makes JSON look for a cast to json (114) and run it, quote_literal and its like
    -- one to text (25); which do is not asked.
    OR k.casttarget IN (25, 114)
    OR (k.castcontext IN ('i', 'a') AND k.casttarget IN (SELECT fits.oid FROM fits))
  )
ORDER BY 1, 2, 3, 4

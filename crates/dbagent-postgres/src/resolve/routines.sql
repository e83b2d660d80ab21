-- Which functions of users may run behind these names.
-- $1 schemas and $2 names of functions; $3 schemas and $4 names of operators; $5 names that stand behind a
-- dot, $6 whether what is before it is a row; $7 types that values of the statement may have; $8 types that
-- something is cast to.
WITH fits AS (
  SELECT t.oid
  FROM pg_catalog.pg_type AS t
  WHERE t.oid < 16384 OR t.oid = ANY ($7::oid[]) OR t.typelem = ANY ($7::oid[]) OR t.typcategory = 'S'
),
path AS (
  SELECT n.oid
  FROM pg_catalog.pg_namespace AS n
  WHERE n.nspname::text = ANY (current_schemas(true)::text[])
)
SELECT 'function'::text AS kind, i.place::int4 AS place, p.oid AS oid
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS i (schema, name, place)
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
SELECT 'operator', i.place::int4, f.oid
FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS i (schema, name, place)
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
  AND (o.oprleft = 0 OR o.oprleft IN (SELECT fits.oid FROM fits))
  AND (o.oprright = 0 OR o.oprright IN (SELECT fits.oid FROM fits))
UNION
SELECT 'dotted', i.place::int4, p.oid
FROM unnest($5::text[], $6::bool[]) WITH ORDINALITY AS i (name, is_row, place)
JOIN pg_catalog.pg_proc AS p ON p.proname = i.name AND p.oid >= 16384
JOIN pg_catalog.pg_type AS t ON t.oid = p.proargtypes[0]
WHERE p.pronamespace IN (SELECT path.oid FROM path)
  AND p.prokind IN ('f', 'a')
  AND p.pronargs - p.pronargdefaults <= 1
  AND (NOT i.is_row OR t.oid >= 16384 OR t.typtype = 'p')
UNION
SELECT 'cast', 0, k.castfunc
FROM pg_catalog.pg_cast AS k
WHERE k.oid >= 16384 AND k.castfunc <> 0
  AND k.castsource IN (SELECT fits.oid FROM fits)
  AND (
    k.casttarget = ANY ($8::oid[])
    OR (k.castcontext IN ('i', 'a') AND k.casttarget IN (SELECT fits.oid FROM fits))
  )
ORDER BY 1, 2, 3

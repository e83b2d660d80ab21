-- What these functions are, and whose rows they take. $1 their oids.
SELECT
  p.oid AS oid,
  n.nspname::text AS schema,
  p.proname::text AS name,
  p.prokind::text AS kind,
  p.provolatile::text AS volatility,
  p.prosecdef AS definer,
  p.proconfig IS NOT NULL AS configured,
  l.lanname::text AS language,
  p.prosrc AS source,
  p.pronargs::int4 AS arguments,
  (
    SELECT e.extname::text
    FROM pg_catalog.pg_depend AS d
    JOIN pg_catalog.pg_extension AS e ON e.oid = d.refobjid
    WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = p.oid
      AND d.refclassid = 'pg_catalog.pg_extension'::regclass AND d.deptype = 'e'
    LIMIT 1
  ) AS extension,
  CASE
    WHEN l.lanname = 'sql' AND p.prokind = 'f' AND p.oid >= 16384 THEN pg_catalog.pg_get_functiondef(p.oid)
  END AS definition,
  coalesce((
    SELECT array_agg(f.oid)
    FROM pg_catalog.pg_aggregate AS a
    CROSS JOIN LATERAL unnest(ARRAY[
      a.aggtransfn::oid, a.aggfinalfn::oid, a.aggcombinefn::oid, a.aggserialfn::oid, a.aggdeserialfn::oid,
      a.aggmtransfn::oid, a.aggminvtransfn::oid, a.aggmfinalfn::oid
    ]) AS f (oid)
    WHERE a.aggfnoid = p.oid AND f.oid <> 0
  ), ARRAY[]::oid[]) AS parts,
  CASE WHEN l.lanname = 'sql' THEN ARRAY(SELECT unnest(p.proargtypes::oid[])) ELSE ARRAY[]::oid[] END AS parameters,
  (SELECT w.nspname::text FROM pg_catalog.pg_namespace AS w WHERE w.oid = r.relnamespace) AS row_schema,
  r.relname::text AS row_name,
  coalesce(t.typtype = 'p', false) AS any_row
FROM pg_catalog.pg_proc AS p
JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
LEFT JOIN pg_catalog.pg_type AS t ON t.oid = p.proargtypes[0]
LEFT JOIN pg_catalog.pg_class AS r ON r.oid = t.typrelid AND r.relkind <> 'c'
WHERE p.oid = ANY ($1::oid[])
ORDER BY p.oid

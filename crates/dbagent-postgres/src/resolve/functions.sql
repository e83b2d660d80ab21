-- What these functions are. $1 their oids.
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
  ), ARRAY[]::oid[]) AS parts
FROM pg_catalog.pg_proc AS p
JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
WHERE p.oid = ANY ($1::oid[])
ORDER BY p.oid

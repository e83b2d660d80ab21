-- What relations of these names are: the first that the search path finds, or the one in the named schema.
-- $1 schemas, NULL where none is named; $2 names; $3 whether policies count only where they apply to this
-- account (below a view they apply to its owner).
WITH path AS (
  SELECT s.name, s.place FROM unnest(
    current_setting('dbagent.schemas')::text[] || pg_catalog.pg_my_temp_schema()::regnamespace::text
  ) WITH ORDINALITY AS s (name, place)
)
SELECT
  i.place::int4 AS place,
  c.oid AS oid,
  c.schema AS schema,
  c.relname::text AS name,
  c.relkind::text AS kind,
  c.reltype AS row_type,
  coalesce((
    SELECT array_agg(a.attname::text ORDER BY a.attnum)
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = c.oid AND NOT a.attisdropped
  ), ARRAY[]::text[]) AS columns,
  coalesce((
    SELECT array_agg(a.attname::text ORDER BY a.attnum)
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = c.oid AND NOT a.attisdropped AND a.attgenerated <> ''
  ), ARRAY[]::text[]) AS generated,
  coalesce((
    SELECT array_agg(coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid), '') ORDER BY a.attnum)
    FROM pg_catalog.pg_attribute AS a
    LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attrelid = c.oid AND NOT a.attisdropped AND a.attgenerated <> ''
  ), ARRAY[]::text[]) AS computed,
  CASE WHEN c.relkind IN ('v', 'm') AND c.oid >= 16384 THEN pg_catalog.pg_get_viewdef(c.oid) END AS definition,
  coalesce((
    SELECT array_agg(pg_catalog.pg_get_expr(p.polqual, p.polrelid) ORDER BY p.oid)
    FROM pg_catalog.pg_policy AS p
    WHERE p.polrelid = c.oid AND p.polcmd IN ('r', '*') AND p.polqual IS NOT NULL
      AND c.relrowsecurity AND (NOT $3 OR pg_catalog.row_security_active(c.oid))
  ), ARRAY[]::text[]) AS policies,
  -- Its own server, or that of a partition or a child, which is read with it.
  (
    WITH RECURSIVE below (oid) AS (
      SELECT c.oid
      UNION
      SELECT h.inhrelid FROM below JOIN pg_catalog.pg_inherits AS h ON h.inhparent = below.oid
    )
    SELECT s.srvname::text
    FROM below
    JOIN pg_catalog.pg_foreign_table AS f ON f.ftrelid = below.oid
    JOIN pg_catalog.pg_foreign_server AS s ON s.oid = f.ftserver
    ORDER BY s.srvname
    LIMIT 1
  ) AS server,
  -- Partitions and children, and what it is a partition or a child of: schema, name, and again
  coalesce((
    WITH RECURSIVE below (oid) AS (
      SELECT h.inhrelid FROM pg_catalog.pg_inherits AS h WHERE h.inhparent = c.oid
      UNION
      SELECT h.inhrelid FROM below JOIN pg_catalog.pg_inherits AS h ON h.inhparent = below.oid
    ),
    above (oid) AS (
      SELECT h.inhparent FROM pg_catalog.pg_inherits AS h WHERE h.inhrelid = c.oid
      UNION
      SELECT h.inhparent FROM above JOIN pg_catalog.pg_inherits AS h ON h.inhrelid = above.oid
    )
    SELECT array_agg(p.part ORDER BY k.oid, p.place)
    FROM (SELECT below.oid FROM below UNION SELECT above.oid FROM above) AS r
    JOIN pg_catalog.pg_class AS k ON k.oid = r.oid
    JOIN pg_catalog.pg_namespace AS n ON n.oid = k.relnamespace
    CROSS JOIN LATERAL (VALUES (1, n.nspname::text), (2, k.relname::text)) AS p (place, part)
  ), ARRAY[]::text[]) AS kin
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS i (schema, name, place)
CROSS JOIN LATERAL (
  SELECT r.oid, r.relname, r.relkind, r.reltype, r.relrowsecurity, n.nspname::text AS schema
  FROM pg_catalog.pg_class AS r
  JOIN pg_catalog.pg_namespace AS n ON n.oid = r.relnamespace
  LEFT JOIN path ON path.name = n.nspname::text
  WHERE r.relname = i.name AND r.relkind IN ('r', 'v', 'm', 'f', 'p', 'S', 't')
    AND CASE
      WHEN i.schema IS NULL THEN path.place IS NOT NULL
      WHEN i.schema = 'pg_temp' THEN n.oid = pg_catalog.pg_my_temp_schema()
      ELSE n.nspname = i.schema
    END
  ORDER BY path.place
  LIMIT 1
) AS c
ORDER BY i.place

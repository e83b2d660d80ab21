-- What the rows of extensions.jsonl assume beside setup.sql, on a server that has PostGIS and pgvector.
CREATE EXTENSION postgis;
CREATE EXTENSION postgis_raster;
CREATE EXTENSION postgis_sfcgal;
CREATE EXTENSION postgis_topology;
CREATE EXTENSION vector;
CREATE TABLE places (
  id integer PRIMARY KEY, name text, at geometry(Point, 4326), area geometry(Polygon, 4326),
  spot geography(Point, 4326)
);
INSERT INTO places (id, name, at, area, spot) VALUES
  (1, 'one', 'SRID=4326;POINT(9 48)', 'SRID=4326;POLYGON((8 47,10 47,10 49,8 49,8 47))', 'POINT(9 48)'),
  (2, 'two', 'SRID=4326;POINT(9.1 48.1)', NULL, 'POINT(9.1 48.1)'),
  (3, 'three', NULL, NULL, NULL);
CREATE INDEX ON places USING gist (at);
CREATE TABLE scenes (id integer PRIMARY KEY, cell raster);
INSERT INTO scenes VALUES (1, ST_MakeEmptyRaster(2, 2, 8, 49, 1, -1, 0, 0, 4326)), (2, NULL);
CREATE TABLE items (
  id integer PRIMARY KEY, embedding vector(3), half halfvec(3), sparse sparsevec(5), bits bit(3)
);
INSERT INTO items VALUES
  (1, '[1,2,3]', '[1,2,3]', '{1:1,3:2.5}/5', '101'), (2, '[4,5,6]', '[4,5,6]', '{}/5', '011'), (3, NULL, NULL, NULL, NULL);
CREATE INDEX ON items USING hnsw (embedding vector_l2_ops);
CREATE VIEW near AS SELECT name, ST_Distance(spot, 'POINT(9 48)'::geography) AS metres FROM places
  WHERE ST_DWithin(spot, 'POINT(9 48)'::geography, 20000);
CREATE FUNCTION area_of(geometry) RETURNS double precision LANGUAGE sql STABLE AS 'SELECT ST_Area($1::geography)';
CREATE FUNCTION sly(bytea) RETURNS void LANGUAGE sql STABLE AS 'SELECT ST_FromFlatGeobufToTable(''public'', ''sly'', $1)';
CREATE FUNCTION warped(taken raster) RETURNS geometry LANGUAGE sql STABLE AS 'SELECT ST_Envelope(ST_Transform(taken, 3857))';
CREATE VIEW behind_view AS SELECT name FROM places CROSS JOIN scenes WHERE ST_Transform(cell, 3857) IS NULL;

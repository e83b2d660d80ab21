-- Everything by which a statement can call code of users, harmless and not.
CREATE SEQUENCE touched;

CREATE FUNCTION nuke() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('public.touched'); RETURN 1; END $$;
CREATE FUNCTION liar() RETURNS integer LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM public.nuke(); RETURN 1; END $$;
CREATE FUNCTION nuke_text(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM public.nuke(); RETURN $1; END $$;
CREATE FUNCTION nuke_bool(integer) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM public.nuke(); RETURN true; END $$;
CREATE FUNCTION nuke_pair(integer, integer) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RETURN public.nuke(); END $$;

-- Bodies that can be looked into.
CREATE FUNCTION sql_read(integer) RETURNS text LANGUAGE sql AS 'SELECT name FROM public.users WHERE id = $1';
CREATE FUNCTION sql_atomic(i integer) RETURNS text LANGUAGE sql BEGIN ATOMIC SELECT name FROM public.users WHERE id = i; END;
CREATE FUNCTION sql_return(i integer) RETURNS integer LANGUAGE sql RETURN i + 1;
CREATE FUNCTION sql_two(integer) RETURNS text LANGUAGE sql AS 'SELECT 1; SELECT public.sql_read($1)';
CREATE FUNCTION sql_writes(integer) RETURNS integer LANGUAGE sql AS 'INSERT INTO public.users (id) VALUES ($1) RETURNING id';
CREATE FUNCTION sql_writes_first(integer) RETURNS integer LANGUAGE sql AS 'DELETE FROM public.users; SELECT 1';
CREATE FUNCTION sql_atomic_writes(i integer) RETURNS integer LANGUAGE sql BEGIN ATOMIC INSERT INTO public.users (id) VALUES (i) RETURNING id; END;
CREATE FUNCTION sql_calls_nuke() RETURNS integer LANGUAGE sql STABLE AS 'SELECT public.nuke()';
CREATE FUNCTION sql_atomic_nuke() RETURNS integer LANGUAGE sql STABLE RETURN public.nuke();
CREATE FUNCTION sql_definer() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM public.users';
CREATE FUNCTION sql_configured() RETURNS bigint LANGUAGE sql SET search_path = public AS 'SELECT count(*) FROM users';
CREATE FUNCTION sql_default(i integer DEFAULT public.nuke()) RETURNS integer LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION sql_file() RETURNS text LANGUAGE sql AS 'SELECT pg_catalog.pg_read_file(''/etc/hostname'')';
CREATE FUNCTION sql_void() RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION sql_self(i integer) RETURNS integer LANGUAGE sql AS 'SELECT CASE WHEN i > 0 THEN public.sql_self(i - 1) ELSE 0 END';

-- A tower: sql_1 calls sql_0, and so on.
CREATE FUNCTION sql_0() RETURNS integer LANGUAGE sql AS 'SELECT 1';
DO $$ BEGIN FOR i IN 1..12 LOOP
  EXECUTE format('CREATE FUNCTION sql_%s() RETURNS integer LANGUAGE sql AS ''SELECT public.sql_%s()''', i, i - 1);
END LOOP; END $$;

-- Names of Postgres' own.
CREATE FUNCTION abs(text) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RETURN public.nuke(); END $$;
CREATE FUNCTION lower(text, integer) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM public.nuke(); RETURN $1; END $$;
CREATE FUNCTION ts_stat(integer) RETURNS integer LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION "Lower"(text) RETURNS text LANGUAGE sql AS 'SELECT pg_catalog.lower($1)';
CREATE FUNCTION "a.b"(integer) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RETURN public.nuke(); END $$;

-- What looks like a column.
CREATE FUNCTION full_name(users) RETURNS text LANGUAGE sql STABLE AS 'SELECT $1.name || '' '' || $1.email';
CREATE FUNCTION shadow(users) RETURNS text LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM public.nuke(); RETURN ''; END $$;
CREATE FUNCTION shadow_text(text) RETURNS text LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM public.nuke(); RETURN ''; END $$;

-- Operators.
CREATE OPERATOR ### (FUNCTION = nuke_pair, LEFTARG = integer, RIGHTARG = integer);
CREATE OPERATOR !!! (FUNCTION = pg_read_file, RIGHTARG = text);
CREATE FUNCTION twice(integer, integer) RETURNS integer LANGUAGE sql AS 'SELECT $1 + 2 * $2';
CREATE OPERATOR |+| (FUNCTION = twice, LEFTARG = integer, RIGHTARG = integer);
-- The planner may turn an operator around: then the other one runs.
CREATE OPERATOR |<| (FUNCTION = twice, LEFTARG = integer, RIGHTARG = integer, COMMUTATOR = |>|);
CREATE OPERATOR |>| (FUNCTION = nuke_pair, LEFTARG = integer, RIGHTARG = integer, COMMUTATOR = |<|);
CREATE SCHEMA other;
CREATE OPERATOR other.+ (FUNCTION = public.nuke_pair, LEFTARG = integer, RIGHTARG = integer);

-- Types and casts.
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE pair AS (a integer, b text);
CREATE TYPE evil_pair AS (a integer);
CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
CREATE DOMAIN evil AS integer CHECK (public.nuke_bool(VALUE));
CREATE TYPE holds_evil AS (e evil);
CREATE TYPE floats AS RANGE (subtype = float8);
CREATE FUNCTION to_evil_pair(integer) RETURNS evil_pair LANGUAGE plpgsql AS $$ BEGIN PERFORM public.nuke(); RETURN ROW($1); END $$;
CREATE CAST (integer AS evil_pair) WITH FUNCTION to_evil_pair (integer);
CREATE FUNCTION pair_text(pair) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT ($1).b';
CREATE CAST (pair AS text) WITH FUNCTION pair_text (pair);
CREATE FUNCTION evil_pair_plus(evil_pair, evil_pair) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RETURN public.nuke(); END $$;
CREATE OPERATOR + (FUNCTION = evil_pair_plus, LEFTARG = evil_pair, RIGHTARG = evil_pair);
CREATE DOMAIN upper AS text CHECK (public.nuke_bool(1));
CREATE TABLE evil_pairs (id integer, p evil_pair);

-- Aggregates.
CREATE AGGREGATE good_sum (integer) (SFUNC = int4pl, STYPE = integer);
CREATE AGGREGATE evil_sum (integer) (SFUNC = nuke_pair, STYPE = integer);
CREATE FUNCTION keep(integer, integer) RETURNS integer LANGUAGE sql AS 'SELECT $2';
CREATE AGGREGATE sql_last (integer) (SFUNC = keep, STYPE = integer);

-- Relations.
CREATE VIEW v_ok AS SELECT id, name FROM users;
CREATE VIEW v_evil AS SELECT nuke() AS n;
CREATE VIEW v_over_evil AS SELECT n FROM v_evil;
CREATE VIEW v_operator AS SELECT id ### 1 AS n FROM users;
CREATE VIEW v_cast AS SELECT id::evil AS n FROM users;
CREATE VIEW v_function AS SELECT sql_read(id) AS n FROM users;
CREATE VIEW v_deny_column AS SELECT email AS contact FROM users;
CREATE FUNCTION plain() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$;
CREATE MATERIALIZED VIEW m_plain AS SELECT plain() AS n;
CREATE MATERIALIZED VIEW m_evil AS SELECT nuke() AS n WITH NO DATA;
CREATE TABLE secured (id integer, owner text);
ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
ALTER TABLE secured FORCE ROW LEVEL SECURITY;
CREATE POLICY p ON secured USING (owner = current_user);
CREATE TABLE evil_secured (id integer);
ALTER TABLE evil_secured ENABLE ROW LEVEL SECURITY;
ALTER TABLE evil_secured FORCE ROW LEVEL SECURITY;
CREATE POLICY p ON evil_secured USING (nuke_bool(id));
CREATE TABLE computed (id integer, twice integer GENERATED ALWAYS AS (id * 2) STORED);
CREATE TABLE parted (id integer) PARTITION BY LIST (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER elsewhere FOREIGN DATA WRAPPER nothing;
CREATE FOREIGN TABLE far (id integer) SERVER elsewhere;
CREATE TABLE parted_far (id integer) PARTITION BY LIST (id);
CREATE FOREIGN TABLE parted_far_1 PARTITION OF parted_far FOR VALUES IN (1) SERVER elsewhere;
DO $$ BEGIN
  EXECUTE 'CREATE VIEW tower_0 AS SELECT 1 AS x';
  FOR i IN 1..12 LOOP EXECUTE format('CREATE VIEW tower_%s AS SELECT x FROM tower_%s', i, i - 1); END LOOP;
END $$;

-- Casts that run unseen.
CREATE FUNCTION to_bytes(float8) RETURNS bytea LANGUAGE plpgsql AS $$ BEGIN PERFORM public.nuke(); RETURN ''; END $$;
CREATE CAST (float8 AS bytea) WITH FUNCTION to_bytes (float8);
CREATE TYPE shade AS ENUM ('dark', 'light');
CREATE TABLE shades (s shade);
CREATE FUNCTION shade_number(shade) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RETURN public.nuke(); END $$;
CREATE CAST (shade AS integer) WITH FUNCTION shade_number (shade) AS IMPLICIT;

-- Functions of any type, with names, and with any number of arguments.
CREATE FUNCTION any_row(anyelement) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM public.nuke(); RETURN ''; END $$;
CREATE FUNCTION named(a integer, b integer DEFAULT 2) RETURNS integer LANGUAGE sql AS 'SELECT a + b';
CREATE FUNCTION many(VARIADIC integer[]) RETURNS integer LANGUAGE sql AS 'SELECT cardinality($1)';
CREATE FUNCTION rows_of() RETURNS SETOF users LANGUAGE sql STABLE AS 'SELECT * FROM public.users';
CREATE FUNCTION table_of() RETURNS TABLE (a integer, b text) LANGUAGE sql STABLE AS 'SELECT id, name FROM public.users';
CREATE FUNCTION sql_locks() RETURNS integer LANGUAGE sql AS 'SELECT id FROM public.users LIMIT 1 FOR UPDATE';
CREATE FUNCTION sql_sets() RETURNS text LANGUAGE sql AS 'SELECT set_config(''a.b'', ''c'', false)';
CREATE FUNCTION sql_temp() RETURNS void LANGUAGE sql AS 'CREATE TEMP TABLE made (a integer)';
CREATE PROCEDURE proc() LANGUAGE sql AS 'SELECT 1';
CREATE TABLE nested_default (id integer DEFAULT nuke());
CREATE VIEW v_nested AS SELECT (SELECT max(id) FROM users WHERE id < ANY (SELECT nuke())) AS m;
CREATE VIEW v_secret AS SELECT rolname FROM pg_authid;
CREATE VIEW v_window AS SELECT sum(id) OVER (ORDER BY id ROWS nuke() PRECEDING) AS s FROM users;

-- The tables that the rows of the corpora assume, as MariaDB spells them. Statements end with a semicolon at the end of a line.
CREATE TABLE users (id INTEGER PRIMARY KEY, name VARCHAR(200), email VARCHAR(200), `update` TEXT, data JSON, tags JSON, FULLTEXT KEY ft (name, email), KEY by_name (name)) WITH SYSTEM VERSIONING;
CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INTEGER, total DECIMAL(12,2), status VARCHAR(20), created_at TIMESTAMP NULL, KEY by_user (user_id), KEY by_status (status), FOREIGN KEY (user_id) REFERENCES users(id));
CREATE TABLE places (id INTEGER PRIMARY KEY, spot POINT NOT NULL, area GEOMETRY);
CREATE TABLE logs (id INTEGER NOT NULL, at DATETIME NOT NULL, line TEXT, PRIMARY KEY (id)) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (100), PARTITION p1 VALUES LESS THAN MAXVALUE);
CREATE VIEW named AS SELECT id, name FROM users WHERE name IS NOT NULL;
CREATE SEQUENCE s START WITH 1 INCREMENT BY 1 NOCACHE;
INSERT INTO users VALUES (1, 'ann', 'ann@example.org', NULL, '{"a": [1, 2], "delete": true}', '["x", "y"]'), (2, 'bob', NULL, 'u', '{"a": []}', '[]');
INSERT INTO orders VALUES (1, 1, 10.50, 'paid', '2026-01-02 03:04:05'), (2, 1, 99.99, 'open', '2026-02-03 04:05:06'), (3, 2, 0, NULL, NULL);
INSERT INTO logs VALUES (1, '2026-01-01 00:00:00', 'a'), (200, '2026-01-02 00:00:00', 'b');
INSERT INTO places VALUES (1, ST_GeomFromText('POINT(1 2)'), ST_GeomFromText('POLYGON((0 0,0 1,1 1,0 0))'));
CREATE FUNCTION plain(a INTEGER) RETURNS INTEGER DETERMINISTIC NO SQL RETURN a + 1;
CREATE FUNCTION touch(a INTEGER) RETURNS INTEGER MODIFIES SQL DATA BEGIN UPDATE users SET name = 'touched'; RETURN a; END;
CREATE FUNCTION `count`(a INTEGER) RETURNS INTEGER MODIFIES SQL DATA BEGIN UPDATE users SET name = 'touched'; RETURN a; END;
CREATE FUNCTION `rollup`(a INTEGER) RETURNS INTEGER MODIFIES SQL DATA BEGIN UPDATE users SET name = 'touched'; RETURN a; END;
CREATE PROCEDURE do_work() MODIFIES SQL DATA BEGIN UPDATE users SET name = 'touched'; END;

-- The tables that the rows of the corpus assume, in the types that they assume of Postgres.
CREATE TABLE users (id integer PRIMARY KEY, name text, email text, "update" text, data jsonb, tags text[]);
CREATE TABLE orders (id integer PRIMARY KEY, user_id integer REFERENCES users (id), total numeric(12, 2), status text, created_at timestamp);
INSERT INTO users (id, name, email, data, tags) VALUES
  (1, 'Ann', 'ann@x.org', '{"k": 1, "items": [{"qty": 2}]}', '{a,b}'),
  (2, 'Bob', 'bob@x.org', '{"k": 2}', '{}'),
  (3, 'Cem', NULL, '[]', NULL);
INSERT INTO orders (id, user_id, total, status, created_at) VALUES
  (1, 1, 10.5, 'paid', '2024-01-02 10:00:00'),
  (2, 1, 5, 'new', '2024-02-03 11:30:00'),
  (3, 2, 7.25, 'paid', '2024-02-10 09:15:00');

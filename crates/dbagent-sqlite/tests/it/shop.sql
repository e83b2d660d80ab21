-- A small shop with one of everything that SQLite tables can be.
CREATE TABLE customers ( -- people who buy
  id INTEGER PRIMARY KEY, -- the customer's number
  name TEXT NOT NULL,
  -- lower case, unique
  email TEXT UNIQUE,
  country TEXT DEFAULT 'DE' CHECK (country IN ('DE', 'FR', 'IT')),
  joined TEXT
);
CREATE TABLE products (
  sku TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  price REAL,
  attributes TEXT,
  price_with_tax REAL GENERATED ALWAYS AS (round(price * 1.19, 2)) STORED,
  label TEXT AS (sku || ': ' || title)
) WITHOUT ROWID;
CREATE TABLE orders (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  customer_id INTEGER NOT NULL REFERENCES customers,
  placed TEXT NOT NULL,
  status TEXT,
  CHECK (status IN ('new', 'paid', 'sent') AND id > 0)
) STRICT;
CREATE TABLE order_lines (
  order_id INTEGER REFERENCES orders(id) ON DELETE CASCADE,
  line INTEGER,
  sku TEXT REFERENCES products(sku),
  quantity INTEGER,
  PRIMARY KEY (order_id, line)
);
CREATE TABLE returns (order_id INTEGER, line INTEGER, reason BLOB,
  FOREIGN KEY (order_id, line) REFERENCES order_lines (order_id, line));
CREATE TABLE "order details" ("line no" INTEGER, "quo""te" TEXT, größe REAL, "日本" TEXT, [select] TEXT);
CREATE TABLE measurements (taken TEXT, value);
CREATE TABLE tree (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES tree, name TEXT);
CREATE INDEX lines_by_sku ON order_lines (sku, quantity DESC);
CREATE INDEX customers_lower ON customers (lower(name)) WHERE country = 'DE';
CREATE UNIQUE INDEX orders_once ON orders (customer_id, placed);
CREATE VIEW revenue AS
  SELECT c.name AS customer, sum(l.quantity * p.price) AS total
  FROM customers c JOIN orders o ON o.customer_id = c.id JOIN order_lines l ON l.order_id = o.id
  JOIN products p USING (sku) GROUP BY c.id;
CREATE VIEW best(name, money) AS
  WITH ranked AS (SELECT customer, total, rank() OVER (ORDER BY total DESC) AS r FROM revenue)
  SELECT customer, total FROM ranked WHERE r <= 2;
CREATE VIEW numbers AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT i FROM n;
CREATE VIRTUAL TABLE docs USING fts5(title, body);
CREATE VIEW sizes AS SELECT p.sku, j.value FROM products p, json_each(p.attributes, '$.sizes') j;
CREATE VIEW found AS SELECT title FROM docs WHERE docs MATCH 'hello';
CREATE VIEW ranked AS SELECT title, bm25(docs) AS score, snippet(docs, 1, '[', ']', '', 5) AS part FROM docs WHERE docs MATCH 'hello' ORDER BY rank;
CREATE VIEW inside AS SELECT id FROM areas WHERE min_x < 6;
CREATE VIEW roots AS SELECT sqrt(id) AS r FROM customers;
CREATE VIEW quoted AS SELECT "name" FROM "customers" WHERE "country" = "DE";
CREATE VIRTUAL TABLE product_search USING fts5(title, content='products', content_rowid='rowid');
CREATE VIRTUAL TABLE notes USING fts4(subject, text);
CREATE VIRTUAL TABLE words USING fts5vocab(docs, row);
CREATE VIRTUAL TABLE areas USING rtree(id, min_x, max_x, min_y, max_y);
DROP TABLE product_search;
INSERT INTO customers VALUES (1, 'Ann', 'ann@x.org', 'DE', '2023-01-05'), (2, 'Bob', 'bob@x.org', 'FR', '2023-03-01'),
  (3, 'Cem', NULL, 'IT', '2024-02-29'), (4, 'Dörte', 'd@x.org', 'DE', NULL);
INSERT INTO products(sku, title, price, attributes) VALUES ('A1', 'Apple', 0.5, '{"color":"red","sizes":[1,2]}'),
  ('B2', 'Bread', 3.25, '{"color":"brown"}'), ('C3', 'Cheese', 12.0, NULL);
INSERT INTO orders(id, customer_id, placed, status) VALUES (1, 1, '2024-01-02 10:00:00', 'paid'),
  (2, 1, '2024-02-03 11:30:00', 'new'), (3, 2, '2024-02-10 09:15:00', 'sent'), (4, 4, '2024-03-31 23:59:59', NULL);
INSERT INTO order_lines VALUES (1, 1, 'A1', 10), (1, 2, 'B2', 1), (2, 1, 'C3', 2), (3, 1, 'A1', 4), (4, 1, 'B2', 3);
INSERT INTO returns VALUES (1, 2, x'00ff');
INSERT INTO "order details" VALUES (1, 'a', 1.5, 'は', 's');
INSERT INTO measurements VALUES ('2024-01-01', 1), ('2024-01-02', 2.5), ('2024-01-03', 'n/a'), ('2024-01-04', x'01'), ('2024-01-05', NULL);
INSERT INTO tree VALUES (1, NULL, 'root'), (2, 1, 'a'), (3, 1, 'b'), (4, 2, 'a1'), (5, 4, 'a11');
INSERT INTO docs VALUES ('hello world', 'the quick brown fox'), ('second', 'hello again and again');
INSERT INTO notes VALUES ('first note', 'remember the milk'), ('second note', 'milk is done');
INSERT INTO areas VALUES (1, 0, 10, 0, 10), (2, 5, 15, 5, 15);
ANALYZE;

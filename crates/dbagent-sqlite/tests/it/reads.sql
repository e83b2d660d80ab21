SELECT * FROM customers
SELECT COUNT(*) FROM customers
SELECT count(*) AS "rows" FROM "order details"
SELECT "line no", "quo""te", größe, "日本", [select] FROM "order details"
SELECT `line no` FROM `order details` WHERE `select` IS NOT NULL
SELECT DISTINCT country FROM customers ORDER BY country
SELECT country, count(*) AS n FROM customers GROUP BY country HAVING n > 0 ORDER BY n DESC, country
SELECT country, count(*) FROM customers GROUP BY 1 ORDER BY 2 DESC LIMIT 3 OFFSET 0
SELECT country, count(*) FROM customers GROUP BY 1 ORDER BY 2 DESC LIMIT 0, 3
SELECT max(price), min(price), avg(price), sum(price), total(price) FROM products
SELECT round(avg(price), 2) FROM products WHERE price BETWEEN 1 AND 10
SELECT name FROM customers WHERE email IS NULL
SELECT name FROM customers WHERE email IS NOT NULL AND joined ISNULL OR name NOTNULL
SELECT name FROM customers WHERE email IS DISTINCT FROM 'ann@x.org'
SELECT name FROM customers WHERE country IS NOT DISTINCT FROM 'DE'
SELECT name FROM customers WHERE name LIKE 'a%' COLLATE NOCASE
SELECT name FROM customers WHERE name NOT LIKE '%\_%' ESCAPE '\'
SELECT name FROM customers WHERE name GLOB '[A-C]*' AND name NOT GLOB '*z'
SELECT upper(name) || ' <' || ifnull(email, '-') || '>' FROM customers
SELECT coalesce(email, name, 'nobody'), nullif(country, 'DE'), iif(id > 2, 'new', 'old') FROM customers
SELECT length(name), octet_length(name), unicode(name), substr(name, 1, 1), instr(name, 'n') FROM customers
SELECT trim('  x '), ltrim('xxa', 'x'), rtrim('axx', 'x'), replace('abc', 'b', ''), lower('ABC')
SELECT printf('%.2f', price), format('%-10s|', title), quote(title), hex(sku), typeof(price) FROM products
SELECT CAST(price AS INTEGER), CAST('12' AS REAL), CAST(12 AS TEXT), CAST(sku AS BLOB) FROM products
SELECT abs(-1), sign(-2), round(2.567, 1), 7 / 2, 7 % 2, 7.0 / 2, 1 << 4, 255 & 15, 1 | 6, ~0
SELECT random() IS NOT NULL, length(randomblob(8)), zeroblob(4)
SELECT sqrt(16), pow(2, 10), exp(0), ln(1), log10(100), log2(8), floor(1.5), ceil(1.2), pi() > 3, degrees(pi()), mod(7, 4)
SELECT date('now') > '2000-01-01', datetime('2024-01-31', '+1 month'), time('12:00', '-1 hour')
SELECT strftime('%Y', placed) AS year, strftime('%m', placed) AS month, count(*) FROM orders GROUP BY year, month ORDER BY 1, 2
SELECT date(placed, 'start of month'), date(placed, 'weekday 0'), julianday(placed), unixepoch(placed) FROM orders
SELECT CAST((julianday('2024-03-01') - julianday('2024-02-01')) AS INTEGER), timediff('2024-03-01', '2024-02-01')
SELECT CURRENT_DATE <= CURRENT_TIMESTAMP, CURRENT_TIME IS NOT NULL
SELECT CASE country WHEN 'DE' THEN 'Germany' WHEN 'FR' THEN 'France' ELSE country END FROM customers
SELECT CASE WHEN price < 1 THEN 'cheap' WHEN price < 10 THEN 'fair' END AS class, count(*) FROM products GROUP BY class
SELECT sum(CASE WHEN status = 'paid' THEN 1 ELSE 0 END) * 1.0 / count(*) FROM orders
SELECT count(*) FILTER (WHERE status = 'paid'), count(DISTINCT customer_id) FROM orders
SELECT group_concat(name, ', ') FROM customers
SELECT group_concat(name, ', ' ORDER BY name DESC), string_agg(name, ';' ORDER BY id) FROM customers
SELECT group_concat(DISTINCT country) FROM customers
SELECT c.name, o.id FROM customers c JOIN orders o ON o.customer_id = c.id
SELECT c.name, o.id FROM customers AS c LEFT OUTER JOIN orders AS o ON o.customer_id = c.id WHERE o.id IS NULL
SELECT c.name, count(o.id) FROM orders o RIGHT JOIN customers c ON c.id = o.customer_id GROUP BY c.id
SELECT * FROM orders FULL JOIN order_lines ON orders.id = order_lines.order_id
SELECT * FROM order_lines JOIN products USING (sku)
SELECT * FROM order_lines NATURAL JOIN products
SELECT * FROM customers, orders WHERE customers.id = orders.customer_id
SELECT * FROM customers CROSS JOIN products
SELECT c.name, p.title FROM customers c INNER JOIN orders o ON c.id = o.customer_id INNER JOIN order_lines l ON l.order_id = o.id INNER JOIN products p ON p.sku = l.sku ORDER BY 1, 2
SELECT a.name, b.name FROM customers a JOIN customers b ON a.country = b.country AND a.id < b.id
SELECT * FROM (customers c JOIN orders o ON o.customer_id = c.id) LEFT JOIN order_lines l ON l.order_id = o.id
SELECT name FROM customers WHERE id IN (SELECT customer_id FROM orders)
SELECT name FROM customers WHERE id NOT IN (SELECT customer_id FROM orders WHERE customer_id IS NOT NULL)
SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND o.status = 'paid')
SELECT name FROM customers c WHERE NOT EXISTS (SELECT * FROM orders WHERE customer_id = c.id)
SELECT name, (SELECT count(*) FROM orders WHERE customer_id = customers.id) AS n FROM customers ORDER BY n DESC
SELECT title FROM products WHERE price > (SELECT avg(price) FROM products)
SELECT * FROM (SELECT country, count(*) AS n FROM customers GROUP BY country) WHERE n > 1
SELECT t.n FROM (SELECT count(*) AS n FROM orders) AS t
SELECT id FROM orders WHERE (customer_id, status) = (1, 'paid')
SELECT id FROM orders WHERE (customer_id, status) IN (SELECT customer_id, status FROM orders)
SELECT id FROM orders WHERE (placed, id) > ('2024-01-01', 1) ORDER BY placed, id LIMIT 2
SELECT id FROM customers UNION SELECT customer_id FROM orders ORDER BY id
SELECT id FROM customers EXCEPT SELECT customer_id FROM orders
SELECT id FROM customers INTERSECT SELECT customer_id FROM orders
SELECT 'c' AS kind, count(*) FROM customers UNION ALL SELECT 'o', count(*) FROM orders
SELECT * FROM (SELECT 1 AS a UNION ALL SELECT 2) ORDER BY a DESC
VALUES (1, 'one'), (2, 'two')
SELECT column1, column2 FROM (VALUES (1, 'one'), (2, 'two'))
WITH paid AS (SELECT * FROM orders WHERE status = 'paid') SELECT c.name FROM paid JOIN customers c ON c.id = paid.customer_id
WITH a(x) AS (SELECT 1), b(y) AS (SELECT x + 1 FROM a) SELECT x, y FROM a, b
WITH big AS MATERIALIZED (SELECT * FROM products WHERE price > 1) SELECT count(*) FROM big
WITH big AS NOT MATERIALIZED (SELECT * FROM products WHERE price > 1) SELECT count(*) FROM big
WITH orders AS (SELECT 1 AS id) SELECT id FROM orders
WITH customers AS (SELECT 7 AS x) SELECT count(*) FROM customers
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) SELECT sum(i), count(*) FROM n
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5) SELECT count(*) FROM n
WITH RECURSIVE below(id, name, depth) AS (SELECT id, name, 0 FROM tree WHERE parent IS NULL UNION ALL SELECT t.id, t.name, depth + 1 FROM tree t JOIN below b ON t.parent = b.id) SELECT printf('%s%s', printf('%*s', depth, ''), name) FROM below
WITH RECURSIVE d(day) AS (VALUES ('2024-01-01') UNION ALL SELECT date(day, '+1 day') FROM d WHERE day < '2024-01-10') SELECT day, count(orders.id) FROM d LEFT JOIN orders ON date(placed) = day GROUP BY day
WITH RECURSIVE p(id, path) AS (SELECT id, name FROM tree WHERE parent IS NULL UNION SELECT tree.id, p.path || '/' || tree.name FROM tree, p WHERE tree.parent = p.id) SELECT path FROM p ORDER BY path
SELECT name, row_number() OVER (ORDER BY name) FROM customers
SELECT name, rank() OVER (PARTITION BY country ORDER BY joined), dense_rank() OVER w, percent_rank() OVER w, cume_dist() OVER w, ntile(2) OVER w FROM customers WINDOW w AS (ORDER BY id)
SELECT placed, lag(placed) OVER (ORDER BY placed), lead(placed, 1, 'none') OVER (ORDER BY placed) FROM orders
SELECT id, sum(id) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) AS running FROM orders
SELECT id, avg(id) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM orders
SELECT id, count(*) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM orders
SELECT id, first_value(id) OVER w, last_value(id) OVER w, nth_value(id, 2) OVER w FROM orders WINDOW w AS (ORDER BY id GROUPS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
SELECT * FROM (SELECT name, country, row_number() OVER (PARTITION BY country ORDER BY id) AS r FROM customers) WHERE r = 1
SELECT sum(quantity) FILTER (WHERE sku = 'A1') OVER (ORDER BY order_id) FROM order_lines
SELECT strftime('%Y-%m', placed) AS m, count(*) AS n, count(*) - lag(count(*)) OVER (ORDER BY strftime('%Y-%m', placed)) AS growth FROM orders GROUP BY m
SELECT json_extract(attributes, '$.color') FROM products
SELECT attributes ->> 'color', attributes -> '$.sizes[0]', attributes ->> '$.sizes[#-1]' FROM products
SELECT p.sku, j.value FROM products p, json_each(p.attributes, '$.sizes') j
SELECT key, value, type, atom, fullkey, path FROM json_tree('{"a":{"b":[1,2]}}') WHERE atom IS NOT NULL
SELECT json_group_array(name), json_group_object(name, country) FROM customers
SELECT json_object('id', id, 'tags', json_array(1, 'x', NULL)) FROM customers
SELECT json_valid(attributes), json_type(attributes, '$.sizes'), json_array_length(attributes, '$.sizes') FROM products
SELECT json_set('{"a":1}', '$.b', 2), json_insert('{}', '$.x', 1), json_replace('{"a":1}', '$.a', 3), json_remove('{"a":1}', '$.a'), json_patch('{"a":1}', '{"b":2}')
SELECT json(jsonb('{"a":1}')), json_pretty('[1]'), json_quote('x')
SELECT * FROM sizes
SELECT * FROM found
SELECT title, score < 0, part FROM ranked
SELECT f.title FROM found f JOIN docs d ON d.title = f.title
SELECT * FROM inside
SELECT max(r) FROM roots
SELECT * FROM quoted
SELECT DISTINCT p.title FROM sizes s JOIN products p ON p.sku = s.sku AND s.value > 1
SELECT c.rowid, o.rowid FROM customers c, orders o LIMIT 1
SELECT name FROM customers WHERE name LIKE 'D%rte' AND substr(name, -1) = 'e'
SELECT sum(quantity) OVER (), total(quantity) OVER (ORDER BY line) FROM order_lines
SELECT t1.name, (SELECT group_concat(t2.name) FROM tree t2 WHERE t2.parent = t1.id) FROM tree t1
SELECT CASE WHEN EXISTS (SELECT 1 FROM returns) THEN 'some' ELSE 'none' END
SELECT iif(count(*) = 0, 'none', printf('%d of them', count(*))) FROM orders WHERE status = 'new'
SELECT * FROM revenue
SELECT customer FROM revenue WHERE total > 5 ORDER BY total DESC
SELECT * FROM best
SELECT money FROM best b JOIN customers c ON c.name = b.name
SELECT count(*) FROM best
SELECT sum(i) FROM numbers
SELECT count(*) FROM numbers
SELECT sku, price, price_with_tax, label FROM products
SELECT label FROM products WHERE price_with_tax > 1
SELECT rowid, * FROM customers WHERE rowid = 1
SELECT oid, _rowid_ FROM orders
SELECT main.customers.name FROM main.customers
SELECT * FROM customers INDEXED BY customers_lower WHERE lower(name) = 'ann' AND country = 'DE'
SELECT * FROM order_lines NOT INDEXED WHERE sku = 'A1'
SELECT +id, likely(id > 1) FROM customers WHERE unlikely(country = 'DE')
SELECT value, typeof(value) FROM measurements ORDER BY typeof(value)
SELECT typeof(value), count(*) FROM measurements GROUP BY 1
SELECT * FROM docs WHERE docs MATCH 'hello'
SELECT title, rank FROM docs('hello') ORDER BY rank
SELECT highlight(docs, 0, '<', '>'), snippet(docs, 1, '[', ']', '...', 5), bm25(docs) FROM docs WHERE docs MATCH 'hello' ORDER BY bm25(docs)
SELECT rowid, body FROM docs WHERE title MATCH 'world' AND body LIKE '%quick%'
SELECT count(*) FROM docs
SELECT term, doc, cnt FROM words ORDER BY cnt DESC
SELECT subject, snippet(notes), offsets(notes), hex(matchinfo(notes)) FROM notes WHERE notes MATCH 'milk'
SELECT docid FROM notes WHERE text MATCH 'remember'
SELECT id FROM areas WHERE min_x <= 6 AND max_x >= 6 AND min_y <= 6 AND max_y >= 6
SELECT c.name FROM areas a JOIN customers c ON c.id = a.id
SELECT k FROM docs_config
SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name
SELECT sql FROM sqlite_master WHERE name = 'customers'
SELECT tbl, stat FROM sqlite_stat1
SELECT name, seq FROM sqlite_sequence
SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name = 'customers'
SELECT "table", "from", "to" FROM pragma_foreign_key_list('orders')
SELECT il.name, ii.name FROM pragma_index_list('order_lines') il, pragma_index_info(il.name) ii
SELECT name FROM pragma_table_list WHERE type = 'view'
SELECT name FROM pragma_database_list
PRAGMA table_info(customers)
PRAGMA table_xinfo(products)
PRAGMA table_info("order details")
PRAGMA index_list(orders)
PRAGMA index_info(lines_by_sku)
PRAGMA index_xinfo('lines_by_sku')
PRAGMA foreign_key_list(order_lines)
PRAGMA table_list
PRAGMA main.table_list(customers)
PRAGMA integrity_check
PRAGMA quick_check(orders)
PRAGMA foreign_key_check
PRAGMA journal_mode
PRAGMA page_size
PRAGMA encoding
EXPLAIN SELECT * FROM customers
EXPLAIN QUERY PLAN SELECT * FROM customers c JOIN orders o ON o.customer_id = c.id
EXPLAIN QUERY PLAN SELECT * FROM best
SELECT 1
SELECT NULL, TRUE, FALSE, 'it''s', x'00ff', 1e3, -5, .5
SELECT 1 AS "select", 2 AS [from], 3 AS `group by`
SELECT 'a' || NULL IS NULL, NOT 0, 1 <> 2, 1 != 2, 1 == 1, 2 >= 1
SELECT 'a' IN ('a', 'b'), 1 NOT IN (2, 3), 5 BETWEEN 1 AND 9, 5 NOT BETWEEN 1 AND 3, 1 IN ()
SELECT likelihood(1, 0.5), changes(), total_changes(), last_insert_rowid(), sqlite_version() > '3'
SELECT concat('a', 1, NULL), concat_ws('-', 'a', 'b'), unhex('00ff'), char(65, 66), unistr('\0041'), soundex('Robert')
SELECT max(1, 2, 3), min('a', 'b'), if(1, 'y', 'n')
SELECT name FROM customers ORDER BY name COLLATE NOCASE DESC NULLS LAST, joined ASC NULLS FIRST
SELECT name FROM customers ORDER BY length(name), name LIMIT 2
SELECT country, name FROM customers GROUP BY country HAVING max(id)
SELECT (SELECT name FROM customers ORDER BY id DESC LIMIT 1) AS newest, (SELECT count(*) FROM orders) AS orders
SELECT o.id, sum(l.quantity * p.price) AS value FROM orders o JOIN order_lines l ON l.order_id = o.id JOIN products p ON p.sku = l.sku GROUP BY o.id HAVING value > 5 ORDER BY value DESC
SELECT date(placed) AS day, status, count(*) FROM orders WHERE placed >= '2024-01-01' AND placed < date('2024-01-01', '+3 months') GROUP BY day, status
SELECT hex(reason), length(reason) FROM returns
SELECT name FROM customers WHERE "country" = "DE"
-- a comment first\nSELECT /* inside */ name -- and behind\nFROM customers;

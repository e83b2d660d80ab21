-- A trader, made up for these tests: places that stand in several tables, two links from one table to another,
-- and products that some customers never order.
CREATE TABLE country (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country_id INTEGER NOT NULL REFERENCES country(id));
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, country TEXT, segment TEXT);
CREATE TABLE supplier (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT);
CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT, price REAL, supplier_id INTEGER REFERENCES supplier(id));
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customer(id), ordered_on TEXT, ship_country TEXT, bill_country TEXT, status TEXT);
CREATE TABLE order_line (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders(id), product_id INTEGER NOT NULL REFERENCES product(id), quantity INTEGER, unit_price REAL);
CREATE TABLE shipment (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders(id), from_city_id INTEGER REFERENCES city(id), to_city_id INTEGER REFERENCES city(id), weight REAL);
CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT, city TEXT, role TEXT);
CREATE TABLE ticket (id INTEGER PRIMARY KEY, opened_by INTEGER REFERENCES staff(id), assigned_to INTEGER REFERENCES staff(id), customer_id INTEGER REFERENCES customer(id), priority TEXT, title TEXT);
INSERT INTO country VALUES (1,'France'),(2,'Germany'),(3,'Spain'),(4,'Italy');
INSERT INTO city VALUES (1,'Paris',1),(2,'Lyon',1),(3,'Berlin',2),(4,'Madrid',3),(5,'Rome',4);
INSERT INTO customer VALUES (1,'Acme','Paris','France','retail'),(2,'Bolt','Berlin','Germany','wholesale'),(3,'Cora','Madrid','Spain','retail'),(4,'Dune','Paris','France','wholesale'),(5,'Elan','Rome','Italy','retail'),(6,'Fahr','Berlin','Germany','retail');
INSERT INTO supplier VALUES (1,'Northmill','Germany'),(2,'Sudvin','France'),(3,'Oliva','Spain');
INSERT INTO product VALUES (1,'Flour','food',2.5,1),(2,'Wine','drink',9.0,2),(3,'Oil','food',7.5,3),(4,'Cider','drink',4.0,2),(5,'Mug','ware',6.0,1);
INSERT INTO orders VALUES (1,1,'2023-01-10','France','France','open'),(2,1,'2023-02-11','Germany','France','closed'),(3,2,'2023-02-20','Germany','Germany','closed'),(4,3,'2023-03-01','France','Spain','open'),(5,4,'2023-03-05','Italy','France','closed'),(6,5,'2024-01-08','France','Italy','closed'),(7,2,'2024-02-02','Spain','Germany','open');
INSERT INTO order_line VALUES (1,1,1,10,2.5),(2,1,2,2,9.0),(3,2,2,3,9.0),(4,3,3,1,7.5),(5,3,1,5,2.5),(6,4,4,6,4.0),(7,5,5,2,6.0),(8,5,1,1,2.5),(9,5,2,1,9.0),(10,6,3,2,7.5),(11,7,2,8,9.0);
INSERT INTO shipment VALUES (1,1,3,1,10.0),(2,2,1,3,4.0),(3,3,2,3,7.0),(4,4,3,1,6.0),(5,5,1,5,5.0),(6,6,4,2,3.0),(7,7,3,4,9.0);
INSERT INTO staff VALUES (1,'Ida','Paris','support'),(2,'Jon','Berlin','support'),(3,'Kim','Paris','sales');
INSERT INTO ticket VALUES (1,1,2,1,'high','Broken mug'),(2,2,1,2,'low','Late'),(3,1,1,3,'high','Wrong oil'),(4,3,2,4,'low','Refund');

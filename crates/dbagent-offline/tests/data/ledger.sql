-- Books of a firm, made up for these tests: months and quarters stand side by side as columns.
CREATE TABLE region (id INTEGER PRIMARY KEY, name TEXT NOT NULL, manager TEXT);
CREATE TABLE sales (region_id INTEGER NOT NULL REFERENCES region(id), product TEXT NOT NULL, jan REAL, feb REAL, mar REAL, apr REAL, may REAL, jun REAL, jul REAL, aug REAL, sep REAL, oct REAL, nov REAL, "dec" REAL, PRIMARY KEY (region_id, product));
CREATE TABLE budget (id INTEGER PRIMARY KEY, department TEXT NOT NULL, q1 INTEGER, q2 INTEGER, q3 INTEGER, q4 INTEGER);
CREATE TABLE visit (id INTEGER PRIMARY KEY, region_id INTEGER NOT NULL REFERENCES region(id), visited_on TEXT, guests INTEGER);
INSERT INTO region VALUES (1,'North','Ann'),(2,'South','Ben'),(3,'West','Cy');
INSERT INTO sales VALUES (1,'tea',1,2,3,4,5,6,7,8,9,10,11,12),(1,'milk',10,20,30,40,50,60,70,80,90,100,110,120),(2,'tea',5,5,5,5,5,5,5,5,5,5,5,5),(3,'tea',2,4,6,8,10,12,14,16,18,20,22,24),(3,'milk',0,0,1,1,2,2,3,3,4,4,5,5);
INSERT INTO budget VALUES (1,'Research',100,120,90,80),(2,'Finance',50,60,70,80),(3,'Legal',30,20,10,40);
INSERT INTO visit VALUES (1,1,'2023-01-05',4),(2,1,'2023-02-07',2),(3,2,'2023-02-09',6);

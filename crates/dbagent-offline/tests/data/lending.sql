-- A shop that lends tools, made up for these tests: dates that are missing while something is still out, policies
-- with dates of their own beside the claims on them, teams with people in them, and amounts that may be added up.
CREATE TABLE branch (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL);
CREATE TABLE client (id INTEGER PRIMARY KEY, name TEXT NOT NULL, branch_id INTEGER NOT NULL REFERENCES branch(id));
CREATE TABLE tool (id INTEGER PRIMARY KEY, name TEXT NOT NULL, maker TEXT, designer TEXT, number_of_parts INTEGER);
CREATE TABLE copy (id INTEGER PRIMARY KEY, tool_id INTEGER NOT NULL REFERENCES tool(id), branch_id INTEGER NOT NULL REFERENCES branch(id));
CREATE TABLE part (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE tool_part (tool_id INTEGER NOT NULL REFERENCES tool(id), part_id INTEGER NOT NULL REFERENCES part(id), PRIMARY KEY (tool_id, part_id));
CREATE TABLE loan (id INTEGER PRIMARY KEY, copy_id INTEGER NOT NULL REFERENCES copy(id), client_id INTEGER NOT NULL REFERENCES client(id), lent_on TEXT NOT NULL, returned_on TEXT);
CREATE TABLE bill (id INTEGER PRIMARY KEY, client_id INTEGER NOT NULL REFERENCES client(id), amount REAL NOT NULL, issued_on TEXT NOT NULL);
CREATE TABLE policy (id INTEGER PRIMARY KEY, client_id INTEGER NOT NULL REFERENCES client(id), kind TEXT, start_date TEXT, end_date TEXT, holder TEXT);
CREATE TABLE claim (id INTEGER PRIMARY KEY, policy_id INTEGER NOT NULL REFERENCES policy(id), claimed_on TEXT, settled_on TEXT, payout REAL);
CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE fitter (id INTEGER PRIMARY KEY, name TEXT NOT NULL, team_id INTEGER NOT NULL REFERENCES team(id), wage REAL);
CREATE TABLE stock (branch_id INTEGER NOT NULL REFERENCES branch(id), part_id INTEGER NOT NULL REFERENCES part(id), quantity INTEGER NOT NULL, PRIMARY KEY (branch_id, part_id));
INSERT INTO branch VALUES (1,'North','Leeds'),(2,'South','Ghent');
INSERT INTO client VALUES (1,'Ann',1),(2,'Ben',1),(3,'Cleo',2);
INSERT INTO tool VALUES (1,'Drill','Acme','Ida',3),(2,'Saw','Bolt','Jon',1),(3,'Lathe','Acme','Jon',4);
INSERT INTO copy VALUES (1,1,1),(2,1,2),(3,2,1),(4,3,2);
INSERT INTO part VALUES (1,'Motor'),(2,'Blade'),(3,'Belt');
INSERT INTO tool_part VALUES (1,1),(1,3),(2,2),(3,1);
INSERT INTO loan VALUES (1,1,1,'2023-01-02','2023-01-09'),(2,2,2,'2023-02-03',NULL),(3,3,1,'2023-02-10','2023-02-11'),(4,4,3,'2023-03-01',NULL),(5,1,3,'2023-03-04','2023-03-05');
INSERT INTO bill VALUES (1,1,10.5,'2023-01-10'),(2,1,4.0,'2023-02-12'),(3,3,20.0,'2023-03-06');
INSERT INTO policy VALUES (1,1,'home','2022-01-01','2024-01-01','Ann Fox'),(2,3,'trade','2022-06-01',NULL,'Cleo Gray');
INSERT INTO claim VALUES (1,1,'2023-01-20','2023-02-01',100.0),(2,1,'2023-05-02',NULL,40.0),(3,2,'2023-06-07','2023-07-01',70.0);
INSERT INTO team VALUES (1,'Red'),(2,'Blue');
INSERT INTO fitter VALUES (1,'Max',1,20.0),(2,'Nia',1,22.0),(3,'Oto',2,19.0);
INSERT INTO stock VALUES (1,1,4),(1,2,9),(2,1,11),(2,3,1);

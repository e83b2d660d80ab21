-- An academy, made up for these tests: enrolments with a date for each step, a catalogue whose entries are books,
-- fees that are called total, prizes whose field is also a word of every day, and buildings kept in two tables.
CREATE TABLE school (id INTEGER PRIMARY KEY, name TEXT NOT NULL, building TEXT, focus TEXT);
CREATE TABLE student (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, school_id INTEGER NOT NULL REFERENCES school(id));
CREATE TABLE course (id INTEGER PRIMARY KEY, title TEXT NOT NULL, school_id INTEGER NOT NULL REFERENCES school(id), start_date TEXT, credits INTEGER);
CREATE TABLE enrolment (id INTEGER PRIMARY KEY, student_id INTEGER NOT NULL REFERENCES student(id), course_id INTEGER NOT NULL REFERENCES course(id), date_of_enrolment TEXT NOT NULL, date_of_completion TEXT);
CREATE TABLE session (id INTEGER PRIMARY KEY, course_id INTEGER NOT NULL REFERENCES course(id), building TEXT, room TEXT, weekday TEXT);
CREATE TABLE fee (id INTEGER PRIMARY KEY, student_id INTEGER NOT NULL REFERENCES student(id), total REAL NOT NULL, paid_on TEXT);
CREATE TABLE catalogue (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE book (id INTEGER PRIMARY KEY, catalogue_id INTEGER NOT NULL REFERENCES catalogue(id), title TEXT NOT NULL, publisher TEXT, author TEXT);
CREATE TABLE club (id INTEGER PRIMARY KEY, name TEXT NOT NULL, number_of_students INTEGER);
CREATE TABLE club_student (club_id INTEGER NOT NULL REFERENCES club(id), student_id INTEGER NOT NULL REFERENCES student(id), PRIMARY KEY (club_id, student_id));
INSERT INTO school VALUES (1,'Law','East Hall','Theory'),(2,'Design','West Hall','Practice');
INSERT INTO student VALUES (1,'Uma','Oslo',1),(2,'Vic','Rome',1),(3,'Wim','Oslo',2);
INSERT INTO course VALUES (1,'Torts','1','2023-01-10',5),(2,'Type','2','2023-02-01',3),(3,'Wood','2',NULL,4);
INSERT INTO enrolment VALUES (1,1,1,'2023-01-02','2023-06-01'),(2,2,1,'2023-01-03',NULL),(3,3,2,'2023-01-20','2023-05-05'),(4,1,3,'2023-03-01',NULL);
INSERT INTO session VALUES (1,1,'Annex','A1','monday'),(2,2,'Tower','T3','friday'),(3,3,'Tower','T4','friday');
INSERT INTO fee VALUES (1,1,100.0,'2023-01-05'),(2,1,50.0,NULL),(3,2,80.0,'2023-02-01');
INSERT INTO catalogue VALUES (1,'Spring'),(2,'Autumn');
INSERT INTO book VALUES (1,1,'Ink and Air','Harbor','Ada'),(2,1,'Air Law','Harbor','Bela'),(3,2,'Wood','Mill','Bela');
INSERT INTO club VALUES (1,'Chess',12),(2,'Choir',30);
INSERT INTO club_student VALUES (1,1),(1,2),(2,3);

-- A small doctor's practice, made up for these tests: people with dates of their own beside the visits that
-- have theirs, names with spaces, dates as text, and much that nobody filled in.
CREATE TABLE doctors (
  doctor_id INTEGER PRIMARY KEY, full_name TEXT NOT NULL, specialty TEXT, hired TEXT
);
CREATE TABLE patients (
  patient_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, birth_date TEXT, city TEXT, phone TEXT
);
CREATE TABLE "visit reasons" (reason_id INTEGER PRIMARY KEY, "Reason Name" TEXT);
CREATE TABLE visits (
  visit_id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patients(patient_id),
  doctor_id INTEGER REFERENCES doctors(doctor_id), reason_id INTEGER REFERENCES "visit reasons"(reason_id),
  visit_date TEXT, "visit cost" REAL
);
INSERT INTO doctors VALUES
  (1, 'Anna Weber', 'Cardiology', '2005-03-10'), (2, 'Mei Chen', 'Pediatrics', '2022-03-11'), (3, 'Sara Lind', NULL, '2009-01-05');
INSERT INTO patients VALUES
  (1, 'Ann', 'Fox', '1950-04-01', 'Berlin', NULL), (2, 'Ben', 'Hill', '2022-02-09', 'New York', '123'),
  (3, 'Eva', 'Lopez', NULL, NULL, '456'), (4, 'Jon', 'King', '1988-12-24', 'Berlin', NULL);
INSERT INTO "visit reasons" VALUES (1, 'Checkup'), (2, 'Back pain');
INSERT INTO visits VALUES
  (1, 1, 2, 1, '2022-01-03', 50.0), (2, 2, 2, 2, '2022-01-20', 80.5), (3, 2, 2, 1, '2022-05-06', NULL),
  (4, 3, 2, 2, '2023-05-06', 20.0), (5, 3, 1, 1, '2022-05-09', 99.0), (6, 1, 1, 1, NULL, 10.0), (7, 4, 1, 2, NULL, 30.0),
  (8, 2, 3, 1, NULL, 60.0), (9, 1, 1, 1, '2023-01-15', 70.0),
  (10, 4, 3, 1, '2023-05-06', 15.0);

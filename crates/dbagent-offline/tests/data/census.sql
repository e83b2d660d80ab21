-- A census, made up for these tests: years and weekdays stand side by side as columns, beside one table that
-- has dates.
CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL, "2000" INTEGER, "2010" INTEGER, "2020" INTEGER);
CREATE TABLE yield (farm TEXT PRIMARY KEY, y2018 REAL, y2019 REAL, y2020 REAL);
CREATE TABLE shift (worker TEXT PRIMARY KEY, monday INTEGER, tuesday INTEGER, wednesday INTEGER, thursday INTEGER, friday INTEGER);
CREATE TABLE survey (id INTEGER PRIMARY KEY, town_id INTEGER REFERENCES town(id), held_on TEXT, yes INTEGER, no INTEGER, male INTEGER, female INTEGER);
CREATE TABLE lake (id INTEGER PRIMARY KEY, name TEXT NOT NULL, area REAL, volume REAL);
INSERT INTO lake VALUES (1,'Deep',2.0,9.0),(2,'Wide',8.0,3.0);
INSERT INTO town VALUES (1,'Ash',1000,1200,1500),(2,'Birch',800,700,650),(3,'Cedar',2000,2600,2500);
INSERT INTO yield VALUES ('Hill',3.5,4.0,2.0),('Dale',2.5,3.0,3.5);
INSERT INTO shift VALUES ('Ann',8,8,0,8,4),('Bob',0,8,8,8,8),('Cle',6,6,6,6,6);
INSERT INTO survey VALUES (1,1,'2019-05-01',100,50,70,80),(2,2,'2020-06-01',40,60,55,45),(3,3,'2020-09-01',90,10,50,50);

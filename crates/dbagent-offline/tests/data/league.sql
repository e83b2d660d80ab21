-- A small football league, made up for these tests. It is unlike the other two databases on purpose:
-- snake_case names, two links from one table to another, a composite key, flags in two writings, dates as
-- text and as seconds since 1970, and links that are not declared.
CREATE TABLE teams (
  team_id INTEGER PRIMARY KEY, team_name TEXT NOT NULL, city TEXT, founded_year INTEGER, stadium_capacity INTEGER
);
CREATE TABLE players (
  player_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, team_id INTEGER REFERENCES teams(team_id),
  birth_date TEXT, height_cm INTEGER, position TEXT, is_captain INTEGER
);
CREATE TABLE games (
  game_id INTEGER PRIMARY KEY, season INTEGER, played_on TEXT,
  home_team_id INTEGER REFERENCES teams(team_id), away_team_id INTEGER REFERENCES teams(team_id),
  home_goals INTEGER, away_goals INTEGER, attendance INTEGER
);
CREATE TABLE goals (
  game_id INTEGER REFERENCES games(game_id), goal_number INTEGER, player_id INTEGER REFERENCES players(player_id),
  minute INTEGER, penalty TEXT, PRIMARY KEY (game_id, goal_number)
);
CREATE TABLE referees (referee_id INTEGER PRIMARY KEY, full_name TEXT, nationality TEXT);
CREATE TABLE game_referees (game_id INTEGER, referee_id INTEGER, PRIMARY KEY (game_id, referee_id));
CREATE TABLE sponsors (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE sponsorships (
  id INTEGER PRIMARY KEY, sponsor_id INTEGER, team_id INTEGER, amount REAL, signed_on INTEGER
);
INSERT INTO teams VALUES
  (1, 'Red Lions', 'Leeds', 1899, 31000), (2, 'Blue Foxes', 'Porto', 1931, 50000), (3, 'Green Owls', 'Ghent', 1910, 12500),
  (4, 'Black Swans', 'Leeds', 1975, 8000), (5, 'White Bears', NULL, 2003, NULL);
INSERT INTO players VALUES
  (1, 'Ana', 'Silva', 2, '1996-03-14', 171, 'Forward', 1), (2, 'Bo', 'Lund', 1, '2001-07-02', 188, 'Keeper', 0),
  (3, 'Cy', 'Marsh', 1, '1999-11-30', 179, 'Forward', 1), (4, 'Dee', 'Okoro', 3, '1994-01-09', 183, 'Midfielder', 0),
  (5, 'Eli', 'Novak', 3, '2003-05-21', 169, 'Forward', 0), (6, 'Flo', 'Berg', 4, '1990-12-01', 192, 'Keeper', 1),
  (7, 'Gus', 'Adler', 2, '1998-08-17', 175, 'Midfielder', 0), (8, 'Hal', 'Quinn', NULL, '1989-02-28', 181, 'Midfielder', 0),
  (9, 'Ida', 'Lund', 4, '2000-10-10', 166, 'Forward', 0);
INSERT INTO games VALUES
  (1, 2022, '2022-09-03', 1, 2, 2, 1, 24000), (2, 2022, '2022-09-10', 3, 1, 0, 0, 9000),
  (3, 2022, '2022-10-01', 2, 3, 3, 1, 41000), (4, 2023, '2023-02-11', 4, 1, 1, 2, 7500),
  (5, 2023, '2023-03-04', 2, 4, 0, 0, 38000), (6, 2023, '2023-03-18', 1, 3, 1, 1, 27000);
INSERT INTO goals VALUES
  (1, 1, 3, 12, 'N'), (1, 2, 1, 40, 'Y'), (1, 3, 3, 77, 'N'), (3, 1, 1, 5, 'N'), (3, 2, 7, 33, 'N'), (3, 3, 5, 60, 'N'),
  (3, 4, 1, 88, 'Y'), (4, 1, 9, 21, 'N'), (4, 2, 3, 55, 'Y'), (4, 3, 2, 90, 'N'), (6, 1, 3, 9, 'N'), (6, 2, 4, 64, 'N');
INSERT INTO referees VALUES (1, 'Nils Holm', 'Sweden'), (2, 'Rita Costa', 'Portugal'), (3, 'Tom Price', 'Wales');
INSERT INTO game_referees VALUES (1, 1), (1, 2), (2, 2), (3, 1), (4, 2), (5, 2), (6, 1);
INSERT INTO sponsors VALUES (1, 'Acme'), (2, 'Globex'), (3, 'Initech');
INSERT INTO sponsorships VALUES
  (1, 1, 1, 50000.0, 1640995200), (2, 1, 2, 120000.5, 1672531200), (3, 2, 3, 30000.0, 1672617600), (4, 2, 1, 45000.0, 1704067200);

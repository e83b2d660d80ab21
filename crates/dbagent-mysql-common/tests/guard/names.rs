//! What names really are: views, columns, functions, and names that differ in case.

use dbagent_core::Policy;
use dbagent_core::guard::Rule;

use super::server::{Scratch, judged, url};
use crate::KIT;

const TABLES: &[&str] = &[
    "CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(40), secret VARCHAR(40), `größe` INTEGER, \
     shout VARCHAR(80) AS (CONCAT(secret, '!')) VIRTUAL, twice VARCHAR(90) AS (CONCAT(shout, '?')) VIRTUAL, \
     calm INTEGER AS (id + 1) STORED)",
    "CREATE TABLE hidden (id INTEGER PRIMARY KEY, x INTEGER)",
    "CREATE TABLE plain (id INTEGER PRIMARY KEY, name VARCHAR(40))",
    "CREATE TABLE `Odd ``Name` (`a b` INTEGER, `SELECT` INTEGER)",
    "CREATE FUNCTION f(a INTEGER) RETURNS INTEGER DETERMINISTIC READS SQL DATA RETURN a",
    "CREATE VIEW safe AS SELECT id, name FROM people",
    "CREATE VIEW leaky AS SELECT id, secret AS s FROM people",
    "CREATE SQL SECURITY INVOKER VIEW invoked AS SELECT id FROM hidden",
    "CREATE VIEW calling AS SELECT f(id) AS x FROM people",
    "CREATE VIEW waiting AS SELECT SLEEP(1) AS x",
    "CREATE VIEW schemas_too AS SELECT table_name FROM information_schema.tables WHERE table_schema = 'x'",
    "CREATE VIEW accounts AS SELECT user FROM mysql.user",
    "CREATE VIEW odd AS SELECT `a b`, `SELECT` AS `fr``om`, 'it''s \\\\ ; x' AS t FROM `Odd ``Name`",
];

#[tokio::test(flavor = "multi_thread")]
async fn views_are_judged_by_what_they_read() {
    let Some(url) = url() else { return };
    let scratch = Scratch::empty(&url).await.with(TABLES).await;
    let session = scratch.session().await;
    for (text, cleared, word) in [
        ("SELECT * FROM safe", true, ""),
        ("SELECT s FROM leaky", true, ""),
        ("SELECT * FROM invoked", true, ""),
        ("SELECT * FROM schemas_too", true, ""),
        ("SELECT * FROM odd", true, ""),
        ("SELECT x FROM calling", false, "stored function"),
        ("SELECT 1 FROM people p JOIN calling c ON c.x = p.id", false, "stored function"),
        ("SELECT x FROM waiting", false, "SLEEP"),
        ("SELECT * FROM accounts", false, "accounts"),
        ("SELECT f(1)", false, "READS SQL DATA"),
        ("SELECT no_such(1)", false, "nothing vouches"),
        ("SELECT * FROM no_such_table", true, ""),
    ] {
        let (ok, why) = judged(&session, text).await;
        assert_eq!(ok, cleared, "{text}: {why}");
        assert!(why.to_lowercase().contains(&word.to_lowercase()), "{text}: {why}");
    }
    let allowed = Policy { allow_functions: ["f".to_owned()].into(), ..Policy::default() };
    let session = scratch.session_under(allowed).await;
    assert!(judged(&session, "SELECT f(1)").await.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn views_over_views_end_at_eight() {
    let Some(url) = url() else { return };
    let mut tables: Vec<String> = TABLES.iter().map(|t| (*t).to_owned()).collect();
    tables.push("CREATE VIEW v1 AS SELECT id FROM plain".to_owned());
    tables.extend((2..=10).map(|n| format!("CREATE VIEW v{n} AS SELECT id FROM v{}", n - 1)));
    tables.push("CREATE VIEW w1 AS SELECT id FROM hidden".to_owned());
    tables.extend((2..=8).map(|n| format!("CREATE VIEW w{n} AS SELECT a.id FROM w{0} a JOIN w{0} b", n - 1)));
    let scratch = Scratch::empty(&url).await.with(&tables).await;
    let session = scratch.session_under(Policy::default().deny("hidden").unwrap()).await;
    assert!(judged(&session, "SELECT * FROM v8").await.0);
    let (ok, why) = judged(&session, "SELECT * FROM v9").await;
    assert!(!ok && why.contains(Rule::TooComplex.code()), "{why}");
    for denied in ["SELECT * FROM w1", "SELECT * FROM w8", "SELECT * FROM invoked", "SELECT * FROM hidden"] {
        let (ok, why) = judged(&session, denied).await;
        assert!(!ok && why.contains(Rule::DeniedObject.code()), "{denied}: {why}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_column_is_read_by_no_other_name() {
    let Some(url) = url() else { return };
    let scratch = Scratch::empty(&url).await.with(TABLES).await;
    let policy =
        ["people.secret", "people.größe", "*.hidden.id"].iter().fold(Policy::default(), |p, pattern| {
            let pattern = if pattern.matches('.').count() == 1 {
                format!("*.{pattern}")
            } else {
                (*pattern).to_owned()
            };
            p.deny(&pattern).unwrap()
        });
    let session = scratch.session_under(policy).await;
    let db = scratch.name.clone();
    let mut rows = vec![
        ("SELECT id, name FROM people".to_owned(), true),
        ("SELECT calm FROM people".to_owned(), true),
        ("SELECT COUNT(*) FROM people".to_owned(), true),
        ("SELECT x FROM hidden".to_owned(), true),
        ("SELECT * FROM safe".to_owned(), true),
        ("SELECT p.id FROM people p JOIN plain USING (id)".to_owned(), true),
        ("SELECT name AS secret FROM people ORDER BY secret".to_owned(), true),
        ("SELECT secret FROM (SELECT name AS secret FROM people) t".to_owned(), true),
    ];
    for denied in [
        "SELECT secret FROM people",
        "SELECT SECRET FROM people",
        "SELECT `secret` FROM people",
        "SELECT p.secret FROM people p",
        "SELECT people.secret FROM people",
        "SELECT @db.people.secret FROM people",
        "SELECT * FROM people",
        "SELECT p.* FROM people p",
        "SELECT id FROM people WHERE secret = 'x'",
        "SELECT id FROM people ORDER BY secret",
        "SELECT id FROM people GROUP BY secret",
        "SELECT id FROM people HAVING MAX(secret) = 'x'",
        "SELECT COUNT(secret) FROM people",
        "SELECT COUNT(DISTINCT secret) FROM people",
        "SELECT SUM(id) OVER (PARTITION BY secret) FROM people",
        "SELECT GRÖßE FROM people",
        "SELECT `größe` FROM people",
        "SELECT shout FROM people",
        "SELECT twice FROM people",
        "SELECT _rowid FROM hidden",
        "SELECT id FROM hidden",
        "SELECT * FROM hidden",
        "SELECT 1 FROM people JOIN (SELECT 'x' AS secret) t USING (secret)",
        "SELECT 1 FROM people NATURAL JOIN plain",
        "SELECT s FROM leaky",
        "SELECT id FROM leaky",
        "SELECT (SELECT secret) FROM people",
        "SELECT 1 FROM people p WHERE EXISTS (SELECT 1 FROM plain WHERE plain.name = p.secret)",
        "SELECT id FROM plain UNION SELECT secret FROM people",
        "WITH c AS (SELECT secret AS x FROM people) SELECT x FROM c",
        "SELECT JSON_ARRAYAGG(secret) FROM people",
        "SELECT id FROM people WHERE (id, secret) IN (SELECT 1, 'x')",
        "SELECT CASE WHEN secret = 'x' THEN 1 END FROM people",
        "SELECT id FROM people WHERE CAST(secret AS CHAR) = 'x'",
        "SELECT TRIM(secret) FROM people",
        "SELECT id FROM people p LEFT JOIN plain q ON q.name = p.secret",
        "SHOW COLUMNS FROM people WHERE (SELECT secret FROM people LIMIT 1) = 'x'",
        "CHECKSUM TABLE people",
    ] {
        rows.push((denied.replace("@db", &db), false));
    }
    if KIT.id == "mysql" {
        rows.push(("TABLE people".to_owned(), false));
        rows.push(("SELECT secret->'$.a' FROM people".to_owned(), false));
        rows.push(("SELECT t.x FROM people p, LATERAL (SELECT p.secret AS x) t".to_owned(), false));
    }
    let mut wrong = Vec::new();
    for (text, allowed) in rows {
        let (ok, why) = judged(&session, &text).await;
        if ok != allowed {
            wrong.push(format!("{text}: {why}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_holds_whatever_the_case_of_the_name() {
    let Some(url) = url() else { return };
    let scratch = Scratch::empty(&url).await.with(TABLES).await;
    let session = scratch.session_under(Policy::default().deny("Hidden").unwrap()).await;
    for text in ["SELECT x FROM hidden", "SELECT x FROM HIDDEN", "SELECT x FROM `hidden`", "DESCRIBE hidden"]
    {
        assert!(!judged(&session, text).await.0, "{text}");
    }
    let only = scratch.session_under(Policy::default().allow("plain").unwrap()).await;
    for (text, allowed) in [
        ("SELECT * FROM plain", true),
        ("SELECT * FROM people", false),
        ("SELECT * FROM safe", false),
        ("SELECT * FROM information_schema.tables", false),
        ("SHOW CREATE TABLE people", false),
        ("SHOW INDEX FROM people", false),
    ] {
        assert_eq!(judged(&only, text).await.0, allowed, "{text}");
    }
}

/// Views of the server's own `sys` schema are the hardest that are at hand: all of their texts are read.
#[tokio::test(flavor = "multi_thread")]
async fn the_definitions_of_the_servers_own_views_are_understood() {
    let Some(url) = url() else { return };
    let scratch = Scratch::empty(&url).await;
    let open = Policy { allow_choices: ["secret_catalog".to_owned()].into(), ..Policy::default() };
    let session = scratch.session_under(open).await;
    let mut owner = scratch.owner_again().await;
    let views =
        owner.rows("SELECT TABLE_NAME FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'sys'").await;
    let views: Vec<String> =
        views.unwrap().into_iter().filter_map(|r| r.into_iter().next().flatten()).collect();
    assert!(views.len() > 50, "{}", views.len());
    let mut wrong = Vec::new();
    for view in views {
        let (ok, why) = judged(&session, &format!("SELECT * FROM sys.`{view}`")).await;
        if !ok && !why.contains("stored function") {
            wrong.push(format!("{view}: {why}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A MERGE table shows the rows of others, and nobody says of which.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_reads_other_tables_is_refused() {
    let Some(url) = url() else { return };
    let tables = [
        "CREATE TABLE one (id INTEGER) ENGINE = MyISAM",
        "CREATE TABLE all_of_them (id INTEGER) ENGINE = MERGE UNION = (one)",
    ];
    let scratch = Scratch::empty(&url).await.with(&tables).await;
    let session = scratch.session().await;
    assert!(judged(&session, "SELECT * FROM one").await.0);
    let (ok, why) = judged(&session, "SELECT * FROM all_of_them").await;
    assert!(!ok && why.contains("MERGE"), "{why}");
}

/// More names than are asked for at once are all found.
#[tokio::test(flavor = "multi_thread")]
async fn many_names_are_all_found() {
    let Some(url) = url() else { return };
    let tables: Vec<String> =
        (0..150).map(|n| format!("CREATE TABLE t{n} (a{n} INTEGER, secret INTEGER)")).collect();
    let scratch = Scratch::empty(&url).await.with(&tables).await;
    let session = scratch.session_under(Policy::default().deny("*.t149.secret").unwrap()).await;
    let union = |column: &str| {
        let arms: Vec<String> = (0..150).map(|n| format!("SELECT {column} FROM t{n}")).collect();
        arms.join(" UNION ALL ")
    };
    let (ok, why) = judged(&session, &union("1")).await;
    assert!(ok, "{why}");
    let (ok, why) = judged(&session, &union("secret")).await;
    assert!(!ok && why.contains("t149"), "{why}");
}

/// Some letters beyond ASCII are read as one of ASCII: which, differs between the servers.
#[tokio::test(flavor = "multi_thread")]
async fn letters_that_the_server_folds_name_no_denied_column() {
    let Some(url) = url() else { return };
    let table = "CREATE TABLE persons (id INTEGER, email VARCHAR(40), ssn VARCHAR(20), token VARCHAR(20))";
    let scratch = Scratch::empty(&url).await.with(&[table]).await;
    let columns = ["*.persons.email", "*.persons.ssn", "*.persons.token"];
    let policy = columns.iter().fold(Policy::default(), |policy, column| policy.deny(column).unwrap());
    let session = scratch.session_under(policy).await;
    for spelled in ["email", "EMAIL", "emaİl", "emaıl", "ssn", "ſsn", "sſN", "toKen"] {
        for text in [
            format!("SELECT id, {spelled} FROM persons"),
            format!("SELECT id FROM persons p WHERE p.`{spelled}` LIKE 'a%'"),
        ] {
            let (ok, why) = judged(&session, &text).await;
            assert!(!ok && why.contains(Rule::DeniedColumn.code()), "{text}: {why}");
        }
    }
    assert!(judged(&session, "SELECT id FROM persons").await.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_that_are_emptied_by_reading_are_not_read() {
    let Some(url) = url() else { return };
    let session = Scratch::empty(&url).await.session().await;
    for table in ["innodb_cmp_reset", "INNODB_CMPMEM_RESET", "innodb_cmp_per_index_reset"] {
        let (ok, why) = judged(&session, &format!("SELECT * FROM information_schema.{table}")).await;
        assert!(!ok && why.contains(Rule::Maintenance.code()), "{table}: {why}");
    }
    assert!(judged(&session, "SELECT * FROM information_schema.innodb_cmp").await.0);
}

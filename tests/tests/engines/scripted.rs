//! A model that writes each engine's own language gets the same rows from all.

use std::sync::Arc;

use dbagent::LightAgent;
use dbagent_testkit::model::{ScriptedModel, call};
use serde_json::json;

use crate::engine::{Engine, others, rows, sqlite};

/// A question in the language of each engine. `{}` quotes a name the way the sample of that engine spells it.
struct Case {
    sqlite: &'static str,
    postgres: &'static str,
    mysql: &'static str,
}

impl Case {
    fn of(&self, engine: &Engine) -> &'static str {
        match engine.id {
            "postgres" => self.postgres,
            "mysql" | "mariadb" => self.mysql,
            // It spells names as SQLite does, and the year of a date as Postgres.
            "duckdb" if self.sqlite.contains("strftime") => {
                "SELECT extract(year FROM InvoiceDate) AS year, count(*) FROM Invoice GROUP BY 1 ORDER BY 1"
            }
            _ => self.sqlite,
        }
    }
}

const CASES: &[Case] = &[
    Case {
        sqlite: "SELECT ar.Name, count(*) AS albums FROM Artist ar JOIN Album al ON al.ArtistId = ar.ArtistId GROUP BY ar.ArtistId, ar.Name ORDER BY albums DESC, ar.Name LIMIT 5",
        postgres: "SELECT ar.name, count(*) AS albums FROM artist ar JOIN album al USING (artist_id) GROUP BY ar.artist_id, ar.name ORDER BY albums DESC, ar.name LIMIT 5",
        mysql: "SELECT ar.Name, count(*) AS albums FROM Artist ar JOIN Album al ON al.ArtistId = ar.ArtistId GROUP BY ar.ArtistId, ar.Name ORDER BY albums DESC, ar.Name LIMIT 5",
    },
    Case {
        sqlite: "SELECT BillingCountry, sum(Total) AS total, count(*) AS n FROM Invoice GROUP BY BillingCountry ORDER BY total DESC, BillingCountry LIMIT 10",
        postgres: "SELECT billing_country, sum(total) AS total, count(*) AS n FROM invoice GROUP BY billing_country ORDER BY total DESC, billing_country LIMIT 10",
        mysql: "SELECT BillingCountry, sum(Total) AS total, count(*) AS n FROM Invoice GROUP BY BillingCountry ORDER BY total DESC, BillingCountry LIMIT 10",
    },
    Case {
        sqlite: "SELECT FirstName, LastName, Company, Email FROM Customer WHERE Company IS NULL AND CustomerId < 12 ORDER BY CustomerId",
        postgres: "SELECT first_name, last_name, company, email FROM customer WHERE company IS NULL AND customer_id < 12 ORDER BY customer_id",
        mysql: "SELECT FirstName, LastName, Company, Email FROM Customer WHERE Company IS NULL AND CustomerId < 12 ORDER BY CustomerId",
    },
    Case {
        sqlite: "SELECT strftime('%Y', InvoiceDate) + 0 AS year, count(*) FROM Invoice GROUP BY 1 ORDER BY 1",
        postgres: "SELECT extract(year FROM invoice_date)::int AS year, count(*) FROM invoice GROUP BY 1 ORDER BY 1",
        mysql: "SELECT year(InvoiceDate) AS year, count(*) FROM Invoice GROUP BY 1 ORDER BY 1",
    },
    Case {
        sqlite: "WITH t AS (SELECT GenreId, avg(Milliseconds) AS ms FROM Track GROUP BY GenreId) SELECT g.Name, round(t.ms / 1000, 2) FROM t JOIN Genre g ON g.GenreId = t.GenreId ORDER BY t.ms DESC LIMIT 4",
        postgres: "WITH t AS (SELECT genre_id, avg(milliseconds) AS ms FROM track GROUP BY genre_id) SELECT g.name, round(t.ms / 1000, 2) FROM t JOIN genre g USING (genre_id) ORDER BY t.ms DESC LIMIT 4",
        mysql: "WITH t AS (SELECT GenreId, avg(Milliseconds) AS ms FROM Track GROUP BY GenreId) SELECT g.Name, round(t.ms / 1000, 2) FROM t JOIN Genre g ON g.GenreId = t.GenreId ORDER BY t.ms DESC LIMIT 4",
    },
    Case {
        sqlite: "SELECT InvoiceId, InvoiceDate, Total FROM Invoice ORDER BY InvoiceId LIMIT 3",
        postgres: "SELECT invoice_id, invoice_date, total FROM invoice ORDER BY invoice_id LIMIT 3",
        mysql: "SELECT InvoiceId, InvoiceDate, Total FROM Invoice ORDER BY InvoiceId LIMIT 3",
    },
    Case {
        sqlite: "SELECT e.LastName, m.LastName FROM Employee e LEFT JOIN Employee m ON m.EmployeeId = e.ReportsTo ORDER BY e.EmployeeId",
        postgres: "SELECT e.last_name, m.last_name FROM employee e LEFT JOIN employee m ON m.employee_id = e.reports_to ORDER BY e.employee_id",
        mysql: "SELECT e.LastName, m.LastName FROM Employee e LEFT JOIN Employee m ON m.EmployeeId = e.ReportsTo ORDER BY e.EmployeeId",
    },
    Case {
        sqlite: "SELECT Name FROM Artist WHERE Name LIKE 'Ant%nio%' ORDER BY ArtistId",
        postgres: "SELECT name FROM artist WHERE name LIKE 'Ant%nio%' ORDER BY artist_id",
        mysql: "SELECT Name FROM Artist WHERE Name LIKE 'Ant%nio%' ORDER BY ArtistId",
    },
    Case {
        sqlite: "SELECT count(DISTINCT Composer), min(UnitPrice), max(UnitPrice), sum(Bytes) FROM Track",
        postgres: "SELECT count(DISTINCT composer), min(unit_price), max(unit_price), sum(bytes) FROM track",
        mysql: "SELECT count(DISTINCT BINARY Composer), min(UnitPrice), max(UnitPrice), sum(Bytes) FROM Track",
    },
];

async fn asked(engine: &Engine, statement: &str) -> Vec<Vec<String>> {
    let arguments = json!({ "statement": statement }).to_string();
    let model = ScriptedModel::new().calls([call("query", arguments)]).text("done");
    let agent = LightAgent::builder().url(&engine.url).model(Arc::new(model)).build().unwrap();
    rows(&agent.ask("q").await.unwrap())
}

#[tokio::test]
async fn every_engine_gives_the_rows_of_sqlite() {
    let engines = others();
    for case in CASES {
        let expected = asked(&sqlite(), case.sqlite).await;
        assert!(!expected.is_empty(), "{}", case.sqlite);
        for engine in &engines {
            assert_eq!(asked(engine, case.of(engine)).await, expected, "{}: {}", engine.id, case.of(engine));
        }
    }
}

//! The conformance suite of the testkit on scratch databases: of the newest server, of one in wide use, of the
//! oldest that the dialect is for, and of the newest behind PgBouncer.

#[cfg(test)]
#[expect(dead_code, reason = "the suite needs a part of what the other tests share")]
#[path = "it/support.rs"]
mod support;

use std::time::Duration;

use dbagent_core::context::CallContext;
use dbagent_core::{
    Dialect, Error, ErrorKind, ObjectName, Param, Params, Request, Result, Target, async_trait,
};
use dbagent_postgres::testing::raw_hardened;
use dbagent_testkit::conformance::{CANARY, Change, Corpus, Expected, Fixture, Material, Value, sql};
use tokio::sync::OnceCell;

use support::{Scratch, in_database, target};

dbagent_testkit::dialect_conformance!(fixture = PostgresFixture::new(Server::Newest));

#[cfg(test)]
mod on_the_old_server {
    use super::{PostgresFixture, Server};
    dbagent_testkit::dialect_conformance!(fixture = PostgresFixture::new(Server::Old));
}

#[cfg(test)]
mod on_the_oldest_server {
    use super::{PostgresFixture, Server};
    dbagent_testkit::dialect_conformance!(fixture = PostgresFixture::new(Server::Oldest));
}

#[cfg(test)]
mod behind_a_pooler {
    use super::{PostgresFixture, Server};
    dbagent_testkit::dialect_conformance!(fixture = PostgresFixture::new(Server::BehindPooler));
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Server {
    Newest,
    Old,
    Oldest,
    BehindPooler,
}

struct PostgresFixture {
    server: Server,
    scratch: OnceCell<Scratch>,
}

impl PostgresFixture {
    fn new(server: Server) -> Self {
        Self { server, scratch: OnceCell::new() }
    }

    /// The variable of the owner, who makes the scratch database.
    fn owner(&self) -> &'static str {
        match self.server {
            Server::Newest | Server::BehindPooler => "DBAGENT_TEST_POSTGRES_URL",
            Server::Old => "DBAGENT_TEST_POSTGRES_OLD_URL",
            Server::Oldest => "DBAGENT_TEST_POSTGRES_OLDEST_URL",
        }
    }

    /// The URL by which the dialect reaches the scratch database.
    async fn url(&self) -> Result<String> {
        let scratch = self.scratch().await?;
        if self.server != Server::BehindPooler {
            return Ok(scratch.url.clone());
        }
        let pooler = std::env::var("DBAGENT_TEST_POSTGRES_PGBOUNCER_URL").unwrap_or_default();
        Ok(support::with_parameter(&in_database(&pooler, &scratch.name), "pooler=transaction"))
    }

    /// The scratch database, made by the first call.
    async fn scratch(&self) -> Result<&Scratch> {
        let make = async {
            let variable =
                |name: &str| std::env::var(name).map_err(|e| Error::new(ErrorKind::Config, e.to_string()));
            let scratch = Scratch::on(&variable(self.owner())?, "").await;
            let mut setup = sql::setup();
            setup.push("COMMENT ON TABLE orders IS 'what people bought'".to_owned());
            setup.push("CREATE SEQUENCE kit_sequence".to_owned());
            setup.push("CREATE MATERIALIZED VIEW kit_view AS SELECT count(*) FROM orders".to_owned());
            setup.push("ANALYZE".to_owned());
            scratch.change(&setup.join(";\n")).await;
            Ok(scratch)
        };
        self.scratch.get_or_try_init(|| make).await
    }
}

fn one(sql: &str, columns: &[&str], row: Vec<Value>) -> Expected {
    Expected::new(Request::text(sql), columns, vec![row])
}

#[async_trait]
impl Fixture for PostgresFixture {
    fn dialect(&self) -> &'static Dialect {
        &support::DIALECT
    }

    async fn unavailable(&self) -> Option<String> {
        let is_set = |name: &str| std::env::var(name).is_ok_and(|url| !url.is_empty());
        let pooler = (self.server == Server::BehindPooler).then_some("DBAGENT_TEST_POSTGRES_PGBOUNCER_URL");
        let missing = [self.owner()].into_iter().chain(pooler).find(|name| !is_set(name));
        missing.map(|name| format!("{name} is not set"))
    }

    async fn target(&self) -> Result<Target> {
        Ok(target(&self.url().await?))
    }

    fn material(&self) -> Material {
        let text = |s: &str| Request::text(s);
        let mut material = Material::sql();
        material.echo_positional = Some(text("SELECT $1 AS v"));
        // Series are kept in memory: what never ends is their product.
        let endless = "generate_series(1, 100000) AS a(i), generate_series(1, 100000) AS b(j), \
                       generate_series(1, 100000) AS c(k)";
        material.endless = Some(text(&format!("SELECT count(*) FROM {endless}")));
        // Conditions that are always true, and of which the planner expects little, keep the estimate small.
        material.endless_rows = Some(text(&format!(
            "SELECT i, 'a text of some length' AS t FROM {endless} \
             WHERE i % 1 = 0 AND j % 1 = 0 AND k % 1 = 0 AND (i + j) % 1 = 0 AND (j + k) % 1 = 0"
        )));
        material.many_rows = Some((
            text(&format!(
                "SELECT i, 'a text of some length' AS t FROM generate_series(1, {}) AS g(i)",
                sql::MANY
            )),
            sql::MANY,
        ));
        material.types = vec![
            one(
                "SELECT 9007199254740993 AS i, '-9223372036854775808'::int8 AS least, 0.1::float8 AS f, 12.50 AS d, \
                 'Infinity'::float8 AS inf, 'NaN'::float4 AS nan, true AS yes",
                &["i", "least", "f", "d", "inf", "nan", "yes"],
                vec![
                    9_007_199_254_740_993.into(),
                    i64::MIN.into(),
                    0.1.into(),
                    "12.50".into(),
                    f64::INFINITY.into(),
                    f64::NAN.into(),
                    true.into(),
                ],
            ),
            one(
                "SELECT 'ünï 表' AS t, '' AS e, E'line\\nbreak' AS n, '\\x00ff'::bytea AS b, ''::bytea AS nob, 1 AS a, 2 AS a",
                &["t", "e", "n", "b", "nob", "a", "a"],
                vec![
                    "ünï 表".into(),
                    "".into(),
                    "line\nbreak".into(),
                    Value::Bytes(vec![0, 255]),
                    Value::Bytes(vec![]),
                    1.into(),
                    2.into(),
                ],
            ),
            one(
                "SELECT date '2024-02-29' AS d, timestamp '2024-02-29 10:00:00.25' AS t, interval '1 day 2 hours' AS i, \
                 '{1,NULL}'::int[] AS a, int4range(1, 5) AS r, 'f47ac10b-58cc-4372-a567-0e02b2c3d479'::uuid AS u",
                &["d", "t", "i", "a", "r", "u"],
                vec![
                    "2024-02-29".into(),
                    "2024-02-29 10:00:00.25".into(),
                    "1 day 02:00:00".into(),
                    Value::json("[1,null]"),
                    "[1,5)".into(),
                    "f47ac10b-58cc-4372-a567-0e02b2c3d479".into(),
                ],
            ),
        ];
        material.nested = vec![one(
            "SELECT '{\"b\": [1, {\"c\": null}], \"a\": 1.50}'::jsonb AS j, ARRAY['x', NULL] AS a",
            &["j", "a"],
            vec![Value::json("{\"a\":1.50,\"b\":[1,{\"c\":null}]}"), Value::json("[\"x\",null]")],
        )];
        material.errors = vec![
            (text("SELECT 1 / (id - id) FROM users"), ErrorKind::Data),
            (text("SELECT 'x'::int"), ErrorKind::Data),
            (text("SELECT (SELECT id FROM users)"), ErrorKind::Data),
            (text("SELECT id + name FROM users"), ErrorKind::UnknownFunction),
            (text("SELECT name, count(*) FROM users"), ErrorKind::Syntax),
            (text(&format!("SELECT 1{}", ", 1".repeat(1_700))), ErrorKind::TooLarge),
        ];
        material.parameters = vec![one(
            "SELECT $1::int IS NULL AS a, $2::int8 AS b, $3::float8 AS c, $4::bool AS d, $5::numeric AS e, \
             $6::timestamp AS f, $7::bytea AS g, $8::uuid AS h",
            &["a", "b", "c", "d", "e", "f", "g", "h"],
            vec![
                true.into(),
                9_007_199_254_740_993.into(),
                0.5.into(),
                true.into(),
                "12.50".into(),
                "2024-05-01 00:00:00".into(),
                Value::Bytes(vec![0, 255]),
                "f47ac10b-58cc-4372-a567-0e02b2c3d479".into(),
            ],
        )];
        let values = vec![
            Param::Null,
            Param::I64(9_007_199_254_740_993),
            Param::F64(0.5),
            Param::Bool(true),
            Param::Decimal("12.50".into()),
            Param::Date("2024-05-01".into()),
            Param::Bytes(vec![0, 255]),
            Param::Uuid("f47ac10b-58cc-4372-a567-0e02b2c3d479".into()),
        ];
        for expected in &mut material.parameters {
            expected.request = expected.request.clone().with_params(Params::Positional(values.clone()));
        }
        material.writes.extend(
            [
                "TRUNCATE orders",
                "CREATE TABLE kit_as AS SELECT 1 AS a",
                "SELECT 1 AS a INTO kit_into",
                "WITH d AS (DELETE FROM orders RETURNING *) SELECT * FROM d",
                "SELECT * FROM users FOR UPDATE",
                "SELECT nextval('kit_sequence')",
                "REFRESH MATERIALIZED VIEW kit_view",
                "CREATE FUNCTION kit_function() RETURNS int LANGUAGE sql AS 'SELECT 1'",
                "COMMENT ON TABLE users IS 'x'",
                "GRANT SELECT ON users TO PUBLIC",
                "VACUUM",
                "CREATE DATABASE kit_database",
                "COPY users FROM STDIN",
            ]
            .map(Request::text),
        );
        if self.server != Server::Oldest {
            // Version 15 brought it.
            let merge = "MERGE INTO orders USING users ON orders.user_id = users.id WHEN MATCHED THEN DELETE";
            material.writes.push(Request::text(merge));
        }
        material.default_namespace = Some("public".to_owned());
        material.comment = Some((ObjectName::new("orders"), "what people bought".to_owned()));
        material
    }

    async fn raw_hardened(&self, request: &Request) -> Option<Result<()>> {
        let run = async {
            let call = CallContext::within(Duration::from_secs(60));
            let session = raw_hardened(&self.target().await?, &call).await?;
            session.run(request).await.map(|_| ())
        };
        Some(run.await)
    }

    async fn beside(&self, change: Change) -> Option<Result<()>> {
        let statements = match change {
            Change::Create(name) => format!("CREATE TABLE {} (a INTEGER)", sql::quoted(&name.name)),
            Change::ViewOverOrders => {
                "DROP VIEW user_emails; CREATE VIEW user_emails AS SELECT id, status AS contact FROM orders"
                    .to_owned()
            }
            _ => return None,
        };
        match self.scratch().await {
            Ok(scratch) => {
                scratch.change(&statements).await;
                Some(Ok(()))
            }
            Err(e) => Some(Err(e)),
        }
    }

    async fn wrong_targets(&self) -> Result<Vec<(Target, ErrorKind)>> {
        if self.server == Server::BehindPooler {
            // A pooler has words of its own for what is wrong behind it.
            let unknown = support::with_parameter(&self.url().await?, "no_such_parameter=1");
            return Ok(vec![(target(&unknown), ErrorKind::Config)]);
        }
        let url = &self.url().await?;
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let (login, place) = rest.rsplit_once('@').unwrap_or_default();
        let user = login.split(':').next().unwrap_or_default();
        let port = free_port()?;
        let mut nonsense = target(url);
        nonsense.credential = nonsense.credential.set("connect_timeout", "soon");
        Ok(vec![
            (target(&format!("{scheme}://{user}:wrong@{place}")), ErrorKind::Authentication),
            (target(&format!("{scheme}://no_such_account:x@{place}")), ErrorKind::Authentication),
            (target(&in_database(url, "no_such_database")), ErrorKind::DatabaseNotFound),
            (target(&format!("{scheme}://{login}@127.0.0.1:{port}/x")), ErrorKind::Connection),
            (target(&format!("{scheme}://{login}@no-such-host.invalid/x")), ErrorKind::Connection),
            (target(&support::with_parameter(url, "no_such_parameter=1")), ErrorKind::Config),
            (target(&support::with_parameter(url, "sslmode=perhaps")), ErrorKind::Config),
            (nonsense, ErrorKind::Config),
        ])
    }

    async fn secret_targets(&self) -> Result<Vec<Target>> {
        if self.server == Server::BehindPooler {
            // It knows only the accounts of its own list.
            return Ok(Vec::new());
        }
        let scratch = self.scratch().await?;
        let role = format!("{}_secret", scratch.name);
        scratch
            .change(&format!(
                "CREATE ROLE {role} LOGIN PASSWORD '{CANARY}'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}"
            ))
            .await;
        let url = &scratch.url;
        let place = url.rsplit_once('@').map_or(url.as_str(), |(_, place)| place);
        let mut apart = target(&format!("postgres://{place}"));
        apart.credential = apart.credential.set("user", role.as_str()).set("password", CANARY);
        Ok(vec![target(&format!("postgres://{role}:{CANARY}@{place}")), apart])
    }

    fn corpora(&self) -> Vec<Corpus> {
        vec![
            Corpus::new("postgres.jsonl", include_str!("../../../tests/corpora/postgres/postgres.jsonl"))
                .disputed(include_str!("../../../tests/corpora/postgres/disputed.jsonl")),
            Corpus::new("own.jsonl", include_str!("../../../tests/corpora/postgres/own.jsonl")),
        ]
    }
}

/// A port on which nobody listens.
fn free_port() -> Result<u16> {
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).map(|a| a.port());
    port.map_err(|e| Error::new(ErrorKind::Io, e.to_string()))
}

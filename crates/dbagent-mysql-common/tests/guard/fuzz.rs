//! Rows of the corpora with tokens moved about, and sentences over the server's own functions: what is still
//! cleared must still only read. On a server of its own, as an owner who could write.

use dbagent_core::{GuardedSession, Result, async_trait};
use dbagent_services::Server;
use dbagent_testkit::fuzz::{Fuzzed, Mutations, Plan, Sentences, VARIABLE, Vocabulary, run};

use super::corpus::rows;
use super::lexing::SPICE;
use super::server::{Scratch, Side, required};
use super::state::State;
use crate::KIT;

/// What upsets a grammar.
const WORDS: &[&str] = &[
    "SELECT",
    "DELETE FROM users",
    "; DROP TABLE users",
    "UNION SELECT",
    "EXPLAIN ",
    "EXPLAIN ANALYZE ",
    "ANALYZE FORMAT=JSON ",
    "INTO @v",
    "INTO OUTFILE 'own_fuzz'",
    "FOR UPDATE",
    "LOCK IN SHARE MODE",
    "LOAD_FILE('/etc/passwd')",
    "GET_LOCK('a', 0)",
    "SLEEP(0)",
    "touch(1)",
    "`count`(1)",
    "count/**/(1)",
    "@a := 1",
    "LAST_INSERT_ID(5)",
    "/*! DELETE FROM users */",
    "/*!50000 */",
    "/*+ SET_VAR(a=1) */",
    "NEXT VALUE FOR s",
    "NEXTVAL(s)",
    "SETVAL(s, 9)",
    "WITH x AS (",
    "VALUES (1)",
    "VALUES ROW(1)",
    "TABLE users",
    "SHOW TABLES WHERE ",
    "DO ",
    "CALL do_work()",
    "RETURNING *",
    "FOR SYSTEM_TIME ALL",
    "LIMIT ROWS EXAMINED 1",
    "CAST(",
    " AS CHAR)",
    "INTERVAL ",
    "MATCH (name) AGAINST (",
    "JSON_TABLE(",
    "{x ",
    "USE INDEX (by_name)",
    "PROCEDURE ANALYSE()",
    "COLLATE utf8mb4_bin",
    "ROW(",
    "GROUP BY ROLLUP(id)",
    "WITH ROLLUP",
    "mysql.",
];

struct Engine {
    // Dropped before the server.
    scratch: Scratch,
    _server: Server,
}

#[async_trait]
impl Fuzzed for Engine {
    async fn session(&self) -> Result<GuardedSession> {
        Ok(self.scratch.session().await)
    }

    async fn fingerprint(&self) -> Result<Vec<(String, String)>> {
        let mut side = Side::connect(&self.scratch.url()).await.expect("the server is there");
        let state = State::of(&mut side, &self.scratch.name).await.expect("the server is there");
        Ok(state.0.into_iter().map(|(part, lines)| (part, lines.join("\n"))).collect())
    }
}

fn vocabulary() -> Vocabulary {
    let owned = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    let mut functions: Vec<String> = KIT.flavor.functions().iter().map(|(n, _)| n.to_owned()).collect();
    functions.extend(owned(&[
        "touch",
        "plain",
        "`count`",
        "count/**/",
        "`rollup`",
        "no_such",
        "LOAD_FILE",
        "sys_exec",
    ]));
    Vocabulary {
        tables: vec![
            ("users".into(), owned(&["id", "name", "email", "`update`", "data", "users.id"])),
            ("orders".into(), owned(&["id", "user_id", "total", "status", "created_at"])),
            ("named".into(), owned(&["id", "name"])),
            ("logs PARTITION (p0)".into(), owned(&["id", "line"])),
        ],
        functions,
        literals: owned(&[
            "1",
            "0",
            "-1",
            "'x'",
            "NULL",
            "'a'",
            "\"b\"",
            "0x41",
            "'2026-01-02'",
            "'[1]'",
            "@v",
            "1e3",
        ]),
        expressions: owned(&[
            "CAST(name AS CHAR)",
            "name REGEXP 'a'",
            "id + INTERVAL 1 DAY",
            "@v := 5",
            "@@version",
            "name LIKE 'a%'",
            "MATCH (name, email) AGAINST ('a')",
            "COUNT(*) OVER ()",
            "{fn LOAD_FILE('x')}",
            "GROUP_CONCAT(name SEPARATOR ';')",
            "NEXT VALUE FOR s",
            "CONVERT(name USING latin1)",
        ]),
        sources: owned(&[
            "JSON_TABLE('[1]', '$[*]' COLUMNS (id INT PATH '$')) AS j",
            "users FOR SYSTEM_TIME ALL",
            "(SELECT 1 AS id FOR UPDATE) AS l",
            "information_schema.tables",
            "mysql.user",
            "users USE INDEX (by_name)",
            "LATERAL (SELECT 1 AS id) AS l",
            "DUAL",
            "s",
        ]),
        prefixes: owned(&[
            "",
            "EXPLAIN ",
            "EXPLAIN ANALYZE ",
            "ANALYZE FORMAT=JSON ",
            "DESC ",
            "EXPLAIN FORMAT=JSON ",
        ]),
        writes: rows()
            .into_iter()
            .filter(|r| !r.allow)
            .map(|r| r.statement)
            .filter(|s| !s.trim().is_empty())
            .collect(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_cleared_only_reads_whatever_was_done_to_it() {
    let server = match Server::throwaway(KIT.id) {
        Ok(server) => server,
        Err(why) => return required(&why.to_string()),
    };
    let scratch = Scratch::new(server.url()).await;
    let engine = Engine { scratch, _server: server };
    let seeds: Vec<String> = rows().into_iter().map(|r| r.statement).collect();
    let spice: Vec<String> = SPICE.iter().chain(WORDS).map(|w| (*w).to_owned()).collect();
    let mut texts = (Mutations::new(seeds, spice), Sentences::new(vocabulary()));
    let words = std::env::var(VARIABLE).ok();
    let plan = Plan::texts(0x5eed_0001_2345_6789, 1_500).from_words(words.as_deref()).unwrap();
    let report = run(&engine, &mut texts, plan).await.unwrap();
    assert!(report.finds.is_empty(), "{}: {:#?}", report.summary(), report.finds);
    assert!(report.cleared > 200 && report.refused > 200 && report.answered > 50, "{}", report.summary());
}

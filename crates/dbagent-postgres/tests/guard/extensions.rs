//! Extensions as they are installed: what is vouched for runs, the rest is refused.

use dbagent_core::guard::Policy;
use dbagent_postgres::sqlx;

use crate::support::{Judged, SERVERS, Scratch, execute, skipped};

/// An extension, what is made with it, and statements with whether they are cleared.
type Extension = (&'static str, &'static str, &'static [(&'static str, bool)]);

const EXTENSIONS: &[Extension] = &[
    (
        "pg_trgm",
        "",
        &[
            ("SELECT similarity(name, 'An') FROM users", true),
            ("SELECT name FROM users ORDER BY name <-> 'An' LIMIT 1", true),
            ("SELECT name % 'An', name <% 'x' FROM users", true),
            ("SELECT public.show_trgm('word')", true),
            ("SELECT set_limit(0.1)", false),
        ],
    ),
    (
        "hstore",
        "CREATE TABLE h (id integer, tags hstore)",
        &[
            ("SELECT tags -> 'a', tags ? 'a', tags @> 'a=>1' FROM h", true),
            ("SELECT 'a=>1'::hstore || 'b=>2'::hstore", true),
            ("SELECT (each(tags)).key FROM h", true),
            ("SELECT tags::json, hstore_to_jsonb(tags) FROM h", true),
            ("SELECT * FROM h", true),
        ],
    ),
    (
        "citext",
        "CREATE TABLE c (id integer, mail citext)",
        &[
            ("SELECT * FROM c WHERE mail = 'A@x.org'", true),
            ("SELECT mail || 'x', lower(mail), max(mail) FROM c GROUP BY mail", true),
            ("SELECT 'a'::citext = 'A'::citext", true),
            ("SELECT id + 1 FROM c", true),
        ],
    ),
    (
        "uuid-ossp",
        "",
        &[
            ("SELECT uuid_generate_v4() IS NOT NULL", true),
            ("SELECT uuid_generate_v5(uuid_ns_url(), 'x')", true),
            ("SELECT uuid_generate_v1() IS NOT NULL", true),
        ],
    ),
    (
        "pgcrypto",
        "",
        &[
            ("SELECT digest('a', 'sha256'), crypt('a', 'aa')", true),
            ("SELECT length(gen_random_bytes(4)), gen_salt('bf') IS NOT NULL", true),
        ],
    ),
    (
        "ltree",
        "CREATE TABLE l (p ltree)",
        &[
            ("SELECT p @> 'a.b', subpath(p, 0, 1), nlevel(p) FROM l", true),
            ("SELECT 'a.b'::ltree ~ '*.b'", true),
        ],
    ),
    ("intarray", "", &[("SELECT ARRAY[1,2] & ARRAY[2], sort(ARRAY[2,1])", true)]),
    ("cube", "", &[("SELECT cube_distance('(0)'::cube, '(1)'::cube)", true)]),
    ("unaccent", "", &[("SELECT unaccent('é')", true)]),
    ("fuzzystrmatch", "", &[("SELECT levenshtein('a', 'b'), soundex('a')", true)]),
    ("btree_gist", "", &[("SELECT 1 <-> 2", true)]),
    ("tsm_system_rows", "", &[("SELECT * FROM users TABLESAMPLE system_rows(1)", true)]),
    (
        "tablefunc",
        "",
        &[
            ("SELECT count(*) FROM normal_rand(3, 0, 1)", true),
            ("SELECT * FROM crosstab('SELECT 1, 2, 3') AS t(a int, b int)", false),
            ("SELECT * FROM connectby('users', 'id', 'id', '1', 0) AS t(a int, b int, c int)", false),
        ],
    ),
    (
        "dblink",
        "",
        &[
            ("SELECT * FROM dblink('dbname=postgres', 'SELECT 1') AS t(a int)", false),
            ("SELECT dblink_connect('dbname=postgres')", false),
            ("SELECT dblink_get_connections()", false),
        ],
    ),
    ("xml2", "", &[("SELECT xpath_table('id', 'name', 'users', '/a', 'true')", false)]),
    ("pageinspect", "", &[("SELECT get_raw_page('users', 0)", false)]),
    ("pgstattuple", "", &[("SELECT * FROM pgstattuple('users')", false)]),
    ("pg_buffercache", "", &[("SELECT * FROM pg_buffercache", false)]),
    ("postgres_fdw", "", &[("SELECT * FROM postgres_fdw_get_connections()", false)]),
    (
        "file_fdw",
        "CREATE SERVER f FOREIGN DATA WRAPPER file_fdw; CREATE FOREIGN TABLE ft (a text) SERVER f OPTIONS (filename '/etc/passwd')",
        &[("SELECT * FROM ft", false)],
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn functions_of_extensions_are_vouched_for_one_by_one() {
    for server in SERVERS {
        let Some(mut scratch) = Scratch::on(server, &[]).await else { continue };
        let there: Vec<String> = sqlx::query_scalar("SELECT name::text FROM pg_available_extensions")
            .fetch_all(&mut scratch.owner)
            .await
            .unwrap();
        let (mut wrong, mut tried) = (Vec::new(), 0);
        for (extension, setup, rows) in EXTENSIONS {
            if !there.iter().any(|name| name == extension) {
                skipped("postgres", &format!("the server of {server} has no {extension}"));
                continue;
            }
            execute(&mut scratch.owner, &format!("CREATE EXTENSION \"{extension}\"; {setup}")).await.unwrap();
            for (statement, allow) in *rows {
                tried += 1;
                let judged = scratch.judge(statement, &Policy::default()).await;
                if matches!(judged, Judged::Read) != *allow {
                    wrong.push(format!("{statement}: {judged:?}"));
                }
                if *allow && let Err(e) = scratch.read(statement).await {
                    wrong.push(format!("{statement}: {e}"));
                }
            }
        }
        // With all of them installed, what is honest stays honest.
        for statement in
            ["SELECT name || 'x', id + 1, id = 2, name LIKE 'a%' FROM users", "SELECT lower(name) FROM users"]
        {
            let judged = scratch.judge(statement, &Policy::default()).await;
            assert!(matches!(judged, Judged::Read), "{statement}: {judged:?}");
        }
        drop(scratch);
        assert!(wrong.is_empty(), "{server}: {}", wrong.join("\n"));
        assert!(tried > 20, "{server} has hardly any extension: {tried}");
    }
}

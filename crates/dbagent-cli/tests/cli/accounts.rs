//! `dbagent doctor` and `dbagent setup-role` on real servers: what an account can do is tried, and an account that
//! can only read is made when, and only when, somebody says so.
#![cfg(any(feature = "postgres", feature = "mysql", feature = "mariadb"))]

use dbagent_services::Server;

use crate::support::{Place, Ran};

const ROLE: &str = "looker";
const PASSWORD: &str = "Zwei-Hasen-42-im-Feld";

#[cfg(feature = "postgres")]
#[test]
fn accounts_of_postgres() {
    accounts_of("postgres");
}

#[cfg(feature = "mysql")]
#[test]
fn accounts_of_mysql() {
    accounts_of("mysql");
}

#[cfg(feature = "mariadb")]
#[test]
fn accounts_of_mariadb() {
    accounts_of("mariadb");
}

fn accounts_of(id: &'static str) {
    let server = match Server::throwaway(id) {
        Ok(server) => server,
        Err(why) => return skipped(id, &why.to_string()),
    };
    let place = Place::new();
    place.write("password", PASSWORD);
    let owner = server.url();
    let (scheme, rest) = owner.split_once("://").unwrap();
    let (user, address) = rest.rsplit_once('@').unwrap();
    let secret = user.split_once(':').unwrap().1;
    let looker = format!("{scheme}://{ROLE}:{PASSWORD}@{address}");
    let run = |words: &[&str]| -> Ran {
        let ran = place.run(words);
        for hidden in [PASSWORD, secret] {
            assert!(!ran.out.contains(hidden) && !ran.err.contains(hidden), "{id}: {ran:?}");
        }
        ran
    };

    // An owner can do what nobody should who only asks, and is told so.
    let ran = run(&["doctor", owner]);
    assert_eq!(ran.code, 0, "{id}: {ran:?}");
    for part in ["The account", "can change rows", "dbagent setup-role"] {
        assert!(ran.out.contains(part), "{id}: {part}: {}", ran.out);
    }

    // Shown, and not run.
    let ran = run(&["setup-role", owner, "--role", ROLE]);
    assert_eq!(ran.code, 0, "{id}: {ran:?}");
    assert!(ran.out.contains("CREATE ") && ran.out.contains("<password>"), "{id}: {}", ran.out);
    assert!(ran.err.contains("nothing was run"), "{id}: {}", ran.err);
    assert_ne!(run(&["run", &looker, "SELECT 1 AS one"]).code, 0, "{id}: nobody asked for this account");

    let ran = run(&["setup-role", owner, "--role", ROLE, "--apply", "--role-password-file", "password"]);
    assert_eq!(ran.code, 0, "{id}: {ran:?}");
    assert!(ran.out.contains("The account looker is there"), "{id}: {}", ran.out);
    let ran = run(&["run", &looker, "SELECT 1 AS one"]);
    assert_eq!(ran.code, 0, "{id}: {ran:?}");

    // It can do nothing more; what everybody may call on Postgres, another account would not mend.
    let ran = run(&["doctor", &looker]);
    assert_eq!(ran.code, 0, "{id}: {ran:?}");
    assert!(
        ran.out.contains("cannot change rows") && !ran.out.contains("dbagent setup-role"),
        "{id}: {}",
        ran.out
    );
}

#[expect(clippy::print_stdout, reason = "whoever runs the tests counts what was skipped")]
fn skipped(id: &str, why: &str) {
    let required = std::env::var("DBAGENT_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name.trim() == id), "DBAGENT_REQUIRE names {id}: {why}");
    println!("SKIPPED {id}: {why}");
}

//! The lists of functions are those of the real server.

use dbagent_core::{Effects, Settings};
use dbagent_mysql_common::functions::{BARE, TIGHT};
use dbagent_mysql_common::lex;
use dbagent_mysql_common::testing::Owner;

use super::corpus::read;
use super::server::{Scratch, url};
use crate::KIT;

/// "FUNCTION x does not exist", without and with an argument.
const NO_SUCH: [&str; 2] = ["1305", "1630"];

fn is_no_such(e: &dbagent_core::Error) -> bool {
    e.native_code().is_some_and(|code| NO_SUCH.iter().any(|n| code.contains(n)))
}

/// Whether the server takes a call for one of a stored function, which does not exist.
async fn is_stored(owner: &mut Owner, call: &str) -> bool {
    match owner.run(&format!("PREPARE guard_p FROM 'SELECT {call}'")).await {
        Err(e) => is_no_such(&e),
        // Not every call is resolved before it runs; none of these runs for long or changes anything.
        Ok(()) => match owner.run("EXECUTE guard_p").await {
            Err(e) => is_no_such(&e),
            Ok(()) => false,
        },
    }
}

async fn version(owner: &mut Owner) -> (u16, u16, u16) {
    let rows = owner.rows("SELECT VERSION()").await.unwrap();
    let text = rows[0][0].clone().unwrap();
    lex::version(KIT.flavor.server(), &Settings::new().with("version", &text))
}

fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = KIT.flavor.functions().iter().map(|(name, _)| name).collect();
    // With their schema before them, or waiting for something that never comes.
    names.retain(|n| !n.contains('.') && !n.ends_with("_wait") && !n.starts_with("wait_for"));
    names.sort_unstable();
    names.dedup();
    names
}

/// A call with any number of arguments is one of the server's own functions, or we do not take it for one.
#[tokio::test(flavor = "multi_thread")]
async fn every_function_of_the_list_is_the_servers_own() {
    let Some(url) = url() else { return };
    let mut scratch = Scratch::empty(&url).await;
    let owner = &mut scratch.owner;
    owner.run("SET SESSION sql_mode = CONCAT(@@sql_mode, ',IGNORE_SPACE')").await.unwrap();
    let version = version(owner).await;
    let text = format!("{}.{}.{}", version.0, version.1, version.2);
    let mut wrong = Vec::new();
    for name in names() {
        for arguments in ["", "0", "0, 0", "0, 0, 0", "0, 0, 0, 0"] {
            let call = format!("{name}({arguments})");
            let Ok(parsed) = read(&format!("SELECT {call}"), Settings::new().with("version", &text)) else {
                continue;
            };
            let ours = parsed.functions.iter().all(|f| !f.effects.contains(Effects::UNKNOWN));
            if ours && parsed.findings.is_empty() && is_stored(owner, &call).await {
                wrong.push(call);
            }
        }
    }
    assert!(wrong.is_empty(), "taken for the server's own, {version:?}: {}", wrong.join("\n"));
}

/// Names in quotes and names apart from their brackets: whatever the server would take for a stored function
/// must be none of ours.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_a_stored_function_in_quotes_or_apart_is_on_its_list() {
    let Some(url) = url() else { return };
    let mut scratch = Scratch::empty(&url).await;
    let owner = &mut scratch.owner;
    owner.run("SET SESSION sql_mode = CONCAT(@@sql_mode, ',IGNORE_SPACE')").await.unwrap();
    let version = version(owner).await;
    let mut wrong = Vec::new();
    let mut quoted = 0;
    for name in names().into_iter().filter(|n| KIT.flavor.has_function(version, n)) {
        let argument = if name == "point" { "0, 0" } else { "0" };
        if is_stored(owner, &format!("`{name}`({argument})")).await {
            quoted += 1;
            if !BARE.contains(&name) {
                wrong.push(format!("`{name}` in quotes is a stored function"));
            }
        }
        if is_stored(owner, &format!("{name}/**/({argument})")).await && !TIGHT.contains(&name) {
            wrong.push(format!("{name} with a comment behind it is a stored function"));
        }
    }
    owner.run("SET SESSION sql_mode = REPLACE(@@sql_mode, 'IGNORE_SPACE', '')").await.unwrap();
    for name in names().into_iter().filter(|n| KIT.flavor.has_function(version, n)) {
        let argument = if name == "point" { "0, 0" } else { "0" };
        if is_stored(owner, &format!("{name} ({argument})")).await && !TIGHT.contains(&name) {
            wrong.push(format!("{name} with a blank behind it is a stored function"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(quoted > 50, "{quoted}");
}

#[test]
fn a_function_that_is_another_one_is_not_ours() {
    let effects = |text: &str, mode: Option<&str>| {
        let settings = match mode {
            Some(mode) => Settings::new().with("sql_mode", mode),
            None => Settings::new(),
        };
        let parsed = read(text, settings).unwrap();
        let refused = !parsed.findings.is_empty();
        parsed.functions.iter().fold(Effects::NONE, |all, f| all | f.effects).contains(Effects::UNKNOWN)
            || refused
    };
    for (text, mode, unknown) in [
        ("SELECT COUNT(1)", None, false),
        ("SELECT COUNT (1)", None, false),
        ("SELECT COUNT (1)", Some(""), true),
        ("SELECT COUNT (1)", Some("IGNORE_SPACE"), false),
        ("SELECT COUNT(1)", Some(""), false),
        ("SELECT COUNT\n(1)", Some("STRICT_TRANS_TABLES"), true),
        ("SELECT COUNT/**/(1)", Some("IGNORE_SPACE"), true),
        ("SELECT `COUNT`(1)", Some("IGNORE_SPACE"), true),
        ("SELECT \"COUNT\"(1)", Some("IGNORE_SPACE,ANSI_QUOTES"), true),
        ("SELECT `abs`(1), ABS (1), abs/**/(1)", Some(""), false),
        ("SELECT COUNT(1), `COUNT`(1)", None, true),
        ("SELECT x.COUNT(1)", None, true),
        ("SELECT SUBSTR /* x */ ('a', 1)", None, true),
    ] {
        assert_eq!(effects(text, mode), unknown, "{text} under {mode:?}");
    }
}

#[test]
fn a_function_belongs_to_the_versions_that_have_it() {
    let (old, new, name) = match KIT.id {
        "mysql" => ("8.0.16", "8.0.17", "json_overlaps"),
        _ => ("10.6.18-MariaDB", "10.9.1-MariaDB", "json_overlaps"),
    };
    let effects = |version: &str| {
        let parsed = read(&format!("SELECT {name}('[]', '[]')"), Settings::new().with("version", version));
        parsed.unwrap().functions[0].effects
    };
    assert_eq!(effects(old), Effects::UNKNOWN);
    assert_eq!(effects(new), Effects::READ);
}

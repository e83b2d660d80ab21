//! `dbagent schema`, `doctor`, `models`, `dialects`, `completions`, `help-markdown`.

use crate::support::{ModelServer, Place, Reply, ran};

#[test]
fn schema_lists_and_describes() {
    let place = Place::new();
    let ran = place.run(["schema", "shop.db"]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains(" Track         │ table │ 3503\n"), "{}", ran.out);
    let ran = place.run(["schema", "shop.db", "Track", "Genre"]);
    for part in [
        "Track, table, rows: 3503",
        "primary key (TrackId)",
        "foreign key (GenreId) to Genre (GenreId)",
        "Genre, table",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert_eq!(place.run(["schema", "shop.db", "I*", "-f", "jsonl"]).out.lines().count(), 2);
    let json = place.run(["schema", "shop.db", "Genre", "-f", "json"]).json();
    assert_eq!(json[0]["columns"][0]["name"], "GenreId");
    let ran = place.run(["schema", "shop.db", "Gnre"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("did you mean Genre?"), "{}", ran.err);
    assert!(place.run(["schema", "shop.db", "Genre", "-f", "markdown"]).out.starts_with("## Genre"));
    assert_eq!(place.run(["schema", "shop.db", "Z*"]).out, "There are no tables like Z* here.\n");
    place.write("empty.db", "");
    assert_eq!(place.run(["schema", "empty.db"]).out, "There are no tables here.\n");
}

#[test]
fn doctor_gives_a_plain_verdict() {
    let place = Place::new();
    let ran = place.run(["doctor", "shop.db"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for part in ["ok    opens", "ok    SQLite 3.", "11 tables", "reads only", "30 s", "1,000 rows", "Ready: "]
    {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    // A file has no accounts: it is the session that is tried.
    for part in ["with the guard out of the way", "cannot change rows", "cannot reach files"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert!(!ran.out.contains("worth a look"), "{}", ran.out);
    let ran = place.run(["doctor", "sqlite:///absent.db"]);
    assert_eq!(ran.code, 3);
    assert!(
        ran.out.contains("FAIL") && ran.out.contains("hint: ") && ran.out.contains("Not ready"),
        "{}",
        ran.out
    );
    place.write(
        "notadb.db",
        "hello, this is no database at all, but long enough to be read as one by its name",
    );
    let ran = place.run(["doctor", "notadb.db"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_eq!(place.run(["doctor"]).code, 0);
}

/// The engine writes wherever it may read: what keeps it from a folder of data files is the guard and who may
/// write there.
#[cfg(feature = "duckdb")]
#[test]
fn doctor_says_of_a_folder_that_it_can_be_written() {
    let place = Place::new();
    std::fs::create_dir(place.path("lake")).unwrap();
    place.write("lake/visits.csv", "day,visitors\n2024-01-01,3\n");
    let ran = place.run(["doctor", "duckdb:///lake/"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for part in [
        "!     can reach files",
        "mount the folder read-only",
        "files are kept by the guard alone",
        "worth a look",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
}

#[test]
fn one_dialect_is_shown_and_an_unknown_one_is_named() {
    let place = Place::new();
    let ran = place.run(["dialects", "sqlite", "--format", "markdown"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.starts_with("|  | SQLite |"), "{}", ran.out);
    let ran = place.run(["dialects", "oracle"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.err.contains("oracle") && ran.err.contains("it has ") && ran.err.contains("sqlite"),
        "{}",
        ran.err
    );
}

#[test]
fn a_file_has_no_account_to_set_up() {
    let place = Place::new();
    let ran = place.run(["setup-role", "shop.db"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.err.contains("SQLite has no accounts to set up") && ran.err.contains("file system"),
        "{ran:?}"
    );
    assert_eq!(place.run(["setup-role", "shop.db", "--role-password-file", "x"]).code, 2);
}

#[test]
fn models_shows_names_and_settings_but_no_key() {
    let place = Place::new();
    let ran = ran(place.command(["models", "-f", "json"]).env("OPENAI_API_KEY", "canary"));
    assert_eq!(ran.code, 0, "{ran:?}");
    let all = ran.out + &ran.err;
    assert!(!all.contains("canary"), "{all}");
    assert!(all.contains("OPENAI_API_KEY is set") && all.contains("--model openai:MODEL"), "{all}");
    assert!(all.contains("--model offline"), "{all}");
}

#[test]
fn a_proxy_of_the_environment_is_not_used_for_this_machine() {
    let place = Place::new();
    let server = ModelServer::start(vec![Reply::Text("Yes.")]);
    let proxy = ModelServer::start(vec![Reply::Status(500)]);
    let ran = ran(place
        .command(["ask", "shop.db", "x", "--model", &server.spec()])
        .env("HTTP_PROXY", proxy.base_url())
        .env("http_proxy", proxy.base_url()));
    assert_eq!((ran.code, ran.out.as_str()), (0, "Yes.\n"), "{ran:?}");
    assert!(proxy.requests().is_empty());
}

#[test]
fn dialects_completions_and_reference() {
    let place = Place::new();
    let markdown = place.run(["dialects", "sqlite", "-f", "markdown"]);
    assert!(markdown.out.starts_with("|  | SQLite |\n| --- | --- |\n| id | sqlite |\n"), "{}", markdown.out);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = place.run(["completions", shell]);
        assert!(ran.code == 0 && ran.out.contains("dbagent"), "{ran:?}");
    }
    let first = place.run(["help-markdown"]).out;
    let wide = ran(place.command(["help-markdown"]).env("COLUMNS", "20")).out;
    assert!(first.starts_with("# ") && first == wide);
    assert!(place.run(["--help"]).out.contains("Exit codes:"));
    assert_eq!(place.run(["--version"]).out, format!("dbagent {}\n", env!("CARGO_PKG_VERSION")));
}

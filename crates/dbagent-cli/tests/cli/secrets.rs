//! A canary password is never on the screen, in whatever way it came in and whatever goes wrong.

use crate::support::{ModelServer, Place, Reply, ran};

const CANARY: &str = "canary7f3a";

fn absent(args: &[&str], ran: &crate::support::Ran) {
    assert!(!ran.out.contains(CANARY) && !ran.err.contains(CANARY), "{args:?}: {ran:?}");
    assert!(!ran.err.contains("panicked"), "{args:?}: {ran:?}");
}

#[test]
fn in_a_url() {
    let place = Place::new();
    let urls = [
        format!("postgres://bob:{CANARY}@db/x"),
        format!("sqlite://bob:{CANARY}@/shop.db"),
        format!("sqlite:///shop.db?password={CANARY}"),
        format!("postgres://bob:{CANARY}/more@db/x"),
        format!("postgres:/bob:{CANARY}@db/x"),
        format!("postgres//bob:{CANARY}@db"),
        format!("sqlite://bob:{CANARY}%zz@/shop.db"),
        format!("sqlite://bob:{CANARY}\n@/shop.db"),
    ];
    for url in &urls {
        for words in [
            vec!["run", url, "SELECT 1"],
            vec!["ask", url, "x"],
            vec!["doctor", url],
            vec!["schema", url],
            vec!["chat", url],
            vec!["judge", "--url", url, "SELECT 1"],
            vec!["judge", "--dialect", url, "SELECT 1"],
            vec!["doctor", "x", url],
            vec![url],
        ] {
            for mode in [&["-q"][..], &["-v"], &["-vv"], &[]] {
                let args: Vec<&str> = words.iter().copied().chain(mode.iter().copied()).collect();
                absent(&args, &place.run(&args));
            }
        }
    }
}

#[test]
fn in_a_url_without_its_at_sign() {
    let place = Place::new();
    for url in [
        format!("sqlite://bob:{CANARY}"),
        format!("sqlite://bob:{CANARY}/x.db?mode=ro"),
        format!("sqlite://bob:7{CANARY}"),
    ] {
        for words in
            [["doctor", &url, "-v"], ["schema", &url, "-vv"], ["judge", "SELECT 1", &format!("--url={url}")]]
        {
            absent(&words, &place.run(words));
        }
    }
}

#[test]
fn in_a_statement() {
    let place = Place::new();
    for statement in [
        format!("postgres://bob:{CANARY}@h"),
        format!("postgres://bob:it's {CANARY}@h"),
        format!("sqlite://bob:{CANARY}"),
        format!("SELECT 'x://bob:{CANARY}@h', load_extension('x://bob:{CANARY}@h')"),
        format!("SELECT 1 FROM FROM 'x://h/y?password={CANARY}'"),
        format!("SELECT \"x://bob:{CANARY}@h\" FROM nowhere"),
    ] {
        for words in [
            ["run", "shop.db", &statement, "-v"],
            ["judge", "--url=shop.db", &statement, "-v"],
            ["judge", "--dialect=sqlite", &statement, "-vv"],
        ] {
            absent(&words, &place.run(words));
        }
    }
    // The marks stand where they stood.
    let ran = place.run(["run", "shop.db", "SELECT 'x://bob:pw@h', load_extension('y')"]);
    let lines: Vec<&str> = ran.err.lines().map(str::trim_start).collect();
    assert!(lines.contains(&"SELECT 'x://******@h', load_extension('y')"), "{}", ran.err);
    let place_of = |text: &str| ran.err.lines().find_map(|line| line.find(text));
    assert_eq!(place_of("load_extension('"), place_of("^^^^^^^^^^^^^^"), "{}", ran.err);
}

#[test]
fn in_the_place_of_a_file() {
    let place = Place::new();
    for text in [
        format!("bob:{CANARY}@h"),
        format!("Server=h;Uid=bob;Pwd={CANARY};Database=x"),
        format!("host=h user=bob password='{CANARY} b'"),
        format!("postgres://bob:{CANARY}@h/x"),
    ] {
        for words in [
            vec!["run", "shop.db", "SELECT 1", "--config", &text, "-vv"],
            vec!["config", "check", "--config", &text],
            vec!["doctor", "--config", &text],
            vec!["ask", "shop.db", "--batch", &text, "-vv"],
            vec!["judge", "--dialect", "sqlite", "--corpus", &text, "-vv"],
            vec!["run", "shop.db", "SELECT 1", "--password-file", &text, "-vv"],
            vec!["run", &text, "SELECT 1", "-vv"],
            vec!["schema", "shop.db", &text, "-vv"],
        ] {
            absent(&words, &place.run(&words));
        }
        let mut command = place.command(["doctor", "shop.db", "-v"]);
        absent(&["DBAGENT_CONFIG"], &ran(command.env("DBAGENT_CONFIG", &text)));
    }
    // A file that is there is named as it is.
    place.write("a@b.toml", "x = ");
    let ran = place.run(["config", "check", "--config", "a@b.toml"]);
    assert!(ran.err.contains("a@b.toml"), "{}", ran.err);
}

#[test]
fn a_password_on_the_command_line_warns_once() {
    let place = Place::new();
    let url = format!("sqlite://bob:{CANARY}@/shop.db");
    let ran = place.run(["run", &url, "SELECT 1"]);
    assert_eq!(ran.err.matches("a password on the command line").count(), 1, "{}", ran.err);
    let clean = place.run(["run", "shop.db", "SELECT 1"]);
    assert!(!clean.err.contains("warning"), "{}", clean.err);
}

#[test]
fn in_the_configuration_and_in_the_environment() {
    let place = Place::new();
    let files = [
        format!("[databases.a]\nurl = \"sqlite:///shop.db\"\ncredential = {{ password = \"{CANARY}\" }}\n"),
        format!("[databases.a]\nurl = \"postgres://bob:{CANARY}@db/x\"\n"),
        format!("[databases.a]\nurl = \"{CANARY}\"\n"),
        format!("[databases.a]\nurl = \"x://y\"\nguardrails = {{ query_timeout_s = \"{CANARY}\" }}\n"),
        format!("[models.m]\nmodel = \"openai:x\"\napi_key = [\"{CANARY}\"]\n"),
        format!("[models.m]\nmodel = \"openai:x\"\nwindow = \"{CANARY}\"\nactions = \"{CANARY}\"\n"),
        format!("password = \"{CANARY}\" x\n"),
        "[databases.a]\nurl = \"${SECRET}\"\ncredential = { user = \"${SECRET}\" }\n".to_owned(),
        "[models.m]\nmodel = \"openai:x\"\nbase_url = \"${SECRET}\"\napi_key = \"${SECRET}\"\n".to_owned(),
    ];
    for file in &files {
        place.write("dbagent.toml", file);
        for words in [
            vec!["config", "show"],
            vec!["config", "check"],
            vec!["run", "a", "SELECT 1", "-vv"],
            vec!["ask", "a", "x", "-vv"],
            vec!["doctor", "a", "-v"],
            vec!["models"],
        ] {
            let mut command = place.command(&words);
            absent(&words, &ran(command.env("SECRET", CANARY).env("DBAGENT_PASSWORD", CANARY)));
        }
    }
}

#[test]
fn in_a_password_file_and_a_credential_option() {
    let place = Place::new();
    place.write("password", CANARY);
    for words in [
        vec!["run", "shop.db", "SELECT 1", "--password-file", "password", "-vv"],
        vec!["run", "shop.db", "SELECT 1", "--credential", "password=canary7f3a", "-vv"],
        vec!["run", "shop.db", "SELECT 1", "--credential", "canary7f3a", "-vv"],
        vec!["run", "shop.db", "SELECT 1", "--credential", "connect_timeout=canary7f3a", "-vv"],
    ] {
        let ran = place.run(&words);
        assert_eq!(ran.code, 2, "{words:?}: {ran:?}");
        absent(&words, &ran);
    }
}

#[test]
fn a_key_of_a_model_stays_in_its_header() {
    let place = Place::new();
    for status in [400, 401, 404, 429] {
        let server = ModelServer::start(vec![Reply::Status(status)]);
        let words = ["ask", "shop.db", "x", "-vv", "--model", &server.spec()];
        let ran = ran(place.command(words).env("DBAGENT_API_KEY", CANARY));
        assert_eq!(ran.code, 4, "{ran:?}");
        absent(&words, &ran);
        assert!(server.requests()[0].contains(CANARY));
    }
}

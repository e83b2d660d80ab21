//! Proxies from the environment: used for other machines unless the host says no, never for this one.

mod support;

use std::process::Command;

use dbagent_openai::OpenAi;
use support::*;

const HOME: &str = "DBAGENT_TEST_LOCAL_SERVER";

/// Runs itself again with a proxy in its environment: a process cannot change its own safely.
#[tokio::test(flavor = "multi_thread")]
async fn proxies_are_for_other_machines() {
    if let Some(local) = std::env::var_os(HOME) {
        return asks(local.to_str().unwrap()).await;
    }
    let local = Server::sending(events(&[&text("local"), STOP, DONE])).await;
    let proxy = Server::sending(events(&[&text("proxied"), STOP, DONE])).await;
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "proxies_are_for_other_machines", "--nocapture"]).env(HOME, &local.base_url);
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        child.env(name, proxy.base_url.trim_end_matches("/v1"));
    }
    for name in ["NO_PROXY", "no_proxy", "REQUEST_METHOD"] {
        child.env_remove(name);
    }
    let output = tokio::task::spawn_blocking(move || child.output()).await.unwrap().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && shown.contains("1 passed"),
        "{shown}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(local.asked().len(), 1);
    let proxied: Vec<_> =
        proxy.asked().into_iter().map(|a| a.head.lines().next().unwrap().to_owned()).collect();
    assert_eq!(proxied, ["POST http://model.invalid/v1/chat/completions HTTP/1.1"]);
}

#[expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
async fn asks(local: &str) {
    let at = |base_url: &str| OpenAi::builder().base_url(base_url).model("m");
    let reply = ask(&at(local).build().unwrap(), hello()).await.1.unwrap();
    assert_eq!(reply.text, "local");
    let reply = ask(&at("http://model.invalid/v1").build().unwrap(), hello()).await.1.unwrap();
    assert_eq!(reply.text, "proxied");
    let direct = at("http://model.invalid/v1").environment_proxies(false).build().unwrap();
    assert!(ask(&direct, hello()).await.1.is_err());
}

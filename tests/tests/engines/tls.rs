//! Every network client of a program with everything in it encrypts by the same provider, side by side.
//!
//! Two TLS stacks in one process are the trap: which of them is the default of the process is decided by
//! whoever asks first, and some clients panic when nobody did.

use std::time::Duration;

use dbagent::account::Transport;
use dbagent::{CallContext, ConnUrl, GuardedSession, LightAgent, Registry, Target};

use crate::engine::address;

/// The servers with the parameters that make them check who they talk to.
const SERVERS: &[(&str, &str, &str)] = &[
    ("postgres", "DBAGENT_TEST_POSTGRES", "sslmode=verify-ca&sslrootcert="),
    ("mysql", "DBAGENT_TEST_MYSQL", "ssl-mode=VERIFY_CA&ssl-ca="),
    ("mariadb", "DBAGENT_TEST_MARIADB", "ssl-mode=VERIFY_CA&ssl-ca="),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_client_encrypts_in_one_process() {
    // First the client of models: it has to bring its provider along. Nobody listens there, which is what it
    // must find out, on an address that it may only reach encrypted.
    let model = dbagent::openai::OpenAi::builder()
        .base_url("https://127.0.0.1:9/v1")
        .model("none")
        .connect_timeout(Duration::from_secs(5))
        .build()
        .unwrap();
    let file = crate::engine::sqlite().url;
    let agent = LightAgent::builder().url(file).model(std::sync::Arc::new(model)).build().unwrap();
    let e = agent.ask("q").await.unwrap_err();
    assert_eq!(e.kind(), dbagent::ErrorKind::Model, "{e}");

    for (id, variable, parameters) in SERVERS {
        let url = address(id, &format!("{variable}_TLS_URL"));
        let authority = address(id, &format!("{variable}_CA"));
        let (Some(url), Some(authority)) = (url, authority) else { continue };
        let mark = if url.contains('?') { '&' } else { '?' };
        let url = ConnUrl::parse(&format!("{url}{mark}{parameters}{authority}")).unwrap();
        let dialect = Registry::collected().unwrap().for_url(&url).unwrap();
        let call = CallContext::within(Duration::from_secs(60));
        let session = GuardedSession::open(dialect, Target::new("tls", url), &call).await.unwrap();
        let transport = session.probe(&call).await.unwrap().transport;
        assert!(matches!(transport, Transport::Encrypted(_)), "{id}: {transport:?}");
        session.close().await;
    }
}

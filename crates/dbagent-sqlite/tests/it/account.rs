//! What a session could do with the guard out of the way, as `dbagent doctor` shows it.

use dbagent_core::account::{Found, PowerKind, Transport};

use crate::support::{Scratch, call};

#[tokio::test(flavor = "multi_thread")]
async fn a_session_can_do_nothing_but_read() {
    let scratch = Scratch::new();
    let before = std::fs::read(&scratch.file).unwrap();
    let probe = scratch.session().await.probe(&call()).await.unwrap();
    assert_eq!((probe.account.as_deref(), &probe.transport), (None, &Transport::Local));
    let kinds: Vec<PowerKind> = probe.powers.iter().map(|p| p.kind).collect();
    assert_eq!(
        kinds,
        [
            PowerKind::WriteRows,
            PowerKind::ChangeSchema,
            PowerKind::TemporaryTables,
            PowerKind::Functions,
            PowerKind::ServerFiles,
            PowerKind::Administer,
        ]
    );
    for power in &probe.powers {
        assert_eq!(power.found, Found::Cannot, "{power:?}");
        assert!(power.evidence.contains("not authorized"), "{power:?}");
    }
    assert!(probe.only_reads());
    assert_eq!(std::fs::read(&scratch.file).unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_without_a_table_has_no_rows_to_try() {
    let probe = Scratch::with("").session().await.probe(&call()).await.unwrap();
    assert!(probe.powers.iter().all(|p| p.kind != PowerKind::WriteRows) && probe.only_reads());
}

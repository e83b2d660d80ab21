//! What a session could do with the guard out of the way, as `dbagent doctor` shows it.

use dbagent_core::account::{Found, Power, PowerKind, Probe, Transport};
use dbagent_core::{ConnUrl, Target};

use crate::support::{Scratch, call, open};

fn power(probe: &Probe, kind: PowerKind) -> &Power {
    probe.powers.iter().find(|p| p.kind == kind).unwrap_or_else(|| panic!("{kind:?}: {probe:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_on_a_file_changes_nothing_that_stays() {
    let scratch = Scratch::new();
    let before = std::fs::read(&scratch.file).unwrap();
    let probe = scratch.session().await.probe(&call()).await.unwrap();
    assert_eq!((probe.account.as_deref(), &probe.transport), (None, &Transport::Local));
    for (kind, words) in [
        (PowerKind::WriteRows, "read-only"),
        (PowerKind::ChangeSchema, "read-only"),
        (PowerKind::ServerFiles, "disabled"),
        (PowerKind::Administer, "locked"),
    ] {
        let power = power(&probe, kind);
        assert_eq!(power.found, Found::Cannot, "{power:?}");
        assert!(power.evidence.contains(words), "{power:?}");
    }
    // Of the session itself, and gone with it.
    let temporary = power(&probe, PowerKind::TemporaryTables);
    assert_eq!((temporary.found, temporary.remedy.len()), (Found::Can, 0));
    assert_eq!(std::fs::read(&scratch.file).unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_can_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("visits.csv"), "day,visitors\n2024-01-01,3\n").unwrap();
    let url = ConnUrl::parse(&format!("duckdb:///{}/", folder.path().display())).unwrap();
    let session = open(Target::new("lake", url)).await.unwrap();
    let probe = session.probe(&call()).await.unwrap();
    let files = power(&probe, PowerKind::ServerFiles);
    assert_eq!(files.found, Found::Can, "{files:?}");
    assert!(files.evidence.contains("mount the folder read-only"), "{files:?}");
    for kind in [PowerKind::WriteRows, PowerKind::ChangeSchema, PowerKind::Administer] {
        assert_eq!(power(&probe, kind).found, Found::Cannot, "{probe:?}");
    }
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(names, ["visits.csv"], "nothing stays of the tries");
}

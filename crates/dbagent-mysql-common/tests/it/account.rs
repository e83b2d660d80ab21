//! What an account can do is tried on the real server, and what sets one up does what it says.

use dbagent_core::account::{Found, PowerKind, Probe, RoleRequest};
use dbagent_core::{ErrorKind, OpenContext, Secret, Target};

use super::support::{call, open, rows, scratch_with, target};
use crate::own::{DIALECT, Scratch};

/// Everything that an account may be able to do beyond reading, except to call what others stored.
const KINDS: [PowerKind; 5] = [
    PowerKind::WriteRows,
    PowerKind::ChangeSchema,
    PowerKind::TemporaryTables,
    PowerKind::ServerFiles,
    PowerKind::Administer,
];

fn found(probe: &Probe, kind: PowerKind) -> Found {
    probe.powers.iter().find(|power| power.kind == kind).map(|power| power.found).unwrap()
}

async fn probe(target: Target) -> Probe {
    open(target).await.unwrap().probe(&call()).await.unwrap()
}

fn context(target: &Target) -> OpenContext {
    OpenContext { call: call(), access: target.access, guardrails: target.guardrails.clone() }
}

async fn change(scratch: &Scratch, statements: &[String]) {
    let mut owner = scratch.owner().await.unwrap();
    for statement in statements {
        owner.run(statement).await.unwrap_or_else(|e| panic!("{statement}: {e}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_can_do_everything_and_nothing_stays_of_the_tries() {
    let Some(db) = scratch_with(&["CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)"]).await else {
        return;
    };
    let state = format!(
        "SELECT (SELECT count(*) FROM {0}.t), (SELECT count(*) FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA = '{0}'), (SELECT count(*) FROM mysql.user WHERE User LIKE 'dbagent_probe%')",
        db.name()
    );
    let before = db.owner().await.unwrap().rows(&state).await.unwrap();
    let probe = probe(target(db.url())).await;
    for kind in KINDS {
        assert_eq!(found(&probe, kind), Found::Can, "{kind:?}: {probe:#?}");
    }
    assert_eq!(db.owner().await.unwrap().rows(&state).await.unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_account_that_is_set_up_reads_and_can_do_nothing_else() {
    let Some(db) = scratch_with(&["CREATE TABLE t (a INT)", "INSERT INTO t VALUES (7)"]).await else {
        return;
    };
    let role = format!("r_{}", tail(db.name()));
    let setup = DIALECT.account_setup().unwrap();
    let target_of_owner = target(db.url());
    let request = RoleRequest {
        role: role.clone(),
        password: Some(Secret::new("it's a \"secret\"")),
        namespaces: Vec::new(),
    };
    let steps = setup.statements(&target_of_owner, &request).unwrap();
    setup.apply(&target_of_owner, &steps, &context(&target_of_owner)).await.unwrap();

    let url = db.url_of(&role, "it%27s%20a%20%22secret%22");
    let session = open(target(&url)).await.unwrap();
    assert_eq!(rows(&session, "SELECT a FROM t").await.len(), 1);
    let probe = session.probe(&call()).await.unwrap();
    assert!(probe.only_reads(), "{probe:#?}");
    session.close().await;
    change(&db, &[format!("DROP USER `{role}`@`%`")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_account_has_beyond_reading_comes_with_what_takes_it_away() {
    let Some(db) = scratch_with(&["CREATE TABLE t (a INT)"]).await else { return };
    let role = format!("w_{}", tail(db.name()));
    change(
        &db,
        &[
            format!("CREATE USER `{role}`@`%` IDENTIFIED BY 'w'"),
            format!(
                "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, CREATE VIEW, CREATE TEMPORARY TABLES \
                 ON `{}`.* TO `{role}`@`%`",
                db.name()
            ),
            format!("GRANT FILE, PROCESS ON *.* TO `{role}`@`%`"),
        ],
    )
    .await;
    let url = db.url_of(&role, "w");
    let before = probe(target(&url)).await;
    let mut remedies = Vec::new();
    for kind in KINDS {
        let power = before.powers.iter().find(|power| power.kind == kind).unwrap();
        assert_eq!(power.found, Found::Can, "{before:#?}");
        remedies.extend(power.remedy.clone());
    }
    change(&db, &remedies).await;
    let after = probe(target(&url)).await;
    for kind in KINDS {
        assert_eq!(found(&after, kind), Found::Cannot, "{kind:?} {after:#?}");
    }
    change(&db, &[format!("DROP USER `{role}`@`%`")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_set_up_that_fails_says_how_far_it_came_and_no_password() {
    let Some(db) = scratch_with(&[]).await else { return };
    let target_of_owner = target(db.url());
    // An account of that name is there already: the first step fails.
    let request = RoleRequest {
        role: "root".to_owned(),
        password: Some(Secret::new("c4n4ry")),
        namespaces: Vec::new(),
    };
    let setup = DIALECT.account_setup().unwrap();
    let steps = setup.statements(&target_of_owner, &request).unwrap();
    let e = setup.apply(&target_of_owner, &steps, &context(&target_of_owner)).await.unwrap_err();
    let text = format!("{e} {e:?}");
    assert!(text.contains("steps done before it") && !text.contains("c4n4ry"), "{text}");
    assert_ne!(e.kind(), ErrorKind::Internal);
}

/// The end of a name, which tells scratch databases apart; names of accounts are short.
fn tail(name: &str) -> &str {
    name.get(name.len().saturating_sub(24)..).unwrap_or(name)
}

//! What an account can do is tried on the real server, and what sets one up does what it says.

use dbagent_core::account::{Found, PowerKind, Probe, RoleRequest, Transport};
use dbagent_core::{ErrorKind, OpenContext, Secret, Target};
use dbagent_postgres::sqlx::{AssertSqlSafe, Executor as _, PgConnection};

use crate::support::{DIALECT, Scratch, call, open, run, target, variable, with_parameter};

fn found(probe: &Probe, kind: PowerKind) -> Found {
    probe.powers.iter().find(|power| power.kind == kind).map(|power| power.found).unwrap()
}

async fn probe(target: Target) -> Probe {
    open(target).await.unwrap().probe(&call()).await.unwrap()
}

/// A name that no other test has.
fn role(db: &Scratch, end: &str) -> String {
    format!("{}_{end}", database(db))
}

fn database(db: &Scratch) -> &str {
    let address = db.url.split('?').next().unwrap();
    address.rsplit('/').next().unwrap()
}

/// The scratch database's URL with another account.
fn with_account(db: &Scratch, user: &str, password: &str) -> String {
    let (scheme, rest) = db.url.split_once("://").unwrap();
    let (_, host) = rest.rsplit_once('@').unwrap();
    format!("{scheme}://{user}:{password}@{host}")
}

async fn drop_roles(db: &Scratch, roles: &[&str]) {
    let mut owner: PgConnection = db.owner().await;
    for role in roles {
        for sql in [format!("DROP OWNED BY \"{role}\""), format!("DROP ROLE \"{role}\"")] {
            owner.execute(AssertSqlSafe(sql)).await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_superuser_can_do_everything_and_nothing_stays_of_the_tries() {
    let Some(db) = Scratch::with("CREATE TABLE t (a int); INSERT INTO t VALUES (1)").await else { return };
    let state = "SELECT concat_ws(' ', (SELECT count(*) FROM t), (SELECT count(*) FROM pg_class), \
                 (SELECT count(*) FROM pg_largeobject_metadata), (SELECT count(*) FROM pg_roles WHERE rolname LIKE 'dbagent_probe%'))";
    let before = db.value(state).await;

    let probe = probe(db.target()).await;

    for kind in [
        PowerKind::WriteRows,
        PowerKind::ChangeSchema,
        PowerKind::TemporaryTables,
        PowerKind::Functions,
        PowerKind::ServerFiles,
        PowerKind::Administer,
    ] {
        assert_eq!(found(&probe, kind), Found::Can, "{kind:?}: {probe:#?}");
    }
    assert!(probe.account.as_deref().unwrap().ends_with(", a superuser"), "{probe:?}");
    assert_eq!(db.value(state).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trigger_of_somebody_else_does_not_run_for_a_try() {
    let Some(db) = Scratch::with(
        "CREATE TABLE t (a int); CREATE SEQUENCE fired; \
         CREATE FUNCTION fire() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM nextval(''fired''); RETURN NULL; END'; \
         CREATE TRIGGER fires AFTER DELETE OR INSERT ON t FOR EACH STATEMENT EXECUTE FUNCTION fire()",
    )
    .await
    else {
        return;
    };
    assert_eq!(found(&probe(db.target()).await, PowerKind::WriteRows), Found::Can);
    // A sequence is not rolled back: it tells of every trigger that ran.
    assert_eq!(db.value("SELECT is_called FROM fired").await, "false");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_account_that_is_set_up_reads_and_can_do_nothing_else() {
    let Some(db) = Scratch::with("CREATE TABLE t (a int); INSERT INTO t VALUES (7)").await else { return };
    let reader = role(&db, "reader");
    let setup = DIALECT.account_setup().unwrap();
    let request = RoleRequest {
        role: reader.clone(),
        password: Some(Secret::new("it's \\ a \"secret\"")),
        namespaces: Vec::new(),
    };
    let target = db.target();
    let context = OpenContext { call: call(), access: target.access, guardrails: target.guardrails.clone() };
    let steps = setup.statements(&target, &request).unwrap();
    setup.apply(&target, &steps, &context).await.unwrap();

    let url = with_account(&db, &reader, "it%27s%20%5C%20a%20%22secret%22");
    let session = open(crate::support::target(&url)).await.unwrap();
    assert_eq!(run(&session, "SELECT a FROM t").await.rows().len(), 1);
    db.change("CREATE TABLE later (b int)").await;
    assert_eq!(run(&session, "SELECT b FROM later").await.rows().len(), 0);
    let probe = session.probe(&call()).await.unwrap();
    for kind in [PowerKind::WriteRows, PowerKind::ChangeSchema, PowerKind::ServerFiles, PowerKind::Administer]
    {
        assert_eq!(found(&probe, kind), Found::Cannot, "{kind:?}: {probe:#?}");
    }
    // Everybody may these two, unless it is revoked; the remedy is what doctor shows, and it works.
    let mut remedies = Vec::new();
    for kind in [PowerKind::TemporaryTables, PowerKind::Functions] {
        let power = probe.powers.iter().find(|power| power.kind == kind).unwrap();
        assert_eq!(power.found, Found::Can, "{probe:#?}");
        assert!(!power.remedy.is_empty(), "{probe:#?}");
        remedies.extend(power.remedy.clone());
    }
    db.change(&remedies.join("; ")).await;
    let probe = session.probe(&call()).await.unwrap();
    assert!(probe.only_reads(), "{probe:#?}");
    session.close().await;
    drop_roles(&db, &[&reader]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_account_has_beyond_reading_comes_with_what_takes_it_away() {
    let Some(db) = Scratch::with("CREATE TABLE t (a int)").await else { return };
    let writer = role(&db, "writer");
    db.change(&format!(
        "CREATE ROLE {writer} LOGIN PASSWORD 'w' CREATEDB; GRANT SELECT, INSERT ON t TO {writer}; \
         GRANT CREATE ON SCHEMA public TO {writer}; GRANT pg_read_server_files TO {writer}; \
         REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC",
        database(&db)
    ))
    .await;
    let url = with_account(&db, &writer, "w");
    let before = probe(target(&url)).await;
    for kind in [PowerKind::WriteRows, PowerKind::ChangeSchema, PowerKind::ServerFiles, PowerKind::Administer]
    {
        let power = before.powers.iter().find(|power| power.kind == kind).unwrap();
        assert_eq!(power.found, Found::Can, "{before:#?}");
        db.change(&power.remedy.join("; ")).await;
    }
    assert_eq!(found(&before, PowerKind::TemporaryTables), Found::Cannot);
    let after = probe(target(&url)).await;
    for kind in [PowerKind::WriteRows, PowerKind::ChangeSchema, PowerKind::ServerFiles, PowerKind::Administer]
    {
        assert_eq!(found(&after, kind), Found::Cannot, "{after:#?}");
    }
    drop_roles(&db, &[&writer]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_set_up_that_fails_leaves_nothing() {
    let Some(db) = Scratch::new().await else { return };
    let reader = role(&db, "nobody");
    let request = RoleRequest {
        role: reader.clone(),
        password: Some(Secret::new("c4n4ry")),
        namespaces: vec!["no such schema".to_owned()],
    };
    let target = db.target();
    let context = OpenContext { call: call(), access: target.access, guardrails: target.guardrails.clone() };
    let setup = DIALECT.account_setup().unwrap();
    let steps = setup.statements(&target, &request).unwrap();
    let e = setup.apply(&target, &steps, &context).await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::UnknownObject, "{e:?}");
    assert!(!format!("{e} {e:?}").contains("c4n4ry"), "{e:?}");
    assert_eq!(db.value(&format!("SELECT count(*) FROM pg_roles WHERE rolname = '{reader}'")).await, "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_way_to_the_server_is_told() {
    let Some(db) = Scratch::new().await else { return };
    let unencrypted = probe(target(&with_parameter(&db.url, "sslmode=disable"))).await;
    assert_eq!(unencrypted.transport, Transport::Local);
    let (Some(url), Some(ca)) = (variable("TLS_URL"), variable("CA")) else { return };
    let url = with_parameter(&url, &format!("sslmode=verify-ca&sslrootcert={ca}"));
    let transport = probe(target(&url)).await.transport;
    assert!(matches!(&transport, Transport::Encrypted(how) if how.starts_with("TLSv1.")), "{transport:?}");
}

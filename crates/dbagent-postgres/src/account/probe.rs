//! Tries what the account can do beyond reading.
//!
//! Each try has a transaction of its own, with short limits, that is rolled back. Rows are never touched, not
//! even to change none of them: a trigger of somebody else would run. `EXPLAIN` of a change asks the server
//! for the right to it and goes no further.

use dbagent_core::account::{Found, Power, PowerKind, Probe, Transport};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};

use crate::ident::Ident;

/// What a try may cost the server.
const LIMITS: &str = "SELECT pg_catalog.set_config('statement_timeout', '5s', true), \
                      pg_catalog.set_config('lock_timeout', '1s', true)";

const WHO: &str = "SELECT current_user::pg_catalog.text AS name, r.rolsuper, r.rolcreaterole, r.rolcreatedb, \
     r.rolreplication, r.rolbypassrls, pg_catalog.current_database()::pg_catalog.text AS database \
     FROM pg_catalog.pg_roles r WHERE r.rolname = current_user";

const HOW: &str = "SELECT s.ssl, s.version, s.cipher, \
     pg_catalog.inet_client_addr() IS NULL OR pg_catalog.inet_client_addr() <<= '127.0.0.0/8' \
     OR pg_catalog.inet_client_addr() = '::1' AS local \
     FROM pg_catalog.pg_stat_ssl s WHERE s.pid = pg_catalog.pg_backend_pid()";

/// A change of no row, for the server to say whether it is allowed: of a table that the account has a right
/// on where there is one, else of any. How many it has a right on, and how many there are.
const WRITABLE: &str = "SELECT \
     pg_catalog.format('EXPLAIN DELETE FROM ONLY %I.%I', n.nspname, c.relname) AS remove, \
     pg_catalog.format('EXPLAIN INSERT INTO %I.%I DEFAULT VALUES', n.nspname, c.relname) AS add, \
     pg_catalog.has_table_privilege(c.oid, 'DELETE') AS may_remove, \
     pg_catalog.format('%I.%I', n.nspname, c.relname) AS name, n.nspname::pg_catalog.text AS schema, \
     pg_catalog.count(*) FILTER (WHERE pg_catalog.pg_has_role(c.relowner, 'USAGE')) OVER () AS owned, \
     pg_catalog.count(*) FILTER (WHERE w.may) OVER () AS writable, pg_catalog.count(*) OVER () AS tables \
     FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
     CROSS JOIN LATERAL (SELECT pg_catalog.has_any_column_privilege(c.oid, 'INSERT, UPDATE') \
        OR pg_catalog.has_table_privilege(c.oid, 'DELETE, TRUNCATE') AS may) w \
     WHERE c.relkind IN ('r', 'p') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' \
     ORDER BY w.may DESC, pg_catalog.has_table_privilege(c.oid, 'DELETE') DESC, n.nspname, c.relname LIMIT 1";

const CREATABLE: &str = "SELECT pg_catalog.format('CREATE TABLE %I.dbagent_probe ()', n.nspname) AS try, \
     pg_catalog.format('%I', n.nspname) AS name, \
     pg_catalog.has_schema_privilege(n.oid, 'CREATE') AS may, \
     pg_catalog.pg_has_role(n.nspowner, 'USAGE') AS owned, \
     pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE') AS may_add, \
     EXISTS (SELECT 1 FROM pg_catalog.aclexplode(n.nspacl) a WHERE a.grantee = 0 AND a.privilege_type = 'CREATE') AS everybody \
     FROM pg_catalog.pg_namespace n WHERE n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' \
     ORDER BY may DESC, n.nspname";

const VOLATILE: &str = "SELECT pg_catalog.count(*) AS functions, \
     pg_catalog.min(p.oid::pg_catalog.regprocedure::pg_catalog.text) AS one \
     FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace \
     WHERE p.provolatile = 'v' AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' \
     AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE') \
     AND p.prorettype <> 'pg_catalog.trigger'::pg_catalog.regtype";

/// The roles of the server that open its files, each with whether the account has it.
const FILE_ROLES: &str = "SELECT r.rolname::pg_catalog.text AS name FROM pg_catalog.pg_roles r \
     WHERE r.rolname = ANY ('{pg_read_server_files,pg_write_server_files,pg_execute_server_program}') \
     AND pg_catalog.pg_has_role(r.oid, 'USAGE') ORDER BY 1";

const OTHERS: &str = "SELECT r.rolname::pg_catalog.text AS name FROM pg_catalog.pg_roles r \
     WHERE r.rolname = ANY ('{pg_signal_backend,pg_maintain,pg_checkpoint,pg_create_subscription}') \
     AND pg_catalog.pg_has_role(r.oid, 'USAGE') ORDER BY 1";

/// What the server said to a try.
enum Tried {
    Worked,
    /// It refused for want of a right, in its words.
    Refused(String),
    /// It failed for another reason.
    Failed(String),
}

/// Everything about the account behind a connection, which must not be a read-only one.
///
/// # Errors
/// What the server says of the questions about the account; a refused try is an answer.
pub(crate) async fn probe(connection: &mut PgConnection) -> Result<Probe, sqlx::Error> {
    // No function or operator of somebody else is in reach of the names in these texts.
    sqlx::query("SELECT pg_catalog.set_config('search_path', $1, false)")
        .bind(crate::transaction::OWN_PATH)
        .execute(&mut *connection)
        .await?;
    let who = Who::ask(connection).await?;
    let transport = transport(connection).await?;
    let powers = vec![
        write_rows(connection, &who).await?,
        change_schema(connection, &who).await?,
        temporary_tables(connection, &who).await?,
        functions(connection, &who).await?,
        server_files(connection, &who).await?,
        administer(connection, &who).await?,
    ];
    let account = if who.superuser { format!("{}, a superuser", who.name) } else { who.name };
    Ok(Probe { account: Some(account), transport, powers })
}

struct Who {
    name: String,
    database: String,
    superuser: bool,
    /// What else its attributes allow, as `ALTER ROLE` spells it.
    attributes: Vec<&'static str>,
}

impl Who {
    async fn ask(connection: &mut PgConnection) -> Result<Self, sqlx::Error> {
        let row = sqlx::query(WHO).fetch_one(connection).await?;
        let mut attributes = Vec::new();
        for (column, word) in [
            ("rolsuper", "SUPERUSER"),
            ("rolcreaterole", "CREATEROLE"),
            ("rolcreatedb", "CREATEDB"),
            ("rolreplication", "REPLICATION"),
            ("rolbypassrls", "BYPASSRLS"),
        ] {
            if row.try_get::<bool, _>(column)? {
                attributes.push(word);
            }
        }
        Ok(Self {
            name: row.try_get("name")?,
            database: row.try_get("database")?,
            superuser: row.try_get("rolsuper")?,
            attributes,
        })
    }

    fn ident(&self) -> Ident<'_> {
        Ident(&self.name)
    }
}

async fn transport(connection: &mut PgConnection) -> Result<Transport, sqlx::Error> {
    let Some(row) = sqlx::query(HOW).fetch_optional(connection).await? else { return Ok(Transport::Plain) };
    if row.try_get("ssl")? {
        let word = |column| row.try_get::<Option<String>, _>(column).map(Option::unwrap_or_default);
        return Ok(Transport::Encrypted(format!("{} {}", word("version")?, word("cipher")?)));
    }
    let local: Option<bool> = row.try_get("local")?;
    Ok(if local.unwrap_or(false) { Transport::Local } else { Transport::Plain })
}

async fn write_rows(connection: &mut PgConnection, who: &Who) -> Result<Power, sqlx::Error> {
    let power =
        |found, evidence: String, remedy| Power { kind: PowerKind::WriteRows, found, evidence, remedy };
    let Some(row) = sqlx::query(WRITABLE).fetch_optional(&mut *connection).await? else {
        return Ok(power(Found::Unknown, "there is no table to try it on".to_owned(), Vec::new()));
    };
    let (name, writable, tables): (String, i64, i64) =
        (row.try_get("name")?, row.try_get("writable")?, row.try_get("tables")?);
    // Which change is tried depends on which right there is.
    let change: String =
        row.try_get(if writable == 0 || row.try_get("may_remove")? { "remove" } else { "add" })?;
    let (schema, owned): (String, i64) = (row.try_get("schema")?, row.try_get("owned")?);
    // What is owned cannot be taken away by a REVOKE that means anything: another account is the way.
    let remedy = if owned == 0 {
        let from = who.ident();
        vec![format!(
            "REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA {} FROM {from}",
            Ident(&schema)
        )]
    } else {
        Vec::new()
    };
    let owns = if owned == 0 { String::new() } else { format!(", {owned} of them its own") };
    Ok(match attempt(connection, &change).await? {
        Tried::Worked => {
            power(Found::Can, format!("in {writable} of {tables} tables{owns}, such as {name}"), remedy)
        }
        Tried::Refused(words) if writable == 0 => {
            power(Found::Cannot, format!("in none of {tables} tables; tried on {name}: {words}"), Vec::new())
        }
        Tried::Refused(words) | Tried::Failed(words) if writable == 0 => {
            power(Found::Unknown, format!("tried on {name}: {words}"), Vec::new())
        }
        Tried::Refused(words) | Tried::Failed(words) => power(
            Found::Can,
            format!("it has a right to in {writable} of {tables} tables{owns}; tried on {name}: {words}"),
            remedy,
        ),
    })
}

async fn change_schema(connection: &mut PgConnection, who: &Who) -> Result<Power, sqlx::Error> {
    let power =
        |found, evidence: String, remedy| Power { kind: PowerKind::ChangeSchema, found, evidence, remedy };
    let schemas = sqlx::query(CREATABLE).fetch_all(&mut *connection).await?;
    let Some(first) = schemas.first() else {
        return Ok(power(Found::Unknown, "there is no schema to try it in".to_owned(), Vec::new()));
    };
    let (name, may_add): (String, bool) = (first.try_get("name")?, first.try_get("may_add")?);
    let mut remedy = Vec::new();
    let mut open = Vec::new();
    for schema in &schemas {
        if schema.try_get("may")? {
            let name: String = schema.try_get("name")?;
            if schema.try_get("everybody")? {
                remedy.push(format!("REVOKE CREATE ON SCHEMA {name} FROM PUBLIC"));
            } else if !schema.try_get::<bool, _>("owned")? {
                remedy.push(format!("REVOKE CREATE ON SCHEMA {name} FROM {}", who.ident()));
            }
            open.push(name);
        }
    }
    let tried: String = first.try_get("try")?;
    let outcome = attempt(connection, &tried).await?;
    if may_add && !who.superuser {
        remedy.push(format!("REVOKE CREATE ON DATABASE {} FROM {}", Ident(&who.database), who.ident()));
    }
    Ok(match outcome {
        Tried::Worked => {
            let also = if may_add { ", and new schemas" } else { "" };
            power(Found::Can, format!("in {}{also}", shown(&open)), remedy)
        }
        Tried::Refused(words) if may_add => {
            power(Found::Can, format!("not in {name} ({words}), but in schemas that it may create"), remedy)
        }
        Tried::Refused(words) => power(Found::Cannot, format!("tried in {name}: {words}"), Vec::new()),
        Tried::Failed(words) => power(Found::Unknown, format!("tried in {name}: {words}"), remedy),
    })
}

async fn temporary_tables(connection: &mut PgConnection, who: &Who) -> Result<Power, sqlx::Error> {
    let power =
        |found, evidence: String, remedy| Power { kind: PowerKind::TemporaryTables, found, evidence, remedy };
    Ok(match attempt(connection, "CREATE TEMPORARY TABLE dbagent_probe () ON COMMIT DROP").await? {
        Tried::Worked => power(
            Found::Can,
            "everybody may, unless that is revoked; they are gone with the connection".to_owned(),
            vec![format!("REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC", Ident(&who.database))],
        ),
        Tried::Refused(words) => power(Found::Cannot, words, Vec::new()),
        Tried::Failed(words) => power(Found::Unknown, words, Vec::new()),
    })
}

async fn functions(connection: &mut PgConnection, _: &Who) -> Result<Power, sqlx::Error> {
    let power =
        |found, evidence: String, remedy| Power { kind: PowerKind::Functions, found, evidence, remedy };
    let row = sqlx::query(VOLATILE).fetch_one(&mut *connection).await?;
    let (own, one): (i64, Option<String>) = (row.try_get("functions")?, row.try_get("one")?);
    let own = match one {
        Some(one) if own > 0 => {
            format!("{own} functions of this database that may change something, {one} among them")
        }
        _ => String::new(),
    };
    let revoke = ["lo_create(oid)", "lo_creat(integer)", "lo_from_bytea(oid, bytea)", "lo_import(text)"]
        .map(|function| format!("REVOKE EXECUTE ON FUNCTION pg_catalog.{function} FROM PUBLIC"));
    Ok(match attempt(connection, "SELECT pg_catalog.lo_create(0)").await? {
        Tried::Worked if own.is_empty() => power(
            Found::Can,
            "lo_create stores a large object; everybody may, unless that is revoked".to_owned(),
            revoke.to_vec(),
        ),
        Tried::Worked => {
            power(Found::Can, format!("lo_create stores a large object; and {own}"), revoke.to_vec())
        }
        Tried::Refused(words) if own.is_empty() => {
            power(Found::Cannot, format!("tried lo_create: {words}"), Vec::new())
        }
        Tried::Refused(_) => power(Found::Can, own, Vec::new()),
        Tried::Failed(words) => power(Found::Unknown, format!("tried lo_create: {words}"), Vec::new()),
    })
}

async fn server_files(connection: &mut PgConnection, who: &Who) -> Result<Power, sqlx::Error> {
    let power =
        |found, evidence: String, remedy| Power { kind: PowerKind::ServerFiles, found, evidence, remedy };
    let roles = names(connection, FILE_ROLES).await?;
    let remedy: Vec<String> = if who.superuser {
        Vec::new()
    } else {
        roles.iter().map(|role| format!("REVOKE {} FROM {}", Ident(role), who.ident())).collect()
    };
    Ok(match attempt(connection, "SELECT pg_catalog.pg_read_file('PG_VERSION')").await? {
        Tried::Worked => power(Found::Can, "it read the file PG_VERSION of the server".to_owned(), remedy),
        Tried::Refused(_) if !roles.is_empty() => {
            power(Found::Can, format!("it is a member of {}", shown(&roles)), remedy)
        }
        Tried::Refused(words) => power(Found::Cannot, words, Vec::new()),
        Tried::Failed(words) => power(Found::Unknown, words, remedy),
    })
}

async fn administer(connection: &mut PgConnection, who: &Who) -> Result<Power, sqlx::Error> {
    let power =
        |found, evidence: String, remedy| Power { kind: PowerKind::Administer, found, evidence, remedy };
    let roles = names(connection, OTHERS).await?;
    let mut remedy = Vec::new();
    if !who.attributes.is_empty() {
        let without: Vec<String> = who.attributes.iter().map(|word| format!("NO{word}")).collect();
        remedy.push(format!("ALTER ROLE {} {}", who.ident(), without.join(" ")));
    }
    if !who.superuser {
        remedy.extend(roles.iter().map(|role| format!("REVOKE {} FROM {}", Ident(role), who.ident())));
    }
    Ok(match attempt(connection, "CREATE ROLE dbagent_probe").await? {
        Tried::Worked => power(Found::Can, format!("it has {}", who.attributes.join(", ")), remedy),
        Tried::Refused(words) if remedy.is_empty() => power(Found::Cannot, words, remedy),
        Tried::Refused(_) => {
            let has: Vec<String> =
                who.attributes.iter().map(|word| (*word).to_owned()).chain(roles).collect();
            power(Found::Can, format!("it has {}", has.join(", ")), remedy)
        }
        Tried::Failed(words) => power(Found::Unknown, words, remedy),
    })
}

async fn names(connection: &mut PgConnection, sql: &'static str) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query(sql).fetch_all(connection).await?.iter().map(|row| row.try_get("name")).collect()
}

/// Runs a statement in a transaction of its own and takes it back.
async fn attempt(connection: &mut PgConnection, sql: &str) -> Result<Tried, sqlx::Error> {
    let mut transaction = connection.begin().await?;
    sqlx::query("SET TRANSACTION READ WRITE").execute(&mut *transaction).await?;
    sqlx::query(LIMITS).execute(&mut *transaction).await?;
    let outcome = sqlx::query(AssertSqlSafe(sql)).execute(&mut *transaction).await;
    transaction.rollback().await?;
    match outcome {
        Ok(_) => Ok(Tried::Worked),
        Err(sqlx::Error::Database(e)) => {
            let code = e.code().unwrap_or_default().into_owned();
            let words = format!("{} ({code})", e.message());
            Ok(if code == INSUFFICIENT_PRIVILEGE { Tried::Refused(words) } else { Tried::Failed(words) })
        }
        Err(e) => Err(e),
    }
}

const INSUFFICIENT_PRIVILEGE: &str = "42501";

/// A few names, and how many more.
fn shown(names: &[String]) -> String {
    const FEW: usize = 3;
    let mut text = names.iter().take(FEW).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > FEW {
        text.push_str(&format!(" and {} more", names.len() - FEW));
    }
    text
}

//! The statements that set up an account which can only read.

use dbagent_core::account::{RoleRequest, SetupStep};
use dbagent_core::{Error, ErrorKind, OpenContext, Result, Target};
use futures_core::future::BoxFuture;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::connect::connect;
use crate::error::{Phase, translate_hiding};
use crate::ident::Ident;
use crate::options::Place;

/// Seconds that a statement of the account may take, whoever connects with it.
const STATEMENT_TIMEOUT_S: u32 = 60;

/// The steps, in an order in which they run.
///
/// # Errors
/// [`ErrorKind::Config`] for a name or a password that Postgres does not take, or a wrong URL.
pub(crate) fn statements(target: &Target, request: &RoleRequest) -> Result<Vec<SetupStep>> {
    steps(&Place::of(target)?.database, request)
}

/// Runs the steps in one transaction.
///
/// # Errors
/// What the server says of the first that fails; nothing stays then.
pub(crate) fn apply<'a>(
    target: &'a Target,
    steps: &'a [SetupStep],
    context: &'a OpenContext,
) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        let place = Place::of(target)?;
        let work = async {
            let mut connection = connect(&place).await?;
            run(&mut connection, steps).await.map_err(|e| translate_hiding(e, Phase::Run, &place.hidden))
        };
        context.call.bound("set up", work).await?
    })
}

fn steps(database: &str, request: &RoleRequest) -> Result<Vec<SetupStep>> {
    let role = name("role", &request.role)?;
    let database = name("database", database)?;
    let password = match &request.password {
        Some(password) => Literal::of(password.expose())?.to_string(),
        None => "'<password>'".to_owned(),
    };
    let mut steps = vec![
        SetupStep::new(
            "The account: it may log in, and nothing else",
            format!(
                "CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS \
                 CONNECTION LIMIT 20 PASSWORD {password}"
            ),
        ),
        SetupStep::new(
            "Its transactions begin read-only; the rights below are what holds it",
            format!("ALTER ROLE {role} SET default_transaction_read_only = on"),
        ),
        SetupStep::new(
            "Its statements end by themselves",
            format!("ALTER ROLE {role} SET statement_timeout = '{STATEMENT_TIMEOUT_S}s'"),
        ),
        SetupStep::new(
            "It does not hold on to a transaction that nobody works in",
            format!("ALTER ROLE {role} SET idle_in_transaction_session_timeout = '{STATEMENT_TIMEOUT_S}s'"),
        ),
        SetupStep::new("It may connect", format!("GRANT CONNECT ON DATABASE {database} TO {role}")),
    ];
    let default = ["public".to_owned()];
    let schemas = if request.namespaces.is_empty() { &default[..] } else { &request.namespaces };
    for schema in schemas {
        let quoted = name("schema", schema)?;
        steps.push(SetupStep::new(
            format!("It sees the schema {schema}"),
            format!("GRANT USAGE ON SCHEMA {quoted} TO {role}"),
        ));
        steps.push(SetupStep::new(
            format!("It reads the tables and views of {schema}"),
            format!("GRANT SELECT ON ALL TABLES IN SCHEMA {quoted} TO {role}"),
        ));
        steps.push(SetupStep::new(
            format!("It reads those that this account creates in {schema} later"),
            format!("ALTER DEFAULT PRIVILEGES IN SCHEMA {quoted} GRANT SELECT ON TABLES TO {role}"),
        ));
    }
    Ok(steps)
}

async fn run(connection: &mut PgConnection, steps: &[SetupStep]) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin().await?;
    // The account that sets this up may itself be one whose transactions begin read-only.
    sqlx::query("SET TRANSACTION READ WRITE").execute(&mut *transaction).await?;
    for step in steps {
        sqlx::query(AssertSqlSafe(step.statement().expose())).execute(&mut *transaction).await?;
    }
    transaction.commit().await
}

fn name<'a>(what: &str, name: &'a str) -> Result<Ident<'a>> {
    // Longer names are cut by the server, and then mean something else.
    if name.is_empty() || name.len() > 63 || name.contains('\0') {
        return Err(Error::new(ErrorKind::Config, format!("{name:?} cannot be the name of a {what}"))
            .hint("a name has 1 to 63 bytes"));
    }
    Ok(Ident(name))
}

/// A text as the server reads it back, whatever `standard_conforming_strings` says.
struct Literal<'a>(&'a str);

impl<'a> Literal<'a> {
    fn of(text: &'a str) -> Result<Self> {
        if text.contains('\0') {
            return Err(Error::new(ErrorKind::Config, "the password holds a NUL character")
                .hint("choose another password"));
        }
        Ok(Self(text))
    }
}

impl std::fmt::Display for Literal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "E'{}'", self.0.replace('\\', "\\\\").replace('\'', "\\'"))
    }
}

#[cfg(test)]
mod tests {
    use dbagent_core::Secret;

    use super::*;

    fn texts(request: &RoleRequest) -> Vec<String> {
        let steps = steps("shop", request).unwrap();
        steps.iter().map(|step| step.statement().expose().to_owned()).collect()
    }

    #[test]
    fn names_and_passwords_stay_what_they_are() {
        let request = RoleRequest {
            role: "odd\"role".into(),
            password: Some(Secret::new("it's \\ here")),
            namespaces: vec!["sales".into(), "a b".into()],
        };
        let texts = texts(&request);
        assert!(texts[0].starts_with("CREATE ROLE \"odd\"\"role\" LOGIN NOSUPERUSER "), "{}", texts[0]);
        assert!(texts[0].ends_with("PASSWORD E'it\\'s \\\\ here'"), "{}", texts[0]);
        assert!(texts.iter().any(|t| t == "GRANT USAGE ON SCHEMA \"a b\" TO \"odd\"\"role\""), "{texts:?}");
    }

    #[test]
    fn without_a_password_there_is_a_placeholder() {
        let request = RoleRequest { role: "r".into(), password: None, namespaces: Vec::new() };
        assert!(texts(&request)[0].ends_with("PASSWORD '<password>'"));
    }

    #[test]
    fn names_that_the_server_would_cut_are_errors() {
        for role in ["", "a\0b", &"x".repeat(64)] {
            let request = RoleRequest { role: role.to_owned(), password: None, namespaces: Vec::new() };
            assert_eq!(steps("shop", &request).unwrap_err().kind(), ErrorKind::Config);
        }
    }
}

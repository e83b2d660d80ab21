//! The statements that set up an account which can only read.

use dbagent_core::account::{RoleRequest, SetupStep};
use dbagent_core::{Error, ErrorKind, OpenContext, Result, Target};
use futures_core::future::BoxFuture;
use sqlx::{AssertSqlSafe, Connection as _};

use crate::connect::Opener;
use crate::error;
use crate::flavor::Flavor;
use crate::ident::Ident;
use crate::location::Location;

/// The longest name of an account that both servers take.
const MAX_ACCOUNT: usize = 32;
/// The longest name of a database.
const MAX_DATABASE: usize = 64;

/// The steps, in an order in which they run, for the database that the URL names or those of the request.
///
/// # Errors
/// [`ErrorKind::Config`] for a name or a password that the server does not take, or when nothing says what
/// the account may read.
pub fn statements(target: &Target, request: &RoleRequest) -> Result<Vec<SetupStep>> {
    steps(Location::of(target)?.database.as_deref(), request)
}

/// Runs the steps. Each is final on its own: these servers do not roll back accounts and rights.
///
/// # Errors
/// What the server says of the first that fails, with the number of those that were done before it.
pub fn apply<'a>(
    flavor: &'static Flavor,
    target: &'a Target,
    steps: &'a [SetupStep],
    context: &'a OpenContext,
) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        let opener = Opener::new(flavor.server(), target)?;
        let mut connection = opener.connect(&context.call).await?;
        for (done, step) in steps.iter().enumerate() {
            let statement = sqlx::raw_sql(AssertSqlSafe(step.statement().expose()));
            let ran = context.call.bound("set up", statement.execute(&mut connection)).await?;
            ran.map_err(|e| {
                let e = error::without_secrets(error::translate(e, None), opener.secrets());
                e.op("set up").with("step", step.about()).with("steps done before it", done)
            })?;
        }
        // The server notices by itself when nobody says goodbye.
        _ = context.call.bound("set up", connection.close()).await;
        Ok(())
    })
}

fn steps(database: Option<&str>, request: &RoleRequest) -> Result<Vec<SetupStep>> {
    let user = name("account", &request.role, MAX_ACCOUNT)?;
    let password = match &request.password {
        Some(password) => literal(password.expose())?,
        None => "'<password>'".to_owned(),
    };
    let databases: Vec<&str> = match (request.namespaces.as_slice(), database) {
        ([], Some(database)) => vec![database],
        ([], None) => {
            return Err(Error::new(ErrorKind::Config, "nothing says which database the account may read")
                .hint("name it in the URL, or with --schema"));
        }
        (named, _) => named.iter().map(String::as_str).collect(),
    };
    let account = format!("{user}@{}", Ident("%"));
    let mut steps = vec![SetupStep::new(
        "The account: it may log in from anywhere, and nothing else",
        format!("CREATE USER {account} IDENTIFIED BY {password} WITH MAX_USER_CONNECTIONS 20"),
    )];
    for database in databases {
        name("database", database, MAX_DATABASE)?;
        steps.push(SetupStep::new(
            format!("It reads the tables and views of {database}"),
            format!("GRANT SELECT, SHOW VIEW ON {}.* TO {account}", Ident(&pattern(database))),
        ));
    }
    Ok(steps)
}

fn name<'a>(what: &str, name: &'a str, longest: usize) -> Result<Ident<'a>> {
    if name.is_empty() || name.chars().count() > longest || name.contains('\0') {
        return Err(Error::new(ErrorKind::Config, format!("{name:?} cannot be the name of a {what}"))
            .hint(format!("a name has 1 to {longest} characters")));
    }
    Ok(Ident(name))
}

/// The name of a database in a GRANT is a pattern: `_` and `%` stand for others there.
fn pattern(database: &str) -> String {
    database.replace('_', "\\_").replace('%', "\\%")
}

/// A text as the server reads it back under every `sql_mode`.
fn literal(text: &str) -> Result<String> {
    // Whether a backslash escapes depends on NO_BACKSLASH_ESCAPES.
    if text.contains(['\\', '\0']) {
        return Err(Error::new(ErrorKind::Config, "the password holds a backslash or a NUL character")
            .hint("what these mean depends on the server's sql_mode; choose another password"));
    }
    Ok(format!("'{}'", text.replace('\'', "''")))
}

#[cfg(test)]
mod tests {
    use dbagent_core::Secret;

    use super::*;

    fn request(role: &str, password: Option<&str>) -> RoleRequest {
        RoleRequest { role: role.into(), password: password.map(Secret::new), namespaces: Vec::new() }
    }

    fn texts(database: &str, request: &RoleRequest) -> Vec<String> {
        let steps = steps(Some(database), request).unwrap();
        steps.iter().map(|step| step.statement().expose().to_owned()).collect()
    }

    #[test]
    fn names_and_passwords_stay_what_they_are() {
        let texts = texts("my_shop", &request("odd`user", Some("it's")));
        assert!(texts[0].starts_with("CREATE USER `odd``user`@`%` IDENTIFIED BY 'it''s'"), "{}", texts[0]);
        assert_eq!(texts[1], "GRANT SELECT, SHOW VIEW ON `my\\_shop`.* TO `odd``user`@`%`");
    }

    #[test]
    fn without_a_password_there_is_a_placeholder() {
        assert!(texts("shop", &request("r", None))[0].contains("IDENTIFIED BY '<password>'"));
    }

    #[test]
    fn what_the_server_does_not_take_is_an_error() {
        let long = "x".repeat(33);
        for wrong in [request("", None), request(&long, None), request("r", Some("back\\slash"))] {
            assert_eq!(steps(Some("shop"), &wrong).unwrap_err().kind(), ErrorKind::Config);
        }
        let e = steps(None, &request("r", None)).unwrap_err();
        assert!(e.hint_text().unwrap_or_default().contains("--schema"), "{e}");
    }
}

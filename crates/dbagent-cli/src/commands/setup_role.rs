//! `dbagent setup-role`: the account that dbagent should have, as statements; run only when asked.

use dbagent::account::{RoleRequest, SetupStep};
use dbagent::{Error, ErrorKind, OpenContext, Secret};

use crate::app::{App, Running, cancellable};
use crate::exit::{Exit, Outcome};
use crate::place::{self, Access, Place, password};
use crate::statement;

/// Show the statements that set up an account which can only read, and run them with --apply
///
/// The account of the URL must be one that may create accounts. Without --apply nothing is run and nothing is
/// connected to: the statements go to standard output, with a placeholder for the password.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The database: a URL or a name of the configuration
    #[arg(value_name = "URL")]
    place: String,
    /// The name of the account
    #[arg(long, value_name = "NAME", default_value = "dbagent_reader")]
    role: String,
    /// What it may read: a schema, or a database where the engine has no schemas; may be given several times
    #[arg(long = "schema", value_name = "NAME")]
    namespaces: Vec<String>,
    /// Run the statements
    #[arg(long)]
    apply: bool,
    /// Read the new account's password from a file (its first line); without it you are asked
    #[arg(long, value_name = "FILE", requires = "apply")]
    role_password_file: Option<std::path::PathBuf>,
    #[command(flatten)]
    access: Access,
}

pub(crate) fn run(app: &App, args: &Args) -> Outcome {
    let place = place::find(app, &args.place, &args.access)?;
    let Some(setup) = place.dialect.account_setup().copied() else {
        let name = place.dialect.display_name();
        return Err(Error::new(ErrorKind::Unsupported, format!("{name} has no accounts to set up"))
            .hint("who may read or write a file is decided by the file system; dbagent opens it for reading")
            .into());
    };
    let request =
        |password| RoleRequest { role: args.role.clone(), password, namespaces: args.namespaces.clone() };
    if !args.apply {
        let steps = setup.statements(&place.target, &request(None))?;
        return show(app, &place, &steps);
    }
    let password = new_password(app, args)?;
    let steps = setup.statements(&place.target, &request(Some(password)))?;
    Running::new()?.run(async {
        let call = statement::call();
        let context = OpenContext {
            call: call.clone(),
            access: place.target.access,
            guardrails: place.target.guardrails.clone(),
        };
        let work = async { Ok(setup.apply(&place.target, &steps, &context).await?) };
        cancellable(&call, work).await?;
        for step in &steps {
            app.ui.say(&format!("done: {}", step.about()));
        }
        let mut out = app.stdout();
        out.line(format!(
            "The account {} is there; dbagent doctor, with it in the URL, tries what it can do.",
            args.role
        ))?;
        out.flush()?;
        Ok(Exit::Done)
    })
}

fn show(app: &App, place: &Place, steps: &[SetupStep]) -> Outcome {
    let mut out = app.stdout();
    for step in steps {
        out.line(format!("-- {}", step.about()))?;
        // Made without a password, so there is none in it.
        out.line(format!("{};", step.statement().expose()))?;
    }
    out.flush()?;
    app.ui.note(&format!(
        "nothing was run; put a password in, and run this on {} yourself, or repeat the command with --apply",
        place.dialect.display_name()
    ));
    Ok(Exit::Done)
}

fn new_password(app: &App, args: &Args) -> Result<Secret, Error> {
    match &args.role_password_file {
        Some(path) => password::from_file(path),
        None => password::ask(app, &format!("Password for the new account {}: ", args.role)),
    }
}

//! `dbagent config`: where the configuration is, what it says, whether it is right.

mod show;

use crate::app::App;
use crate::config::{self, Config};
use crate::exit::{Exit, Outcome, usage};

/// Show, check and describe the configuration
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    word: Word,
}

#[derive(Debug, clap::Subcommand)]
enum Word {
    /// Show every setting and where it comes from; secrets are masked
    Show(show::Args),
    /// Check the file: unknown keys, wrong types, missing variables, URLs, models
    Check,
    /// Print the JSON schema of dbagent.toml
    Schema,
    /// Print the path of the file that is used, or where one would be looked for
    Path,
}

pub(crate) fn run(app: &App, args: &Args) -> Outcome {
    match &args.word {
        Word::Show(args) => show::run(app, args),
        Word::Check => check(app),
        Word::Schema => {
            let text = serde_json::to_string_pretty(&config::schema()).unwrap_or_default();
            let mut out = app.stdout();
            out.line(text)?;
            out.flush()?;
            Ok(Exit::Done)
        }
        Word::Path => path(app),
    }
}

fn path(app: &App) -> Outcome {
    let mut out = app.stdout();
    if let Some(path) = config::find(app.config_file(), &config::environment)? {
        out.line(path.display().to_string())?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    let user = config::user_file(&config::environment);
    let places: Vec<String> =
        ["./dbagent.toml".to_owned()].into_iter().chain(user.map(|p| p.display().to_string())).collect();
    app.ui.always(&format!("There is no configuration. Looked for {}.", places.join(" and ")));
    Ok(Exit::Negative)
}

fn check(app: &App) -> Outcome {
    let Some(path) = config::find(app.config_file(), &config::environment)? else {
        app.ui.always("There is no configuration; everything is at its default.");
        return Ok(Exit::Done);
    };
    let mut problems = Config::problems(&path, &config::environment)?;
    if problems.is_empty() {
        problems = deeper(app.config()?);
    }
    for problem in &problems {
        app.ui.error(problem);
    }
    let mut out = app.stdout();
    if problems.is_empty() {
        out.line(format!("{} is right.", path.display()))?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    Ok(Exit::Usage)
}

/// What a schema cannot tell: URLs that no dialect opens, credentials that it does not know, models that
/// cannot be meant.
fn deeper(config: &Config) -> Vec<dbagent::Error> {
    let mut problems = Vec::new();
    let registry = match dbagent::Registry::collected() {
        Ok(registry) => registry,
        Err(e) => return vec![e.into()],
    };
    for (name, database) in &config.settings.databases {
        let checked = dbagent::ConnUrl::parse(database.url.expose())
            .map_err(dbagent::Error::from)
            .and_then(|url| registry.for_url(&url))
            .and_then(|d| database.credential.normalise(d.id(), d.known_credentials()));
        problems.extend(checked.err().map(|e| e.with("database", name)));
    }
    problems.extend(models(config));
    problems
}

#[cfg(feature = "openai")]
fn models(config: &Config) -> Vec<dbagent::Error> {
    use dbagent::openai::ModelSpec;
    let settings = &config.settings;
    let mut problems = Vec::new();
    for (name, model) in &settings.models {
        problems.extend(crate::model::spec_of(model, name).err());
    }
    if let Some(model) = &settings.model
        && !matches!(model.as_str(), "offline" | "auto")
        && !settings.models.contains_key(model)
    {
        let names: Vec<&str> = settings.models.keys().map(String::as_str).collect();
        problems.extend(ModelSpec::parse(model).err().map(|e| {
            let near = dbagent::text::near_misses(model, names.iter().copied(), 1);
            match near.first() {
                Some(near) => usage(format!("there is no model {model:?}"))
                    .with("key", "model")
                    .hint(format!("did you mean {near}?")),
                None => e.with("key", "model"),
            }
        }));
    }
    problems
}

#[cfg(not(feature = "openai"))]
fn models(config: &Config) -> Vec<dbagent::Error> {
    match config.settings.model.as_deref() {
        None | Some("offline") => Vec::new(),
        Some(_) => vec![usage("this build cannot reach language models").with("key", "model")],
    }
}

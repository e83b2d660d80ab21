//! Which language model answers. None is ever picked silently, and none because a key lies around.

#[cfg(feature = "openai")]
mod discover;
#[cfg(feature = "openai")]
mod remote;

use std::sync::Arc;

use dbagent::Error;
use dbagent::metrics::Price;
use dbagent::model::Model;

use crate::app::App;
use crate::exit::usage;

#[cfg(feature = "openai")]
pub(crate) use discover::{Depth, Found, ServerState, look};
#[cfg(feature = "openai")]
pub(crate) use remote::spec_of;

/// A model, chosen.
pub(crate) struct Chosen {
    /// The model.
    pub(crate) model: Arc<dyn Model>,
    /// What its tokens cost, where the configuration says so.
    pub(crate) price: Option<Price>,
    /// Whether it is the planner that needs no network.
    pub(crate) offline: bool,
}

/// Which model is asked, on the command line.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ModelArgs {
    /// The model: offline, auto, a name of the configuration, PROVIDER:MODEL, or BASE-URL#MODEL
    ///
    /// `offline` is a planner that needs no network and no key. `auto` takes the first that is found: servers
    /// on this machine before keys in the environment. `dbagent models` lists what there is. Without this
    /// option and without a configuration the offline planner answers.
    #[arg(long, short = 'm', value_name = "MODEL", env = "DBAGENT_MODEL", hide_env_values = true)]
    pub(crate) model: Option<String>,
}

/// Chooses the model: the option, else the configuration, else the offline planner with one line that says
/// what else there is.
///
/// # Errors
/// A model string that cannot be read, a key that is missing, nothing found for `auto`.
pub(crate) async fn choose(app: &App, wanted: &ModelArgs) -> Result<Chosen, Error> {
    let settings = &app.config()?.settings;
    match wanted.model.as_deref().or(settings.model.as_deref()) {
        None => {
            let chosen = offline()?;
            if !app.ui.is_quiet() {
                app.ui.note(&notice().await);
            }
            Ok(chosen)
        }
        Some("offline") => offline(),
        Some(name) => language_model(app, name).await,
    }
}

#[cfg(feature = "openai")]
async fn language_model(app: &App, name: &str) -> Result<Chosen, Error> {
    let (chosen, spec, how) = match app.config()?.settings.models.get(name) {
        Some(settings) => remote::configured(settings, name)?,
        None if name == "auto" => remote::automatic().await?,
        None => remote::named(name, &app.config()?.settings)?,
    };
    // Where questions and data go is said, unless they stay on this machine and were sent there by name.
    if !spec.is_local() || name == "auto" {
        app.ui.note(&format!("model: {spec} at {} ({how})", spec.base_url));
    } else {
        app.ui.detail(&format!("model: {spec} at {} ({how})", spec.base_url));
    }
    Ok(chosen)
}

#[cfg(not(feature = "openai"))]
async fn language_model(_: &App, name: &str) -> Result<Chosen, Error> {
    std::future::ready(Err(usage(format!(
        "this build cannot reach language models, so the model {name:?} cannot be used"
    ))
    .hint("build with the feature `openai`, or use --model offline")))
    .await
}

#[cfg(feature = "offline")]
#[expect(clippy::unnecessary_wraps, reason = "without the feature there is no planner")]
fn offline() -> Result<Chosen, Error> {
    Ok(Chosen { model: Arc::new(dbagent::offline::Offline::new()), price: None, offline: true })
}

#[cfg(not(feature = "offline"))]
fn offline() -> Result<Chosen, Error> {
    Err(usage("no model is configured, and this build has no offline planner")
        .hint("name one with --model, or build with the feature `offline`"))
}

/// The one line when nothing is configured.
#[cfg(feature = "openai")]
async fn notice() -> String {
    let found = look(discover::Depth::Glance).await;
    let names = found.names();
    if names.is_empty() {
        return "No language model is configured: the offline planner answers. `dbagent models` shows how to connect one."
            .to_owned();
    }
    format!(
        "No language model is configured: the offline planner answers. Found: {}. To use the first of them: --model auto, \
         or model = \"auto\" in dbagent.toml.",
        names.join(", ")
    )
}

#[cfg(not(feature = "openai"))]
async fn notice() -> String {
    std::future::ready("The offline planner answers; this build cannot reach language models.".to_owned())
        .await
}

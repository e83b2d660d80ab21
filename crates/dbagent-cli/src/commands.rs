//! The commands, one file each.

pub(crate) mod ask;
pub(crate) mod chat;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod dialects;
pub(crate) mod doctor;
pub(crate) mod help_markdown;
pub(crate) mod judge;
pub(crate) mod models;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod setup_role;

use crate::app::App;
use crate::args::Words;
use crate::exit::Outcome;

/// Runs a command.
pub(crate) fn run(app: &App, command: Words) -> Outcome {
    match command {
        Words::Ask(args) => ask::run(app, &args),
        Words::Chat(args) => chat::run(app, &args),
        Words::Run(args) => run::run(app, &args),
        Words::Judge(args) => judge::run(app, &args),
        Words::Schema(args) => schema::run(app, &args),
        Words::Doctor(args) => doctor::run(app, &args),
        Words::SetupRole(args) => setup_role::run(app, &args),
        Words::Models(args) => models::run(app, &args),
        Words::Demo(args) => demo::run(app, &args),
        Words::Config(args) => config::run(app, &args),
        Words::Dialects(args) => dialects::run(app, &args),
        Words::Completions(args) => completions::run(app, &args),
        Words::HelpMarkdown => help_markdown::run(app),
    }
}

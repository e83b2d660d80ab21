//! The `dbagent` command, for a person at a terminal: ask, chat, run, judge, schema, doctor, demo.
//!
//! An adapter without logic of its own: everything that reaches a database goes the library's one road.
//! Results go to standard output, everything else to standard error. One file a command in `commands/`.

mod answer;
mod app;
mod args;
mod asking;

mod caret;
mod commands;
mod config;
mod describe;
mod exit;
mod format;
mod highlight;
mod input;
mod mask;
mod model;
mod out;
mod paint;
mod params;
mod place;
mod sample;
mod spinner;
mod statement;
mod steps;
mod trace;
mod ui;
mod width;

use std::process::ExitCode;

use crate::app::App;
use crate::exit::Failure;

fn main() -> ExitCode {
    let cli = match args::parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(exit) => return exit.into(),
    };
    trace::start(cli.global.verbose, cli.global.quiet);
    let app = App::new(cli.global);
    let outcome = commands::run(&app, cli.command).unwrap_or_else(|failure: Failure| {
        app.ui.failure(&failure);
        failure.exit()
    });
    outcome.into()
}

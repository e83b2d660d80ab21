//! The command line.

use std::ffi::OsString;
use std::io::Write as _;

use clap::error::ErrorKind as ClapError;
use clap::{Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::app::Global;
use crate::commands::{
    ask, chat, completions, config, demo, dialects, doctor, judge, models, run, schema, setup_role,
};
use crate::exit::Exit;
use crate::mask::mask_quoted;

/// Lets a language model work with a real database, safely
///
/// You give it a database and a question. It explores the schema, writes queries, runs them under limits that
/// no prompt can lift, and answers. Try it without anything: `dbagent demo`.
///
/// A database is a URL (`sqlite:///shop.db`), the path of a database file, or a name under [databases] in
/// dbagent.toml. Results go to standard output, steps and remarks to standard error.
#[derive(Debug, Parser)]
#[command(name = "dbagent", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Words,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Words {
    Ask(ask::Args),
    Chat(chat::Args),
    Run(run::Args),
    Judge(judge::Args),
    Schema(schema::Args),
    Doctor(doctor::Args),
    SetupRole(setup_role::Args),
    Models(models::Args),
    Demo(demo::Args),
    Config(config::Args),
    Dialects(dialects::Args),
    Completions(completions::Args),
    /// Print the reference of the command line in Markdown
    #[command(hide = true)]
    HelpMarkdown,
}

/// The command line as clap knows it, exit codes included.
pub(crate) fn command() -> Command {
    let codes: Vec<String> =
        Exit::TABLE.iter().map(|(exit, meaning)| format!("  {:>3}  {meaning}", exit.code())).collect();
    Cli::command().after_long_help(format!("Exit codes:\n{}", codes.join("\n")))
}

/// Reads the command line; help and mistakes are answered here.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, Exit> {
    let parsed =
        command().try_get_matches_from(arguments).and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.map_err(|e| answer(&e))
}

fn answer(e: &clap::Error) -> Exit {
    let is_help = matches!(e.kind(), ClapError::DisplayHelp | ClapError::DisplayVersion);
    if is_help {
        return match e.print().and_then(|()| std::io::stdout().flush()) {
            Err(io) if io.kind() != std::io::ErrorKind::BrokenPipe => {
                // Nothing is lost that could be told elsewhere.
                _ = writeln!(std::io::stderr(), "error: the output could not be written: {io}");
                Exit::Output
            }
            _ => Exit::Done,
        };
    }
    // Clap repeats what was typed, and that may be a URL with a password.
    let rendered = e.render();
    let styled = anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
    let text = if styled { rendered.ansi().to_string() } else { rendered.to_string() };
    _ = write!(std::io::stderr(), "{}", mask_quoted(&text));
    Exit::Usage
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn every_command_and_option_says_what_it_is_for() {
        fn visit(command: &Command, silent: &mut Vec<String>) {
            if command.get_about().is_none() {
                silent.push(command.get_name().to_owned());
            }
            for argument in command.get_arguments() {
                if argument.get_help().is_none() {
                    silent.push(format!("{} {}", command.get_name(), argument.get_id()));
                }
            }
            command.get_subcommands().for_each(|c| visit(c, silent));
        }
        let mut silent = Vec::new();
        visit(&command(), &mut silent);
        assert_eq!(silent, Vec::<String>::new());
    }
}

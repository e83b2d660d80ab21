//! `dbagent completions`: what a shell needs to complete the command line.

use clap_complete::Shell;

use crate::app::App;
use crate::exit::{Exit, Outcome};

/// Print the completions of a shell
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:
  dbagent completions bash > ~/.local/share/bash-completion/completions/dbagent
  dbagent completions zsh > ~/.zfunc/_dbagent
  dbagent completions fish > ~/.config/fish/completions/dbagent.fish")]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(app: &App, args: &Args) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut crate::args::command(), "dbagent", &mut text);
    let mut out = app.stdout();
    out.text(&String::from_utf8_lossy(&text))?;
    out.flush()?;
    Ok(Exit::Done)
}

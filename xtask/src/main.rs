//! The project's own commands: `cargo xtask WORD`.
//!
//! People, documents and CI use the same words, so what passes here passes there. One file a
//! command; what they share is [`cargo`] (running cargo), [`workspace`] (what the workspace is made
//! of) and [`report`] (how an outcome is told). There are no shell scripts.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool talks to a terminal")]

mod bench;
mod bless;
mod cargo;
mod ci;
mod deadline;
mod deny;
mod docs;
mod features;
mod firewall;
mod fuzz;
mod library;
mod licenses;
mod outside;
mod report;
mod services;
mod test;
mod tidy;
mod tools;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::report::Outcome;
use crate::workspace::Workspace;

/// The project's own commands.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    word: Word,
}

#[derive(Debug, Subcommand)]
enum Word {
    Test(test::Arguments),
    Services(services::Arguments),
    Ci(ci::Arguments),
    Features(features::Arguments),
    Firewall(firewall::Arguments),
    Licenses(licenses::Arguments),
    Tidy(tidy::Arguments),
    Docs(docs::Arguments),
    Bless(bless::Arguments),
    Bench(bench::Arguments),
    Fuzz(fuzz::Arguments),
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(outcome) if outcome.passed() => ExitCode::SUCCESS,
        // Everything there is to say was said where it happened.
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<Outcome> {
    let workspace = Workspace::load()?;
    match arguments.word {
        Word::Test(arguments) => test::run(&workspace, &arguments),
        Word::Services(arguments) => services::run(&workspace, &arguments),
        Word::Ci(arguments) => ci::run(&workspace, &arguments),
        Word::Features(arguments) => features::run(&workspace, &arguments),
        Word::Firewall(arguments) => firewall::run(&workspace, &arguments),
        Word::Licenses(arguments) => licenses::run(&workspace, &arguments),
        Word::Tidy(arguments) => tidy::run(&workspace, &arguments),
        Word::Docs(arguments) => docs::run(&workspace, &arguments),
        Word::Bless(arguments) => bless::run(&workspace, &arguments),
        Word::Bench(arguments) => bench::run(&workspace, &arguments),
        Word::Fuzz(arguments) => fuzz::run(&workspace, &arguments),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Arguments;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_word_says_what_it_does() {
        for word in Arguments::command().get_subcommands() {
            assert!(word.get_about().is_some(), "`{}` has no help text", word.get_name());
        }
    }
}

//! `dbagent help-markdown`: the reference of the command line, written from the command line itself.

use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command};

use crate::app::App;
use crate::exit::{Exit, Outcome};

pub(crate) fn run(app: &App) -> Outcome {
    let mut out = app.stdout();
    out.text(&markdown())?;
    out.flush()?;
    Ok(Exit::Done)
}

/// What no single command or option can say.
const REFERENCE: &str = include_str!("../reference.md");

/// The whole reference. The same program always writes the same text.
fn markdown() -> String {
    let mut command = crate::args::command();
    // Building hands the global options on; they are written once.
    command.build();
    let mut text = String::from("# The command line\n\n");
    text.push_str("This page is written by `dbagent help-markdown`; `cargo xtask docs` renews it.\n\n");
    about(&mut text, &command);
    text.push_str("## Commands\n\n");
    let commands = || command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help");
    for sub in commands() {
        let name = sub.get_name();
        let first = sub.get_about().map(ToString::to_string).unwrap_or_default();
        line(&mut text, &format!("- [`dbagent {name}`](#dbagent-{name}): {first}"));
    }
    text.push('\n');
    text.push_str("## Options of every command\n\n");
    arguments(&mut text, command.get_arguments().filter(|a| a.is_global_set()));
    text.push_str("## Exit codes\n\n| code | meaning |\n| ---: | --- |\n");
    for (exit, meaning) in crate::exit::Exit::TABLE {
        line(&mut text, &format!("| {} | {meaning} |", exit.code()));
    }
    text.push('\n');
    text.push_str(REFERENCE);
    text.push('\n');
    for sub in commands() {
        section(&mut text, sub, "dbagent", 2);
    }
    format!("{}\n", text.trim_end())
}

fn section(text: &mut String, command: &Command, parent: &str, level: usize) {
    let name = format!("{parent} {}", command.get_name());
    line(text, &format!("{} {name}\n", "#".repeat(level)));
    about(text, command);
    let usage = command.clone().bin_name(&name).render_usage().to_string();
    line(text, &format!("```text\n{}\n```\n", usage.trim_start_matches("Usage: ").trim()));
    arguments(text, command.get_arguments().filter(|a| !a.is_global_set() && !a.is_hide_set()));
    if let Some(more) = command.get_after_long_help() {
        let (title, body) = match more.to_string().split_once(":\n") {
            Some((title, body)) => (title.to_owned(), body.to_owned()),
            None => (String::new(), more.to_string()),
        };
        let (code, prose): (Vec<&str>, Vec<&str>) = body.lines().partition(|l| l.starts_with("  "));
        line(
            text,
            &format!(
                "{title}:\n\n```sh\n{}\n```\n",
                code.iter().map(|l| l.trim()).collect::<Vec<_>>().join("\n")
            ),
        );
        let prose = prose.join("\n");
        if !prose.trim().is_empty() {
            line(text, &format!("{}\n", escape(prose.trim())));
        }
    }
    for sub in command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help") {
        section(text, sub, &name, level + 1);
    }
}

fn about(text: &mut String, command: &Command) {
    let about = command.get_long_about().or_else(|| command.get_about());
    if let Some(about) = about {
        let about = about.to_string();
        let mut paragraphs = about.split("\n\n").map(|p| p.replace('\n', " "));
        let first = paragraphs.next().unwrap_or_default();
        line(text, &format!("{}.\n", escape(first.trim_end_matches('.'))));
        for paragraph in paragraphs {
            line(text, &format!("{}\n", escape(&paragraph)));
        }
    }
}

fn arguments<'a>(text: &mut String, arguments: impl Iterator<Item = &'a Arg>) {
    let mut any = false;
    for argument in arguments.filter(|a| !matches!(a.get_id().as_str(), "help" | "version")) {
        any = true;
        let help = argument.get_long_help().or_else(|| argument.get_help());
        let help = help.map(ToString::to_string).unwrap_or_default();
        let help =
            help.split("\n\n").map(|p| p.replace('\n', " ")).map(|p| ended(&p)).collect::<Vec<_>>().join(" ");
        line(text, &format!("- `{}`: {}{}", spelling(argument), escape(&help), remarks(argument)));
    }
    if any {
        text.push('\n');
    }
}

fn ended(sentence: &str) -> String {
    if sentence.ends_with(['.', '!', '?']) { sentence.to_owned() } else { format!("{sentence}.") }
}

/// `-f, --format <FORMAT>`, or the name of a place.
fn spelling(argument: &Arg) -> String {
    let values: Vec<String> =
        argument.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
    let value = values.join(" ");
    if argument.is_positional() {
        return if argument.is_required_set() { value } else { format!("[{value}]") };
    }
    let mut names = Vec::new();
    names.extend(argument.get_short().map(|c| format!("-{c}")));
    names.extend(argument.get_long().map(|l| format!("--{l}")));
    let takes_value = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    let value = if takes_value && !value.is_empty() { format!(" {value}") } else { String::new() };
    format!("{}{value}", names.join(", "))
}

/// Words, default and environment variable.
fn remarks(argument: &Arg) -> String {
    let mut remarks = String::new();
    let takes_value = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    let words = if takes_value { argument.get_possible_values() } else { Vec::new() };
    if !words.is_empty() {
        let words: Vec<String> = words
            .iter()
            .map(|w| match w.get_help() {
                Some(help) => format!("`{}` ({help})", w.get_name()),
                None => format!("`{}`", w.get_name()),
            })
            .collect();
        _ = write!(remarks, " One of {}.", words.join(", "));
    }
    let defaults: Vec<String> =
        argument.get_default_values().iter().map(|d| d.to_string_lossy().into_owned()).collect();
    if takes_value && !defaults.is_empty() {
        _ = write!(remarks, " Default: `{}`.", defaults.join(" "));
    }
    if let Some(variable) = argument.get_env() {
        _ = write!(remarks, " Environment variable: `{}`.", variable.to_string_lossy());
    }
    remarks
}

/// Keeps Markdown from reading `<`, `>` and `[` of a help text.
fn escape(text: &str) -> String {
    text.replace('<', "\\<").replace('[', "\\[")
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_a_configuration_is_one() {
        let example = REFERENCE.split_once("```toml\n").unwrap().1.split_once("```").unwrap().0;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dbagent.toml");
        std::fs::write(&path, example).unwrap();
        let config = crate::config::Config::load(Some(&path), &|_| None).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(config.settings.databases["shop"].guardrails.query_timeout_s, 60);
        assert_eq!(config.settings.budgets.turns, 30);
    }

    #[test]
    fn every_command_option_and_exit_code_is_in_the_reference() {
        let text = markdown();
        assert_eq!(text, markdown());
        for sub in crate::args::command().get_subcommands().filter(|c| !c.is_hide_set()) {
            assert!(text.contains(&format!("\n## dbagent {}\n", sub.get_name())), "{}", sub.get_name());
            for long in sub.get_arguments().filter_map(Arg::get_long) {
                assert!(text.contains(&format!("--{long}")), "{long}");
            }
        }
        for (exit, _) in Exit::TABLE {
            assert!(text.contains(&format!("| {} | ", exit.code())));
        }
    }
}

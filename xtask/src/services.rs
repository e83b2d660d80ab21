//! `cargo xtask services`: real servers for the tests, started by the project itself.
//!
//! What they are and how each starts is in the package dbagent-services; here is how a person sees it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use dbagent_services::{Cache, Checkout, Lease, State, Status, Up};

use crate::report::{self, Outcome};
use crate::tools;
use crate::workspace::Workspace;

/// Keep real servers for the tests: start them, look at them, stop them.
///
/// They are fetched through package clients into a cache that survives, listen on 127.0.0.1 only, belong
/// to this checkout, and stay until they are stopped. `cargo xtask test` starts and stops what it needs by
/// itself; servers that are up already make it quicker. To use a server of your own, set its variable, for
/// example `DBAGENT_TEST_POSTGRES_URL`. `DBAGENT_SERVICES_CACHE` moves the cache. What cannot be had is
/// skipped; with its name in `DBAGENT_REQUIRE=postgres,postgres-extensions` that is a failure.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Fetch, fill and start services; those that are up stay as they are
    Up(Names),
    /// Stop services; what they hold is kept
    Down(Down),
    /// Say what runs: version, port, process, memory, disk
    Status(Names),
    /// Print the servers' logs
    Logs(Logs),
    /// Print the variables by which tests reach what is up: `eval "$(cargo xtask services env)"`
    Env(Env),
}

#[derive(Debug, Default, clap::Args)]
struct Names {
    /// Services; all when absent
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct Down {
    #[command(flatten)]
    names: Names,
    /// Remove what they hold too: the next `up` begins afresh
    #[arg(long)]
    wipe: bool,
}

#[derive(Debug, clap::Args)]
struct Logs {
    #[command(flatten)]
    names: Names,
    /// How many lines of each, counted from the end
    #[arg(long, default_value_t = 100)]
    lines: usize,
}

#[derive(Debug, clap::Args)]
struct Env {
    #[command(flatten)]
    names: Names,
    /// As one JSON object instead of lines for a shell
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<Outcome> {
    let checkout = checkout(workspace)?;
    match &arguments.action {
        Action::Up(names) => up(&checkout, names),
        Action::Down(what) => down(&checkout, what),
        Action::Status(names) => status(&checkout, names),
        Action::Logs(logs) => print_logs(&checkout, logs),
        Action::Env(env) => print_variables(&checkout, env),
    }
}

/// The servers of this checkout, in the cache that the environment names.
pub(crate) fn checkout(workspace: &Workspace) -> Result<Checkout> {
    Ok(Checkout::of(Cache::of_environment()?, workspace.root())?)
}

/// Starts a service and says so. Installs the client that fetches it, where it is missing and may be.
fn start(checkout: &Checkout, name: &str) -> Result<()> {
    started(checkout, name, || checkout.up(name))
}

/// The same for as long as tests need it.
pub(crate) fn lease(checkout: &Checkout, name: &str) -> Result<Lease> {
    let mut lease = None;
    started(checkout, name, || {
        let taken = checkout.lease(name)?;
        Ok(lease.insert(taken).up())
    })?;
    lease.context("there is no lease of what was just started")
}

fn started(
    checkout: &Checkout,
    name: &str,
    start: impl FnOnce() -> dbagent_services::Result<Up>,
) -> Result<()> {
    let begin = Instant::now();
    let needs = dbagent_services::info(name).and_then(|info| info.needs);
    for name in needs.into_iter().chain([name]) {
        if checkout.client(name)? == Some("mvn") {
            tools::MAVEN.ensure()?;
        }
    }
    let up = start()?;
    let status = checkout.status(name)?;
    let version = status.version.unwrap_or_default();
    let took = report::duration(begin.elapsed());
    match (status.state, up) {
        (State::Up { port, .. }, Up::Started) => {
            println!("{name} {version}: started on port {port} in {took}");
        }
        (State::Up { port, .. }, Up::WasUp) => println!("{name} {version}: was up on port {port}"),
        (State::Ready, _) => println!("{name} {version}: ready"),
        (State::Down, _) => bail!("{name} went down again; `cargo xtask services logs {name}` may say why"),
    }
    Ok(())
}

fn up(checkout: &Checkout, names: &Names) -> Result<Outcome> {
    let mut outcome = Outcome::success();
    let required = report::required_names();
    for name in names.chosen()? {
        let Err(error) = start(checkout, name) else { continue };
        let line = format!("{name}: {error:#}");
        // A person who names a service wants it; one who names none takes what can be had.
        if names.names.is_empty() && !required.iter().any(|required| required == name) {
            println!("SKIPPED {line}");
            outcome.skipped.push(line);
        } else {
            println!("FAILED {line}");
            outcome.failures.push(line);
        }
    }
    Ok(outcome)
}

fn down(checkout: &Checkout, what: &Down) -> Result<Outcome> {
    let mut is_silent = true;
    for name in what.names.chosen()?.into_iter().rev() {
        let stopped = if what.wipe { checkout.wipe(name)? } else { checkout.down(name)? };
        for name in stopped {
            println!("{name}: stopped");
            is_silent = false;
        }
    }
    if is_silent {
        println!("nothing was up");
    }
    Ok(Outcome::success())
}

fn status(checkout: &Checkout, names: &Names) -> Result<Outcome> {
    let mut lines =
        vec![["service", "version", "state", "pid", "memory", "disk", "what it is"].map(str::to_owned)];
    for name in names.chosen()? {
        lines.push(line(&checkout.status(name)?));
    }
    let cache = checkout.cache();
    let cache = format!("cache: {} in {}", size(cache.size()), cache.path().display());
    print(&format!("{}\n{cache}\n", table(&lines)))
}

/// The lines under one another, each column as wide as its widest cell.
fn table<const COLUMNS: usize>(lines: &[[String; COLUMNS]]) -> String {
    let mut widths = [0; COLUMNS];
    for line in lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.chars().count().max(*width);
        }
    }
    let shown = lines.iter().map(|line| {
        let cells = line.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    });
    shown.collect::<Vec<_>>().join("\n")
}

fn line(status: &Status) -> [String; 7] {
    let (state, pid, memory) = match status.state {
        State::Up { pid, port, memory } => (format!("up on port {port}"), pid.to_string(), size(memory)),
        State::Ready => ("ready".to_owned(), String::new(), String::new()),
        State::Down => ("down".to_owned(), String::new(), String::new()),
    };
    [
        status.name.to_owned(),
        status.version.clone().unwrap_or_default(),
        state,
        pid,
        memory,
        if status.size == 0 { String::new() } else { size(status.size) },
        status.about.to_owned(),
    ]
}

fn size(bytes: u64) -> String {
    format!("{:.0} MB", bytes as f64 / 1e6)
}

fn print_logs(checkout: &Checkout, logs: &Logs) -> Result<Outcome> {
    let mut shown = String::new();
    for name in logs.names.chosen()? {
        let Some(path) = checkout.log(name)? else { continue };
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let text = String::from_utf8_lossy(&bytes);
        shown.push_str(&format!("── {name}: {}\n", path.display()));
        let count = text.lines().count();
        for line in text.lines().skip(count.saturating_sub(logs.lines)) {
            shown.push_str(line);
            shown.push('\n');
        }
    }
    print(&shown)
}

/// Prints what a person may want to pipe on: that a reader wants no more of it is no error.
fn print(text: &str) -> Result<Outcome> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("cannot write"),
        _ => Ok(Outcome::success()),
    }
}

fn print_variables(checkout: &Checkout, env: &Env) -> Result<Outcome> {
    let mut variables = BTreeMap::new();
    for name in env.names.chosen()? {
        let found = checkout.variables(name)?;
        if found.is_empty() && !env.names.names.is_empty() {
            bail!("{name} is not up; start it: `cargo xtask services up {name}`");
        }
        variables.extend(found);
    }
    if variables.is_empty() {
        eprintln!("nothing is up; start servers: `cargo xtask services up`");
    }
    if env.json {
        print(&(serde_json::to_string_pretty(&variables)? + "\n"))
    } else {
        print(&exports(&variables))
    }
}

/// One line a variable, as a POSIX shell reads it.
fn exports(variables: &BTreeMap<String, String>) -> String {
    let quoted = |value: &str| format!("'{}'", value.replace('\'', r"'\''"));
    let lines = variables.iter().map(|(name, value)| format!("export {name}={}\n", quoted(value)));
    lines.collect::<Vec<_>>().concat()
}

impl Names {
    /// The services that a person means.
    fn chosen(&self) -> Result<Vec<&'static str>> {
        let known: Vec<&'static str> = dbagent_services::names().collect();
        if self.names.is_empty() {
            return Ok(known);
        }
        let find = |word: &String| {
            known.iter().copied().find(|name| name == word).with_context(|| {
                let hint = report::nearest(word, known.iter().copied());
                let hint = hint.map(|name| format!("did you mean `{name}`? ")).unwrap_or_default();
                format!("there is no service `{word}`; {hint}there are: {}", known.join(", "))
            })
        };
        // In the order in which they are started, whatever the order of the words.
        let mut chosen = self.names.iter().map(find).collect::<Result<Vec<_>>>()?;
        chosen.sort_by_key(|name| known.iter().position(|known| known == name));
        chosen.dedup();
        Ok(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Names {
        Names { names: names.iter().map(|name| (*name).to_owned()).collect() }
    }

    #[test]
    fn a_shell_reads_the_values_as_they_are() {
        let variables = BTreeMap::from([
            ("B".to_owned(), "it's; $HOME `x`".to_owned()),
            ("A".to_owned(), "postgres://u:p@127.0.0.1:5/d".to_owned()),
        ]);
        let text = exports(&variables);
        assert_eq!(text, "export A='postgres://u:p@127.0.0.1:5/d'\nexport B='it'\\''s; $HOME `x`'\n");
        #[cfg(unix)]
        {
            let script = format!("{text}printf %s \"$B\"");
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), "it's; $HOME `x`");
        }
    }

    #[test]
    fn columns_stand_under_one_another() {
        let lines = [["a", "b"], ["long", ""], ["x", "y"]].map(|line| line.map(str::to_owned));
        assert_eq!(table(&lines), "a     b\nlong\nx     y");
    }

    #[test]
    fn services_come_in_the_order_of_their_start_and_once() {
        assert_eq!(
            named(&["pgbouncer", "postgres", "pgbouncer"]).chosen().unwrap(),
            ["postgres", "pgbouncer"]
        );
        assert_eq!(named(&[]).chosen().unwrap(), dbagent_services::names().collect::<Vec<_>>());
        let error = named(&["postgress"]).chosen().unwrap_err().to_string();
        assert!(error.contains("did you mean `postgres`?"), "{error}");
    }
}

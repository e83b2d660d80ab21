//! What every command has: the streams and the configuration; and the runtime that most need.

use std::cell::OnceCell;
use std::path::PathBuf;

use dbagent::{CallContext, Error, ErrorKind};
use tokio::runtime::{Builder, Runtime};

use crate::config::{self, Config};
use crate::exit::{Exit, Failure};
use crate::out::Out;
use crate::ui::{Level, Ui};

/// Options of every command.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// The configuration file, instead of ./dbagent.toml or the user's
    #[arg(long, global = true, value_name = "FILE", env = "DBAGENT_CONFIG", hide_env_values = true)]
    pub(crate) config: Option<PathBuf>,
    /// Results and errors only: no steps, no remarks
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// No colours and no spinner (also when NO_COLOR is set)
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
    /// Say more on standard error: how things were found, causes of errors, a trace (-vv: all of it)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// What every command has.
pub(crate) struct App {
    /// Standard error.
    pub(crate) ui: Ui,
    global: Global,
    config: OnceCell<Config>,
}

impl App {
    /// Over the process's streams.
    pub(crate) fn new(global: Global) -> Self {
        let level = Level { quiet: global.quiet, verbose: global.verbose };
        Self { ui: Ui::stderr(!global.no_color, level), global, config: OnceCell::new() }
    }

    /// Standard output.
    pub(crate) fn stdout(&self) -> Out {
        Out::stdout(!self.global.no_color)
    }

    /// The file that `--config` names.
    pub(crate) fn config_file(&self) -> Option<&std::path::Path> {
        self.global.config.as_deref()
    }

    /// The configuration; read the first time.
    ///
    /// # Errors
    /// What [`Config::load`] says.
    pub(crate) fn config(&self) -> Result<&Config, Error> {
        if let Some(config) = self.config.get() {
            return Ok(config);
        }
        let config = Config::load(self.config_file(), &config::environment)?;
        if let Some(path) = &config.path {
            self.ui.detail(&format!("configuration: {}", path.display()));
        }
        Ok(self.config.get_or_init(|| config))
    }
}

/// A runtime. It does not wait for what still blocks when the command is done.
pub(crate) struct Running(Option<Runtime>);

impl Running {
    /// A runtime for one command.
    ///
    /// # Errors
    /// [`ErrorKind::Exhausted`] when no thread can be started.
    pub(crate) fn new() -> Result<Self, Error> {
        let runtime = Builder::new_multi_thread().enable_all().build().map_err(|e| {
            Error::new(ErrorKind::Exhausted, "the threads that do the work cannot be started").source(e)
        })?;
        Ok(Self(Some(runtime)))
    }

    /// Runs a future to its end.
    pub(crate) fn run<T>(&self, future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        match &self.0 {
            Some(runtime) => runtime.block_on(future),
            None => Err(Error::new(ErrorKind::Internal, "the runtime is gone").into()),
        }
    }
}

/// The signals that end a program, caught from the moment when this is made.
#[cfg(unix)]
pub(crate) struct Ending(Vec<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Ending {
    /// Catches SIGTERM and SIGHUP. A signal that cannot be caught ends the program as it always does.
    pub(crate) fn catch(running: &Running) -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let _inside = running.0.as_ref().map(Runtime::enter);
        Self(
            [SignalKind::terminate(), SignalKind::hangup()]
                .into_iter()
                .filter_map(|s| signal(s).ok())
                .collect(),
        )
    }

    /// Cleans up at the first of them, and ends the program.
    pub(crate) fn then(mut self, running: &Running, clean: impl FnOnce() + Send + 'static) {
        let Some(runtime) = &running.0 else { return };
        runtime.spawn(async move {
            std::future::poll_fn(|cx| {
                let fired = self.0.iter_mut().any(|s| s.poll_recv(cx).is_ready());
                if fired { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
            })
            .await;
            clean();
            end(Exit::Terminated);
        });
    }
}

/// Elsewhere there are no such signals.
#[cfg(not(unix))]
pub(crate) struct Ending;

#[cfg(not(unix))]
impl Ending {
    pub(crate) fn catch(_: &Running) -> Self {
        Self
    }

    pub(crate) fn then(self, _: &Running, _: impl FnOnce() + Send + 'static) {}
}

#[cfg(unix)]
#[expect(
    clippy::exit,
    reason = "whoever sends such a signal waits for nothing, and a prompt may block the main thread"
)]
fn end(exit: Exit) {
    std::process::exit(exit.code().into());
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Waits for work, and cancels its call at Ctrl-C, so that it also stops in the database. A second Ctrl-C does
/// not wait for that.
pub(crate) async fn cancellable<T>(
    call: &CallContext,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::pin!(work);
    tokio::select! {
        done = &mut work => return done,
        () = interrupted() => call.cancel.cancel(),
    }
    tokio::select! {
        done = work => done,
        () = interrupted() => Err(Failure::Said(Exit::Cancelled)),
    }
}

/// Waits for work that has no call to cancel, such as opening a database. Ctrl-C drops it.
pub(crate) async fn droppable<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::select! {
        done = work => done,
        () = interrupted() => Err(Failure::Said(Exit::Cancelled)),
    }
}

/// From here on Ctrl-C ends the program only where somebody waits for it. Lives as long as what it returns
/// must not be cut short; there is no way back for the rest of the process.
pub(crate) fn hold_interrupts() -> Option<impl Sized> {
    // Without it Ctrl-C ends the program as it always does.
    let running = Running::new().ok()?;
    #[cfg(unix)]
    let signal = {
        let _inside = running.0.as_ref().map(Runtime::enter);
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()).ok()?
    };
    #[cfg(not(unix))]
    let signal = ();
    Some((signal, running))
}

/// Fires at the next Ctrl-C.
pub(crate) async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        // Without a handler Ctrl-C ends the program as it always does.
        std::future::pending::<()>().await;
    }
}

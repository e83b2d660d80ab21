//! One line at the bottom of a terminal that moves while something goes on.
//!
//! It is cleared before anything else is written and never padded to the edge: what the terminal itself
//! echoes (`^C`) stays on its line and goes with it.

use std::io::{self, Write as _};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::paint::Paint;

/// A line that moves until this is dropped.
pub(crate) struct Spinner {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    paint: Paint,
}

#[derive(Default)]
struct State {
    message: String,
    frame: usize,
    shown: bool,
    ended: bool,
}

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const TICK: Duration = Duration::from_millis(100);

impl Spinner {
    /// Starts to move soon; work that is done at once shows nothing.
    pub(crate) fn start(paint: Paint) -> Self {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), paint });
        let moved = Arc::clone(&shared);
        // Without a thread nothing moves, and nothing is lost.
        let thread = std::thread::Builder::new().name("spinner".into()).spawn(move || moved.turn()).ok();
        Self { shared, thread }
    }

    /// What goes on now; one line that fits.
    pub(crate) fn message(&self, text: String) {
        self.shared.lock().message = text;
    }

    /// Writes something else, with the line out of the way.
    pub(crate) fn aside(&self, write: impl FnOnce()) {
        let mut state = self.shared.lock();
        state.clear();
        write();
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        {
            let mut state = self.shared.lock();
            state.ended = true;
            state.clear();
        }
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It only draws; a panic there is no reason for another one.
            _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self) {
        let mut state = self.lock();
        loop {
            state = self.changed.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner).0;
            if state.ended {
                return;
            }
            state.frame += 1;
            let frame = FRAMES.get(state.frame % FRAMES.len()).copied().unwrap_or_default();
            let line = format!("\r\u{1b}[2K{} {}", self.paint.cyan(frame), state.message);
            // A terminal that is gone needs no line.
            _ = io::stderr().write_all(line.as_bytes());
            state.shown = true;
        }
    }
}

impl State {
    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            // As above.
            _ = io::stderr().write_all(b"\r\x1b[2K");
        }
    }
}

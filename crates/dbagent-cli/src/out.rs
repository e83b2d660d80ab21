//! Standard output: results and nothing else, each write checked.

use std::io::{self, BufWriter, IsTerminal as _, Write};

use crate::exit::Failure;
use crate::paint::Paint;

/// Standard output. Nothing is lost silently: a full disk is an error, a reader that went away ends the
/// program quietly.
pub(crate) struct Out {
    to: BufWriter<Box<dyn Write + Send>>,
    /// How to write styles.
    pub(crate) paint: Paint,
    /// Columns of the terminal; `None` when it is none, and then nothing is fitted.
    pub(crate) width: Option<usize>,
    /// Whether it is a terminal, where control characters would act.
    pub(crate) terminal: bool,
}

impl Out {
    /// The process's standard output.
    pub(crate) fn stdout(colour: bool) -> Self {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        let width =
            if terminal { crate::ui::columns(terminal_size::terminal_size_of(&stdout)) } else { None };
        let colour =
            colour && terminal && anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never;
        Self {
            to: BufWriter::with_capacity(64 << 10, Box::new(stdout)),
            paint: Paint::new(colour),
            width,
            terminal,
        }
    }

    /// Any writer, as if it were a pipe.
    #[cfg(test)]
    pub(crate) fn to(writer: impl Write + Send + 'static) -> Self {
        Self { to: BufWriter::new(Box::new(writer)), paint: Paint::PLAIN, width: None, terminal: false }
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) -> Result<(), Failure> {
        self.to.write_all(text.as_ref().as_bytes())?;
        self.to.write_all(b"\n")?;
        Ok(())
    }

    /// Writes text as it is.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.to.write_all(text.as_bytes())?;
        Ok(())
    }

    /// Hands everything on.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.to.flush()?;
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A buffer that a test reads.
    #[derive(Clone, Default)]
    pub(crate) struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Shared {
        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_a_failure() {
        let mut out = Out::to(Full);
        out.line("x").unwrap();
        assert!(matches!(out.flush(), Err(Failure::Output(_))));
    }

    #[test]
    fn lines_arrive_in_order() {
        let shared = Shared::default();
        let mut out = Out::to(shared.clone());
        out.line("a").unwrap();
        out.text("b").unwrap();
        out.flush().unwrap();
        assert_eq!(shared.text(), "a\nb");
    }
}

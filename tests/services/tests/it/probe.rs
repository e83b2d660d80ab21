//! Speaks just enough of the protocols to see whether a server is there.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// A connection to a server on this machine, which has been asked something.
pub(crate) struct Asked(TcpStream);

/// Asks a Postgres server whether it speaks TLS.
pub(crate) fn ask_postgres(port: u16) -> std::io::Result<Asked> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.write_all(&[0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])?;
    Ok(Asked(stream))
}

impl Asked {
    /// Whether no answer comes for a moment.
    pub(crate) fn is_silent(&mut self) -> bool {
        self.0.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        let answer = self.0.read(&mut [0]);
        matches!(answer, Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
    }

    /// The first byte of the answer.
    pub(crate) fn answer(&mut self) -> Option<u8> {
        self.0.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let mut byte = [0];
        (self.0.read(&mut byte).ok()? == 1).then_some(byte[0])
    }
}

/// Whether nobody listens on a port of this machine.
pub(crate) fn nobody_listens(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

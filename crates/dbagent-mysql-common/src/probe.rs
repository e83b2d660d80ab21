//! Looks at the first bytes that a server sends, after the driver could not make sense of them.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::location::Location;

/// How long the first bytes are waited for. A server of this protocol speaks first and at once.
const PATIENCE: Duration = Duration::from_secs(1);
/// Version 10 of the protocol, the only one since 1999.
const PROTOCOL: u8 = 10;
/// An error instead of a greeting.
const ERROR: u8 = 0xff;

/// What a server says first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Greeting {
    /// What MySQL and MariaDB say.
    Ours,
    /// Something else, or nothing.
    Other,
    /// Nobody looked, or nobody could be reached.
    Unknown,
}

/// Connects once more and reads the greeting.
pub(crate) async fn greeting(location: &Location) -> Greeting {
    let look = async {
        match &location.socket {
            #[cfg(unix)]
            Some(path) => read(tokio::net::UnixStream::connect(path).await?).await,
            #[cfg(not(unix))]
            Some(_) => Ok(Greeting::Unknown),
            None => {
                read(tokio::net::TcpStream::connect((location.host.as_str(), location.port)).await?).await
            }
        }
    };
    match tokio::time::timeout(PATIENCE, look).await {
        Ok(Ok(greeting)) => greeting,
        Ok(Err(e)) if e.kind() == io::ErrorKind::UnexpectedEof => Greeting::Other,
        Ok(Err(_)) => Greeting::Unknown,
        Err(_) => Greeting::Other,
    }
}

/// The header of a packet (three bytes of length, one of sequence) and the first byte of what it holds.
async fn read(mut stream: impl AsyncRead + Unpin) -> io::Result<Greeting> {
    let mut first = [0_u8; 5];
    stream.read_exact(&mut first).await?;
    let [low, middle, high, sequence, kind] = first;
    let length = u32::from_le_bytes([low, middle, high, 0]);
    let ours = sequence == 0 && (1..=1_024).contains(&length) && matches!(kind, PROTOCOL | ERROR);
    Ok(if ours { Greeting::Ours } else { Greeting::Other })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn greetings_are_told_apart() {
        let ours: &[u8] = b"\x4a\x00\x00\x00\x0a9.7.4\0";
        let refusal: &[u8] = b"\x17\x00\x00\x00\xff\x10\x04Too many connections";
        let ssh: &[u8] = b"SSH-2.0-OpenSSH_9.2p1\r\n";
        let x_protocol: &[u8] = b"\x05\x00\x00\x00\x0b\x08\x05\x1a\x00";
        for (bytes, expected) in [
            (ours, Greeting::Ours),
            (refusal, Greeting::Ours),
            (ssh, Greeting::Other),
            (x_protocol, Greeting::Other),
        ] {
            assert_eq!(read(bytes).await.unwrap(), expected, "{bytes:?}");
        }
        assert!(read(&b"abc"[..]).await.is_err());
    }
}

//! What the tests share: a clean place to run the binary in, a sample database, a model server that says
//! what a test wrote down.

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use flate2::read::GzDecoder;
use serde_json::{Value, json};
use tempfile::TempDir;

/// What came of one run of the binary.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }
}

/// A folder of its own with the sample database in it: no configuration, no keys, no home of the user.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = Vec::new();
        let asset = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/chinook.sqlite.gz");
        GzDecoder::new(std::fs::File::open(asset).unwrap()).read_to_end(&mut bytes).unwrap();
        std::fs::write(folder.path().join("shop.db"), bytes).unwrap();
        std::fs::create_dir(folder.path().join("tmp")).unwrap();
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// The binary, with nothing of the real environment but the path.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dbagent"));
        command
            .args(args)
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .env("TMPDIR", self.path("tmp"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Ran {
        ran(&mut self.command(args))
    }

    /// The same with something on standard input.
    pub(crate) fn fed<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        input: impl AsRef<[u8]>,
    ) -> Ran {
        feed(&mut self.command(args), input)
    }
}

pub(crate) fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

pub(crate) fn feed(command: &mut Command, input: impl AsRef<[u8]>) -> Ran {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let bytes = input.as_ref().to_vec();
    // Whoever reads only a part of it closes the pipe, which is no failure here.
    let writer = std::thread::spawn(move || _ = stdin.write_all(&bytes));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// No escape sequence and nothing else that acts on a terminal.
pub(crate) fn is_clean(text: &str) -> bool {
    !text.chars().any(|c| c != '\n' && c.is_control())
}

/// A model server on this machine. It gives its replies in order, the last one for ever.
pub(crate) struct ModelServer {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

/// One reply: text, calls, or an HTTP status.
pub(crate) enum Reply {
    Text(&'static str),
    Calls(&'static [(&'static str, &'static str)]),
    Status(u16),
}

impl ModelServer {
    pub(crate) fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let Ok(mut connection) = connection else { return };
                let Some(request) = read_request(&mut connection) else { continue };
                let number = {
                    let mut seen = seen.lock().unwrap();
                    seen.push(request);
                    seen.len()
                };
                let reply = &replies[(number - 1).min(replies.len() - 1)];
                // The client may be gone already.
                _ = connection.write_all(reply.http().as_bytes());
            }
        });
        Self { port, requests }
    }

    /// The model string that asks it.
    pub(crate) fn spec(&self) -> String {
        format!("http://127.0.0.1:{}/v1#test?stream=false", self.port)
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The requests so far, headers and bodies.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Reply {
    fn http(&self) -> String {
        let (status, body) = match self {
            Self::Text(text) => (200, completion(&json!({"role": "assistant", "content": text}), "stop")),
            Self::Calls(calls) => {
                let calls: Vec<Value> = calls
                    .iter()
                    .enumerate()
                    .map(|(i, (name, arguments))| {
                        json!({"id": format!("c{i}"), "type": "function", "function": {"name": name, "arguments": arguments}})
                    })
                    .collect();
                (
                    200,
                    completion(
                        &json!({"role": "assistant", "content": null, "tool_calls": calls}),
                        "tool_calls",
                    ),
                )
            }
            Self::Status(status) => (*status, json!({"error": {"message": "no"}})),
        };
        let body = body.to_string();
        format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
    }
}

fn completion(message: &Value, finish: &str) -> Value {
    json!({
        "id": "x", "object": "chat.completion", "created": 1, "model": "test",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    })
}

fn read_request(connection: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let n = connection.read(&mut buffer).ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&buffer[..n]);
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .filter_map(|l| l.split_once(':'))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .map_or(0, |(_, n)| n.trim().parse().unwrap());
            if body.len() >= length {
                return Some(text.into_owned());
            }
        }
    }
}

//! A model server on the loopback interface that sends scripted bytes and remembers what it was asked.

#![expect(dead_code, unreachable_pub, reason = "each test program uses its own part")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dbagent_core::model::{Message, Model, ModelError, ModelEvent, ModelRequest, Reply, drain};
use dbagent_openai::{OpenAi, OpenAiBuilder};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};

/// What the server does on one connection, after it has read the request.
#[derive(Clone)]
pub enum Step {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Waits until the test says go.
    Wait(Arc<Notify>),
    /// Says nothing more and keeps the connection open until the client closes it.
    Hang,
}

/// One request as it arrived.
#[derive(Clone, Debug)]
pub struct Asked {
    pub head: String,
    pub body: String,
}

impl Asked {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// The server. Connections are answered by the scripts in order; the last one repeats.
pub struct Server {
    pub base_url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    arrived: watch::Receiver<usize>,
    closed: watch::Receiver<usize>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    pub async fn new(scripts: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (arrive, arrived) = watch::channel(0);
        let (close, closed) = watch::channel(0);
        let (arrive, close) = (Arc::new(arrive), Arc::new(close));
        let seen = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            for connection in 0.. {
                let Ok((mut socket, _)) = listener.accept().await else { return };
                socket.set_nodelay(true).unwrap();
                let script = scripts.get(connection).or(scripts.last()).cloned().unwrap_or_default();
                let (seen, arrive, close) = (Arc::clone(&seen), Arc::clone(&arrive), Arc::clone(&close));
                tokio::spawn(async move {
                    let Some(request) = Box::pin(read_request(&mut socket)).await else { return };
                    seen.lock().unwrap().push(request);
                    arrive.send_modify(|n| *n += 1);
                    for step in script {
                        match step {
                            Step::Send(bytes) => {
                                if socket.write_all(&bytes).await.is_err() {
                                    break;
                                }
                            }
                            Step::Wait(go) => go.notified().await,
                            Step::Hang => while matches!(socket.read(&mut [0; 64]).await, Ok(n) if n > 0) {},
                        }
                    }
                    _ = socket.shutdown().await;
                    close.send_modify(|n| *n += 1);
                });
            }
        });
        Self { base_url, asked, arrived, closed, task }
    }

    /// A server that sends these bytes and closes.
    pub async fn sending(bytes: impl AsRef<[u8]>) -> Self {
        Self::new(vec![vec![Step::Send(bytes.as_ref().to_vec())]]).await
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Waits until that many requests have arrived.
    pub async fn arrived(&self, n: usize) {
        self.arrived.clone().wait_for(|seen| *seen >= n).await.unwrap();
    }

    /// Waits until that many connections are over whose requests arrived.
    pub async fn closed(&self, n: usize) {
        self.closed.clone().wait_for(|seen| *seen >= n).await.unwrap();
    }
}

async fn read_request(socket: &mut tokio::net::TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 << 10];
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            break at + 4;
        }
        match socket.read(&mut buffer).await {
            Ok(n) if n > 0 => bytes.extend(&buffer[..n]),
            _ => return None,
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let length = head
        .lines()
        .find_map(|l| {
            l.to_ascii_lowercase().strip_prefix("content-length:").map(|v| v.trim().parse::<usize>().unwrap())
        })
        .unwrap_or(0);
    while bytes.len() < head_end + length {
        match socket.read(&mut buffer).await {
            Ok(n) if n > 0 => bytes.extend(&buffer[..n]),
            _ => return None,
        }
    }
    Some(Asked { head, body: String::from_utf8_lossy(&bytes[head_end..]).into_owned() })
}

/// A whole HTTP answer.
pub fn http(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
        .into_bytes()
}

/// A whole answer of JSON.
pub fn json(status: &str, body: &str) -> Vec<u8> {
    http(status, "content-type: application/json\r\n", body)
}

/// The head of an event stream in chunks.
pub const STREAM_HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";

/// One chunk of a body. The client gets each as one piece.
pub fn chunk(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    let mut out = format!("{:x}\r\n", bytes.len()).into_bytes();
    out.extend(bytes);
    out.extend(b"\r\n");
    out
}

/// The end of a body in chunks.
pub const CHUNKS_END: &[u8] = b"0\r\n\r\n";

/// A whole event stream, closed as HTTP asks; each piece is one chunk.
pub fn pieces<B: AsRef<[u8]>>(pieces: impl IntoIterator<Item = B>) -> Vec<u8> {
    let mut out = STREAM_HEAD.as_bytes().to_vec();
    for piece in pieces {
        out.extend(chunk(piece));
    }
    out.extend(CHUNKS_END);
    out
}

/// A whole event stream of these frames, each the JSON of one event or a line of its own.
pub fn events(frames: &[&str]) -> Vec<u8> {
    pieces(frames.iter().map(|frame| frame_of(frame)))
}

pub fn frame_of(frame: &str) -> String {
    if frame.starts_with('{') || frame == "[DONE]" {
        format!("data: {frame}\n\n")
    } else {
        format!("{frame}\n\n")
    }
}

pub const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
pub const DONE: &str = "[DONE]";

pub fn text(text: &str) -> String {
    serde_json::json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]})
        .to_string()
}

pub fn builder(server: &Server) -> OpenAiBuilder {
    OpenAi::builder().base_url(&server.base_url).model("m").id("test:m")
}

pub fn model(server: &Server) -> OpenAi {
    builder(server).build().unwrap()
}

pub fn hello() -> ModelRequest {
    ModelRequest::new(vec![Message::user("hello")])
}

/// Everything of one reply. Guarded by a ceiling that no healthy run comes near.
pub async fn ask(model: &OpenAi, request: ModelRequest) -> (Vec<ModelEvent>, Result<Reply, ModelError>) {
    let mut seen = Vec::new();
    let work = async {
        let stream = model.stream(request).await?;
        drain(stream, |event| seen.push(event)).await
    };
    let reply = tokio::time::timeout(Duration::from_mins(1), work).await.expect("the model hangs");
    (seen, reply)
}

/// The reply of a server that sends these bytes to a stream request.
pub async fn streamed(bytes: impl AsRef<[u8]>) -> Result<Reply, ModelError> {
    ask(&model(&Server::sending(bytes).await), hello()).await.1
}

/// The reply of a server that sends these bytes to a request for a whole reply.
pub async fn whole(bytes: impl AsRef<[u8]>) -> Result<Reply, ModelError> {
    let server = Server::sending(bytes).await;
    ask(&builder(&server).streaming(false).build().unwrap(), hello()).await.1
}

/// The reply of a server that answers every request with this JSON, asked for both ways.
pub async fn both(body: &str) -> [Result<Reply, ModelError>; 2] {
    let event: serde_json::Value = serde_json::from_str(body).unwrap();
    // Of a whole reply each choice becomes one event of a stream.
    let frame = event.to_string().replace("\"message\":{", "\"delta\":{");
    [whole(json("200 OK", body)).await, streamed(events(&[&frame, DONE])).await]
}

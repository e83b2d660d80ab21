//! The tower service below async-openai: it lets through only what that crate reads well, and keeps the rest
//! whole for us. It stands in the place of its retry layer, so that an attempt is one attempt.
//!
//! | the server answers | what happens |
//! |---|---|
//! | anything but 2xx | [`Answer`] with status, wait and the capped body |
//! | 2xx to a stream request, not an event stream | [`Answer`] with the whole body |
//! | 2xx to a plain request, not JSON | [`Answer`] with the whole body |
//! | an event stream | passes, watched: size, the end marker, why it broke |
//! | JSON to a plain request | passes |

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use async_openai::middleware::HttpRequestFactory;
use futures_util::StreamExt as _;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Response, StatusCode};
use tower::BoxError;

use crate::retry_after::retry_after;

/// Most bytes that are read of an answer that is an error.
pub(crate) const MAX_ERROR_BODY: usize = 64 << 10;
/// Most bytes of one reply, streamed or not.
pub(crate) const MAX_REPLY: usize = 64 << 20;
/// Most bytes of one line of a stream; a decoder reads a line again with each piece of it.
pub(crate) const MAX_LINE: usize = 4 << 20;

/// An answer that is not what was asked for.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the server answered {status}")]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) content_type: String,
    pub(crate) retry_after: Option<Duration>,
    /// Where a redirect points.
    pub(crate) location: Option<String>,
    pub(crate) body: String,
    /// Whether the body is longer than what was kept.
    pub(crate) capped: bool,
}

impl Answer {
    /// Reads the body up to the cap. What arrived before the connection broke counts for an error answer.
    pub(crate) async fn read(mut response: Response, cap: usize) -> Result<Self, reqwest::Error> {
        let status = response.status();
        let headers = response.headers();
        let mut answer = Self {
            status,
            content_type: content_type(headers).to_owned(),
            retry_after: retry_after(headers),
            location: headers.get(LOCATION).and_then(|v| v.to_str().ok()).map(str::to_owned),
            body: String::new(),
            capped: false,
        };
        let mut body = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) => {
                    let room = cap - body.len();
                    answer.capped = chunk.len() > room;
                    body.extend(chunk.iter().copied().take(room));
                    if answer.capped {
                        break;
                    }
                }
                Ok(None) => break,
                Err(_) if !status.is_success() => break,
                Err(e) => return Err(e),
            }
        }
        answer.body = String::from_utf8_lossy(&body).into_owned();
        Ok(answer)
    }
}

/// Why a stream ended before its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Broken {
    /// The server sent nothing for the idle time.
    Idle,
    /// The connection was lost.
    Lost(String),
    /// More bytes than are read of one reply.
    ReplyTooLong,
    /// More bytes than are read of one line.
    LineTooLong,
    /// The bytes are no UTF-8.
    NotText,
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Idle => f.write_str("the server fell silent"),
            Self::Lost(cause) => write!(f, "the connection was lost: {cause}"),
            Self::ReplyTooLong => write!(f, "the reply is longer than {} MiB", MAX_REPLY >> 20),
            Self::LineTooLong => write!(f, "one line of the reply is longer than {} MiB", MAX_LINE >> 20),
            Self::NotText => f.write_str("its bytes are not UTF-8"),
        }
    }
}

impl std::error::Error for Broken {}

/// What was seen of a stream's bytes that its events do not tell. Shared with the reader of the events.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    done: bool,
    error_line: Option<String>,
    broken: Option<Broken>,
}

impl Notes {
    fn with<T>(&self, use_it: impl FnOnce(&mut Seen) -> T) -> T {
        use_it(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the stream's own end marker, `data: [DONE]`, came.
    pub(crate) fn done(&self) -> bool {
        self.with(|seen| seen.done)
    }

    /// What followed `error:`, a field that is none of the standard's and that older llama.cpp servers use.
    pub(crate) fn error_line(&self) -> Option<String> {
        self.with(|seen| seen.error_line.clone())
    }

    /// Why the bytes stopped.
    pub(crate) fn broken(&self) -> Option<Broken> {
        self.with(|seen| seen.broken.clone())
    }

    fn breaks(&self, why: Broken) -> Broken {
        self.with(|seen| seen.broken = Some(why.clone()));
        why
    }
}

/// Reads along the lines of a stream, and keeps from the decoder what it does not bear: it panics on a byte
/// order mark, and it collects for ever what is not UTF-8.
struct Watcher {
    notes: Notes,
    total: usize,
    line: Vec<u8>,
    line_length: usize,
    /// The first bytes, until they are known to be a byte order mark or not.
    start: Option<Vec<u8>>,
    /// The beginning of a character whose end has not come.
    character: Vec<u8>,
}

impl Watcher {
    /// The start of a line that is kept, enough for the markers and an error's text.
    const KEPT: usize = 8 << 10;
    const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

    fn new(notes: Notes) -> Self {
        Self {
            notes,
            total: 0,
            line: Vec::new(),
            line_length: 0,
            start: Some(Vec::new()),
            character: Vec::new(),
        }
    }

    /// What the decoder gets of a piece.
    fn pass(&mut self, piece: &[u8]) -> Result<Vec<u8>, Broken> {
        let piece = match self.start.take() {
            None => piece.to_vec(),
            Some(mut start) => {
                start.extend(piece);
                if start.len() < Self::BYTE_ORDER_MARK.len() && Self::BYTE_ORDER_MARK.starts_with(&start) {
                    self.start = Some(start);
                    return Ok(Vec::new());
                }
                start.strip_prefix(Self::BYTE_ORDER_MARK).map(<[u8]>::to_vec).unwrap_or(start)
            }
        };
        self.measure(&piece).and_then(|()| self.check(&piece)).map_err(|why| self.notes.breaks(why))?;
        Ok(piece)
    }

    fn measure(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        self.total += bytes.len();
        if self.total > MAX_REPLY {
            return Err(Broken::ReplyTooLong);
        }
        for piece in bytes.split_inclusive(|b| matches!(b, b'\n' | b'\r')) {
            self.line_length += piece.len();
            let room = Self::KEPT.saturating_sub(self.line.len());
            self.line.extend(piece.iter().take(room));
            if matches!(piece.last(), Some(b'\n' | b'\r')) {
                self.end_line();
            } else if self.line_length > MAX_LINE {
                return Err(Broken::LineTooLong);
            }
        }
        Ok(())
    }

    fn check(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        let joined;
        let text = if self.character.is_empty() {
            bytes
        } else {
            joined = [self.character.as_slice(), bytes].concat();
            &joined
        };
        let rest = match std::str::from_utf8(text) {
            Ok(_) => Vec::new(),
            Err(e) if e.error_len().is_none() => text.get(e.valid_up_to()..).unwrap_or_default().to_vec(),
            Err(_) => return Err(Broken::NotText),
        };
        self.character = rest;
        Ok(())
    }

    fn end_line(&mut self) {
        let line = String::from_utf8_lossy(&self.line);
        let line = line.trim_end();
        if line.strip_prefix("data:").is_some_and(|data| data.trim_start() == "[DONE]") {
            self.notes.with(|seen| seen.done = true);
        } else if let Some(error) = line.strip_prefix("error:") {
            self.notes.with(|seen| seen.error_line = Some(error.trim_start().to_owned()));
        }
        self.line.clear();
        self.line_length = 0;
    }
}

impl Drop for Watcher {
    /// The last line may lack its end.
    fn drop(&mut self) {
        self.end_line();
    }
}

/// The service; one per request.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(crate) client: reqwest::Client,
    pub(crate) wants_stream: bool,
    pub(crate) notes: Notes,
}

impl tower::Service<HttpRequestFactory> for Gate {
    type Response = Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> Self::Future {
        let gate = self.clone();
        Box::pin(async move {
            let request = factory.build().await?;
            let response = gate.client.execute(request).await?;
            if !response.status().is_success() {
                return Err(Answer::read(response, MAX_ERROR_BODY).await?.into());
            }
            match (gate.wants_stream, is_event_stream(response.headers())) {
                (true, true) => Ok(watched(response, gate.notes)),
                (true, false) => Err(Answer::read(response, MAX_REPLY).await?.into()),
                (false, _) => {
                    let answer = Answer::read(response, MAX_REPLY).await?;
                    let is_json = serde_json::from_str::<serde::de::IgnoredAny>(&answer.body).is_ok();
                    if answer.capped || !is_json {
                        return Err(answer.into());
                    }
                    Ok(rebuilt(answer.status, reqwest::Body::from(answer.body)))
                }
            }
        })
    }
}

fn watched(response: Response, notes: Notes) -> Response {
    let status = response.status();
    let mut watcher = Watcher::new(notes);
    let bytes = response.bytes_stream().map(move |piece| match piece {
        Ok(piece) => watcher.pass(&piece),
        Err(e) if e.is_timeout() => Err(watcher.notes.breaks(Broken::Idle)),
        Err(e) => Err(watcher.notes.breaks(Broken::Lost(root_cause(&e)))),
    });
    rebuilt(status, reqwest::Body::wrap_stream(bytes))
}

fn rebuilt(status: StatusCode, body: reqwest::Body) -> Response {
    let mut response = http::Response::new(body);
    *response.status_mut() = status;
    response.into()
}

fn content_type(headers: &HeaderMap) -> &str {
    headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default()
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let media = content_type(headers).split(';').next().unwrap_or_default();
    media.trim().eq_ignore_ascii_case("text/event-stream")
}

/// The innermost cause of a client error: `connection refused` says more than `error sending request`.
/// Never the URL.
pub(crate) fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(pieces: &[&[u8]]) -> (Notes, Result<usize, Broken>) {
        let notes = Notes::default();
        let mut watcher = Watcher::new(notes.clone());
        let passed = pieces.iter().try_fold(0, |passed, piece| Ok(passed + watcher.pass(piece)?.len()));
        (notes, passed)
    }

    #[test]
    fn the_end_marker_is_seen_however_it_is_split() {
        let pieces: [&[&[u8]]; 5] = [
            &[b"data: {}\n\ndata: [DONE]\n\n"],
            &[b"data: [DO", b"NE]\r", b"\n\r\n"],
            &[b"data:[DONE]"],
            &[b"da", b"ta: [DONE]\r"],
            &[b"\ndata: [DONE] \n"],
        ];
        for pieces in pieces {
            assert!(watch(pieces).0.done(), "{pieces:?}");
        }
        for no in ["data: {\"a\":\"data: [DONE]\"}\n", ": data: [DONE]\n", "data: [DONE\n", "event: [DONE]\n"]
        {
            assert!(!watch(&[no.as_bytes()]).0.done(), "{no}");
        }
    }

    #[test]
    fn an_error_line_is_kept() {
        let (notes, _) = watch(&[b"error: {\"code\":500,", b"\"message\":\"no\"}\n\n"]);
        assert_eq!(notes.error_line().unwrap(), "{\"code\":500,\"message\":\"no\"}");
    }

    #[test]
    fn lines_and_replies_have_an_end() {
        let piece = vec![b'x'; 1 << 20];
        let (notes, result) = watch(&[piece.as_slice(); 5]);
        assert_eq!(result, Err(Broken::LineTooLong));
        assert_eq!(notes.broken(), Some(Broken::LineTooLong));
        let mut lines = piece.clone();
        lines.push(b'\n');
        assert_eq!(watch(&[lines.as_slice(); 63]).1, Ok(63 * lines.len()));
        assert_eq!(watch(&[lines.as_slice(); 64]).1, Err(Broken::ReplyTooLong));
    }

    #[test]
    fn a_byte_order_mark_is_dropped_at_the_start_only() {
        let mark = Watcher::BYTE_ORDER_MARK;
        assert_eq!(watch(&[mark, b"a"]).1, Ok(1));
        assert_eq!(watch(&[b"\xef", b"\xbb", b"\xbfa"]).1, Ok(1));
        assert_eq!(watch(&[b"\xef", b"\xbb\xbe"]).1, Ok(3));
        assert_eq!(watch(&[b"a", mark]).1, Ok(4));
    }

    #[test]
    fn what_is_not_text_breaks_at_once_and_a_split_character_does_not() {
        assert_eq!(watch(&["ü€🦀".as_bytes()]).1, Ok(9));
        let bytes: Vec<&[u8]> = "aü€🦀".as_bytes().chunks(1).collect();
        assert_eq!(watch(&bytes).1, Ok(10));
        assert_eq!(watch(&[b"a\xff"]).1, Err(Broken::NotText));
        assert_eq!(watch(&[b"a\xe2\x82", b"a"]).1, Err(Broken::NotText));
    }
}

//! Models for tests: one that follows a script, one that replays what a real model said.

mod cassette;
mod scripted;

pub use cassette::CassetteModel;
pub use scripted::{ScriptedModel, call};

use dbagent_core::model::{ModelError, ModelEvent, ModelStream, Reply};
use futures_util::StreamExt as _;
use futures_util::stream;

/// How many characters one delta has. Small, so that a test sees a reply arrive in pieces.
const PIECE: usize = 7;

/// A reply as a stream: its text and the arguments of its calls in pieces, then the end.
fn in_pieces(reply: Reply) -> ModelStream {
    let mut events: Vec<Result<ModelEvent, ModelError>> = Vec::new();
    events.extend(pieces(&reply.text).map(|delta| Ok(ModelEvent::TextDelta(delta))));
    for (index, call) in reply.calls.iter().enumerate() {
        events.extend(pieces(&call.arguments).map(|delta| Ok(ModelEvent::ArgumentsDelta { index, delta })));
    }
    events.push(Ok(ModelEvent::End(reply)));
    stream::iter(events).boxed()
}

/// Cuts a text between characters.
fn pieces(text: &str) -> impl Iterator<Item = String> {
    let characters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = characters.chunks(PIECE).map(|piece| piece.iter().collect()).collect();
    pieces.into_iter()
}

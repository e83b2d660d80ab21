//! What a question says, apart from what it means in a schema: chunks of words with their possible
//! readings, put together by a small grammar.

mod chunk;
mod grammar;
mod keywords;
mod phrase;
mod time;

pub(crate) use chunk::{Chunk, Chunks, Hit, Hits};
pub(crate) use grammar::parse;
pub(crate) use keywords::{Adjective, Dir, Figure, Kw, Unit};
pub(crate) use phrase::{Ask, Core, Item, Operand, Rank, RankBy, Sentence, TimeOp, What};
pub(crate) use time::{Day, Span, Time};

/// The score from which words name something outright.
fn chunk_full() -> crate::link::Score {
    crate::link::FULL
}

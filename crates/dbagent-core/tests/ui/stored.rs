//! A judgement is not written down and read back: after a restart it is made again.

use dbagent_core::session::{Approved, Cleared, Rehearsal};

fn store<T: serde::Serialize>() {}
fn load<T: serde::de::DeserializeOwned>() {}

fn main() {
    store::<Cleared>();
    store::<Rehearsal>();
    store::<Approved>();
    load::<Cleared>();
    load::<Rehearsal>();
    load::<Approved>();
}

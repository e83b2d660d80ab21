//! Every field spelled out: they are private.

use dbagent_core::session::{Approved, Cleared, Rehearsal};

fn any<T>() -> T {
    loop {}
}

fn main() {
    let _ = Cleared { request: any(), parsed: any(), caps: any(), seal: any() };
    let _ = Rehearsal { steps: any(), caps: any() };
    let _ = Approved { steps: any(), atomic: true, caps: any() };
}

//! The one constructor is the core's own.

use dbagent_core::session::Cleared;

fn any<T>() -> T {
    loop {}
}

fn main() {
    let _ = Cleared::new(any(), any(), any(), any());
}

//! Depends on the dialect's crate and never names it: it is not linked, and the error says what to do.

fn main() {
    let registry = dbagent_core::Registry::collected().expect("one dialect of each id");
    link_floor::report(&registry, "floor://x");
}

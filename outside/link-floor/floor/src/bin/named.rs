//! Names the dialect's crate once and nothing of it: that is enough.

use floor_dialect as _;

fn main() {
    let registry = dbagent_core::Registry::collected().expect("one dialect of each id");
    link_floor::report(&registry, "floor://x");
    link_floor::report(&registry, "postgres://x");
}

//! The same with a dialect that people use: what the facade does for each of its features.

use dbagent_sqlite as _;

fn main() {
    let registry = dbagent_core::Registry::collected().expect("one dialect of each id");
    link_floor::report(&registry, "sqlite:///file.db");
}

//! Passes the descriptor by hand: that works in every link mode.

fn main() {
    static DIALECT: dbagent_core::Dialect = floor_dialect::DIALECT;
    let registry = dbagent_core::Registry::empty().with(&DIALECT);
    link_floor::report(&registry, "floor://x");
}

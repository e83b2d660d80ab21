//! What was judged is what runs: neither the text nor the caps can be changed afterwards.

use dbagent_core::request::Request;
use dbagent_core::session::Cleared;

fn edit(mut cleared: Cleared) {
    cleared.request = Request::text("DROP TABLE users");
    cleared.caps.rows = None;
}

fn main() {}

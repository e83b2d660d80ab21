//! Every row of the corpora is judged as it says.

use dbagent_core::guard::{Judgement, Policy};

use crate::support::{offline, rows};

#[test]
fn every_row_is_judged_as_it_says_without_a_database() {
    let mut wrong = Vec::new();
    for row in rows() {
        let verdict = offline(&row.statement, &Policy::default());
        if matches!(verdict, Judgement::Read) != row.allow {
            wrong.push(format!("{} {:?}: {verdict:?}", row.id, row.statement));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

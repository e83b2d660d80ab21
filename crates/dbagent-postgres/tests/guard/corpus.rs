//! Every row of the corpora is judged as it says.

use dbagent_core::guard::{Judgement, Policy, Resolution, judge};
use dbagent_core::guardrails::StatementLimits;
use dbagent_core::{NameCase, Request, Settings};

use crate::support::{GUARD, Judged, OLDEST, Row, SERVERS, Scratch, offline, rows};

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

/// Rows that version 13 does not understand and 15 does.
const NEWER_THAN_13: &[&str] = &["pg-019", "pg-062", "own-094", "own-110", "own-128", "own-144", "own-159"];

/// A row that only a newer server understands.
fn is_new(row: &Row, server: &str) -> bool {
    let newest_only = row.kind == "newer_syntax" || row.id == "pg-033";
    (server != SERVERS[0] && newest_only) || (server == OLDEST && NEWER_THAN_13.contains(&row.id.as_str()))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_row_is_judged_as_it_says_in_a_live_catalogue_and_what_is_cleared_runs() {
    for server in SERVERS {
        let Some(mut scratch) = Scratch::on(server, &[]).await else { continue };
        let (mut wrong, mut ran) = (Vec::new(), 0);
        for row in rows() {
            let judged = scratch.judge(&row.statement, &Policy::default()).await;
            if matches!(judged, Judged::Read) != row.allow {
                wrong.push(format!("{} {:?}: {judged:?}", row.id, row.statement));
            }
            let runs = row.allow && row.kind != "parameter" && !is_new(&row, server);
            if runs {
                ran += 1;
                if let Err(e) = scratch.read(&row.statement).await {
                    wrong.push(format!("{} {:?}: {e}", row.id, row.statement));
                }
            }
        }
        drop(scratch);
        assert!(wrong.is_empty(), "{server}: {}", wrong.join("\n"));
        assert!(ran > 150, "{ran}");
    }
}

/// What a text means depends on these settings of a session.
#[test]
fn settings_that_change_what_a_text_means_are_heeded() {
    let judged = |text: &str, key: &str, value: &str| {
        let context = GUARD.parse_context(StatementLimits::default(), Settings::new().with(key, value));
        let parsed = GUARD.parse(&Request::text(text), &context).unwrap();
        judge(&parsed, &Resolution::offline(), &Policy::default(), NameCase::Sensitive)
    };
    let plain = "SELECT 'a\\b', name FROM users";
    assert_eq!(judged(plain, "standard_conforming_strings", "on"), Judgement::Read);
    assert!(matches!(judged(plain, "standard_conforming_strings", "off"), Judgement::Refused(_)));
    for text in ["SELECT größe FROM users", "SELECT \"größe\" FROM users"] {
        assert_eq!(judged(text, "server_encoding", "UTF8"), Judgement::Read);
        assert!(matches!(judged(text, "server_encoding", "LATIN1"), Judgement::Refused(_)), "{text}");
    }
    assert_eq!(judged("SELECT 'größe' FROM users", "server_encoding", "LATIN1"), Judgement::Read);
}

//! The grammar on questions, phrase by phrase.

use std::collections::BTreeMap;

use dbagent_core::catalog::{Column, ForeignKey, ObjectDetail, ObjectKind};
use dbagent_core::name::ObjectName;

use super::super::chunk::{Chunks, Hit, Hits};
use super::super::keywords::Dir;
use super::super::phrase::{Ask, Operand, RankBy, TimeOp, What};
use super::super::time::Time;
use super::parse;
use crate::intent::Sentence;
use crate::plan::{Agg, Op, Place};
use crate::schema::{ColumnId, Schema, TableId, build};

fn schema() -> Schema {
    let table = |name: &str, columns: &[(&str, &str)], link: Option<&str>| {
        let mut o = ObjectDetail::new(ObjectName::new(name), ObjectKind::Table);
        o.columns = columns
            .iter()
            .map(|(n, t)| Column { name: (*n).into(), data_type: (*t).into(), ..Column::default() })
            .collect();
        o.primary_key = vec![columns[0].0.into()];
        o.foreign_keys = link
            .map(|t| ForeignKey {
                columns: vec![format!("{t}Id")],
                target: ObjectName::new(t),
                target_columns: vec![format!("{t}Id")],
            })
            .into_iter()
            .collect();
        o
    };
    build(&[
        table("Genre", &[("GenreId", "INTEGER"), ("Name", "TEXT")], None),
        table(
            "Track",
            &[
                ("TrackId", "INTEGER"),
                ("Name", "TEXT"),
                ("GenreId", "INTEGER"),
                ("Price", "REAL"),
                ("Sold", "DATE"),
            ],
            Some("Genre"),
        ),
    ])
}

/// `Rock` and `Jazz` are genres.
fn read(question: &str) -> (Chunks, Sentence) {
    let schema = schema();
    let mut hits: Hits = BTreeMap::new();
    for name in ["rock", "jazz"] {
        let column = ColumnId { table: TableId(0), index: 1 };
        hits.insert(name.into(), vec![Hit { columns: vec![column], value: name.into(), exact: true }]);
    }
    let chunks = Chunks::new(question, &schema, &hits);
    let sentence = parse(&chunks);
    (chunks, sentence)
}

fn words(chunks: &Chunks, parts: &[usize]) -> String {
    let texts: Vec<String> = parts.iter().map(|p| chunks.list[*p].phrase()).collect();
    texts.join(" ")
}

#[test]
fn openings_say_what_is_asked_for() {
    for (question, ask) in [
        ("How many tracks are there?", Ask::Count),
        ("What is the number of tracks?", Ask::Count),
        ("Please show me all tracks", Ask::List),
        ("Which genre has the most tracks?", Ask::List),
        ("Is there a genre called Rock?", Ask::Exists),
        ("What percentage of tracks are Rock?", Ask::Share),
        ("When was the track sold?", Ask::When),
        ("Are there more tracks in Rock or Jazz?", Ask::Versus),
    ] {
        assert_eq!(read(question).1.ask, ask, "{question}");
    }
}

#[test]
fn nouns_keep_what_stands_before_them() {
    let (chunks, s) = read("the average price and the number of tracks per genre");
    assert_eq!(s.heads[0].aggs, [Agg::Avg]);
    assert_eq!(s.heads[1].aggs, [Agg::Count]);
    assert_eq!(words(&chunks, &s.heads[1].parts), "tracks");
    assert!(matches!(s.items[0].what, What::Group(_)));
    let (_, s) = read("top 5 tracks by price");
    let rank = s.heads[0].rank.unwrap();
    assert_eq!((rank.dir, rank.by, rank.limit), (Dir::Most, RankBy::Named, Some(5)));
}

#[test]
fn comparisons_take_their_column_their_sign_and_their_number() {
    let (_, s) = read("tracks whose price is not above 5");
    let What::Compare { op, operand, core: Some(_), .. } = &s.items[0].what else { panic!("{s:?}") };
    assert_eq!(
        (*op, operand.clone(), s.items[0].neg),
        (Op::Gt, Operand::Number { value: 5.0, unit: None }, true)
    );
    let (_, s) = read("tracks with a price between 1 and 2");
    assert!(
        matches!(s.items[0].what, What::Compare { operand: Operand::Range { low: 1.0, high: 2.0, .. }, .. }),
        "{s:?}"
    );
    let (_, s) = read("genres with more than 10 tracks");
    assert!(matches!(s.items[0].what, What::Number { op: Op::Gt, number: 10.0, .. }), "{s:?}");
    let (_, s) = read("genres with 3 or more tracks");
    assert!(matches!(s.items[0].what, What::Number { op: Op::Ge, number: 3.0, .. }), "{s:?}");
    let (_, s) = read("tracks with a price above the average");
    assert!(matches!(s.items[0].what, What::Compare { operand: Operand::Figure(Agg::Avg), .. }), "{s:?}");
}

#[test]
fn times_are_before_after_within_and_between() {
    for (question, wanted) in [
        ("tracks sold in 2010", TimeOp::Within),
        ("tracks sold before 2010", TimeOp::Before),
        ("tracks sold since March 2010", TimeOp::Since),
        ("tracks sold between 2010 and 2012", TimeOp::Between),
        ("tracks sold from 2010 to 2012", TimeOp::Between),
    ] {
        let (_, s) = read(question);
        let What::Time { op, time: Time::Span(_), .. } = s.items[0].what else { panic!("{question}: {s:?}") };
        assert_eq!(op, wanted, "{question}");
    }
}

#[test]
fn denials_and_texts_are_kept() {
    let (_, s) = read("genres without tracks");
    assert!(s.items[0].neg);
    let (_, s) = read("tracks that are not in Rock");
    assert!(s.items[0].neg);
    let (_, s) = read("tracks starting with A");
    assert!(matches!(s.items[0].what, What::Like { place: Place::Start, .. }), "{s:?}");
    let (_, s) = read("tracks that were never sold");
    assert!(s.items[0].neg, "{s:?}");
}

#[test]
fn what_is_not_understood_is_not_dropped() {
    assert_eq!(read("tracks that frobnicate quickly").1.unknown, ["frobnicate quickly"]);
    assert_eq!(read("Why are there tracks?").1.beyond.as_deref(), Some("Why"));
    assert_eq!(read("tracks sold last year").1.beyond.as_deref(), Some("last year"));
}

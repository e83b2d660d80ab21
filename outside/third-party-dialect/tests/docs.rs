//! The guide for authors shows this crate: its code is taken from here, and it names every scenario.

use dbagent_testkit::conformance::SCENARIOS;

const GUIDE: &str = include_str!("../../../docs/dialect-authors.md");
const FILES: &[&str] = &[
    include_str!("../src/lib.rs"),
    include_str!("../src/engine.rs"),
    include_str!("../src/session.rs"),
    include_str!("conformance.rs"),
    include_str!("ledger.jsonl"),
];

/// The code blocks of that language.
fn blocks(language: &str) -> Vec<&'static str> {
    let opening = format!("```{language}\n");
    let rests = GUIDE.split(opening.as_str()).skip(1);
    rests.map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn the_code_of_the_guide_compiles_because_it_is_taken_from_here() {
    let mut checked = 0;
    for block in blocks("rust") {
        assert!(FILES.iter().any(|file| file.contains(block)), "not in this crate:\n{block}");
        checked += 1;
    }
    for line in blocks("jsonl").into_iter().flat_map(str::lines) {
        assert!(FILES.iter().any(|file| file.contains(line)), "not in this crate:\n{line}");
        checked += 1;
    }
    assert!(checked >= 7, "only {checked} pieces of code were found");
}

#[test]
fn the_guide_names_every_scenario_and_no_other() {
    let contracts = GUIDE.split("## The contracts").nth(1).unwrap();
    let table = contracts.lines().filter(|line| line.starts_with("| ")).skip(1);
    let named: Vec<&str> =
        table.flat_map(|line| line.split('|').nth(3).unwrap().split('`').skip(1).step_by(2)).collect();
    for scenario in SCENARIOS {
        assert!(named.contains(&scenario.name), "{} is in no contract", scenario.name);
    }
    for name in named {
        assert!(SCENARIOS.iter().any(|s| s.name == name), "{name} is no scenario");
    }
}

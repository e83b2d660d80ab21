//! Runs the programs and reads what is left of the registration.

use std::process::Command;

fn output(program: &str) -> String {
    let output = Command::new(program).output().expect("the program runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_crate_that_is_named_registers_its_dialect() {
    let said = output(env!("CARGO_BIN_EXE_named"));
    assert!(said.starts_with("registered: floor\nopens: floor\n"), "{said}");
}

#[test]
fn so_does_a_dialect_of_this_repository() {
    assert_eq!(output(env!("CARGO_BIN_EXE_sqlite")), "registered: sqlite\nopens: sqlite\n");
}

#[test]
fn another_scheme_lists_what_is_there_and_names_the_feature() {
    let said = output(env!("CARGO_BIN_EXE_named"));
    assert!(
        said.contains("error: no dialect opens postgres:// (registered: floor://)\nhint: build with the feature `postgres`"),
        "{said}"
    );
}

#[test]
fn a_crate_that_nobody_names_is_not_linked_and_the_error_helps() {
    let said = output(env!("CARGO_BIN_EXE_unnamed"));
    assert!(
        said.starts_with("registered: \nerror: no dialect is registered, so floor:// cannot be opened\n"),
        "{said}"
    );
    for help in [
        "turn on a feature of the dbagent crate",
        ".dialect(&DIALECT)",
        "use dbagent_sqlite as _;",
        "cargo tree -d",
    ] {
        assert!(said.contains(help), "the hint does not say {help:?}: {said}");
    }
}

#[test]
fn a_dialect_passed_by_hand_needs_no_linker() {
    assert_eq!(output(env!("CARGO_BIN_EXE_by_hand")), "registered: floor\nopens: floor\n");
}

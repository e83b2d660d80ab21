//! Another crate cannot make, copy, store or reuse the values that a session executes.
//!
//! Each program under `ui/` must fail to compile with exactly the recorded errors: a bare
//! `compile_fail` would pass for a typing mistake too. After a change of the sealed types or of the
//! compiler, read the new errors and record them with `cargo xtask bless`.

#[test]
fn the_sealed_values_cannot_be_forged() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}

//! Reads what test programs print: their totals, their failures and their skips.

use std::collections::BTreeMap;

const RESULT: &str = "test result: ";
const SKIPPED: &str = "SKIPPED ";

/// The sums over all test programs so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    passed: usize,
    failed: usize,
    ignored: usize,
    failures: Vec<String>,
    skips: Vec<String>,
    /// Where in the output of one test program we are.
    place: Place,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the first program, or after the result of one.
    #[default]
    Between,
    /// Where each test has its line.
    Tests,
    /// What passed tests printed.
    OutputOfPassed,
    /// What failed tests printed.
    OutputOfFailed,
}

impl Tally {
    /// Takes one line of output; says whether a person should see it.
    ///
    /// The output of passed tests, which libtest repeats under `successes:`, is searched and not shown.
    pub(super) fn take(&mut self, line: &str) -> bool {
        if let Some(skip) = line.strip_prefix(SKIPPED) {
            self.skips.push(skip.trim().to_owned());
        }
        if let Some(result) = line.strip_prefix(RESULT) {
            self.add(result);
            self.place = Place::Between;
        } else if line == "successes:" {
            self.place = Place::OutputOfPassed;
        } else if line == "failures:" {
            self.place = Place::OutputOfFailed;
        } else if matches!(self.place, Place::Between | Place::Tests) {
            if is_start(line) {
                self.notice_death();
                self.place = Place::Tests;
            } else if let Some(name) = failed_test(line) {
                self.failures.push(name.to_owned());
            }
        }
        self.place != Place::OutputOfPassed
    }

    /// Closes the books of one program.
    pub(super) fn end_of_program(&mut self) {
        self.notice_death();
        self.place = Place::Between;
    }

    /// A program that began and never gave its result ended too early, perhaps even with success.
    fn notice_death(&mut self) {
        if self.place != Place::Between {
            self.fail(
                "a test program ended before it gave its result; the output above says which".to_owned(),
            );
        }
    }

    /// Counts a failure that no test reported.
    pub(super) fn fail(&mut self, what: String) {
        self.failed += 1;
        self.failures.push(what);
    }

    /// How many failed.
    pub(super) fn failed(&self) -> usize {
        self.failed
    }

    /// How many an attribute switched off.
    pub(super) fn ignored(&self) -> usize {
        self.ignored
    }

    /// How many ran to an end, good or bad.
    pub(super) fn ran(&self) -> usize {
        self.passed + self.failed
    }

    /// What failed, by name.
    pub(super) fn failures(&self) -> &[String] {
        &self.failures
    }

    /// Each skip once, with how often it was printed.
    pub(super) fn skips(&self) -> BTreeMap<String, usize> {
        let mut counted = BTreeMap::new();
        for skip in &self.skips {
            *counted.entry(skip.clone()).or_insert(0) += 1;
        }
        counted
    }

    /// The skips of things that must not be skipped.
    pub(super) fn forbidden_skips(&self, required: &[String]) -> Vec<String> {
        let is_required =
            |skip: &String| required.iter().any(|name| name == crate::report::skipped_name(skip));
        self.skips().into_keys().filter(is_required).collect()
    }

    /// The closing line.
    pub(super) fn totals(&self) -> String {
        let skipped = self.skips.len() + self.ignored;
        let skipped = if skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
        format!("{} passed, {} failed{skipped}", self.passed, self.failed)
    }

    /// Adds the counts of `ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s`.
    fn add(&mut self, result: &str) {
        for part in result.split(['.', ';']) {
            let mut words = part.split_whitespace();
            let (Some(number), Some(what), None) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            let Ok(number) = number.parse::<usize>() else { continue };
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

/// Whether a test program begins here: `running 3 tests`.
fn is_start(line: &str) -> bool {
    let number = line.strip_prefix("running ").and_then(|rest| rest.split_once(" test"));
    number.is_some_and(|(number, rest)| matches!(rest, "" | "s") && number.parse::<usize>().is_ok())
}

/// The name in `test NAME ... FAILED`.
fn failed_test(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(output: &str) -> (Tally, Vec<&str>) {
        let mut tally = Tally::default();
        let shown = output.lines().filter(|line| tally.take(line)).collect();
        (tally, shown)
    }

    const GOOD: &str = "\
running 3 tests
test a ... ok
test b ... ok
test c ... ignored

successes:

---- a stdout ----
SKIPPED postgres: no server on port 5432
some chatter

successes:
    a
    b

test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    const BAD: &str = "\
running 2 tests
test b::one ... ok
test b::two ... FAILED

successes:

---- b::one stdout ----
chatter of a passed test

successes:
    b::one

failures:

---- b::two stdout ----
SKIPPED mysql: too old
thread panicked

failures:
    b::two

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.11s
";

    #[test]
    fn counts_are_summed_over_programs() {
        let both = format!("{GOOD}{BAD}");
        let (tally, _) = read(&both);
        assert_eq!((tally.passed, tally.failed, tally.ignored), (3, 1, 1));
        assert_eq!(tally.totals(), "3 passed, 1 failed, 3 skipped");
        assert_eq!(tally.failures(), ["b::two"]);
    }

    #[test]
    fn the_totals_name_skips_only_where_there_are_some() {
        let (tally, _) = read("test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
        assert_eq!(tally.totals(), "2 passed, 0 failed");
    }

    #[test]
    fn skips_are_found_in_the_output_of_passed_and_of_failed_tests() {
        let both = format!("{GOOD}{BAD}SKIPPED mysql: too old\n");
        let (tally, _) = read(&both);
        let skips: Vec<_> = tally.skips().into_iter().collect();
        assert_eq!(
            skips,
            [("mysql: too old".to_owned(), 2), ("postgres: no server on port 5432".to_owned(), 1)]
        );
        assert_eq!(tally.forbidden_skips(&["postgres".to_owned()]), ["postgres: no server on port 5432"]);
        assert!(tally.forbidden_skips(&["post".to_owned()]).is_empty());
    }

    #[test]
    fn a_person_sees_failures_whole_and_passed_tests_in_one_line() {
        let (_, shown) = read(GOOD);
        assert!(shown.contains(&"test a ... ok"));
        assert!(!shown.contains(&"some chatter"));
        assert!(shown.last().unwrap().starts_with("test result: ok"));

        let (_, shown) = read(BAD);
        assert!(!shown.contains(&"chatter of a passed test"));
        assert!(shown.contains(&"thread panicked"));
    }

    #[test]
    fn a_program_that_dies_is_a_failure_and_does_not_hide_the_next_one() {
        let (mut tally, _) = read(&format!("running 2 tests\ntest a ... ok\n{GOOD}"));
        assert_eq!(tally.totals(), "2 passed, 1 failed, 2 skipped");
        tally.end_of_program();
        assert_eq!(tally.totals(), "2 passed, 1 failed, 2 skipped");

        tally.take("running 1 test");
        tally.take("successes:");
        tally.end_of_program();
        assert_eq!(tally.totals(), "2 passed, 2 failed, 2 skipped");
        assert!(tally.take("test next ... ok"));
    }

    #[test]
    fn what_a_test_prints_is_not_taken_for_the_words_of_a_program() {
        let (tally, _) = read(&GOOD.replace("some chatter", "running 7 tests\ntest x ... FAILED"));
        assert_eq!(tally.totals(), "2 passed, 0 failed, 2 skipped");
        assert!(is_start("running 0 tests") && is_start("running 1 test"));
        assert!(!is_start("running late") && !is_start("running 2 tests of strength"));
    }

    #[test]
    fn a_failure_that_no_test_reported_is_counted() {
        let mut tally = Tally::default();
        tally.fail("workspace: cargo test ended with exit status: 101".to_owned());
        assert_eq!(tally.totals(), "0 passed, 1 failed");
    }
}

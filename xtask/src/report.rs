//! How an outcome is told: problems one by one, skips never silent, a duration a person can read.

use std::time::Duration;

/// What a word or a step came to.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// What is wrong, already printed; empty when all is well.
    pub(crate) failures: Vec<String>,
    /// What could not be looked at here, each in the form `name: why`.
    pub(crate) skipped: Vec<String>,
}

impl Outcome {
    /// All is well and nothing was left out.
    pub(crate) fn success() -> Self {
        Self::default()
    }

    /// One thing is wrong.
    pub(crate) fn failure(what: impl Into<String>) -> Self {
        Self { failures: vec![what.into()], skipped: Vec::new() }
    }

    /// Prints what a check found, and a closing line that says what was looked at.
    pub(crate) fn of_problems(check: &str, looked_at: &str, problems: Vec<String>) -> Self {
        for problem in &problems {
            println!("{check}: {problem}");
        }
        if problems.is_empty() {
            println!("{check}: {looked_at}: all in order");
        } else {
            println!("{check}: {looked_at}: {}", count(problems.len(), "problem"));
        }
        Self { failures: problems, skipped: Vec::new() }
    }

    /// Whether nothing is wrong.
    pub(crate) fn passed(&self) -> bool {
        self.failures.is_empty()
    }

    /// Adds what another check found.
    pub(crate) fn add(&mut self, other: Self) {
        self.failures.extend(other.failures);
        self.skipped.extend(other.skipped);
    }
}

/// `1 problem`, `2 problems`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// `0.4 s`, `12.3 s`, `4 min 05 s`.
pub(crate) fn duration(duration: Duration) -> String {
    let whole = duration.as_secs();
    if whole < 60 {
        format!("{:.1} s", duration.as_secs_f64())
    } else {
        format!("{} min {:02} s", whole / 60, whole % 60)
    }
}

/// The one of `known` that is nearest to `word`, when one is near enough to be meant.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, candidate)| candidate)
}

/// The names that `DBAGENT_REQUIRE` lists: a skip of one of them is a failure.
pub(crate) fn required_names() -> Vec<String> {
    std::env::var("DBAGENT_REQUIRE").map(|list| parse_required(&list)).unwrap_or_default()
}

fn parse_required(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The name in the text of a skip: `postgres` in `postgres 16: no server`.
pub(crate) fn skipped_name(skip: &str) -> &str {
    let before_reason = skip.split(':').next().unwrap_or(skip);
    before_reason.split_whitespace().next().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_well() {
        assert_eq!(duration(Duration::from_millis(420)), "0.4 s");
        assert_eq!(duration(Duration::from_secs(245)), "4 min 05 s");
    }

    #[test]
    fn a_near_miss_is_named_and_a_far_one_is_not() {
        assert_eq!(nearest("sqlit", ["sqlite", "openai"]), Some("sqlite"));
        assert_eq!(nearest("warehouse", ["sqlite", "openai"]), None);
    }

    #[test]
    fn a_list_of_required_names_may_have_spaces_and_holes() {
        assert_eq!(parse_required("postgres, mysql,,"), ["postgres", "mysql"]);
        assert!(parse_required("").is_empty());
    }

    #[test]
    fn the_name_of_a_skip_is_its_first_word() {
        assert_eq!(skipped_name("postgres: no server"), "postgres");
        assert_eq!(skipped_name("postgres 16 writes: no server"), "postgres");
        assert_eq!(skipped_name("postgres"), "postgres");
        assert_eq!(skipped_name(""), "");
    }
}

//! Statements made from a small grammar of SQL, over the words of an engine.
//!
//! Many are nonsense to the engine, which is fine: it says so and nothing happens. What matters is that every
//! function of the engine stands in every place where an expression or a table may stand, between reads and
//! writes of every shape.

use super::random::Random;
use super::texts::Texts;

/// The words that sentences are made of.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    /// Tables with their columns, as written.
    pub tables: Vec<(String, Vec<String>)>,
    /// Names of functions, as the engine lists them: all of them, the dangerous ones above all.
    pub functions: Vec<String>,
    /// Values as the language writes them.
    pub literals: Vec<String>,
    /// Whole expressions of the dialect's own, such as casts and operators that others do not have.
    pub expressions: Vec<String>,
    /// Whole sources of rows of the dialect's own, such as table functions.
    pub sources: Vec<String>,
    /// What may go before a statement, such as `EXPLAIN `; the empty text is always among them.
    pub prefixes: Vec<String>,
    /// Whole statements that are no reads, to stand where a statement stands.
    pub writes: Vec<String>,
}

/// Makes sentences.
#[derive(Debug, Clone)]
pub struct Sentences {
    words: Vocabulary,
}

impl Sentences {
    /// Of these words.
    pub fn new(words: Vocabulary) -> Self {
        Self { words }
    }
}

impl Texts for Sentences {
    fn next(&mut self, random: &mut Random) -> String {
        let prefix = if random.once_in(6) { one(random, &self.words.prefixes) } else { String::new() };
        format!("{prefix}{}", Maker { words: &self.words, random, depth: 0 }.statement())
    }
}

fn one(random: &mut Random, from: &[String]) -> String {
    random.pick(from).cloned().unwrap_or_default()
}

struct Maker<'a> {
    words: &'a Vocabulary,
    random: &'a mut Random,
    depth: usize,
}

/// How deep sentences nest.
const DEPTH: usize = 3;

impl Maker<'_> {
    fn statement(&mut self) -> String {
        match self.random.below(12) {
            0 => one(self.random, &self.words.writes),
            1 => format!("WITH w AS ({}) {}", self.query(), self.query_from("w")),
            2 => {
                let write = one(self.random, &self.words.writes);
                format!("WITH w AS ({write}) SELECT * FROM w")
            }
            _ => self.query(),
        }
    }

    fn query(&mut self) -> String {
        self.depth += 1;
        let query = match self.random.below(8) {
            0 if self.depth < DEPTH => {
                let set = ["UNION ALL", "UNION", "EXCEPT", "INTERSECT"];
                let set = self.random.pick(&set).copied().unwrap_or_default();
                format!("{} {set} {}", self.plain(), self.plain())
            }
            1 => format!("VALUES ({}, {})", self.expression(), self.expression()),
            _ => self.plain(),
        };
        self.depth -= 1;
        query
    }

    fn plain(&mut self) -> String {
        let source = self.source();
        self.query_from(&source)
    }

    fn query_from(&mut self, source: &str) -> String {
        let mut text = format!("SELECT {} FROM {source}", self.columns());
        if self.random.once_in(2) {
            text.push_str(&format!(" WHERE {}", self.condition()));
        }
        if self.random.once_in(5) {
            text.push_str(&format!(" GROUP BY {}", self.expression()));
        }
        if self.random.once_in(8) {
            text.push_str(&format!(" HAVING {}", self.condition()));
        }
        if self.random.once_in(4) {
            text.push_str(&format!(" ORDER BY {}", self.expression()));
        }
        if self.random.once_in(4) {
            text.push_str(&format!(" LIMIT {}", self.expression()));
        }
        text
    }

    fn columns(&mut self) -> String {
        match self.random.below(4) {
            0 => "*".to_owned(),
            1 => format!("{}, {}", self.expression(), self.expression()),
            _ => self.expression(),
        }
    }

    fn source(&mut self) -> String {
        match self.random.below(8) {
            0 if self.depth < DEPTH => format!("({}) AS s", self.query()),
            1 => format!("{} AS f", self.call()),
            2 => match one(self.random, &self.words.sources) {
                source if source.is_empty() => self.table(),
                source => source,
            },
            3 => format!("{} AS a JOIN {} AS b ON {}", self.table(), self.table(), self.condition()),
            _ => self.table(),
        }
    }

    fn table(&mut self) -> String {
        self.random.pick(&self.words.tables).map(|(name, _)| name.clone()).unwrap_or_default()
    }

    fn column(&mut self) -> String {
        match self.random.pick(&self.words.tables) {
            Some((_, columns)) => one(self.random, columns),
            None => String::new(),
        }
    }

    fn call(&mut self) -> String {
        let name = one(self.random, &self.words.functions);
        let arguments: Vec<String> = (0..self.random.below(4)).map(|_| self.atom()).collect();
        format!("{name}({})", arguments.join(", "))
    }

    fn atom(&mut self) -> String {
        match self.random.below(3) {
            0 => self.column(),
            _ => one(self.random, &self.words.literals),
        }
    }

    fn expression(&mut self) -> String {
        self.depth += 1;
        let text = match self.random.below(10) {
            0..=3 => self.call(),
            4 if self.depth <= DEPTH => format!("({})", self.query()),
            5 if self.depth <= DEPTH => {
                format!("CASE WHEN {} THEN {} ELSE {} END", self.condition(), self.call(), self.atom())
            }
            6 => match one(self.random, &self.words.expressions) {
                text if text.is_empty() => self.atom(),
                text => text,
            },
            7 => format!("{} || {}", self.atom(), self.call()),
            _ => self.atom(),
        };
        self.depth -= 1;
        text
    }

    fn condition(&mut self) -> String {
        match self.random.below(4) {
            0 if self.depth < DEPTH => format!("EXISTS ({})", self.query()),
            1 => format!("{} IS NOT NULL", self.call()),
            2 => format!("{} = {}", self.column(), self.atom()),
            _ => format!("{} IN ({}, {})", self.column(), self.atom(), self.call()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_comes_up_in_many_places() {
        let owned = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let words = Vocabulary {
            tables: vec![("users".into(), owned(&["id", "name"]))],
            functions: owned(&["abs", "lower", "bad"]),
            literals: owned(&["1", "'x'", "NULL"]),
            writes: owned(&["DELETE FROM users"]),
            prefixes: owned(&["EXPLAIN "]),
            ..Vocabulary::default()
        };
        let mut sentences = Sentences::new(words);
        let mut random = Random::new(1);
        let texts: Vec<String> = (0..2_000).map(|_| sentences.next(&mut random)).collect();
        for part in [
            "bad(",
            "FROM bad(",
            "WHERE bad(",
            "ORDER BY bad(",
            "LIMIT bad(",
            "EXPLAIN ",
            "(DELETE FROM users)",
        ] {
            assert!(texts.iter().any(|t| t.contains(part)), "{part}");
        }
        assert!(texts.iter().all(|t| t.len() < 10_000));
    }
}

//! Random statements whose effects are known because the generator made them: printed, parsed, compared. And
//! random damage to known statements: nothing panics, and every place is one of the text.

use std::collections::BTreeSet;

use dbagent_core::Effects;
use dbagent_core::guard::Rule;
use dbagent_core::session::PARSE_STACK_BYTES;
use dbagent_sql::SqlGrammar;

use crate::grammars;

/// A generator of numbers with a fixed beginning: each run sees the same statements.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap() % bound
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'t>(&mut self, items: &[&'t str]) -> &'t str {
        items[self.below(items.len())]
    }
}

/// What a statement does, as its maker knows it.
#[derive(Debug, Default, PartialEq)]
struct Known {
    effects: Effects,
    functions: BTreeSet<(String, String)>,
    objects: Vec<(String, bool)>,
}

struct Maker {
    random: Random,
    dialect: &'static str,
    known: Known,
    /// Names of visible common table expressions, innermost last.
    ctes: Vec<String>,
    depth: usize,
}

impl Maker {
    fn new(seed: u64, dialect: &'static str) -> Self {
        Self { random: Random(seed), dialect, known: Known::default(), ctes: Vec::new(), depth: 0 }
    }

    /// Whether writes may stand in common table expressions.
    fn writing_ctes(&self) -> bool {
        matches!(self.dialect, "generic" | "postgres")
    }

    fn table(&mut self) -> String {
        format!("t{}", self.random.below(4))
    }

    /// A table or a common table expression in FROM.
    fn source(&mut self) -> String {
        let name = if !self.ctes.is_empty() && self.random.one_in(3) {
            let index = self.random.below(self.ctes.len());
            self.ctes[index].clone()
        } else {
            self.table()
        };
        if !self.ctes.contains(&name) {
            self.known.objects.push((name.clone(), false));
        }
        name
    }

    fn function(&mut self, name: &str, effects: Effects) {
        self.known.functions.insert((name.to_owned(), effects.to_string()));
    }

    fn call(&mut self) -> String {
        let argument = self.expr();
        let (name, effects) = match self.random.below(12) {
            0 => ("nextval", Effects::WRITE),
            1 => ("load_file", Effects::SERVER_IO),
            2 => ("get_lock", Effects::LOCK),
            3 => ("set_config", Effects::SESSION),
            4 => ("somebodys_own", Effects::UNKNOWN),
            5 => ("lower", Effects::READ),
            _ => ("abs", Effects::READ),
        };
        self.function(name, effects);
        format!("{name}({argument})")
    }

    fn expr(&mut self) -> String {
        self.depth += 1;
        let text = if self.depth > 6 { self.leaf() } else { self.deep() };
        self.depth -= 1;
        text
    }

    fn leaf(&mut self) -> String {
        match self.random.below(4) {
            0 => format!("c{}", self.random.below(4)),
            1 => self.random.below(100).to_string(),
            2 => self.random.pick(&["'a'", "'; DELETE FROM t'", "'--'", "'it''s'"]).to_owned(),
            _ => "NULL".to_owned(),
        }
    }

    fn deep(&mut self) -> String {
        match self.random.below(16) {
            0 => format!("({} + {})", self.expr(), self.expr()),
            1 => format!("{} = {}", self.expr(), self.expr()),
            2 => format!("({} AND {})", self.expr(), self.expr()),
            3 => format!("NOT ({})", self.expr()),
            4 => format!("({} IS NULL)", self.expr()),
            5 => format!("CASE WHEN {} THEN {} ELSE {} END", self.expr(), self.expr(), self.expr()),
            6 => format!("({})", self.query()),
            7 => format!("EXISTS ({})", self.query()),
            8 => format!("({} IN ({}))", self.expr(), self.query()),
            9 => format!("({} IN ({}, {}))", self.expr(), self.expr(), self.expr()),
            10 => {
                self.function("cast", Effects::READ);
                format!("CAST({} AS CHAR(10))", self.expr())
            }
            11 => {
                self.function("sum", Effects::READ);
                format!("sum({}) OVER (PARTITION BY {} ORDER BY {})", self.leaf(), self.expr(), self.expr())
            }
            12 | 13 => self.call(),
            _ => self.leaf(),
        }
    }

    fn from(&mut self) -> String {
        let mut text = String::new();
        for i in 0..=self.random.below(3) {
            text.push_str(match (i, self.random.below(3)) {
                (0, _) => "",
                (_, 0) => ", ",
                (_, _) => " CROSS JOIN ",
            });
            if self.random.one_in(5) {
                self.depth += 2;
                text.push_str(&format!("({}) AS d{i}", self.query()));
                self.depth -= 2;
            } else {
                text.push_str(&format!("{} AS a{i}", self.source()));
            }
        }
        if self.random.one_in(3) {
            let name = self.source();
            text.push_str(&format!(" JOIN {name} AS j ON {}", self.expr()));
        }
        text
    }

    fn select(&mut self) -> String {
        self.known.effects |= Effects::READ;
        let mut text = format!("SELECT {}", self.expr());
        if self.random.one_in(3) {
            text.push_str(&format!(", {} AS x", self.expr()));
        }
        if !self.random.one_in(4) {
            text.push_str(&format!(" FROM {}", self.from()));
            if self.random.one_in(2) {
                text.push_str(&format!(" WHERE {}", self.expr()));
            }
            if self.random.one_in(5) {
                text.push_str(&format!(" GROUP BY {} HAVING {}", self.expr(), self.expr()));
            }
        }
        text
    }

    fn query(&mut self) -> String {
        self.depth += 1;
        let visible = self.ctes.len();
        let mut text = String::new();
        if self.depth < 4 && self.random.one_in(4) {
            text.push_str("WITH ");
            for i in 0..=self.random.below(2) {
                // Some have the name of a table: behind the definition the table is hidden, in it not.
                let name =
                    if self.random.one_in(3) { self.table() } else { format!("cte{}_{i}", self.depth) };
                if self.ctes.get(visible..).is_some_and(|own| own.contains(&name)) {
                    continue;
                }
                if self.ctes.len() > visible {
                    text.push_str(", ");
                }
                // In SQLite a definition sees its own name.
                let sees_itself = self.dialect == "sqlite";
                if sees_itself {
                    self.ctes.push(name.clone());
                }
                let body = if self.writing_ctes() && self.depth == 1 && self.random.one_in(4) {
                    self.write(true)
                } else {
                    self.query()
                };
                text.push_str(&format!("{name} AS ({body})"));
                if !sees_itself {
                    self.ctes.push(name);
                }
            }
            text.push(' ');
        }
        text.push_str(&self.select());
        while self.depth < 5 && self.random.one_in(5) {
            let operator = self.random.pick(&["UNION", "UNION ALL", "EXCEPT", "INTERSECT"]);
            text.push_str(&format!(" {operator} {}", self.select()));
        }
        if self.random.one_in(6) {
            text.push_str(&format!(" ORDER BY {}", self.expr()));
        }
        if self.random.one_in(6) {
            text.push_str(" LIMIT 5");
            if self.dialect != "sqlite" && self.random.one_in(3) {
                self.known.effects |= Effects::LOCK;
                text.push_str(self.random.pick(&[" FOR UPDATE", " FOR SHARE"]));
            }
        }
        self.ctes.truncate(visible);
        self.depth -= 1;
        text
    }

    fn write(&mut self, returning: bool) -> String {
        self.known.effects |= Effects::WRITE;
        let table = self.table();
        let mut text = match self.random.below(3) {
            0 => {
                let query = self.query();
                self.known.objects.push((table.clone(), true));
                format!("INSERT INTO {table} (c0, c1) {query}")
            }
            1 => {
                self.known.effects |= Effects::READ;
                self.known.objects.push((table.clone(), true));
                format!("UPDATE {table} SET c0 = {} WHERE {}", self.expr(), self.expr())
            }
            _ => {
                self.known.effects |= Effects::READ;
                self.known.objects.push((table.clone(), true));
                format!("DELETE FROM {table} WHERE {}", self.expr())
            }
        };
        if returning {
            text.push_str(" RETURNING c0");
        }
        text
    }

    fn statement(mut self) -> (String, Known) {
        let text = match self.random.below(8) {
            0 => self.write(false),
            1 => {
                self.known.effects |= Effects::READ;
                format!("EXPLAIN {}", self.query())
            }
            _ => self.query(),
        };
        self.known.objects.sort();
        (text, self.known)
    }
}

fn read(grammar: &SqlGrammar, text: &str) -> Known {
    let parsed =
        grammars::parse(grammar, text).unwrap_or_else(|e| panic!("{e} at {:?}:\n{text}", e.position()));
    // Some read a common table expression very often. That is refused beside all that is known of them.
    let findings: Vec<_> = parsed.findings.iter().filter(|f| f.rule != Rule::TooComplex).collect();
    assert!(findings.is_empty(), "{findings:?} {text}");
    let mut objects: Vec<_> = parsed.objects.iter().map(|o| (o.name.to_string(), o.written)).collect();
    objects.sort();
    let functions = parsed.functions.iter().map(|f| (f.name.clone(), f.effects.to_string())).collect();
    Known { effects: parsed.effects, functions, objects }
}

/// Runs on a stack as sessions have.
fn on_a_large_stack(run: fn()) {
    std::thread::Builder::new().stack_size(PARSE_STACK_BYTES).spawn(run).unwrap().join().unwrap();
}

#[test]
fn what_the_generator_wrote_is_what_the_walk_reads() {
    on_a_large_stack(|| {
        let mut pure = 0;
        for dialect in ["generic", "postgres", "mysql", "sqlite"] {
            let grammar = grammars::grammar(dialect);
            for seed in 1..=1_500_u64 {
                let (text, known) = Maker::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), dialect).statement();
                assert_eq!(read(&grammar, &text), known, "{dialect}, seed {seed}:\n{text}");
                pure += usize::from(known.effects.is_pure_read());
            }
        }
        assert!((1_000..5_000).contains(&pure), "{pure} of 6,000 are pure reads: too few of one kind");
    });
}

#[test]
fn damage_never_panics_and_places_are_of_the_text() {
    on_a_large_stack(|| {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/walk.jsonl");
        let rows = std::fs::read_to_string(path).unwrap();
        let mut random = Random(0x5eed);
        let mut read = 0;
        for line in rows.lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let (dialect, text) = (row["dialect"].as_str().unwrap(), row["sql"].as_str().unwrap());
            let grammar = grammars::grammar(dialect);
            for _ in 0..20 {
                let damaged = damage(text, &mut random);
                let Ok(parsed) = grammars::parse(&grammar, &damaged) else { continue };
                read += 1;
                let spans = parsed
                    .objects
                    .iter()
                    .map(|o| o.span)
                    .chain(parsed.columns.iter().map(|c| c.span))
                    .chain(parsed.functions.iter().map(|f| f.span))
                    .chain(parsed.findings.iter().map(|f| f.span));
                for span in spans.flatten() {
                    assert!(damaged.get(span.start..span.end).is_some(), "{span:?} in {damaged:?}");
                }
                for column in &parsed.columns {
                    assert!(column.candidates.iter().all(|i| *i < parsed.objects.len()), "{damaged:?}");
                }
            }
        }
        assert!(read > 2_000, "{read} damaged statements could still be read");
    });
}

/// Removes, doubles, swaps or inserts characters or pieces.
fn damage(text: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(3) {
        let at = random.below(chars.len() + 1);
        let to = (at + random.below(12)).min(chars.len());
        match random.below(5) {
            0 => drop(chars.drain(at..to)),
            1 => {
                let piece: Vec<_> = chars[at..to].to_vec();
                chars.splice(at..at, piece);
            }
            2 if !chars.is_empty() => {
                let other = random.below(chars.len());
                let at = at.min(chars.len() - 1);
                chars.swap(at, other);
            }
            3 => chars.truncate(at),
            _ => {
                let piece = random.pick(&[
                    "'",
                    "\"",
                    "`",
                    "(",
                    ")",
                    ";",
                    "--",
                    "/*",
                    "*/",
                    "\\",
                    "ä",
                    "\u{200b}",
                    " INTO x ",
                    " FOR UPDATE",
                    "[",
                    "]",
                    "$$",
                    ",",
                    ".",
                    " AS ",
                    "@",
                    "?",
                    ":a",
                    "{",
                    "}",
                    "😀",
                    "\r\n",
                    " UNION SELECT 1 ",
                ]);
                chars.splice(at..at, piece.chars());
            }
        }
    }
    chars.into_iter().collect()
}

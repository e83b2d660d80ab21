//! The columns of a table, and other names by which one can be read.

use dbagent_core::NameCase;
use dbagent_core::guard::{MAX_COMPUTED, follow_computed};

use super::facts::{ColumnFact, Fact};

/// All columns, hidden ones among them.
pub(super) fn names(fact: &Fact) -> Vec<String> {
    let mut names: Vec<String> = fact.columns.iter().map(|c| c.name.clone()).collect();
    if fact.is_versioned() && !names.is_empty() {
        for hidden in ["ROW_START", "ROW_END"] {
            if !names.iter().any(|n| n.eq_ignore_ascii_case(hidden)) {
                names.push(hidden.to_owned());
            }
        }
    }
    names
}

/// Which columns are read through another name: a generated column through those that it is computed from,
/// the key through `_rowid`.
pub(super) fn aliases(fact: &Fact) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for column in &fact.columns {
        if let Some(expression) = &column.generated {
            let from = fact.columns.iter().filter(|c| c.name != column.name && is_named(expression, c));
            pairs.extend(from.map(|c| (column.name.clone(), c.name.clone())));
        }
    }
    if !follow_computed(&mut pairs, NameCase::Sensitive) {
        // Nobody can tell: every generated column reads all of the table.
        pairs.clear();
        for column in fact.columns.iter().filter(|c| c.generated.is_some()) {
            let others = fact.columns.iter().filter(|c| c.name != column.name).take(MAX_COMPUTED);
            pairs.extend(others.map(|c| (column.name.clone(), c.name.clone())));
        }
    }
    let keys = fact.columns.iter().filter(|c| c.is_key);
    pairs.extend(keys.map(|c| ("_rowid".to_owned(), c.name.clone())));
    pairs
}

/// Whether an expression, as the server prints it, names a column. Where it prints none, any may be meant.
fn is_named(expression: &str, column: &ColumnFact) -> bool {
    expression.is_empty() || expression.contains(&format!("`{}`", column.name.replace('`', "``")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, generated: Option<&str>) -> ColumnFact {
        ColumnFact { name: name.into(), generated: generated.map(str::to_owned), is_key: name == "id" }
    }

    #[test]
    fn a_generated_column_reads_what_it_is_computed_from() {
        let fact = Fact {
            columns: vec![
                column("id", None),
                column("a", None),
                column("b", Some("(`a` + 1)")),
                column("c", Some("concat(`b`,'`')")),
                column("d", Some("")),
            ],
            ..Fact::default()
        };
        let pairs = aliases(&fact);
        let has = |of: &str, from: &str| pairs.contains(&(of.to_owned(), from.to_owned()));
        assert!(has("b", "a") && has("c", "b") && has("c", "a") && has("_rowid", "id"));
        assert!(!has("b", "id") && has("d", "id") && has("d", "a"));
    }
}

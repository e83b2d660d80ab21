//! The virtual tables that the bundled SQLite can open, and what each of them reads.

use dbagent_core::guard::{ColumnUse, Finding, ObjectUse, Parsed, Rule, StatementClass};
use dbagent_core::{Effects, ObjectName};

use crate::parse::is_engine_table;
use crate::schema::is_schema_table;

/// What a module does with the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// Its own storage, and the table that `content=` names.
    Content,
    /// Its own storage.
    Own,
    /// The index of the full-text table that its arguments name.
    IndexOf,
    /// Nothing of the database.
    Nothing,
    /// The raw pages.
    RawStorage,
}

struct Module {
    name: &'static str,
    reads: Reads,
    /// Endings of the tables that hold its data.
    storage: &'static [&'static str],
}

const MODULES: &[Module] = &[
    Module { name: "fts5", reads: Reads::Content, storage: &["data", "idx", "content", "docsize", "config"] },
    Module { name: "fts4", reads: Reads::Content, storage: FTS3_STORAGE },
    Module { name: "fts3", reads: Reads::Content, storage: FTS3_STORAGE },
    Module { name: "rtree", reads: Reads::Own, storage: RTREE_STORAGE },
    Module { name: "rtree_i32", reads: Reads::Own, storage: RTREE_STORAGE },
    Module { name: "geopoly", reads: Reads::Own, storage: RTREE_STORAGE },
    Module { name: "fts5vocab", reads: Reads::IndexOf, storage: &[] },
    Module { name: "fts4aux", reads: Reads::IndexOf, storage: &[] },
    Module { name: "fts3tokenize", reads: Reads::Nothing, storage: &[] },
    Module { name: "dbstat", reads: Reads::RawStorage, storage: &[] },
];

const FTS3_STORAGE: &[&str] = &["content", "segments", "segdir", "docsize", "stat"];
const RTREE_STORAGE: &[&str] = &["node", "rowid", "parent"];

fn find(module: &str) -> Option<&'static Module> {
    MODULES.iter().find(|m| m.name.eq_ignore_ascii_case(module))
}

/// Whether tables of this module may be called like functions without doing more than read.
pub(crate) fn is_known(module: &str) -> bool {
    find(module).is_some_and(|m| m.reads != Reads::RawStorage)
}

/// Whether a table of this module is a full-text index.
pub(crate) fn is_full_text(module: &str) -> bool {
    find(module).is_some_and(|m| m.reads == Reads::Content)
}

/// Whether the ending of a name makes a table the storage of an index of this module.
pub(crate) fn is_storage(module: &str, ending: &str) -> bool {
    find(module).is_some_and(|m| m.storage.iter().any(|s| s.eq_ignore_ascii_case(ending)))
}

/// What a virtual table reads beyond itself, in the form of a view's definition.
pub(crate) fn body(module: &str, arguments: &[String], columns: &[String]) -> Option<Parsed> {
    let mut parsed = Parsed::new(StatementClass::Read, Effects::READ);
    let Some(known) = find(module) else {
        parsed.effects |= Effects::UNKNOWN;
        parsed.findings.push(Finding::new(
            Rule::UnknownSyntax,
            format!("nobody has judged what virtual tables of the module {module} do"),
            None,
        ));
        return Some(parsed);
    };
    match known.reads {
        Reads::Own | Reads::Nothing => None,
        Reads::RawStorage => {
            parsed.findings.push(
                Finding::new(
                    Rule::SecretCatalogue,
                    format!("{module} shows the raw storage of the database"),
                    None,
                )
                .choice("secret_catalog"),
            );
            Some(parsed)
        }
        Reads::IndexOf => {
            // `fts5vocab(table, kind)` or `fts5vocab(schema, table, kind)`: what is no table is ignored.
            for name in arguments.iter().map(|a| unquoted(a)) {
                add(&mut parsed, name, [None]);
            }
            Some(parsed)
        }
        Reads::Content => {
            let content = option(arguments, "content").filter(|c| !c.is_empty())?;
            let rowid = option(arguments, "content_rowid");
            add(&mut parsed, content, columns.iter().cloned().chain(rowid).map(Some));
            Some(parsed)
        }
    }
}

/// The definition of a table that holds an index's data: reading it is reading the whole index.
pub(crate) fn storage_body(owner: &str) -> Parsed {
    let mut parsed = Parsed::new(StatementClass::Read, Effects::READ);
    add(&mut parsed, owner.to_owned(), [None]);
    parsed
}

fn add(parsed: &mut Parsed, name: String, columns: impl IntoIterator<Item = Option<String>>) {
    let index = parsed.objects.len();
    if is_schema_table(&name) || is_engine_table(&name) {
        parsed.tell_all.push(index);
    }
    parsed.objects.push(ObjectUse { name: ObjectName::new(name), written: false, span: None });
    parsed.columns.extend(columns.into_iter().map(|column| ColumnUse {
        candidates: vec![index],
        column,
        span: None,
    }));
}

/// The value of `name = value` among the arguments of a module.
fn option(arguments: &[String], name: &str) -> Option<String> {
    let pairs = arguments.iter().filter_map(|a| a.split_once('='));
    pairs.filter(|(key, _)| key.trim().eq_ignore_ascii_case(name)).map(|(_, v)| unquoted(v)).next_back()
}

fn unquoted(text: &str) -> String {
    crate::parse::unquote(text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_over_another_table_reads_that_table() {
        let columns = ["title".to_owned(), "email".to_owned()];
        let arguments = ["title", "email", "content = \"users\"", "content_rowid='id'"].map(str::to_owned);
        let body = body("FTS5", &arguments, &columns).unwrap();
        assert_eq!(body.objects[0].name, ObjectName::new("users"));
        let read: Vec<_> = body.columns.iter().filter_map(|c| c.column.as_deref()).collect();
        assert_eq!(read, ["title", "email", "id"]);
        assert!(super::body("fts5", &["a".to_owned(), "content=''".to_owned()], &columns).is_none());
    }

    #[test]
    fn what_nobody_has_judged_is_refused() {
        assert!(!body("csv", &[], &[]).unwrap().findings.is_empty());
        assert!(body("dbstat", &[], &[]).unwrap().findings[0].choice.is_some());
        assert!(is_known("rtree") && !is_known("csv") && !is_known("dbstat"));
    }
}

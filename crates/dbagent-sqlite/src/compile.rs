//! Compiles a cleared statement and holds what SQLite makes of it against what the parser said.
//!
//! Some statements act while they are compiled, so only a cleared one comes here, and only on a connection
//! whose authorizer already denies. Nothing is stepped unless the engine agrees: it reads nothing but the
//! tables that were judged, calls nothing but the functions that were judged, and there is one statement.

use std::collections::{BTreeMap, BTreeSet};

use dbagent_core::context::CallContext;
use dbagent_core::guard::{Judgement, Parsed, Resolution, ResolvedObject, Scope, StatementClass, judge};
use dbagent_core::session::Outcome;
use dbagent_core::{Error, NameCase, ObjectName, Policy, Refusal, Result, Rule};
use rusqlite::Statement;

use crate::connect::Conn;
use crate::error::{Phase, is_mistake, translate, translate_under};
use crate::resolve::{Resolver, each_body, each_object, virtual_tables};
use crate::watch::{ReadAccess, Recording};
use crate::{diagnose, parse, schema};

/// Names compare as in SQLite.
pub(crate) const CASE: NameCase = NameCase::AsciiInsensitive;

/// Compiles `text`, which `parsed` describes.
///
/// # Errors
/// What SQLite says of the text, told apart by the catalogue; a refusal when it sees something else in it.
pub(crate) fn compile<'c>(
    conn: &'c Conn,
    resolver: &Resolver,
    text: &str,
    parsed: &Parsed,
    policy: &Policy,
    call: &CallContext,
) -> Result<Outcome<Statement<'c>>> {
    let resolution = conn
        .patiently(call, || resolver.resolve(conn, &parsed.needs()))
        .map_err(|e| translate_under(e, Phase::Run, call))?;
    // What names mean may have changed since the request was judged; what they mean now decides.
    if let Judgement::Refused(refusal) = judge(parsed, &resolution, policy, CASE) {
        return Ok(Err(refusal));
    }
    connect_virtual_tables(conn, &resolution).map_err(|e| translate_under(e, Phase::Run, call))?;
    let (prepared, recording) = conn.watch.record(|| conn.patiently(call, || conn.db.prepare(text)));
    let statement = match prepared {
        Ok(statement) => statement,
        Err(rusqlite::Error::MultipleStatement) => return Ok(Err(disagrees("more than one statement"))),
        Err(rusqlite::Error::Empty) => return Ok(Err(disagrees("no statement"))),
        Err(_) if !recording.denied.is_empty() => return Ok(Err(disagrees(&recording.denied.join(", ")))),
        Err(e) => return Err(explain(conn, e, text, parsed, &resolution, call)),
    };
    // SQLite does not count every pragma that reads as read-only; the authorizer let through only those of
    // the list.
    if !statement.readonly() && recording.pragmas.is_empty() {
        return Ok(Err(disagrees("a statement that writes")));
    }
    Ok(match agreement(&recording, parsed, &resolution, policy) {
        Ok(bare) => match bare.into_iter().find(|read| !is_expression(conn, read, text)) {
            None => Ok(statement),
            Some(read) => Err(disagrees(&format!("the table {}", read.table))),
        },
        Err(refusal) => Err(refusal),
    })
}

/// Whether a bare name that the engine counts rows of is that of a common table expression.
fn is_expression(conn: &Conn, read: &ReadAccess, text: &str) -> bool {
    // The names in a view's definition were read when it was judged.
    let exists = || schema::find(&conn.db, &ObjectName::new(&*read.table)).is_ok_and(|found| found.is_none());
    read.by_view || exists() || parse::expression_names(text).contains(&fold(&read.table))
}

/// Lets SQLite connect the virtual tables of a statement before its compilation is watched: connecting
/// compiles statements of the index itself.
fn connect_virtual_tables(conn: &Conn, resolution: &Resolution) -> rusqlite::Result<()> {
    let names = virtual_tables(resolution);
    if names.is_empty() {
        return Ok(());
    }
    conn.watch.set_catalogue(true);
    let connected = names.into_iter().try_for_each(|name| {
        let schema = name.namespace.as_deref().unwrap_or(schema::MAIN);
        match schema::columns(&conn.db, schema, &name.name) {
            // What is wrong with it is said when the statement is compiled.
            Err(e) if !is_mistake(&e) => Err(e),
            _ => Ok(()),
        }
    });
    conn.watch.set_catalogue(false);
    connected
}

fn explain(
    conn: &Conn,
    e: rusqlite::Error,
    text: &str,
    parsed: &Parsed,
    resolution: &Resolution,
    call: &CallContext,
) -> Error {
    let error = translate_under(e, Phase::Compile, call);
    diagnose::refine(error, text, parsed, resolution, &conn.db)
}

fn disagrees(what: &str) -> Refusal {
    Refusal::new(
        Rule::EngineDisagrees,
        format!("SQLite sees {what} here, which the guard did not; nothing was run"),
    )
}

/// What was judged, as the engine would name it.
struct Judged<'r> {
    /// Objects by schema and name, folded.
    objects: BTreeMap<(String, String), &'r ResolvedObject>,
    /// Tables that stand in no schema table, folded.
    free: BTreeSet<String>,
    functions: BTreeSet<String>,
}

impl<'r> Judged<'r> {
    fn of(parsed: &'r Parsed, resolution: &'r Resolution) -> Self {
        let mut judged = Self { objects: BTreeMap::new(), free: BTreeSet::new(), functions: BTreeSet::new() };
        let mut functions = |body: &Parsed| {
            judged.functions.extend(body.functions.iter().map(|f| f.name.to_ascii_lowercase()));
        };
        functions(parsed);
        each_body(resolution, &mut functions);
        // A table function is a table to the engine, and so is what the engine shows of itself.
        judged.free.clone_from(&judged.functions);
        let shown = parsed.objects.iter().map(|o| &o.name.name).filter(|n| parse::is_engine_table(n));
        judged.free.extend(shown.map(|n| fold(n)));
        each_object(resolution, &mut |object| {
            judged.objects.insert(key(&object.name), object);
        });
        judged
    }

    fn object(&self, read: &ReadAccess) -> Option<&'r ResolvedObject> {
        let table = table_name(&read.table);
        match &read.schema {
            Some(schema) => self.objects.get(&(fold(schema), table)).copied(),
            None => self.objects.iter().find(|((_, name), _)| *name == table).map(|(_, object)| *object),
        }
    }
}

fn fold(name: &str) -> String {
    CASE.fold(name)
}

fn key(name: &ObjectName) -> (String, String) {
    (fold(name.namespace.as_deref().unwrap_or(schema::MAIN)), table_name(&name.name))
}

/// The schema table goes by two names.
fn table_name(name: &str) -> String {
    match fold(name).as_str() {
        "sqlite_master" | "sqlite_temp_master" | "sqlite_temp_schema" => "sqlite_schema".to_owned(),
        other => other.to_owned(),
    }
}

/// Returns the reads of bare names that are none of the objects judged.
fn agreement<'r>(
    recording: &'r Recording,
    parsed: &Parsed,
    resolution: &Resolution,
    policy: &Policy,
) -> std::result::Result<Vec<&'r ReadAccess>, Refusal> {
    if !recording.pragmas.is_empty() {
        // While it compiles a pragma, SQLite compiles views to describe them; none of that is run.
        return match parsed.class {
            StatementClass::Catalogue | StatementClass::Explain => Ok(Vec::new()),
            _ => Err(disagrees("a pragma")),
        };
    }
    if !recording.denied.is_empty() {
        return Err(disagrees(&recording.denied.join(", ")));
    }
    let judged = Judged::of(parsed, resolution);
    if let Some(name) = recording.functions.iter().find(|f| !judged.functions.contains(*f)) {
        return Err(disagrees(&format!("a call of the function {name}")));
    }
    let mut bare = Vec::new();
    for read in &recording.reads {
        match judged.object(read) {
            Some(object) => column(read, object, policy)?,
            None if judged.free.contains(&fold(&read.table)) => {}
            None if read.column.is_empty() => bare.push(read),
            None => return Err(disagrees(&format!("a read of the table {}", read.table))),
        }
    }
    Ok(bare)
}

/// Holds one column that the engine reads against the rules for columns.
fn column(read: &ReadAccess, object: &ResolvedObject, policy: &Policy) -> std::result::Result<(), Refusal> {
    let name = &object.name;
    match policy.scope(name, CASE) {
        Scope::Whole => return Ok(()),
        Scope::Columns => {}
        Scope::Nothing => {
            return Err(Refusal::new(Rule::DeniedObject, format!("{name} is outside the allowed scope")));
        }
    }
    let own = object.columns.iter().filter(|c| CASE.same(c, &read.column));
    let aliases = object.column_aliases.iter().filter(|(alias, _)| CASE.same(alias, &read.column));
    for real in own.chain(aliases.map(|(_, real)| real)) {
        if !policy.column(name, real, CASE) {
            return Err(Refusal::new(
                Rule::DeniedColumn,
                format!("the column {name}.{real} is outside the allowed scope"),
            ));
        }
    }
    Ok(())
}

/// Binds the values of a request.
///
/// # Errors
/// When the text has another parameter than the values were given for.
pub(crate) fn bind(
    statement: &mut Statement<'_>,
    params: &dbagent_core::Params,
) -> std::result::Result<(), Error> {
    crate::bind::all(statement, params).map_err(|e| translate(e, Phase::Run))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::connect::harden;

    fn conn(policy: &Policy) -> Conn {
        let db = rusqlite::Connection::open_in_memory().unwrap();
        db.execute_batch(
            "CREATE TABLE a (x, y); INSERT INTO a VALUES (1, 2); CREATE TABLE b (x, y);
             CREATE VIEW v AS SELECT x FROM b",
        )
        .unwrap();
        harden(db, policy, Duration::from_secs(1)).unwrap()
    }

    /// Compiles one text under what another text was judged to be.
    fn under(text: &str, judged: &str, policy: &Policy) -> Result<Outcome<()>> {
        let conn = conn(policy);
        let parsed = parse::statement(judged, 1_000)?;
        let call = CallContext::within(Duration::from_secs(10));
        let compiled = compile(&conn, &Resolver::default(), text, &parsed, policy, &call)?.map(drop);
        Ok(compiled)
    }

    #[test]
    fn what_the_engine_sees_beyond_the_parse_is_refused_and_nothing_is_stepped() {
        let policy = Policy::default();
        for (text, judged) in [
            ("SELECT x FROM b", "SELECT x FROM a"),
            ("SELECT a.x FROM a, b", "SELECT x FROM a"),
            ("SELECT count(*) FROM b", "SELECT count(*) FROM a"),
            ("SELECT x FROM v", "SELECT x FROM a"),
            ("SELECT (SELECT y FROM b) FROM a", "SELECT x FROM a"),
            ("SELECT sql FROM sqlite_master", "SELECT x FROM a"),
            ("SELECT abs(x) FROM a", "SELECT x FROM a"),
            ("SELECT x LIKE 'a' FROM a", "SELECT x FROM a"),
            ("SELECT value FROM json_each('[]')", "SELECT 1"),
            ("SELECT 1; SELECT 2", "SELECT 1"),
            ("SELECT 1; DELETE FROM a", "SELECT 1"),
            ("", "SELECT 1"),
            ("-- SELECT 1", "SELECT 1"),
            ("PRAGMA user_version", "SELECT 1"),
            ("PRAGMA query_only = OFF", "SELECT 1"),
            ("PRAGMA query_only = OFF", "PRAGMA query_only"),
            ("DELETE FROM a", "SELECT x FROM a"),
            ("INSERT INTO a SELECT * FROM a", "SELECT * FROM a"),
            ("WITH c AS (SELECT 1) DELETE FROM a RETURNING x", "WITH c AS (SELECT 1) SELECT x FROM a"),
            ("ATTACH 'x' AS y", "SELECT 1"),
            ("BEGIN", "SELECT 1"),
            ("SELECT load_extension('x')", "SELECT 1"),
            ("VACUUM INTO 'x'", "SELECT 1"),
        ] {
            let refusal = under(text, judged, &policy).unwrap().unwrap_err();
            assert_eq!(refusal.rule, Rule::EngineDisagrees, "{text}: {refusal}");
        }
        for text in
            ["SELECT x FROM a", "SELECT count(*) FROM a", "WITH b AS (SELECT 1) SELECT count(*) FROM b, v"]
        {
            under(text, text, &policy).unwrap().unwrap();
        }
    }

    #[test]
    fn rules_for_columns_hold_on_what_the_engine_reads() {
        let policy = Policy::default().deny("main.a.y").unwrap();
        // The parse names the table and another column of it; the engine reads the denied one.
        let refusal = under("SELECT y FROM a", "SELECT x FROM a", &policy).unwrap().unwrap_err();
        assert_eq!(refusal.rule, Rule::DeniedColumn, "{refusal}");
        under("SELECT x FROM a", "SELECT x FROM a", &policy).unwrap().unwrap();
        let policy = Policy::default().deny("main.b").unwrap();
        let refusal = under("SELECT x FROM v", "SELECT x FROM v", &policy).unwrap().unwrap_err();
        assert_eq!(refusal.rule, Rule::DeniedObject, "{refusal}");
    }

    #[test]
    fn the_name_of_an_expression_is_told_from_the_name_of_a_table() {
        let policy = Policy::default();
        let text = "WITH b AS (SELECT 1) SELECT count(*) FROM b";
        under(text, text, &policy).unwrap().unwrap();
        let refusal = under("SELECT count(*) FROM b", text, &policy).unwrap().unwrap_err();
        assert_eq!(refusal.rule, Rule::EngineDisagrees);
    }
}

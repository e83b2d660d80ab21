//! The judge: (parsed, resolution, policy) → cleared, proposed or refused. Pure.

use super::parsed::{FunctionUse, Parsed, Span, StatementClass};
use super::policy::{Policy, RuleEffect, Scope};
use super::resolution::{Resolution, ResolvedObject};
use super::rule::{Refusal, Rule};
use crate::effects::Effects;
use crate::name::{NameCase, ObjectName};

/// How deep views over views are followed.
const MAX_BODY_DEPTH: usize = 32;

/// What the judge decided.
#[derive(Debug, Clone, PartialEq)]
pub enum Judgement {
    /// A pure read: it may run.
    Read,
    /// A write that a person may approve. Its objects, columns and functions passed the policy.
    Write,
    /// It must not run.
    Refused(Refusal),
}

/// Judges one request.
///
/// Everything is checked: the dialect's findings, effects, functions in every position, objects and
/// columns, and the same for the body of each view. The first objection wins, the gravest kind first.
pub fn judge(parsed: &Parsed, resolution: &Resolution, policy: &Policy, case: NameCase) -> Judgement {
    match check(parsed, resolution, policy, case, 0) {
        Err(refusal) => Judgement::Refused(refusal),
        Ok(()) if parsed.effects.is_pure_read() && is_read_class(parsed.class) => Judgement::Read,
        Ok(()) => Judgement::Write,
    }
}

fn is_read_class(class: StatementClass) -> bool {
    matches!(class, StatementClass::Read | StatementClass::Explain | StatementClass::Catalogue)
}

fn check(
    parsed: &Parsed,
    resolution: &Resolution,
    policy: &Policy,
    case: NameCase,
    depth: usize,
) -> Result<(), Refusal> {
    if depth > MAX_BODY_DEPTH {
        return Err(Refusal::new(
            Rule::TooComplex,
            format!("views are nested deeper than {MAX_BODY_DEPTH} levels"),
        ));
    }
    findings(parsed, policy)?;
    effects(parsed, depth)?;
    for function in &parsed.functions {
        check_function(function, resolution, policy, case, depth)?;
    }
    for (index, object) in parsed.objects.iter().enumerate() {
        let resolved = resolution.object(&object.name);
        let name = resolved.map_or(&object.name, |r| &r.name);
        match policy.scope(name, case) {
            Scope::Whole => {}
            Scope::Nothing => {
                return Err(Refusal::new(Rule::DeniedObject, format!("{name} is outside the allowed scope"))
                    .at(object.span));
            }
            Scope::Columns => columns(parsed, index, name, resolved, policy, case)?,
        }
        kin(parsed, index, name, resolution, policy, case)?;
        if policy.hides() && parsed.tell_all.contains(&index) && !policy.allows_by_name(name, case) {
            return Err(tells_all(name).at(object.span));
        }
        // What a view reads is read; an object that an operator names in a rule is not exempt from it. One
        // name is one definition: following it at each use would double the work at each level.
        let seen = parsed.objects.iter().take(index).any(|o| o.name == object.name);
        if let Some(body) = resolved.and_then(|r| r.body.as_ref()).filter(|_| !seen) {
            check(&body.parsed, &body.resolution, policy, case, depth + 1)
                .map_err(|r| through(r, name, object.span))?;
            if !body.parsed.effects.is_pure_read() || !is_read_class(body.parsed.class) {
                return Err(Refusal::new(
                    Rule::UnknownEffect,
                    format!("the definition of {name} does more than read"),
                )
                .at(object.span));
            }
        }
    }
    Ok(())
}

/// Rows that a rule denies under one name are denied under the others that show them. A rule that allows
/// need not name them all: who may read the whole may read its parts through it.
fn kin(
    parsed: &Parsed,
    index: usize,
    name: &ObjectName,
    resolution: &Resolution,
    policy: &Policy,
    case: NameCase,
) -> Result<(), Refusal> {
    let Some(object) = parsed.objects.get(index) else { return Ok(()) };
    let others = resolution.kin(&object.name);
    if others.is_empty() || policy.deny.is_empty() {
        return Ok(());
    }
    let (denials, resolved) = (policy.denials(), resolution.object(&object.name));
    for other in others {
        match denials.scope(other, case) {
            Scope::Whole => {}
            Scope::Nothing => {
                let why = format!("{name} shares rows with {other}, which is outside the allowed scope");
                return Err(Refusal::new(Rule::DeniedObject, why).at(object.span));
            }
            Scope::Columns => columns(parsed, index, other, resolved, &denials, case)?,
        }
    }
    Ok(())
}

/// An object that would show what the policy hides elsewhere.
fn tells_all(name: &ObjectName) -> Refusal {
    let message = format!("{name} tells of every object, also of those that the policy hides");
    let advice = Rule::SecretCatalogue.advice();
    Refusal::new(Rule::SecretCatalogue, message)
        .advice(format!("{advice} The operator may allow it by a rule with its name: {name}."))
}

/// A refusal inside a view's body, told from where the request stands.
fn through(refusal: Refusal, name: &ObjectName, span: Option<Span>) -> Refusal {
    Refusal { message: format!("{name} reads more than it shows: {}", refusal.message), span, ..refusal }
}

fn findings(parsed: &Parsed, policy: &Policy) -> Result<(), Refusal> {
    for finding in &parsed.findings {
        match &finding.choice {
            _ if policy.allows(finding) => {}
            choice => {
                let mut advice = finding.advice.clone().unwrap_or_else(|| finding.rule.advice().to_owned());
                if let Some(choice) = choice {
                    advice = format!("{advice} The operator may allow the choice {choice:?}.");
                }
                return Err(Refusal::new(finding.rule, finding.message.clone())
                    .advice(advice)
                    .at(finding.span));
            }
        }
    }
    Ok(())
}

/// The gravest effect that neither a read nor an approved write may have.
fn effects(parsed: &Parsed, depth: usize) -> Result<(), Refusal> {
    let e = parsed.effects;
    let refuse = |rule: Rule, what: &str| Err(Refusal::new(rule, what.to_owned()));
    if e.contains(Effects::UNKNOWN) {
        return refuse(Rule::UnknownEffect, "what this statement does cannot be told");
    }
    if e.contains(Effects::SERVER_IO) {
        return refuse(Rule::ServerIo, "the statement reaches files, the network or other programs");
    }
    if e.contains(Effects::SESSION) {
        return refuse(Rule::SessionChange, "the statement changes the session or its transaction");
    }
    match parsed.class {
        StatementClass::Maintenance => {
            return refuse(Rule::Maintenance, "the statement works on the storage");
        }
        // The classes above say so by their effects; a dialect that forgot one does not get it through.
        StatementClass::Unknown => {
            return refuse(Rule::UnknownEffect, "what this statement does cannot be told");
        }
        StatementClass::Session | StatementClass::Transaction => {
            return refuse(Rule::SessionChange, "the statement changes the session or its transaction");
        }
        StatementClass::ServerIo => {
            return refuse(Rule::ServerIo, "the statement reaches files, the network or other programs");
        }
        _ => {}
    }
    if depth > 0 && !e.is_pure_read() {
        return refuse(Rule::Write, "the definition does more than read");
    }
    if e.contains(Effects::LOCK) && !e.contains(Effects::WRITE) && !e.contains(Effects::SCHEMA) {
        return refuse(Rule::Locks, "the statement takes locks");
    }
    Ok(())
}

fn check_function(
    function: &FunctionUse,
    resolution: &Resolution,
    policy: &Policy,
    case: NameCase,
    depth: usize,
) -> Result<(), Refusal> {
    let name = &function.name;
    let resolved = resolution.function(name);
    match policy.function(name) {
        Some(RuleEffect::Deny) => {
            return Err(Refusal::new(
                Rule::DeniedFunction,
                format!("the function {name} is denied by the policy"),
            )
            .at(function.span));
        }
        Some(RuleEffect::Allow) => return Ok(()),
        None => {}
    }
    let effects = match resolved {
        Some(r) if function.effects.contains(Effects::UNKNOWN) => r.effects,
        // A function of a user under a known name: it may be either.
        Some(r) => function.effects | r.effects,
        None => function.effects,
    };
    if effects.contains(Effects::UNKNOWN) {
        let why = resolved.map(|r| format!(": {}", r.reason)).unwrap_or_default();
        return Err(Refusal::new(Rule::UnknownFunction, format!("nothing vouches for the function {name}{why}"))
            .advice(format!(
                "Use the database's built-in functions. The operator may allow it: allow_functions = [\"{name}\"]."
            ))
            .at(function.span));
    }
    if !effects.is_pure_read() {
        return Err(Refusal::new(
            Rule::ForbiddenFunction,
            format!("the function {name} does more than read ({effects})"),
        )
        .at(function.span));
    }
    if let Some(body) = resolved.and_then(|r| r.body.as_ref()) {
        check(&body.parsed, &body.resolution, policy, case, depth + 1)
            .map_err(|r| through(r, &ObjectName::new(name.as_str()), function.span))?;
    }
    Ok(())
}

/// Checks the columns of one object that has rules for single columns.
fn columns(
    parsed: &Parsed,
    index: usize,
    name: &ObjectName,
    resolved: Option<&ResolvedObject>,
    policy: &Policy,
    case: NameCase,
) -> Result<(), Refusal> {
    if !parsed.columns_known {
        return Err(Refusal::new(
            Rule::ColumnsUnknown,
            format!("{name} has rules for single columns, and which columns this reads cannot be told"),
        ));
    }
    // An object whose columns the catalogue cannot tell is judged as if there were no catalogue.
    let resolved = resolved.filter(|r| !r.columns.is_empty());
    let denied = |column: &str, span| {
        Refusal::new(Rule::DeniedColumn, format!("the column {name}.{column} is outside the allowed scope"))
            .advice(match resolved {
                Some(r) => {
                    let open: Vec<_> = r
                        .columns
                        .iter()
                        .filter(|c| policy.column(name, c, case))
                        .map(String::as_str)
                        .collect();
                    format!("Name the columns you need; allowed are {}.", open.join(", "))
                }
                None => Rule::DeniedColumn.advice().to_owned(),
            })
            .at(span)
    };
    for used in parsed.columns.iter().filter(|u| u.candidates.contains(&index)) {
        match (&used.column, resolved) {
            (None, Some(r)) => {
                if let Some(column) = r.columns.iter().find(|c| !policy.column(name, c, case)) {
                    return Err(denied(column, used.span));
                }
            }
            (None, None) => {
                return Err(Refusal::new(
                    Rule::ColumnsUnknown,
                    format!("{name} has rules for single columns, and * reads all of them"),
                )
                .at(used.span));
            }
            (Some(column), Some(r)) => {
                if r.columns.iter().any(|c| case.same(c, column)) && !policy.column(name, column, case) {
                    return Err(denied(column, used.span));
                }
                for (_, real) in r.column_aliases.iter().filter(|(alias, _)| case.same(alias, column)) {
                    if !policy.column(name, real, case) {
                        return Err(denied(real, used.span));
                    }
                }
            }
            // Offline nobody can say whose column it is: it counts as this object's.
            (Some(column), None) => {
                if !policy.column(name, column, case) {
                    return Err(denied(column, used.span));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::parsed::{ColumnUse, Finding, ObjectUse};
    use super::super::resolution::{ResolvedBody, ResolvedFunction};
    use super::*;
    use crate::catalog::ObjectKind;

    const CASE: NameCase = NameCase::AsciiInsensitive;

    fn read(table: &str, column: Option<&str>) -> Parsed {
        let mut p = Parsed::new(StatementClass::Read, Effects::READ);
        p.objects.push(ObjectUse { name: ObjectName::new(table), written: false, span: None });
        p.columns.push(ColumnUse { candidates: vec![0], column: column.map(str::to_owned), span: None });
        p
    }

    fn live(name: &str, columns: &[&str], body: Option<ResolvedBody>) -> Resolution {
        let mut r = Resolution::live();
        r.objects.push((
            ObjectName::new(name),
            ResolvedObject {
                name: ObjectName::within("main", name),
                kind: ObjectKind::Table,
                columns: columns.iter().map(|c| (*c).to_owned()).collect(),
                column_aliases: vec![("rowid".into(), "id".into())],
                body: body.map(Box::new),
            },
        ));
        r
    }

    fn rule(parsed: &Parsed, resolution: &Resolution, policy: &Policy) -> Option<Rule> {
        match judge(parsed, resolution, policy, CASE) {
            Judgement::Refused(r) => Some(r.rule),
            _ => None,
        }
    }

    #[test]
    fn a_plain_read_is_cleared_and_a_write_is_not() {
        let p = read("users", Some("name"));
        assert_eq!(judge(&p, &Resolution::offline(), &Policy::default(), CASE), Judgement::Read);
        let mut w = p.clone();
        w.effects |= Effects::WRITE;
        w.class = StatementClass::Delete;
        assert_eq!(judge(&w, &Resolution::offline(), &Policy::default(), CASE), Judgement::Write);
        // A class that is no read is never cleared as one, whatever its effects claim.
        let mut odd = p;
        odd.class = StatementClass::Procedure;
        assert_eq!(judge(&odd, &Resolution::offline(), &Policy::default(), CASE), Judgement::Write);
    }

    #[test]
    fn every_grave_effect_is_refused() {
        for (effect, expected) in [
            (Effects::UNKNOWN, Rule::UnknownEffect),
            (Effects::SERVER_IO, Rule::ServerIo),
            (Effects::SESSION, Rule::SessionChange),
            (Effects::LOCK, Rule::Locks),
        ] {
            let mut p = read("users", None);
            p.effects |= effect;
            assert_eq!(rule(&p, &Resolution::offline(), &Policy::default()), Some(expected));
        }
    }

    #[test]
    fn star_and_aliases_reach_denied_columns() {
        let policy = Policy::default().deny("*.users.email").unwrap().deny("*.users.id").unwrap();
        let catalogue = live("users", &["id", "name", "email"], None);
        assert_eq!(rule(&read("users", None), &catalogue, &policy), Some(Rule::DeniedColumn));
        assert_eq!(rule(&read("users", Some("Email")), &catalogue, &policy), Some(Rule::DeniedColumn));
        assert_eq!(rule(&read("users", Some("rowid")), &catalogue, &policy), Some(Rule::DeniedColumn));
        assert_eq!(rule(&read("users", Some("name")), &catalogue, &policy), None);
        assert_eq!(rule(&read("users", None), &Resolution::offline(), &policy), Some(Rule::ColumnsUnknown));
        let mut unknown = read("users", Some("name"));
        unknown.columns_known = false;
        assert_eq!(rule(&unknown, &catalogue, &policy), Some(Rule::ColumnsUnknown));
    }

    #[test]
    fn a_view_is_its_tables() {
        let body = ResolvedBody {
            parsed: read("users", Some("email")),
            resolution: live("users", &["email"], None),
        };
        let catalogue = live("v", &["e"], Some(body));
        let deny_table = Policy::default().deny("main.users").unwrap();
        assert_eq!(rule(&read("v", Some("e")), &catalogue, &deny_table), Some(Rule::DeniedObject));
        let deny_column = Policy::default().deny("main.users.email").unwrap();
        assert_eq!(rule(&read("v", Some("e")), &catalogue, &deny_column), Some(Rule::DeniedColumn));
        assert_eq!(rule(&read("v", Some("e")), &catalogue, &Policy::default()), None);
    }

    #[test]
    fn rows_that_are_denied_under_one_name_are_denied_under_all() {
        let mut catalogue = live("orders", &["id", "note"], None);
        let part = ObjectName::within("main", "orders_2024");
        catalogue.kin.push((ObjectName::new("orders"), vec![part]));
        let p = read("orders", Some("id"));
        let deny = |pattern: &str| Policy::default().deny(pattern).unwrap();
        assert_eq!(rule(&p, &catalogue, &Policy::default()), None);
        assert_eq!(rule(&p, &catalogue, &deny("main.orders_2024")), Some(Rule::DeniedObject));
        assert_eq!(rule(&p, &catalogue, &deny("*.orders_2024.note")), None);
        let note = read("orders", Some("note"));
        assert_eq!(rule(&note, &catalogue, &deny("*.orders_2024.note")), Some(Rule::DeniedColumn));
        // Who may read the whole may read its parts through it.
        let only = Policy::default().allow("main.orders").unwrap();
        assert_eq!(rule(&p, &catalogue, &only), None);
    }

    #[test]
    fn what_tells_of_all_objects_is_hidden_where_anything_is() {
        let mut p = read("definitions", Some("text"));
        p.tell_all.push(0);
        let catalogue = live("definitions", &["text"], None);
        let policy = || Policy::default().allow("*").unwrap();
        for resolution in [&catalogue, &Resolution::offline()] {
            assert_eq!(rule(&p, resolution, &Policy::default()), None);
            assert_eq!(rule(&p, resolution, &policy()), Some(Rule::SecretCatalogue));
            let denied = Policy::default().deny("users.email").unwrap();
            assert_eq!(rule(&p, resolution, &denied), Some(Rule::SecretCatalogue));
            assert_eq!(rule(&p, resolution, &policy().allow("definitions").unwrap()), None);
        }
        let through = live("v", &["text"], Some(ResolvedBody { parsed: p, resolution: catalogue }));
        let denied = Policy::default().deny("users").unwrap();
        assert_eq!(rule(&read("v", Some("text")), &through, &denied), Some(Rule::SecretCatalogue));
        assert_eq!(rule(&read("other", None), &Resolution::offline(), &denied), None);
    }

    #[test]
    fn functions_need_someone_who_vouches() {
        let mut p = read("users", None);
        p.functions.push(FunctionUse {
            name: "f".into(),
            arguments: None,
            effects: Effects::UNKNOWN,
            span: None,
        });
        let none = Policy::default();
        assert_eq!(rule(&p, &Resolution::offline(), &none), Some(Rule::UnknownFunction));
        let mut r = Resolution::live();
        r.functions.push((
            "f".into(),
            ResolvedFunction { effects: Effects::READ, reason: String::new(), body: None },
        ));
        assert_eq!(rule(&p, &r, &none), None);
        let allowed = Policy { allow_functions: ["F".to_owned()].into(), ..Policy::default() };
        assert_eq!(rule(&p, &Resolution::offline(), &allowed), None);
        let denied = Policy { deny_functions: ["f".to_owned()].into(), ..allowed };
        assert_eq!(rule(&p, &r, &denied), Some(Rule::DeniedFunction));
        p.functions =
            vec![FunctionUse { name: "g".into(), arguments: None, effects: Effects::SERVER_IO, span: None }];
        assert_eq!(rule(&p, &r, &none), Some(Rule::ForbiddenFunction));
    }

    #[test]
    fn a_known_name_does_not_vouch_for_the_functions_of_users() {
        let mut p = read("users", None);
        p.functions.push(FunctionUse {
            name: "lower".into(),
            arguments: None,
            effects: Effects::READ,
            span: None,
        });
        assert!(p.needs().functions.is_empty());
        p.overloads = true;
        assert_eq!(p.needs().functions, ["lower"]);
        let mut r = Resolution::live();
        assert_eq!(rule(&p, &r, &Policy::default()), None);
        r.functions.push((
            "lower".into(),
            ResolvedFunction { effects: Effects::UNKNOWN, reason: String::new(), body: None },
        ));
        assert_eq!(rule(&p, &r, &Policy::default()), Some(Rule::UnknownFunction));
    }

    #[test]
    fn a_choice_can_be_flipped_and_nothing_else() {
        let mut p = read("users", None);
        p.findings.push(Finding::new(Rule::SecretCatalogue, "raw pages", None).choice("secret_catalog"));
        assert_eq!(rule(&p, &Resolution::offline(), &Policy::default()), Some(Rule::SecretCatalogue));
        let flipped = Policy { allow_choices: ["secret_catalog".to_owned()].into(), ..Policy::default() };
        assert_eq!(rule(&p, &Resolution::offline(), &flipped), None);
        p.findings.push(Finding::new(Rule::UnknownSyntax, "odd", None));
        assert_eq!(rule(&p, &Resolution::offline(), &flipped), Some(Rule::UnknownSyntax));
    }

    /// A chain of views, each of which names the one below it several times.
    fn tower(levels: usize) -> (Parsed, Resolution) {
        let (mut parsed, mut resolution) = (read("t", Some("c")), live("t", &["c"], None));
        for level in 0..levels {
            let body = ResolvedBody { parsed, resolution };
            let name = format!("v{level}");
            parsed = read(&name, Some("c"));
            parsed.objects.push(ObjectUse { name: ObjectName::new(&*name), written: false, span: None });
            resolution = live(&name, &["c"], Some(body));
        }
        (parsed, resolution)
    }

    #[test]
    fn a_definition_that_is_used_often_is_judged_once() {
        let (done, wait) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let (parsed, resolution) = tower(31);
            let deny = Policy::default().deny("main.t").unwrap();
            done.send((rule(&parsed, &resolution, &Policy::default()), rule(&parsed, &resolution, &deny)))
        });
        let judged = wait.recv_timeout(std::time::Duration::from_secs(30));
        assert_eq!(judged, Ok((None, Some(Rule::DeniedObject))));
        let (parsed, resolution) = tower(40);
        assert_eq!(rule(&parsed, &resolution, &Policy::default()), Some(Rule::TooComplex));
    }

    #[test]
    fn a_class_that_is_neither_read_nor_write_is_refused_whatever_its_effects_say() {
        for (class, expected) in [
            (StatementClass::Unknown, Rule::UnknownEffect),
            (StatementClass::Session, Rule::SessionChange),
            (StatementClass::Transaction, Rule::SessionChange),
            (StatementClass::ServerIo, Rule::ServerIo),
            (StatementClass::Maintenance, Rule::Maintenance),
        ] {
            let mut p = read("users", Some("name"));
            p.class = class;
            assert_eq!(rule(&p, &Resolution::offline(), &Policy::default()), Some(expected), "{class:?}");
        }
        let mut body = read("users", Some("name"));
        body.class = StatementClass::Procedure;
        let body = ResolvedBody { parsed: body, resolution: live("users", &["name"], None) };
        let catalogue = live("v", &["name"], Some(body));
        let v = read("v", Some("name"));
        assert_eq!(rule(&v, &catalogue, &Policy::default()), Some(Rule::UnknownEffect));
    }

    #[test]
    fn an_object_whose_columns_nobody_knows_is_judged_by_the_names_alone() {
        let policy = Policy::default().deny("*.users.email").unwrap();
        let schemaless = live("users", &[], None);
        assert_eq!(rule(&read("users", Some("email")), &schemaless, &policy), Some(Rule::DeniedColumn));
        assert_eq!(rule(&read("users", Some("name")), &schemaless, &policy), None);
        assert_eq!(rule(&read("users", None), &schemaless, &policy), Some(Rule::ColumnsUnknown));
    }

    #[test]
    fn judging_twice_says_the_same() {
        let policy = Policy::default().deny("*.users.email").unwrap().deny("*.users.id").unwrap();
        let catalogue = live("users", &["id", "name", "email"], None);
        for column in [None, Some("email"), Some("rowid"), Some("name"), Some("nothing")] {
            let p = read("users", column);
            let before = (p.clone(), catalogue.clone(), policy.clone());
            let first = judge(&p, &catalogue, &policy, CASE);
            for _ in 0..20 {
                assert_eq!(judge(&p, &catalogue, &policy, CASE), first);
            }
            assert_eq!((p, catalogue.clone(), policy.clone()), before);
        }
    }

    #[test]
    fn a_joined_column_is_checked_against_every_object_that_has_it() {
        // SELECT email FROM users JOIN orders USING (id): whose column it is only the catalogue tells.
        let mut p = read("users", Some("email"));
        p.objects.push(ObjectUse { name: ObjectName::new("orders"), written: false, span: None });
        p.columns = vec![
            ColumnUse { candidates: vec![0, 1], column: Some("email".into()), span: None },
            ColumnUse { candidates: vec![0, 1], column: Some("id".into()), span: None },
        ];
        let mut catalogue = live("users", &["id", "email"], None);
        catalogue.objects.extend(live("orders", &["id", "total"], None).objects);
        let deny = |pattern: &str| Policy::default().deny(pattern).unwrap();
        assert_eq!(rule(&p, &catalogue, &deny("*.users.email")), Some(Rule::DeniedColumn));
        assert_eq!(rule(&p, &catalogue, &deny("*.orders.email")), None, "orders has no such column");
        assert_eq!(rule(&p, &catalogue, &deny("*.orders.id")), Some(Rule::DeniedColumn), "USING reads both");
        // A view over a view: the denied column is two definitions down.
        let inner =
            ResolvedBody { parsed: read("users", None), resolution: live("users", &["id", "email"], None) };
        let middle =
            ResolvedBody { parsed: read("v1", Some("id")), resolution: live("v1", &["id"], Some(inner)) };
        let nested = live("v2", &["id"], Some(middle));
        assert_eq!(
            rule(&read("v2", Some("id")), &nested, &deny("main.users.email")),
            Some(Rule::DeniedColumn)
        );
    }
}

//! Finds rules of a policy that would silently do nothing.
//!
//! Two parts of a pattern mean namespace and object. Where a database has no namespaces to speak of, whoever
//! writes `users.email` means a column, and would find out only when it was read.

use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind, Result};
use crate::guard::{Pattern, Policy};

/// Checks that no rule names a namespace which the session cannot have.
///
/// # Errors
/// [`ErrorKind::Config`]: says which rule, and what to write.
pub(super) fn check(dialect: &Dialect, policy: &Policy, namespaces: &[String]) -> Result<()> {
    if dialect.can().namespaces.is_there() {
        return Ok(());
    }
    let unknown = |rule: &&Pattern| {
        rule.namespace().is_some_and(|n| !namespaces.iter().any(|own| dialect.case().same(own, n)))
    };
    let lists = [("denies", &policy.deny), ("allows only", &policy.allow)];
    let wrong = lists.into_iter().find_map(|(verb, rules)| Some((verb, rules.iter().find(unknown)?)));
    wrong.map_or(Ok(()), |(verb, rule)| Err(astray(verb, rule, namespaces)))
}

fn astray(verb: &str, rule: &Pattern, namespaces: &[String]) -> Error {
    let own = namespaces.first().map_or("*", String::as_str);
    let write = match rule.as_column() {
        Some(column) => format!("`{column}` for a column, `{}` for a table", rule.first_within(own)),
        None => format!("`{}`", rule.within(own)),
    };
    let there = match namespaces {
        [] => "it has none".to_owned(),
        names => format!("it has {}", names.join(", ")),
    };
    let namespace = rule.namespace().unwrap_or_default();
    Error::new(
        ErrorKind::Config,
        format!(
            "the policy {verb} `{rule}`, but the database has no namespace {namespace:?} ({there}), so the rule would \
             hold for nothing"
        ),
    )
    .hint(format!("write {write}; the first of two parts is a namespace"))
}

#[cfg(test)]
mod tests {
    use futures_core::future::BoxFuture;

    use super::*;
    use crate::dialect::{Capabilities, OpenContext, ParseContext, Support};
    use crate::name::NameCase;
    use crate::{Parsed, Request, Session, Target};

    fn parse(_: &Request, _: &ParseContext) -> Result<Parsed> {
        Err(Error::new(ErrorKind::Syntax, "no language"))
    }

    fn open<'a>(_: &'a Target, _: &'a OpenContext) -> BoxFuture<'a, Result<Box<dyn Session>>> {
        Box::pin(async { Err(Error::new(ErrorKind::Connection, "nobody is there")) })
    }

    static FLAT: Dialect = Dialect::new("flat", parse, open).name_case(NameCase::AsciiInsensitive);
    static DEEP: Dialect = Dialect::new("deep", parse, open)
        .capabilities(Capabilities { namespaces: Support::Yes, ..Capabilities::NONE });

    fn told(policy: &Policy, namespaces: &[&str]) -> Option<String> {
        let namespaces: Vec<String> = namespaces.iter().map(|n| (*n).to_owned()).collect();
        let e = check(&FLAT, policy, &namespaces).err()?;
        assert_eq!(e.kind(), ErrorKind::Config);
        Some(format!("{e}; {}", e.hint_text().unwrap()))
    }

    #[test]
    fn a_rule_for_a_namespace_that_is_not_there_says_what_to_write() {
        let own = ["main", "temp"];
        for (rule, parts) in [
            ("t.secret", ["`t.secret`", "\"t\" (it has main, temp)", "`*.t.secret`", "`main.t`"]),
            ("Customer.*", ["`Customer.*`", "\"Customer\"", "`*.Customer.*`", "`main.Customer`"]),
            ("shop.t.secret", ["`shop.t.secret`", "\"shop\"", "`main.t.secret`", ""]),
        ] {
            let policies = [Policy::default().deny(rule), Policy::default().allow("*").unwrap().allow(rule)];
            for policy in policies {
                let text = told(&policy.unwrap(), &own).unwrap();
                assert!(parts.iter().all(|p| text.contains(p)), "{rule}: {text}");
            }
        }
        let text = told(&Policy::default().deny("t.secret").unwrap(), &[]).unwrap();
        assert!(text.contains("it has none") && text.contains("`*.t`"), "{text}");
    }

    #[test]
    fn what_can_hold_for_something_is_left_alone() {
        for rule in ["t", "main.t", "MAIN.t", "temp.t", "*.t.secret", "ma?n.t", "other.*", "main.t.secret"] {
            let policy = Policy::default().deny(rule).unwrap();
            assert_eq!(told(&policy, &["main", "temp", "other"]), None, "{rule}");
            assert!(check(&DEEP, &Policy::default().deny("hr.pay").unwrap(), &[]).is_ok());
        }
    }
}

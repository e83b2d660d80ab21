//! Which objects, columns and functions may be used.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::parsed::Finding;
use crate::name::{NameCase, ObjectName, split_quoted};

/// Whether a rule allows or denies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    /// Allows.
    Allow,
    /// Denies; stronger than any allow.
    Deny,
}

/// A pattern over `object`, `namespace.object` or `namespace.object.column`.
///
/// `*` stands for any characters and `?` for one, within a part. Parts in double quotes are literal where
/// they hold a dot. One part means the object in any namespace.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern {
    namespace: String,
    object: String,
    column: Option<String>,
}

/// Why a pattern cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no pattern: write object, namespace.object or namespace.object.column, with * and ? as wild cards"
)]
pub struct PatternError(pub String);

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let parts = split_quoted(text).ok_or_else(|| PatternError(text.to_owned()))?;
        match <[String; 1]>::try_from(parts) {
            Ok([object]) => Ok(Self { namespace: "*".into(), object, column: None }),
            Err(parts) => match <[String; 2]>::try_from(parts) {
                Ok([namespace, object]) => Ok(Self { namespace, object, column: None }),
                Err(parts) => match <[String; 3]>::try_from(parts) {
                    Ok([namespace, object, column]) => Ok(Self { namespace, object, column: Some(column) }),
                    Err(_) => Err(PatternError(text.to_owned())),
                },
            },
        }
    }
}

impl TryFrom<String> for Pattern {
    type Error = PatternError;
    fn try_from(text: String) -> Result<Self, PatternError> {
        text.parse()
    }
}

impl From<Pattern> for String {
    fn from(p: Pattern) -> String {
        p.to_string()
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", ObjectName::within(&*self.namespace, &*self.object))?;
        if let Some(column) = &self.column {
            write!(f, ".{}", ObjectName::new(&**column))?;
        }
        Ok(())
    }
}

impl Pattern {
    /// The part for the object, wild cards and all.
    pub fn object(&self) -> &str {
        &self.object
    }

    /// The namespace, where it is spelt out.
    pub(crate) fn namespace(&self) -> Option<&str> {
        (!self.namespace.contains(['*', '?'])).then_some(&*self.namespace)
    }

    /// The pattern that means the same parts one level further in: `t.c` as the column `c` of any `t`.
    /// `None` when it names a column already.
    pub(crate) fn as_column(&self) -> Option<Self> {
        let (object, column) = (self.namespace.clone(), self.object.clone());
        self.column.is_none().then(|| Self { namespace: "*".into(), object, column: Some(column) })
    }

    /// The same object and column in that namespace.
    pub(crate) fn within(&self, namespace: &str) -> Self {
        Self { namespace: namespace.to_owned(), ..self.clone() }
    }

    /// The object that its first part names, in that namespace.
    pub(crate) fn first_within(&self, namespace: &str) -> Self {
        Self { namespace: namespace.to_owned(), object: self.namespace.clone(), column: None }
    }

    /// A name whose namespace nobody knows is in every namespace for a rule that denies, in none for one
    /// that allows.
    fn matches_object(&self, name: &ObjectName, case: NameCase, effect: RuleEffect) -> bool {
        let namespace = match &name.namespace {
            Some(namespace) => case.matches(&self.namespace, namespace),
            None => self.namespace == "*" || effect == RuleEffect::Deny,
        };
        namespace && case.matches(&self.object, &name.name)
    }
}

/// What may be read of one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All of it.
    Whole,
    /// Only some columns.
    Columns,
    /// Nothing.
    Nothing,
}

/// The rules for one target. The default allows every object, no unknown function, and the defaults of
/// every choice.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// If there are any: only what one of these matches may be used.
    pub allow: Vec<Pattern>,
    /// Never to be used, whatever `allow` says.
    pub deny: Vec<Pattern>,
    /// Functions beyond the engine's own harmless ones that may be called. Matched without case.
    pub allow_functions: BTreeSet<String>,
    /// Functions that may not be called. Matched without case, and with or without their namespace.
    pub deny_functions: BTreeSet<String>,
    /// Choices flipped to *allowed*, by the name that the refusal gave.
    pub allow_choices: BTreeSet<String>,
}

impl Policy {
    /// Denies an object or a column; see [`Pattern`].
    ///
    /// # Errors
    /// When the pattern cannot be read.
    pub fn deny(mut self, pattern: &str) -> Result<Self, PatternError> {
        self.deny.push(pattern.parse()?);
        Ok(self)
    }

    /// Allows only this (and what other calls allow); see [`Pattern`].
    ///
    /// # Errors
    /// When the pattern cannot be read.
    pub fn allow(mut self, pattern: &str) -> Result<Self, PatternError> {
        self.allow.push(pattern.parse()?);
        Ok(self)
    }

    /// What may be read of an object.
    pub fn scope(&self, name: &ObjectName, case: NameCase) -> Scope {
        use RuleEffect::{Allow, Deny};
        let rule = |rules: &[Pattern], effect, column: bool| {
            rules.iter().any(|p| p.column.is_some() == column && p.matches_object(name, case, effect))
        };
        if rule(&self.deny, Deny, false) {
            return Scope::Nothing;
        }
        let allowed = self.allow.is_empty() || rule(&self.allow, Allow, false);
        match (allowed, rule(&self.allow, Allow, true)) {
            (false, false) => Scope::Nothing,
            (false, true) => Scope::Columns,
            (true, _) if rule(&self.deny, Deny, true) => Scope::Columns,
            (true, _) => Scope::Whole,
        }
    }

    /// The rules that deny, alone.
    pub(super) fn denials(&self) -> Policy {
        Policy { deny: self.deny.clone(), ..Policy::default() }
    }

    /// Whether there are rules for objects or columns, so that something may be hidden.
    pub fn hides(&self) -> bool {
        !self.allow.is_empty() || !self.deny.is_empty()
    }

    /// Whether a rule allows an object, or a column of it, by a name without wild cards.
    pub fn allows_by_name(&self, name: &ObjectName, case: NameCase) -> bool {
        self.allow
            .iter()
            .any(|p| !p.object.contains(['*', '?']) && p.matches_object(name, case, RuleEffect::Allow))
    }

    /// Whether one column of an object may be read.
    pub fn column(&self, name: &ObjectName, column: &str, case: NameCase) -> bool {
        let hit = |p: &Pattern, effect| {
            p.matches_object(name, case, effect)
                && p.column.as_deref().is_none_or(|c| case.matches(c, column))
        };
        !self.deny.iter().any(|p| hit(p, RuleEffect::Deny))
            && (self.allow.is_empty() || self.allow.iter().any(|p| hit(p, RuleEffect::Allow)))
    }

    /// Whether the policy says something of that function. A rule that denies holds with and without the
    /// function's namespace, one that allows only for the name as it is written.
    pub fn function(&self, name: &str) -> Option<RuleEffect> {
        let denies = |rule: &String| {
            let both = rule.contains('.') && name.contains('.');
            let last = |n: &str| n.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
            rule.eq_ignore_ascii_case(name) || (!both && last(rule) == last(name))
        };
        if self.deny_functions.iter().any(denies) {
            Some(RuleEffect::Deny)
        } else if self.allow_functions.iter().any(|f| f.eq_ignore_ascii_case(name)) {
            Some(RuleEffect::Allow)
        } else {
            None
        }
    }

    /// Whether an objection of the dialect is a choice that this policy allows.
    pub fn allows(&self, finding: &Finding) -> bool {
        finding.choice.as_ref().is_some_and(|choice| self.allow_choices.contains(choice))
    }

    /// A digest of all rules. What was cleared under one digest does not run under another.
    pub fn digest(&self) -> [u8; 32] {
        // A struct of vectors and sorted sets always serialises; an empty text would only refuse more.
        Sha256::digest(serde_json::to_vec(self).unwrap_or_default()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: NameCase = NameCase::AsciiInsensitive;

    #[test]
    fn patterns_read_and_print() {
        for text in ["*.users", "main.users", "main.users.email", "\"a.b\".c*.d?"] {
            assert_eq!(text.parse::<Pattern>().unwrap().to_string(), text);
        }
        assert_eq!("users".parse::<Pattern>().unwrap().to_string(), "*.users");
        for text in ["", "a..b", "a.b.c.d", "\"x"] {
            assert!(text.parse::<Pattern>().is_err(), "{text}");
        }
    }

    #[test]
    fn deny_is_stronger_than_allow() {
        let p = Policy::default().allow("sales_*").unwrap().deny("sales_secret").unwrap();
        let name = |n: &str| ObjectName::within("main", n);
        assert_eq!(p.scope(&name("Sales_2024"), CASE), Scope::Whole);
        assert_eq!(p.scope(&name("sales_secret"), CASE), Scope::Nothing);
        assert_eq!(p.scope(&name("users"), CASE), Scope::Nothing);
    }

    #[test]
    fn columns_have_rules_of_their_own() {
        let p = Policy::default().deny("*.users.email").unwrap();
        let users = ObjectName::within("main", "users");
        assert_eq!(p.scope(&users, CASE), Scope::Columns);
        assert!(!p.column(&users, "EMAIL", CASE));
        assert!(p.column(&users, "name", CASE));
        let only = Policy::default().allow("main.users.id").unwrap();
        assert_eq!(only.scope(&users, CASE), Scope::Columns);
        assert!(only.column(&users, "id", CASE));
        assert!(!only.column(&users, "name", CASE));
        assert_eq!(only.scope(&ObjectName::within("main", "orders"), CASE), Scope::Nothing);
    }

    #[test]
    fn a_wild_card_allows_nothing_by_name() {
        let schema = ObjectName::within("main", "Definitions");
        let allows = |rule: &str| Policy::default().allow(rule).unwrap().allows_by_name(&schema, CASE);
        assert!(allows("definitions") && allows("main.definitions") && allows("*.definitions.name"));
        assert!(
            !allows("*") && !allows("def*") && !allows("main.definition?") && !allows("temp.definitions")
        );
        assert!(!Policy::default().hides() && Policy::default().deny("x").unwrap().hides());
    }

    #[test]
    fn a_name_without_a_namespace_is_denied_by_a_rule_for_any() {
        let p = Policy::default().deny("main.users").unwrap();
        assert_eq!(p.scope(&ObjectName::new("users"), CASE), Scope::Nothing);
        let p = Policy::default().allow("main.users").unwrap();
        assert_eq!(p.scope(&ObjectName::new("users"), CASE), Scope::Nothing);
    }

    #[test]
    fn wild_cards_do_not_run_away() {
        let name = "a".repeat(2_000);
        assert!(!CASE.matches(&("a*".repeat(50) + "b"), &name));
        assert!(CASE.matches("*a*", &name));
    }

    #[test]
    fn another_rule_is_another_digest() {
        assert_ne!(Policy::default().digest(), Policy::default().deny("x").unwrap().digest());
    }

    #[test]
    fn a_denied_function_cannot_hide_behind_its_schema() {
        let deny = |name: &str| Policy { deny_functions: [name.to_owned()].into(), ..Policy::default() };
        for (rule, call) in [
            ("pg_sleep", "pg_catalog.pg_sleep"),
            ("pg_catalog.pg_sleep", "PG_SLEEP"),
            ("pg_catalog.pg_sleep", "pg_catalog.PG_sleep"),
        ] {
            assert_eq!(deny(rule).function(call), Some(RuleEffect::Deny), "{rule}: {call}");
        }
        assert_eq!(deny("app.sleep").function("pg_catalog.sleep"), None);
        // What is allowed is allowed as it is written, and nothing of the same last name elsewhere.
        let allow = Policy { allow_functions: ["slug".to_owned()].into(), ..Policy::default() };
        assert_eq!(allow.function("Slug"), Some(RuleEffect::Allow));
        assert_eq!(allow.function("evil.slug"), None);
    }
}

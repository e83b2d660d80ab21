//! What only the settings of the session can tell of a statement.

use dbagent_core::guard::{Finding, Parsed, Rule};
use dbagent_core::{Effects, ObjectName, Settings};

use super::secret::{resets, secret, tells_all};
use crate::flavor::Flavor;
use crate::functions;
use crate::ident::is_possible;
use crate::lex::{self, Mode};

/// Adds what the version, the mode and the default database say.
pub(super) fn settle(flavor: &Flavor, settings: &Settings, parsed: &mut Parsed) {
    functions::correct(flavor, lex::version(flavor.server(), settings), parsed);
    if let Some(mode) = Mode::of(settings).foreign {
        parsed.effects |= Effects::UNKNOWN;
        parsed.findings.push(
            Finding::new(
                Rule::EngineDisagrees,
                format!("the server reads statements in its {mode} mode"),
                None,
            )
            .advice("Ask the operator to take that word out of sql_mode."),
        );
    }
    parsed.findings.extend(impossible(parsed));
    let space = settings.get("default_namespace");
    let mut found: Vec<Finding> = Vec::new();
    for (index, object) in parsed.objects.iter().enumerate() {
        let name = match (&object.name.namespace, space) {
            (None, Some(space)) => ObjectName::within(space, object.name.name.as_str()),
            _ => object.name.clone(),
        };
        if tells_all(&name) {
            parsed.tell_all.push(index);
        }
        if resets(&name) {
            let what = format!("reading {name} sets the server's counters to zero");
            let advice = "Read the table of that name without _reset.";
            found.push(Finding::new(Rule::Maintenance, what, object.span).advice(advice));
        }
        if let Some(what) = secret(&name)
            && !found.iter().any(|f| f.message == what)
        {
            found.push(Finding::new(Rule::SecretCatalogue, what, object.span).choice("secret_catalog"));
        }
    }
    parsed.findings.extend(found);
}

/// A name that neither server can have: what is asked for is then not what is read.
fn impossible(parsed: &Parsed) -> Option<Finding> {
    let beyond = |name: &str| !is_possible(name);
    let objects = parsed.objects.iter().map(|object| {
        let space = object.name.namespace.as_deref().unwrap_or_default();
        (beyond(space) || beyond(&object.name.name), object.span)
    });
    let columns =
        parsed.columns.iter().map(|column| (column.column.as_deref().is_some_and(beyond), column.span));
    let (_, span) = objects.chain(columns).find(|(is_beyond, _)| *is_beyond)?;
    let what = "the name holds a character that names cannot have here, such as an emoji";
    Some(Finding::new(Rule::EngineDisagrees, what, span).advice("Name the table or column as it is listed."))
}

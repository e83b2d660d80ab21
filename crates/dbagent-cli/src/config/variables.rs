//! `${VAR}` in the texts of a configuration.

use toml::Value;

use super::origin::Origins;
use super::{Environment, Problem};

/// Replaces `${VAR}` and `${VAR:-default}` in every text by the environment's value; `$${` is a plain `${`.
pub(super) fn expand(
    table: &mut toml::Table,
    origins: &mut Origins,
    environment: Environment<'_>,
) -> Result<(), Problem> {
    for (key, value) in table.iter_mut() {
        walk(value, &mut vec![key.clone()], origins, environment)?;
    }
    Ok(())
}

fn walk(
    value: &mut Value,
    path: &mut Vec<String>,
    origins: &mut Origins,
    environment: Environment<'_>,
) -> Result<(), Problem> {
    match value {
        Value::String(text) => {
            if text.contains("${") {
                *text = text_of(text, path, origins, environment)?;
            }
            Ok(())
        }
        Value::Array(items) => items.iter_mut().enumerate().try_for_each(|(i, item)| {
            path.push(i.to_string());
            let walked = walk(item, path, origins, environment);
            path.pop();
            walked
        }),
        Value::Table(table) => table.iter_mut().try_for_each(|(key, item)| {
            path.push(key.clone());
            let walked = walk(item, path, origins, environment);
            path.pop();
            walked
        }),
        _ => Ok(()),
    }
}

fn text_of(
    text: &str,
    path: &[String],
    origins: &mut Origins,
    environment: Environment<'_>,
) -> Result<String, Problem> {
    let key = path.join(".");
    let line = origins.line(path);
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        if let Some(plain) = before.strip_suffix('$') {
            out.push_str(plain);
            out.push_str("${");
            rest = after;
            continue;
        }
        out.push_str(before);
        let Some((name, tail)) = after.split_once('}') else {
            return Err(Problem {
                message: format!("the text of {key} has a ${{ without a }}"),
                line,
                hint: Some("write $${ for a plain ${".to_owned()),
            });
        };
        let (name, default) = match name.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (name, None),
        };
        let good = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(good) {
            return Err(Problem {
                message: format!("the text of {key} has a ${{…}} that names no environment variable"),
                line,
                hint: Some("a name is letters, digits and _; write $${ for a plain ${".to_owned()),
            });
        }
        match environment(name).or_else(|| default.map(str::to_owned)) {
            Some(value) => out.push_str(&value),
            None => {
                return Err(Problem {
                    message: format!("{key} needs the environment variable {name}, which is not set"),
                    line,
                    hint: Some(format!("set {name}, or give a default: ${{{name}:-default}}")),
                });
            }
        }
        origins.note_variable(path, name);
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Result<String, String> {
        let environment = |name: &str| match name {
            "A" => Some("1".to_owned()),
            "B" => Some("${A}".to_owned()),
            _ => None,
        };
        let mut origins = Origins::default();
        text_of(text, &["k".to_owned()], &mut origins, &environment).map_err(|p| p.message)
    }

    #[test]
    fn variables_are_replaced_once() {
        assert_eq!(expanded("x${A}y${A}").unwrap(), "x1y1");
        assert_eq!(expanded("${B}").unwrap(), "${A}");
        assert_eq!(expanded("${C:-d e}").unwrap(), "d e");
        assert_eq!(expanded("${C:-}").unwrap(), "");
        assert_eq!(expanded("$${A} $A $").unwrap(), "${A} $A $");
    }

    #[test]
    fn what_is_no_variable_is_an_error() {
        assert!(expanded("${C}").unwrap_err().contains("k needs the environment variable C"));
        assert!(expanded("${A").unwrap_err().contains("without a }"));
        assert!(expanded("${a-b}").unwrap_err().contains("names no environment variable"));
    }
}

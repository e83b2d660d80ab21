//! Values as the server's own text, of columns that arrive through a cursor.

use dbagent_core::rows::{Cell, RowWriter, mixed_json};
use dbagent_core::{Error, ErrorKind, Result};

use super::{Shape, quoted};

/// Writes one value into a column: the same value as from its binary form.
///
/// # Errors
/// [`ErrorKind::TooLarge`] over the cell cap; [`ErrorKind::Internal`] for a text that is no such value.
pub(crate) fn write(shape: &Shape, bytes: &[u8], writer: &mut RowWriter) -> Result<()> {
    let Ok(text) = std::str::from_utf8(bytes) else { return writer.bytes(bytes) };
    match shape {
        Shape::Int2 | Shape::Int4 | Shape::Int8 | Shape::Oid => writer.int(text.parse().map_err(malformed)?),
        Shape::Float4 | Shape::Float8 => writer.float(text.parse().map_err(malformed)?),
        Shape::Bool => writer.bool(text == "t"),
        Shape::Bytes => writer.bytes(&binary(text).ok_or_else(|| malformed("bytea"))?),
        Shape::Money(units) => writer.text(&money(text, *units)),
        Shape::Json | Shape::Jsonb => writer.json(text),
        Shape::Array(_) | Shape::Composite(_) => writer.json(&json(shape, text)?),
        _ => writer.text(text),
    }
}

/// The JSON text of a value, as it stands inside an array or a composite.
fn json(shape: &Shape, text: &str) -> Result<String> {
    Ok(match shape {
        // As they stand: numbers and JSON are JSON.
        Shape::Int2 | Shape::Int4 | Shape::Int8 | Shape::Oid | Shape::Json | Shape::Jsonb => text.to_owned(),
        Shape::Float4 | Shape::Float8 => mixed_json(&Cell::Float(text.parse().map_err(malformed)?)),
        Shape::Bool => (text == "t").to_string(),
        Shape::Bytes => mixed_json(&Cell::Bytes(&binary(text).ok_or_else(|| malformed("bytea"))?)),
        Shape::Money(units) => quoted(&money(text, *units)),
        Shape::Array(element) => array(element, text)?,
        Shape::Composite(attributes) => composite(attributes, text)?,
        _ => quoted(text),
    })
}

/// `\x00ff`.
fn binary(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("\\x")?.as_bytes();
    digits
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => {
                let digit = |b: &u8| char::from(*b).to_digit(16);
                u8::try_from(digit(high)? * 16 + digit(low)?).ok()
            }
            _ => None,
        })
        .collect()
}

/// The digits of an amount: symbol and separators are those of the locale, the decimals are known.
fn money(text: &str, units: i64) -> String {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let negative = text.contains(['-', '(']);
    let mut out = String::new();
    match digits.parse::<u64>() {
        Ok(amount) => {
            if negative {
                out.push('-');
            }
            let units = units.unsigned_abs().max(1);
            let decimals = usize::try_from(units.ilog10()).unwrap_or_default();
            out.push_str(&(amount / units).to_string());
            if decimals > 0 {
                out.push_str(&format!(".{:0decimals$}", amount % units));
            }
            out
        }
        Err(_) => text.to_owned(),
    }
}

/// `{1,NULL,"a b"}`, nested for each dimension, after `[0:1]=` where counting does not start at 1.
fn array(element: &Shape, text: &str) -> Result<String> {
    let (bounds, body) = match text.split_once("]=") {
        Some((bounds, body)) if text.starts_with('[') => (Some(bounds), body),
        _ => (None, text),
    };
    let mut chars = body.chars().peekable();
    let mut out = String::new();
    if let Some(bounds) = bounds {
        let lower: Vec<&str> = bounds
            .split(']')
            .filter_map(|part| part.trim_start_matches('[').split_once(':').map(|(low, _)| low))
            .collect();
        out.push_str(&format!("{{\"lower_bounds\":[{}],\"elements\":", lower.join(",")));
    }
    elements(element, &mut chars, &mut out)?;
    if bounds.is_some() {
        out.push('}');
    }
    Ok(out)
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn elements(element: &Shape, chars: &mut Chars<'_>, out: &mut String) -> Result<()> {
    if chars.next() != Some('{') {
        return Err(malformed("array"));
    }
    out.push('[');
    let mut first = true;
    while chars.peek() != Some(&'}') {
        if !first {
            out.push(',');
        }
        first = false;
        if chars.peek() == Some(&'{') {
            elements(element, chars, out)?;
        } else {
            let (word, in_quotes) = word(chars, &[',', '}'])?;
            if !in_quotes && word.eq_ignore_ascii_case("null") {
                out.push_str("null");
            } else {
                out.push_str(&json(element, &word)?);
            }
        }
        match chars.peek() {
            Some(',') => _ = chars.next(),
            Some('}') => {}
            _ => return Err(malformed("array")),
        }
    }
    chars.next();
    out.push(']');
    Ok(())
}

/// `(1,,"a ""b""")`: nothing between commas is NULL.
fn composite(attributes: &[(String, Shape)], text: &str) -> Result<String> {
    let mut chars = text.chars().peekable();
    if chars.next() != Some('(') {
        return Err(malformed("composite"));
    }
    let mut out = String::from("{");
    for (i, (name, shape)) in attributes.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        let (word, in_quotes) = word(&mut chars, &[',', ')'])?;
        out.push_str(&quoted(name));
        out.push(':');
        if word.is_empty() && !in_quotes {
            out.push_str("null");
        } else {
            out.push_str(&json(shape, &word)?);
        }
        chars.next();
    }
    out.push('}');
    Ok(out)
}

/// One element up to one of the ends; whether any of it was in quotes. A quote inside quotes is escaped by a
/// backslash or doubled.
fn word(chars: &mut Chars<'_>, ends: &[char]) -> Result<(String, bool)> {
    let (mut word, mut in_quotes, mut open) = (String::new(), false, false);
    loop {
        match chars.peek() {
            None => return Err(malformed("value")),
            Some(c) if !open && ends.contains(c) => return Ok((word, in_quotes)),
            Some('\\') => {
                chars.next();
                word.extend(chars.next());
            }
            Some('"') => {
                chars.next();
                if open && chars.peek() == Some(&'"') {
                    chars.next();
                    word.push('"');
                } else {
                    open = !open;
                    in_quotes = true;
                }
            }
            Some(_) => word.extend(chars.next()),
        }
    }
}

fn malformed(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Internal, "the server sent a text that is not of the type that it announced")
        .with("reason", why)
        .hint("cast the column to text in the statement")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_and_composites_are_read() {
        let ints = Shape::Array(Box::new(Shape::Int4));
        let texts = Shape::Array(Box::new(Shape::Text));
        assert_eq!(json(&ints, "{}").unwrap(), "[]");
        assert_eq!(json(&ints, "{1,NULL,-3}").unwrap(), "[1,null,-3]");
        assert_eq!(json(&ints, "{{1,2},{3,4}}").unwrap(), "[[1,2],[3,4]]");
        assert_eq!(json(&ints, "[0:1]={1,2}").unwrap(), "{\"lower_bounds\":[0],\"elements\":[1,2]}");
        assert_eq!(json(&texts, r#"{"a,b","NULL",NULL,"q\"\\"}"#).unwrap(), r#"["a,b","NULL",null,"q\"\\"]"#);
        let pair = Shape::Composite(vec![("a".into(), Shape::Int4), ("b".into(), Shape::Text)]);
        assert_eq!(json(&pair, r#"(1,"x ""y""")"#).unwrap(), r#"{"a":1,"b":"x \"y\""}"#);
        assert_eq!(json(&pair, "(,\"\")").unwrap(), r#"{"a":null,"b":""}"#);
        assert!(json(&ints, "{1").is_err() && json(&pair, "1").is_err());
    }

    #[test]
    fn money_of_any_locale_is_a_number() {
        for (text, expected) in [("$1,234.56", "1234.56"), ("-$0.05", "-0.05"), ("(1.234,56 €)", "-1234.56")]
        {
            assert_eq!(money(text, 100), expected);
        }
    }
}

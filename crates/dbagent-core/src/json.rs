//! A strict JSON reader for tool arguments and JSON requests.
//!
//! What a model writes is judged before anything else may interpret it, so two readers must never see two
//! documents: a key that appears twice (after unescaping) is refused, the order of keys is kept, numbers
//! keep their digits, depth and size are capped, and nothing may follow the value.

use std::fmt;

use crate::error::{Error, ErrorKind};

/// A JSON value with its keys in order and its numbers as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// The digits as written; always a valid JSON number.
    Number(String),
    /// A text, unescaped.
    String(String),
    /// Items in order.
    Array(Vec<Json>),
    /// Members in order; no key appears twice.
    Object(Vec<(String, Json)>),
}

/// How large and how deep a document may be.
#[derive(Debug, Clone, Copy)]
pub struct JsonLimits {
    /// Most bytes of text.
    pub bytes: usize,
    /// Deepest nesting of arrays and objects.
    pub depth: usize,
}

impl Default for JsonLimits {
    /// 1 MiB, 100 levels.
    fn default() -> Self {
        Self { bytes: 1 << 20, depth: 100 }
    }
}

/// Why a document was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} at byte {at} ({path})")]
pub struct JsonError {
    /// What is wrong.
    pub message: String,
    /// Byte offset in the text.
    pub at: usize,
    /// Where in the document, as `$.a[2].b`.
    pub path: String,
}

impl From<JsonError> for Error {
    fn from(e: JsonError) -> Self {
        Error::new(ErrorKind::InvalidRequest, format!("the JSON cannot be read: {}", e.message))
            .with("path", &e.path)
            .at(e.at)
            .source(e)
    }
}

impl Json {
    /// Reads one value.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place: malformed text, a duplicate key, a lone surrogate,
    /// text after the value, a limit.
    pub fn parse(text: &str, limits: JsonLimits) -> Result<Json, JsonError> {
        let mut reader = Reader { text, at: 0, depth: 0, limits, path: Vec::new() };
        if text.len() > limits.bytes {
            return Err(reader.error(format!(
                "the document has {} bytes, at most {} are read",
                crate::text::thousands(text.len() as u64),
                crate::text::thousands(limits.bytes as u64)
            )));
        }
        reader.space();
        let value = reader.value()?;
        reader.space();
        if reader.at < text.len() {
            return Err(reader.error("text follows the value"));
        }
        Ok(value)
    }

    /// The member of that key, when this is an object.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The text, when this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(s) => Some(s),
            _ => None,
        }
    }

    /// The items, when this is an array.
    pub fn as_array(&self) -> Option<&[Json]> {
        match self {
            Json::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The members in order, when this is an object.
    pub fn as_object(&self) -> Option<&[(String, Json)]> {
        match self {
            Json::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The value, when this is a number without fraction or exponent that fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Json::Number(n) => n.parse().ok(),
            _ => None,
        }
    }

    /// The value, when this is a number without fraction or exponent that fits.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Json::Number(n) => n.parse().ok(),
            _ => None,
        }
    }

    /// The nearest double, when this is a number.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Json::Number(n) => n.parse().ok(),
            _ => None,
        }
    }

    /// The truth value, when this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(b) => Some(*b),
            _ => None,
        }
    }

    /// What kind of value it is, for messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "boolean",
            Json::Number(_) => "number",
            Json::String(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }

    /// The same value for libraries that speak serde's. Numbers beyond 64 bits become doubles there,
    /// those beyond every double texts.
    pub fn to_value(&self) -> serde_json::Value {
        use serde_json::Value;
        match self {
            Json::Null => Value::Null,
            Json::Bool(b) => Value::Bool(*b),
            // A number beyond every double stays a text, so that a reader of numbers refuses it.
            Json::Number(n) => serde_json::from_str(n).unwrap_or_else(|_| Value::String(n.clone())),
            Json::String(s) => Value::String(s.clone()),
            Json::Array(items) => Value::Array(items.iter().map(Json::to_value).collect()),
            Json::Object(members) => {
                Value::Object(members.iter().map(|(k, v)| (k.clone(), v.to_value())).collect())
            }
        }
    }
}

impl fmt::Display for Json {
    /// The compact text of the value: one normal form, members in order, numbers as written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(b) => write!(f, "{b}"),
            Json::Number(n) => f.write_str(n),
            Json::String(s) => write_string(f, s),
            Json::Array(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        f.write_str(",")?;
                    }
                    item.fmt(f)?;
                }
                f.write_str("]")
            }
            Json::Object(members) => {
                f.write_str("{")?;
                for (i, (key, value)) in members.iter().enumerate() {
                    if i > 0 {
                        f.write_str(",")?;
                    }
                    write_string(f, key)?;
                    f.write_str(":")?;
                    value.fmt(f)?;
                }
                f.write_str("}")
            }
        }
    }
}

fn write_string(f: &mut fmt::Formatter<'_>, s: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in s.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if (c as u32) < 0x20 => write!(f, "\\u{:04x}", c as u32)?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

enum Step {
    Key(String),
    Index(usize),
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    limits: JsonLimits,
    path: Vec<Step>,
}

impl Reader<'_> {
    fn error(&self, message: impl Into<String>) -> JsonError {
        let mut path = String::from("$");
        for step in &self.path {
            match step {
                Step::Key(k) => {
                    path.push('.');
                    path.extend(k.chars().take(64));
                }
                Step::Index(i) => path.push_str(&format!("[{i}]")),
            }
        }
        JsonError { message: message.into(), at: self.at, path }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Result<Json, JsonError> {
        match self.peek() {
            None => Err(self.error("the text ends where a value is expected")),
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => Ok(Json::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => {
                for (word, value) in
                    [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))]
                {
                    if self.text.as_bytes().get(self.at..).is_some_and(|t| t.starts_with(word.as_bytes())) {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                Err(self.error("a value is expected"))
            }
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Json, JsonError>) -> Result<Json, JsonError> {
        if self.depth == self.limits.depth {
            return Err(self.error(format!("nested deeper than {} levels", self.limits.depth)));
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn array(&mut self) -> Result<Json, JsonError> {
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            self.path.push(Step::Index(items.len()));
            self.space();
            items.push(self.value()?);
            self.path.pop();
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Json::Array(items));
                }
                _ => return Err(self.error("',' or ']' is expected")),
            }
        }
    }

    fn object(&mut self) -> Result<Json, JsonError> {
        let mut members: Vec<(String, Json)> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(members));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return Err(self.error("a key in double quotes is expected"));
            }
            let at = self.at;
            let key = self.string()?;
            if !seen.insert(key.clone()) {
                self.at = at;
                self.path.push(Step::Key(key));
                return Err(self.error("the key appears twice"));
            }
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.error("':' is expected"));
            }
            self.at += 1;
            self.space();
            self.path.push(Step::Key(key.clone()));
            let value = self.value()?;
            self.path.pop();
            members.push((key, value));
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Json::Object(members));
                }
                _ => return Err(self.error("',' or '}' is expected")),
            }
        }
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let start = self.at;
            while self.peek().is_some_and(|b| b != b'"' && b != b'\\' && b >= 0x20) {
                self.at += 1;
            }
            out.push_str(self.text.get(start..self.at).unwrap_or_default());
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    self.at += 1;
                    out.push(self.escape()?);
                }
                Some(_) => return Err(self.error("a control character in a string must be escaped")),
                None => return Err(self.error("the string does not end")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let Some(byte) = self.peek() else { return Err(self.error("the string does not end")) };
        self.at += 1;
        Ok(match byte {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let high = self.hex4()?;
                let code = if (0xd800..0xdc00).contains(&high) {
                    if self.text.as_bytes().get(self.at..self.at + 2) != Some(b"\\u") {
                        return Err(self.error("half of a surrogate pair"));
                    }
                    self.at += 2;
                    let low = self.hex4()?;
                    if !(0xdc00..0xe000).contains(&low) {
                        return Err(self.error("half of a surrogate pair"));
                    }
                    0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)
                } else {
                    high
                };
                char::from_u32(code).ok_or_else(|| self.error("half of a surrogate pair"))?
            }
            _ => return Err(self.error("an unknown escape")),
        })
    }

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let digits =
            self.text.as_bytes().get(self.at..self.at + 4).filter(|d| d.iter().all(u8::is_ascii_hexdigit));
        let code =
            digits.and_then(|d| std::str::from_utf8(d).ok()).and_then(|d| u32::from_str_radix(d, 16).ok());
        match code {
            Some(code) => {
                self.at += 4;
                Ok(code)
            }
            None => Err(self.error("four hexadecimal digits are expected")),
        }
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<Json, JsonError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let zero = self.peek() == Some(b'0');
        match self.digits() {
            0 => return Err(self.error("a digit is expected")),
            n if zero && n > 1 => return Err(self.error("a number does not start with 0")),
            _ => {}
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return Err(self.error("a digit is expected"));
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if self.digits() == 0 {
                return Err(self.error("a digit is expected"));
            }
        }
        Ok(Json::Number(self.text.get(start..self.at).unwrap_or_default().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Json, JsonError> {
        Json::parse(text, JsonLimits::default())
    }

    #[test]
    fn order_and_digits_are_kept() {
        let text = r#"{"b":1.50,"a":[null,true,"x\n"],"n":12345678901234567890}"#;
        assert_eq!(parse(text).unwrap().to_string(), text);
    }

    #[test]
    fn a_key_twice_is_refused_also_when_escaped() {
        let e = parse(r#"{"a":{"k":1,"\u006b":2}}"#).unwrap_err();
        assert_eq!((e.path.as_str(), e.message.as_str()), ("$.a.k", "the key appears twice"));
    }

    #[test]
    fn broken_texts_are_refused() {
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\":}",
            "01",
            "1.",
            "+1",
            "nul",
            "\"\\ud800\"",
            "\"\\x\"",
            "\"\u{1}\"",
            "1 2",
            "{a:1}",
            "\"open",
            "[1}",
            "-",
            "1e",
            "NaN",
            "\u{feff}1",
            "\"\\u12\"",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn depth_and_size_are_capped() {
        let deep = "[".repeat(101) + &"]".repeat(101);
        assert!(parse(&deep).unwrap_err().message.contains("100 levels"));
        assert!(parse(&("[".repeat(100) + &"]".repeat(100))).is_ok());
        let long = format!("\"{}\"", "x".repeat(1 << 20));
        assert!(parse(&long).unwrap_err().message.contains("bytes"));
    }
}

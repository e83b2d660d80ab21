//! Texts that come in: from an argument, a file or standard input; checked before anything is done with them.

use std::io::{self, Read};

use dbagent::{Error, ErrorKind};

/// The most bytes of a question.
pub(crate) const MAX_QUESTION: usize = 64 << 10;
/// The most bytes of a statement that are read; what may run is less, and the guard says so.
pub(crate) const MAX_STATEMENT: usize = 16 << 20;

/// A text from standard input, whole.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] for one that is too long or no UTF-8 text.
pub(crate) fn from_stdin(what: &str, most: usize) -> Result<String, Error> {
    read(io::stdin().lock(), what, most)
}

fn read(from: impl Read, what: &str, most: usize) -> Result<String, Error> {
    let mut bytes = Vec::new();
    from.take(most as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| invalid(format!("the {what} cannot be read from standard input")).source(e))?;
    if bytes.len() > most {
        return Err(invalid(format!(
            "the {what} on standard input has more than {} bytes, which is the most that is read",
            dbagent::text::thousands(most as u64)
        )));
    }
    String::from_utf8(bytes).map_err(|e| {
        invalid(format!("the {what} on standard input is not UTF-8 text"))
            .with("byte", e.utf8_error().valid_up_to())
    })
}

/// Why a file cannot be read, in words of people.
pub(crate) fn reason(e: &io::Error) -> String {
    match e.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "this account may not read it".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => e.to_string(),
    }
}

/// A question that can be asked.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] for an empty one, one that is too long, or one that holds a NUL.
pub(crate) fn question(text: &str) -> Result<String, Error> {
    let text = text.trim();
    if text.is_empty() {
        return Err(
            invalid("the question is empty").hint("ask something, such as \"How many customers are there?\"")
        );
    }
    if text.len() > MAX_QUESTION {
        return Err(invalid(format!(
            "the question has {} bytes, at most {} are read",
            dbagent::text::thousands(text.len() as u64),
            dbagent::text::thousands(MAX_QUESTION as u64)
        ))
        .hint("put data into the database, not into the question"));
    }
    if text.contains('\0') {
        return Err(invalid("the question holds a NUL character, so it is no text"));
    }
    Ok(text.to_owned())
}

/// An input that cannot be used.
pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_question_is_said() {
        assert!(question(" \n").unwrap_err().to_string().contains("empty"));
        assert!(question(&"x".repeat(1 << 20)).unwrap_err().to_string().contains("1,048,576 bytes"));
        assert!(question("a\0b").unwrap_err().to_string().contains("NUL"));
        assert_eq!(question(" a? ").unwrap(), "a?");
    }

    #[test]
    fn inputs_are_texts_of_a_size() {
        assert_eq!(read(&b"SELECT 1"[..], "statement", 8).unwrap(), "SELECT 1");
        assert!(
            read(&b"SELECT 1 "[..], "statement", 8).unwrap_err().to_string().contains("more than 8 bytes")
        );
        let e = read(&b"SEL\xff"[..], "statement", 8).unwrap_err();
        assert!(e.to_string().contains("not UTF-8 text (byte: 3)"), "{e}");
    }
}

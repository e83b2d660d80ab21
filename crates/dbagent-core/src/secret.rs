//! Secrets that cannot be printed.
//!
//! Passwords, keys and tokens live in [`Secret`]: no `Display`, no `Serialize`, and a `Debug` that hides.
//! Whoever needs the text calls [`Secret::expose`], which is easy to search for.

use std::fmt;

/// A text that must never be shown.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that hands it to a driver or a header.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing to hide.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("****")
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_hides() {
        assert_eq!(format!("{:?}", Some(Secret::new("canary"))), "Some(****)");
    }
}

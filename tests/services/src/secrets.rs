//! Passwords of test accounts: random, and of letters and digits only, so that no URL needs escapes.

use crate::error::{Doing as _, Result};

/// A new password.
pub(crate) fn password() -> Result<String> {
    let mut bytes = [0; 12];
    getrandom::fill(&mut bytes).doing(|| "the system gave no random bytes".into())?;
    Ok(hex(&bytes))
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_passwords_differ_and_need_no_escapes() {
        let (one, two) = (password().unwrap(), password().unwrap());
        assert_ne!(one, two);
        assert!(one.len() == 24 && one.chars().all(|letter| letter.is_ascii_alphanumeric()), "{one}");
    }
}

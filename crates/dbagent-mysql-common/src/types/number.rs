//! Exact numbers, which the servers send as text.

use dbagent_core::arrow_array::types::{ArrowPrimitiveType, Decimal256Type};

type I256 = <Decimal256Type as ArrowPrimitiveType>::Native;

/// An exact number by its digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    /// How many digits follow the point.
    pub(super) scale: i8,
}

impl<'a> Number<'a> {
    /// Reads digits with an optional sign and point.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        let good = all(whole) && all(fraction) && whole.len() + fraction.len() > 0;
        let scale = i8::try_from(fraction.len()).ok()?;
        good.then_some(Self { negative, whole, fraction, scale })
    }

    /// Its digits without the point, if there are at most 38.
    pub(super) fn narrow(&self) -> Option<i128> {
        const MOST: i128 = 10_i128.pow(38) - 1;
        let mut value: i128 = 0;
        for digit in self.whole.bytes().chain(self.fraction.bytes()) {
            value = value.checked_mul(10)?.checked_add(i128::from(digit - b'0'))?;
        }
        (value <= MOST).then_some(if self.negative { -value } else { value })
    }

    /// Its digits without the point, if there are at most 76.
    pub(super) fn wide(&self) -> Option<I256> {
        let sign = if self.negative { "-" } else { "" };
        let digits = self.whole.trim_start_matches('0').len() + self.fraction.len();
        if digits > 76 {
            return None;
        }
        I256::from_string(&format!("{sign}{}{}", self.whole, self.fraction))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_digit_by_digit() {
        let number = |text| Number::read(text).unwrap();
        assert_eq!((number("-12.50").narrow(), number("-12.50").scale), (Some(-1250), 2));
        assert_eq!(number("0").narrow(), Some(0));
        assert_eq!(number(".5").narrow(), Some(5));
        let nines = "9".repeat(38);
        assert_eq!(number(&nines).narrow().map(|n| n.to_string()), Some(nines.clone()));
        let one_more = format!("1{}", "0".repeat(38));
        assert_eq!(number(&one_more).narrow(), None);
        let long = format!("-{}", "9".repeat(65));
        assert_eq!(number(&long).wide().map(|n| n.to_string()), Some(long));
        for bad in ["", "-", ".", "1e5", "1.2.3", "+1", " 1"] {
            assert_eq!(Number::read(bad), None, "{bad:?}");
        }
    }
}

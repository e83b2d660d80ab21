//! Numbers that are shown as text: exact ones, money, bits.

use std::fmt::Write as _;

use dbagent_core::Result;

use super::binary::{Wire, malformed};

/// A `float4` as the double that prints the same digits, so that 0.1 stays 0.1.
pub(super) fn widened(x: f32) -> f64 {
    if x.is_finite() { x.to_string().parse().unwrap_or_else(|_| f64::from(x)) } else { f64::from(x) }
}

/// Digits to the base 10,000, with the place of the first and how many decimals to show.
pub(super) fn numeric(wire: &mut Wire<'_>, out: &mut String) -> Result<()> {
    let count = wire.u16()?;
    let weight = i32::from(wire.i16()?);
    let sign = wire.u16()?;
    let scale = usize::from(wire.u16()?);
    match sign {
        0x0000 => {}
        0x4000 => out.push('-'),
        0xC000 => {
            out.push_str("NaN");
            return Ok(());
        }
        0xD000 => {
            out.push_str("Infinity");
            return Ok(());
        }
        0xF000 => {
            out.push_str("-Infinity");
            return Ok(());
        }
        _ => return Err(malformed()),
    }
    let mut digits = Vec::with_capacity(usize::from(count));
    for _ in 0..count {
        let digit = wire.u16()?;
        if digit > 9_999 {
            return Err(malformed());
        }
        digits.push(digit);
    }
    let digit = |place: i32| {
        usize::try_from(weight - place).ok().and_then(|i| digits.get(i).copied()).unwrap_or_default()
    };
    // Writing to a String cannot fail.
    if weight < 0 {
        out.push('0');
    } else {
        _ = write!(out, "{}", digit(weight));
        for place in (0..weight).rev() {
            _ = write!(out, "{:04}", digit(place));
        }
    }
    if scale > 0 {
        out.push('.');
        let start = out.len();
        let mut place = -1;
        while out.len() - start < scale {
            _ = write!(out, "{:04}", digit(place));
            place -= 1;
        }
        out.truncate(start + scale);
    }
    Ok(())
}

/// An amount as a plain decimal number: the server's own text has a symbol and separators of its locale.
pub(super) fn money(amount: i64, units: i64, out: &mut String) {
    let units = units.unsigned_abs().max(1);
    let decimals = usize::try_from(units.ilog10()).unwrap_or_default();
    let (whole, rest) = (amount.unsigned_abs() / units, amount.unsigned_abs() % units);
    let sign = if amount < 0 { "-" } else { "" };
    // Writing to a String cannot fail.
    _ = write!(out, "{sign}{whole}");
    if decimals > 0 {
        _ = write!(out, ".{rest:0decimals$}");
    }
}

/// Ones and zeros.
pub(super) fn bits(wire: &mut Wire<'_>, out: &mut String) -> Result<()> {
    let mut left = usize::try_from(wire.i32()?).map_err(|_| malformed())?;
    if wire.0.len() < left.div_ceil(8) {
        return Err(malformed());
    }
    for byte in wire.0 {
        for bit in (0..8).rev().take(left) {
            out.push(if byte >> bit & 1 == 1 { '1' } else { '0' });
        }
        left = left.saturating_sub(8);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn money_text(amount: i64, units: i64) -> String {
        let mut out = String::new();
        money(amount, units, &mut out);
        out
    }

    #[test]
    fn money_has_the_decimals_of_its_locale() {
        assert_eq!(money_text(123_456, 100), "1234.56");
        assert_eq!(money_text(-5, 100), "-0.05");
        assert_eq!(money_text(1_234, 1), "1234");
        assert_eq!(money_text(i64::MIN, 1_000), "-9223372036854775.808");
    }

    #[test]
    fn a_short_float_keeps_its_digits() {
        assert_eq!(widened(0.1).to_string(), "0.1");
        assert_eq!(widened(f32::MAX).to_bits(), 3.402_823_5e38_f64.to_bits());
        assert!(widened(f32::NAN).is_nan());
    }
}

//! Single values from the engine's raw bytes.

use std::fmt::Write as _;

use arrow_buffer::i256;
use dbagent_core::{Error, ErrorKind, Result};

/// Bytes of the longest number that is written out: more than 150,000 digits.
const MAX_NUMBER: usize = 64 << 10;
/// The largest offset of a time zone, in seconds, by which the engine keeps offsets.
const MAX_OFFSET: i64 = 16 * 3_600 - 1;

/// A huge integer: 16 bytes, the lowest first.
pub(super) fn huge(bytes: &[u8], signed: bool) -> i256 {
    let bytes: [u8; 16] = bytes.try_into().unwrap_or_default();
    if signed {
        i256::from_i128(i128::from_le_bytes(bytes))
    } else {
        i256::from_parts(u128::from_le_bytes(bytes), 0)
    }
}

fn odd(what: &str) -> Error {
    Error::new(ErrorKind::Internal, format!("the engine's bytes are no {what}")).op("read")
}

/// A UUID: 16 bytes in the order in which they are written.
#[expect(clippy::unnecessary_wraps, reason = "one of several writers, others of which fail")]
pub(super) fn uuid(bytes: &[u8]) -> Result<String> {
    let mut out = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        // Writing to a String cannot fail.
        _ = write!(out, "{byte:02x}");
    }
    Ok(out)
}

/// A time with an offset: microseconds of the day over 24 bits of offset, counted down from the largest.
pub(super) fn time_tz(bytes: &[u8]) -> Result<String> {
    let bits = u64::from_le_bytes(bytes.try_into().map_err(|_| odd("time"))?);
    let micros = bits >> 24;
    let offset = MAX_OFFSET - i64::try_from(bits & 0xff_ffff).unwrap_or_default();
    let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
    let mut out = format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if fraction > 0 {
        let digits = format!("{fraction:06}");
        _ = write!(out, ".{}", digits.trim_end_matches('0'));
    }
    let ahead = offset.unsigned_abs();
    _ = write!(out, "{}{:02}:{:02}", if offset < 0 { '-' } else { '+' }, ahead / 3_600, ahead / 60 % 60);
    if !ahead.is_multiple_of(60) {
        _ = write!(out, ":{:02}", ahead % 60);
    }
    Ok(out)
}

/// A string of bits: how many of the first byte are padding, then the bits.
pub(super) fn bits(bytes: &[u8]) -> Result<String> {
    let (padding, bytes) = bytes.split_first().ok_or_else(|| odd("string of bits"))?;
    let mut all = String::with_capacity(8 * bytes.len());
    for byte in bytes {
        // Writing to a String cannot fail.
        _ = write!(all, "{byte:08b}");
    }
    all.get(usize::from(*padding)..).map(str::to_owned).ok_or_else(|| odd("string of bits"))
}

/// A number of any length: three bytes of sign and length, then its digits to the base of 256. All bytes of
/// a negative one are inverted.
pub(super) fn big_number(bytes: &[u8]) -> Result<String> {
    if bytes.len() > MAX_NUMBER {
        return Err(Error::new(ErrorKind::TooLarge, "a number has too many digits to be written out")
            .op("read")
            .hint("ask for its logarithm, or cast it to VARCHAR and take a part"));
    }
    let (header, digits) = bytes.split_at_checked(3).ok_or_else(|| odd("number"))?;
    let negative = header.first().is_some_and(|b| b & 0x80 == 0);
    let mut limbs: Vec<u32> = digits
        .rchunks(4)
        .map(|chunk| chunk.iter().fold(0, |n, b| (n << 8) | u32::from(if negative { !*b } else { *b })))
        .collect();
    // Groups of nine decimal digits, the lowest first.
    let mut groups: Vec<u64> = Vec::new();
    while limbs.last().is_some_and(|l| *l == 0) {
        limbs.pop();
    }
    while !limbs.is_empty() {
        let mut rest = 0_u64;
        for limb in limbs.iter_mut().rev() {
            let value = (rest << 32) | u64::from(*limb);
            // The quotient fits: the rest is below the divisor.
            *limb = u32::try_from(value / 1_000_000_000).unwrap_or_default();
            rest = value % 1_000_000_000;
        }
        groups.push(rest);
        while limbs.last().is_some_and(|l| *l == 0) {
            limbs.pop();
        }
    }
    let mut out = String::from(if negative && !groups.is_empty() { "-" } else { "" });
    match groups.split_last() {
        None => out.push('0'),
        Some((first, rest)) => {
            _ = write!(out, "{first}");
            for group in rest.iter().rev() {
                _ = write!(out, "{group:09}");
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_none_of_these_are_errors() {
        assert!(time_tz(&[1, 2]).is_err());
        assert!(bits(&[]).is_err());
        assert!(bits(&[9, 0xff]).is_err());
        assert!(big_number(&[0x80]).is_err());
        assert_eq!(big_number(&vec![0x80; MAX_NUMBER + 1]).unwrap_err().kind(), ErrorKind::TooLarge);
    }

    #[test]
    fn values_are_written_as_the_engine_does() {
        assert_eq!(bits(&[3, 0b1111_0101]).unwrap(), "10101");
        assert_eq!(big_number(&[0x80, 0, 1, 0]).unwrap(), "0");
        assert_eq!(big_number(&[0x80, 0, 2, 1, 0]).unwrap(), "256");
        assert_eq!(big_number(&[0x7f, 0xff, 0xfd, 0xfe, 0xff]).unwrap(), "-256");
        assert_eq!(uuid(&[0xf4; 16]).unwrap(), "f4f4f4f4-f4f4-f4f4-f4f4-f4f4f4f4f4f4");
    }
}

//! Numbers of parameters.

use dbagent_core::Param;

use super::Why;

pub(super) fn integer(value: &Param) -> Result<i64, Why> {
    let read = |t: &str| t.trim().parse().map_err(|_| Why::Value("it must be a whole number"));
    match value {
        Param::I64(n) => Ok(*n),
        Param::Text(t) | Param::Decimal(t) => read(t),
        // A whole double has all its digits before the point.
        Param::F64(x) if x.fract() == 0.0 => read(&format!("{x:.0}")),
        _ => Err(Why::Value("it must be a whole number")),
    }
}

pub(super) fn double(value: &Param) -> Result<f64, Why> {
    let wrong = || Why::Value("it must be a number");
    match value {
        Param::F64(x) => Ok(*x),
        Param::I64(n) => n.to_string().parse().map_err(|_| wrong()),
        Param::Text(t) | Param::Decimal(t) => t.trim().parse().map_err(|_| wrong()),
        _ => Err(wrong()),
    }
}

pub(super) fn single(value: &Param) -> Result<f32, Why> {
    // By its digits, so that 0.1 is the 0.1 of the type.
    double(value)?.to_string().parse().map_err(|_| Why::Value("it must be a number"))
}

/// The plain digits of an exact number.
pub(super) fn decimal(value: &Param) -> Result<String, Why> {
    let text = match value {
        Param::I64(n) => n.to_string(),
        // Without an exponent, with the fewest digits that read back the same.
        Param::F64(x) => x.to_string(),
        Param::Text(t) | Param::Decimal(t) => t.trim().to_owned(),
        _ => return Err(Why::Value("it must be a number")),
    };
    let digits = text.strip_prefix(['-', '+']).unwrap_or(&text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let only_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if only_digits(whole) && only_digits(fraction) && !(whole.is_empty() && fraction.is_empty()) {
        Ok(text)
    } else {
        Err(Why::Value("it must be a number in plain digits"))
    }
}

/// The binary form of plain digits: groups of four, the place of the first, the sign, the decimals.
pub(super) fn numeric(text: &str) -> Result<Vec<u8>, Why> {
    let negative = text.starts_with('-');
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let too_long = || Why::Value("it has too many digits");
    let scale = u16::try_from(fraction.len()).map_err(|_| too_long())?;
    let whole = whole.trim_start_matches('0');
    let mut padded = "0".repeat(whole.len().wrapping_neg() % 4);
    padded.push_str(whole);
    let groups_before = padded.len() / 4;
    padded.push_str(fraction);
    padded.push_str(&"0".repeat(fraction.len().wrapping_neg() % 4));
    let mut groups: Vec<u16> = padded
        .as_bytes()
        .chunks(4)
        .map(|group| group.iter().fold(0, |n, b| n * 10 + u16::from(b.saturating_sub(b'0'))))
        .collect();
    let mut weight = i16::try_from(groups_before).map_err(|_| too_long())? - 1;
    while groups.last() == Some(&0) {
        groups.pop();
    }
    let leading = groups.iter().take_while(|g| **g == 0).count();
    groups.drain(..leading);
    weight = weight.saturating_sub(i16::try_from(leading).map_err(|_| too_long())?);
    if groups.is_empty() {
        weight = 0;
    }
    let sign: u16 = if negative && !groups.is_empty() { 0x4000 } else { 0 };
    let count = u16::try_from(groups.len()).map_err(|_| too_long())?;
    let mut bytes = Vec::with_capacity(8 + groups.len() * 2);
    bytes.extend(count.to_be_bytes());
    bytes.extend(weight.to_be_bytes());
    bytes.extend(sign.to_be_bytes());
    bytes.extend(scale.to_be_bytes());
    bytes.extend(groups.iter().flat_map(|g| g.to_be_bytes()));
    Ok(bytes)
}

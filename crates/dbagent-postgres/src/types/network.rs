//! Addresses and identifiers.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr};

use dbagent_core::Result;

use super::binary::{Wire, malformed};

pub(super) fn uuid(bytes: &[u8], out: &mut String) -> Result<()> {
    if bytes.len() != 16 {
        return Err(malformed());
    }
    for (i, byte) in bytes.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        out.push(hex(byte >> 4));
        out.push(hex(byte & 15));
    }
    Ok(())
}

/// Bytes with colons between them.
pub(super) fn hardware(bytes: &[u8], out: &mut String) {
    for (i, byte) in bytes.iter().enumerate() {
        if i > 0 {
            out.push(':');
        }
        out.push(hex(byte >> 4));
        out.push(hex(byte & 15));
    }
}

fn hex(nibble: u8) -> char {
    char::from_digit(u32::from(nibble), 16).unwrap_or('0')
}

/// `inet` shows the length of its prefix where it is not the whole address, `cidr` always.
pub(super) fn address(wire: &mut Wire<'_>, out: &mut String) -> Result<()> {
    let family = wire.u8()?;
    let bits = wire.u8()?;
    let is_network = wire.u8()? != 0;
    let length = usize::from(wire.u8()?);
    let bytes = wire.bytes(length)?;
    let all = if let (2, Ok(four)) = (family, <[u8; 4]>::try_from(bytes)) {
        // Writing to a String cannot fail.
        _ = write!(out, "{}", Ipv4Addr::from(four));
        32
    } else if let (3, Ok(sixteen)) = (family, <[u8; 16]>::try_from(bytes)) {
        six(Ipv6Addr::from(sixteen), out);
        128
    } else {
        return Err(malformed());
    };
    if is_network || bits != all {
        _ = write!(out, "/{bits}");
    }
    Ok(())
}

/// The server writes the last two groups as an IPv4 address also where only zeros come before.
fn six(address: Ipv6Addr, out: &mut String) {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => {
            let [a, b] = high.to_be_bytes();
            let [c, d] = low.to_be_bytes();
            _ = write!(out, "::{}", Ipv4Addr::new(a, b, c, d));
        }
        _ => _ = write!(out, "{address}"),
    }
}

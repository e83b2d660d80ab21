//! Values in the binary format of the wire.

use dbagent_core::rows::{Cell, RowWriter, mixed_json};
use dbagent_core::{Error, ErrorKind, Result};

use super::{Shape, moment, network, number, quoted};

/// Writes one value into a column. `scratch` is room that is used again for every value.
///
/// # Errors
/// [`ErrorKind::TooLarge`] over the cell cap; [`ErrorKind::Internal`] for bytes that are no such value.
pub(crate) fn write(shape: &Shape, bytes: &[u8], writer: &mut RowWriter, scratch: &mut String) -> Result<()> {
    let mut wire = Wire(bytes);
    match shape {
        Shape::Int4 => writer.int(i64::from(wire.i32()?)),
        Shape::Int8 => writer.int(wire.i64()?),
        Shape::Int2 => writer.int(i64::from(wire.i16()?)),
        Shape::Oid => writer.int(i64::from(wire.u32()?)),
        Shape::Float8 => writer.float(f64::from_bits(wire.u64()?)),
        Shape::Float4 => writer.float(number::widened(f32::from_bits(wire.u32()?))),
        Shape::Bool => writer.bool(wire.u8()? != 0),
        Shape::Bytes => writer.bytes(bytes),
        Shape::Text => match std::str::from_utf8(bytes) {
            Ok(text) => writer.text(text),
            // A database in SQL_ASCII checks nothing.
            Err(_) => writer.bytes(bytes),
        },
        shape if shape.is_nested() => {
            scratch.clear();
            json(shape, bytes, scratch)?;
            writer.json(scratch)
        }
        shape => {
            scratch.clear();
            text(shape, bytes, scratch)?;
            writer.text(scratch)
        }
    }
}

/// Appends the server's text of a value that is shown as text.
fn text(shape: &Shape, bytes: &[u8], out: &mut String) -> Result<()> {
    let mut wire = Wire(bytes);
    match shape {
        Shape::Numeric => number::numeric(&mut wire, out),
        Shape::Money(units) => {
            number::money(wire.i64()?, *units, out);
            Ok(())
        }
        Shape::Char => {
            // A zero byte is the empty text.
            let byte = wire.u8()?;
            if byte >= 0x80 {
                out.push_str(&format!("\\{byte:03o}"));
            } else if byte != 0 {
                out.push(char::from(byte));
            }
            Ok(())
        }
        Shape::Date => {
            moment::date(wire.i32()?, out);
            Ok(())
        }
        Shape::Time => moment::time(wire.i64()?, out),
        Shape::TimeTz => moment::time_with_zone(wire.i64()?, wire.i32()?, out),
        Shape::Timestamp | Shape::TimestampTz => {
            moment::timestamp(wire.i64()?, *shape == Shape::TimestampTz, out);
            Ok(())
        }
        Shape::Interval => {
            moment::interval(wire.i64()?, wire.i32()?, wire.i32()?, out);
            Ok(())
        }
        Shape::Uuid => network::uuid(bytes, out),
        Shape::Inet => network::address(&mut wire, out),
        Shape::MacAddr => {
            network::hardware(bytes, out);
            Ok(())
        }
        Shape::Bits => number::bits(&mut wire, out),
        _ => Err(malformed()),
    }
}

/// Appends the JSON text of a value, as it stands inside an array or a composite.
fn json(shape: &Shape, bytes: &[u8], out: &mut String) -> Result<()> {
    let mut wire = Wire(bytes);
    let cell = match shape {
        Shape::Bool => Cell::Bool(wire.u8()? != 0),
        Shape::Int2 => Cell::Int(wire.i16()?.into()),
        Shape::Int4 => Cell::Int(wire.i32()?.into()),
        Shape::Int8 => Cell::Int(wire.i64()?),
        Shape::Oid => Cell::Int(wire.u32()?.into()),
        Shape::Float4 => Cell::Float(number::widened(f32::from_bits(wire.u32()?))),
        Shape::Float8 => Cell::Float(f64::from_bits(wire.u64()?)),
        Shape::Bytes => Cell::Bytes(bytes),
        Shape::Text => std::str::from_utf8(bytes).map_or(Cell::Bytes(bytes), Cell::Text),
        Shape::Json => Cell::Json(whole(bytes)?),
        Shape::Jsonb => {
            wire.u8()?;
            Cell::Json(whole(wire.0)?)
        }
        Shape::Array(element) => return array(element, &mut wire, out),
        Shape::Composite(attributes) => return composite(attributes, &mut wire, out),
        other => {
            let mut own = String::new();
            text(other, bytes, &mut own)?;
            out.push_str(&quoted(&own));
            return Ok(());
        }
    };
    out.push_str(&mixed_json(&cell));
    Ok(())
}

/// JSON as the server keeps it. One that is no UTF-8, of a database in SQL_ASCII, is no JSON for anybody.
fn whole(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| {
        Error::new(ErrorKind::Data, "a JSON value is no UTF-8 text")
            .hint("cast the column to text in the statement")
    })
}

fn array(element: &Shape, wire: &mut Wire<'_>, out: &mut String) -> Result<()> {
    let dimensions = usize::try_from(wire.i32()?).map_err(|_| malformed())?;
    wire.i32()?;
    wire.u32()?;
    if dimensions > 6 {
        return Err(malformed());
    }
    let mut lengths = Vec::with_capacity(dimensions);
    let mut bounds = Vec::with_capacity(dimensions);
    for _ in 0..dimensions {
        lengths.push(usize::try_from(wire.i32()?).map_err(|_| malformed())?);
        bounds.push(wire.i32()?);
    }
    let shifted = bounds.iter().any(|b| *b != 1);
    if shifted {
        // Where counting does not start at 1, the numbers of the elements are part of the value.
        let bounds: Vec<String> = bounds.iter().map(i32::to_string).collect();
        out.push_str(&format!("{{\"lower_bounds\":[{}],\"elements\":", bounds.join(",")));
    }
    elements(element, &lengths, wire, out)?;
    if shifted {
        out.push('}');
    }
    Ok(())
}

fn elements(shape: &Shape, lengths: &[usize], wire: &mut Wire<'_>, out: &mut String) -> Result<()> {
    out.push('[');
    if let Some((length, inner)) = lengths.split_first() {
        for i in 0..*length {
            if i > 0 {
                out.push(',');
            }
            if inner.is_empty() {
                match wire.value()? {
                    Some(bytes) => json(shape, bytes, out)?,
                    None => out.push_str("null"),
                }
            } else {
                elements(shape, inner, wire, out)?;
            }
        }
    }
    out.push(']');
    Ok(())
}

fn composite(attributes: &[(String, Shape)], wire: &mut Wire<'_>, out: &mut String) -> Result<()> {
    if usize::try_from(wire.i32()?) != Ok(attributes.len()) {
        return Err(Error::new(
            ErrorKind::Conflict,
            "a composite type was changed while the session was open",
        )
        .hint("try again")
        .retry(dbagent_core::Retry::Later));
    }
    out.push('{');
    for (i, (name, shape)) in attributes.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        out.push_str(&quoted(name));
        out.push(':');
        wire.u32()?;
        match wire.value()? {
            Some(bytes) => json(shape, bytes, out)?,
            None => out.push_str("null"),
        }
    }
    out.push('}');
    Ok(())
}

/// Bytes of the wire, taken from the front.
pub(super) struct Wire<'a>(pub(super) &'a [u8]);

impl<'a> Wire<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or_else(malformed)?;
        self.0 = rest;
        Ok(*head)
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        self.take().map(u8::from_be_bytes)
    }

    pub(super) fn u16(&mut self) -> Result<u16> {
        self.take().map(u16::from_be_bytes)
    }

    pub(super) fn i16(&mut self) -> Result<i16> {
        self.take().map(i16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        self.take().map(u32::from_be_bytes)
    }

    pub(super) fn i32(&mut self) -> Result<i32> {
        self.take().map(i32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64> {
        self.take().map(u64::from_be_bytes)
    }

    pub(super) fn i64(&mut self) -> Result<i64> {
        self.take().map(i64::from_be_bytes)
    }

    pub(super) fn bytes(&mut self, n: usize) -> Result<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(n).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(head)
    }

    /// A value with its length before it; NULL where that is negative.
    fn value(&mut self) -> Result<Option<&'a [u8]>> {
        match usize::try_from(self.i32()?) {
            Ok(length) => self.bytes(length).map(Some),
            Err(_) => Ok(None),
        }
    }
}

pub(super) fn malformed() -> Error {
    Error::new(ErrorKind::Internal, "the server sent a value that is not of the type that it announced")
        .hint("cast the column to text in the statement")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_values_are_errors_and_not_panics() {
        let shapes = [
            Shape::Int4,
            Shape::Numeric,
            Shape::TimeTz,
            Shape::Interval,
            Shape::Uuid,
            Shape::Inet,
            Shape::Bits,
            Shape::Jsonb,
            Shape::Array(Box::new(Shape::Int4)),
            Shape::Composite(vec![("a".into(), Shape::Int4)]),
        ];
        for shape in &shapes {
            for length in 0..40 {
                for fill in [0_u8, 1, 0x7f, 0xff] {
                    let mut out = String::new();
                    // Whatever comes of it, nothing panics and nothing runs on.
                    _ = json(shape, &vec![fill; length], &mut out);
                    assert!(out.len() < 10_000);
                }
            }
            assert!(json(shape, &[], &mut String::new()).is_err(), "{shape:?}");
        }
    }
}

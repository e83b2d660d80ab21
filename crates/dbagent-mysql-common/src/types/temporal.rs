//! Dates and times of the binary protocol. What no calendar holds (zero dates, times beyond a day) stays as the
//! text that the server would print.

/// A moment as the protocol sends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Stamp {
    year: u16,
    month: u8,
    day: u8,
    hour: u8,
    minute: u8,
    second: u8,
    micros: u32,
}

/// A span of time as the protocol sends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Span {
    negative: bool,
    hours: u64,
    minute: u8,
    second: u8,
    micros: u32,
}

/// The bytes behind the length byte, which must be right.
fn body(bytes: &[u8]) -> Option<&[u8]> {
    let (length, body) = bytes.split_first()?;
    (usize::from(*length) == body.len()).then_some(body)
}

fn micros(bytes: &[u8]) -> Option<u32> {
    match bytes {
        [] => Some(0),
        &[a, b, c, d] => Some(u32::from_le_bytes([a, b, c, d])),
        _ => None,
    }
}

impl Stamp {
    /// Reads DATE, DATETIME or TIMESTAMP.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut stamp = Self::default();
        match body(bytes)? {
            [] => return Some(stamp),
            [y0, y1, month, day, rest @ ..] => {
                stamp.year = u16::from_le_bytes([*y0, *y1]);
                (stamp.month, stamp.day) = (*month, *day);
                match rest {
                    [] => {}
                    [hour, minute, second, fraction @ ..] => {
                        (stamp.hour, stamp.minute, stamp.second) = (*hour, *minute, *second);
                        stamp.micros = micros(fraction)?;
                    }
                    _ => return None,
                }
            }
            _ => return None,
        }
        Some(stamp)
    }

    /// Days since 1970-01-01, if there is such a day.
    pub(super) fn days(self) -> Option<i32> {
        let lengths = [31, if leap(self.year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let length = lengths.get(usize::from(self.month).checked_sub(1)?)?;
        if self.year == 0 || self.day == 0 || self.day > *length {
            return None;
        }
        // Counted from the first of March, so that the leap day is the last of its year.
        let (year, month) = (i32::from(self.year), i32::from(self.month));
        let year = if month <= 2 { year - 1 } else { year };
        let era = year.div_euclid(400);
        let of_era = year.rem_euclid(400);
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + i32::from(self.day) - 1;
        Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468)
    }

    /// Microseconds since 1970-01-01, if there is such a moment.
    pub(super) fn micros(self) -> Option<i64> {
        let seconds = i64::from(self.days()?) * 86_400 + seconds_of_day(self.hour, self.minute, self.second)?;
        (self.micros < 1_000_000).then(|| seconds * 1_000_000 + i64::from(self.micros))
    }

    /// The date as the server prints it.
    pub(super) fn date_text(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    /// Date and time as the server prints them.
    pub(super) fn text(self) -> String {
        let Self { hour, minute, second, .. } = self;
        format!("{} {hour:02}:{minute:02}:{second:02}{}", self.date_text(), fraction(self.micros))
    }
}

impl Span {
    /// Reads TIME.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        match body(bytes)? {
            [] => Some(Self::default()),
            [negative, d0, d1, d2, d3, hour, minute, second, rest @ ..] => {
                let days = u32::from_le_bytes([*d0, *d1, *d2, *d3]);
                Some(Self {
                    negative: *negative != 0,
                    hours: u64::from(days) * 24 + u64::from(*hour),
                    minute: *minute,
                    second: *second,
                    micros: micros(rest)?,
                })
            }
            _ => None,
        }
    }

    /// Microseconds since midnight, if it is a time of day.
    pub(super) fn micros(self) -> Option<i64> {
        if self.negative || self.hours > 23 || self.micros >= 1_000_000 {
            return None;
        }
        let hour = u8::try_from(self.hours).ok()?;
        Some(seconds_of_day(hour, self.minute, self.second)? * 1_000_000 + i64::from(self.micros))
    }

    /// The span as the server prints it.
    pub(super) fn text(self) -> String {
        let Self { hours, minute, second, .. } = self;
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{hours:02}:{minute:02}:{second:02}{}", fraction(self.micros))
    }
}

fn leap(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn seconds_of_day(hour: u8, minute: u8, second: u8) -> Option<i64> {
    let fits = hour < 24 && minute < 60 && second < 60;
    fits.then(|| i64::from(hour) * 3_600 + i64::from(minute) * 60 + i64::from(second))
}

fn fraction(micros: u32) -> String {
    if micros == 0 { String::new() } else { format!(".{micros:06}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(bytes: &[u8]) -> Stamp {
        Stamp::read(bytes).unwrap()
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for (date, days) in [
            ((1970, 1, 1), Some(0)),
            ((1969, 12, 31), Some(-1)),
            ((2000, 2, 29), Some(11_016)),
            ((2024, 2, 29), Some(19_782)),
            ((1000, 1, 1), Some(-354_285)),
            ((9999, 12, 31), Some(2_932_896)),
            ((1, 1, 1), Some(-719_162)),
            ((1900, 2, 29), None),
            ((2024, 0, 1), None),
            ((2024, 13, 1), None),
            ((2024, 1, 0), None),
            ((2024, 4, 31), None),
            ((0, 1, 1), None),
        ] {
            let (year, month, day) = date;
            assert_eq!(Stamp { year, month, day, ..Stamp::default() }.days(), days, "{date:?}");
        }
    }

    #[test]
    fn moments_of_every_length_are_read() {
        assert_eq!(stamp(&[0]).text(), "0000-00-00 00:00:00");
        assert_eq!(stamp(&[0]).days(), None);
        assert_eq!(stamp(&[4, 0xe8, 7, 5, 0]).date_text(), "2024-05-00");
        let full = stamp(&[11, 0xe8, 7, 5, 1, 10, 20, 30, 0x40, 0xe2, 0x01, 0]);
        assert_eq!(full.text(), "2024-05-01 10:20:30.123456");
        assert_eq!(full.micros(), Some(1_714_558_830_123_456));
        assert_eq!(stamp(&[7, 0xe8, 7, 5, 1, 10, 20, 30]).micros(), Some(1_714_558_830_000_000));
        for broken in [&[][..], &[4, 1][..], &[5, 1, 2, 3, 4, 5][..], &[3, 1, 2, 3][..]] {
            assert_eq!(Stamp::read(broken), None, "{broken:?}");
        }
    }

    #[test]
    fn spans_beyond_a_day_stay_text() {
        let span = |bytes: &[u8]| Span::read(bytes).unwrap();
        assert_eq!(span(&[0]).micros(), Some(0));
        assert_eq!(span(&[8, 0, 0, 0, 0, 0, 23, 59, 59]).micros(), Some(86_399_000_000));
        let far = span(&[8, 0, 34, 0, 0, 0, 22, 59, 59]);
        assert_eq!((far.micros(), far.text().as_str()), (None, "838:59:59"));
        let negative = span(&[12, 1, 0, 0, 0, 0, 1, 0, 0, 0x20, 0xa1, 0x07, 0]);
        assert_eq!((negative.micros(), negative.text().as_str()), (None, "-01:00:00.500000"));
        assert_eq!(Span::read(&[8, 0]), None);
    }
}

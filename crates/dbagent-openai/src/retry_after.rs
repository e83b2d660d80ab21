//! How long a server asks to wait: `Retry-After` as seconds or as a date, and the milliseconds form.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// The wait that the headers ask for. A date is compared with the server's own `Date`, else with our clock;
/// one in the past means now.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).map(str::trim);
    if let Some(ms) = text("retry-after-ms").and_then(|t| t.parse::<f64>().ok()) {
        return seconds(ms / 1000.0);
    }
    let wait = text(RETRY_AFTER.as_str())?;
    if let Ok(number) = wait.parse::<f64>() {
        return seconds(number);
    }
    let now = text(DATE.as_str()).and_then(http_date).or_else(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        Some(since.as_secs())
    })?;
    http_date(wait).map(|at| Duration::from_secs(at.saturating_sub(now)))
}

fn seconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number).ok()
}

/// Seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that senders may use.
fn http_date(text: &str) -> Option<u64> {
    let mut words = text.split_once(", ")?.1.split(' ');
    let day: u64 = words.next()?.parse().ok()?;
    let month = words.next()?;
    let year: u64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(|n| n.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    if words.next()? != "GMT" || !(1970..=9999).contains(&year) || !(1..=31).contains(&day) {
        return None;
    }
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = months.iter().position(|m| *m == month)? as u64 + 1;
    // Days of the civil calendar, with the year beginning in March so that the leap day is its last.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = y / 400;
    let year_of_era = y % 400;
    let day_of_year = (153 * m + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = (era * 146_097 + day_of_era).checked_sub(719_468)?;
    (hour < 24 && minute < 60 && second <= 60).then(|| days * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&'static str, &'static str)]) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, value.parse().unwrap());
        }
        retry_after(&headers)
    }

    #[test]
    fn dates() {
        assert_eq!(http_date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(http_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(http_date("Tue, 29 Feb 2028 23:59:59 GMT"), Some(1_835_481_599));
        for broken in [
            "",
            "tomorrow",
            "Sun, 06 Nov 1994",
            "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 1994 25:49:37 GMT",
            "x, 99999999999999999999 Nov 1994 08:49:37 GMT",
        ] {
            assert_eq!(http_date(broken), None, "{broken}");
        }
    }

    #[test]
    fn every_form_of_the_header() {
        assert_eq!(of(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
        assert_eq!(of(&[("retry-after", "1.5")]), Some(Duration::from_millis(1500)));
        assert_eq!(of(&[("retry-after-ms", "250"), ("retry-after", "1")]), Some(Duration::from_millis(250)));
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(
            of(&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT"), date]),
            Some(Duration::from_secs(30))
        );
        assert_eq!(of(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"), date]), Some(Duration::ZERO));
        assert_eq!(of(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")]), Some(Duration::ZERO));
        assert_eq!(of(&[("retry-after", "-1")]), None);
        assert_eq!(of(&[("retry-after", "NaN")]), None);
        assert_eq!(of(&[("retry-after", "soon")]), None);
        assert_eq!(of(&[]), None);
    }
}

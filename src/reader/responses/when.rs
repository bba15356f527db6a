//! Parses a time as servers write it (RFC 3339) to Unix ns.

/// Parses `2026-09-01T10:20:30.123456789Z`, also with an offset such as `+02:00`. Returns `None`
/// for anything else, and for times before 1970.
pub(super) fn unix_ns(text: &str) -> Option<u64> {
    let (date, rest) = text.split_at_checked(10)?;
    let mut parts = date.split('-').map(digits);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let (clock, rest) = rest.split_at_checked(8)?;
    let mut parts = clock.split(':').map(digits);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (fraction, zone) = fraction(rest)?;
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset(zone)?;
    u64::try_from(seconds).ok()?.checked_mul(1_000_000_000)?.checked_add(fraction)
}

fn digits(text: &str) -> Option<i64> {
    (!text.is_empty() && text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| text.parse().ok())?
}

/// Returns the nanoseconds of a fraction, and the text after it.
fn fraction(text: &str) -> Option<(u64, &str)> {
    let Some(text) = text.strip_prefix('.') else { return Some((0, text)) };
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let kept = &text[..length.min(9)];
    let value: u64 = kept.parse().ok()?;
    Some((value * 10_u64.pow(9 - kept.len() as u32), &text[length..]))
}

/// Returns a zone's offset from UTC in seconds.
fn offset(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let (sign, rest) =
        if let Some(rest) = zone.strip_prefix('+') { (1, rest) } else { (-1, zone.strip_prefix('-')?) };
    let (hours, minutes) = rest.split_once(':')?;
    Some(sign * (digits(hours)? * 3600 + digits(minutes)? * 60))
}

/// Returns days since 1970-01-01 in the Gregorian calendar. The year begins in March here, so that
/// a leap day is its last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::unix_ns;

    #[test]
    fn a_moment_is_its_unix_nanoseconds() {
        // From `date -u -d … +%s`.
        assert_eq!(unix_ns("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(unix_ns("2024-02-29T12:34:56.5Z"), Some(1_709_210_096_500_000_000));
        assert_eq!(unix_ns("2023-08-04T19:22:45.499127Z"), Some(1_691_176_965_499_127_000));
        assert_eq!(unix_ns("2023-08-04T21:22:45.499127123456+02:00"), Some(1_691_176_965_499_127_123));
        assert_eq!(unix_ns("2023-08-04T12:22:45-07:00"), Some(1_691_176_965_000_000_000));
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in [
            "",
            "yesterday",
            "2023-08-04",
            "2023-13-04T19:22:45Z",
            "2023-08-04T19:22:45",
            "1969-12-31T23:59:59Z",
        ] {
            assert_eq!(unix_ns(text), None, "{text}");
        }
    }
}

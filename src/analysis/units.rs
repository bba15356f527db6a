//! Formats times, counts and sizes for people.

/// A time with three digits and its unit: `412 ns`, `1.23 µs`, `45.6 ms`, `7.89 s`.
pub fn time(ns: u64) -> String {
    if ns < 1000 {
        return format!("{ns} ns");
    }
    let mut value = ns as f64;
    for unit in ["ns", "µs", "ms"] {
        // What would round to 1000 belongs to the next unit.
        if value < 999.5 {
            return format!("{} {unit}", three_digits(value));
        }
        value /= 1000.0;
    }
    if value < 999.5 { format!("{} s", three_digits(value)) } else { format!("{value:.0} s") }
}

fn three_digits(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

/// Formats Unix nanoseconds as a date and time, to the second: `2026-11-22 18:11:03 UTC`.
pub fn date(unix_ns: u64) -> String {
    let seconds = unix_ns / 1_000_000_000;
    // Years begin in March here, so that a leap day is the last of its year; 400 of them have
    // 146,097 days.
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC", era * 400 + year + next)
}

/// The time of day in UTC of a moment in Unix nanoseconds, to the microsecond: `18:11:03.000412`.
pub fn clock(unix_ns: u64) -> String {
    let (seconds, micros) = (unix_ns / 1_000_000_000, unix_ns / 1000 % 1_000_000);
    format!("{:02}:{:02}:{:02}.{micros:06}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60)
}

/// A count with thin groups: `12 345 678`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 launch`, `12 launches`.
pub fn counted(number: u64, one: &str) -> String {
    if number == 1 {
        return format!("1 {one}");
    }
    let ending = if one.ends_with("ch") || one.ends_with('s') { "es" } else { "s" };
    format!("{} {one}{ending}", count(number))
}

/// Formats a range: `46`, `33..64`.
pub fn range(least: u64, most: u64) -> String {
    if least == most { least.to_string() } else { format!("{least}..{most}") }
}

/// A part of a whole: `34.1%`.
pub fn percent(part: f64) -> String {
    format!("{:.1}%", part * 100.0)
}

/// A size in bytes: `512 B`, `1.50 KiB`, `23.4 MiB`.
pub fn bytes(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "KiB", "MiB"] {
        if value < 1023.5 {
            return if unit == "B" {
                format!("{bytes} B")
            } else {
                format!("{} {unit}", three_digits(value))
            };
        }
        value /= 1024.0;
    }
    format!("{} GiB", three_digits(value))
}

/// Grid or block without trailing ones: `4096`, `32x4`, `1`.
pub fn dims([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => format!("{x}"),
        (y, 1) => format!("{x}x{y}"),
        (y, z) => format!("{x}x{y}x{z}"),
    }
}

/// Formats a change: `+12 (1.10x)`, `=`, or, without a value to compare, `new` or `gone`.
pub fn change(difference: i64, ratio: Option<f64>) -> String {
    let signed = format!("{}{}", if difference < 0 { "-" } else { "+" }, count(difference.unsigned_abs()));
    match ratio {
        _ if difference == 0 => "=".into(),
        None => "new".into(),
        Some(0.0) => "gone".into(),
        Some(ratio) => format!("{signed} ({})", multiple(ratio)),
    }
}

/// Formats a ratio with three significant digits: `1.05x`, `12.3x`, `0.0012x`.
pub fn multiple(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 99.95 => format!("{ratio:.0}x"),
        ratio if ratio >= 9.995 => format!("{ratio:.1}x"),
        ratio if ratio >= 0.0995 => format!("{ratio:.2}x"),
        ratio => format!("{ratio:.4}x"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_three_digits() {
        let found: Vec<String> =
            [0, 999, 1_000, 9_994, 9_996, 99_940, 123_456, 999_499, 999_500, 2_500_000_000]
                .into_iter()
                .map(time)
                .collect();
        assert_eq!(
            found,
            [
                "0 ns", "999 ns", "1.00 µs", "9.99 µs", "10.0 µs", "99.9 µs", "123 µs", "999 µs", "1.00 ms",
                "2.50 s"
            ]
        );
        assert_eq!(time(5_000_000_000_000), "5000 s");
    }

    #[test]
    fn a_moment_is_a_date() {
        // By `date -u -d @…`.
        let found = [0, 951_782_399, 951_782_400, 1_709_210_096, 1_735_689_599, 4_107_542_400]
            .map(|s| date(s * 1_000_000_000));
        assert_eq!(
            found,
            [
                "1970-01-01 00:00:00 UTC",
                "2000-02-28 23:59:59 UTC",
                "2000-02-29 00:00:00 UTC",
                "2024-02-29 12:34:56 UTC",
                "2024-12-31 23:59:59 UTC",
                "2100-03-01 00:00:00 UTC"
            ]
        );
    }

    #[test]
    fn counts_sizes_and_dimensions_read_well() {
        assert_eq!([0, 999, 1_000, 12_345_678].map(count), ["0", "999", "1 000", "12 345 678"]);
        assert_eq!(counted(1, "launch"), "1 launch");
        assert_eq!(counted(2, "launch"), "2 launches");
        assert_eq!(counted(1_200, "event"), "1 200 events");
        assert_eq!([0, 1_023, 1_536, 3 << 30].map(bytes), ["0 B", "1023 B", "1.50 KiB", "3.00 GiB"]);
        assert_eq!([[4, 1, 1], [32, 4, 1], [1, 1, 8]].map(dims), ["4", "32x4", "1x1x8"]);
    }

    #[test]
    fn a_change_is_absolute_and_relative() {
        let absence = [(0, Some(1.0)), (12, Some(1.1)), (-1500, Some(0.25)), (7, None), (-7, Some(0.0))];
        assert_eq!(
            absence.map(|(difference, ratio)| change(difference, ratio)),
            ["=", "+12 (1.10x)", "-1 500 (0.25x)", "new", "gone"]
        );
        assert_eq!([0.0012, 0.5, 12.34, 250.0].map(multiple), ["0.0012x", "0.50x", "12.3x", "250x"]);
    }
}

//! How long something may take: `30s`, `10m`, `1h30m`.

use std::time::Duration;

use ndjson_check_core::internals::TIMER_MAX;

/// Each unit with its milliseconds, and what people write for it. A capital `M` is not a
/// unit: people mean minutes, and other programs read months.
const UNITS: [(&str, u64, &[&str]); 5] = [
    ("ms", 1, &["msec", "msecs", "millis", "milliseconds"]),
    ("s", 1_000, &["sec", "secs", "second", "seconds"]),
    ("m", 60_000, &["min", "mins", "minute", "minutes"]),
    ("h", 3_600_000, &["hr", "hrs", "hour", "hours"]),
    ("d", 86_400_000, &["day", "days"]),
];

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    match duration_or_none(text)? {
        Duration::ZERO => Err("must be greater than zero".to_owned()),
        duration => Ok(duration),
    }
}

/// A duration, which may be `0s`.
pub(super) fn duration_or_none(text: &str) -> Result<Duration, String> {
    let (mut rest, mut total) = (text, Duration::ZERO);
    loop {
        let (number, behind) = split(rest, |it| !it.is_ascii_digit());
        let (unit, next) = split(behind, |it| it.is_ascii_digit());
        total = total.saturating_add(part(number, unit.trim())?);
        if next.is_empty() {
            break;
        }
        rest = next;
    }
    let is_short = total <= TIMER_MAX;
    is_short.then_some(total).ok_or_else(|| "must be at most one year".to_owned())
}

fn split(text: &str, ends: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(ends).unwrap_or(text.len()))
}

fn part(number: &str, unit: &str) -> Result<Duration, String> {
    if number.is_empty() || unit.starts_with('.') {
        return Err("must be a duration such as 30s, 10m or 1h30m".to_owned());
    }
    if let Some((_, milliseconds, _)) = UNITS.iter().find(|(name, ..)| *name == unit) {
        let number: u64 = number.parse().unwrap_or(u64::MAX);
        return Ok(Duration::from_millis(number.saturating_mul(*milliseconds)));
    }
    let lower = unit.to_ascii_lowercase();
    let is_meant = |names: &&[&str]| names.contains(&&*lower);
    let meant = UNITS.iter().find(|(name, _, names)| *name == lower || is_meant(names));
    Err(match (unit, meant) {
        ("", _) => format!("the unit is missing: write {number}s or {number}m"),
        ("M", _) => format!("`M` is not a unit: write {number}m for minutes"),
        (_, Some((name, ..))) => format!("`{unit}` is not a unit: write {number}{name}"),
        (_, None) => format!("`{unit}` is not a unit: use ms, s, m, h or d, as in 1h30m"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        let seconds = |text: &str| duration_or_none(text).map(|it| it.as_secs_f64());
        for (text, expected) in [
            ("0s", 0.0),
            ("300ms", 0.3),
            ("30s", 30.0),
            ("1h30m", 5_400.0),
            ("1h 30m", 5_400.0),
            ("2d", 172_800.0),
            ("365d", 31_536_000.0),
        ] {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for (text, hint) in [
            ("10M", "write 10m for minutes"),
            ("1h30M", "write 30m for minutes"),
            ("10", "write 10s or 10m"),
            ("90S", "write 90s"),
            ("5min", "write 5m"),
            ("2hours", "write 2h"),
            ("2w", "use ms, s, m, h or d"),
            ("5months", "use ms, s, m, h or d"),
            ("1ns", "use ms, s, m, h or d"),
            ("1.5h", "such as 30s, 10m or 1h30m"),
            ("-5m", "such as 30s, 10m or 1h30m"),
            ("", "such as 30s, 10m or 1h30m"),
            ("366d", "at most one year"),
            ("99999999999999999999d", "at most one year"),
        ] {
            let message = duration_or_none(text).expect_err(text);
            assert!(message.contains(hint), "{text}: {message}");
        }
        assert!(duration("0s").is_err());
    }
}

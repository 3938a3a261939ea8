//! When a retry is worth it, as agents and providers say it.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::time::{milliseconds, rfc_3339, whole_number};
use crate::json::JsonRef;

/// When a retry of a run is worth it. As JSON, a number of seconds or a time as RFC 3339 writes it,
/// like the two forms of the header `Retry-After`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetryAfter {
    /// So many seconds after the end of the run.
    Seconds(u64),
    /// At this time, in milliseconds since 1970.
    At(u64),
}

impl RetryAfter {
    pub(super) fn of(value: JsonRef<'_>) -> Option<Self> {
        if value.is_string() {
            Self::named(&value.as_str()?)
        } else {
            Self::number(value.as_f64()?)
        }
    }

    /// What a text says: `34`, `1.5s`, `2 days 3 hours`, `12m30s`, `2026-11-24T05:00:00Z`,
    /// `2026-11-24 at 05:00 UTC`.
    pub(crate) fn named(text: &str) -> Option<Self> {
        let text = text.trim();
        let plain = text.replacen(" at ", " ", 1).replace(" UTC", ":00Z");
        let time = || milliseconds(&plain).and_then(whole_number).map(Self::At);
        match text.parse() {
            Ok(number) => Self::number(number),
            Err(_) => time().or_else(|| Self::Seconds(seconds(text)?).into()),
        }
    }

    /// Seconds; or a time since 1970 in seconds or milliseconds, which no delay is as long as.
    fn number(number: f64) -> Option<Self> {
        const FIRST_TIME: f64 = 1e9;
        const FIRST_TIME_MS: f64 = 1e12;
        if number >= FIRST_TIME_MS {
            whole_number(number).map(Self::At)
        } else if number >= FIRST_TIME {
            whole_number(number * 1_000.0).map(Self::At)
        } else {
            whole_number(number.ceil()).map(Self::Seconds)
        }
    }
}

impl Serialize for RetryAfter {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Seconds(seconds) => out.serialize_u64(*seconds),
            Self::At(time) => out.serialize_str(&rfc_3339(*time)),
        }
    }
}

impl<'de> Deserialize<'de> for RetryAfter {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        let after = match &value {
            Value::String(text) => Self::named(text),
            value => value.as_u64().map(Self::Seconds),
        };
        after.ok_or_else(|| D::Error::custom(format!("{value} is not the time of a retry")))
    }
}

/// As in JSON.
impl fmt::Display for RetryAfter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seconds(seconds) => write!(out, "{seconds}"),
            Self::At(time) => out.write_str(&rfc_3339(*time)),
        }
    }
}

/// A duration in words or units, in seconds, rounded up.
fn seconds(text: &str) -> Option<u64> {
    let mut total = 0.0;
    let mut rest = text.trim_end_matches('.');
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let unit_at = rest.find(|char: char| !char.is_ascii_digit() && char != '.')?;
        let number: f64 = rest[..unit_at].parse().ok()?;
        let unit = rest[unit_at..].trim_start();
        let end = unit.find(|char: char| !char.is_ascii_alphabetic()).unwrap_or(unit.len());
        total += number * seconds_of_unit(&unit[..end])?;
        rest = unit[end..].trim_start_matches([' ', ',']);
    }
    whole_number(total.ceil())
}

fn seconds_of_unit(unit: &str) -> Option<f64> {
    Some(match unit {
        "ms" | "millisecond" | "milliseconds" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_and_times_are_read_as_agents_write_them() {
        let rows = [
            ("34", RetryAfter::Seconds(34)),
            ("34s", RetryAfter::Seconds(34)),
            ("1.898s.", RetryAfter::Seconds(2)),
            ("28ms", RetryAfter::Seconds(1)),
            ("3h12m5s", RetryAfter::Seconds(11_525)),
            ("2 days 3 hours 5 minutes", RetryAfter::Seconds(183_900)),
            ("1 hour, 30 seconds", RetryAfter::Seconds(3_630)),
            ("1790003600", RetryAfter::At(1_790_003_600_000)),
            ("1790003600123", RetryAfter::At(1_790_003_600_123)),
            ("2026-11-24T05:00:00Z", RetryAfter::At(1_795_496_400_000)),
            ("2026-11-24 at 05:00 UTC", RetryAfter::At(1_795_496_400_000)),
        ];
        for (text, expected) in rows {
            assert_eq!(RetryAfter::named(text), Some(expected), "{text}");
        }
        for text in ["", " ", "soon", "-3", "5 apples", "3:05 PM", "s", "NaN", "inf", "1..2s"] {
            assert_eq!(RetryAfter::named(text), None, "{text}");
        }
    }

    #[test]
    fn a_report_has_seconds_or_a_time() {
        let json = |after: RetryAfter| serde_json::to_string(&after).expect("JSON");
        assert_eq!(json(RetryAfter::Seconds(12)), "12");
        assert_eq!(json(RetryAfter::At(1_790_003_600_500)), "\"2026-09-21T15:13:20Z\"");
        assert_eq!(RetryAfter::At(0).to_string(), "1970-01-01T00:00:00Z");
    }
}

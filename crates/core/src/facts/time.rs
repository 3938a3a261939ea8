//! Times as agents write them.

use crate::json::JsonRef;

/// A time in milliseconds: a number, or a text as RFC 3339 writes it.
pub(crate) fn time_ms(value: JsonRef<'_>) -> Option<f64> {
    if value.is_string() { milliseconds(&value.as_str()?) } else { value.as_f64() }
}

/// A number that every reader of JSON reads as the same whole number.
pub(crate) fn whole_number(number: f64) -> Option<u64> {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range was checked"
    )]
    (0.0..=LARGEST).contains(&number).then(|| number.round() as u64)
}

/// The milliseconds since 1970 of a time such as `2026-11-22T07:29:08.798Z`. Without an offset it
/// is read as UTC: only differences matter.
pub(crate) fn milliseconds(text: &str) -> Option<f64> {
    let (date, time) = text.split_once(['T', ' '])?;
    let mut date = date.splitn(3, '-').map(|part| whole(part, 31_000));
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    if !(1_970..=9_999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (clock, offset) = match time.find(['Z', 'z', '+', '-']) {
        Some(at) => (&time[..at], minutes_of_offset(&time[at..])?),
        None => (time, 0.0),
    };
    let mut clock = clock.splitn(3, ':');
    let (hours, minutes) = (whole(clock.next()?, 24)?, whole(clock.next()?, 59)?);
    let seconds: f64 = clock.next()?.parse().ok().filter(|it| (0.0..61.0).contains(it))?;
    let days = days_since_1970(year, month, day);
    let minutes = f64::from(days) * 1_440.0 + f64::from(hours * 60 + minutes) - offset;
    Some((minutes * 60.0 + seconds) * 1_000.0)
}

/// A time in milliseconds since 1970, as RFC 3339 writes it in whole seconds.
pub(crate) fn rfc_3339(time_ms: u64) -> String {
    let (days, seconds) = (time_ms / 86_400_000, time_ms / 1_000 % 86_400);
    // Days from the first of March of the year 0; eras of 400 years.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (year * 365 + year / 4 - year / 100);
    let month = (day * 5 + 2) / 153;
    let day = day - (month * 153 + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + next;
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}Z")
}

fn whole(digits: &str, max: i32) -> Option<i32> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|number| is_number && *number <= max)
}

/// Such as `Z`, `+02:00` or `-0330`.
fn minutes_of_offset(text: &str) -> Option<f64> {
    let (sign, digits) = text.split_at(1);
    if sign.eq_ignore_ascii_case("z") {
        return digits.is_empty().then_some(0.0);
    }
    let (hours, minutes) = (digits.get(..2)?, digits.get(2..)?.trim_start_matches(':'));
    let minutes = if minutes.is_empty() { 0 } else { whole(minutes, 59)? };
    let offset = f64::from(whole(hours, 24)? * 60 + minutes);
    Some(if sign == "-" { -offset } else { offset })
}

/// Of the Gregorian calendar, with years that begin in March so that a leap day is the last one.
fn days_since_1970(year: i32, month: i32, day: i32) -> i32 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_others_read_them() {
        let rows = [
            ("1970-01-01T00:00:00Z", 0.0),
            ("2000-02-29T12:30:15.5Z", 951_827_415_500.0),
            ("2026-11-22T07:29:08.798Z", 1_795_332_548_798.0),
            ("2026-11-22T09:29:08.798+02:00", 1_795_332_548_798.0),
            ("2026-11-22 02:29:08.798-0500", 1_795_332_548_798.0),
            ("2026-11-22T07:29:08.798", 1_795_332_548_798.0),
            ("2100-03-01T00:00:00Z", 4_107_542_400_000.0),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000.0),
        ];
        for (text, expected) in rows {
            let read = milliseconds(text).expect(text);
            assert!((read - expected).abs() < 0.01, "{text}: {read}");
        }
    }

    #[test]
    fn a_time_is_written_as_it_is_read() {
        for day in 0..80_000 {
            let time = day * 86_400_000 + day % 86_400 * 1_000;
            let text = rfc_3339(time);
            assert_eq!(milliseconds(&text).and_then(whole_number), Some(time), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        let wrong = [
            "",
            "T",
            "now",
            "2026-11-22",
            "2026-13-22T07:29:08Z",
            "2026-11-22T07:29Z",
            "2026-11-22T07:61:08Z",
            "2026-11-22T07:29:08Zx",
            "+026-11-22T07:29:08Z",
            "2026-11-22T07:29:08+é",
            "é",
            "2026-11-22T07:29:NaN",
            "9999999-01-01T00:00:00Z",
        ];
        for text in wrong {
            assert_eq!(milliseconds(text), None, "{text}");
        }
    }
}

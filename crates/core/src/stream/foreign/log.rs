//! Lines of logs, and of terminals.

use crate::rules::escape::without_colours;
use crate::stream::{Ending, Line, parse_line};

/// Longest text in front of each event, in bytes.
const PREFIX_BYTES_MAX: usize = 100;

/// What tools write before the lines of a log.
const HEADS: [&[u8]; 4] = [b"Attaching to ", b"-- Journal begins ", b"-- Logs begin ", b"-- Boot "];

/// Whether a line is the head of a log.
pub(super) fn begins_log(bytes: &[u8]) -> bool {
    HEADS.iter().any(|head| bytes.starts_with(head))
}

/// Whether a line of a log has no event: there is a time of the day at its start, or a name and a
/// bar.
pub(super) fn is_log_line(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    // An event may have a time, too.
    let text = memchr::memchr(b'{', bytes).map_or(bytes, |object| &bytes[..object]);
    has_time(&text[..text.len().min(PREFIX_BYTES_MAX)]) || has_bar(text)
}

/// Whether there is a time of the day, or a name or a number with a mark behind it, in front of an
/// object. The name may have a colour.
pub(super) fn has_prefix(bytes: &[u8]) -> bool {
    let Some(object) = memchr::memmem::find(bytes, b"{\"") else { return false };
    let prefix = &bytes[..object];
    (1..=PREFIX_BYTES_MAX).contains(&object)
        && bytes.ends_with(b"}")
        && (has_time(prefix) || is_name(&without_colours(&String::from_utf8_lossy(prefix))))
}

/// `web-1  | `, `[agent] `, `stdout: `, or the `12:` of `grep -n`.
fn is_name(prefix: &str) -> bool {
    let is_word = !prefix.trim_end().contains([' ', '"', '\'']);
    prefix.ends_with("| ")
        || prefix.starts_with('[') && prefix.ends_with("] ")
        || is_word && [": ", ":", "\t"].iter().any(|end| prefix.ends_with(end))
}

/// A time of the day: `02:00`.
fn has_time(bytes: &[u8]) -> bool {
    bytes.windows(5).any(|it| {
        let digits = [it[0], it[1], it[3], it[4]];
        it[2] == b':' && digits.iter().all(u8::is_ascii_digit)
    })
}

/// A name, spaces, and a bar: `web-1  | `.
fn has_bar(bytes: &[u8]) -> bool {
    let name = bytes.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
    let rest = bytes[name..].trim_ascii_start();
    (1..=PREFIX_BYTES_MAX).contains(&name) && (rest == b"|" || rest.starts_with(b"| "))
}

/// Whether a line is an object in the colours of a terminal.
pub(super) fn has_colours(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    let is_colour = loop {
        let Some(sequence) = rest.strip_prefix(b"\x1b[") else { break false };
        let end = sequence.iter().position(|byte| (b'@'..=b'~').contains(byte));
        let Some(end) = end else { break false };
        // Others move the cursor or clear the screen.
        if sequence[end] == b'm' {
            break true;
        }
        rest = &sequence[end + 1..];
    };
    if !is_colour {
        return false;
    }
    let Ok(text) = str::from_utf8(bytes) else { return false };
    let plain = without_colours(text);
    let plain = plain.trim_ascii().as_bytes();
    plain.starts_with(b"{") && parse_line(&Line::new(0, plain, Ending::Lf)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_has_a_time_or_a_bar_in_front_of_each_object() {
        for (line, expected) in [
            ("10:00:01 {\"a\":1}", true),
            ("web-1 | {\"a\":1}", true),
            ("ab:cd {\"a\":1}", false),
            ("10:00:01 {\"a\":1} done", false),
            ("2026-11-27T02:00:00.1234567Z {\"a\":1}", true),
            ("job\tstep\t2026-11-27T02:00:00.1Z {\"a\":1}", true),
            ("Nov 27 02:00:00 host agent[123]: {\"a\":1}", true),
            ("2026-11-27T02:00:00.1Z stdout F {\"a\":1}", true),
            ("[pod/nightly-x7k2p/agent] {\"a\":1}", true),
            ("[agent] {\"a\":1}", true),
            ("12:{\"a\":1}", true),
            ("web:agent: {\"a\":1}", true),
            ("12\t{\"a\":1}", true),
            ("It says: {\"a\":1}", false),
            ("\u{1b}[36mweb-1  | \u{1b}[0m{\"a\":1}", true),
            ("{\"at\":\"10:00:01\"}", false),
        ] {
            assert_eq!(has_prefix(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn a_line_of_a_log_may_have_no_event() {
        for (line, expected) in [
            ("2026-11-27T02:00:00.1Z ##[group]Run agent", true),
            ("\u{feff}2026-11-27T02:00:00.1Z shell: bash -e {0}", true),
            ("web-1  | ready", true),
            ("web-1  |", true),
            ("ready at last", false),
            ("hello {\"at\":\"10:00:01\"}", false),
            ("{\"at\":\"10:00:01\"", false),
        ] {
            assert_eq!(is_log_line(line.as_bytes()), expected, "{line}");
        }
        assert!(begins_log(b"Attaching to web-1") && !begins_log(b"Attached"));
    }

    #[test]
    fn colours_are_around_an_event_or_in_it() {
        for (line, expected) in [
            ("\x1b[36m{\"a\":1}", true),
            ("\x1b[?25l\x1b[2J{\"a\":1}", false),
            ("\x1b[2K\x1b[36m{\"a\":1}", true),
            ("\x1b[1;39m{\x1b[0m\x1b[34;1m\"a\"\x1b[0m:1\x1b[1;39m}\x1b[0m", true),
            ("\x1b[36mready\x1b[0m", false),
            ("{\"a\":1}", false),
            ("\x1b[", false),
        ] {
            assert_eq!(has_colours(line.as_bytes()), expected, "{line:?}");
        }
    }
}

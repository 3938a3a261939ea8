//! The content of a line that is not an event. What is wrong with it stays wrong.

use std::ops::Range;

use super::event::EventRedactor;
use super::fill::Filler;
use crate::check::Contract;
use crate::profile::{NoisePlace, Profile};
use crate::redact::written::strings;
use crate::stream::{GluedEvent, Line, LineDefect, SSE_FIELDS, glued_events};

const GZIP: &[u8] = b"\x1f\x8b\x08";

/// The bytes of a line that is not an event with its content replaced; as many as it had.
pub(super) fn line(
    events: &mut EventRedactor,
    contract: &Contract,
    line: &Line<'_>,
    defect: &LineDefect,
) -> Vec<u8> {
    let profile = contract.profile();
    let is_event_like = line.bytes.trim_ascii_start().starts_with(b"{");
    if !defect.may_be_noise() || is_event_like && profile.known_object(line).is_none() {
        return broken(line.bytes, defect);
    }
    let Some(text) = line.text() else { return broken(line.bytes, defect) };
    for GluedEvent { before, line: rest, event } in glued_events(line) {
        let rule = profile.noise.iter().find(|rule| rule.matches.is_in(before));
        let is_announced = rule.is_some_and(|rule| rule.place == NoisePlace::Before);
        if !is_announced && !events.facts.plan(profile, &event).is_known() {
            continue;
        }
        let mut bytes = noise(events, profile, before);
        let Some(event) =
            events.on_tape(&rest, |events, event| events.event(contract, &rest, event, Filler::X))
        else {
            continue;
        };
        bytes.extend(event);
        return bytes;
    }
    let filled = broken(line.bytes, defect);
    if is_event_like {
        return filled;
    }
    let rule_of = |text| profile.known_line(text).map(std::ptr::from_ref);
    match str::from_utf8(&filled) {
        Ok(filled) if rule_of(filled) == rule_of(text) => filled.into(),
        Ok(_) | Err(_) => noise(events, profile, text),
    }
}

/// Text that the profile may know: the words of its patterns stay.
fn noise(events: &EventRedactor, profile: &Profile, text: &str) -> Vec<u8> {
    let fill = |kept: &[Range<usize>]| Filler::X.filled(text, kept);
    let kept = if profile.noise.iter().any(|rule| rule.matches.is_in(text)) {
        events.vocabulary.matched(text, fill)
    } else {
        std::iter::once(0..field_bytes(text.as_bytes())).collect()
    };
    fill(&kept).into_bytes()
}

fn broken(bytes: &[u8], defect: &LineDefect) -> Vec<u8> {
    let valid = match defect {
        LineDefect::Truncated | LineDefect::Unfinished | LineDefect::NotAnObject { .. } => {
            bytes.len()
        }
        LineDefect::NotJson { at, .. } | LineDefect::TooDeep { at } => *at,
        LineDefect::Blank | LineDefect::TooLong | LineDefect::NotUtf8 { .. } => 0,
    };
    // Text in front of anything in braces is not JSON, but how JSON begins stays.
    let valid = if bytes.trim_ascii_start().starts_with(b"{") { valid.max(1) } else { valid };
    unknown(bytes, valid)
}

/// Bytes of which nothing is known but that they begin with so many bytes of JSON.
pub(super) fn unknown(bytes: &[u8], valid: usize) -> Vec<u8> {
    let mut filled = bytes.to_vec();
    if bytes.contains(&0) || bytes.starts_with(GZIP) {
        binary(&mut filled);
        return filled;
    }
    let mut at = 0;
    let mut parts = Vec::new();
    strings(bytes, |string| {
        parts.push((at..string.content.start, false));
        at = string.content.end;
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
        if !(string.is_key && bytes[string.content.clone()].iter().all(is_name)) {
            parts.push((string.content, true));
        }
    });
    parts.push((at..bytes.len(), false));
    for (part, is_string) in parts {
        if is_string {
            Filler::X.string(&mut filled[part], &[]);
        } else {
            let start = part.start.max(valid.min(part.end));
            between(&mut filled, start..part.end);
        }
    }
    filled
}

/// The length of what shows that the stream is one of server-sent events.
fn field_bytes(line: &[u8]) -> usize {
    let start = line.len() - line.trim_ascii_start().len();
    let field = SSE_FIELDS.iter().find(|field| line[start..].starts_with(field));
    start + field.map_or(0, |field| field.len())
}

/// What is between strings. Words and numbers of JSON stay where they can be JSON.
fn between(bytes: &mut [u8], part: Range<usize>) {
    let mut at = part.start.max(field_bytes(bytes).min(part.end));
    while at < part.end {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80;
        let length = bytes[at..part.end].iter().take_while(|byte| is_word(byte)).count();
        if length == 0 {
            at += 1;
            continue;
        }
        let before = bytes[..at].iter().rev().find(|byte| !byte.is_ascii_whitespace()).copied();
        let may_be_json = before.is_none_or(|byte| b":,[-".contains(&byte));
        let word = &mut bytes[at..at + length];
        let is_number = word.iter().all(u8::is_ascii_digit) && length < 16 && before.is_some();
        let is_literal = [&b"true"[..], b"false", b"null"].contains(&&*word);
        if !(may_be_json && (is_number || is_literal)) {
            Filler::X.text(word, &[]);
        }
        at += length;
    }
}

/// Replaces all of it but zeros, brackets, and the bytes that it begins with.
pub(super) fn binary(bytes: &mut [u8]) {
    let start = if bytes.starts_with(GZIP) { GZIP.len() } else { 0 };
    let is_mark = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    let start = if is_mark { 2 } else { start };
    for byte in &mut bytes[start..] {
        if !b"\0{}[]\":,\n\r".contains(byte) {
            *byte = b'x';
        }
    }
}

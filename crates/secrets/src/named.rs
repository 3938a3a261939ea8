//! Secrets that their name shows: `NAME=value`, members of objects, headers, options, cookies.

use std::ops::Range;

use crate::classes::{Class, Runs};
use crate::names::{
    NAME_BYTES_MAX, ends_like_secret, is_secret_name, is_variable, may_become_secret,
};
use crate::randomness::{looks_like_name, looks_random};
use crate::values::{SecretSpan, is_placeholder, is_secret_value, value};
use crate::vendors::{VENDOR_BYTES_MIN, shapes};

/// Longest value that may go on in another text, in bytes.
const OPEN_BYTES_MAX: usize = 256;

/// How far before a value its line shows that it is one of a cookie, in bytes.
const LINE_BYTES: usize = 512;

/// What is secret behind a name.
pub(crate) enum Named {
    No,
    /// The text ends first: where the name begins, and so much of the value as is there.
    Open(usize, Range<usize>),
    /// Where the value begins, and the secret in it.
    Secret(usize, Range<usize>, NamedKind),
}

/// What a secret is called in the replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamedKind {
    Named,
    Cookie,
}

pub(crate) const SEPARATORS: &[u8] = b"=:>,|";

/// A name that ends before `at`, and what follows the separators there.
pub(crate) fn behind_separator(runs: &mut Runs, at: usize) -> Named {
    let text = runs.text;
    let is_separator = |it: &&u8| matches!(it, b'=' | b':' | b'>' | b'?' | b'|' | b',');
    let behind = at + text[at..].iter().take(4).take_while(is_separator).count();
    let start = behind + text[behind..].iter().take(8).take_while(|it| is_opening(**it)).count();
    // What signed cookies of a framework begin with.
    let start = start + if text[start..].starts_with(b"s%3A") { 4 } else { 0 };
    let is_long = |it: &[u8]| it.iter().all(|byte| Class::Token.has(*byte));
    let has_chance = text.get(start..start + VENDOR_BYTES_MIN).is_some_and(is_long);
    let before = before_separator(text, at);
    let may_be_name = match text[at] {
        // Of two strings in a row the first may be a name.
        b',' => {
            at > 0 && is_quote(text[at - 1]) && text[behind..start].iter().any(|it| is_quote(*it))
        }
        // `PASS`, and a line of `===` below it.
        b'=' if text[before..at].contains(&b'\n') => {
            text[at - 1] != b'=' && text.get(at + 1) != Some(&b'=')
        }
        _ => true,
    } && ends_like_secret(&text[..before]);
    if !has_chance && !may_be_name {
        return Named::No;
    }
    let name = name_before(text, before);
    if may_be_name && is_name(text, name.clone(), at) {
        // In a table or a list anything may be next to a name.
        let is_list = b"|,".contains(&text[at]);
        let is_option = text[at] == b'=' && text[name.clone()].starts_with(b"--");
        let is_variable = !is_list && is_variable(&text[name.clone()]);
        let is_setting = text[at] == b'>' || is_option || is_variable;
        match of_name(runs, name.clone(), behind, is_setting) {
            Named::No => {}
            Named::Secret(_, secret, _) if is_list && !looks_random(&text[secret.clone()]) => {}
            found => return found,
        }
    }
    if has_chance { of_chance(runs, before, name, behind..start) } else { Named::No }
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// What may be between a separator and a value.
fn is_opening(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'\'' | b'`' | b'=' | b'\\')
}

/// Where the text before a separator ends: without spaces, quotes and brackets.
fn before_separator(text: &[u8], at: usize) -> usize {
    let is_between =
        |it: &&u8| is_opening(**it) || matches!(it, b']' | b':' | b'?' | b'>' | b'|' | b',' | b'*');
    at - text[..at].iter().rev().take(12).take_while(is_between).count()
}

fn name_before(text: &[u8], end: usize) -> Range<usize> {
    let first = end.saturating_sub(NAME_BYTES_MAX);
    end - Class::Name.length_before(&text[first..end])..end
}

/// Whether a name is that of a secret. In XML it is a tag, and a pair of an attribute and its value
/// has the name before.
fn is_name(text: &[u8], name: Range<usize>, at: usize) -> bool {
    let is_tag = text[at] == b'>' && !(at > 0 && b"=-".contains(&text[at - 1]));
    if is_tag && (name.end != at || name.start == 0 || text[name.start - 1] != b'<') {
        return false;
    }
    // A part of a longer name: `AWS::IAM::AccessKey`, `arn:…:secret:…`.
    if text[at] == b':' && text[..name.start].ends_with(b":") {
        return false;
    }
    if text[name.clone()].eq_ignore_ascii_case(b"value") {
        return other_name(text, name.start).is_some_and(is_secret_name);
    }
    is_secret_name(&text[name])
}

/// `X` in `name: X, value: …`.
fn other_name(text: &[u8], at: usize) -> Option<&[u8]> {
    let before = &text[at.saturating_sub(2 * NAME_BYTES_MAX)..at];
    let is_between = |it: &u8| !Class::Name.has(*it);
    let mut end = before.len();
    // A line feed may be written as an escape.
    for _ in 0..2 {
        end -= before[..end].iter().rev().take(24).take_while(|it| is_between(it)).count();
        end -= if before[..end].ends_with(b"\\n") { 2 } else { 0 };
    }
    let start = end - Class::Name.length_before(&before[..end]);
    let before_it = &before[..start];
    let gap = before_it.iter().rev().take(24).take_while(|it| is_between(it)).count();
    let key = &before_it[..before_it.len() - gap];
    let is_key = [&b"name"[..], b"key"]
        .iter()
        .any(|it| key.len() >= it.len() && key[key.len() - it.len()..].eq_ignore_ascii_case(it));
    is_key.then_some(&before[start..end])
}

/// The value of a secret. That of a setting is never code.
pub(crate) fn of_name(
    runs: &mut Runs,
    name: Range<usize>,
    behind: usize,
    is_setting: bool,
) -> Named {
    let text = runs.text;
    let is_variable = is_variable(&text[name.clone()]);
    let class = if is_variable { Class::Variable } else { Class::Value };
    let value = value(runs, behind, class);
    let mut secret = value.range.clone();
    if is_authorization(&text[name.clone()]) {
        secret = behind_scheme(text, &value);
        if let Some(key) = key_without_scheme(text, value.range.start, &secret) {
            return Named::Secret(value.range.start, key, NamedKind::Named);
        }
        if secret.len() >= 8
            && !is_placeholder(&text[secret.clone()])
            && !looks_like_name(&text[secret.clone()])
        {
            return Named::Secret(value.range.start, secret, NamedKind::Named);
        }
    }
    let is_literal = value.is_quoted || is_setting;
    let is_call = !value.is_quoted && text.get(secret.end).is_some_and(|it| b"([{".contains(it));
    if !is_call && is_secret_value(&text[secret.clone()], is_literal) {
        return Named::Secret(value.range.start, secret, NamedKind::Named);
    }
    let is_open = value.is_open && value.range.len() < OPEN_BYTES_MAX;
    if is_open && (secret.is_empty() || !is_placeholder(&text[secret.clone()])) {
        return Named::Open(name.start, secret);
    }
    Named::No
}

fn is_authorization(name: &[u8]) -> bool {
    const NAME: &[u8] = b"authorization";
    name.len() >= NAME.len() && name[name.len() - NAME.len()..].eq_ignore_ascii_case(NAME)
}

/// The last word of the value of a header, behind its scheme.
fn behind_scheme(text: &[u8], value: &SecretSpan) -> Range<usize> {
    let Range { start, end } = value.range;
    let word = Class::Url.length(&text[start..end.max(start)]);
    let next = start + word + usize::from(matches!(text.get(start + word), Some(b' ' | b'\t')));
    if word == 0 || next == start + word {
        return start..end;
    }
    let end = if value.is_quoted { end } else { next + Class::Token.length(&text[next..]) };
    if next < end { next..end } else { start..start }
}

/// A random first word that is not a scheme; `next` follows it.
fn key_without_scheme(text: &[u8], start: usize, next: &Range<usize>) -> Option<Range<usize>> {
    let word = start..start + Class::Url.length(&text[start..next.start.max(start)]);
    let end = if looks_random(&text[next.clone()]) { next.end } else { word.end };
    looks_random(&text[word]).then_some(start..end)
}

/// A value that chance has made, next to the name of a vendor, in an address, or in a cookie.
fn of_chance(runs: &mut Runs, before: usize, name: Range<usize>, between: Range<usize>) -> Named {
    let text = runs.text;
    let Range { start: behind, end: start } = between;
    let end = runs.end(Class::Token, start);
    if !looks_random(&text[start..end]) {
        return Named::No;
    }
    let previous = name.start.checked_sub(1).map(|it| text[it]);
    let is_parameter = matches!(previous, Some(b'?' | b'&'));
    let is_key =
        [&b"sig"[..], b"signature", b"key", b"code", b"X-Amz-Signature", b"X-Goog-Signature"]
            .iter()
            .any(|it| it.eq_ignore_ascii_case(&text[name.clone()]));
    if is_parameter && is_key {
        return Named::Secret(start, start..runs.end(Class::Value, start), NamedKind::Named);
    }
    if text[behind - 1] == b'=' && is_in_cookie(&text[..name.start], &text[name.clone()]) {
        return Named::Secret(start, start..runs.end(Class::Value, start), NamedKind::Cookie);
    }
    let is_near = |it: &u8| Class::Name.has(*it) || b" \t".contains(it);
    let near = text[..before].iter().rev().take(64).take_while(|it| is_near(it)).count();
    let found = shapes(&text[before - near..before]).find_map(|(class, least, most)| {
        let length = class.length(&text[start..text.len().min(start + most + 1)]);
        let is_end = text.get(start + length).is_none_or(|it| b"`'\"\\<,&); \t\r\n".contains(it));
        (length >= *least && length <= *most && is_end).then_some(start..start + length)
    });
    found.map_or(Named::No, |range| Named::Secret(start, range, NamedKind::Named))
}

/// Whether a pair is one of a cookie: its line begins with the name of the header.
fn is_in_cookie(before: &[u8], name: &[u8]) -> bool {
    let line = &before[before.len().saturating_sub(LINE_BYTES)..];
    let line = &line[memchr::memrchr(b'\n', line).map_or(0, |it| it + 1)..];
    let is_opened = |header: &[u8]| {
        let behind = header.iter().position(|it| !b"\"'\\ ".contains(it));
        behind.is_some_and(|at| header[at] == b':')
    };
    let line = line.to_ascii_lowercase();
    memchr::memmem::find_iter(&line, b"cookie").any(|at| is_opened(&line[at + 6..]))
        || is_in_option(&line)
        || [&b"sessionid"[..], b"connect.sid", b"PHPSESSID", b"JSESSIONID"]
            .iter()
            .any(|it| it.eq_ignore_ascii_case(name))
}

/// Whether a line in small letters ends in the value of `curl --cookie`.
fn is_in_option(line: &[u8]) -> bool {
    let Some(curl) = memchr::memmem::find(line, b"curl ") else { return false };
    [&b" -b"[..], b" --cookie"].iter().any(|option| {
        let behind =
            memchr::memmem::rfind(&line[curl..], option).map(|it| curl + it + option.len());
        let value = line[behind.unwrap_or(line.len())..].trim_ascii_start();
        let value = value.strip_prefix(b"=").unwrap_or(value);
        let value = &value[value.iter().take_while(|it| **it == b'\\').count()..];
        let end = value.first().filter(|it| is_quote(**it)).unwrap_or(&b' ');
        behind.is_some() && !value.get(1..).unwrap_or_default().contains(end)
    })
}

/// Whether so much of a value shows that it will be a secret, where the text was cut for good.
pub(crate) fn is_cut_value(value: &[u8]) -> bool {
    value.len() >= 4
        && !is_placeholder(value)
        && !looks_like_name(value)
        && !value.iter().any(u8::is_ascii_whitespace)
}

/// Where a name begins that the end of the text cuts, or that has no value yet.
pub(crate) fn cut_name(text: &[u8], from: usize) -> Option<usize> {
    let is_between = |it: &&u8| is_opening(**it) || matches!(it, b':' | b'*' | b'|' | b'>');
    let between = text[from..].iter().rev().take(8).take_while(is_between).count();
    let name = name_before(text, text.len() - between);
    let is_cut = if between == 0 { may_become_secret } else { is_secret_name };
    (!name.is_empty() && is_cut(&text[name.clone()])).then_some(name.start.max(from))
}

//! Secrets in the arguments of commands.

use std::ops::Range;

use memchr::memmem;

use super::classes::{Class, Runs};
use super::named::{Named, NamedKind, of_name};
use super::names::is_secret_name;
use super::values::{is_placeholder, value};

/// How far before an option its command is, in bytes.
const COMMAND_BYTES: usize = 256;

/// Longest value that may go on in another text, in bytes.
const OPEN_BYTES_MAX: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OptionValue {
    /// Behind the letter, without a space.
    Glued,
    /// In the next word.
    Next,
    /// In the next word, behind `user:`.
    Pair,
}

/// An option, and the commands in which its value is a secret.
type SecretOption = (&'static [u8], &'static [&'static [u8]], OptionValue);

const OPTIONS: &[SecretOption] = &[
    (b"-u", &[b"curl"], OptionValue::Pair),
    (b"-su", &[b"curl"], OptionValue::Pair),
    (b"-U", &[b"curl"], OptionValue::Pair),
    (b"--user", &[b"curl"], OptionValue::Pair),
    (b"--proxy-user", &[b"curl"], OptionValue::Pair),
    (b"-p", &[b"mysql", b"mariadb", b"sshpass"], OptionValue::Glued),
    (
        b"-p",
        &[b"docker login", b"podman login", b"sshpass", b"mongosh", b"mongodump"],
        OptionValue::Next,
    ),
    (b"-a", &[b"redis-cli"], OptionValue::Next),
    (b"-w", &[b"ldapsearch", b"ldapmodify"], OptionValue::Next),
];

/// A secret in the option that begins here.
pub(super) fn option(runs: &mut Runs, at: usize) -> Named {
    let text = runs.text;
    if at > 0 && !b" \t\n\"'\\,[(=n".contains(&text[at - 1]) {
        return Named::No;
    }
    if text[at..].starts_with(b"--") {
        let name = at..at + 2 + Class::Url.length(&text[at + 2..text.len().min(at + 66)]);
        let is_next = text.get(name.end).is_none_or(|it| b" \t\"',".contains(it));
        if is_next && is_secret_name(&text[name.clone()]) {
            let between = text[name.end..].iter().take(3).take_while(|it| b"\"',".contains(it));
            let behind = name.end + between.count();
            // Behind a word of an option a value is as in a setting, if it is no option.
            return match text.get(behind + 1) {
                Some(b'-') => Named::No,
                _ => of_name(runs, name, behind, true),
            };
        }
    }
    let line = &text[at.saturating_sub(COMMAND_BYTES)..at];
    for (option, commands, place) in OPTIONS {
        if text[at..].starts_with(option)
            && commands.iter().any(|it| memmem::rfind(line, it).is_some())
        {
            match argument(runs, at, at + option.len(), *place) {
                Named::No => {}
                found => return found,
            }
        }
    }
    Named::No
}

fn argument(runs: &mut Runs, at: usize, behind: usize, place: OptionValue) -> Named {
    let text = runs.text;
    let is_between = |it: &&u8| b" \t=\"',\\".contains(it);
    let between = text[behind..].iter().take(6).take_while(is_between).count();
    let is_glued = text[behind..behind + between].iter().all(|it| b"\"'\\".contains(it));
    if is_glued != (place == OptionValue::Glued)
        && behind + between < text.len()
        && place != OptionValue::Pair
    {
        return Named::No;
    }
    let quotes = text[behind..behind + between].iter().rev().take_while(|it| b"\"'\\".contains(it));
    let start = behind + between - quotes.count();
    let value = value(runs, start, Class::Variable);
    let mut secret = value.range.clone();
    if place == OptionValue::Pair {
        match memchr::memchr(b':', &text[secret.clone()]) {
            Some(colon) => secret.start += colon + 1,
            None => secret.start = secret.end,
        }
    }
    // The word of a manual.
    let is_word = [&b"password"[..], b"pass", b"passwd", b"PASSWORD", b"token", b"secret"];
    let is_secret = secret.len() >= 3
        && !is_placeholder(&text[secret.clone()])
        && !is_word.contains(&&text[secret.clone()])
        && !text[secret.clone()].contains(&b' ');
    if value.is_open
        && value.range.len() < OPEN_BYTES_MAX
        && (!is_secret || place != OptionValue::Glued)
    {
        return if is_secret {
            Named::Secret(value.range.start, secret, NamedKind::Named)
        } else {
            Named::Open(at, secret)
        };
    }
    if is_secret { Named::Secret(value.range.start, secret, NamedKind::Named) } else { Named::No }
}

/// The password of a line of `.netrc`, behind `password `.
pub(super) fn netrc(runs: &mut Runs, at: usize, behind: usize) -> Named {
    let text = runs.text;
    let line = &text[at.saturating_sub(COMMAND_BYTES)..at];
    let is_entry = |it: &[u8]| memmem::rfind(line, it).is_some();
    if !(is_entry(b"machine ") || is_entry(b"default ")) || !is_entry(b"login ") {
        return Named::No;
    }
    let end = runs.end(Class::Variable, behind);
    secret_or_open(text, at, behind..end)
}

fn secret_or_open(text: &[u8], at: usize, secret: Range<usize>) -> Named {
    if secret.len() >= 3 && !is_placeholder(&text[secret.clone()]) {
        Named::Secret(secret.start, secret, NamedKind::Named)
    } else if secret.end == text.len() {
        Named::Open(at, secret)
    } else {
        Named::No
    }
}

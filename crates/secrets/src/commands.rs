//! Secrets in the arguments of commands.

use std::ops::Range;

use memchr::memmem;

use crate::borders::{Border, border};
use crate::classes::{Class, Runs};
use crate::named::{Named, NamedKind, of_name};
use crate::names::is_secret_name;
use crate::values::{is_placeholder, is_secret_value, value};

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
    /// In the next word. Other commands have the option, too: none of them is between.
    Own,
    /// In the next word, which is in quotes or looks like a secret.
    Literal,
}

/// An option, and the commands in which its value is a secret.
type SecretOption = (&'static [u8], &'static [&'static [u8]], OptionValue);

const OPTIONS: &[SecretOption] = &[
    (b"-u", &[b"curl"], OptionValue::Pair),
    (b"-su", &[b"curl"], OptionValue::Pair),
    (b"-U", &[b"curl"], OptionValue::Pair),
    (b"--user", &[b"curl"], OptionValue::Pair),
    (b"--proxy-user", &[b"curl"], OptionValue::Pair),
    (b"-a", &[b"http ", b"https "], OptionValue::Pair),
    (b"-p", &[b"mysql", b"mariadb", b"sshpass"], OptionValue::Glued),
    (b"-p", &[b"sshpass", b"mongosh", b"mongodump"], OptionValue::Next),
    (b"-a", &[b"redis-cli"], OptionValue::Next),
    (b"-w", &[b"ldapsearch", b"ldapmodify"], OptionValue::Next),
    (b"-p", LOGINS, OptionValue::Own),
    (b"-P", &[b"sqlcmd", b"unzip"], OptionValue::Own),
    (b"-b", &[b"secret set"], OptionValue::Own),
    (b"--body", &[b"secret set"], OptionValue::Own),
    (b"-storepass", KEY_STORES, OptionValue::Own),
    (b"-keypass", KEY_STORES, OptionValue::Own),
    (b"-srcstorepass", KEY_STORES, OptionValue::Own),
    (b"-deststorepass", KEY_STORES, OptionValue::Own),
    (b"-SecureString", &[b"ConvertTo"], OptionValue::Literal),
    (b"-String", &[b"ConvertTo-SecureString"], OptionValue::Literal),
    (b"-AsPlainText", &[b"ConvertTo-SecureString"], OptionValue::Literal),
    (b"-Force", &[b"ConvertTo-SecureString"], OptionValue::Literal),
];

const LOGINS: &[&[u8]] = &[
    b"docker login",
    b"podman login",
    b"nerdctl login",
    b"buildah login",
    b"skopeo login",
    b"oras login",
    b"registry login",
    b"crane auth login",
    b"acr login",
    b"az login",
    b"oc login",
    b"twine upload",
    b"unlock-keychain",
];

const KEY_STORES: &[&[u8]] = &[b"keytool", b"jarsigner"];

/// What the name of a secret and its value follow as separate words, and what may be before it.
const ASSIGNMENTS: &[(&[u8], &[&[u8]])] = &[
    (b"ENV ", &[b""]),
    (b"setenv ", &[b""]),
    (b"setx ", &[b""]),
    (b"set -", &[b""]),
    (b"set ", &[b"config ", b"configure ", b"env:", b"secret ", b"secrets "]),
    (b"add ", &[b"env "]),
    (b"put ", &[b"secret "]),
];

/// Most words between an assignment and its name, and the longest of them, in bytes.
const OPTIONS_MAX: usize = 4;
const WORD_BYTES_MAX: usize = 128;

/// A secret in the option that begins here.
pub(crate) fn option(runs: &mut Runs, at: usize) -> Named {
    let text = runs.text;
    let is_part = at > 0 && !b" \t\n\"'\\,[(=n".contains(&text[at - 1]);
    if is_part && !text[at..].starts_with(b"-SecureString") {
        return Named::No;
    }
    if text[at..].starts_with(b"--") {
        let name = at..at + 2 + Class::Url.length(&text[at + 2..text.len().min(at + 66)]);
        let is_next = text.get(name.end).is_none_or(|it| b" \t\"',".contains(it));
        if is_next && is_secret_name(&text[name.clone()]) {
            let between = text[name.end..].iter().take(3).take_while(|it| b"\"',".contains(it));
            let behind = name.end + between.count();
            // After the name of an option, a word that is not an option is its value.
            return match text.get(behind + 1) {
                Some(b'-') => Named::No,
                _ => of_name(runs, name, behind, true),
            };
        }
    }
    let line = &text[at.saturating_sub(COMMAND_BYTES)..at];
    for (option, commands, place) in OPTIONS {
        if text[at..].starts_with(option) && commands.iter().any(|it| is_behind(line, it, *place)) {
            match argument(runs, at, at + option.len(), *place) {
                Named::No => {}
                found => return found,
            }
        }
    }
    Named::No
}

/// Whether an option behind `line` is one of a command.
fn is_behind(line: &[u8], command: &[u8], place: OptionValue) -> bool {
    let Some(at) = memmem::rfind(line, command) else { return false };
    if at > 0 && line[at - 1].is_ascii_alphanumeric() {
        return false;
    }
    let between = &line[at + command.len()..];
    let has = |mark: &&[u8]| memmem::find(between, mark).is_some();
    // A line that goes on ends with one of these.
    let goes_on = |at| between[..at].trim_ascii_end().last().is_some_and(|it| b"\\`^".contains(it));
    // In JSON in a string; behind three of them a line goes on.
    let escaped = |at: usize| {
        let signs = between[..at].iter().rev().take_while(|it| **it == b'\\').count();
        signs == 1 || signs == 2
    };
    let is_other = || {
        [&b"&&"[..], b"; ", b"|", b"`"].iter().any(has)
            || memchr::memchr_iter(b'\n', between).any(|at| !goes_on(at))
            || memchr::memchr_iter(b'n', between).any(escaped)
    };
    place != OptionValue::Own || !is_other()
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
    let is_other = !value.is_quoted && is_no_value(&text[secret.clone()], place);
    let is_secret = secret.len() >= 3
        && !is_other
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

/// Whether a word without quotes is another option, a redirection or code.
fn is_no_value(word: &[u8], place: OptionValue) -> bool {
    match place {
        OptionValue::Own => word.first().is_some_and(|it| b"-<(".contains(it)),
        OptionValue::Literal => !is_secret_value(word, true),
        OptionValue::Glued | OptionValue::Next | OptionValue::Pair => false,
    }
}

/// The value in `ENV NAME VALUE` and the like, which begins here.
pub(crate) fn assignment(runs: &mut Runs, at: usize) -> Named {
    let text = runs.text;
    let is_here = |(word, before): &&(&[u8], &[&[u8]])| {
        text[at..].starts_with(word) && before.iter().any(|it| text[..at].ends_with(it))
    };
    let Some((word, _)) = ASSIGNMENTS.iter().find(is_here) else { return Named::No };
    if border(text, at) != Border::Word {
        return Named::No;
    }
    let spaces = |from| spaces(text, from);
    let mut from = at + word.iter().position(|it| *it == b' ').unwrap_or_default();
    let mut may_be_value = false;
    for _ in 0..OPTIONS_MAX {
        from += spaces(from);
        let rest = &text[from..text.len().min(from + WORD_BYTES_MAX)];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        let name = from..from + length;
        let is_option = rest.starts_with(b"-") || (length == 2 && rest.starts_with(b"/"));
        if !is_option && is_secret_name(&text[name.clone()]) {
            return behind_name(runs, at, name);
        }
        if length == 0 || !(is_option || may_be_value) {
            return Named::No;
        }
        may_be_value = rest.starts_with(b"--") && !rest[..length].contains(&b'=');
        from = name.end;
    }
    Named::No
}

/// The value behind a name, in an assignment that begins at `at`.
fn behind_name(runs: &mut Runs, at: usize, name: Range<usize>) -> Named {
    let text = runs.text;
    let word = &text[name.clone()];
    // Of prose, or `NAME=value`.
    if word.ends_with(b",") || word.iter().any(|it| b"=;()".contains(it)) {
        return Named::No;
    }
    let spaces = |from| spaces(text, from);
    let mut from = name.end + spaces(name.end);
    if text[from..].starts_with(b"<<<") {
        from += 3 + spaces(from + 3);
    }
    match text.get(from) {
        Some(b'\r' | b'\n' | b'-' | b'(') => Named::No,
        _ => match of_name(runs, name, from, true) {
            Named::Open(_, secret) => Named::Open(at, secret),
            found => found,
        },
    }
}

fn spaces(text: &[u8], from: usize) -> usize {
    text[from..].iter().take(8).take_while(|it| b" \t".contains(it)).count()
}

/// The password of a line of `.netrc`, behind `password `.
pub(crate) fn netrc(runs: &mut Runs, at: usize, behind: usize) -> Named {
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

#[cfg(test)]
mod tests;

//! The runners of GitHub and Azure execute commands in a job's log. None may come from an agent.
//!
//! GitHub's obeys a line that begins with `::`, white space before it ignored, and `##[` anywhere.
//! Azure's obeys `##[` and `##vso[`. Gitea's sets the same variable as GitHub's.

use std::env;
use std::ffi::OsStr;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};

/// Whether output goes to the log of a GitHub workflow or an Azure pipeline.
pub(crate) fn is_watched() -> bool {
    is_on("GITHUB_ACTIONS") || is_on("TF_BUILD")
}

/// Whether the runner can be asked to ignore commands for a while: Azure's cannot.
pub(crate) fn can_be_muted() -> bool {
    !is_on("TF_BUILD")
}

/// Whether a variable is set, and not to something that means no.
fn is_on(variable: &str) -> bool {
    let off = |value: &OsStr| ["", "0", "false"].iter().any(|no| value.eq_ignore_ascii_case(no));
    env::var_os(variable).is_some_and(|value| !off(&value))
}

/// A word that nobody can guess: 128 bits from the system's random numbers, in hexadecimal.
pub(crate) fn token() -> String {
    // Each state has keys of its own, from the operating system; what it makes of a number cannot
    // be told without them.
    let half = || RandomState::new().hash_one(0_u64);
    format!("{:016x}{:016x}", half(), half())
}

/// Passes JSON on with every workflow command in it broken, and the JSON equal: `#` and `:` become
/// `\u0023` and `\u003a` where a command could begin. What is no JSON is broken the same way.
#[derive(Debug)]
pub(crate) struct Guard<W: Write> {
    inner: W,
    /// Number signs that were seen and not yet passed on, at most two.
    signs: u8,
    /// Only what the runner may skip stands before this byte on its line.
    at_start: bool,
    /// A colon at the start of a line was seen and not yet passed on.
    colon: bool,
}

impl<W: Write> Guard<W> {
    /// Guards this writer.
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, signs: 0, at_start: true, colon: false }
    }

    fn byte(&mut self, byte: u8, out: &mut Vec<u8>) {
        if byte == b':' && self.colon {
            out.extend_from_slice(b"\\u003a\\u003a");
            (self.colon, self.at_start) = (false, false);
            return;
        }
        if byte == b'#' && self.signs < 2 {
            self.release_colon(out);
            self.signs += 1;
            return;
        }
        // Of `##vso[` the first letter is enough: what is escaped needlessly is equal all the same.
        if matches!(byte, b'[' | b'v') && self.signs == 2 {
            out.extend_from_slice(b"\\u0023\\u0023");
            self.signs = 0;
        }
        if byte == b'#' {
            // A third one: the first is no longer part of a command.
            out.push(byte);
            return;
        }
        self.release(out);
        if byte == b':' && self.at_start {
            self.colon = true;
            return;
        }
        out.push(byte);
        // Carriage returns end a line for the runner, and it knows more white space than ASCII's.
        self.at_start = match byte {
            b'\n' | b'\r' => true,
            0..=b' ' | 0x80.. => self.at_start,
            _ => false,
        };
    }

    fn release_colon(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.colon) {
            out.push(b':');
            self.at_start = false;
        }
    }

    fn release(&mut self, out: &mut Vec<u8>) {
        self.release_colon(out);
        if self.signs > 0 {
            self.at_start = false;
        }
        out.extend(std::iter::repeat_n(b'#', usize::from(std::mem::take(&mut self.signs))));
    }
}

/// Writes text with the runner's commands switched off, and on again at its end.
#[derive(Debug)]
pub(crate) struct Muted<W: Write> {
    inner: W,
    token: String,
    begun: bool,
    line_open: bool,
}

impl<W: Write> Muted<W> {
    /// Mutes this writer, from the first byte.
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, token: token(), begun: false, line_open: false }
    }
}

impl<W: Write> Write for Muted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.begun {
            self.inner.write_all(format!("::stop-commands::{}\n", self.token).as_bytes())?;
            self.begun = true;
        }
        let count = self.inner.write(bytes)?;
        if let Some(last) = bytes[..count].last() {
            self.line_open = *last != b'\n';
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W: Write> Drop for Muted<W> {
    fn drop(&mut self) {
        if self.begun {
            let line_break = if self.line_open { "\n" } else { "" };
            // If it fails, the commands of the step stay switched off: safe.
            let _ = writeln!(self.inner, "{line_break}::{}::", self.token);
            let _ = self.inner.flush();
        }
    }
}

/// At the end of the output what was held back is passed on: the sign of a command that never was.
impl<W: Write> Drop for Guard<W> {
    fn drop(&mut self) {
        let mut out = Vec::new();
        self.release(&mut out);
        // At most two bytes, of a last line that has no end; its loss is no silent success.
        let _ = self.inner.write_all(&out);
    }
}

impl<W: Write> Write for Guard<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut out = Vec::with_capacity(bytes.len() + 16);
        for &byte in bytes {
            self.byte(byte, &mut out);
        }
        self.inner.write_all(&out)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded(pieces: &[&str]) -> String {
        let mut out = Vec::new();
        let mut guard = Guard::new(&mut out);
        for piece in pieces {
            guard.write_all(piece.as_bytes()).expect("memory takes it");
        }
        drop(guard);
        String::from_utf8(out).expect("it was text")
    }

    #[test]
    fn commands_are_broken_and_nothing_else_changes() {
        let cases = [
            ("{\"a\":\"x::y #[ # ## [ std::io\"}\n", "{\"a\":\"x::y #[ # ## [ std::io\"}\n"),
            ("{\"a\":\"##[error]x\"}\n", "{\"a\":\"\\u0023\\u0023[error]x\"}\n"),
            ("a ##vso[task.x]\n", "a \\u0023\\u0023vso[task.x]\n"),
            ("###[a\n", "#\\u0023\\u0023[a\n"),
            ("####\n", "####\n"),
            ("::error::x\n", "\\u003a\\u003aerror::x\n"),
            (" \t::x\n", " \t\\u003a\\u003ax\n"),
            ("\u{a0}::x\n", "\u{a0}\\u003a\\u003ax\n"),
            ("a\r::x\n", "a\r\\u003a\\u003ax\n"),
            (": :x\n:", ": :x\n:"),
            (":#::x##", ":#::x##"),
            ("#::x", "#::x"),
        ];
        for (raw, safe) in cases {
            assert_eq!(guarded(&[raw]), safe, "{raw:?}");
            let bytes: Vec<String> = raw.chars().map(String::from).collect();
            let pieces: Vec<&str> = bytes.iter().map(String::as_str).collect();
            assert_eq!(guarded(&pieces), safe, "{raw:?}, in pieces");
        }
    }

    /// Goal: no text makes a command. Method: many random texts of what hurts, in pieces, held
    /// against the runner's grammar; where the text is JSON it stays equal.
    #[test]
    fn random_texts_make_no_command() {
        const PIECES: [&str; 13] =
            ["#", "#", "[", "vso[", ":", ":", "\n", "\r", " ", "\u{a0}", "a", "{\"", "\"}"];
        let mut state = 1_u64;
        let mut next = move |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(state >> 33).expect("31 bits fit") % bound
        };
        for _ in 0..200_000 {
            let pieces: Vec<&str> = (0..next(10)).map(|_| PIECES[next(PIECES.len())]).collect();
            let safe = guarded(&pieces);
            assert!(!safe.contains("##[") && !safe.contains("##vso["), "{pieces:?}");
            for line in safe.split(['\n', '\r']) {
                assert!(!line.trim_start().starts_with("::"), "{pieces:?}");
            }
            let raw = pieces.concat();
            if let Ok(value) = serde_json::from_str::<serde_json::Value>(&raw) {
                assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).ok(), Some(value));
            }
        }
    }

    #[test]
    fn muted_text_stands_between_two_lines_that_nobody_can_guess() {
        let mut out = Vec::new();
        let mut muted = Muted::new(&mut out);
        muted.write_all(b"a").expect("memory takes it");
        muted.write_all(b"::error::b").expect("memory takes it");
        drop(muted);
        let text = String::from_utf8(out).expect("it was text");
        let lines: Vec<&str> = text.lines().collect();
        let token = lines[0].strip_prefix("::stop-commands::").expect("it begins with the command");
        assert_eq!(lines[1..], ["a::error::b", &format!("::{token}::")]);
        let mut nothing = Vec::new();
        drop(Muted::new(&mut nothing));
        assert_eq!(nothing, b"");
    }

    #[test]
    fn tokens_are_long_and_never_the_same() {
        let (a, b) = (token(), token());
        assert_eq!(a.len(), 32);
        assert_ne!(a, b);
    }
}

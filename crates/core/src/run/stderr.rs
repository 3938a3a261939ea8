//! The command's standard error: passed on as it comes; its end, redacted if it must be, is
//! kept for the report, and the lines that the profile knows for the check.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use super::producer::StderrCopy;
use super::stream::ProducerStream;
use super::watch::Watch;
use crate::check::says_something;
use crate::profile::Profile;

/// The end of a command's standard error that is kept, in bytes.
const STDERR_BYTES_MAX: usize = 64 * 1024;

const STDERR_LINES_MAX: usize = 10;

/// What is kept of a line that the profile knows, in bytes.
const KNOWN_LINE_BYTES_MAX: usize = 4 * 1024;

/// What is kept of all of them. The first ones make room.
const KNOWN_BYTES_MAX: usize = 256 * 1024;

/// What is kept of standard error.
#[derive(Debug, Default)]
pub(super) struct Stderr {
    /// The last lines.
    pub(super) last: Vec<String>,
    /// The lines that the profile knows, as they came.
    pub(super) known: Vec<String>,
}

/// The lines that the profile knows; all lines until the check knows the profile.
#[derive(Debug)]
struct StderrLines {
    watch: Watch,
    profile: Option<Arc<Profile>>,
    /// The start of the line that is not yet complete.
    open: Vec<u8>,
    kept: VecDeque<String>,
    bytes: usize,
}

impl StderrLines {
    fn new(watch: Watch) -> Self {
        let (open, kept) = (Vec::new(), VecDeque::new());
        Self { watch, profile: None, open, kept, bytes: 0 }
    }

    fn feed(&mut self, bytes: &[u8]) {
        if self.profile.is_none() {
            self.profile.clone_from(&self.watch.state().profile);
        }
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = KNOWN_LINE_BYTES_MAX - self.open.len();
            self.open.extend(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let text = String::from_utf8_lossy(&self.open);
        let line = as_shown(text.trim_end_matches('\n'));
        let is_known = |profile: &Profile| profile.known_stderr(line).is_some();
        if !line.is_empty() && self.profile.as_deref().is_none_or(is_known) {
            self.bytes += line.len() + size_of::<String>();
            self.kept.push_back(line.to_owned());
        }
        self.open.clear();
        while self.bytes > KNOWN_BYTES_MAX {
            let first = self.kept.pop_front().map(|line| line.len() + size_of::<String>());
            self.bytes -= first.unwrap_or(self.bytes);
        }
    }

    fn finish(mut self) -> Vec<String> {
        if !self.open.is_empty() {
            self.end_line();
        }
        self.kept.into()
    }
}

/// A line as a terminal leaves it: a carriage return begins it anew.
fn as_shown(line: &str) -> &str {
    line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default()
}

/// Passes a pipe on to our own standard error, in a separate thread: neither a flood nor a slow
/// reader delays the stream. The thread ends when everything is passed on.
pub(super) fn pass_on(
    mut pipe: ProducerStream,
    copy: StderrCopy,
    watch: Watch,
) -> io::Result<JoinHandle<Stderr>> {
    thread::Builder::new().spawn(move || {
        let mut tail = VecDeque::new();
        let mut known = StderrLines::new(watch);
        let mut buffer = vec![0; 16 * 1024];
        let StderrCopy { out: mut ours, mut redactor } = copy;
        // The tail is cut from what is written: half a secret would not be found in it.
        let mut write = |bytes: &[u8]| {
            tail.extend(bytes);
            let over = tail.len().saturating_sub(STDERR_BYTES_MAX);
            tail.drain(..over);
            // Without a reader of ours, the pipe is still read.
            if ours.as_mut().is_some_and(|ours| ours.write_all(bytes).is_err()) {
                ours = None;
            }
        };
        while let Ok(count @ 1..) = pipe.read(&mut buffer) {
            let bytes = &buffer[..count];
            known.feed(bytes);
            let redacted = redactor.as_mut().map(|redactor| {
                let mut ready = Vec::new();
                redactor.feed(bytes, &mut ready);
                ready
            });
            write(redacted.as_deref().unwrap_or(bytes));
        }
        if let Some(mut redactor) = redactor {
            let mut rest = Vec::new();
            redactor.finish(&mut rest);
            write(&rest);
        }
        Stderr { last: last_lines(tail.make_contiguous()), known: known.finish() }
    })
}

/// The last lines. If none of them says something, the first of them makes room for the last one
/// that does.
fn last_lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().map(as_shown).filter(|line| !line.trim().is_empty());
    let lines: Vec<&str> = lines.collect();
    let first = lines.len().saturating_sub(STDERR_LINES_MAX);
    // A stack, or the usage of the command, may be longer than what is kept.
    let said = lines.iter().rposition(|line| says_something(line)).filter(|at| *at < first);
    let last = &lines[first + usize::from(said.is_some())..];
    said.map(|at| &lines[at]).into_iter().chain(last).map(|&line| line.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::{KNOWN_BYTES_MAX, StderrLines, last_lines};
    use crate::run::producer::Timers;
    use crate::run::watch::Watch;

    #[test]
    fn lines_are_kept_if_the_profile_knows_them() {
        let profile = json!({
            "name": "noisy",
            "title": "x",
            "tags": { "at": ["/t"] },
            "noise": [
                { "matches": "^no$", "is": "stderr" },
                { "matches": "^denied: ", "is": "stderr", "means": "denied-call" },
                { "matches": "^dead", "is": "stderr", "failed": true },
                { "matches": "^text", "is": "banner", "failed": true }
            ]
        });
        let (watch, _wake) = Watch::new(&Timers::default()).expect("a watch");
        let mut lines = StderrLines::new(watch.clone());
        lines.feed(b"early\nden");
        watch.state().profile = Some(Arc::new(serde_json::from_value(profile).expect("a profile")));
        lines.feed(b"ied: a\nno\n%\rdenied: b\r\ntext\ndea");
        lines.feed("x".repeat(KNOWN_BYTES_MAX).as_bytes());
        lines.feed(b"\ndead");
        let kept = lines.finish();
        assert_eq!(kept[..3], ["early", "denied: a", "denied: b"]);
        assert_eq!(kept[3..], ["dead"], "of a long line, the start counts");
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let (watch, _wake) = Watch::new(&Timers::default()).expect("a watch");
        let mut lines = StderrLines::new(watch);
        lines.feed("12345678\n\n".repeat(KNOWN_BYTES_MAX).as_bytes());
        assert_eq!(lines.finish().len(), KNOWN_BYTES_MAX / (8 + size_of::<String>()));
    }

    #[test]
    fn what_a_progress_line_was_before_is_not_kept() {
        let lines = |text: &str| last_lines(text.as_bytes());
        assert_eq!(lines("\rprogress 1%\rprogress 2%\rError: no key\n"), ["Error: no key"]);
        assert_eq!(lines("one\r\n\r\ntwo\r"), ["one", "two"]);
        assert_eq!(lines("50%\r\r\n"), ["50%"]);
    }

    #[test]
    fn the_line_in_front_of_a_stack_is_kept() {
        let stack = "    at call (file.js:1)\n".repeat(12);
        let lines =
            |end: &str| last_lines(format!("start\nError: no key\n{stack}{end}").as_bytes());
        let kept = lines("Node.js v22.11.0\n");
        assert_eq!((kept.len(), &*kept[0], &*kept[9]), (10, "Error: no key", "Node.js v22.11.0"));
        assert_eq!(lines("bye\n")[0], "    at call (file.js:1)");
    }
}

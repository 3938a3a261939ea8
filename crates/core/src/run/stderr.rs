//! The command's standard error: passed on as it comes; its end, redacted if it must be, is
//! kept for the report, and the lines that the profile knows for the check.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use super::producer::StderrCopy;
use super::stream::ProducerStream;
use super::watch::Watch;
use crate::check::{as_shown, last_lines};
use crate::profile::Profile;

/// The end of a command's standard error that is kept, in bytes.
const STDERR_BYTES_MAX: usize = 64 * 1024;

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

/// Passes a pipe on to our own standard error, in a separate thread: a flood does not delay the
/// stream, and the time in which a slow reader blocks the command does not count as its own. The
/// thread ends when everything is passed on.
pub(super) fn pass_on(
    mut pipe: ProducerStream,
    copy: StderrCopy,
    watch: Watch,
) -> io::Result<JoinHandle<Stderr>> {
    thread::Builder::new().spawn(move || {
        let mut tail = VecDeque::new();
        let mut known = StderrLines::new(watch.clone());
        let mut buffer = vec![0; 16 * 1024];
        let StderrCopy { out: mut ours, mut redactor } = copy;
        // The tail is cut from what is written: half a secret would not be found in it.
        let mut write = |bytes: &[u8]| {
            tail.extend(bytes);
            let over = tail.len().saturating_sub(STDERR_BYTES_MAX);
            tail.drain(..over);
            // Without a reader of ours, the pipe is still read.
            if let Some(out) = &mut ours
                && watch.writes_stderr(|| out.write_all(bytes)).is_err()
            {
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
        Stderr {
            last: last_lines(&String::from_utf8_lossy(tail.make_contiguous())),
            known: known.finish(),
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::{KNOWN_BYTES_MAX, StderrLines};
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
}

//! The command's standard error: passed on as it comes; its end, redacted if it must be, is
//! kept for the report.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::thread::{self, JoinHandle};

use super::producer::StderrCopy;
use super::stream::ProducerStream;
use crate::check::says_something;

/// The end of a command's standard error that is kept, in bytes.
const STDERR_BYTES_MAX: usize = 64 * 1024;

const STDERR_LINES_MAX: usize = 10;

/// Passes a pipe on to our own standard error, in a separate thread: neither a flood nor a slow
/// reader delays the stream. The thread ends when everything is passed on; it returns the last
/// lines.
pub(super) fn pass_on(
    mut pipe: ProducerStream,
    copy: StderrCopy,
) -> io::Result<JoinHandle<Vec<String>>> {
    thread::Builder::new().spawn(move || {
        let mut tail = VecDeque::new();
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
        last_lines(tail.make_contiguous())
    })
}

/// The last lines, as a terminal leaves them: a carriage return begins a line anew. If none of them
/// says something, the first of them makes room for the last one that does.
fn last_lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().map(|line| line.trim_end_matches('\r').rsplit('\r').next());
    let lines = lines.flatten().filter(|line| !line.trim().is_empty());
    let lines: Vec<&str> = lines.collect();
    let first = lines.len().saturating_sub(STDERR_LINES_MAX);
    // A stack, or the usage of the command, may be longer than what is kept.
    let said = lines.iter().rposition(|line| says_something(line)).filter(|at| *at < first);
    let last = &lines[first + usize::from(said.is_some())..];
    said.map(|at| &lines[at]).into_iter().chain(last).map(|&line| line.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::last_lines;

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

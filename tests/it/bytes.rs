//! No cut of the bytes fools the checker: neither how they arrive, nor where they end.

use std::io::{self, Read};

use ndjson_check::{Outcome, Verdict};

use crate::streams::{cases, json_report, judge};

/// A stream that comes in pieces of these sizes, over and over.
pub(crate) struct Pieces<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) sizes: &'a [usize],
    pub(crate) next: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.sizes[self.next % self.sizes.len()];
        self.next += 1;
        let count = size.min(buffer.len()).min(self.bytes.len());
        let (piece, rest) = self.bytes.split_at(count);
        buffer[..count].copy_from_slice(piece);
        self.bytes = rest;
        Ok(count)
    }
}

/// Goal: the report does not depend on how the operating system cut the bytes.
/// Method: check every fixture whole, then in pieces of one byte and of other sizes.
#[test]
fn read_size_does_not_change_the_report() {
    for case in cases() {
        let (bytes, mut checker) = (case.bytes(), case.checker());
        let whole = json_report(&bytes[..], &mut checker);
        for sizes in [&[1][..], &[2, 3, 7], &[4095, 1], &[65_535, 2]] {
            let pieces = Pieces { bytes: &bytes, sizes, next: 0 };
            assert_eq!(
                whole,
                json_report(pieces, &mut checker),
                "{}, {sizes:?}",
                case.path.display()
            );
        }
    }
}

/// Goal: a stream that is cut anywhere is never called complete.
/// Method: check every byte prefix of every conforming stream, and every fifteenth one that ends
/// long before a long stream does; success may be claimed only when the last event, the terminal
/// one, is whole.
#[test]
fn no_prefix_is_called_complete() {
    const LAST_BYTES: usize = 2_000;
    let mut prefixes = 0;
    for case in cases() {
        if !case.is_good_run() {
            continue;
        }
        let (bytes, mut checker) = (case.bytes(), case.checker());
        let whole = bytes.trim_ascii_end().len();
        for end in (0..=bytes.len()).filter(|end| end % 15 == 0 || end + LAST_BYTES > bytes.len()) {
            let (summary, rules) = judge(&bytes[..end], &mut checker);
            let complete =
                summary.verdict == Verdict::Conforming && summary.outcome == Outcome::Succeeded;
            if end < whole || end == bytes.len() {
                let expected = end == bytes.len();
                assert_eq!(complete, expected, "{} to byte {end}: {rules:?}", case.path.display());
            }
            prefixes += 1;
        }
    }
    assert!(prefixes > 50_000, "only {prefixes} prefixes");
}

/// Goal: LF and CRLF are the same stream.
#[test]
fn line_endings_do_not_change_the_diagnostics() {
    let mut files = 0;
    for case in cases() {
        let stream = case.bytes();
        let text = String::from_utf8_lossy(&stream);
        // Where the ending itself, or the length of a line, is the point.
        let is_about_bytes = ["not-ndjson", "truncated-line", "line-too-long", "blank-line"];
        if is_about_bytes.contains(&case.folder()) || text.contains('\r') {
            continue;
        }
        let crlf: Vec<u8> = stream
            .iter()
            .flat_map(|byte| match byte {
                b'\n' => &b"\r\n"[..],
                byte => std::slice::from_ref(byte),
            })
            .copied()
            .collect();
        let mut checker = case.checker();
        let (lf, crlf) = (judge(&stream[..], &mut checker), judge(&crlf[..], &mut checker));
        assert_eq!(lf.0.rule_counts, crlf.0.rule_counts, "{}", case.path.display());
        assert_eq!(lf.0.events, crlf.0.events, "{}", case.path.display());
        files += 1;
    }
    assert!(files > 80, "only {files} streams");
}

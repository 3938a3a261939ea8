//! Replaces the content of a stream, so that it is judged the same.
//!
//! The stream is read as the check reads it: its lines, or the elements of its array, its profile,
//! its schemas. Each byte stays where it is: a letter becomes another letter, and nothing is longer
//! or shorter than before. `docs/redaction.md` says what stays.

mod calls;
mod event;
mod fill;
mod plain;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::check::{Checker, Contract, Contracts};
use crate::profile::detect::Detector;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;
use crate::stream::{Ending, Line, LineBuffer, LineParser, parse_line};
use event::EventRedactor;
use fill::Filler;

/// Bytes of a line that is longer than the limit, before they are written without its end.
const SKIPPED_BYTES_MAX: usize = 1024 * 1024;

pub(super) struct ContentStream {
    contracts: Arc<Contracts>,
    state: StreamProfile,
    parser: LineParser,
    lines: LineBuffer,
    /// The bytes that have come and were not written.
    raw: Vec<u8>,
    /// The offset of the first of them in the stream.
    offset: u64,
    /// Offsets of events with a text that differs from the one it repeats.
    mismatches: BTreeSet<u64>,
}

enum StreamProfile {
    Detecting(Detector),
    /// The name of the profile.
    Known(String, Box<EventRedactor>),
    /// Nothing shows the agent: all strings are content.
    Unknown,
}

impl fmt::Debug for ContentStream {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ContentStream").finish_non_exhaustive()
    }
}

impl StreamProfile {
    fn contract<'c>(&self, contracts: &'c Contracts) -> Option<&'c Contract> {
        match self {
            Self::Known(name, _) => contracts.named().or_else(|| contracts.of_profile(name).ok()),
            Self::Detecting(_) | Self::Unknown => None,
        }
    }
}

/// A text with filler in place of letters and digits.
pub(super) fn filled_text(text: &[u8]) -> Vec<u8> {
    let mut filled = text.to_vec();
    Filler::X.text(&mut filled, &[]);
    filled
}

impl ContentStream {
    pub(super) fn new(checker: &Checker) -> Self {
        let contracts = checker.contracts();
        let options = contracts.options();
        Self {
            lines: LineBuffer::new(Vec::new(), options.line_bytes_max(), options.is_array),
            state: StreamProfile::Detecting(Detector::default()),
            parser: LineParser::on_tape(),
            raw: Vec::new(),
            offset: 0,
            mismatches: BTreeSet::new(),
            contracts,
        }
    }

    /// What the check of the stream finds: two texts that differ must not become equal.
    pub(super) fn observe(&mut self, diagnostic: &Diagnostic) {
        if matches!(diagnostic.rule, Rule::DeltaMismatch | Rule::FinalTextMismatch) {
            self.mismatches.extend(diagnostic.offset);
        }
    }

    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut bytes = bytes;
        while !bytes.is_empty() {
            let room = self.lines.room();
            let count = room.len().min(bytes.len());
            room[..count].copy_from_slice(&bytes[..count]);
            self.raw.extend_from_slice(&bytes[..count]);
            self.lines.filled(count);
            bytes = &bytes[count..];
            self.advance(out);
        }
    }

    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        self.lines.end();
        self.settle();
        self.advance(out);
        let rest = self.raw.len();
        self.write_unknown(rest, out);
    }

    /// A line of standard error, as if it were in the stream.
    pub(super) fn stderr_line(&mut self, text: &str) -> Vec<u8> {
        let line = Line::new(0, text.as_bytes(), Ending::Lf);
        let contracts = Arc::clone(&self.contracts);
        let contract = self.state.contract(&contracts);
        match (&mut self.state, contract, parse_line(&line)) {
            (StreamProfile::Known(_, events), Some(contract), Err(defect)) => {
                plain::line(events, contract, &line, &defect)
            }
            _ => filled_text(line.bytes),
        }
    }

    fn advance(&mut self, out: &mut Vec<u8>) {
        if !self.lines.has_begun() {
            return;
        }
        if let StreamProfile::Detecting(detector) = &mut self.state {
            let is_named = self.contracts.named().is_some();
            if !is_named && !detector.observe(self.lines.unread(), || ()) {
                return;
            }
            self.settle();
        }
        let contracts = Arc::clone(&self.contracts);
        let contract = self.state.contract(&contracts);
        while self.lines.is_ready() {
            self.block(contract, out);
        }
        // Of a line that is too long nothing is judged, and it may have no end.
        let skipped = self.raw.len().saturating_sub(self.lines.unread().len());
        if skipped > SKIPPED_BYTES_MAX {
            self.write_unknown(skipped, out);
        }
    }

    /// Chooses the profile, as the check does.
    fn settle(&mut self) {
        let StreamProfile::Detecting(detector) = &mut self.state else { return };
        let chosen = self.contracts.named().or_else(|| {
            let authors = detector.finish(self.lines.unread());
            self.contracts.detected("", detector.has_events, &authors).ok().map(|it| it.0)
        });
        self.state = chosen.map_or(StreamProfile::Unknown, |contract| {
            let name = contract.profile().name.clone();
            StreamProfile::Known(name, Box::new(EventRedactor::new(contract)))
        });
    }

    /// Writes the lines that are ready.
    fn block(&mut self, contract: Option<&Contract>, out: &mut Vec<u8>) {
        let Self { state, parser, lines, raw, offset, mismatches, .. } = self;
        let is_array = lines.array().is_some();
        let mut block = lines.take();
        let mut written = 0;
        while let Some((line, parsed)) = parser.next(&mut block) {
            let at = parsed.as_ref().map_or(line.offset, |event| event.offset);
            let is_mismatch = mismatches.remove(&at);
            let of_texts = if is_mismatch { Filler::Y } else { Filler::X };
            let (start, filled) = match (&mut *state, contract, parsed) {
                (StreamProfile::Known(_, events), Some(contract), Ok(event)) => {
                    (event.offset, events.event(contract, &line, &event, of_texts))
                }
                (StreamProfile::Known(_, events), Some(contract), Err(defect)) => {
                    (line.offset, plain::line(events, contract, &line, &defect))
                }
                _ => (line.offset, plain::unknown(line.bytes, 0)),
            };
            // The beginning of a line that is too long has been written before.
            let in_raw = |at: u64| {
                let at = usize::try_from(at.saturating_sub(*offset)).unwrap_or(usize::MAX);
                at.min(raw.len())
            };
            let (start, end) = (in_raw(start), in_raw(line.offset + line.length));
            let gap = written.min(start)..start;
            if is_array {
                let filled = plain::unknown(&raw[gap.clone()], 0);
                raw[gap].copy_from_slice(&filled);
            }
            if filled.is_empty() {
                plain::binary(&mut raw[start..end]);
            } else {
                let old = &line.bytes[line.bytes.len().saturating_sub(filled.len())..];
                for (at, (new, old)) in filled.iter().zip(old).enumerate() {
                    if new != old && start + at < end {
                        raw[start + at] = *new;
                    }
                }
            }
            written = end;
        }
        // What ends the last line is written with what follows it.
        out.extend(raw.drain(..written));
        *offset += written as u64;
    }

    /// Writes bytes that are not part of a line that is judged.
    fn write_unknown(&mut self, count: usize, out: &mut Vec<u8>) {
        let mut bytes: Vec<u8> = self.raw.drain(..count).collect();
        self.offset += count as u64;
        if bytes.iter().any(|byte| !byte.is_ascii_whitespace()) {
            plain::binary(&mut bytes);
        }
        out.extend(bytes);
    }
}

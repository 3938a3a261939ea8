//! Reports, to read or to parse.

mod human;
mod json;

use serde::Serialize;

use crate::check::{Outcome, StreamSummary, Verdict};

pub use human::Human;
pub use json::{Json, SCHEMA};

/// The sum of several streams.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Totals {
    /// Streams checked to their end.
    pub streams: u64,
    /// Streams that conform.
    pub conforming: u64,
    /// Streams that do not.
    pub non_conforming: u64,
    /// Streams whose run succeeded.
    pub succeeded: u64,
    /// Streams whose run failed.
    pub failed: u64,
    /// Streams that ended before their run did.
    pub truncated: u64,
    /// Streams that were abandoned because a timeout fired.
    pub timed_out: u64,
    /// Inputs that could not be read to their end.
    pub not_checked: u64,
    /// Diagnostics of severity error.
    pub errors: u64,
    /// Diagnostics of severity warning.
    pub warnings: u64,
}

impl Totals {
    /// Adds a stream.
    pub fn add(&mut self, stream: &StreamSummary) {
        self.streams += 1;
        match stream.verdict {
            Verdict::Conforming => self.conforming += 1,
            Verdict::NonConforming => self.non_conforming += 1,
        }
        match stream.outcome {
            Outcome::Succeeded => self.succeeded += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Truncated => self.truncated += 1,
            Outcome::TimedOut => self.timed_out += 1,
        }
        self.errors += stream.errors;
        self.warnings += stream.warnings;
    }
}

/// A writer that keeps its first failure, and writes nothing after it.
struct Sink<W> {
    writer: W,
    failure: Option<std::io::Error>,
}

impl<W: std::io::Write> Sink<W> {
    fn new(writer: W) -> Self {
        Self { writer, failure: None }
    }

    fn write(&mut self, text: &str) {
        if self.failure.is_none() {
            self.failure = self.writer.write_all(text.as_bytes()).err();
        }
    }

    fn flush(&mut self) {
        if self.failure.is_none() {
            self.failure = self.writer.flush().err();
        }
    }

    /// The writer, or its first failure.
    fn finish(mut self) -> std::io::Result<W> {
        self.flush();
        match self.failure {
            Some(error) => Err(error),
            None => Ok(self.writer),
        }
    }
}

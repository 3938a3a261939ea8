//! What a check amounts to: of one stream, and of all of them.

use std::collections::BTreeMap;

use crate::check::stage::calls::{CallCounts, CallRow};
use crate::check::producer_exit::Status;
use crate::facts::Usage;
use crate::rules::Rule;
use crate::check::verdict::{Format, Outcome, Verdict};

/// What the check of one stream amounts to.
#[derive(Debug, Clone)]
pub struct StreamSummary {
    /// The stream's name: a path, or `-`.
    pub stream: String,
    /// The profile it was held against.
    pub profile: String,
    /// What the producer was asked to write, as far as the stream shows it.
    pub format: Format,
    /// Whether the stream keeps its contract.
    pub verdict: Verdict,
    /// How the run ended.
    pub outcome: Outcome,
    /// Lines, blank ones included.
    pub lines: u64,
    /// Lines that are events.
    pub events: u64,
    /// Size of the stream in bytes.
    pub bytes: u64,
    /// Diagnostics of severity error.
    pub errors: u64,
    /// Diagnostics of severity warning.
    pub warnings: u64,
    /// Diagnostics of each rule that was raised, those not printed included.
    pub rules: BTreeMap<Rule, u64>,
    /// The session's id; the first, if it changed.
    pub session_id: Option<String>,
    /// How many tool calls there were.
    pub calls: CallCounts,
    /// The tool calls in the order in which they appeared; bounded.
    pub tool_calls: Vec<CallRow>,
    /// The producer's exit status, where it is known.
    pub status: Option<Status>,
    /// The last lines of its standard error, if it did not succeed; empty where not known.
    pub stderr: Vec<String>,
    /// The run's duration in milliseconds, as the producer gives it.
    pub duration_ms: Option<u64>,
    /// The tokens used, as the producer gives them.
    pub usage: Usage,
    /// Size of the assistant's text in bytes.
    pub text_bytes: u64,
    /// What else a reader of the report must know: bounds that were reached, repeats not shown.
    pub notes: Vec<String>,
}

/// What the check of all streams amounts to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunSummary {
    /// Streams checked to their end.
    pub streams: u64,
    /// Of these, those that conform.
    pub conforming: u64,
    /// Those that do not.
    pub non_conforming: u64,
    /// Those whose run succeeded.
    pub succeeded: u64,
    /// Those whose run failed.
    pub failed: u64,
    /// Those that ended before their run did.
    pub truncated: u64,
    /// Those that were given up because a timeout fired.
    pub timed_out: u64,
    /// Inputs that could not be read to their end.
    pub not_checked: u64,
    /// Diagnostics of severity error.
    pub errors: u64,
    /// Diagnostics of severity warning.
    pub warnings: u64,
    /// Whether something could not be written.
    pub unwritten: bool,
    /// The exit code that a command has where ours would say no more: its own, or that it could
    /// not start.
    pub own_code: Option<u8>,
}

impl RunSummary {
    /// Counts a stream.
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

    /// The exit code of the run: could not be checked before not conforming before failed.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self { unwritten: false, own_code: Some(code), .. } => *code,
            Self { not_checked: 1.., .. }
            | Self { streams: 0, .. }
            | Self { unwritten: true, .. } => 2,
            Self { non_conforming: 1.., .. } => 1,
            Self { timed_out: 1.., .. } => 4,
            // A rule may have been turned down, but the run has not succeeded for that.
            Self { failed: 1.., .. } | Self { truncated: 1.., .. } => 3,
            _ => 0,
        }
    }
}

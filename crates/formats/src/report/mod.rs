//! Reports, to read or to parse.

mod alike;
mod annotations;
mod answers;
mod baseline_writer;
mod bounded;
mod call_names;
mod defect_words;
mod drift;
mod end_words;
mod first_findings;
mod headline;
mod html;
mod human;
mod human_stream;
mod json;
mod junit;
mod markdown;
mod markdown_sections;
mod markdown_stats;
mod markdown_text;
mod merge;
mod plain_words;
mod quoted;
mod sarif;
mod stats;
mod stats_text;
mod step_outputs;
mod summary_text;
mod unknown_text;
mod worst;
mod wrapped;

use std::borrow::Cow;
use std::ops::AddAssign;

use ndjson_check_core::{Outcome, Rule, StreamSummary, Verdict};
use serde::{Deserialize, Serialize};

pub use annotations::Annotations;
pub use answers::Answers;
pub use baseline_writer::BaselineWriter;
pub use drift::DriftReport;
pub use first_findings::FirstFindings;
pub use headline::Headline;
pub use html::{Html, PageFolder};
pub use human::HumanReport;
pub(super) use json::{Change, ChangedItem, diff_line};
pub use json::{JsonReport, SCHEMA};
pub use junit::Junit;
pub use markdown::Markdown;
pub(crate) use markdown_text::fenced;
pub use merge::MergedReports;
pub use sarif::Sarif;
pub(super) use stats_text::{TextTable, duration};
pub use step_outputs::StepOutputs;
pub use summary_text::{dollars, short as short_number};
pub(super) use summary_text::{grouped, outcome};
pub(super) use unknown_text::name as unknown_name;
pub use wrapped::push_wrapped;

/// The file of a stream as a service knows it, by its path in the repository. None if the stream is
/// no file there.
pub type FileOf = Box<dyn Fn(&str) -> Option<String>>;

/// The name of a stream that is the same wherever the folder is, for fingerprints.
pub type NameOf = Box<dyn Fn(&str) -> String>;

/// What a reader calls a stream: standard input is named `-`, and a session in it `-#1`.
pub(crate) fn stream_name(name: &str) -> Cow<'_, str> {
    let session = name.strip_prefix('-');
    let number = session.and_then(|session| session.strip_prefix('#'));
    let is_stdin = session == Some("") || number.is_some_and(|it| it.parse::<u64>().is_ok());
    match session.filter(|_| is_stdin) {
        Some(session) => Cow::Owned(format!("standard input{session}")),
        None => Cow::Borrowed(name),
    }
}

fn page_url(rule: Rule) -> String {
    format!("{}/blob/HEAD/crates/core/src/rules/{rule}.md", env!("CARGO_PKG_REPOSITORY"))
}

/// The sum of several streams.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunTotals {
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
    /// Streams of attempts that were tried again; they are in no count above but the first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tried_again: u64,
    /// Inputs that could not be read to their end.
    pub not_checked: u64,
    /// Diagnostics of severity error.
    pub errors: u64,
    /// Diagnostics of severity warning.
    pub warnings: u64,
    /// Diagnostics that a baseline accepts; they are in no other count.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub known: u64,
    /// Entries of the baseline without a diagnostic.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stale: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl RunTotals {
    /// Adds a stream.
    pub fn add(&mut self, stream: &StreamSummary) {
        self.streams += 1;
        if stream.was_tried_again() {
            self.tried_again += 1;
        } else {
            self.judge(stream);
        }
        self.errors += stream.errors;
        self.warnings += stream.warnings;
        self.known += stream.known;
    }

    /// The exit code of the program, as its help lists them. `accepted` is how many inputs may be
    /// left unchecked.
    pub fn exit_code(&self, accepted: u64) -> u8 {
        match self {
            _ if self.not_checked > accepted => 2,
            Self { streams: 0, .. } => 2,
            Self { non_conforming: 1.., .. } | Self { stale: 1.., .. } => 1,
            Self { timed_out: 1.., .. } => 4,
            // A rule may be turned off, but that does not make the run a success.
            Self { failed: 1.., .. } | Self { truncated: 1.., .. } => 3,
            _ => 0,
        }
    }

    fn judge(&mut self, stream: &StreamSummary) {
        match stream.verdict {
            Verdict::Conforming => self.conforming += 1,
            Verdict::NonConforming => self.non_conforming += 1,
        }
        match stream.outcome {
            Outcome::Succeeded => self.succeeded += 1,
            Outcome::Truncated => self.truncated += 1,
            Outcome::TimedOut => self.timed_out += 1,
            _ => self.failed += 1,
        }
    }
}

impl AddAssign for RunTotals {
    fn add_assign(&mut self, other: Self) {
        let Self {
            streams,
            conforming,
            non_conforming,
            succeeded,
            failed,
            truncated,
            timed_out,
            tried_again,
            not_checked,
            errors,
            warnings,
            known,
            stale,
        } = other;
        let add = |sum: &mut u64, other: u64| *sum = sum.saturating_add(other);
        add(&mut self.streams, streams);
        add(&mut self.conforming, conforming);
        add(&mut self.non_conforming, non_conforming);
        add(&mut self.succeeded, succeeded);
        add(&mut self.failed, failed);
        add(&mut self.truncated, truncated);
        add(&mut self.timed_out, timed_out);
        add(&mut self.tried_again, tried_again);
        add(&mut self.not_checked, not_checked);
        add(&mut self.errors, errors);
        add(&mut self.warnings, warnings);
        add(&mut self.known, known);
        add(&mut self.stale, stale);
    }
}

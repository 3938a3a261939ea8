//! Checks the NDJSON event stream of AI coding agents.
//!
//! A [`Checker`] knows the contracts of agents: which events they write, how tool calls start and
//! complete, which text repeats which, how a run ends. A [`Stream`] takes the bytes of one run and
//! reports each defect as a [`Diagnostic`], as soon as it is known; at the end it returns a
//! [`StreamSummary`] with the verdict (does the stream keep its contract?) and the outcome (did the
//! run succeed?).
//!
//! ```
//! use ndjson_check::{Checker, Diagnostic, Outcome, ProducerExit, Verdict};
//!
//! let mut checker = Checker::builder().build()?;
//! let mut diagnostics: Vec<Diagnostic> = Vec::new();
//!
//! let mut stream = checker.stream("my run");
//! stream.feed(b"{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/app\",", &mut diagnostics)?;
//! stream.feed(b"\"session_id\":\"1\",\"model\":\"Auto\",", &mut diagnostics)?;
//! stream.feed(b"\"apiKeySource\":\"login\",\"permissionMode\":\"default\"}\n", &mut diagnostics)?;
//! let summary = stream.finish(&ProducerExit::default(), &mut diagnostics)?;
//!
//! // The run was cut short: there is no terminal event.
//! assert_eq!(summary.outcome, Outcome::Truncated);
//! assert_eq!(summary.verdict, Verdict::NonConforming);
//! assert_eq!(diagnostics[0].rule.name(), "missing-terminal-event");
//! # Ok::<(), ndjson_check::Error>(())
//! ```
//!
//! A [`Reader`] takes the bytes of one run and returns what happened as [`Event`]s: texts, tool
//! calls, the end. It owns what it needs, so a program can keep any number of them.
//!
//! [`Stream::feed`] does no input or output, so it works in a thread, in an async task, or in a
//! test. [`Checker::check`] reads a whole source. An [`Observer`] is called for every event, with
//! the text and the tool calls in it; [`Human`], [`Json`] and [`Conversion`] are observers that
//! write.
//!
//! The agent is detected by its first events. [`CheckerBuilder::profile`] names it.
//!
//! How the parts work together is described in `docs/architecture.md` of the repository.

mod check;
mod error;
mod facts;
mod fast;
mod json;
mod limits;
mod output;
mod profile;
mod rules;
mod stream;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;

pub use check::{
    CallCounts, CallRow, CheckedEvent, Checker, CheckerBuilder, CompletedCall, Defect, Event,
    EventCall, EventKind, EventTime, Expectation, ExpectedCalls, FailureSign, Figures, Format,
    Limit, Limits, Note, Notice, Observer, Outcome, ProducerExit, RunResult, RunStats, Session,
    SessionFacts, Silence, SlowCall, StopReason, Stream, StreamStart, StreamSummary, TextSegment,
    ToolStats, UnknownKind, UnknownName, Verdict, WantedEvents,
};
pub use check::{LastEvents, Reader};
pub use error::Error;
pub use facts::{CommandCounts, NoticeValues, PlanItem, RunFacts, Server, Usage};
pub use output::convert::{Conversion, To};
pub use output::redact::{Redactor, SECRET_BYTES_MIN, SecretValue};
pub use output::report::{Human, Json, Totals};
pub use profile::detect::ProfileSource;
pub use profile::{ActionKind, CallOutcome, ExitStatus, NoticeKind, PlanState, Reason};
pub use rules::diagnostic::{Diagnostic, SchemaLocation};
pub use rules::{Rule, Severity};

/// For the tests and benches of this package; not part of the interface.
#[doc(hidden)]
pub mod internals {
    use crate::error::Error;

    pub use crate::output::report::SCHEMA as REPORT_SCHEMA;
    pub use crate::profile::LANGUAGE;
    pub use crate::rules::escape::misleads;

    /// The names of the built-in profiles, the default one first.
    pub fn profile_names() -> impl Iterator<Item = &'static str> {
        crate::profile::Profile::names()
    }

    /// The text of a built-in profile.
    ///
    /// # Errors
    ///
    /// When there is none of this name.
    pub fn profile_text(name: &str) -> Result<&'static str, Error> {
        crate::profile::Profile::text(name)
    }

    /// Whether a value satisfies a JSON Schema; both are JSON texts.
    ///
    /// # Errors
    ///
    /// When the schema cannot be used.
    pub fn satisfies(schema: &str, value: &str) -> Result<bool, Error> {
        let parse = |text| serde_json::from_str(text).unwrap_or_default();
        let schema = crate::json::Schema::compile("test", &parse(schema))?;
        let value = crate::json::ParsedJson::Tree(parse(value));
        schema.violations(&value).map(|found| found.is_empty())
    }
}

/// The example of the page about the library is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct LibraryPage;

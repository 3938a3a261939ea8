//! Checks the NDJSON event stream of AI coding agents.
//!
//! A [`Checker`] knows the contracts of agents: which events they write, how tool calls start and
//! complete, which text repeats which, how a run ends. A [`StreamCheck`] takes the bytes of one run
//! and reports each defect as a [`Diagnostic`], as soon as it is known; at the end it returns a
//! [`StreamSummary`] with the verdict (does the stream keep its contract?) and the outcome (did the
//! run succeed?).
//!
//! ```
//! use ndjson_check_core::{Checker, Diagnostic, Outcome, ProducerExit, Verdict};
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
//! # Ok::<(), ndjson_check_core::Error>(())
//! ```
//!
//! A [`Reader`] takes the bytes of one run and returns what happened as [`Event`]s: texts, tool
//! calls, the end. It owns what it needs, so a program can keep any number of them.
//!
//! [`StreamCheck::feed`] does no input or output, so it works in a thread, in an async task, or in
//! a test. [`Checker::check`] reads a whole source. An [`Observer`] is called for every event, with
//! the text and the tool calls in it.
//!
//! The agent is detected by its first events. [`CheckerBuilder::profile`] names it.
//!
//! Without the feature `user-schemas` there are the built-in profiles, and schemas in the keywords
//! that they use; another schema is an error that names the feature.
//!
//! How the parts work together is described in `docs/architecture.md` of the repository.

mod check;
mod error;
mod facts;
mod fast;
mod json;
mod limits;
mod profile;
mod redact;
mod rules;
#[cfg(feature = "run")]
pub mod run;
mod stream;

pub use check::{
    AgentFormat, Answer, Bound, CallCounts, CheckedLine, Checker, CheckerBuilder, CompletedCall,
    Defect, Event, EventCall, EventKind, EventTime, Expectation, ExpectedCalls, FailureSource,
    Figures, IdlePeriod, LastEvents, Limits, MessageUsage, NoRetry, Note, Observer, Outcome, Price,
    ProducerExit, Reader, RunEvents, RunResult, RunStats, Session, SessionFacts, SlowCall,
    StopReason, StreamCheck, StreamStart, StreamSummary, SubAgentStats, TextSegment, ToolCall,
    ToolStats, TurnResult, UnknownKind, UnknownName, Verdict, WantedEvents, Wording, Wordings,
    counted,
};
pub use error::Error;
pub use facts::{
    CommandCounts, Notice, NoticeValues, PlanItem, RetryAfter, RunFacts, Server, Usage,
};
pub use limits::LINE_BYTES_MAX;
pub use profile::detect::ProfileSource;
pub use profile::{
    CallKind, CallOutcome, ChangeKind, EndReason, ErrorSeverity, ExitStatus, FileChange, Media,
    MediaKind, NoticeKind, PlanState, Retryable,
};
#[doc(inline)]
pub use redact::{Redactor, SecretValue};
pub use rules::diagnostic::{Diagnostic, SchemaLocation};
pub use rules::escape;
pub use rules::{Rule, Severity};
pub use stream::StreamLines;

/// For the program, the tests and the benches; not part of the interface.
#[doc(hidden)]
pub mod internals;

//! Checks the NDJSON event stream of AI coding agents.
//!
//! A [`Checker`] knows the contracts of agents: which events they write, how tool calls start and
//! complete, which text repeats which, how a run ends. A [`StreamCheck`] takes the bytes of one run
//! and reports each defect as a [`Diagnostic`], as soon as it is known; at the end it returns a
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
//! [`StreamCheck::feed`] does no input or output, so it works in a thread, in an async task, or in
//! a test. [`Checker::check`] reads a whole source. An [`Observer`] is called for every event, with
//! the text and the tool calls in it. `Written` is an observer that writes an `Output`: a
//! `HumanReport`, a `JsonReport` or a `Converter`. A `Headline` says in one sentence how a run
//! ended. They need the feature `formats`. With the
//! feature `run`, [`run::Command`] starts an agent.
//!
//! The agent is detected by its first events. [`CheckerBuilder::profile`] names it.
//!
//! How the parts work together is described in `docs/architecture.md` of the repository.

pub use ndjson_check_core::*;
#[cfg(feature = "formats")]
pub use ndjson_check_formats::{
    Converter, Form, FormStyle, Headline, HumanReport, JsonReport, Output, RunTotals, Written,
};

/// For the tests and benches of this package, and for the package of Python; not part of the
/// interface.
#[doc(hidden)]
pub mod internals {
    pub use ndjson_check_core::internals::{
        LANGUAGE, profile_names, profile_text, satisfies, without_error_numbers,
    };
    #[cfg(feature = "formats")]
    pub use ndjson_check_formats::REPORT_SCHEMA;
}

/// The example of the page about the library is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct LibraryPage;

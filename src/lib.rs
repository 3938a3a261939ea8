//! Checks the NDJSON event stream of AI coding agents.
//!
//! # The way of the data
//!
//! ```text
//! bytes → Line → Event → Facts → Diagnostic → report
//!                  └─────→ converter → stdout
//! ```
//!
//! One direction. A [`line::LineReader`] cuts the bytes at `\n`; an [`event::Engine`] reads a line
//! as one JSON object; [`facts::Reader`] says what the event means, in words that no producer
//! invented, as its [`profile::Profile`] tells; the stages look at facts and append to what was
//! found; a [`report::Report`] is told. A [`convert::Convert`] sees the same events and facts, and
//! what is new in the text. [`check::check`] is the loop, on one screen.
//!
//! Whose stream it is may have to be found out first: a [`fingerprint::Onlooker`] looks at the
//! first events, and gives the stream back from its start.
//!
//! A stage takes what it is given, changes only its own state, and never prints, reads or knows
//! the next stage. What is wrong with a stream is a [`diagnostic::Diagnostic`], and the next line
//! is checked all the same; only files, schemas, profiles and output can be an [`error::Error`].
//!
//! # Why it is fast, and the same
//!
//! There is a plain way for a line: a tree for it, and the validator walks the tree. It alone knows
//! what is wrong with a line. Beside it are three shortcuts for lines with which nothing is wrong:
//!
//! - a [`tape`], which the validator and the profile read in the tree's place;
//! - a [`schema::Judge`]'s precedents: an event on a tape that differs from a valid one only in
//!   values that the validator does not look at is valid, too;
//! - the memory of [`shape`]s: of a line that differs from an earlier good one only in values that
//!   nobody looked at, nothing is parsed or validated again. The argument stands in that module.
//!
//! Whatever a shortcut does not take goes the plain way. [`contract::Engine`] chooses, and the
//! tests hold all ways against each other, on millions of damaged lines.
//!
//! # What is not on this way
//!
//! [`infer`] drafts profiles: it reads recordings, several times, and writes what a person edits.
//!
//! # The floors
//!
//! A module uses those below it, never those beside or above it; a test holds this list.
//!
//! | floor | modules |
//! |---|---|
//! | 14 | [`run`]: from the command line to the exit code |
//! | 13 | [`cli`]: what can be typed |
//! | 12 | [`check`]: the loop over all stages; `producer`: the command that is run |
//! | 11 | [`report`]: for people and for programs |
//! | 10 | [`summary`]: what a check amounts to; [`convert`]: the stream in another form |
//! | 10 | [`infer`]: a draft of a profile, from recordings |
//! | 9 | the stages: [`vocabulary`], [`sequence`], [`correlation`], [`reassembly`], [`terminal`] |
//! | 8 | [`facts`]: what an event means; [`framing`]; [`contract`]: what streams are held against |
//! | 8 | [`fingerprint`]: whose stream it is |
//! | 7 | [`profile`]: what a producer's events mean, as data |
//! | 6 | [`path`]: how a profile points into an event; [`shape`]: lines like an earlier one |
//! | 5 | [`event`]: a line that is one JSON object |
//! | 4 | [`diagnostic`]: a defect |
//! | 3 | [`schema`]: the validator's only room |
//! | 2 | [`mod@line`]: bytes to lines; [`tape`]: a text as a flat record; [`visible`] |
//! | 2 | [`input`]: where streams come from; [`progress`]: how far the work is, on a terminal |
//! | 1 | [`rule`], [`verdict`], [`error`], [`mod@pointer`], [`pattern`], [`nearest`], `credit` |
//! | 1 | [`descriptor`], [`tee`], [`workflow`]; [`end`]: how the producer ended |
//! | 0 | [`limits`]: every bound |
//!
//! # What is absent
//!
//! - No producer is known by name or key outside `src/profile/builtin`.
//! - Nobody but [`schema`] knows the validator, nobody but [`event`] and [`schema`] which engine
//!   read an event: other modules ask [`event::Node`].
//! - Unsafe code stands in one small module below [`tape`], with its argument.
//! - Nothing opens a network connection; nothing but `producer` starts a process.
//! - Nothing of a stream reaches a terminal or a workflow's log as a command: see [`visible`] and
//!   [`workflow`]. A command's standard error is passed on unchanged.
//! - Nothing that is kept between two lines grows without bound: see [`limits`].
//! - No report depends on a clock, a hash order, the cut of the input or the machine.

pub mod error;
pub mod limits;

pub mod rules;

pub mod json;

pub mod stream;

pub mod profile;

pub mod facts;

pub mod fast;

pub mod check;

pub mod output;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;

/// The README's example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

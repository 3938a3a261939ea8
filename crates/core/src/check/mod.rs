//! The check of streams: [`Checker`] and [`StreamCheck`] are its door.
//!
//! A [`StreamCheck`] takes bytes, or reads them. Until its first events show which agent wrote it,
//! it only collects; then [`stream::LineLoop`] sends each line through the stages.

mod answer;
mod builder;
mod contract;
mod end_of_run;
mod error_text;
mod event;
mod expectation;
mod findings;
mod globs;
mod how_to_call;
mod last_lines;
mod note;
mod observer;
mod paths;
mod prices;
mod reader;
mod run;
mod run_model;
mod single_object;
mod stage;
mod stats;
mod stream;
mod summary;
#[cfg(test)]
mod tests;
mod unknown;
mod updates;
mod why;
mod wording;

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::error::Error;
use crate::profile::detect::{Detector, ProfileSource};
use crate::stream::{ArraySplitter, LineBuffer, LineParser};

use stream::{LineLoop, Memory, StreamBytes, session_name};

pub use answer::Answer;
pub use builder::CheckerBuilder;
pub(crate) use contract::{Contract, Contracts};
pub use end_of_run::{ProducerExit, StopReason};
pub use event::{
    CompletedCall, Defect, Event, EventCall, EventKind, EventTime, Figures, MessageUsage,
    RunEvents, RunResult, Session, SessionFacts, TextSegment, TurnResult,
};
pub use expectation::{Expectation, ExpectedCalls, Limits};
pub use globs::{Globs, NameGlob};
#[cfg(feature = "run")]
pub(crate) use last_lines::{as_shown, last_lines};
pub use note::counted;
pub use note::{Bound, FailureSource, NoRetry, Note};
pub use observer::{CheckedLine, Observer, StreamStart, WantedEvents};
pub use prices::Price;
pub use reader::{LastEvents, Reader};
pub use stage::calls::{CallCounts, ToolCall};
pub use stage::repeats::REPEATED_CALLS;
pub(crate) use stage::schema::validate;
pub use stats::{IdlePeriod, RunStats, SlowCall, SubAgentStats, ToolStats};
pub use summary::{AgentFormat, Outcome, StreamSummary, Verdict};
pub use unknown::{UnknownKind, UnknownName};
pub use wording::{Wording, Wordings};

use updates::{CallChange, CallUpdate, TextUpdate};

/// Bytes of one read during detection: in most streams the first line shows the agent.
const DETECTION_READ_BYTES: usize = 16 * 1024;

/// Checks streams, one after the other. It reuses what it learned from earlier streams. A clone
/// shares profiles and schemas but learns separately; use one per thread.
pub struct Checker {
    contracts: Arc<Contracts>,
    learned: Learned,
}

/// What one stream leaves for the next.
struct Learned {
    /// By the name of the profile.
    memories: HashMap<String, Memory>,
    parser: LineParser,
    buffer: Vec<u8>,
}

impl Learned {
    fn nothing(contracts: &Contracts) -> Self {
        let parser = LineParser::new(contracts.options().is_plain);
        Self { memories: HashMap::new(), parser, buffer: Vec::new() }
    }
}

impl Clone for Checker {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.contracts))
    }
}

impl fmt::Debug for Checker {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Checker").finish_non_exhaustive()
    }
}

impl Checker {
    fn new(contracts: Arc<Contracts>) -> Self {
        let learned = Learned::nothing(&contracts);
        Self { contracts, learned }
    }

    /// The default options: the profile is detected, rules have their default severities.
    pub fn builder() -> CheckerBuilder {
        CheckerBuilder::default()
    }

    /// The files that the chosen profile, its bases and its schema were read from: none for a
    /// built-in profile.
    pub fn profile_files(&self) -> &[PathBuf] {
        self.contracts.named().map_or(&[], |contract| &contract.profile().files)
    }

    pub(crate) fn contracts(&self) -> Arc<Contracts> {
        Arc::clone(&self.contracts)
    }

    /// Begins to check a stream; `name` names it in reports.
    pub fn stream(&mut self, name: &str) -> StreamCheck<'_> {
        let nothing = Learned::nothing(&self.contracts);
        let learned = std::mem::replace(&mut self.learned, nothing);
        StreamCheck {
            home: Some(&mut self.learned),
            ..StreamCheck::new(name, &self.contracts, learned)
        }
    }

    /// Begins to read a stream as [`Event`]s; `name` names it in messages. Any number of streams
    /// can be read at the same time.
    pub fn reader(&self, name: &str) -> Reader {
        Reader::open(name, self.contracts())
    }

    /// Checks a stream to its end. Nothing is known about its producer; see
    /// [`StreamCheck::finish`].
    ///
    /// # Errors
    ///
    /// As [`StreamCheck::read`] and [`StreamCheck::finish`].
    pub fn check(
        &mut self,
        name: &str,
        source: impl Read,
        out: &mut dyn Observer,
    ) -> Result<StreamSummary, Error> {
        let mut stream = self.stream(name);
        stream.read(source, out)?;
        stream.finish(&ProducerExit::default(), out)
    }
}

/// One stream that is being checked. [`StreamCheck::feed`] takes bytes as they come, and does no
/// input or output; [`StreamCheck::read`] reads a source.
///
/// After an error the stream is lost.
pub struct StreamCheck<'c> {
    name: String,
    contracts: &'c Contracts,
    learned: Learned,
    /// Where what was learned goes at the end.
    home: Option<&'c mut Learned>,
    lines: LineBuffer,
    hasher: Option<Sha256>,
    state: State<'c>,
}

#[expect(clippy::large_enum_variant, reason = "there is one for each stream")]
enum State<'c> {
    /// The first events are being read, to find the profile.
    Detecting(Detector),
    Checking(LineLoop<'c>),
}

impl fmt::Debug for StreamCheck<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("StreamCheck").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'c> StreamCheck<'c> {
    fn new(name: &str, contracts: &'c Contracts, mut learned: Learned) -> Self {
        let options = contracts.options();
        let buffer = std::mem::take(&mut learned.buffer);
        let lines = LineBuffer::new(buffer, options.line_bytes_max(), options.is_array);
        let hashes_bytes = options.hashes_bytes && !options.splits_sessions;
        let hasher = hashes_bytes.then(Sha256::new);
        let (name, state) = (name.to_owned(), State::Detecting(Detector::default()));
        Self { name, contracts, learned, home: None, lines, hasher, state }
    }

    /// Takes bytes that have come, cut anywhere. Diagnostics go to the observer as soon as they
    /// are found.
    ///
    /// # Errors
    ///
    /// When no known agent writes the first events, or several do, when the observer refuses the
    /// profile, when the agent never writes the format that was asked for, or when a schema cannot
    /// be evaluated.
    /// Defects of the stream are diagnostics, not errors.
    pub fn feed(&mut self, bytes: &[u8], out: &mut dyn Observer) -> Result<(), Error> {
        let mut bytes = bytes;
        while !bytes.is_empty() {
            let room = self.room();
            let count = room.len().min(bytes.len());
            room[..count].copy_from_slice(&bytes[..count]);
            bytes = &bytes[count..];
            self.filled(count, out)?;
        }
        Ok(())
    }

    /// Where the next bytes of the stream may be written, so that they need not be copied; then
    /// call [`StreamCheck::filled`].
    pub fn room(&mut self) -> &mut [u8] {
        let room = self.lines.room();
        // Most streams show their agent in the first line.
        let wanted = match self.state {
            State::Detecting(_) => room.len().min(DETECTION_READ_BYTES),
            State::Checking(_) => room.len(),
        };
        &mut room[..wanted]
    }

    /// Takes so many bytes, which are at the beginning of the room, as [`StreamCheck::feed`] does.
    ///
    /// # Errors
    ///
    /// As [`StreamCheck::feed`].
    ///
    /// # Panics
    ///
    /// When the room is smaller than `count`.
    pub fn filled(&mut self, count: usize, out: &mut dyn Observer) -> Result<(), Error> {
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&self.lines.room()[..count]);
        }
        self.lines.filled(count);
        self.advance(out)
    }

    /// The source cannot be read further: what has come is checked all the same. Returns why the
    /// stream is not checked to its end.
    pub fn unreadable(&mut self, source: io::Error, out: &mut dyn Observer) -> Error {
        let checked = self.settle(out).and_then(|()| self.advance(out));
        checked
            .err()
            .unwrap_or_else(|| Error::Read { stream: self.name.clone(), source: source.into() })
    }

    /// Reads a source to its end, without a copy, and closes it. The source is read to its end
    /// after an error, too: a producer must not be killed because its output is not read.
    ///
    /// # Errors
    ///
    /// As [`StreamCheck::feed`]; also when the source cannot be read.
    pub fn read(&mut self, mut source: impl Read, out: &mut dyn Observer) -> Result<(), Error> {
        let result = self.read_all(&mut source, out);
        if let Err(error) = &result {
            out.flush();
            if !matches!(error, Error::Read { .. }) {
                // This stream has an error already; another one would say nothing more.
                let _ = io::copy(&mut source, &mut io::sink());
            }
        }
        result
    }

    fn read_all(&mut self, source: &mut impl Read, out: &mut dyn Observer) -> Result<(), Error> {
        loop {
            match source.read(self.room()) {
                Ok(0) => return Ok(()),
                Ok(count) => self.filled(count, out)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.unreadable(error, out)),
            }
        }
    }

    /// The end of the stream, and what is known about its producer. Reports what only the end
    /// shows.
    ///
    /// # Errors
    ///
    /// As [`StreamCheck::feed`].
    pub fn finish(
        mut self,
        exit: &ProducerExit,
        out: &mut dyn Observer,
    ) -> Result<StreamSummary, Error> {
        let summary = self.close(exit, out)?;
        let Self { mut learned, home, lines, state, .. } = self;
        if let (Some(home), State::Checking(check)) = (home, state) {
            let (profile, memory) = check.into_memory();
            learned.memories.insert(profile.to_owned(), memory);
            learned.buffer = lines.into_memory();
            *home = learned;
        }
        Ok(summary)
    }

    fn close(
        &mut self,
        exit: &ProducerExit,
        out: &mut dyn Observer,
    ) -> Result<StreamSummary, Error> {
        self.lines.end();
        self.settle(out)?;
        self.advance(out)?;
        let State::Checking(check) = &mut self.state else { unreachable!("settled above") };
        let defect = self.lines.array().and_then(ArraySplitter::defect);
        let sha256 = self.hasher.take().map(hexadecimal);
        let bytes = StreamBytes { end: self.lines.bytes_taken(), sha256 };
        Ok(check.finish(bytes, defect, exit, out))
    }

    fn advance(&mut self, out: &mut dyn Observer) -> Result<(), Error> {
        if !self.lines.has_begun() {
            return Ok(());
        }
        if let State::Detecting(detector) = &mut self.state {
            if self.contracts.named().is_none() {
                let mut has_events = false;
                let is_over = detector.observe(self.lines.unread(), || has_events = true);
                if has_events {
                    out.undetected_events(self.contracts.hide_open_calls(detector.candidates()));
                }
                if !is_over {
                    return Ok(());
                }
            }
            self.settle(out)?;
        }
        let State::Checking(check) = &mut self.state else { return Ok(()) };
        while self.lines.is_ready() {
            if let Err(mut error) = check.block(self.lines.take(), &mut self.learned.parser, out) {
                if let Error::Schema { stream, .. } = &mut error {
                    *stream = Some(self.name.clone());
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Chooses the profile by what has come.
    fn settle(&mut self, out: &mut dyn Observer) -> Result<(), Error> {
        let State::Detecting(detector) = &mut self.state else { return Ok(()) };
        let chosen = if let Some(contract) = self.contracts.named() {
            Ok((contract, ProfileSource::Named))
        } else {
            let authors = detector.finish(self.lines.unread());
            let chosen = self.contracts.detected(&self.name, detector.has_events, &authors);
            chosen.map_err(|error| detector.explained(error))
        };
        let (contract, source) = chosen?;
        let profile = contract.profile();
        let name = if contract.options().splits_sessions {
            session_name(&self.name, 1)
        } else {
            self.name.clone()
        };
        let start = StreamStart { name: (&*name).into(), profile: Arc::clone(profile), source };
        if contract.options().format == Some(AgentFormat::Json) && profile.single_object.is_none() {
            return Err(start.no_single_object());
        }
        out.begin(&start)?;
        let memory = self.learned.memories.remove(&profile.name).unwrap_or_default();
        let of = (contract, source, out.wants());
        let mut check = LineLoop::new(&self.name, name, of, memory);
        if let Some(array) = self.lines.array() {
            check.array_begins(array);
        }
        self.state = State::Checking(check);
        Ok(())
    }
}

fn hexadecimal(hasher: Sha256) -> String {
    let digits = hasher.finalize().into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

//! The check of streams: [`Checker`] and [`Stream`] are its door.
//!
//! A [`Stream`] takes bytes, or reads them. Until its first events show which agent wrote it, it
//! only collects; then [`stream::StreamCheck`] sends each line through the stages.

mod answer;
mod contract;
mod end_of_run;
mod expectation;
mod findings;
mod globs;
mod observer;
mod run;
mod stage;
mod stream;
mod summary;

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::error::Error;
use crate::profile::detect::{AUTO, Detector, ProfileSource};
use crate::profile::read_json;
use crate::rules::{Rule, Severities, Severity};
use crate::stream::{ArraySplitter, LineBuffer, LineParser};

use contract::Options;
use stage::expect::Expected;
use stream::{Memory, StreamCheck};

pub(crate) use answer::Answer;
pub(crate) use contract::{Contract, Contracts};
pub use end_of_run::{ProducerExit, StopReason};
pub use expectation::{Expectation, ExpectedCalls, Limits};
#[cfg(feature = "cli")]
pub(crate) use globs::Globs;
pub use observer::{CallChange, CallUpdate, CheckedEvent, Observer, StreamStart, TextUpdate};
pub(crate) use stage::actions::Action;
pub use stage::calls::{CallCounts, CallRow};
#[cfg(feature = "cli")]
pub(crate) use stage::repeats::REPEATED_CALLS;
pub(crate) use stage::schema::validate;
pub(crate) use summary::counted;
pub use summary::{Format, Limit, Note, Outcome, StreamSummary, Verdict};

/// Bytes of one read during detection: in most streams the first line shows the agent.
const DETECTION_READ_BYTES: usize = 16 * 1024;

/// Builds a [`Checker`].
#[derive(Debug, Clone, Default)]
pub struct CheckerBuilder {
    profile: Option<String>,
    schema: Option<(String, Value)>,
    expectations: Vec<(String, Expectation)>,
    options: Options,
}

impl CheckerBuilder {
    /// The agent: the name of a built-in profile, or a profile file. Without it, or with `auto`,
    /// the first events of each stream show it.
    #[must_use]
    pub fn profile(mut self, name_or_file: &str) -> Self {
        self.profile = Some(name_or_file.to_owned()).filter(|name| name != AUTO);
        self
    }

    /// A file with a JSON Schema that every event must satisfy, too.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is not JSON.
    pub fn schema_file(mut self, file: &Path) -> Result<Self, Error> {
        let origin = file.display().to_string();
        match read_json(file) {
            Ok(schema) => self.schema = Some((origin, schema)),
            Err(message) => return Err(Error::Schema { stream: None, origin, message }),
        }
        Ok(self)
    }

    /// Gives every rule its strict severity.
    #[must_use]
    pub fn strict(mut self, is_strict: bool) -> Self {
        self.options.severities = Severities::new(is_strict);
        self
    }

    /// Sets the severity of a rule; `None` turns it off. Comes after [`CheckerBuilder::strict`].
    #[must_use]
    pub fn severity(mut self, rule: Rule, severity: Option<Severity>) -> Self {
        self.options.severities.set(rule, severity);
        self
    }

    /// The format that the agent was asked for. Without it, the first event shows it.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.options.format = Some(format);
        self
    }

    /// How many equal calls in a row are reported as `repeated-call`. The default is 5.
    #[must_use]
    pub fn repeated_calls(mut self, count: u64) -> Self {
        self.options.repeated_calls = count;
        self
    }

    /// Whether the stream is one JSON array of events. Without it, the first bytes show it.
    #[must_use]
    pub fn array(mut self, is_array: bool) -> Self {
        self.options.is_array = Some(is_array);
        self
    }

    /// The longest line that is checked, in bytes; longer ones are reported and skipped. Of an
    /// array, the longest element.
    #[must_use]
    pub fn max_line_bytes(mut self, bytes: u64) -> Self {
        self.options.line_bytes_max = bytes;
        self
    }

    /// Sets limits for the run; see the rule `limit-exceeded`.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options.limits = limits;
        self
    }

    /// Adds something that is expected of the run; see the rule `expectation-failed`. `place` says
    /// in messages where it is stated.
    #[must_use]
    pub fn expect(mut self, place: &str, expectation: Expectation) -> Self {
        self.expectations.push((place.to_owned(), expectation));
        self
    }

    /// Reads every line by the plain parser. Slow; the results are the same.
    #[doc(hidden)]
    #[must_use]
    pub fn plain(mut self, is_plain: bool) -> Self {
        self.options.is_plain = is_plain;
        self
    }

    /// The checker.
    ///
    /// # Errors
    ///
    /// When the profile, a schema or an expectation cannot be used.
    pub fn build(self) -> Result<Checker, Error> {
        let Self { profile, schema, expectations, mut options } = self;
        let expected = expectations.into_iter().map(|(place, it)| Expected::new(&place, it));
        options.expected = expected.collect::<Result<_, _>>()?;
        let schema = schema.as_ref().map(|(origin, schema)| (origin.as_str(), schema));
        let contracts = Contracts::new(profile.as_deref(), schema, options)?;
        Ok(Checker::new(Arc::new(contracts)))
    }
}

/// Checks streams, one after the other. It reuses what it learned from earlier streams. A clone
/// shares profiles and schemas but learns separately; use one per thread.
pub struct Checker {
    contracts: Arc<Contracts>,
    /// By the name of the profile.
    memories: HashMap<String, Memory>,
    parser: LineParser,
    buffer: Vec<u8>,
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
        let parser = LineParser::new(contracts.options().is_plain);
        Self { contracts, memories: HashMap::new(), parser, buffer: Vec::new() }
    }

    /// The default options: the profile is detected, rules have their default severities.
    pub fn builder() -> CheckerBuilder {
        CheckerBuilder::default()
    }

    pub(crate) fn contracts(&self) -> Arc<Contracts> {
        Arc::clone(&self.contracts)
    }

    /// Begins to check a stream; `name` names it in reports.
    pub fn stream(&mut self, name: &str) -> Stream<'_> {
        let Self { contracts, memories, parser, buffer } = self;
        let Options { line_bytes_max, is_array, .. } = *contracts.options();
        let lines = LineBuffer::new(std::mem::take(buffer), line_bytes_max, is_array);
        let state = State::Detecting(Detector::default());
        let name = name.to_owned();
        Stream { name, contracts, memories, parser, memory: buffer, lines, state }
    }

    /// Checks a stream to its end. Nothing is known about its producer; see [`Stream::finish`].
    ///
    /// # Errors
    ///
    /// As [`Stream::read`] and [`Stream::finish`].
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

/// One stream that is being checked. [`Stream::feed`] takes bytes as they come, and does no input
/// or output; [`Stream::read`] reads a source.
///
/// After an error the stream is lost.
pub struct Stream<'c> {
    name: String,
    contracts: &'c Contracts,
    memories: &'c mut HashMap<String, Memory>,
    parser: &'c mut LineParser,
    /// Where the buffer's memory goes back to.
    memory: &'c mut Vec<u8>,
    lines: LineBuffer,
    state: State<'c>,
}

#[expect(clippy::large_enum_variant, reason = "there is one for each stream")]
enum State<'c> {
    /// The first events are being read, to find the profile.
    Detecting(Detector),
    Checking(StreamCheck<'c>),
}

impl fmt::Debug for Stream<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Stream").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Stream<'_> {
    /// Takes bytes that have come, cut anywhere. Diagnostics go to the observer as soon as they
    /// are found.
    ///
    /// # Errors
    ///
    /// When the first events match several profiles, when the observer refuses the profile, when
    /// the agent never writes the format that was asked for, or when a schema cannot be evaluated.
    /// Defects of the stream are diagnostics, not errors.
    pub fn feed(&mut self, bytes: &[u8], out: &mut dyn Observer) -> Result<(), Error> {
        let mut bytes = bytes;
        while !bytes.is_empty() {
            let room = self.lines.room();
            let count = room.len().min(bytes.len());
            room[..count].copy_from_slice(&bytes[..count]);
            self.lines.filled(count);
            bytes = &bytes[count..];
            self.advance(out)?;
        }
        Ok(())
    }

    /// Reads a source to its end, without a copy, and closes it. The source is read to its end
    /// after an error, too: a producer must not be killed because its output is not read.
    ///
    /// # Errors
    ///
    /// As [`Stream::feed`]; also when the source cannot be read.
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
            let room = self.lines.room();
            // Most streams show their agent in the first line.
            let wanted = match self.state {
                State::Detecting(_) => room.len().min(DETECTION_READ_BYTES),
                State::Checking(_) => room.len(),
            };
            match source.read(&mut room[..wanted]) {
                Ok(0) => return Ok(()),
                Ok(count) => {
                    self.lines.filled(count);
                    self.advance(out)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    // What has come is checked all the same.
                    self.settle(out)?;
                    self.advance(out)?;
                    return Err(Error::Read { stream: self.name.clone(), source: error });
                }
            }
        }
    }

    /// The end of the stream, and what is known about its producer. Reports what only the end
    /// shows.
    ///
    /// # Errors
    ///
    /// As [`Stream::feed`].
    pub fn finish(
        mut self,
        exit: &ProducerExit,
        out: &mut dyn Observer,
    ) -> Result<StreamSummary, Error> {
        self.lines.end();
        self.settle(out)?;
        self.advance(out)?;
        let Self { name: _, memories, memory, lines, state, .. } = self;
        let State::Checking(mut check) = state else { unreachable!("settled above") };
        let defect = lines.array().and_then(ArraySplitter::defect);
        let summary = check.finish(lines.bytes_taken(), defect, exit, out);
        let (profile, learned) = check.into_memory();
        memories.insert(profile.to_owned(), learned);
        *memory = lines.into_memory();
        Ok(summary)
    }

    /// Checks the lines that have come.
    fn advance(&mut self, out: &mut dyn Observer) -> Result<(), Error> {
        if !self.lines.has_begun() {
            return Ok(());
        }
        if let State::Detecting(detector) = &mut self.state {
            if self.contracts.named().is_none() {
                let is_over = detector.observe(self.lines.unread(), || out.undetected_event());
                if !is_over {
                    return Ok(());
                }
            }
            self.settle(out)?;
        }
        let State::Checking(check) = &mut self.state else { return Ok(()) };
        while self.lines.is_ready() {
            if let Err(mut error) = check.block(self.lines.take(), self.parser, out) {
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
            let bytes = self.lines.unread();
            self.contracts.detected(&self.name, bytes, &detector.finish(bytes))
        };
        let (contract, source) = chosen?;
        let profile = contract.profile();
        let start = StreamStart { name: &self.name, profile, source };
        if contract.options().format == Some(Format::Json) && profile.single_object.is_none() {
            return Err(start.no_single_object());
        }
        out.begin(&start)?;
        let memory = self.memories.remove(&profile.name).unwrap_or_default();
        let mut check = StreamCheck::new(&self.name, contract, source, memory);
        if let Some(array) = self.lines.array() {
            check.array_begins(array);
        }
        self.state = State::Checking(check);
        Ok(())
    }
}

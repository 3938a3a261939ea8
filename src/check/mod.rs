//! The loop: every stage in order, on one screen.

mod closing;
pub mod contract;
mod inference;
mod noise;
mod opening;
pub mod producer_exit;
pub mod stage;
mod stream;
pub mod summary;
mod validity;
pub mod verdict;

use std::io::Read;

use crate::check::contract::{Contract, Engine};
use crate::output::convert::Convert;
use crate::check::producer_exit::{End, Status};
use crate::error::Error;
use crate::stream::event;
use crate::facts::{Reader, Recipe};
use crate::profile::detect::ProfileSource;
use crate::stream::line::{LineReader, Lines};
use crate::output::report::Report;
use crate::json::schema::{Judge, Schema};
use crate::fast::{Recalled, Shapes};
use crate::check::summary::StreamSummary;
use crate::json::tape::Doc;

use noise::Left;
use stream::Check;

/// Checks one stream: a [`Checker`] that is used once.
///
/// # Errors
///
/// As [`Checker::check`].
pub fn check(
    stream: impl Read,
    name: &str,
    contract: &Contract,
    report: &mut dyn Report,
    conversion: &mut dyn Convert,
) -> Result<StreamSummary, Error> {
    Checker::new(contract).check(stream, name, report, conversion)
}

/// Checks streams, one after the other; what it needs for one serves the next.
pub struct Checker<'c> {
    contract: &'c Contract,
    /// How the profile of the next stream was chosen, which is said in its summary.
    pub choice: ProfileSource,
    reader: Reader<'c>,
    engine: event::Engine,
    memory: Memory<'c>,
    buffer: Vec<u8>,
    /// Bytes checked so far.
    bytes: u64,
}

/// What is remembered of good lines, for those that are like them.
#[derive(Default)]
struct Memory<'c> {
    shapes: Shapes<Recipe>,
    judges: Vec<Judge<'c>>,
}

impl<'c> Memory<'c> {
    /// Whether an event on a tape satisfies a schema.
    fn is_valid(&mut self, schema: &'c Schema, doc: &Doc<'_>) -> bool {
        let index = self.judges.iter().position(|it| it.is_of(schema)).unwrap_or_else(|| {
            self.judges.push(Judge::new(schema));
            self.judges.len() - 1
        });
        self.judges[index].is_valid(doc)
    }
}

impl<'c> Checker<'c> {
    /// Checks by this contract.
    pub fn new(contract: &'c Contract) -> Self {
        Self {
            contract,
            choice: ProfileSource::default(),
            reader: Reader::new(contract.profile()),
            engine: event::Engine::default(),
            memory: Memory::default(),
            buffer: Vec::new(),
            bytes: 0,
        }
    }

    /// Gives it memory that has served another reader.
    pub fn lend_buffer(&mut self, buffer: Vec<u8>) {
        self.buffer = buffer;
    }

    /// Takes the memory back.
    pub fn take_buffer(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }

    /// Checks one stream to its end and reports what it finds, line by line; `conversion` sees
    /// every event (`&mut ()` where nothing is converted).
    ///
    /// # Errors
    ///
    /// When the stream cannot be read, the report cannot be written, or a schema cannot be
    /// evaluated. What is wrong *with the stream* is a diagnostic, and the next line is checked
    /// all the same.
    pub fn check(
        &mut self,
        stream: impl Read,
        name: &str,
        report: &mut dyn Report,
        conversion: &mut dyn Convert,
    ) -> Result<StreamSummary, Error> {
        let status = self.contract.exit_status.map(Status::Code);
        self.check_until(stream, name, report, conversion, || End { status, ..End::default() })
    }

    /// As [`Checker::check`], of a producer whose end is known when its stream has ended.
    ///
    /// # Errors
    ///
    /// As [`Checker::check`].
    pub fn check_until(
        &mut self,
        stream: impl Read,
        name: &str,
        report: &mut dyn Report,
        conversion: &mut dyn Convert,
        end: impl FnOnce() -> End,
    ) -> Result<StreamSummary, Error> {
        let buffer = std::mem::take(&mut self.buffer);
        let mut lines = LineReader::reusing(buffer, stream, self.contract.line_bytes_max);
        let mut check = Check::new(name, self.contract, self.choice);
        let checked = self.read(&mut lines, &mut check, report, conversion);
        let bytes = lines.bytes();
        // Closed before the producer's end is waited for, which is done whatever happened.
        self.buffer = lines.into_buffer();
        let end = end();
        if let Err(error) = checked {
            conversion.abandon();
            return Err(error);
        }
        check.finish(bytes, &end, report, conversion)
    }

    /// Reads the stream to its end.
    fn read(
        &mut self,
        lines: &mut LineReader<impl Read>,
        check: &mut Check<'c>,
        report: &mut dyn Report,
        conversion: &mut dyn Convert,
    ) -> Result<(), Error> {
        let name = check.name.clone();
        let failed = |source| Error::Read { stream: name.clone(), source };
        while let Some(block) = lines.next_lines().map_err(failed)? {
            if let Err(error) = self.block(block, check, report, conversion) {
                conversion.flush();
                // The producer is not to be killed for it: its stream is read to the end.
                while lines.next_lines().map_err(failed)?.is_some() {}
                return Err(error);
            }
        }
        Ok(())
    }

    /// Checks the lines that have arrived; then all that is to be said of them has been said.
    fn block(
        &mut self,
        lines: Lines<'_>,
        check: &mut Check<'c>,
        report: &mut dyn Report,
        conversion: &mut dyn Convert,
    ) -> Result<(), Error> {
        let mut lines = lines;
        loop {
            // The first event may be held against another schema than those that follow.
            if check.events > 0
                && check.opening.is_over()
                && let Some((line, Recalled { recipe, values })) =
                    self.memory.shapes.recall(&mut lines)
            {
                let facts = recipe.facts(line.number, line.offset, &values);
                check.recalled(&line, &facts, conversion);
            } else if !self.line(&mut lines, check, conversion)? {
                break;
            }
            if check.is_to_tell() {
                conversion.flush();
                check.deliver(report)?;
            }
        }
        conversion.flush();
        Ok(())
    }

    /// Checks the next line; false if there is none.
    fn line(
        &mut self,
        lines: &mut Lines<'_>,
        check: &mut Check<'c>,
        conversion: &mut dyn Convert,
    ) -> Result<bool, Error> {
        let plainly = match self.contract.engine {
            Engine::Reference => true,
            // What has arrived counts as well: a large file, or a large line, is fast at once.
            Engine::Fast => self.bytes + lines.left() < self.contract.warm_up_bytes,
            Engine::Uncached => false,
        };
        let next = if !check.is_looking() {
            lines.next().map(|line| (line, None))
        } else if plainly {
            lines.next().map(|line| (line, event::parse(&line, &mut check.found)))
        } else {
            self.engine.next(lines, &mut check.found)
        };
        let Some((line, event)) = next else { return Ok(false) };
        self.bytes += line.length;
        let (line, event) = match event {
            Some(event) => (line, Some(event)),
            None => match check.without_noise(&line, |root| self.reader.plan(root).is_known()) {
                Left::All => (line, None),
                Left::Event(line, event) => (line, Some(event)),
                Left::Nothing => {
                    check.lines += 1;
                    return Ok(true);
                }
            },
        };
        check.observe(&line, event.as_ref());
        if let Some(event) = &event {
            let plan = self.reader.plan(event.root());
            check.event(&line, event, plan, &mut self.memory, conversion)?;
        }
        Ok(true)
    }
}

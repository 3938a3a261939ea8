//! A run of an agent: the events of its stream as they come.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read as _, Write};
use std::process::ChildStdin;

use super::conversation::{AgentStdin, TurnEvents};
use super::producer::Producer;
use super::stream::ProducerStream;
use super::watch::{StopRequest, Watch};
use crate::check::{Event, ProducerExit, Reader, StreamSummary};
use crate::error::Error;
use crate::profile::ExitStatus;
use crate::rules::diagnostic::Diagnostic;

const READ_BYTES: usize = 64 * 1024;

/// A run of an agent: an iterator of its events, each as soon as it is known. The last one says how
/// the run ended. Dropping it ends the command.
pub struct AgentRun {
    name: String,
    id: Option<u32>,
    /// If it is open and was not taken.
    stdin: Option<AgentStdin>,
    stopper: Stopper,
    /// None when the command has ended.
    producer: Option<Producer>,
    source: ProducerStream,
    /// Gets what was read. None when it has failed.
    copy: Option<Box<dyn Write + Send>>,
    /// None when the stream has ended, or after an error.
    reader: Option<Reader>,
    buffer: Vec<u8>,
    /// Those that have come, and were not returned yet.
    events: VecDeque<Event<'static>>,
    /// After how many of them each turn ends.
    turn_ends: VecDeque<usize>,
    ended_turns: u64,
    /// None until the stream has ended. The iterator returned the error.
    end: Option<Result<StreamSummary, Error>>,
    findings: Vec<Diagnostic>,
    exit: Option<ProducerExit>,
}

impl fmt::Debug for AgentRun {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("AgentRun").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Stops a run from another thread, or while its events are read.
#[derive(Debug, Clone)]
pub struct Stopper(Watch);

impl Stopper {
    /// Asks the command and its group to end, and kills them if they do not within 5 s. The run
    /// goes on to return events until the stream ends. Unless it was complete, the summary says
    /// that it was interrupted.
    pub fn stop(&self) {
        self.0.stop(StopRequest::Terminate);
    }
}

impl AgentRun {
    pub(super) fn new(
        name: String,
        reader: Reader,
        (producer, source): (Producer, ProducerStream),
        stdin: Option<ChildStdin>,
        copy: Option<Box<dyn Write + Send>>,
    ) -> Self {
        Self {
            name,
            id: producer.id,
            stdin: stdin.map(|pipe| AgentStdin::new(pipe, producer.watch.clone())),
            stopper: Stopper(producer.watch.clone()),
            producer: Some(producer),
            source,
            copy,
            reader: Some(reader),
            buffer: vec![0; READ_BYTES],
            events: VecDeque::new(),
            turn_ends: VecDeque::new(),
            ended_turns: 0,
            end: None,
            findings: Vec::new(),
            exit: None,
        }
    }

    /// What stops it.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// The number of the process that was started; on Unix also that of its group. None: not known.
    pub fn id(&self) -> Option<u32> {
        self.id
    }

    /// The standard input of a command with [`Stdin::Open`](super::Stdin::Open), the first time.
    pub fn take_stdin(&mut self) -> Option<AgentStdin> {
        self.stdin.take()
    }

    /// The events of the current turn, up to its terminal event. An agent that writes none has one
    /// turn, up to the end of the run. After a turn, write the next message, or close the input so
    /// that the agent ends: a message that is written earlier may become part of the same turn.
    pub fn turn(&mut self) -> TurnEvents<'_> {
        TurnEvents::new(self)
    }

    /// How many turns have ended in the events that were read.
    pub fn ended_turns(&self) -> u64 {
        self.ended_turns
    }

    /// The first finding of each rule, and the first one with a note, after the last event.
    pub fn findings(&self) -> &[Diagnostic] {
        &self.findings
    }

    /// How the command ended, after the last event: also if its stream could not be checked, such
    /// as that of an unknown agent. None if the stream failed before the command had ended.
    pub fn exit_status(&self) -> Option<ExitStatus> {
        self.exit.as_ref()?.status
    }

    /// All that is known about the end of the command, after the last event. A [`StreamCheck`] that
    /// gets it and the same bytes comes to the same result, such as for a report.
    ///
    /// [`StreamCheck`]: crate::check::StreamCheck
    pub fn exit(&self) -> Option<&ProducerExit> {
        self.exit.as_ref()
    }

    /// Waits for its end, and returns the result. Closes the standard input if it was not taken.
    /// Events that were not read are dropped.
    ///
    /// # Errors
    ///
    /// As [`Reader::feed`], and when the stream cannot be read. An error that the iterator returned
    /// comes again.
    pub fn finish(mut self) -> Result<StreamSummary, Error> {
        self.stdin = None;
        loop {
            if let Some(end) = self.end.take() {
                return end;
            }
            self.advance()?;
            self.events.clear();
        }
    }

    /// The next event; of a turn, none follows its end.
    pub(super) fn next_event(&mut self, of_turn: bool) -> Option<Result<Event<'static>, Error>> {
        loop {
            if self.turn_ends.front() == Some(&0) {
                self.turn_ends.pop_front();
                self.ended_turns += 1;
                if of_turn {
                    return None;
                }
                continue;
            }
            if let Some(event) = self.events.pop_front() {
                self.turn_ends.iter_mut().for_each(|end| *end -= 1);
                return Some(Ok(event));
            }
            self.reader.as_ref()?;
            if let Err(error) = self.advance() {
                self.reader = None;
                self.end = Some(Err(error.clone()));
                return Some(Err(error));
            }
        }
    }

    /// Reads what has come, and waits if nothing has; at the end of the stream, for the command.
    fn advance(&mut self) -> Result<(), Error> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        let count = match self.source.read(&mut self.buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            Err(error) => {
                let (stream, source) = (self.name.clone(), error.into());
                return Err(Error::Read { stream, source });
            }
        };
        if count > 0 {
            let Some(producer) = &self.producer else { return Ok(()) };
            let bytes = &self.buffer[..count];
            // Without a reader of the copy, the stream is still read.
            if self.copy.as_mut().is_some_and(|copy| copy.write_all(bytes).is_err()) {
                self.copy = None;
            }
            let new = reader.feed_with(bytes, &mut producer.observer());
            let (events, turn_ends) = new?;
            let before = self.events.len();
            self.turn_ends.extend(turn_ends.iter().map(|end| before + end));
            self.events.extend(events);
            return Ok(());
        }
        let exit = self.producer.take().map_or_else(ProducerExit::default, |it| it.finish().0);
        let exit = self.exit.insert(exit);
        if let Some(reader) = self.reader.take() {
            let last = reader.finish(exit)?;
            self.events.extend(last.events);
            self.end = Some(Ok(last.summary));
            self.findings = last.findings;
        }
        Ok(())
    }
}

impl Iterator for AgentRun {
    type Item = Result<Event<'static>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_event(false)
    }
}

impl Drop for AgentRun {
    fn drop(&mut self) {
        if let Some(producer) = self.producer.take() {
            self.stopper.0.stop(StopRequest::Kill);
            let _ = producer.finish();
        }
    }
}

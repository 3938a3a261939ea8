//! A command whose standard output is the stream of an agent.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Read as _, Write};
use std::path::Path;
use std::process::{self, Stdio};
use std::thread;
use std::time::Duration;

use super::platform;
use super::producer::{Producer, StderrCopy, Timers};
use super::stream::ProducerStream;
use super::watch::Watch;
use crate::check::{Checker, Event, ProducerExit, Reader, StreamSummary};
use crate::error::Error;
use crate::profile::{CallKind, ExitStatus};
use crate::rules::diagnostic::Diagnostic;

const READ_BYTES: usize = 64 * 1024;

/// What a command reads from its standard input.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Stdin {
    /// Nothing.
    #[default]
    Null,
    /// This text, and then nothing.
    Text(String),
    /// These bytes, and then nothing.
    Bytes(Vec<u8>),
    /// What this process would read.
    Inherit,
}

/// A command that runs an agent.
///
/// It gets its own process group, on Windows a Job Object. Everything in it ends with the run: when
/// a time is over, when a limit of the [`Checker`] is exceeded, when it is stopped, or when the
/// [`AgentRun`] is dropped. No signal of this process is caught, and nothing is written to its
/// outputs.
pub struct Command {
    name: String,
    inner: process::Command,
    stdin: Stdin,
    timers: Timers,
    stdout: Option<Box<dyn Write + Send>>,
    stderr: Option<Box<dyn Write + Send>>,
}

impl fmt::Debug for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(out)
    }
}

impl Command {
    /// A command without arguments, with the environment and the directory of this process.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        let program = program.as_ref();
        Self {
            name: platform::called(program).to_string_lossy().into_owned(),
            inner: process::Command::new(platform::program(program)),
            stdin: Stdin::default(),
            timers: Timers::default(),
            stdout: None,
            stderr: None,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.inner.arg(arg);
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.inner.args(args);
        self
    }

    /// Sets a variable of the environment.
    #[must_use]
    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.inner.env(key, value);
        self
    }

    /// Sets variables of the environment.
    #[must_use]
    pub fn envs(
        mut self,
        variables: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
    ) -> Self {
        self.inner.envs(variables);
        self
    }

    /// Removes all variables of the environment.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.inner.env_clear();
        self
    }

    /// Removes a variable of the environment.
    #[must_use]
    pub fn env_remove(mut self, key: impl AsRef<OsStr>) -> Self {
        self.inner.env_remove(key);
        self
    }

    /// Sets the directory in which it works.
    #[must_use]
    pub fn current_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.inner.current_dir(directory);
        self
    }

    /// Sets what it reads. The default is nothing.
    #[must_use]
    pub fn stdin(mut self, stdin: Stdin) -> Self {
        self.stdin = stdin;
        self
    }

    /// Passes the bytes of its stream on to this writer before they are checked, such as to keep
    /// the recording.
    #[must_use]
    pub fn stdout(mut self, writer: impl Write + Send + 'static) -> Self {
        self.stdout = Some(Box::new(writer));
        self
    }

    /// Passes its standard error on to this writer. If the run does not succeed, the last lines are
    /// also in the summary.
    #[must_use]
    pub fn stderr(mut self, writer: impl Write + Send + 'static) -> Self {
        self.stderr = Some(Box::new(writer));
        self
    }

    /// Stops a run that takes longer.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timers.timeout = Some(limit);
        self
    }

    /// Stops a run without an event for longer than this, while no call is open. Agents that show
    /// calls only when these have ended have no such timeout.
    #[must_use]
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.timers.idle = Some(limit);
        self
    }

    /// Stops a run in which a call of this kind, or of any kind without an own limit, takes longer.
    /// Agents that show calls only when these have ended have no such timeout.
    #[must_use]
    pub fn call_timeout(mut self, kind: Option<CallKind>, limit: Duration) -> Self {
        self.timers.calls.push((kind, limit));
        self
    }

    /// Stops a command that runs on for longer after its terminal event. The default is 10 s.
    #[must_use]
    pub fn exit_grace(mut self, limit: Duration) -> Self {
        self.timers.grace = limit;
        self
    }

    /// Starts it. Its stream is named after the program.
    ///
    /// # Errors
    ///
    /// When the program cannot be started.
    pub fn spawn(mut self, checker: &Checker) -> Result<AgentRun, Error> {
        let input = match self.stdin {
            Stdin::Null => (Stdio::null(), None),
            Stdin::Inherit => (Stdio::inherit(), None),
            Stdin::Text(text) => (Stdio::piped(), Some(text.into_bytes())),
            Stdin::Bytes(bytes) => (Stdio::piped(), Some(bytes)),
        };
        self.inner.stdin(input.0);
        let copy = StderrCopy { out: self.stderr, redactor: None };
        let started = Producer::start(&mut self.inner, false, self.timers, copy, None);
        let failed =
            |source: io::Error| Error::Start { program: self.name.clone(), source: source.into() };
        let (mut producer, source) = started.map_err(failed)?;
        if let Some((mut stdin, bytes)) = producer.stdin.take().zip(input.1) {
            // A command that does not read must not block us. One that closes it has read enough.
            let write = move || stdin.write_all(&bytes);
            thread::Builder::new().spawn(write).map_err(failed)?;
        }
        Ok(AgentRun {
            reader: Some(checker.reader(&self.name)),
            name: self.name,
            id: producer.id,
            stopper: Stopper(producer.watch.clone()),
            producer: Some(producer),
            source,
            copy: self.stdout,
            buffer: vec![0; READ_BYTES],
            events: VecDeque::new(),
            end: None,
            findings: Vec::new(),
            exit: None,
        })
    }
}

/// A run of an agent: an iterator of its events, each as soon as it is known. The last one says how
/// the run ended. Dropping it ends the command.
pub struct AgentRun {
    name: String,
    id: Option<u32>,
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
        self.0.stop(false);
    }
}

impl AgentRun {
    /// What stops it.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// The number of the process that was started; on Unix also that of its group. None: not known.
    pub fn id(&self) -> Option<u32> {
        self.id
    }

    /// The first finding of each rule, after the last event.
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

    /// Waits for its end, and returns the result. Events that were not read are dropped.
    ///
    /// # Errors
    ///
    /// As [`Reader::feed`], and when the stream cannot be read. An error that the iterator returned
    /// comes again.
    pub fn finish(mut self) -> Result<StreamSummary, Error> {
        loop {
            if let Some(end) = self.end.take() {
                return end;
            }
            self.advance()?;
            self.events.clear();
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
            self.events.extend(new?);
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
        loop {
            if let Some(event) = self.events.pop_front() {
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
}

impl Drop for AgentRun {
    fn drop(&mut self) {
        if let Some(producer) = self.producer.take() {
            self.stopper.0.stop(true);
            let _ = producer.finish();
        }
    }
}

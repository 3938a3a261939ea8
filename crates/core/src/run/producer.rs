//! What writes a stream: a command, or an unknown process; and the timers of the stream.
//!
//! There are two threads besides the check: one passes standard error on; the supervisor waits for
//! the command, the timers and the signals, and ends the command's process group where it must. The
//! check reads a [`ProducerStream`], and a [`RunObserver`] tells the supervisor what comes.

use std::any::Any;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{ChildStdin, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use super::blocking_file::BlockingFile;
use super::group::Group;
use super::signals::Signals;
use super::stderr;
use super::stream::ProducerStream;
use super::supervisor::Supervisor;
use super::watch::{Measured, RunObserver, Watch};
use crate::check::ProducerExit;
use crate::redact::Redactor;

/// The times that a run may take.
#[derive(Debug, Clone, Copy)]
pub struct Timers {
    /// Of the whole run.
    pub timeout: Option<Duration>,
    /// Between two events, while no call is open.
    pub idle: Option<Duration>,
    /// Between the terminal event and the command's end.
    pub grace: Duration,
}

/// What writes a stream: a command, or an unknown process that writes to our standard input.
#[derive(Debug)]
pub struct Producer {
    watch: Watch,
    timers: Timers,
    /// Returns the last lines of standard error.
    stderr: Option<JoinHandle<Vec<String>>>,
    supervisor: JoinHandle<Supervised>,
    /// If it is a pipe.
    stdin: Option<ChildStdin>,
}

/// The supervisor's result.
#[derive(Debug)]
pub(super) struct Supervised {
    pub(super) end: ProducerExit,
    /// The signal to end us, which was passed on first.
    pub(super) interrupted: Option<Interrupt>,
}

/// A signal to end us; we end by it after the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupt {
    /// Its number.
    pub signal: i32,
    /// It came from the terminal while the command owned it: our own group did not get it.
    pub from_terminal: bool,
}

/// What a program does that has its process for itself. A library does none of it: the signals and
/// the terminal are its host's.
#[derive(Debug, Clone, Copy)]
pub struct WholeProcess {
    /// Starts what ends a process group, by its number, if our process ends without doing so.
    pub guard: fn(i32) -> io::Result<Box<dyn Any + Send>>,
    /// Ends our process, when the reader of our output blocks the check for too long.
    pub leave: fn(Option<Interrupt>),
}

/// Where the standard error of a command goes; its end is kept for the result.
pub struct StderrCopy {
    /// None if it goes nowhere.
    pub out: Option<Box<dyn Write + Send>>,
    /// What it must be redacted with.
    pub redactor: Option<Redactor>,
}

impl Producer {
    /// Starts a command in a new process group. `reads_terminal` says that it may read from the
    /// terminal of our process.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub fn start(
        command: &mut Command,
        reads_terminal: bool,
        timers: Timers,
        copy: StderrCopy,
        whole: Option<WholeProcess>,
    ) -> io::Result<(Self, ProducerStream)> {
        // Before the command starts: no signal may be missed, and a failure here needs no cleanup.
        let signals =
            if whole.is_some() { Signals::for_command() } else { Signals::for_library() }?;
        let (stop_out, stop_err, stop) = stop_pipes()?;
        let watch = Watch::new()?;
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.process_group(0).spawn()?;
        // From here on, an error drops the group, which kills it.
        let group = Group::of(&child, reads_terminal, whole);
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let stream = ProducerStream::new(file(stdout), stop_out, Some(watch.0.clone()));
        let stderr = ProducerStream::new(file(stderr), stop_err, None);
        let stderr = stderr::pass_on(stderr, copy)?;
        let checks = watch.0.clone();
        let supervisor = Supervisor::new(Some(group), timers, watch, signals, stop, whole);
        let (stderr, supervisor) = (Some(stderr), supervisor.start()?);
        Ok((Self { watch: checks, timers, stderr, supervisor, stdin: child.stdin.take() }, stream))
    }

    /// Watches a stream of another process. After a timeout or a signal we stop reading; the other
    /// process is not killed.
    ///
    /// # Errors
    ///
    /// When there are too many open files.
    pub fn of_input(
        input: BlockingFile,
        timers: Timers,
        whole: WholeProcess,
    ) -> io::Result<(Self, ProducerStream)> {
        let (stop_out, _unused, stop) = stop_pipes()?;
        let watch = Watch::new()?;
        let checks = watch.0.clone();
        let stream = ProducerStream::new(input, stop_out, Some(checks.clone()));
        let supervisor =
            Supervisor::new(None, timers, watch, Signals::for_reader()?, stop, Some(whole));
        let supervisor = supervisor.start()?;
        Ok((Self { watch: checks, timers, stderr: None, supervisor, stdin: None }, stream))
    }

    /// From this observer of the check, the supervisor learns the events.
    pub fn observer(&self) -> RunObserver {
        RunObserver { watch: self.watch.clone(), has_idle_timeout: self.timers.idle.is_some() }
    }

    /// An output of ours, a writer or an observer, so that the supervisor knows when it blocks us.
    pub fn measured<T>(&self, inner: T) -> Measured<T> {
        Measured { watch: self.watch.clone(), inner }
    }

    /// Its standard input, if that is a pipe.
    pub(super) fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }

    pub(super) fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Waits for the end; also returns the signal to end us, if one came.
    pub fn finish(self) -> (ProducerExit, Option<Interrupt>) {
        self.watch.stream_ended();
        let had_no_idle_timeout = self.timers.idle.is_some() && self.watch.state().hides_open_calls;
        let outcome = self.supervisor.join();
        // After a panic there is no result to report.
        let Supervised { mut end, interrupted } =
            outcome.unwrap_or_else(|bug| std::panic::resume_unwind(bug));
        end.had_no_idle_timeout = had_no_idle_timeout;
        end.stderr = self.stderr.and_then(|thread| thread.join().ok());
        (end, interrupted)
    }
}

fn file(pipe: impl Into<OwnedFd>) -> BlockingFile {
    BlockingFile::from(File::from(pipe.into()))
}

/// Two read ends that become readable when the write ends are dropped, and the write ends.
fn stop_pipes() -> io::Result<(io::PipeReader, io::PipeReader, [io::PipeWriter; 2])> {
    let (stop_out, out) = io::pipe()?;
    let (stop_err, err) = io::pipe()?;
    Ok((stop_out, stop_err, [out, err]))
}

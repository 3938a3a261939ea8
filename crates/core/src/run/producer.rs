//! What writes a stream: a command, or an unknown process; and the timers of the stream.
//!
//! There are two threads besides the check: one passes standard error on; the supervisor waits for
//! the command, the timers and the signals, and ends the command with all its processes where it
//! must. On Windows a thread more reads each pipe. The check reads a [`ProducerStream`], and a
//! [`RunObserver`] reports to the supervisor what comes.

use std::any::Any;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::blocking_file::BlockingFile;
use super::measured::Measured;
use super::platform::{self, Group, Signals, stoppable};
use super::stderr::{self, Stderr};
use super::stream::ProducerStream;
use super::supervisor::Supervisor;
use super::watch::{RunObserver, Watch};
use crate::check::ProducerExit;
use crate::limits::TIMER_MAX;
use crate::profile::CallKind;
use crate::redact::Redactor;

/// The times that a run may take.
#[derive(Debug, Clone)]
pub struct Timers {
    /// Of the whole run.
    pub timeout: Option<Duration>,
    /// Between two events, while no call is open.
    pub idle: Option<Duration>,
    /// Of one tool call, of this kind or of all that no other names.
    pub calls: Vec<(Option<CallKind>, Duration)>,
    /// Between the terminal event and the command's end.
    pub grace: Duration,
}

impl Default for Timers {
    fn default() -> Self {
        Self { timeout: None, idle: None, calls: Vec::new(), grace: Duration::from_secs(10) }
    }
}

impl Timers {
    pub(super) fn of_call(&self, kind: Option<CallKind>) -> Option<Duration> {
        let of = |wanted: Option<CallKind>| {
            self.calls.iter().rev().find(|(kind, _)| *kind == wanted).map(|(_, limit)| *limit)
        };
        kind.and_then(|kind| of(Some(kind))).or_else(|| of(None))
    }
}

/// The end of a time limit; none if it is too far away to matter.
pub(super) fn after(time: Instant, limit: Duration) -> Option<Instant> {
    time.checked_add(limit.min(TIMER_MAX))
}

/// What writes a stream: a command, or an unknown process that writes to our standard input.
#[derive(Debug)]
pub struct Producer {
    /// The number of the command's process.
    pub(super) id: Option<u32>,
    pub(super) watch: Watch,
    timers: Timers,
    stderr: Option<JoinHandle<Stderr>>,
    supervisor: JoinHandle<Supervised>,
    /// If it is a pipe.
    pub(super) stdin: Option<ChildStdin>,
}

/// The number of a command, and the ends of its pipes, of those that it has.
#[derive(Debug)]
pub(super) struct Pipes {
    id: u32,
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: Option<ChildStdout>,
    pub(super) stderr: Option<ChildStderr>,
}

impl From<&mut Child> for Pipes {
    fn from(child: &mut Child) -> Self {
        Self {
            id: child.id(),
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
        }
    }
}

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

/// What keeps a guard, and its pipe.
type StartedGuard = (Box<dyn Any + Send>, Option<ChildStdout>);

/// What a program does that has its process for itself. A library does none of it: the signals and
/// the terminal are its host's.
#[derive(Debug, Clone, Copy)]
pub struct WholeProcess {
    /// Starts what ends a process group, by its number, if our process ends without doing so. Only
    /// Unix needs it. The pipe gets a byte for each Ctrl-C that the terminal sends to the group.
    pub guard: fn(i32) -> io::Result<StartedGuard>,
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
    /// The program that a command names, where the system itself does not find all of them.
    pub fn program(name: &OsStr) -> OsString {
        platform::program(name)
    }

    /// What a command is called in reports.
    pub fn called(program: &OsStr) -> &OsStr {
        platform::called(program)
    }

    /// Starts a command in a new group. `reads_terminal` says that it may read from the
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
        let watch = Watch::new(&timers)?;
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        // From here on, an error drops the group, which kills it.
        let (group, pipes) = Group::start(command, reads_terminal, whole)?;
        let (Some(stdout), Some(stderr)) = (pipes.stdout, pipes.stderr) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let (stdout, stop_out) = stoppable(stdout)?;
        let (stderr, stop_err) = stoppable(stderr)?;
        let stream = ProducerStream::new(stdout, Some(watch.0.clone()));
        let stderr = stderr::pass_on(ProducerStream::new(stderr, None), copy, watch.0.clone())?;
        let (checks, stop) = (watch.0.clone(), vec![stop_out, stop_err]);
        let supervisor = Supervisor::new(Some(group), timers.clone(), watch, signals, stop, whole);
        let (stderr, supervisor) = (Some(stderr), supervisor.start()?);
        let (id, stdin) = (Some(pipes.id), pipes.stdin);
        Ok((Self { id, watch: checks, timers, stderr, supervisor, stdin }, stream))
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
        let watch = Watch::new(&timers)?;
        let checks = watch.0.clone();
        let (source, stop) = stoppable(input)?;
        let stream = ProducerStream::new(source, Some(checks.clone()));
        let signals = Signals::for_reader()?;
        let (own, stop) = (timers.clone(), vec![stop]);
        let supervisor = Supervisor::new(None, own, watch, signals, stop, Some(whole));
        let supervisor = supervisor.start()?;
        let (stderr, stdin) = (None, None);
        Ok((Self { id: None, watch: checks, timers, stderr, supervisor, stdin }, stream))
    }

    /// From this observer of the check, the supervisor learns the events.
    pub fn observer(&self) -> RunObserver {
        RunObserver {
            watch: self.watch.clone(),
            has_idle_timeout: self.timers.idle.is_some(),
            has_call_timeout: !self.timers.calls.is_empty(),
        }
    }

    /// An output of ours, a writer or an observer, so that the supervisor knows when it blocks us.
    pub fn measured<T>(&self, inner: T) -> Measured<T> {
        Measured { watch: self.watch.clone(), inner }
    }

    /// Waits for the end; also returns the signal to end us, if one came.
    pub fn finish(self) -> (ProducerExit, Option<Interrupt>) {
        self.watch.stream_ended();
        let hides_open_calls = self.watch.state().hides_open_calls;
        let expects_turn = self.watch.state().expects_turn();
        let outcome = self.supervisor.join();
        // After a panic there is no result to report.
        let Supervised { mut end, interrupted } =
            outcome.unwrap_or_else(|bug| std::panic::resume_unwind(bug));
        end.expects_turn = expects_turn;
        end.had_no_idle_timeout = hides_open_calls && self.timers.idle.is_some();
        end.had_no_call_timeout = hides_open_calls && !self.timers.calls.is_empty();
        if let Some(stderr) = self.stderr.and_then(|thread| thread.join().ok()) {
            (end.stderr, end.stderr_lines) = (Some(stderr.last), stderr.known);
        }
        (end, interrupted)
    }
}

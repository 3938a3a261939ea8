//! Run mode: the command that writes the stream, and the timers of a stream.
//!
//! There are two threads besides the check: one passes standard error on; the supervisor waits for
//! the command, the timers and the signals, and ends the command's process group where it must. The
//! check reads a [`ProducerStream`] and reports its progress to the supervisor through [`Watched`].
//! A small process of our own guards the group, in case that we are killed.

mod group;
mod guard;
mod signals;
mod stderr;
mod stream;
mod supervisor;
mod watch;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{self, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use ndjson_check_core::{ProducerExit, Redactor};

use crate::cli::progress::Progress;
use crate::cli::stdio::BlockingFile;

use group::Group;
use signals::Signals;
use supervisor::Supervisor;
use watch::Watch;

pub(crate) use guard::guarded_group;
pub(crate) use signals::survive_file_limit;
pub(crate) use stream::ProducerStream;
pub(crate) use watch::Watched;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Timers {
    /// Of the whole run.
    pub(crate) timeout: Option<Duration>,
    /// Between two events, while no call is open.
    pub(crate) idle: Option<Duration>,
    /// Between the terminal event and the command's end.
    pub(crate) grace: Duration,
}

/// What writes a stream: a command, or an unknown process that writes to our standard input.
#[derive(Debug)]
pub(crate) struct Producer {
    watch: Watch,
    timers: Timers,
    /// Returns the last lines of standard error.
    stderr: Option<JoinHandle<Vec<String>>>,
    supervisor: JoinHandle<Supervised>,
}

/// The supervisor's result.
#[derive(Debug)]
struct Supervised {
    end: ProducerExit,
    /// The signal to end us, which was passed on first.
    interrupted: Option<Interrupt>,
}

/// A signal to end us; we end by it after the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interrupt {
    pub(crate) signal: i32,
    /// It came from the terminal while the command owned it: our own group did not get it.
    pub(crate) from_terminal: bool,
}

impl Interrupt {
    /// Ends us by the signal, as it would any command.
    pub(crate) fn die(self) {
        if self.from_terminal
            && let Ok(signal) = nix::sys::signal::Signal::try_from(self.signal)
        {
            // A script that started us must stop, too.
            let _ = nix::sys::signal::killpg(nix::unistd::getpgrp(), signal);
        }
        if process::id() == 1 {
            // The first process of a container cannot die of a signal.
            process::exit(128 + self.signal);
        }
        let _ = signal_hook::low_level::emulate_default_handler(self.signal);
    }
}

impl Producer {
    /// Starts a command in a new process group, with our environment and directory, and our
    /// standard input unless `no_stdin`. Its standard error is passed on, redacted if it must be.
    pub(crate) fn start(
        command: &[OsString],
        no_stdin: bool,
        timers: Timers,
        redactor: Option<Redactor>,
        progress: Progress,
    ) -> io::Result<(Self, ProducerStream)> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        // Before the command starts: no signal may be missed, and a failure here needs no cleanup.
        let signals = Signals::for_command()?;
        let (stop_out, stop_err, stop) = stop_pipes()?;
        let watch = Watch::new()?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(if no_stdin { Stdio::null() } else { Stdio::inherit() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        // From here on, an error drops the group, which kills it.
        let group = Group::of(&child, no_stdin);
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let stream = ProducerStream::new(file(stdout), stop_out, Some(watch.0.clone()));
        let stderr = ProducerStream::new(file(stderr), stop_err, None);
        let stderr = stderr::pass_on(stderr, redactor, progress)?;
        let checks = watch.0.clone();
        let supervisor = Supervisor::new(Some(group), timers, watch, signals, stop);
        let (stderr, supervisor) = (Some(stderr), supervisor.start()?);
        Ok((Self { watch: checks, timers, stderr, supervisor }, stream))
    }

    /// Watches a stream of another process. After a timeout or a signal we stop reading; the other
    /// process is not killed.
    pub(crate) fn of_input(
        input: BlockingFile,
        timers: Timers,
    ) -> io::Result<(Self, ProducerStream)> {
        let (stop_out, _unused, stop) = stop_pipes()?;
        let watch = Watch::new()?;
        let checks = watch.0.clone();
        let stream = ProducerStream::new(input, stop_out, Some(checks.clone()));
        let supervisor = Supervisor::new(None, timers, watch, Signals::for_reader()?, stop);
        let supervisor = supervisor.start()?;
        Ok((Self { watch: checks, timers, stderr: None, supervisor }, stream))
    }

    /// Wraps a reader or an observer, so that the supervisor knows when it blocks us; from an
    /// observer the supervisor also learns the events.
    pub(crate) fn watched<T>(&self, inner: T) -> Watched<T> {
        Watched::new(self.watch.clone(), self.timers.idle.is_some(), inner)
    }

    /// Waits for the end; also returns the signal to end us, if one came.
    pub(crate) fn finish(self) -> (ProducerExit, Option<Interrupt>) {
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

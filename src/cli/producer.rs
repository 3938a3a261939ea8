//! Run mode: the command that writes the stream, and the clock that watches over a stream.
//!
//! Two threads beside the check: one passes standard error on, one supervises: it waits for the
//! command, the timers and the signals, and ends the command's process group where it must. The
//! check reads a [`ProducerStream`]; what it learns of the run goes to the supervisor through [`Watched`].

mod group;
mod stderr;
mod stream;
mod supervisor;
mod watch;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::check::ProducerExit;
use crate::cli::stdio::BlockingFile;
use group::Group;
use stderr::{SharedTail, StderrTail};
use supervisor::{Signals, Supervisor};
use watch::Watch;

pub(crate) use stream::ProducerStream;
pub(crate) use watch::Watched;

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timers {
    /// The whole run.
    pub(crate) timeout: Option<Duration>,
    /// Between two events, while no call is open.
    pub(crate) idle: Option<Duration>,
    /// Between the terminal event and the command's end.
    pub(crate) grace: Duration,
}

/// Something that writes a stream and is watched: a command, or whoever writes to our input.
#[derive(Debug)]
pub(crate) struct Producer {
    watch: Watch,
    tail: Option<Arc<SharedTail>>,
    supervisor: JoinHandle<Supervised>,
}

/// What the supervisor saw.
#[derive(Debug)]
struct Supervised {
    end: ProducerExit,
    /// The signal that was to end us, and was passed on instead.
    interrupted: Option<Interrupt>,
}

/// A signal that was to end us; we die of it when all is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interrupt {
    /// Its number.
    pub(crate) signal: i32,
    /// It came from the terminal, which the command owned: our own group did not get it.
    pub(crate) from_terminal: bool,
}

impl Interrupt {
    /// Ends us by the signal, as it would any command.
    pub(crate) fn die(self) {
        if self.from_terminal
            && let Ok(signal) = nix::sys::signal::Signal::try_from(self.signal)
        {
            // A script that started us is to stop, too.
            let _ = nix::sys::signal::killpg(nix::unistd::getpgrp(), signal);
        }
        let _ = signal_hook::low_level::emulate_default_handler(self.signal);
    }
}

impl Producer {
    /// Starts a command in a process group of its own, with our environment and directory, and
    /// our standard input unless `no_stdin`.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub(crate) fn start(
        command: &[OsString],
        no_stdin: bool,
        timers: Timers,
    ) -> io::Result<(Self, ProducerStream)> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        // Before the command is there: not one of its signals may be missed, and what can fail
        // has not failed then.
        let signals = Signals::of_a_command()?;
        let (stop_out, stop_err, stop) = stop_pipes()?;
        let watch = Watch::new()?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(if no_stdin { Stdio::null() } else { Stdio::inherit() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        // From here on whatever fails kills the group.
        let group = Group::of(&child, no_stdin);
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let stream = ProducerStream::new(file(stdout), stop_out, Some(watch.0.clone()));
        let tail = StderrTail::pass_on(ProducerStream::new(file(stderr), stop_err, None))?;
        let it = watch.0.clone();
        let supervisor = Supervisor::new(Some(group), timers, watch, signals, stop);
        Ok((Self { watch: it, tail: Some(tail), supervisor: supervisor.start()? }, stream))
    }

    /// Watches over a stream that somebody else writes. A timer or a signal to us gives it up and
    /// kills nobody.
    ///
    /// # Errors
    ///
    /// When the process is out of descriptors.
    pub(crate) fn of_input(
        input: BlockingFile,
        timers: Timers,
    ) -> io::Result<(Self, ProducerStream)> {
        let (stop_out, _unused, stop) = stop_pipes()?;
        let watch = Watch::new()?;
        let it = watch.0.clone();
        let stream = ProducerStream::new(input, stop_out, Some(it.clone()));
        let supervisor = Supervisor::new(None, timers, watch, Signals::of_a_reader()?, stop);
        Ok((Self { watch: it, tail: None, supervisor: supervisor.start()? }, stream))
    }

    /// Wraps an output, so that the supervisor knows when it blocks us; of a conversion also the
    /// events.
    pub(crate) fn watched<T>(&self, inner: T) -> Watched<T> {
        Watched::new(self.watch.clone(), inner)
    }

    /// Waits for the end, and tells it; also the signal that we are to die of, if one came.
    pub(crate) fn finish(self) -> (ProducerExit, Option<Interrupt>) {
        self.watch.stream_ended();
        let outcome = self.supervisor.join();
        // A bug there is a bug here: nothing may be concluded from it.
        let Supervised { mut end, interrupted } =
            outcome.unwrap_or_else(|bug| std::panic::resume_unwind(bug));
        end.stderr = self.tail.map(|tail| StderrTail::last_lines(&tail));
        (end, interrupted)
    }
}

fn file(pipe: impl Into<OwnedFd>) -> BlockingFile {
    BlockingFile::from(File::from(pipe.into()))
}

/// Two read ends that become readable when the write ends are dropped, and these.
fn stop_pipes() -> io::Result<(io::PipeReader, io::PipeReader, [io::PipeWriter; 2])> {
    let (stop_out, out) = io::pipe()?;
    let (stop_err, err) = io::pipe()?;
    Ok((stop_out, stop_err, [out, err]))
}

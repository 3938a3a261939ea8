//! Several turns of one command: what is written to it, and the events of each turn.

use std::io::{self, Write};
use std::process::ChildStdin;

use super::agent_run::AgentRun;
use super::watch::Watch;
use crate::check::Event;
use crate::error::Error;

/// The open standard input of a command, which is closed when this is dropped.
///
/// After the terminal event of a turn, the agent may wait for the next message as long as its
/// input is open: neither the idle timeout nor [`Command::exit_grace`] ends it.
///
/// A write blocks while the command does not read. Write more than a pipe holds in a separate
/// thread: the agent may itself be waiting until its events are read. The idle timeout ends such a
/// run. A write fails when the command has closed its input or has ended.
///
/// [`Command::exit_grace`]: super::Command::exit_grace
#[derive(Debug)]
pub struct AgentStdin {
    pipe: ChildStdin,
    watch: Watch,
}

impl AgentStdin {
    pub(super) fn new(pipe: ChildStdin, watch: Watch) -> Self {
        watch.input_opened();
        Self { pipe, watch }
    }
}

impl Write for AgentStdin {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Self { pipe, watch } = self;
        watch.writes_message(|| pipe.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pipe.flush()
    }
}

impl Drop for AgentStdin {
    fn drop(&mut self) {
        self.watch.input_closed();
    }
}

/// The events up to the terminal event of a turn, or to the end of the run.
#[derive(Debug)]
pub struct TurnEvents<'r> {
    run: &'r mut AgentRun,
    is_over: bool,
}

impl<'r> TurnEvents<'r> {
    pub(super) fn new(run: &'r mut AgentRun) -> Self {
        Self { run, is_over: false }
    }
}

impl Iterator for TurnEvents<'_> {
    type Item = Result<Event<'static>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = if self.is_over { None } else { self.run.next_event(true) };
        self.is_over = next.is_none();
        next
    }
}

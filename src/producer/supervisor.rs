//! Waits for the command, the timers and the signals, and ends what must end.

use std::io::{self, PipeWriter, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use signal_hook::SigId;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::low_level::{emulate_default_handler, pipe, unregister};

use super::group::{Change, Group};
use super::watch::Watch;
use super::{Outcome, Timers};
use crate::descriptor::wait_for_any;
use crate::end::{End, Status, Stop};
use crate::limits::{DRAIN_WAIT, KILL_WAIT};

/// The signals that are waited for, each with a socket that becomes readable when it comes.
pub(super) struct Signals(Vec<(i32, SigId, UnixStream)>);

impl Drop for Signals {
    fn drop(&mut self) {
        for (_, id, _) in &self.0 {
            unregister(*id);
        }
    }
}

impl Signals {
    /// Those that a command's supervisor passes on, and the news of its children.
    pub(super) fn of_a_command() -> io::Result<Self> {
        Self::register(&[SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCHLD])
    }

    /// Those that end whoever reads a stream.
    pub(super) fn of_a_reader() -> io::Result<Self> {
        Self::register(&[SIGINT, SIGTERM, SIGHUP])
    }

    fn register(signals: &[i32]) -> io::Result<Self> {
        let register = |&signal| {
            let (reader, writer) = UnixStream::pair()?;
            reader.set_nonblocking(true)?;
            Ok((signal, pipe::register(signal, writer)?, reader))
        };
        Ok(Self(signals.iter().map(register).collect::<io::Result<_>>()?))
    }

    /// How often each came since the last time.
    fn take(&self) -> Vec<(i32, usize)> {
        let counts = self.0.iter().map(|(signal, _, reader)| {
            let mut reader: &UnixStream = reader;
            (*signal, reader.read(&mut [0; 64]).unwrap_or(0))
        });
        counts.filter(|(_, count)| *count > 0).collect()
    }
}

/// Watches over one run.
pub(super) struct Supervisor {
    group: Option<Group>,
    timers: Timers,
    watch: Watch,
    signals: Signals,
    /// Dropped when nobody is to wait for the pipes any longer.
    stop: Option<[PipeWriter; 2]>,
    end: End,
    /// When the command ended.
    ended: Option<Instant>,
    /// When the group is killed that was asked to end.
    kill: Option<Instant>,
    interrupted: Option<i32>,
    terminal_given: bool,
}

impl Supervisor {
    pub(super) fn new(
        group: Option<Group>,
        timers: Timers,
        watch: Watch,
        signals: Signals,
        stop: [PipeWriter; 2],
    ) -> Self {
        let terminal_given = group.as_ref().is_some_and(Group::owns_terminal);
        Self {
            group,
            timers,
            watch,
            signals,
            stop: Some(stop),
            end: End::default(),
            ended: None,
            kill: None,
            interrupted: None,
            terminal_given,
        }
    }

    /// Runs until the command has ended and its stream is read, or until it is given up.
    pub(super) fn run(mut self) -> Outcome {
        while !self.is_over() {
            self.wait();
            for (signal, count) in self.signals.take() {
                self.signal(signal, count);
            }
            self.reap();
            self.expire(Instant::now());
        }
        if let Some(group) = &self.group {
            // Nothing of the group outlives us.
            group.signal(Signal::SIGKILL);
            group.take_terminal();
        }
        drop(self.stop.take());
        Outcome { end: self.end, interrupted: self.interrupted }
    }

    fn is_over(&self) -> bool {
        let stream_ended = self.watch.state().stream_end.is_some();
        match (&self.group, self.ended) {
            (Some(_), Some(_)) => stream_ended || self.end.pipe_held,
            (Some(_), None) => false,
            (None, _) => stream_ended || self.end.stopped.is_some() || self.interrupted.is_some(),
        }
    }

    /// Waits for the next thing to happen: a signal, news from the check, or a deadline.
    fn wait(&self) {
        let timeout = self.next_deadline().map(|at| at.saturating_duration_since(Instant::now()));
        let mut wake = self.watch.wake_reader();
        let signals = self.signals.0.iter().map(|(_, _, reader)| reader.as_fd());
        let waited: Vec<BorrowedFd<'_>> = signals.chain([wake.as_fd()]).collect();
        let ready = wait_for_any(&waited, timeout);
        if ready.last().copied().unwrap_or(false) {
            drop(waited);
            let _ = wake.read(&mut [0; 64]);
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let state = self.watch.state();
        if let Some(ended) = self.ended {
            return Some(ended + DRAIN_WAIT);
        }
        if self.kill.is_some() {
            return self.kill;
        }
        let total = self.timers.timeout.map(|limit| state.started + limit);
        if let Some(last) = state.last_word() {
            return if self.group.is_some() { Some(last + self.timers.grace) } else { total };
        }
        let idle = self.timers.idle.filter(|_| !state.has_open_calls());
        let idle = idle.map(|limit| state.last_event + limit);
        [total, idle].into_iter().flatten().min()
    }

    fn signal(&mut self, signal: i32, count: usize) {
        let Some(group) = &self.group else {
            self.interrupted = Some(signal);
            return;
        };
        match signal {
            SIGCHLD => {}
            SIGTSTP => {
                group.signal(Signal::SIGTSTP);
                self.pause();
            }
            _ => {
                if self.interrupted.is_some() || count > 1 {
                    // Somebody is in a hurry.
                    group.signal(Signal::SIGKILL);
                    group.take_terminal();
                    let _ = emulate_default_handler(signal);
                }
                self.interrupted = Some(signal);
                if let Ok(signal) = Signal::try_from(signal) {
                    group.signal(signal);
                }
                // One that is stopped would never hear of it.
                group.signal(Signal::SIGCONT);
            }
        }
    }

    /// Stops us as the terminal stopped the command; returns when we are resumed.
    fn pause(&mut self) {
        let begun = Instant::now();
        let _ = emulate_default_handler(SIGTSTP);
        self.watch.state().shift(begun.elapsed());
        if let Some(group) = &self.group {
            self.terminal_given |= group.give_terminal();
            group.signal(Signal::SIGCONT);
        }
    }

    fn reap(&mut self) {
        let Some(group) = self.group.as_ref().filter(|_| self.ended.is_none()) else { return };
        match group.change() {
            Change::Ended(status) => {
                self.ended = Some(Instant::now());
                self.end.status = Some(status);
                let interrupted = [Status::Signal(2), Status::Code(130)].contains(&status);
                // The terminal sent its signal to the command alone.
                if self.terminal_given && interrupted && self.end.stopped.is_none() {
                    self.interrupted.get_or_insert(SIGINT);
                }
            }
            Change::Stopped { wants_terminal: true } if group.give_terminal() => {
                self.terminal_given = true;
            }
            Change::Stopped { .. } => self.pause(),
            Change::Nothing => {}
        }
    }

    /// Does what is due.
    fn expire(&mut self, now: Instant) {
        let due =
            |since: Option<Instant>, limit: Duration| since.is_some_and(|it| now >= it + limit);
        if due(self.ended, DRAIN_WAIT) {
            self.end.pipe_held = self.watch.state().stream_end.is_none();
            return;
        }
        if let Some(group) = &self.group
            && self.kill.is_some_and(|at| now >= at)
        {
            group.signal(Signal::SIGKILL);
            self.kill = Some(now + KILL_WAIT);
            return;
        }
        if self.end.stopped.is_some() || self.ended.is_some() {
            return;
        }
        if let Some(stop) = self.stop_reason(now) {
            self.end.stopped = Some(stop);
            if let Some(group) = &self.group {
                group.signal(Signal::SIGTERM);
                group.signal(Signal::SIGCONT);
                self.kill = Some(now + KILL_WAIT);
            }
        }
    }

    fn stop_reason(&self, now: Instant) -> Option<Stop> {
        let state = self.watch.state();
        let total = self.timers.timeout.filter(|limit| now >= state.started + *limit);
        if let Some(last) = state.last_word() {
            // All has been said: whoever lives on is ended, or no longer listened to.
            let lingers = match self.group {
                Some(_) => now >= last + self.timers.grace,
                None => total.is_some(),
            };
            return lingers.then_some(Stop::Lingered);
        }
        if let Some(limit) = total {
            return Some(Stop::Timeout { limit, open: state.open_calls(now) });
        }
        let idle = self.timers.idle.filter(|_| !state.has_open_calls());
        let limit = idle.filter(|limit| now >= state.last_event + *limit)?;
        Some(Stop::Idle { limit })
    }
}

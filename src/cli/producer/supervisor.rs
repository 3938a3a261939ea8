//! Waits for the command, the timers and the signals, and ends what must end.

use std::io::{self, PipeWriter, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use signal_hook::SigId;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::flag::register_conditional_default;
use signal_hook::low_level::{emulate_default_handler, pipe, unregister};

use super::group::{Change, Group};
use super::watch::Watch;
use super::{Interrupt, Outcome, Timers};
use crate::cli::stdio::wait_for_any;
use crate::check::producer_exit::{End, Status, Stop};
use crate::limits::{DRAIN_WAIT, KILL_WAIT, LAST_WORD_WAIT, SIGNAL_ONCE, TIMER_MAX};

/// The signals that are waited for, each with a socket that becomes readable when it comes.
pub(super) struct Signals {
    waited: Vec<(i32, SigId, UnixStream)>,
    /// Set when nobody waits for them any longer: they do then what they always do.
    done: Arc<AtomicBool>,
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.done.store(true, Ordering::SeqCst);
        for (_, id, _) in &self.waited {
            unregister(*id);
        }
    }
}

impl Signals {
    /// Those that a command's supervisor passes on, and the news of its children.
    pub(super) fn of_a_command() -> io::Result<Self> {
        Self::register(&[SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCHLD])
    }

    /// Those that end whoever reads a stream.
    pub(super) fn of_a_reader() -> io::Result<Self> {
        Self::register(&[SIGINT, SIGTERM, SIGHUP])
    }

    fn register(signals: &[i32]) -> io::Result<Self> {
        let mut it = Self { waited: Vec::new(), done: Arc::default() };
        // What our parent wants ignored (`nohup`) stays so, for the command too.
        for &signal in signals.iter().filter(|signal| !is_ignored(**signal)) {
            let (reader, writer) = UnixStream::pair()?;
            reader.set_nonblocking(true)?;
            if signal != SIGCHLD {
                register_conditional_default(signal, Arc::clone(&it.done))?;
            }
            it.waited.push((signal, pipe::register(signal, writer)?, reader));
        }
        Ok(it)
    }

    /// Those that came since the last time.
    fn take(&self) -> Vec<i32> {
        let came = |reader: &UnixStream| {
            let mut reader = reader;
            reader.read(&mut [0; 64]).is_ok_and(|count| count > 0)
        };
        let signals = self.waited.iter().filter(|(.., reader)| came(reader));
        signals.map(|(signal, ..)| *signal).collect()
    }
}

/// Whether a signal is ignored, as far as the system tells without being asked to change it.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    signal != SIGCHLD && mask >> (signal - 1) & 1 == 1
}

/// Watches over one run.
pub(super) struct Supervisor {
    group: Option<Group>,
    timers: Timers,
    watch: Watch,
    wake: UnixStream,
    signals: Signals,
    /// Dropped when nobody is to wait for the pipes any longer.
    stop: Option<[PipeWriter; 2]>,
    end: End,
    /// When the command ended, or when it was last seen that the check has not read all of it.
    ended: Option<Instant>,
    /// When the group is killed that was asked to end.
    kill: Option<Instant>,
    /// The first signal that was meant for us, and when it came.
    interrupted: Option<(i32, Instant)>,
    terminal_given: bool,
    /// Whether that signal was the terminal's, and our own group is still to hear of it.
    from_terminal: bool,
}

impl Supervisor {
    pub(super) fn new(
        group: Option<Group>,
        timers: Timers,
        (watch, wake): (Watch, UnixStream),
        signals: Signals,
        stop: [PipeWriter; 2],
    ) -> Self {
        let terminal_given = group.as_ref().is_some_and(Group::give_terminal_to_reader);
        Self {
            group,
            timers,
            watch,
            wake,
            signals,
            stop: Some(stop),
            end: End::default(),
            ended: None,
            kill: None,
            interrupted: None,
            terminal_given,
            from_terminal: false,
        }
    }

    /// Runs in a thread of its own.
    pub(super) fn start(self) -> io::Result<JoinHandle<Outcome>> {
        thread::Builder::new().spawn(|| self.run())
    }

    /// Runs until the command has ended and its stream is read, or until it is given up.
    fn run(mut self) -> Outcome {
        while !self.is_over() {
            self.wait();
            for signal in self.signals.take() {
                self.signal(signal);
            }
            self.reap();
            self.expire(Instant::now());
        }
        // Nothing of the group outlives us.
        drop(self.group.take());
        drop(self.stop.take());
        self.end.interrupted = self.interrupted.is_some();
        let interrupted = self
            .interrupted
            .map(|(signal, _)| Interrupt { signal, from_terminal: self.from_terminal });
        Outcome { end: self.end, interrupted }
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
    fn wait(&mut self) {
        let timeout = self.next_deadline().map(|at| at.saturating_duration_since(Instant::now()));
        let signals = self.signals.waited.iter().map(|(.., reader)| reader.as_fd());
        let waited: Vec<BorrowedFd<'_>> = signals.chain([self.wake.as_fd()]).collect();
        wait_for_any(&waited, timeout);
        let _ = self.wake.read(&mut [0; 64]);
    }

    fn next_deadline(&self) -> Option<Instant> {
        if let Some(ended) = self.ended {
            return after(ended, DRAIN_WAIT);
        }
        if self.kill.is_some() {
            return self.kill;
        }
        let state = self.watch.state();
        let total = self.timers.timeout.and_then(|limit| after(state.started, limit));
        let next = match state.terminal {
            Some(terminal) => self.group.as_ref().and_then(|_| after(terminal, self.timers.grace)),
            None if state.has_open_calls() => None,
            None => self.timers.idle.and_then(|limit| after(state.last_event, limit)),
        };
        [total, next].into_iter().flatten().min()
    }

    fn signal(&mut self, signal: i32) {
        let now = Instant::now();
        let Some(group) = &self.group else {
            self.interrupted.get_or_insert((signal, now));
            return;
        };
        match (signal, self.interrupted) {
            (SIGCHLD, _) => {}
            (SIGTSTP, _) => {
                group.signal(Signal::SIGTSTP);
                self.pause();
            }
            (_, None) => {
                self.interrupted = Some((signal, now));
                if signal != SIGINT {
                    // Whoever ends a job does not ask twice; a person at a terminal can.
                    self.kill = after(now, KILL_WAIT);
                }
                if let Ok(signal) = Signal::try_from(signal) {
                    group.signal(signal);
                }
                // One that is stopped would never hear of it.
                group.signal(Signal::SIGCONT);
            }
            (_, Some((_, first))) if now < first + SIGNAL_ONCE => {}
            (_, Some(_)) => {
                // Somebody is in a hurry: what is known is reported, if that goes at once.
                group.signal(Signal::SIGKILL);
                thread::spawn(move || {
                    thread::sleep(LAST_WORD_WAIT);
                    let _ = emulate_default_handler(signal);
                });
            }
        }
    }

    /// Stops us as the terminal stopped the command, where somebody can resume us; returns then.
    fn pause(&mut self) {
        let Some(group) = self.group.as_ref().filter(|group| group.may_pause()) else { return };
        let begun = Instant::now();
        group.stop_ourselves();
        let pause = begun.elapsed();
        self.watch.state().shift(pause);
        for time in [&mut self.ended, &mut self.kill].into_iter().flatten() {
            *time += pause;
        }
        self.terminal_given |= group.give_terminal_to_reader();
        group.signal(Signal::SIGCONT);
    }

    fn reap(&mut self) {
        let Some(group) = self.group.as_ref().filter(|_| self.ended.is_none()) else { return };
        match group.change() {
            Change::Ended(status) => {
                let now = Instant::now();
                self.ended = Some(now);
                self.end.status = Some(status);
                let interrupted = [Status::Signal(2), Status::Code(130)].contains(&status);
                // The terminal sent its signal to the command alone.
                if self.terminal_given && interrupted && self.interrupted.is_none() {
                    self.interrupted = Some((SIGINT, now));
                    self.from_terminal = true;
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
        if let Some(ended) = self.ended {
            if now >= ended + DRAIN_WAIT {
                let state = self.watch.state();
                let waits = state.waiting && state.stream_end.is_none();
                drop(state);
                // Where our own reader takes its time nobody holds anything.
                self.end.pipe_held = waits;
                self.ended = Some(now);
            }
            return;
        }
        if let Some(group) = &self.group
            && self.kill.is_some_and(|at| now >= at)
        {
            group.signal(Signal::SIGKILL);
            self.kill = after(now, KILL_WAIT);
            return;
        }
        if self.end.stopped.is_some() {
            return;
        }
        if let Some(stop) = self.stop_reason(now) {
            self.end.stopped = Some(stop);
            if let Some(group) = &self.group {
                group.signal(Signal::SIGTERM);
                group.signal(Signal::SIGCONT);
                self.kill = after(now, KILL_WAIT);
            }
        }
    }

    fn stop_reason(&self, now: Instant) -> Option<Stop> {
        let due = |since: Instant, limit: Duration| after(since, limit).is_some_and(|at| now >= at);
        let mut state = self.watch.state();
        let total = self.timers.timeout.filter(|limit| due(state.started, *limit));
        if let Some(terminal) = state.terminal {
            // All has been said: whoever lives on is ended, or no longer listened to.
            let lingers = self.group.is_some() && due(terminal, self.timers.grace);
            return (lingers || total.is_some()).then_some(Stop::Lingered);
        }
        if let Some(limit) = total {
            return Some(Stop::Timeout { limit, open: state.open_calls(now) });
        }
        let idle = self.timers.idle.filter(|_| !state.has_open_calls());
        let limit = idle.filter(|limit| due(state.last_event, *limit))?;
        if !state.waiting && state.stream_end.is_none() {
            // The silence is ours: the check, or our reader, takes its time.
            state.last_event = now;
            return None;
        }
        Some(Stop::Idle { limit })
    }
}

/// A time after another; none if it is too far away to matter.
fn after(time: Instant, limit: Duration) -> Option<Instant> {
    time.checked_add(limit.min(TIMER_MAX))
}

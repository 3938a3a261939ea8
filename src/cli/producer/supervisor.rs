//! Waits for the command, the timers and the signals, and ends what must end.

use std::io::{self, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use signal_hook::SigId;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::flag::register_conditional_default;
use signal_hook::low_level::{pipe, unregister};

use super::group::{Change, Group};
use super::watch::{RunState, Watch};
use super::{Interrupt, Supervised, Timers};
use crate::check::{ProducerExit, StopReason};
use crate::cli::stdio::wait_for_any;
use crate::limits::{
    DRAIN_TICK, DRAIN_WAIT, FINISH_WAIT, KILL_WAIT, LAST_MESSAGE_WAIT, LAST_WORD_WAIT, SIGNAL_ONCE,
    TIMER_MAX,
};
use crate::profile::ExitStatus;

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
    end: ProducerExit,
    /// When the command ended, and how long our own output had blocked us until then.
    ended: Option<(Instant, Duration)>,
    /// When the group is killed that was asked to end.
    kill: Option<Instant>,
    /// Whether the time for the whole run is over.
    timed_out: bool,
    /// When we end ourselves, whatever blocks the check.
    leave: Option<Instant>,
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
            end: ProducerExit::default(),
            ended: None,
            kill: None,
            timed_out: false,
            leave: None,
            interrupted: None,
            terminal_given,
            from_terminal: false,
        }
    }

    /// Runs in a thread of its own.
    pub(super) fn start(self) -> io::Result<JoinHandle<Supervised>> {
        thread::Builder::new().spawn(|| self.run())
    }

    /// Runs until the command has ended and its stream is read, or until it is given up. Where a
    /// timer or a signal ends us, that holds also for what the check writes after that.
    fn run(mut self) -> Supervised {
        while !self.is_over() {
            self.wait();
            for signal in self.signals.take() {
                self.signal(signal);
            }
            self.reap();
            self.expire(Instant::now());
        }
        self.end.stdout_held_open = self.group.is_some() && self.watch.state().cut;
        // Nothing of the group outlives us.
        drop(self.group.take());
        drop(self.stop.take());
        self.end.was_interrupted = self.interrupted.is_some();
        let interrupted = self
            .interrupted
            .map(|(signal, _)| Interrupt { signal, from_terminal: self.from_terminal });
        let total = self.total(&self.watch.state());
        if let Some(at) = self.leave.or_else(|| after(total?, FINISH_WAIT)) {
            thread::spawn(move || leave(at, interrupted));
        }
        Supervised { end: self.end, interrupted }
    }

    fn is_over(&self) -> bool {
        let stream_ended = self.watch.state().stream_end.is_some();
        let given_up = match self.group {
            Some(_) => self.leave.is_some_and(|at| Instant::now() >= at),
            None => self.end.stop.is_some() || self.interrupted.is_some(),
        };
        given_up || stream_ended && self.is_gone()
    }

    /// Whether there is no command, or no longer.
    fn is_gone(&self) -> bool {
        self.group.is_none() || self.ended.is_some()
    }

    /// Waits for the next thing to happen: a signal, news from the check, or a deadline.
    fn wait(&mut self) {
        let now = Instant::now();
        let timeout = self.next_deadline(now).map(|at| at.saturating_duration_since(now));
        let signals = self.signals.waited.iter().map(|(.., reader)| reader.as_fd());
        let waited: Vec<BorrowedFd<'_>> = signals.chain([self.wake.as_fd()]).collect();
        wait_for_any(&waited, timeout);
        let _ = self.wake.read(&mut [0; 64]);
    }

    fn next_deadline(&self, now: Instant) -> Option<Instant> {
        let state = self.watch.state();
        let total = self.total(&state).filter(|_| !self.timed_out);
        // It moves while our output blocks us.
        let drain = self.drain_end(&state, now).filter(|_| self.stop.is_some());
        let drain = drain.map(|at| at.max(now + DRAIN_TICK));
        let next = match state.terminal {
            _ if self.ended.is_some() || self.end.stop.is_some() => None,
            Some(terminal) => self.group.as_ref().and_then(|_| after(terminal, self.timers.grace)),
            None if state.has_open_calls() => None,
            None => self.timers.idle.and_then(|limit| after(state.last_event, limit)),
        };
        [total, next, drain, self.kill, self.leave].into_iter().flatten().min()
    }

    /// When the time for the whole run is over.
    fn total(&self, state: &RunState) -> Option<Instant> {
        self.timers.timeout.and_then(|limit| after(state.started, limit))
    }

    /// When the stream is given up that a descendant of the command holds open. Time in which our
    /// own output blocks us does not count: a slow reader there is not the descendant's fault.
    fn drain_end(&self, state: &RunState, now: Instant) -> Option<Instant> {
        let (ended, blocked) = self.ended?;
        after(ended, DRAIN_WAIT + state.blocked(now).saturating_sub(blocked))
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
                let soon = after(now, LAST_WORD_WAIT);
                self.leave = self.leave.min(soon).or(soon);
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
        let ended = self.ended.as_mut().map(|(time, _)| time);
        let times = [ended, self.kill.as_mut(), self.leave.as_mut()];
        times.into_iter().flatten().for_each(|time| *time += pause);
        self.terminal_given |= group.give_terminal_to_reader();
        group.signal(Signal::SIGCONT);
    }

    fn reap(&mut self) {
        let Some(group) = self.group.as_ref().filter(|_| self.ended.is_none()) else { return };
        match group.change() {
            Change::Ended(status) => {
                let now = Instant::now();
                self.ended = Some((now, self.watch.state().blocked(now)));
                self.end.status = Some(status);
                let interrupted = [ExitStatus::Signal(2), ExitStatus::Code(130)].contains(&status);
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
        let drained = self.drain_end(&self.watch.state(), now).is_some_and(|at| now >= at);
        if drained {
            // What is in the pipe already is still read. If that is all, nobody holds it.
            self.stop = None;
        }
        self.timed_out |= self.total(&self.watch.state()).is_some_and(|at| now >= at);
        if self.ended.is_none()
            && self.end.stop.is_none()
            && let Some(stop) = self.stop_reason(now)
        {
            self.end.stop = Some(stop);
            if let Some(group) = &self.group {
                group.signal(Signal::SIGTERM);
                group.signal(Signal::SIGCONT);
                self.kill = self.kill.or(after(now, KILL_WAIT));
            }
        }
        if let Some(group) = &self.group
            && self.kill.is_some_and(|at| now >= at)
        {
            group.signal(Signal::SIGKILL);
            self.kill = after(now, KILL_WAIT);
        }
        let stopped = self.end.stop.as_ref().is_some_and(StopReason::is_timeout);
        let asked = self.timed_out || stopped || self.interrupted.is_some();
        if asked && self.is_gone() && self.leave.is_none() {
            self.leave = after(now, FINISH_WAIT);
        }
    }

    fn stop_reason(&self, now: Instant) -> Option<StopReason> {
        let due = |since: Instant, limit: Duration| after(since, limit).is_some_and(|at| now >= at);
        let mut state = self.watch.state();
        let total = self.timers.timeout.filter(|_| self.timed_out);
        if let Some(terminal) = state.terminal {
            // All has been said: whoever lives on is ended, or no longer listened to.
            let lingers = self.group.is_some() && due(terminal, self.timers.grace);
            return (lingers || total.is_some()).then_some(StopReason::Lingered);
        }
        if let Some(limit) = total {
            return Some(StopReason::Timeout { limit, open_calls: state.open_calls(now) });
        }
        let idle = self.timers.idle.filter(|_| !state.has_open_calls());
        let limit = idle.filter(|limit| due(state.last_event, *limit))?;
        if !state.waiting && state.stream_end.is_none() {
            // The silence is ours: the check, or our reader, takes its time.
            state.last_event = now;
            return None;
        }
        Some(StopReason::IdleTimeout { limit })
    }
}

/// Waits until then and ends us, if we still live: somebody does not read our output.
///
/// A signal that was meant for us is what we die of. After a timeout the code is not 4, which
/// promises a report: the check is still at work on its output, so that could not be written.
#[expect(clippy::exit, reason = "the thread of the check is blocked and cannot return")]
fn leave(at: Instant, interrupted: Option<Interrupt>) {
    thread::sleep(at.saturating_duration_since(Instant::now()));
    if let Some(interrupt) = interrupted {
        interrupt.die();
    }
    // Standard error may be what blocks.
    thread::spawn(|| {
        writeln!(io::stderr(), "ndjson-check: timed out: the output could not be written in time")
    });
    thread::sleep(LAST_MESSAGE_WAIT);
    process::exit(2);
}

/// A time after another; none if it is too far away to matter.
fn after(time: Instant, limit: Duration) -> Option<Instant> {
    time.checked_add(limit.min(TIMER_MAX))
}

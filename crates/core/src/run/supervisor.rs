//! Waits for the command, the timers and the signals, and ends what must end.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::platform::{
    self, Group, INTERRUPT, LeaderChange, PAUSE, Signals, Stop, TERMINATE, Wake, repeats,
    time_to_end,
};
use super::producer::{Interrupt, Supervised, Timers, WholeProcess, after};
use super::watch::{RunState, StopRequest, Watch};
use crate::check::{ProducerExit, StopReason};
use crate::profile::ExitStatus;

/// A second signal within this time counts as the first: `timeout` sends its signal to a command
/// and again to the command's group.
const SIGNAL_ONCE: Duration = Duration::from_millis(500);

/// Waits for the repetition of a signal that came at this time: it must not end us while reports
/// are written.
pub(super) fn wait_for_repetition(signals: Signals, first: Instant) {
    let wait = move || {
        thread::sleep((first + SIGNAL_ONCE).saturating_duration_since(Instant::now()));
        drop(signals);
    };
    let _ = thread::Builder::new().spawn(wait);
}

/// Raised when another attempt follows: the timer of the last run must not end the process then.
static ATTEMPTS_FOLLOWING: AtomicU64 = AtomicU64::new(0);

pub(super) fn another_attempt_follows() {
    ATTEMPTS_FOLLOWING.fetch_add(1, Ordering::Relaxed);
}

/// How long a second signal leaves us to finish the report.
const LAST_REPORT_WAIT: Duration = Duration::from_secs(1);

/// How long the stream is read when the command has ended and a descendant holds it open.
const DRAIN_WAIT: Duration = Duration::from_secs(2);

/// How often we check in that time whether our output blocks us.
const DRAIN_TICK: Duration = Duration::from_millis(50);

/// How often we ask whether the command has ended, where nothing wakes us then: other users of the
/// process may take the signal about a child.
const LEADER_TICK: Duration = Duration::from_millis(50);

/// How long we may take to write the report after a timeout or a signal, when no command is left
/// to wait for. It is longer than [`DRAIN_WAIT`].
const FINISH_WAIT: Duration = Duration::from_secs(3);

/// How long a command may take to end after it was asked to, before it is killed.
pub(super) const KILL_WAIT: Duration = Duration::from_secs(5);

pub(super) struct Supervisor {
    group: Option<Group>,
    timers: Timers,
    watch: Watch,
    wake: Wake,
    signals: Signals,
    /// Dropped to stop the wait for the pipes.
    stop: Option<Vec<Stop>>,
    end: ProducerExit,
    /// When the command ended, and how long our own output had blocked us until then.
    ended: Option<(Instant, Duration)>,
    /// When to kill the group, which was asked to end.
    kill: Option<Instant>,
    /// Until when what was asked to end may do so: the leader may have ended before the others.
    grace: Option<Instant>,
    /// Whether the time for the whole run is over.
    timed_out: bool,
    /// When to end ourselves, even if the check is blocked.
    leave: Option<Instant>,
    /// The first signal that was meant for us, and when it came.
    interrupted: Option<(i32, Instant)>,
    terminal_given: bool,
    /// Whether the terminal sent that signal to the command only, and not to our own group.
    from_terminal: bool,
    whole: Option<WholeProcess>,
}

impl Supervisor {
    pub(super) fn new(
        group: Option<Group>,
        timers: Timers,
        (watch, wake): (Watch, Wake),
        signals: Signals,
        stop: Vec<Stop>,
        whole: Option<WholeProcess>,
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
            grace: None,
            timed_out: false,
            leave: None,
            interrupted: None,
            terminal_given,
            from_terminal: false,
            whole,
        }
    }

    /// Runs in a separate thread.
    pub(super) fn start(self) -> io::Result<JoinHandle<Supervised>> {
        thread::Builder::new().spawn(|| self.run())
    }

    /// Runs until the command has ended and its stream is read, or until it is given up. A timer or
    /// a signal to end us also limits the time in which the check writes its report.
    fn run(mut self) -> Supervised {
        while !self.is_over() {
            self.wait();
            for signal in self.signals.take() {
                self.signal(signal);
            }
            self.interrupt_of_terminal();
            self.stop_as_asked();
            self.reap();
            self.expire(Instant::now());
        }
        self.end.stdout_held_open = self.group.is_some() && self.watch.state().stopped_reading;
        // Kills what is left of the group.
        drop(self.group.take());
        drop(self.stop.take());
        self.end.was_interrupted = self.interrupted.is_some();
        let interrupted = self
            .interrupted
            .map(|(signal, _)| Interrupt { signal, from_terminal: self.from_terminal });
        let total = self.total(&self.watch.state());
        let leave = self.leave.or_else(|| after(total?, FINISH_WAIT));
        if let Some((at, whole)) = leave.zip(self.whole) {
            let following = ATTEMPTS_FOLLOWING.load(Ordering::Relaxed);
            thread::spawn(move || {
                thread::sleep(at.saturating_duration_since(Instant::now()));
                if ATTEMPTS_FOLLOWING.load(Ordering::Relaxed) == following {
                    (whole.leave)(interrupted);
                }
            });
        }
        if let Some((_, first)) = self.interrupted {
            wait_for_repetition(self.signals, first);
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

    /// Whether no command is running.
    fn is_gone(&self) -> bool {
        self.running().is_none()
    }

    fn running(&self) -> Option<&Group> {
        self.group.as_ref().filter(|_| self.ended.is_none())
    }

    /// Waits for a signal, the check, or a deadline.
    fn wait(&mut self) {
        let now = Instant::now();
        let timeout = self.next_deadline(now).map(|at| at.saturating_duration_since(now));
        platform::wait(&self.wake, &self.signals, self.running(), timeout);
    }

    fn next_deadline(&self, now: Instant) -> Option<Instant> {
        let state = self.watch.state();
        let total = self.total(&state).filter(|_| !self.timed_out);
        // It moves while our output blocks us.
        let drain = self.drain_end(&state, now).filter(|_| self.stop.is_some());
        let drain = drain.map(|at| at.max(now + DRAIN_TICK));
        let next = match state.complete_since() {
            _ if self.ended.is_some() || self.end.stop.is_some() => None,
            Some(_) if self.group.is_none() || state.input_is_open => None,
            Some(since) => after(since, self.timers.grace),
            None if state.waits_for_work() => {
                self.timers.idle.and_then(|limit| after(state.last_event, limit))
            }
            // The end of the write moves this deadline.
            None if state.may_be_silent() || state.stderr_is_blocked(now) => None,
            None => self.timers.idle.and_then(|limit| after(state.last_event, limit)),
        };
        let end = self.running().filter(|group| !group.wakes_at_its_end());
        let end = end.map(|_| now + LEADER_TICK);
        let is_over =
            state.complete_since().is_some() || self.ended.is_some() || self.end.stop.is_some();
        let has_none = is_over || state.stderr_is_blocked(now);
        let call = state.call_ends.first().map(|(end, _)| *end).filter(|_| !has_none);
        [total, next, call, drain, end, self.kill, self.leave].into_iter().flatten().min()
    }

    /// When the time for the whole run is over.
    fn total(&self, state: &RunState) -> Option<Instant> {
        self.timers.timeout.and_then(|limit| after(state.started, limit))
    }

    /// When to give up a stream that a descendant of the command holds open. Time in which our own
    /// output blocks us does not count.
    fn drain_end(&self, state: &RunState, now: Instant) -> Option<Instant> {
        let (ended, blocked) = self.ended?;
        after(ended, DRAIN_WAIT + state.blocked(now).saturating_sub(blocked)).max(self.grace)
    }

    /// Stops the command, if the user of the library asked for it.
    fn stop_as_asked(&mut self) {
        let request = self.watch.state().stop.take();
        // Only a user at a terminal is impatient when asking again.
        if request.is_some() && self.interrupted.is_none() {
            self.signal(TERMINATE);
        }
        if let Some(group) = self.group.as_ref().filter(|_| request == Some(StopRequest::Kill)) {
            group.kill();
        }
    }

    fn signal(&mut self, signal: i32) {
        let now = Instant::now();
        let Some(group) = &self.group else {
            self.interrupted.get_or_insert((signal, now));
            return;
        };
        match (signal, self.interrupted) {
            (_, Some(_)) if repeats(signal) => {}
            (PAUSE, _) if group.suspend() => self.pause(),
            (PAUSE, _) => {}
            (_, None) => {
                self.interrupted = Some((signal, now));
                self.kill = time_to_end(signal).and_then(|time| after(now, time));
                self.grace = self.kill;
                group.ask_to_end(signal);
            }
            (_, Some((_, first))) if now < first + SIGNAL_ONCE => {}
            (_, Some(_)) => {
                // A second signal: report what is known, within a short time.
                group.kill();
                let soon = after(now, LAST_REPORT_WAIT);
                self.leave = self.leave.min(soon).or(soon);
            }
        }
    }

    /// Ctrl-C in a terminal that the command owns reaches the command only.
    fn interrupt_of_terminal(&mut self) {
        let came = self.group.as_mut().is_some_and(Group::was_interrupted);
        match self.interrupted {
            _ if !came || !self.terminal_given => {}
            None => {
                self.interrupted = Some((INTERRUPT, Instant::now()));
                self.from_terminal = true;
                self.group.iter().for_each(Group::find_strays);
            }
            // The group's copy of a signal that came to us follows at once, and is ignored.
            Some(_) => self.signal(INTERRUPT),
        }
    }

    /// Stops us as the terminal stopped the command, if a shell can resume us; returns then.
    /// Without such a shell the command goes on.
    fn pause(&mut self) {
        let Some(group) = &self.group else { return };
        let leave_out = |pause: Duration| {
            self.watch.state().shift(pause);
            let ended = self.ended.as_mut().map(|(time, _)| time);
            let times = [ended, self.kill.as_mut(), self.grace.as_mut(), self.leave.as_mut()];
            times.into_iter().flatten().for_each(|time| *time += pause);
        };
        self.terminal_given |= group.pause(leave_out);
    }

    fn reap(&mut self) {
        let Some(group) = self.running() else { return };
        match group.change() {
            LeaderChange::Ended(status) => {
                let now = Instant::now();
                self.ended = Some((now, self.watch.state().blocked(now)));
                (self.end.status, self.end.status_is_lost) = (status, status.is_none());
                let by_ctrl_c = [ExitStatus::Signal(2), ExitStatus::Code(130)];
                let interrupted = status.is_some_and(|status| by_ctrl_c.contains(&status));
                // The terminal sent its signal to the command only.
                if self.terminal_given && interrupted && self.interrupted.is_none() {
                    self.interrupted = Some((INTERRUPT, now));
                    self.from_terminal = true;
                }
            }
            LeaderChange::HasTerminal => self.terminal_given = true,
            LeaderChange::Paused => self.pause(),
            LeaderChange::Nothing => {}
        }
    }

    fn expire(&mut self, now: Instant) {
        let drained = self.drain_end(&self.watch.state(), now).is_some_and(|at| now >= at);
        if drained {
            // What the pipe holds is still read.
            self.stop = None;
        }
        self.timed_out |= self.total(&self.watch.state()).is_some_and(|at| now >= at);
        if self.ended.is_none()
            && self.end.stop.is_none()
            && let Some(stop) = self.stop_reason(now)
        {
            self.end.stop = Some(stop);
            if let Some(group) = &self.group {
                group.ask_to_end(TERMINATE);
                self.kill = self.kill.or(after(now, KILL_WAIT));
                self.grace = self.kill;
            }
        }
        if let Some(group) = &self.group
            && self.kill.is_some_and(|at| now >= at)
        {
            group.kill();
            self.kill = after(now, KILL_WAIT);
        }
        let stopped = self.end.stop.as_ref().is_some_and(|stop| *stop != StopReason::Lingered);
        let asked = self.timed_out || stopped || self.interrupted.is_some();
        if asked && self.is_gone() && self.leave.is_none() {
            self.leave = after(self.grace.map_or(now, |grace| grace.max(now)), FINISH_WAIT);
        }
    }

    fn stop_reason(&self, now: Instant) -> Option<StopReason> {
        let due = |since: Instant, limit: Duration| after(since, limit).is_some_and(|at| now >= at);
        let mut state = self.watch.state();
        let total = self.timers.timeout.filter(|_| self.timed_out);
        if let Some(since) = state.complete_since() {
            // The run is complete: a command that still runs is ended.
            let may_end = self.group.is_some() && !state.input_is_open;
            let lingers = may_end && due(since, self.timers.grace);
            return (lingers || total.is_some()).then_some(StopReason::Lingered);
        }
        if state.waits_for_work() {
            // The run is complete, too; only its background work is missing.
            let is_silent = self.timers.idle.is_some_and(|limit| due(state.last_event, limit));
            return (is_silent || total.is_some()).then_some(StopReason::Lingered);
        }
        if let Some(limit) = total {
            return Some(StopReason::Timeout { limit, open_calls: state.open_calls(now) });
        }
        if state.exceeds_limit && self.group.is_some() {
            return Some(StopReason::LimitExceeded);
        }
        if state.starts_wrong && self.group.is_some() {
            return Some(StopReason::WrongStart);
        }
        if state.stderr_is_blocked(now) {
            return None;
        }
        if let Some((line, limit)) = state.call_over(now) {
            if state.waiting || state.stream_end.is_some() {
                return Some(StopReason::CallTimeout { limit, line });
            }
            // The check, or our reader, takes the time: the end of the call may have come. What the
            // calls have used of their time is not known.
            state.move_calls(|_| now);
        }
        let idle = self.timers.idle.filter(|_| !state.may_be_silent());
        let limit = idle.filter(|limit| due(state.last_event, *limit))?;
        let is_busy = !state.waiting && !state.has_unread && state.stream_end.is_none();
        if is_busy {
            // The check, or our reader, takes the time, not the producer.
            state.last_event = now;
            return None;
        }
        Some(StopReason::IdleTimeout { limit })
    }
}

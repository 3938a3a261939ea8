//! What the supervisor knows from the check: when events came, which calls are open, what ended.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::platform::{self, Wake, Waker};
use super::producer::{Timers, after};
use crate::check::{CheckedLine, EventKind, Observer, StreamStart, WantedEvents};
use crate::error::Error;
use crate::profile::{CallKind, Profile};

/// A write of our output that takes less than this does not count as blocked.
const BLOCKED_MIN: Duration = Duration::from_millis(1);

/// How the user of the library stops a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StopRequest {
    /// The command is asked to end.
    Terminate,
    /// It has no time to end.
    Kill,
}

/// The state of the run, shared by the check and the supervisor.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    state: Arc<Mutex<RunState>>,
    waker: Arc<Waker>,
}

#[derive(Debug)]
pub(super) struct RunState {
    pub(super) started: Instant,
    /// When the latest whole event came that is more than a notice of a retry, or the latest call
    /// ended.
    pub(super) last_event: Instant,
    pub(super) terminal_event: Option<Instant>,
    pub(super) stream_end: Option<Instant>,
    has_background_work: bool,
    /// Whether the user of the library may write to the command.
    pub(super) input_is_open: bool,
    /// Whether that was done after the latest terminal event, so that a turn is expected.
    pub(super) has_message: bool,
    pub(super) exceeds_limit: bool,
    pub(super) starts_wrong: bool,
    /// Whether the check waits for input; otherwise the check, or our reader, takes the time.
    pub(super) waiting: bool,
    /// Whether a message waits until the command reads it.
    pub(super) has_unread: bool,
    pub(super) stopped_reading: bool,
    /// When the current write of our own output began.
    writing: Option<Instant>,
    /// When the current write of what the command wrote to standard error began.
    writing_stderr: Option<Instant>,
    /// How long earlier writes blocked.
    blocked: Duration,
    /// Of the stream, once it is known.
    pub(super) profile: Option<Arc<Profile>>,
    /// Whether a tool may be at work although no call is open: there is no idle timeout.
    pub(super) hides_open_calls: bool,
    /// What the user of the library asked for, until the supervisor does it.
    pub(super) stop: Option<StopRequest>,
    timers: Timers,
    open: HashMap<u64, CallAtWork>,
    /// When the time of the calls that have a limit is over, with their numbers.
    pub(super) call_ends: BTreeSet<(Instant, u64)>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct CallAtWork {
    pub(super) line: u64,
    pub(super) since: Instant,
    pub(super) kind: Option<CallKind>,
}

impl RunState {
    /// When the terminal event came, or the background work ended after it, unless another turn is
    /// expected.
    pub(super) fn complete_since(&self) -> Option<Instant> {
        self.terminal_event.filter(|_| !self.has_message && !self.waits_for_work())
    }

    /// Whether only background work keeps the agent from exiting: with an open input, it also waits
    /// for the next message.
    pub(super) fn waits_for_work(&self) -> bool {
        let has_answered = self.terminal_event.is_some() && !self.has_message;
        let is_alone = has_answered && !self.input_is_open && self.stream_end.is_none();
        is_alone && self.has_background_work
    }

    /// Whether a message was written after the terminal event, and no event followed.
    pub(super) fn expects_turn(&self) -> bool {
        self.terminal_event.is_some() && self.has_message
    }

    pub(super) fn may_be_silent(&self) -> bool {
        // After the end of the stream, no end of a call can come.
        self.hides_open_calls || self.stream_end.is_none() && !self.open.is_empty()
    }

    /// The lines that started the open calls, and their age.
    pub(super) fn open_calls(&self, now: Instant) -> Vec<(u64, Duration)> {
        let calls = self.open.values();
        let mut open: Vec<_> =
            calls.map(|it| (it.line, now.saturating_duration_since(it.since))).collect();
        open.sort_unstable();
        open
    }

    /// Of the calls whose time is over, the line of the first one, and its limit.
    pub(super) fn call_over(&self, now: Instant) -> Option<(u64, Duration)> {
        let over = self.call_ends.iter().take_while(|(end, _)| *end <= now);
        let calls = over.filter_map(|(_, number)| self.open.get(number));
        let call = calls.min_by_key(|call| call.line)?;
        Some((call.line, self.timers.of_call(call.kind)?))
    }

    fn call_end(&self, call: &CallAtWork) -> Option<Instant> {
        after(call.since, self.timers.of_call(call.kind)?)
    }

    fn opens(&mut self, number: u64, call: CallAtWork) {
        self.closes(number);
        self.call_ends.extend(self.call_end(&call).map(|end| (end, number)));
        self.open.insert(number, call);
    }

    /// Returns whether the call was open.
    fn closes(&mut self, number: u64) -> bool {
        let Some(call) = self.open.remove(&number) else { return false };
        if let Some(end) = self.call_end(&call) {
            self.call_ends.remove(&(end, number));
        }
        true
    }

    /// Moves the starts of the calls.
    pub(super) fn move_calls(&mut self, to: impl Fn(Instant) -> Instant) {
        self.open.values_mut().for_each(|call| call.since = to(call.since));
        let ends = self.open.iter();
        let ends = ends.filter_map(|(number, call)| Some((self.call_end(call)?, *number)));
        self.call_ends = ends.collect();
    }

    /// How long our own output has blocked us until now.
    pub(super) fn blocked(&self, now: Instant) -> Duration {
        let current = self.writing.map(|since| now.saturating_duration_since(since));
        self.blocked + current.filter(|blocked| *blocked >= BLOCKED_MIN).unwrap_or_default()
    }

    /// Whether standard error, as we pass it on, is not read: the command may be blocked, too.
    pub(super) fn stderr_is_blocked(&self, now: Instant) -> bool {
        let writing = self.writing_stderr.map(|since| now.saturating_duration_since(since));
        writing.is_some_and(|blocked| blocked >= BLOCKED_MIN)
    }

    /// Leaves out a pause in which the terminal had stopped us and the command.
    pub(super) fn shift(&mut self, pause: Duration) {
        self.started += pause;
        self.last_event += pause;
        let times = [
            &mut self.terminal_event,
            &mut self.stream_end,
            &mut self.writing,
            &mut self.writing_stderr,
        ];
        for time in times.into_iter().flatten() {
            *time += pause;
        }
        self.move_calls(|since| since + pause);
    }
}

impl Watch {
    /// The watch, and what wakes the supervisor.
    pub(super) fn new(timers: &Timers) -> io::Result<(Self, Wake)> {
        let (waker, wake) = platform::waker()?;
        let now = Instant::now();
        let state = RunState {
            started: now,
            last_event: now,
            terminal_event: None,
            stream_end: None,
            has_background_work: false,
            input_is_open: false,
            has_message: false,
            exceeds_limit: false,
            starts_wrong: false,
            waiting: false,
            has_unread: false,
            stopped_reading: false,
            writing: None,
            writing_stderr: None,
            blocked: Duration::ZERO,
            profile: None,
            hides_open_calls: false,
            stop: None,
            timers: timers.clone(),
            open: HashMap::new(),
            call_ends: BTreeSet::new(),
        };
        Ok((Self { state: Arc::new(Mutex::new(state)), waker: Arc::new(waker) }, wake))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, RunState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn stop(&self, request: StopRequest) {
        let mut state = self.state();
        state.stop = state.stop.max(Some(request));
        drop(state);
        self.waker.wake();
    }

    pub(super) fn input_opened(&self) {
        self.state().input_is_open = true;
    }

    /// Writes a message, or a part of it.
    pub(super) fn writes_message<T>(&self, write: impl FnOnce() -> T) -> T {
        let mut state = self.state();
        state.has_message = true;
        state.has_unread = true;
        state.last_event = Instant::now();
        drop(state);
        self.waker.wake();
        let written = write();
        self.state().has_unread = false;
        written
    }

    /// From now on, a command that has answered the latest message has only to exit.
    pub(super) fn input_closed(&self) {
        let mut state = self.state();
        state.input_is_open = false;
        state.terminal_event = state.terminal_event.map(|_| Instant::now());
        drop(state);
        self.waker.wake();
    }

    /// The check waits for input, or is busy.
    pub(super) fn waits(&self, waiting: bool) {
        self.state().waiting = waiting;
    }

    /// Writes our own output, and measures how long that blocks.
    pub(super) fn writes<T>(&self, write: impl FnOnce() -> T) -> T {
        self.state().writing = Some(Instant::now());
        let written = write();
        let mut state = self.state();
        state.blocked = state.blocked(Instant::now());
        state.writing = None;
        written
    }

    /// Passes on what the command wrote to standard error. The command is not blamed for the time
    /// in which that blocks.
    pub(super) fn writes_stderr<T>(&self, write: impl FnOnce() -> T) -> T {
        self.state().writing_stderr = Some(Instant::now());
        let written = write();
        let now = Instant::now();
        let mut state = self.state();
        let since = state.writing_stderr.take().filter(|since| now - *since >= BLOCKED_MIN);
        if let Some(blocked) = since.map(|since| now - since) {
            state.last_event = now.min(state.last_event + blocked);
            state.move_calls(|since| now.min(since + blocked));
            drop(state);
            self.waker.wake();
        }
        written
    }

    pub(super) fn stream_ended(&self) {
        let now = Instant::now();
        let mut state = self.state();
        if state.may_be_silent() {
            state.last_event = now;
        }
        if state.waits_for_work() {
            // No event can report its end any more.
            state.terminal_event = Some(now);
        }
        state.stream_end.get_or_insert(now);
        drop(state);
        self.waker.wake();
    }

    fn event(&self, event: &CheckedLine<'_>, has_call_timeout: bool) {
        let now = Instant::now();
        let mut state = self.state();
        if event.is_progress() {
            state.last_event = now;
        }
        // A new turn, if there was one: other deadlines count, and limits stop the run again.
        let mut wakes = event.is_in_run() && state.terminal_event.take().is_some();
        if event.is_reply() {
            wakes |= std::mem::take(&mut state.has_message);
        }
        for event in event.events() {
            match &event.kind {
                EventKind::CallStarted(call) => {
                    let line = event.at.line.unwrap_or_default();
                    let started = CallAtWork { line, since: now, kind: call.kind };
                    state.opens(call.number, started);
                    wakes |= has_call_timeout;
                }
                EventKind::CallUpdated(call) => {
                    if let Some(open) = state.open.get(&call.number).copied() {
                        state.opens(call.number, CallAtWork { kind: call.kind, ..open });
                        wakes |= has_call_timeout;
                    }
                }
                EventKind::CallUnfinished(call) => {
                    state.closes(call.number);
                }
                EventKind::CallCompleted(completed) => {
                    let was_open = state.closes(completed.call.number);
                    // The idle timer starts when the last call ends.
                    wakes |= was_open && state.open.is_empty();
                }
                _ => {}
            }
        }
        if state.has_background_work != event.waits_for_work() {
            state.has_background_work = event.waits_for_work();
            wakes |= state.terminal_event.is_some();
            state.terminal_event = state.terminal_event.map(|_| now);
        }
        if event.is_end() {
            wakes |= state.terminal_event.is_none();
            if state.terminal_event.is_none() {
                state.terminal_event = Some(now);
                state.has_message = false;
            }
        }
        wakes |= event.exceeds_limit() && !state.exceeds_limit;
        state.exceeds_limit |= event.exceeds_limit();
        wakes |= event.starts_wrong() && !state.starts_wrong;
        state.starts_wrong |= event.starts_wrong();
        drop(state);
        if wakes {
            self.waker.wake();
        }
    }
}

/// Observes the check for the supervisor.
pub struct RunObserver {
    pub(super) watch: Watch,
    /// Whether it must be known which events are progress.
    pub(super) has_idle_timeout: bool,
    pub(super) has_call_timeout: bool,
}

impl Observer for RunObserver {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        let mut state = self.watch.state();
        state.hides_open_calls = !start.shows_open_calls();
        state.profile = Some(Arc::clone(&start.profile));
        Ok(())
    }

    fn undetected_events(&mut self, hides_open_calls: bool) {
        let mut state = self.watch.state();
        state.last_event = Instant::now();
        state.hides_open_calls = hides_open_calls;
    }

    fn event(&mut self, event: &CheckedLine<'_>) {
        self.watch.event(event, self.has_call_timeout);
    }

    fn wants(&self) -> WantedEvents {
        if self.has_idle_timeout { WantedEvents::DETAILS } else { WantedEvents::PLAIN }
    }
}

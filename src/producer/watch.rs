//! What the check tells the supervisor: when events came, which calls are open, what has ended.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::convert::{Convert, Seen};
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::facts::{CallId, Fact};
use crate::limits::{BLOCKED_MIN, CALLS_OPEN_MAX};
use crate::report::Report;
use crate::rule::Severity;
use crate::summary::{RunSummary, StreamSummary};
use crate::verdict::Outcome;

/// The state of the run, shared by the check and the supervisor.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    state: Arc<Mutex<State>>,
    /// A byte written here wakes the supervisor; it never blocks.
    wake: Arc<UnixStream>,
}

/// What is known of the run.
#[derive(Debug)]
pub(super) struct State {
    pub(super) started: Instant,
    /// When the latest whole event came, or the latest call ended.
    pub(super) last_event: Instant,
    /// When the terminal event came.
    pub(super) terminal: Option<Instant>,
    /// When the stream ended.
    pub(super) stream_end: Option<Instant>,
    /// Whether the check waits for more; otherwise it, or our reader, is what takes time.
    pub(super) waiting: bool,
    /// Whether we stopped reading the stream before its end.
    pub(super) cut: bool,
    /// When the current write of our own output began.
    writing: Option<Instant>,
    /// How long earlier writes blocked.
    blocked: Duration,
    open: HashMap<CallId, (u64, Instant)>,
    /// Calls that ended: what is told of them again is no new call.
    ended: HashSet<CallId>,
}

impl State {
    pub(super) fn has_open_calls(&self) -> bool {
        !self.open.is_empty()
    }

    /// The lines that started the open calls, and their age.
    pub(super) fn open_calls(&self, now: Instant) -> Vec<(u64, Duration)> {
        let calls = self.open.values();
        let mut open: Vec<_> =
            calls.map(|&(line, since)| (line, now.saturating_duration_since(since))).collect();
        open.sort_unstable();
        open
    }

    /// How long our own output has blocked us until now.
    pub(super) fn blocked(&self, now: Instant) -> Duration {
        let current = self.writing.map(|since| now.saturating_duration_since(since));
        self.blocked + current.filter(|it| *it >= BLOCKED_MIN).unwrap_or_default()
    }

    /// Leaves a pause out of every measure: the terminal stopped us all.
    pub(super) fn shift(&mut self, pause: Duration) {
        self.started += pause;
        self.last_event += pause;
        let times = [&mut self.terminal, &mut self.stream_end, &mut self.writing];
        for time in times.into_iter().flatten() {
            *time += pause;
        }
        self.open.values_mut().for_each(|(_, since)| *since += pause);
    }
}

impl Watch {
    /// The watch, and what becomes readable when the supervisor is to look.
    pub(super) fn new() -> io::Result<(Self, UnixStream)> {
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        writer.set_nonblocking(true)?;
        let now = Instant::now();
        let state = State {
            started: now,
            last_event: now,
            terminal: None,
            stream_end: None,
            waiting: false,
            cut: false,
            writing: None,
            blocked: Duration::ZERO,
            open: HashMap::new(),
            ended: HashSet::new(),
        };
        Ok((Self { state: Arc::new(Mutex::new(state)), wake: Arc::new(writer) }, reader))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        // One that is full wakes just as well.
        let _ = (&*self.wake).write(&[1]);
    }

    /// The check waits for more, or has something to do: first of all to write the copies of what
    /// it read.
    pub(super) fn waits(&self, waiting: bool) {
        let mut state = self.state();
        state.waiting = waiting;
        state.writing = (!waiting).then(Instant::now);
    }

    /// Does something that writes our own output, and measures how long that blocks.
    fn writes<T>(&self, write: impl FnOnce() -> T) -> T {
        self.state().writing = Some(Instant::now());
        let written = write();
        let mut state = self.state();
        state.blocked = state.blocked(Instant::now());
        state.writing = None;
        written
    }

    /// No more events will come.
    pub(super) fn stream_ended(&self) {
        let first = {
            let mut state = self.state();
            let first = state.stream_end.is_none();
            state.stream_end.get_or_insert_with(Instant::now);
            first
        };
        if first {
            self.wake();
        }
    }

    /// Something came; what it means is told later.
    pub(super) fn heard(&self) {
        self.state().last_event = Instant::now();
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the other facts are for others")]
    fn event(&self, seen: &Seen<'_, '_>) {
        let now = Instant::now();
        let mut state = self.state();
        state.last_event = now;
        let mut wakes = false;
        if seen.in_run && state.terminal.take().is_some() {
            // A new turn.
            state.open.clear();
            state.ended.clear();
        }
        for fact in seen.facts.list() {
            match fact {
                Fact::CallStarted(call) if call.repeat && state.ended.contains(&call.id) => {}
                Fact::CallStarted(call) if state.open.len() < CALLS_OPEN_MAX => {
                    let opened = (seen.facts.line, now);
                    state.open.entry(call.id.clone()).or_insert(opened);
                }
                Fact::CallCompleted(call, _) => {
                    // The timer of silence begins when the last call ends.
                    wakes |= state.open.remove(&call.id).is_some() && state.open.is_empty();
                    if state.ended.len() < CALLS_OPEN_MAX {
                        state.ended.insert(call.id.clone());
                    }
                }
                Fact::Terminal(last) if !last.suspect => {
                    wakes |= state.terminal.is_none();
                    state.terminal.get_or_insert(now);
                }
                _ => {}
            }
        }
        drop(state);
        if wakes {
            self.wake();
        }
    }
}

/// An output whose writes the supervisor hears of: a conversion, of whose events it hears as well,
/// a report, or a stream that is copied as it is read.
pub struct Watched<T> {
    watch: Watch,
    inner: T,
}

impl<T> Watched<T> {
    pub(super) fn new(watch: Watch, inner: T) -> Self {
        Self { watch, inner }
    }
}

/// The outermost reader of a [`super::Stream`]: what it does beyond reading that is to write
/// copies.
impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.watch.writes(|| self.inner.read(buffer))
    }
}

impl Convert for Watched<&mut dyn Convert> {
    fn event(&mut self, seen: &Seen<'_, '_>) {
        self.watch.event(seen);
        self.watch.writes(|| self.inner.event(seen));
    }

    fn flush(&mut self) {
        self.watch.writes(|| self.inner.flush());
    }

    fn end(&mut self) {
        self.inner.end();
    }

    fn finish(&mut self, outcome: Outcome) {
        self.inner.finish(outcome);
    }

    fn abandon(&mut self) {
        self.inner.abandon();
    }
}

impl Report for Watched<&mut dyn Report> {
    fn diagnostic(
        &mut self,
        stream: &str,
        severity: Severity,
        diagnostic: &Diagnostic,
    ) -> Result<(), Error> {
        self.watch.writes(|| self.inner.diagnostic(stream, severity, diagnostic))
    }

    fn stream(&mut self, summary: &StreamSummary) -> Result<(), Error> {
        self.inner.stream(summary)
    }

    fn summary(&mut self, summary: &RunSummary) -> Result<(), Error> {
        self.inner.summary(summary)
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.watch.writes(|| self.inner.flush())
    }
}

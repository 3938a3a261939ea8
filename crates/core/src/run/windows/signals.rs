//! The events of the console that end us, under the numbers that C programs know them by.

use std::io;
use std::os::windows::io::{AsHandle as _, BorrowedHandle};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, CTRL_C_EVENT, CTRL_CLOSE_EVENT, CTRL_LOGOFF_EVENT, CTRL_SHUTDOWN_EVENT,
};

use super::system::{self, Alarm};
use crate::run::supervisor::KILL_WAIT;

/// Ctrl-C, the number of SIGINT.
pub(crate) const INTERRUPT: i32 = 2;

/// A process that is asked to end: the number of SIGTERM. No console sends it.
pub(crate) const TERMINATE: i32 = 15;

/// Ctrl-Break, the number of SIGBREAK.
const BREAK: i32 = 21;

/// The window of the console is closed, or the system shuts down: the number of SIGHUP.
const CLOSE: i32 = 1;

/// No console sends it; the number of SIGTSTP elsewhere.
pub(crate) const PAUSE: i32 = 20;

/// How long a command may take to end when the console is closed or the system shuts down. The
/// system ends us after five seconds.
const KILL_WAIT_AT_CLOSE: Duration = Duration::from_secs(2);

/// Each event of the console, with our number.
const EVENTS: [(u32, i32); 5] = [
    (CTRL_C_EVENT, INTERRUPT),
    (CTRL_BREAK_EVENT, BREAK),
    (CTRL_CLOSE_EVENT, CLOSE),
    (CTRL_LOGOFF_EVENT, CLOSE),
    (CTRL_SHUTDOWN_EVENT, CLOSE),
];

/// The events that came, a bit each.
static CAME: AtomicU32 = AtomicU32::new(0);

/// Wakes the thread that waits. While none waits, each event has its default effect.
static WAITING: Mutex<Option<Arc<Alarm>>> = Mutex::new(None);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the events of the console while it lives.
pub(crate) struct Signals(Option<Arc<Alarm>>);

impl Drop for Signals {
    fn drop(&mut self) {
        if self.0.is_some() {
            *locked(&WAITING) = None;
        }
    }
}

impl Signals {
    /// The events that end us and the command.
    pub(crate) fn for_command() -> io::Result<Self> {
        let event = Arc::new(Alarm::new()?);
        system::on_console_event(handle)?;
        CAME.store(0, Ordering::SeqCst);
        *locked(&WAITING) = Some(Arc::clone(&event));
        Ok(Self(Some(event)))
    }

    /// The events that end a program that reads a stream.
    pub(crate) fn for_reader() -> io::Result<Self> {
        Self::for_command()
    }

    /// None: all are the host's.
    #[expect(clippy::unnecessary_wraps, reason = "the same function as on other systems")]
    pub(crate) fn for_library() -> io::Result<Self> {
        Ok(Self(None))
    }

    /// Set when an event comes.
    pub(super) fn event(&self) -> Option<BorrowedHandle<'_>> {
        self.0.as_ref().map(|event| event.as_handle())
    }

    /// The signals that came since the last call.
    pub(crate) fn take(&self) -> Vec<i32> {
        let came = if self.0.is_some() { CAME.swap(0, Ordering::SeqCst) } else { 0 };
        let events = EVENTS.iter().filter(|(event, _)| came >> event & 1 == 1);
        events.map(|(_, signal)| *signal).collect()
    }
}

/// Runs in a thread that the system starts for it.
fn handle(event: u32) -> bool {
    let waiting = locked(&WAITING).clone();
    let Some(waiting) = waiting else { return false };
    CAME.fetch_or(1 << event.min(31), Ordering::SeqCst);
    waiting.set();
    // The system ends us when this returns. The report must be written first; then we end.
    while ![CTRL_C_EVENT, CTRL_BREAK_EVENT].contains(&event) {
        thread::park();
    }
    true
}

/// Whether the system repeats a signal by itself.
pub(crate) fn repeats(_: i32) -> bool {
    false
}

/// How long a command may take to end after this signal before it is killed. A user at a console
/// can press Ctrl-C again.
pub(crate) fn time_to_end(signal: i32) -> Option<Duration> {
    match signal {
        INTERRUPT => None,
        CLOSE => Some(KILL_WAIT_AT_CLOSE),
        _ => Some(KILL_WAIT),
    }
}

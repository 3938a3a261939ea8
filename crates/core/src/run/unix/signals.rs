//! The signals that end us, stop us, or say what a child did.

use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use nix::sys::signal::Signal;
use signal_hook::SigId;
use signal_hook::consts::{
    SIGABRT, SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1,
    SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
};
use signal_hook::flag::{register, register_conditional_default};
use signal_hook::low_level::{pipe, unregister};

use crate::run::supervisor::KILL_WAIT;

/// The signals after which we write the report before we end. Those of a fault (SIGSEGV, SIGBUS)
/// leave no time for that, and of the others (SIGPWR, SIGIO) we could not die afterwards.
const ENDING: [i32; 11] = [
    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGVTALRM, SIGPROF,
    SIGABRT,
];

/// The signals that we wait for, each with a socket that becomes readable when it comes.
pub(crate) struct Signals {
    waited: Vec<(i32, SigId, UnixStream)>,
}

/// Set while we do not wait: each signal then has its default effect. One for all that wait, one
/// after the other: a handler stays, and must not end us while the next one waits.
static DONE: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

impl Drop for Signals {
    fn drop(&mut self) {
        if !self.waited.is_empty() {
            DONE.store(true, Ordering::SeqCst);
        }
        for (_, id, _) in &self.waited {
            unregister(*id);
        }
    }
}

impl Signals {
    /// The signals that end us and the command, or stop both, and the one about a child.
    pub(crate) fn for_command() -> io::Result<Self> {
        Self::register(&[&ENDING[..], &[SIGTSTP, SIGCHLD]].concat())
    }

    /// The signals that end a program that reads a stream.
    pub(crate) fn for_reader() -> io::Result<Self> {
        Self::register(&ENDING)
    }

    /// None: all signals are the host's.
    pub(crate) fn for_library() -> io::Result<Self> {
        Self::register(&[])
    }

    fn register(signals: &[i32]) -> io::Result<Self> {
        let mut registered = Self { waited: Vec::new() };
        if !signals.is_empty() {
            DONE.store(false, Ordering::SeqCst);
        }
        let ignored = ignored();
        // A signal that our parent ignores (`nohup`) stays ignored, for the command too.
        for &signal in signals.iter().filter(|signal| !is_in(ignored, **signal)) {
            let (reader, writer) = UnixStream::pair()?;
            reader.set_nonblocking(true)?;
            // The system repeats SIGXCPU for each second of a processor, until it kills us.
            if ![SIGCHLD, SIGXCPU].contains(&signal) {
                register_conditional_default(signal, Arc::clone(&DONE))?;
            }
            registered.waited.push((signal, pipe::register(signal, writer)?, reader));
        }
        Ok(registered)
    }

    pub(crate) fn sockets(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.waited.iter().map(|(.., reader)| reader.as_fd())
    }

    /// The signals that came since the last call, without the one about a child.
    pub(crate) fn take(&self) -> Vec<i32> {
        let came = |mut reader: &UnixStream| reader.read(&mut [0; 64]).is_ok_and(|count| count > 0);
        let signals = self.waited.iter().filter(|(.., reader)| came(reader));
        signals.map(|(signal, ..)| *signal).filter(|signal| *signal != SIGCHLD).collect()
    }
}

/// Ctrl-C in a terminal.
pub(crate) const INTERRUPT: i32 = SIGINT;

/// A process that is asked to end.
pub(crate) const TERMINATE: i32 = SIGTERM;

/// Ctrl-Z in a terminal.
pub(crate) const PAUSE: i32 = SIGTSTP;

/// Whether the system repeats a signal by itself.
pub(crate) fn repeats(signal: i32) -> bool {
    signal == SIGXCPU
}

/// How long a command may take to end after this signal before it is killed. Job control signals
/// once; a user at a terminal can press Ctrl-C again.
pub(crate) fn time_to_end(signal: i32) -> Option<Duration> {
    (signal != SIGINT).then_some(KILL_WAIT)
}

/// What a command gets when this signal ends us: the same, if it asks a program to end. An agent
/// may take another one for something else; Node starts its debugger at SIGUSR1.
pub(crate) fn to_command(signal: i32) -> Signal {
    match signal {
        SIGINT => Signal::SIGINT,
        SIGHUP => Signal::SIGHUP,
        SIGQUIT => Signal::SIGQUIT,
        _ => Signal::SIGTERM,
    }
}

/// A file that becomes larger than `ulimit -f` allows is an error like a full disk. A handler does
/// this, as the command would inherit that we ignore the signal.
pub fn survive_file_limit() {
    if !is_in(ignored(), SIGXFSZ) {
        let _ = register(SIGXFSZ, Arc::default());
    }
}

/// Lets the signals that end or stop others not end or stop this process. The pipe gets a byte for
/// each Ctrl-C.
pub(crate) fn outlive_all(interrupts: OwnedFd) -> io::Result<()> {
    for signal in ENDING.into_iter().chain([SIGTSTP]) {
        register(signal, Arc::default())?;
    }
    pipe::register(SIGINT, interrupts).map(drop)
}

/// The signals that are ignored, as a mask; none where the system has no `/proc`.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn is_in(mask: u64, signal: i32) -> bool {
    signal != SIGCHLD && mask >> (signal - 1) & 1 == 1
}

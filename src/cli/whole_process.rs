//! What run mode does because the process is ours alone: it ends by the signals that ended the run.

use std::io::{self, Write as _};
use std::process;
use std::thread;
use std::time::Duration;

use ndjson_check_core::internals::run::{Interrupt, WholeProcess};

use super::guard;

/// How long the last message of a process that ends itself may take.
const LAST_MESSAGE_WAIT: Duration = Duration::from_millis(100);

pub(super) const WHOLE_PROCESS: WholeProcess = WholeProcess { guard: guard::start, leave };

/// Ends us by the signal, as it would any command.
#[expect(clippy::exit, reason = "the first process of a container cannot die of a signal")]
pub(super) fn die(interrupt: Interrupt) {
    if interrupt.from_terminal
        && let Ok(signal) = nix::sys::signal::Signal::try_from(interrupt.signal)
    {
        // A script that started us must stop, too.
        let _ = nix::sys::signal::killpg(nix::unistd::getpgrp(), signal);
    }
    if process::id() == 1 {
        process::exit(128 + interrupt.signal);
    }
    let _ = signal_hook::low_level::emulate_default_handler(interrupt.signal);
}

/// Ends us, as the reader of our output still blocks the check: by the signal, if one was sent to
/// us. After a timeout the code is not 4, which would promise a complete report.
#[expect(clippy::exit, reason = "the thread of the check is blocked and cannot return")]
fn leave(interrupted: Option<Interrupt>) {
    if let Some(interrupt) = interrupted {
        die(interrupt);
    }
    // Writing to standard error may block, too.
    thread::spawn(|| {
        writeln!(io::stderr(), "ndjson-check: timed out: the output could not be written in time")
    });
    thread::sleep(LAST_MESSAGE_WAIT);
    process::exit(2);
}

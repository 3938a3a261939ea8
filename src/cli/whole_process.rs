//! What run mode does because the process is ours alone: it ends by the signals that ended the run.

#[cfg_attr(unix, path = "whole_process/unix.rs")]
#[cfg_attr(windows, path = "whole_process/windows.rs")]
mod system;

use std::io::{self, Write as _};
use std::process;
use std::thread;
use std::time::Duration;

use ndjson_check_core::internals::run::{Interrupt, WholeProcess};

pub(super) use system::{begin, die};

/// How long the last message of a process that ends itself may take.
const LAST_MESSAGE_WAIT: Duration = Duration::from_millis(100);

pub(super) const WHOLE_PROCESS: WholeProcess = WholeProcess { guard: system::guard, leave };

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

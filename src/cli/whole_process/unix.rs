//! Unix: a guard, signals.

mod guard;

use std::ffi::OsString;
use std::process;

use ndjson_check_core::internals::run::{Interrupt, survive_file_limit};

pub(crate) use guard::start as guard;

/// Ends us by the signal, as it would any command.
#[expect(clippy::exit, reason = "the first process of a container cannot die of a signal")]
pub(crate) fn die(interrupt: Interrupt) {
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

/// Returns true if it was a guard, whose work is done.
pub(crate) fn begin(arguments: &[OsString]) -> bool {
    let guarded = guard::guarded_group(arguments);
    let is_guard = guarded.is_some();
    if let Some(group) = guarded {
        group.guard();
    }
    survive_file_limit();
    is_guard
}

//! Unix: process groups, signals, `poll`.

mod files;
mod group;
mod signals;
mod source;
mod strays;
mod wait;

use std::ffi::{OsStr, OsString};
use std::path::Path;

pub(super) use files::{READABLE, Standard, Stream, WRITABLE, duplicate, enlarge, wait_until};
pub use group::guard_group;
pub(super) use group::{Group, LeaderChange};
pub use signals::survive_file_limit;
pub(super) use signals::{INTERRUPT, PAUSE, Signals, TERMINATE, repeats, time_to_end};
pub(super) use source::{Stop, StoppableSource, stoppable};
pub(super) use wait::{Wake, Waker, wait, wait_for_signal, waker};

/// The program that a command names: the system finds it.
pub(crate) fn program(name: &OsStr) -> OsString {
    name.to_owned()
}

/// What a command is called: the name of its file.
pub(crate) fn called(program: &OsStr) -> &OsStr {
    Path::new(program).file_name().unwrap_or(program)
}

//! Windows: the system ends what is in a Job Object when we end.

use std::any::Any;
use std::ffi::OsString;
use std::io;
use std::process::{self, ChildStdout};

use ndjson_check_core::internals::run::Interrupt;

/// `STATUS_CONTROL_C_EXIT`: how Windows says that the console ended a program.
const CONTROL_C_EXIT: u32 = 0xc000_013a;

/// Nothing has to be prepared.
pub(crate) fn begin(_: &[OsString]) -> bool {
    false
}

/// The system is the guard.
#[expect(clippy::unnecessary_wraps, reason = "the same function as on other systems")]
pub(crate) fn guard(_: i32) -> io::Result<(Box<dyn Any + Send>, Option<ChildStdout>)> {
    Ok((Box::new(()), None))
}

/// Ends us as the console would have done.
#[expect(clippy::exit, reason = "no signal can be raised")]
pub(crate) fn die(_: Interrupt) {
    process::exit(CONTROL_C_EXIT.cast_signed());
}

//! The program: arguments in, exit code out.

use std::panic;
use std::process::ExitCode;

use ndjson_check::cli::{Exit, run};

fn main() -> ExitCode {
    // A bug must not look like a verdict: 2 is "could not be checked", and 101 means nothing.
    let exit = panic::catch_unwind(|| run(std::env::args_os())).unwrap_or(Exit::from(2));
    #[cfg(unix)]
    if let Some(interrupt) = exit.interrupt {
        // Whoever started us is to see that a signal ended us, and which.
        interrupt.die();
    }
    ExitCode::from(exit.code)
}

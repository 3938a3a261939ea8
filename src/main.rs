//! The program: arguments in, exit code out.

use std::panic;
use std::process::ExitCode;

fn main() -> ExitCode {
    let run = || ndjson_check::run::run(std::env::args_os());
    // A bug must not look like a verdict: 2 is "could not be checked", and 101 means nothing.
    ExitCode::from(panic::catch_unwind(run).unwrap_or(2))
}

//! The exit codes, and how the program ends.

use std::fmt::Write as _;
use std::process::ExitCode;

use ndjson_check_core::internals::run::Interrupt;

pub(crate) const SUCCEEDED: u8 = 0;
pub(crate) const NON_CONFORMING: u8 = 1;
/// Of `drift` and `diff`: there is a difference.
pub(crate) const DIFFERS: u8 = 1;
/// A bug also ends with this code: it must not look like a verdict.
pub(crate) const NOT_CHECKED: u8 = 2;
pub(crate) const RUN_FAILED: u8 = 3;
pub(crate) const TIMED_OUT: u8 = 4;
// The shell's codes.
pub(crate) const CANNOT_EXECUTE: u8 = 126;
pub(crate) const NOT_FOUND: u8 = 127;

/// Every exit code with its meaning, as `--help` shows them.
const MEANINGS: [(u8, &str); 7] = [
    (SUCCEEDED, "every stream conforms and every run succeeded"),
    (NON_CONFORMING, "a stream does not conform: cut, broken, or an expectation is not met"),
    (
        NOT_CHECKED,
        "not checked: wrong usage, failed input or output, bad schema or profile, or no input",
    ),
    (RUN_FAILED, "every stream conforms, but a run failed or was cut short"),
    (TIMED_OUT, "timed out"),
    (CANNOT_EXECUTE, "the command cannot be executed"),
    (NOT_FOUND, "the command was not found"),
];

pub(crate) fn table() -> String {
    let mut table = "Exit codes:\n".to_owned();
    for (code, meaning) in MEANINGS {
        let _ = writeln!(table, "{code:>5}  {meaning}");
    }
    table + "If several apply, the most severe wins: 2, then 1, 4, 3, 0."
}

/// A code that a command brought with it is that of a failed run.
pub(crate) fn first(codes: &[u8]) -> u8 {
    let order = [NOT_CHECKED, NOT_FOUND, CANNOT_EXECUTE, NON_CONFORMING, TIMED_OUT];
    let found = order.into_iter().find(|code| codes.contains(code));
    let has_failed = codes.iter().any(|code| *code != SUCCEEDED);
    found.unwrap_or(if has_failed { RUN_FAILED } else { SUCCEEDED })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exit {
    pub(crate) code: u8,
    /// The signal that asked us to end early: we end with it, not with the code.
    pub(crate) interrupt: Option<Interrupt>,
}

impl From<u8> for Exit {
    fn from(code: u8) -> Self {
        Self { code, interrupt: None }
    }
}

impl Exit {
    /// Ends by the signal, if there is one, so that the parent process sees it.
    pub(crate) fn end(self) -> ExitCode {
        if let Some(interrupt) = self.interrupt {
            super::whole_process::die(interrupt);
        }
        ExitCode::from(self.code)
    }
}

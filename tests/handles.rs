//! A host that runs many agents, one after the other. It is a process of its own: the files that
//! other tests open would be counted, too.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::fs::File;

use ndjson_check::run::{Command, Stdin};
use ndjson_check::{Checker, Outcome};

const STREAM: &str = include_str!("../fixtures/agents/claude/plain.ndjson");

/// The number of a file that is opened now: systems give the first one that is free, so it grows
/// if files or handles stay open.
fn next_number() -> usize {
    number(&File::open(env!("CARGO_BIN_EXE_ndjson-check")).unwrap())
}

#[cfg(unix)]
fn number(file: &File) -> usize {
    usize::try_from(std::os::fd::AsRawFd::as_raw_fd(file)).unwrap()
}

#[cfg(windows)]
fn number(file: &File) -> usize {
    std::os::windows::io::AsRawHandle::as_raw_handle(file) as usize / 4
}

/// What passes its input on: the program itself, which every system has.
fn copier() -> Command {
    let program = env!("CARGO_BIN_EXE_ndjson-check");
    Command::new(program).args(["--no-config", "--quiet", "--to", "stream-json"])
}

/// Goal: a thousand runs leave no file, no handle and no process behind.
#[test]
fn a_thousand_runs_leak_nothing() {
    let checker = Checker::builder().profile("claude").build().unwrap();
    let mut numbers = Vec::new();
    for number in 0..=1_000 {
        let run = copier().stdin(Stdin::Text(STREAM.to_owned()));
        let summary = run.spawn(&checker).unwrap().finish().unwrap();
        assert_eq!(summary.outcome, Outcome::Succeeded, "{number}");
        if number % 100 == 0 {
            numbers.push(next_number());
        }
    }
    // What the first runs open stays; a thread of the last run may still be ending.
    assert!(numbers[10] <= numbers[1] + 16, "{numbers:?}");
}

//! Runs in a process that reaps its children itself, as a container's first process does. It has
//! this test alone: the children of another test would be reaped, too.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::thread;
use std::time::{Duration, Instant};

use ndjson_check::run::Command;
use ndjson_check::{Checker, ExitStatus, Note, Outcome};
use nix::sys::wait::wait;

const STREAM: &str = include_str!("../fixtures/agents/claude/plain.ndjson");

/// Goal: a run ends although its status is taken by another, and a timeout still ends it.
#[test]
fn a_run_ends_in_a_process_that_reaps_its_children() {
    thread::spawn(|| {
        loop {
            if wait().is_err() {
                thread::sleep(Duration::from_millis(1));
            }
        }
    });
    let checker = Checker::builder().profile("claude").build().unwrap();
    let run = |script: &str| {
        let command = Command::new("sh").args(["-c", script]).env("STREAM", STREAM);
        let begun = Instant::now();
        let summary = command.timeout(Duration::from_secs(5)).spawn(&checker).unwrap().finish();
        assert!(begun.elapsed() < Duration::from_secs(20), "{script}");
        summary.unwrap()
    };
    for after in ["exit 0", "exec 1>&- 2>&-; sleep 0.2"] {
        let summary = run(&format!("printf '%s' \"$STREAM\"; {after}"));
        assert_eq!(summary.outcome, Outcome::Succeeded, "{after}");
        assert!([None, Some(ExitStatus::Code(0))].contains(&summary.exit_status), "{after}");
        let is_lost = summary.notes.contains(&Note::ExitStatusLost);
        assert_eq!(is_lost, summary.exit_status.is_none(), "{after}");
    }
    assert_eq!(run("sleep 60").outcome, Outcome::TimedOut);
}

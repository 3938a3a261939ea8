//! Runs a command through the library, as a harness does.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use ndjson_check::run::{AgentRun, Command, Stdin};
use ndjson_check::{
    Checker, EndReason, Error, EventKind, ExitStatus, Limits, Outcome, Rule, StreamSummary,
};
use tempfile::TempDir;

use crate::fake_agent::{ASKED, GOOD, HANGS, agent, is_held, is_released};
use crate::streams::root;

fn checker() -> Checker {
    Checker::builder().profile("cursor").build().unwrap()
}

/// The fake agent, which does this.
fn agent_that<S: AsRef<OsStr>>(does: impl IntoIterator<Item = S>) -> Command {
    Command::new(agent()).args(does)
}

fn run(command: Command) -> StreamSummary {
    command.spawn(&checker()).unwrap().finish().unwrap()
}

/// Reads events until the first one of a call or a text; the command then runs on.
fn until_it_works(run: &mut AgentRun) {
    let is_work = |kind: &EventKind<'_>| {
        matches!(kind, EventKind::CallStarted(_) | EventKind::TextDelta { .. } | EventKind::Text(_))
    };
    assert!(run.any(|event| is_work(&event.unwrap().kind)));
}

/// A writer that can be read.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn events_come_while_the_command_runs() {
    fn may_move<T: Send + 'static>(_: &T) {}
    let folder = TempDir::new().unwrap();
    let go = folder.path().join("go");
    let does = ["head", "3", GOOD, "wait-for", go.to_str().unwrap(), "tail", "3", GOOD];
    let mut run = agent_that(does).spawn(&checker()).unwrap();
    may_move(&run);
    let first = run.next().unwrap().unwrap();
    assert!(matches!(first.kind, EventKind::Session(_)), "{first:?}");
    // Only now may the command go on to its end.
    fs::write(go, "").unwrap();
    let last = run.by_ref().last().unwrap().unwrap();
    assert!(matches!(&last.kind, EventKind::End(end) if end.outcome == Outcome::Succeeded));
    let summary = run.finish().unwrap();
    assert_eq!(summary.outcome, Outcome::Succeeded);
    assert_eq!(summary.exit_status, Some(ExitStatus::Code(0)));
    assert_eq!(summary.name, "fake-agent");
}

#[test]
fn a_command_that_fails_is_not_a_success() {
    let summary = run(agent_that(["head", "4", GOOD, "stderr", "no quota", "exit", "3"]));
    assert_eq!(summary.outcome, Outcome::Failed);
    assert_eq!(summary.exit_status, Some(ExitStatus::Code(3)));
    assert_eq!(summary.stderr, ["no quota"]);
}

/// Goal: the status of a command that wrote no events of a known agent is known.
#[test]
fn a_stream_of_no_agent_has_an_exit_status() {
    let file = TempDir::new().unwrap();
    let file = file.path().join("run.ndjson");
    fs::write(&file, "{\"kind\":1}\n").unwrap();
    let does = ["emit", file.to_str().unwrap(), "exit", "3"];
    let mut run = agent_that(does).spawn(&Checker::builder().build().unwrap()).unwrap();
    assert!(matches!(run.next(), Some(Err(Error::UnknownAgent { .. }))));
    assert_eq!(run.exit_status(), Some(ExitStatus::Code(3)));
    // The same error comes again.
    assert!(matches!(run.finish(), Err(Error::UnknownAgent { .. })));
}

#[test]
fn standard_error_goes_where_the_caller_says() {
    let copy = Shared::default();
    let does = ["stderr", "one", "emit", GOOD, "stderr", "two"];
    run(agent_that(does).stderr(copy.clone()));
    assert_eq!(copy.0.lock().unwrap().as_slice(), b"one\ntwo\n");
}

#[test]
fn the_stream_goes_where_the_caller_says_and_its_findings_are_kept() {
    let copy = Shared::default();
    // Of the two blank lines the first one counts.
    let does = ["head", "3", GOOD, "say", "\n\n", "exit", "3"];
    let mut run = agent_that(does).stdout(copy.clone()).spawn(&checker()).unwrap();
    run.by_ref().for_each(|event| drop(event.unwrap()));
    let rules: Vec<Rule> = run.findings().iter().map(|found| found.rule).collect();
    assert_eq!(rules, [Rule::BlankLine, Rule::SilentFailure]);
    let good = fs::read_to_string(root().join(GOOD)).unwrap();
    let lines: String = good.split_inclusive('\n').take(3).collect();
    assert_eq!(*copy.0.lock().unwrap(), format!("{lines}\n\n").into_bytes());
}

#[test]
fn a_program_that_does_not_exist_is_an_error() {
    let error = Command::new("no-such-agent").spawn(&checker()).unwrap_err();
    assert!(matches!(&error, Error::Start { program, .. } if program == "no-such-agent"));
    assert!(error.to_string().starts_with("failed to start no-such-agent: "), "{error}");
    let error = agent_that(["exit 0"]).current_dir("no-such-folder").spawn(&checker()).unwrap_err();
    assert!(error.to_string().ends_with(": there is no directory no-such-folder"), "{error}");
}

#[test]
fn the_environment_the_directory_and_the_input_are_those_of_the_caller() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("here"), "").unwrap();
    let long = "x".repeat(200_000);
    let does = ["count-stdin", "variable", "KEY", "variable", "PATH", "wait-for"];
    let command = |change: fn(Command) -> Command| {
        let command = agent_that(does).arg("here").current_dir(folder.path()).timeout(HANGS);
        change(command).stdin(Stdin::Text(long.clone()))
    };
    for command in [
        command(|command| command.env("KEY", "v").env_remove("PATH")),
        command(|command| command.env_clear().envs([("KEY", "v")])),
    ] {
        let summary = run(command);
        assert_eq!(summary.stderr, ["200000 bytes", "KEY is Some(\"v\")", "PATH is None"]);
    }
    let command = agent_that(["count-stdin"]).stdin(Stdin::Bytes(vec![0xff; 3]));
    let started = command.spawn(&checker()).unwrap();
    assert!(started.id().is_some_and(|id| id > 0));
    assert_eq!(started.finish().unwrap().stderr, ["3 bytes"]);
    // A command that reads nothing blocks nobody.
    run(agent_that(["emit", GOOD]).stdin(Stdin::Text(long)));
}

#[test]
fn a_run_that_takes_too_long_is_stopped_with_all_its_processes() {
    let folder = TempDir::new().unwrap();
    let held = folder.path().join("held");
    let does = ["head", "4", GOOD, "child", held.to_str().unwrap(), "sleep", "60"];
    let summary = run(agent_that(does).timeout(Duration::from_millis(600)));
    assert_eq!(summary.outcome, Outcome::TimedOut);
    assert_eq!(summary.facts.reason, Some(EndReason::Timeout));
    assert!(is_released(&held));
}

#[test]
fn a_silent_run_is_stopped() {
    let command = agent_that(["head", "2", GOOD, "sleep", "60"]);
    let summary = run(command.idle_timeout(Duration::from_millis(300)));
    assert_eq!(summary.outcome, Outcome::TimedOut);
}

#[test]
fn a_command_that_lingers_after_its_end_is_stopped() {
    let command = agent_that(["emit", GOOD, "sleep", "60"]);
    let summary = run(command.exit_grace(Duration::from_millis(100)));
    assert_eq!(summary.outcome, Outcome::Succeeded);
}

#[test]
fn another_thread_stops_a_run_with_all_its_processes() {
    let folder = TempDir::new().unwrap();
    let held = folder.path().join("held");
    let does = ["child", held.to_str().unwrap(), "head", "4", GOOD, "sleep", "60"];
    let mut run = agent_that(does).spawn(&checker()).unwrap();
    until_it_works(&mut run);
    let stopper = run.stopper();
    thread::spawn(move || stopper.stop());
    let summary = run.finish().unwrap();
    assert_eq!(summary.outcome, Outcome::Failed);
    assert!(summary.exit_status.unwrap().to_string().starts_with(ASKED));
    assert_eq!(summary.facts.reason, Some(EndReason::Interrupted));
    assert!(is_released(&held));
}

#[test]
fn a_run_that_is_dropped_ends_all_its_processes() {
    let folder = TempDir::new().unwrap();
    let held = folder.path().join("held");
    let does = ["ignore", "child", held.to_str().unwrap(), "head", "4", GOOD, "sleep", "60"];
    let mut run = agent_that(does).spawn(&checker()).unwrap();
    until_it_works(&mut run);
    assert!(is_held(&held));
    drop(run);
    assert!(is_released(&held));
}

#[test]
fn a_limit_of_the_checker_stops_the_run() {
    let mut limits = Limits::default();
    limits.calls = Some(0);
    let checker = Checker::builder().profile("cursor").limits(limits).build().unwrap();
    let begun = Instant::now();
    let run = agent_that(["head", "8", GOOD, "sleep", "60"]).spawn(&checker).unwrap();
    let summary = run.finish().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(30));
    assert!(summary.rule_counts.contains_key(&Rule::LimitExceeded));
    assert_eq!(summary.outcome, Outcome::Truncated);
}

#[test]
fn runs_in_several_threads_do_not_disturb_each_other() {
    let threads: Vec<_> = (0..4)
        .map(|number: i32| {
            thread::spawn(move || {
                run(agent_that(["emit", GOOD, "exit", &number.to_string()])).exit_status
            })
        })
        .collect();
    for (number, thread) in (0..).zip(threads) {
        assert_eq!(thread.join().unwrap(), Some(ExitStatus::Code(number)));
    }
}

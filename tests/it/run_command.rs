//! Runs a command through the library, as a harness does.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use ndjson_check::run::{AgentRun, Command, Stdin};
use ndjson_check::{
    Checker, EndReason, Error, EventKind, ExitStatus, Limits, Outcome, Rule, StreamSummary,
};
use tempfile::TempDir;

use crate::streams::root;

/// A good run of an agent, without a line break at its end.
fn good() -> String {
    let stream = fs::read_to_string(root().join("fixtures/agents/cursor/plain.ndjson")).unwrap();
    stream.trim_end().to_owned()
}

fn checker() -> Checker {
    Checker::builder().profile("cursor").build().unwrap()
}

/// A shell that runs this script, with the good run in `$STREAM`.
fn shell(script: &str) -> Command {
    Command::new("sh").args(["-c", script]).env("STREAM", good())
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

/// Whether a process with this number, which a script wrote to a file, still runs.
fn is_running(file: &Path) -> bool {
    let number = fs::read_to_string(file).unwrap();
    let state = fs::read_to_string(format!("/proc/{}/stat", number.trim()));
    state.is_ok_and(|state| !state.contains(") Z "))
}

/// Waits until the process has ended; a signal takes a moment.
fn ends(file: &Path) -> bool {
    let begun = Instant::now();
    while is_running(file) {
        if begun.elapsed() > Duration::from_secs(10) {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
    true
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
    let folder = TempDir::new().unwrap();
    let go = folder.path().join("go");
    let script = "printf '%s\\n' \"$STREAM\" | head -3; until [ -e \"$GO\" ]; do sleep 0.01; done; \
        printf '%s\\n' \"$STREAM\" | tail -n +4";
    let mut run = shell(script).env("GO", &go).spawn(&checker()).unwrap();
    let first = run.next().unwrap().unwrap();
    assert!(matches!(first.kind, EventKind::Session(_)), "{first:?}");
    // Only now may the command go on to its end.
    fs::write(go, "").unwrap();
    let last = run.by_ref().last().unwrap().unwrap();
    assert!(matches!(&last.kind, EventKind::End(end) if end.outcome == Outcome::Succeeded));
    let summary = run.finish().unwrap();
    assert_eq!(summary.outcome, Outcome::Succeeded);
    assert_eq!(summary.exit_status, Some(ExitStatus::Code(0)));
    assert_eq!(summary.name, "sh");
}

#[test]
fn a_command_that_fails_is_not_a_success() {
    let summary = run(shell("printf '%s\\n' \"$STREAM\" | head -4; echo no quota >&2; exit 3"));
    assert_eq!(summary.outcome, Outcome::Failed);
    assert_eq!(summary.exit_status, Some(ExitStatus::Code(3)));
    assert_eq!(summary.stderr, ["no quota"]);
}

#[test]
fn standard_error_goes_where_the_caller_says() {
    let copy = Shared::default();
    run(shell("echo one >&2; printf '%s\\n' \"$STREAM\"; echo two >&2").stderr(copy.clone()));
    assert_eq!(copy.0.lock().unwrap().as_slice(), b"one\ntwo\n");
}

#[test]
fn the_stream_goes_where_the_caller_says_and_its_findings_are_kept() {
    let copy = Shared::default();
    // Of the two blank lines the first one counts.
    let script = "printf '%s\\n' \"$STREAM\" | head -3; echo; echo; exit 3";
    let mut run = shell(script).stdout(copy.clone()).spawn(&checker()).unwrap();
    run.by_ref().for_each(|event| drop(event.unwrap()));
    let rules: Vec<Rule> = run.findings().iter().map(|found| found.rule).collect();
    assert_eq!(rules, [Rule::BlankLine, Rule::SilentFailure]);
    let lines: Vec<String> = good().lines().take(3).map(str::to_owned).collect();
    assert_eq!(*copy.0.lock().unwrap(), format!("{}\n\n\n", lines.join("\n")).into_bytes());
}

#[test]
fn a_program_that_does_not_exist_is_an_error() {
    let error = Command::new("no-such-agent").spawn(&checker()).unwrap_err();
    assert!(matches!(&error, Error::Start { program, .. } if program == "no-such-agent"));
    assert!(error.to_string().starts_with("failed to start no-such-agent: "), "{error}");
}

#[test]
fn the_environment_the_directory_and_the_input_are_those_of_the_caller() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let script = "cat > out; printf '%s' \"-$KEY-$HOME-\" >> out; printf '%s\\n' \"$STREAM\"";
    let long = "x".repeat(200_000);
    let command = shell(script).current_dir(folder.path()).env("KEY", "v").env_remove("HOME");
    run(command.stdin(Stdin::Text(long.clone())));
    assert_eq!(fs::read_to_string(&out).unwrap(), format!("{long}-v--"));
    // A command that reads nothing blocks nobody.
    run(shell("printf '%s\\n' \"$STREAM\"").stdin(Stdin::Text(long)));
}

#[test]
fn a_run_that_takes_too_long_is_stopped_with_all_its_processes() {
    let folder = TempDir::new().unwrap();
    let child = folder.path().join("child");
    let script = "printf '%s\\n' \"$STREAM\" | head -4; sleep 60 & echo $! > \"$CHILD\"; wait";
    let command = shell(script).env("CHILD", &child).timeout(Duration::from_millis(600));
    let summary = run(command);
    assert_eq!(summary.outcome, Outcome::TimedOut);
    assert_eq!(summary.facts.reason, Some(EndReason::Timeout));
    assert!(ends(&child));
}

#[test]
fn a_silent_run_is_stopped() {
    let script = "printf '%s\\n' \"$STREAM\" | head -2; sleep 60";
    let summary = run(shell(script).idle_timeout(Duration::from_millis(300)));
    assert_eq!(summary.outcome, Outcome::TimedOut);
}

#[test]
fn a_command_that_lingers_after_its_end_is_stopped() {
    let script = "printf '%s\\n' \"$STREAM\"; sleep 60";
    let summary = run(shell(script).exit_grace(Duration::from_millis(100)));
    assert_eq!(summary.outcome, Outcome::Succeeded);
}

#[test]
fn another_thread_stops_a_run_with_all_its_processes() {
    let folder = TempDir::new().unwrap();
    let child = folder.path().join("child");
    let script = "sleep 60 & echo $! > \"$CHILD\"; printf '%s\\n' \"$STREAM\" | head -4; wait";
    let mut run = shell(script).env("CHILD", &child).spawn(&checker()).unwrap();
    until_it_works(&mut run);
    let stopper = run.stopper();
    thread::spawn(move || stopper.stop());
    let summary = run.finish().unwrap();
    assert_eq!(summary.outcome, Outcome::Failed);
    assert_eq!(summary.exit_status, Some(ExitStatus::Signal(15)));
    assert_eq!(summary.facts.reason, Some(EndReason::Interrupted));
    assert!(ends(&child));
}

#[test]
fn a_run_that_is_dropped_ends_all_its_processes() {
    let folder = TempDir::new().unwrap();
    let child = folder.path().join("child");
    let script = "trap '' TERM; (trap '' TERM; sleep 60) & echo $! > \"$CHILD\"; \
        printf '%s\\n' \"$STREAM\" | head -4; wait";
    let mut run = shell(script).env("CHILD", &child).spawn(&checker()).unwrap();
    until_it_works(&mut run);
    assert!(is_running(&child));
    drop(run);
    assert!(ends(&child));
}

#[test]
fn a_limit_of_the_checker_stops_the_run() {
    let mut limits = Limits::default();
    limits.calls = Some(0);
    let checker = Checker::builder().profile("cursor").limits(limits).build().unwrap();
    let script = "printf '%s\\n' \"$STREAM\" | grep -v '\"type\":\"result\"'; sleep 60";
    let begun = Instant::now();
    let run = shell(script).spawn(&checker).unwrap();
    let summary = run.finish().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(30));
    assert!(summary.rule_counts.contains_key(&Rule::LimitExceeded));
    assert_eq!(summary.outcome, Outcome::Truncated);
}

#[test]
fn runs_in_several_threads_do_not_disturb_each_other() {
    let threads: Vec<_> = (0..4)
        .map(|number| {
            thread::spawn(move || {
                let script = format!("printf '%s\\n' \"$STREAM\"; exit {number}");
                run(shell(&script)).exit_status
            })
        })
        .collect();
    for (number, thread) in (0..).zip(threads) {
        assert_eq!(thread.join().unwrap(), Some(ExitStatus::Code(number)));
    }
}

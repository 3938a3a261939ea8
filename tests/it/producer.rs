//! Run mode: stream, exit status and standard error in one verdict.

#![cfg(unix)]

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::streams::{PROGRAM, checker, judge, program, root, text};

pub(crate) const GOOD: &str = "fixtures/agents/cursor/plain.ndjson";
const FAILED: &str = "fixtures/agents/cursor/is-error.ndjson";
pub(crate) const AGENT: &str = "tests/fake-agent";

/// Runs the program on a fake agent; a hang ends after 30 seconds, with code 137.
pub(crate) fn run(flags: &[&str], agent: &[&str]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", "30", PROGRAM]).args(flags).args(["--", AGENT]).args(agent);
    command.current_dir(root()).stdin(Stdio::null());
    command.output().unwrap()
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// Whether a process is there, and no zombie.
pub(crate) fn is_alive(pid: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status.rsplit(')').next().unwrap_or_default().trim_start();
    !state.is_empty() && !state.starts_with('Z')
}

/// Whether a process is gone, or goes within a few seconds: one that was killed ends when the
/// machine finds the time.
pub(crate) fn is_gone(pid: i32) -> bool {
    for _ in 0..500 {
        if !is_alive(pid) {
            return true;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    false
}

pub(crate) fn pid_in(file: &Path) -> i32 {
    fs::read_to_string(file).unwrap().trim().parse().unwrap()
}

/// Goal: the table of verdict, outcome and exit code.
#[test]
fn stream_and_status_make_one_verdict() {
    let table: [(&[&str], i32, &str); 12] = [
        (&["emit", GOOD], 0, "✓ fake-agent  succeeded"),
        (&["emit", GOOD, "exit", "3"], 1, "exit-status-contradicts-result"),
        (&["emit", GOOD, "kill", "KILL"], 1, "the command was ended by signal 9"),
        (&["emit", FAILED], 1, "exit-status-contradicts-result"),
        (&["emit", FAILED, "stderr", "no", "exit", "1"], 3, "✗ fake-agent  failed: "),
        (&["head", "3", GOOD], 1, "missing-terminal-event"),
        (&["head", "3", GOOD, "stderr", "no", "exit", "1"], 3, "  failed: no (exit status 1)"),
        (&["head", "3", GOOD, "exit", "1"], 3, "silent-failure"),
        (&["head", "3", GOOD, "kill", "KILL"], 3, "signal 9"),
        (&[], 1, "empty-stream"),
        (&["stderr", "Error: no", "exit", "1"], 3, "failed before its first event: Error: no"),
        (&["say", "{\"type\":", "exit", "1"], 1, "truncated-line"),
    ];
    for (agent, expected, shown) in table {
        let output = run(&[], agent);
        let report = text(&output.stdout);
        assert_eq!(code(&output), expected, "{agent:?}: {report}");
        assert!(report.contains(shown), "{agent:?}: {report}");
    }
}

/// Goal: failures of real runs are reported as failures, with their reason.
/// Method: what stands on the stream and on standard error, and the status, of each.
#[test]
fn recorded_failures_are_conforming_failed_runs() {
    let rows: [(&str, &str, &str); 8] = [
        ("0", "Error: Authentication required. Please run 'agent login' first", "1"),
        ("0", "⚠ Workspace Trust Required", "1"),
        ("0", "Cannot use this model: X. Available models: auto", "1"),
        ("0", "Error: Workspace directory does not exist: /nowhere", "1"),
        ("2", "ActionRequiredError: You've hit your usage limit", "1"),
        ("2", "RetriableError: [unavailable] Error", "1"),
        ("2", "w: [resource_exhausted] Error", "1"),
        ("2", "Aborting operation...", "130"),
    ];
    for (lines, stderr, status) in rows {
        let output = run(&["--strict"], &["head", lines, GOOD, "stderr", stderr, "exit", status]);
        let report = text(&output.stdout);
        assert_eq!(code(&output), 3, "{report}");
        let answer = match (status, lines) {
            ("130", _) => format!("stopped by SIGINT\n    stderr: {stderr}\n"),
            (_, "0") => format!("failed before its first event: {stderr} (exit status 1)\n"),
            _ => format!("failed: {stderr} (exit status 1)\n"),
        };
        assert!(report.starts_with(&format!("✗ fake-agent  {answer}")), "{report}");
        let events = if lines == "0" { "    " } else { "2 events · " };
        assert!(report.contains(&format!("{events}exit status {status}")), "{report}");
        assert_eq!(text(&output.stderr), format!("{stderr}\n"), "passed on unchanged");
    }
    for signal in ["KILL", "TERM"] {
        let output = run(&["--strict"], &["head", "2", GOOD, "kill", signal]);
        assert_eq!(code(&output), 3, "{}", text(&output.stdout));
    }
}

#[test]
fn a_command_that_cannot_start_is_126_or_127() {
    for (command, expected) in [("no-such-command-anywhere", 127), ("./README.md", 126)] {
        let output = program().args(["--", command]).output().unwrap();
        assert_eq!(code(&output), expected);
        let error = text(&output.stderr);
        assert!(
            error.starts_with(&format!("ndjson-check: failed to start {command}: ")),
            "{error}"
        );
        assert_eq!(error.lines().count(), 1);
    }
}

#[test]
fn the_commands_own_code_is_propagated_where_nothing_is_worse() {
    let propagated = |agent: &[&str]| code(&run(&["--propagate-exit-code"], agent));
    assert_eq!(propagated(&["stderr", "no", "exit", "41"]), 41);
    assert_eq!(propagated(&["head", "2", GOOD, "kill", "KILL"]), 137);
    assert_eq!(propagated(&["emit", GOOD]), 0);
    assert_eq!(propagated(&["emit", GOOD, "exit", "41"]), 1);
}

/// Goal: what is asked to end and does not is killed, with all it started.
#[test]
fn a_command_that_ignores_term_is_killed_with_its_group() {
    let folder = tempfile::tempdir().unwrap();
    let (own, child) = (folder.path().join("own"), folder.path().join("child"));
    let (own_file, child_file) = (own.to_str().unwrap(), child.to_str().unwrap());
    let agent = ["pid", own_file, "grandchild", "90", child_file, "ignore", "TERM"];
    let agent = [&agent[..], &["head", "2", GOOD, "sleep", "60", "sleep", "60"]].concat();
    let output = run(&["--idle-timeout", "300ms"], &agent);
    assert_eq!(code(&output), 4, "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("signal 9"), "{}", text(&output.stdout));
    assert!(!is_alive(pid_in(&own)) && !is_alive(pid_in(&child)));
}

#[test]
fn a_command_that_lingers_is_ended_quietly() {
    let rows: [&[&str]; 2] =
        [&["emit", GOOD, "sleep", "60"], &["emit", GOOD, "close-stdout", "sleep", "60"]];
    for agent in rows {
        let output = run(&["--exit-grace", "300ms"], agent);
        let report = text(&output.stdout);
        assert_eq!(code(&output), 0, "{report}");
        assert!(
            report
                .contains("note: the command was still running after its terminal event; stopped"),
            "{report}"
        );
    }
}

#[test]
fn a_descendant_that_holds_the_stream_is_given_two_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let child = folder.path().join("child");
    let output = run(&[], &["emit", GOOD, "grandchild", "60", child.to_str().unwrap()]);
    assert_eq!(code(&output), 0);
    assert!(text(&output.stdout).contains("warning[pipe-held-open]"), "{}", text(&output.stdout));
    assert!(is_gone(pid_in(&child)));
    // One that left the group cannot be killed; it delays nothing.
    let output = run(&[], &["emit", GOOD, "escapee", "4"]);
    assert_eq!(code(&output), 0, "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("pipe-held-open"));
}

/// Goal: a flood on one pipe never blocks the other, and only its end is kept.
#[test]
fn floods_do_not_block() {
    let agent = ["flood-stderr", "3000000", "emit", GOOD, "flood-stderr", "3000000", "exit", "1"];
    let output = run(&[], &agent);
    assert_eq!(code(&output), 1);
    assert_eq!(output.stderr.len(), 6_000_002);
    let report = text(&output.stdout);
    assert!(report.lines().all(|line| line.len() < 1_000), "the report stays short");
    assert!(report.contains("15 events"), "{report}");
}

#[test]
fn the_command_has_our_input_or_none() {
    for (flags, heard) in [(&[][..], "heard <ours>"), (&["--no-stdin"], "heard <>")] {
        let mut command = program();
        command.args(flags).args(["--", AGENT, "hear", "emit", GOOD]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        // With another input it does not wait for ours, which stays open.
        let _ = std::io::Write::write_all(&mut pipe, b"ours\n");
        let output = child.wait_with_output().unwrap();
        assert_eq!(text(&output.stderr).trim(), heard);
        assert_eq!(code(&output), 0);
        drop(pipe);
    }
}

#[test]
fn conversions_copies_and_reports_work_as_in_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    let tee = format!("--tee={}", copy.display());
    let output = run(&["--to", "stream-json", &tee, "--report", "json"], &["emit", GOOD]);
    let stream = fs::read(crate::streams::root().join(GOOD)).unwrap();
    assert_eq!(output.stdout, stream);
    assert_eq!(fs::read(&copy).unwrap(), stream);
    let mut ours = checker(["--profile", "fixtures/profiles/report/profile.json"]);
    assert_eq!(judge(&output.stderr[..], &mut ours).1, []);
    // And so does the report of every other way to end.
    let ways: [(&[&str], &[&str]); 4] = [
        (&[], &["head", "2", GOOD, "stderr", "no", "exit", "1"]),
        (&[], &["head", "2", GOOD, "kill", "KILL"]),
        (&["--idle-timeout", "200ms"], &["sleep", "60"]),
        (&["--exit-grace", "200ms"], &["emit", GOOD, "sleep", "60"]),
    ];
    for (flags, agent) in ways {
        let report = folder.path().join("report.json");
        let to_file = format!("--report=json={}", report.display());
        run(&[flags, &[&to_file]].concat(), agent);
        let report = fs::read(&report).unwrap();
        assert_eq!(judge(&report[..], &mut ours).1, [], "{}", text(&report));
        let stream: Value =
            serde_json::from_str(text(&report).lines().rev().nth(1).unwrap()).unwrap();
        assert!(stream["exit_status"].is_u64() || stream["signal"].is_u64(), "{stream}");
    }
}

/// Goal: two seconds after the command's end reading stops, also while a descendant never stops
/// writing. Method: a flood of blank lines, and one of events.
#[test]
fn a_flood_from_a_descendant_is_given_two_seconds() {
    let floods = ["", "{\"type\":\"user\"}"].map(|line| {
        let script = format!("cat {GOOD}; yes '{line}' &");
        let mut command = Command::new("timeout");
        command.args(["-s", "KILL", "40", PROGRAM, "--timeout", "60s", "--", "sh", "-c", &script]);
        let child = command.current_dir(root()).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        child.unwrap()
    });
    for flood in floods {
        let output = flood.wait_with_output().unwrap();
        let report = text(&output.stdout);
        assert!(report.contains("pipe-held-open"), "{:?}: {report}", output.status);
    }
}

/// Goal: the time in which our own reader takes nothing is not the descendant's.
#[test]
fn a_slow_reader_of_our_output_does_not_cut_the_stream() {
    let folder = tempfile::tempdir().unwrap();
    let (stream, report) = (folder.path().join("stream"), folder.path().join("report"));
    // Few and long lines, which take the check no time.
    fs::write(&stream, format!("{{\"type\":\"{}\"}}\n", "x".repeat(200_000)).repeat(24)).unwrap();
    let (flag, script) = (format!("--report=human={}", report.display()), "cat \"$0\" &");
    let mut command = program();
    command.args(["--to", "stream-json", &flag, "--", "sh", "-c", script]).arg(&stream);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(3));
    let mut passed = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut passed).unwrap();
    child.wait().unwrap();
    assert_eq!(passed.len(), fs::read(&stream).unwrap().len());
    assert!(!fs::read_to_string(&report).unwrap().contains("pipe-held-open"));
}

/// Goal: a code that we caused is not the command's own.
#[test]
fn what_we_ended_is_not_propagated_and_contradicts_nothing() {
    let output = run(
        &["--propagate-exit-code", "--exit-grace", "200ms"],
        &["emit", GOOD, "become-sleep", "60"],
    );
    assert_eq!(code(&output), 0, "{}", text(&output.stdout));
    let begun = Instant::now();
    let flags = ["--timeout", "300ms", "--exit-grace", "20s"];
    let output = run(&flags, &["emit", GOOD, "become-sleep", "60"]);
    assert_eq!(code(&output), 0, "{}", text(&output.stdout));
    assert!(begun.elapsed() < Duration::from_secs(15), "the whole run has a limit");
    // Without a terminal event nothing is over when the output is closed.
    let flags = ["--idle-timeout", "300ms", "--exit-grace", "100ms"];
    let output = run(&flags, &["head", "3", GOOD, "close-stdout", "become-sleep", "60"]);
    assert_eq!(code(&output), 4, "{}", text(&output.stdout));
}

/// Goal: the report in a file says the code that the program ends with, also of a command that
/// cannot start.
#[test]
fn the_report_tells_the_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    fs::write(&report, "old").unwrap();
    let flag = format!("--report=json={}", report.display());
    let told = || -> Value {
        let text = fs::read_to_string(&report).unwrap();
        serde_json::from_str(text.lines().last().unwrap()).unwrap()
    };
    let output = program().args([&flag, "--", "no-such-command-anywhere"]).output().unwrap();
    assert_eq!((code(&output), told()["exit_code"].as_u64()), (127, Some(127)));
    let output = run(&[&flag, "--propagate-exit-code"], &["stderr", "no", "exit", "41"]);
    assert_eq!((code(&output), told()["exit_code"].as_u64()), (41, Some(41)));
}

#[test]
fn flags_of_run_mode_need_a_command() {
    let wrong: [&[&str]; 6] = [
        &["--no-stdin"],
        &["--propagate-exit-code"],
        &["--propagate-exit-code", GOOD],
        &["--timeout", "soon"],
        &["--timeout", "0s"],
        &["--timeout", "18446744073709551615s"],
    ];
    for flags in wrong {
        let output = crate::streams::run_on(flags, b"");
        assert_eq!(code(&output), 2, "{flags:?}");
        assert_eq!(text(&output.stderr).lines().count(), 1);
    }
    let nothing = program().arg("--").output().unwrap();
    assert_eq!(code(&nothing), 2);
    let both = Command::new(crate::streams::PROGRAM).args([GOOD, "--", "cat"]).output().unwrap();
    assert_eq!(code(&both), 2);
}

/// Goal: the last event of the normal form says how the process ended.
#[test]
fn the_last_event_has_the_exit_status_and_the_end_of_standard_error() {
    let last = |agent: &[&str]| -> Value {
        let output = run(&["--to", "events", "--quiet"], agent);
        let events = text(&output.stdout);
        serde_json::from_str(events.lines().last().unwrap()).unwrap()
    };
    let failed = last(&["emit", FAILED, "stderr", "no quota", "exit", "3"]);
    assert_eq!((&failed["type"], &failed["exit_status"]), (&"end".into(), &3.into()), "{failed}");
    assert_eq!(failed["stderr_tail"], serde_json::json!(["no quota"]));
    let good = last(&["emit", GOOD]);
    assert_eq!((&good["exit_status"], &good["stderr_tail"]), (&0.into(), &Value::Null));
}

//! Run mode: stream, exit status and standard error in one verdict.

use std::fs;
use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fake_agent::run;
use crate::streams::{checker, judge, program, text};

pub(crate) const GOOD: &str = "fixtures/agents/cursor/plain.ndjson";
const FAILED: &str = "fixtures/agents/cursor/is-error.ndjson";

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
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
        if cfg!(windows) && agent.contains(&"kill") {
            continue;
        }
        let output = run(&[], agent);
        let report = text(&output.stdout);
        assert_eq!(code(&output), expected, "{agent:?}: {report}");
        assert!(report.contains(shown), "{agent:?}: {report}");
    }
}

/// Goal: where an agent was called without its flags, the report says how to call it.
/// Method: one whose plain text is otherwise the reason of a failure, with status 0.
#[test]
#[cfg(unix)]
fn an_answer_in_plain_text_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let kimi = crate::fake_agent::agent_called("kimi", folder.path());
    let mut program = program();
    program.args(["--no-stdin", "--"]).arg(&kimi);
    let output = program.args(["say", "I fixed the build.\n", "exit", "0"]).output().unwrap();
    let report = text(&output.stdout);
    assert_eq!(code(&output), 1, "{report}");
    let how = "plain text, not events: for events, call it as `kimi --print";
    assert!(report.contains(how), "{report}");
    // The same if the run failed or did not end.
    let how = "note: for events, call it as `claude -p ";
    let claude = crate::fake_agent::agent_called("claude", folder.path());
    for (flags, says) in [
        (&["--no-stdin"][..], &["say", "I look.\n", "exit", "1"][..]),
        (&["--no-stdin", "--timeout", "1s"], &["say", "I look.\n", "sleep", "60"]),
    ] {
        let output =
            crate::streams::program().args(flags).arg("--").arg(&claude).args(says).output();
        let report = text(&output.unwrap().stdout);
        assert!(report.contains(how) && !report.contains("2>&1"), "{report}");
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
            _ => format!("failed: {stderr} (exit status 1)"),
        };
        assert!(report.starts_with(&format!("✗ fake-agent  {answer}")), "{report}");
        assert_eq!(report.matches(&format!("exit status {status}")).count(), 1, "{report}");
        assert_eq!(text(&output.stderr), format!("{stderr}\n"), "passed on unchanged");
    }
}

#[test]
fn the_commands_own_code_is_propagated_where_nothing_is_worse() {
    let propagated = |agent: &[&str]| code(&run(&["--propagate-exit-code"], agent));
    assert_eq!(propagated(&["stderr", "no", "exit", "41"]), 41);
    if cfg!(unix) {
        assert_eq!(propagated(&["head", "2", GOOD, "kill", "KILL"]), 137);
    }
    assert_eq!(propagated(&["emit", GOOD]), 0);
    assert_eq!(propagated(&["emit", GOOD, "exit", "41"]), 1);
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

/// Goal: an agent that waits for its background work is not ended before that.
#[test]
fn the_grace_begins_when_the_background_work_has_ended() {
    let came = "fixtures/agents/claude/wakeup-came.ndjson";
    let agent = ["head", "5", came, "sleep", "1.5", "tail", "5", came, "sleep", "60"];
    let output = run(&["--exit-grace", "300ms"], &agent);
    let report = text(&output.stdout);
    assert_eq!(code(&output), 0, "{report}");
    assert!(report.contains(" 8 events ") && !report.contains("background"), "{report}");
    for flags in [&["--timeout", "1s"], &["--idle-timeout", "500ms"]] {
        let output = run(flags, &["head", "5", came, "sleep", "60"]);
        let report = text(&output.stdout);
        assert_eq!(code(&output), 0, "{report}");
        assert!(report.contains("warning[background-work-lost]"), "{report}");
    }
    // Codex does not wait for its work.
    let lost = "fixtures/agents/codex/command-goes-on.ndjson";
    let begun = Instant::now();
    let output = run(&["--exit-grace", "300ms"], &["emit", lost, "sleep", "60"]);
    assert_eq!(code(&output), 0, "{}", text(&output.stdout));
    assert!(begun.elapsed() < Duration::from_secs(15));
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
        (&[], &["head", "2", GOOD, "abort"]),
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

/// Goal: a code that we caused is not the command's own.
#[test]
fn what_we_ended_is_not_propagated_and_contradicts_nothing() {
    let output =
        run(&["--propagate-exit-code", "--exit-grace", "200ms"], &["emit", GOOD, "sleep", "60"]);
    assert_eq!(code(&output), 0, "{}", text(&output.stdout));
    let begun = Instant::now();
    let flags = ["--timeout", "1s", "--exit-grace", "20s"];
    let output = run(&flags, &["emit", GOOD, "sleep", "60"]);
    assert_eq!(code(&output), 0, "{}", text(&output.stdout));
    assert!(begun.elapsed() < Duration::from_secs(15), "the whole run has a limit");
    // Without a terminal event nothing is over when the output is closed.
    let flags = ["--idle-timeout", "300ms", "--exit-grace", "100ms"];
    let output = run(&flags, &["head", "3", GOOD, "close-stdout", "sleep", "60"]);
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
    let reported = || -> Value {
        let text = fs::read_to_string(&report).unwrap();
        serde_json::from_str(text.lines().last().unwrap()).unwrap()
    };
    let output = program().args([&flag, "--", "no-such-command-anywhere"]).output().unwrap();
    assert_eq!((code(&output), reported()["exit_code"].as_u64()), (127, Some(127)));
    let output = run(&[&flag, "--propagate-exit-code"], &["stderr", "no", "exit", "41"]);
    assert_eq!((code(&output), reported()["exit_code"].as_u64()), (41, Some(41)));
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
    let both = std::process::Command::new(crate::streams::PROGRAM)
        .args([GOOD, "--", "cat"])
        .output()
        .unwrap();
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

//! How runs end, on every system: one fake agent, one table.

use std::fs;
use std::io::Read as _;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::fake_agent::{ASKED, GOOD, HANGS, agent, ended, is_held, is_released, run, start};
use crate::streams::{program, root, text};

const FAILED: &str = "fixtures/agents/cursor/is-error.ndjson";

struct Row {
    name: &'static str,
    flags: &'static [&'static str],
    /// `HELD` is a file that a process of the run holds.
    agent: &'static [&'static str],
    code: i32,
    shows: &'static [&'static str],
}

const ROWS: [Row; 20] = [
    Row {
        name: "good",
        flags: &[],
        agent: &["emit", GOOD],
        code: 0,
        shows: &["✓ fake-agent  ", "succeeded", "15 events", "exit status 0"],
    },
    Row {
        name: "failed",
        flags: &[],
        agent: &["emit", FAILED, "stderr", "no", "exit", "1"],
        code: 3,
        shows: &["✗ fake-agent  ", "failed: ", "exit status 1"],
    },
    Row {
        name: "failed before its first event",
        flags: &[],
        agent: &["stderr", "Error: no", "exit", "1"],
        code: 3,
        shows: &["failed before its first event: Error: no (exit status 1)"],
    },
    Row {
        name: "good, with a status of a failure",
        flags: &[],
        agent: &["emit", GOOD, "exit", "3"],
        code: 1,
        shows: &["exit-status-contradicts-result"],
    },
    Row {
        name: "good, with a code above 255",
        flags: &[],
        agent: &["emit", GOOD, "exit", "-1"],
        code: 1,
        shows: &["exit status 255"],
    },
    Row {
        name: "crashed",
        flags: &[],
        agent: &["head", "3", GOOD, "abort"],
        code: 3,
        shows: &["crashed by SIGABRT", "signal 6"],
    },
    Row {
        name: "cut",
        flags: &[],
        agent: &["head", "3", GOOD],
        code: 1,
        shows: &["missing-terminal-event"],
    },
    Row {
        name: "cut, with a status of a failure",
        flags: &[],
        agent: &["head", "3", GOOD, "stderr", "no", "exit", "1"],
        code: 3,
        shows: &["failed: no (exit status 1)"],
    },
    Row {
        name: "stalled",
        flags: &["--idle-timeout", "300ms"],
        agent: &["child", "HELD", "head", "2", GOOD, "sleep", "60"],
        code: 4,
        shows: &["timed out: no event arrived for 300ms", ASKED],
    },
    Row {
        name: "too long",
        flags: &["--timeout", "1s"],
        agent: &["child", "HELD", "head", "2", GOOD, "sleep", "60"],
        code: 4,
        shows: &["timed out: the run did not end within 1s", ASKED],
    },
    Row {
        name: "a call takes too long",
        flags: &["--call-timeout", "300ms"],
        agent: &["child", "HELD", "head", "4", GOOD, "sleep", "60"],
        code: 4,
        shows: &["timed out: the `shell` call", ASKED],
    },
    Row {
        name: "ignores the polite signal",
        flags: &["--idle-timeout", "300ms"],
        agent: &["ignore", "child", "HELD", "head", "2", GOOD, "sleep", "60"],
        code: 4,
        shows: &["signal 9"],
    },
    Row {
        name: "over a limit",
        flags: &["--max-calls", "0"],
        agent: &["child", "HELD", "head", "8", GOOD, "sleep", "60"],
        code: 1,
        shows: &["limit-exceeded", ASKED],
    },
    Row {
        name: "leaves a child",
        flags: &[],
        agent: &["emit", GOOD, "child", "HELD"],
        code: 0,
        shows: &["warning[pipe-held-open]", "exit status 0"],
    },
    Row {
        name: "leaves a child of a child that has ended",
        flags: &[],
        agent: &["emit", GOOD, "orphan", "HELD"],
        code: 0,
        shows: &["warning[pipe-held-open]", "exit status 0"],
    },
    // In a session of its own it cannot be killed on Unix, and ends by itself. It delays nothing.
    Row {
        name: "leaves a child that leaves the group",
        flags: &[],
        agent: &["emit", GOOD, "escapee", "HELD", "6"],
        code: 0,
        shows: &["warning[pipe-held-open]", "exit status 0"],
    },
    Row {
        name: "lingers",
        flags: &["--exit-grace", "300ms"],
        agent: &["child", "HELD", "emit", GOOD, "sleep", "60"],
        code: 0,
        shows: &["note: the command was still running after its terminal event; stopped", ASKED],
    },
    Row {
        name: "closes its output after its end, and goes on",
        flags: &["--exit-grace", "300ms"],
        agent: &["emit", GOOD, "close-stdout", "sleep", "60"],
        code: 0,
        shows: &["note: the command was still running after its terminal event; stopped"],
    },
    Row {
        name: "closes its output before its end, and goes on",
        flags: &["--idle-timeout", "300ms", "--exit-grace", "100ms"],
        agent: &["head", "3", GOOD, "close-stdout", "sleep", "60"],
        code: 4,
        shows: &["timed out: no event arrived for 300ms"],
    },
    Row {
        name: "passes its own code on",
        flags: &["--propagate-exit-code"],
        agent: &["stderr", "no", "exit", "41"],
        code: 41,
        shows: &["exit status 41"],
    },
];

/// Goal: a run ends in the same way on every system, and no process is left.
#[test]
#[expect(clippy::print_stdout, reason = "with --nocapture it prints the table")]
fn runs_end_in_the_same_way_on_every_system() {
    let folder = TempDir::new().unwrap();
    let check = |number: usize, row: &Row| {
        let held = folder.path().join(number.to_string());
        let held_name = held.to_str().unwrap();
        let with =
            |it: &&'static str| if *it == "HELD" { held_name.to_owned() } else { (*it).into() };
        let arguments: Vec<String> = row.agent.iter().map(with).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let begun = Instant::now();
        let output = run(row.flags, &arguments);
        let (took, report) = (begun.elapsed(), text(&output.stdout));
        assert_eq!(output.status.code(), Some(row.code), "{}: {report}", row.name);
        let shown = row.shows.iter().all(|shown| report.contains(shown));
        assert!(shown, "{}: {report}", row.name);
        assert!(!held.exists() || is_released(&held), "{}: a process is left", row.name);
        let last = report.lines().last().unwrap_or_default();
        let status = last.split(" · ").find(|it| it.contains("status") || it.contains("signal"));
        let status = status.unwrap_or_default().trim();
        println!("| {} | {} | {status} | {took:.1?} |", row.name, row.code);
    };
    for (number, row) in ROWS.iter().enumerate() {
        check(number, row);
    }
}

/// Goal: a flood on one pipe never blocks the other.
#[test]
fn floods_of_standard_error_block_nothing_on_any_system() {
    let agent = ["flood-stderr", "3000000", "emit", GOOD, "flood-stderr", "3000000", "exit", "1"];
    let output = run(&[], &agent);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stderr.len(), 6_000_002);
    let report = text(&output.stdout);
    assert!(report.lines().all(|line| line.len() < 1_000), "the report stays short");
    assert!(report.contains("15 events"), "{report}");
}

/// Goal: a timer ends us, and all that we started, also where no process reads what we write.
#[test]
fn an_output_that_is_blocked_holds_up_no_timer_on_any_system() {
    let folder = TempDir::new().unwrap();
    let held = folder.path().join("held");
    // Not before the agent writes.
    let flags = ["-q", "--timeout", "3s", "--to", "stream-json"];
    let mut child = start(&flags, &["child", held.to_str().unwrap(), "flood"]);
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(begun.elapsed() < HANGS);
        thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(status.code(), Some(2));
    assert!(is_released(&held));
}

/// Goal: nothing is left when we are killed without a warning.
#[test]
fn a_death_without_a_report_leaves_no_process_on_any_system() {
    let folder = TempDir::new().unwrap();
    let held = folder.path().join("held");
    let arguments = ["ignore", "child", held.to_str().unwrap(), "head", "2", GOOD, "sleep", "60"];
    let mut child = start(&["--to", "stream-json"], &arguments);
    let mut first = [0];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    // On Unix the guard of the group is a process, too, and starts in its own time.
    thread::sleep(Duration::from_millis(500));
    assert!(is_held(&held));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(is_released(&held));
}

/// Goal: the command has our input, or none.
#[test]
fn the_command_has_our_input_or_none_on_every_system() {
    for (flags, heard) in [(&[][..], "heard <ours>"), (&["--no-stdin"], "heard <>")] {
        let mut command = program();
        command.args(flags).arg("--").arg(agent()).args(["hear", "emit", GOOD]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        // With another input it does not wait for ours, which stays open.
        let _ = std::io::Write::write_all(&mut pipe, b"ours\n");
        let output = ended(child);
        assert_eq!(text(&output.stderr).trim(), heard);
        assert_eq!(output.status.code(), Some(0));
        drop(pipe);
    }
}

/// Goal: a timer works on a pipe, too: we stop to read, and end.
#[test]
fn a_pipe_that_is_silent_is_given_up_on_every_system() {
    let mut command = program();
    command.args(["--idle-timeout", "300ms"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let first = fs::read_to_string(root().join(GOOD)).unwrap();
    let first = first.lines().next().unwrap();
    std::io::Write::write_all(&mut pipe, format!("{first}\n").as_bytes()).unwrap();
    let output = ended(child);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stdout));
    drop(pipe);
}

/// Goal: copies, conversions and reports have the same bytes on every system.
#[test]
fn copies_and_reports_of_a_run_are_the_same_on_every_system() {
    let folder = TempDir::new().unwrap();
    let (copy, report) =
        (folder.path().join("copy of ü.ndjson"), folder.path().join("report.json"));
    let tee = format!("--tee={}", copy.display());
    let json = format!("--report=json={}", report.display());
    let output = run(&["--to", "stream-json", &tee, &json], &["emit", GOOD]);
    let stream = fs::read(root().join(GOOD)).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, stream);
    assert_eq!(fs::read(&copy).unwrap(), stream);
    let report = fs::read_to_string(&report).unwrap();
    assert!(report.lines().last().unwrap().contains("\"exit_code\":0"), "{report}");
}

#[test]
fn a_command_that_cannot_start_is_126_or_127_on_every_system() {
    for (command, expected) in [("no-such-command-anywhere", 127), ("./README.md", 126)] {
        let output = program().args(["--", command]).output().unwrap();
        assert_eq!(output.status.code(), Some(expected));
        let error = text(&output.stderr);
        assert!(
            error.starts_with(&format!("ndjson-check: failed to start {command}: ")),
            "{error}"
        );
        assert_eq!(error.lines().count(), 1);
    }
}

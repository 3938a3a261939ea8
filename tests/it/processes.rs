//! Run mode: the processes of a command, by their numbers and signals, and as the jobs of a shell.
//! They are found in `/proc`. `endings` has what every system has.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::producer::{GOOD, code};
use crate::signals::{ended, heed};
use crate::streams::{PROGRAM, program, root, text};

pub(crate) const AGENT: &str = "tests/fake-agent";

/// Runs the program on a fake agent; a hang ends after 30 seconds, with code 137.
fn run(flags: &[&str], agent: &[&str]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", "30", PROGRAM]).args(flags).args(["--", AGENT]).args(agent);
    command.current_dir(root()).stdin(Stdio::null());
    command.output().unwrap()
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
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

pub(crate) fn pid_in(file: &Path) -> i32 {
    fs::read_to_string(file).unwrap().trim().parse().unwrap()
}

#[test]
fn a_command_that_a_signal_ended_is_a_failed_run() {
    for signal in ["KILL", "TERM"] {
        let output = run(&["--strict"], &["head", "2", GOOD, "kill", signal]);
        assert_eq!(code(&output), 3, "{}", text(&output.stdout));
    }
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

/// Goal: what has left the group ends with a run that is ended, whatever ends it; it outlives one
/// that ends by itself.
#[test]
fn what_left_the_group_is_killed_with_it() {
    heed(&[Signal::SIGTERM]);
    let folder = tempfile::tempdir().unwrap();
    let stray = folder.path().join("stray");
    let start = |flags: &[&str], end: &str| {
        let escapes =
            "setsid bash -c 'echo $$ > \"$0\"; sleep 90 & wait' \"$0\" > /dev/null 2>&1 &";
        let script = format!("head -2 {GOOD}; {escapes} until [ -s \"$0\" ]; do :; done; {end}");
        let mut command = program();
        command.args(flags).args(["--no-stdin", "--", "bash", "-c", &script]).arg(&stray);
        let _ = fs::remove_file(&stray);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while fs::read_to_string(&stray).unwrap_or_default().is_empty() {
            assert!(
                begun.elapsed() < Duration::from_secs(20) && child.try_wait().unwrap().is_none()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        child
    };
    let waits = "sleep 60; sleep 60";
    let mut timed_out = start(&["--timeout", "2s"], waits);
    assert_eq!(timed_out.wait().unwrap().code(), Some(4));
    assert!(is_gone(pid_in(&stray)));
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let mut child = start(&[], waits);
        std::thread::sleep(Duration::from_millis(300));
        kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
        child.wait().unwrap();
        assert!(is_gone(pid_in(&stray)), "{signal}");
    }
    assert_eq!(start(&[], "exit 1").wait().unwrap().code(), Some(3));
    let pid = pid_in(&stray);
    assert!(is_alive(pid));
    nix::sys::signal::killpg(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
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

/// Goal: Ctrl-C ends the run, whatever status the command makes of it, and a loop around it.
/// Method: the command reads the terminal, and so it alone gets the signal.
#[test]
fn the_terminal_interrupts_a_command_that_handles_it() {
    heed(&[Signal::SIGINT]);
    for status in [0, 1] {
        let agent =
            format!("trap \"exit {status}\" INT; head -2 {GOOD}; while :; do sleep 0.1; done");
        let run = format!(
            "for run in 1 2; do {PROGRAM} --no-config -- bash -c '{agent}'; done; echo further"
        );
        let mut script = Command::new("script");
        script.args(["-qec", &run, "/dev/null"]).env("SHELL", "/bin/bash").current_dir(root());
        let child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let Ok(mut child) = child else { return crate::streams::is_absent("script") };
        let mut keys = child.stdin.take().unwrap();
        std::thread::sleep(Duration::from_secs(1));
        keys.write_all(b"\x03").unwrap();
        let mut shown = String::new();
        let mut output = child.stdout.take().unwrap();
        output.read_to_string(&mut shown).unwrap();
        assert_eq!(ended(&mut child).code(), Some(130), "{shown}");
        assert!(shown.contains("stopped") && !shown.contains("error["), "{shown}");
        assert!(shown.matches("stopped").count() == 1 && !shown.contains("further"), "{shown}");
    }
}

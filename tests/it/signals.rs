//! Signals: passed on, reported, and died of.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::producer::{AGENT, GOOD, is_alive, pid_in};
use crate::streams::{PROGRAM, contract, judge, program, root, text};

/// Starts a run, and waits until its agent, which tells its id in `pid`, has become a sleep.
fn started(
    agent: &[&str],
    report: &Path,
    pid: &Path,
) -> (Child, BufReader<std::process::ChildStdout>) {
    let flag = format!("--report=human={}", report.display());
    let mut command = program();
    command.args(["--to", "stream-json", &flag, "--", AGENT]).args(agent);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    let name = format!("/proc/{}/comm", pid_in(pid));
    let begun = Instant::now();
    while fs::read_to_string(&name).is_ok_and(|name| name.trim() != "sleep") {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(5));
    }
    (child, stdout)
}

/// Goal: a signal is passed on once; the report is complete; we die of the same signal.
#[test]
fn signals_are_passed_on_and_kill_us_after_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let (pid, report) = (folder.path().join("pid"), folder.path().join("report"));
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT] {
        let agent = ["pid", pid.to_str().unwrap(), "head", "2", GOOD, "become-sleep", "60"];
        let (mut child, stdout) = started(&agent, &report, &pid);
        kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(signal as i32));
        drop(stdout);
        let report = fs::read_to_string(&report).unwrap();
        assert!(
            report.contains("fake-agent: conforming, failed: profile cursor, 2 events"),
            "{report}"
        );
        assert!(!is_alive(pid_in(&pid)));
    }
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 2, "no temporary file is left");
}

/// Goal: also in a pipe a signal leaves a whole report behind, and nothing else.
#[test]
fn a_signal_in_a_pipe_finishes_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let mut command = program();
    command.args(["--to", "stream-json", &format!("--report=json={}", report.display())]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut pipe, b"{\"type\":\"user\"}\n").unwrap();
    let mut passed = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut passed).unwrap();
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    let ours = contract(["--profile", "fixtures/profiles/report/profile.json"]);
    assert_eq!(judge(&fs::read(&report).unwrap()[..], &ours).1, []);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    drop(pipe);
}

/// Goal: what our parent wants ignored stays ignored.
#[test]
fn an_ignored_signal_is_not_passed_on() {
    let script = format!("trap '' HUP; exec {PROGRAM} -- {AGENT} head 2 {GOOD} sleep 1 exit 0");
    let mut shell = Command::new("bash");
    shell.args(["-c", &script]).current_dir(root()).stdin(Stdio::null()).stdout(Stdio::piped());
    let child = shell.spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGHUP).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("exit status 0"));
}

#[test]
fn a_second_signal_ends_everything_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (pid, report) = (folder.path().join("pid"), folder.path().join("report"));
    let agent =
        ["pid", pid.to_str().unwrap(), "ignore", "TERM", "head", "2", GOOD, "become-sleep", "60"];
    let (mut child, _stdout) = started(&agent, &report, &pid);
    let ours = Pid::from_raw(child.id().cast_signed());
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        // The first is passed on and ignored there; the second is for us.
        kill(ours, Signal::SIGTERM).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    assert!(!is_alive(pid_in(&pid)));
}

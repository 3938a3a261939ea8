//! Signals: passed on, reported, and died of.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::producer::{AGENT, GOOD, is_alive, is_gone, pid_in};
use crate::streams::{PROGRAM, checker, judge, program, root, text};

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
            report
                .contains("fake-agent: conforming, failed (interrupted): profile cursor, 2 events"),
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
    let mut ours = checker(["--profile", "fixtures/profiles/report/profile.json"]);
    assert_eq!(judge(&fs::read(&report).unwrap()[..], &mut ours).1, []);
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

/// Goal: a timer and a signal end us also where no process reads what we write, with all that we
/// started. Method: a reader that never reads, of our output and of our standard error.
#[test]
fn a_reader_that_does_not_read_holds_up_neither_timer_nor_signal() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let stream = path("stream");
    fs::write(&stream, "{\"type\":\"user\"}\n".repeat(300_000)).unwrap();
    let report = format!("--report=json={}", path("report"));
    let run = |timeout: &str, script: &str, to: &[&str], pid: &str| {
        let mut command = program();
        command.args(["-q", "--timeout", timeout, &report]).args(to);
        if !script.is_empty() {
            command.args(["--", "bash", "-c", script, &stream, pid]);
        }
        command.stdin(fs::File::open(&stream).unwrap());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let to = ["--to", "stream-json"];
    // The command has ended, and what it left behind ignores TERM.
    let left = "trap '' TERM; cat $0 & echo $! >$1";
    let (writes, floods) = ("echo $$ >$1; exec cat $0", "echo $$ >$1; exec cat $0 >&2");
    let pids = [path("first"), path("second"), path("third")];
    let mut timed = [
        run("300ms", "", &to, ""),
        run("300ms", left, &to, &pids[0]),
        run("300ms", floods, &[], &pids[1]),
    ];
    let mut signalled = [run("60s", "", &to, ""), run("60s", writes, &to, &pids[2])];
    std::thread::sleep(Duration::from_millis(600));
    for child in &signalled {
        kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).unwrap();
    }
    let begun = Instant::now();
    let ended = |child: &mut Child| loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if begun.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let codes = timed.each_mut().map(|child| ended(child).code());
    assert_eq!(codes, [Some(2); 3]);
    let signals = signalled.each_mut().map(|child| ended(child).signal());
    assert_eq!(signals, [Some(15); 2]);
    assert!(pids.iter().all(|pid| is_gone(pid_in(Path::new(pid)))));
    let mut said = String::new();
    timed[0].stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "ndjson-check: timed out: the output could not be written in time\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "no temporary file is left");
}

/// Goal: a signal that ends the check of files leaves nothing behind.
#[test]
fn a_signal_while_files_are_checked_leaves_no_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    let (input, report) = (folder.path().join("input"), folder.path().join("report.json"));
    assert!(Command::new("mkfifo").arg(&input).status().unwrap().success());
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let flag = format!("--report=json={}", report.display());
        let mut child = program().arg(&flag).arg(&input).spawn().unwrap();
        // Opened when the other end is: the check has begun.
        let pipe = fs::File::options().write(true).open(&input).unwrap();
        kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(signal as i32));
        drop(pipe);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

//! Signals: passed on, reported, and died of.

// The processes are found in `/proc`.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use signal_hook::flag;

use crate::processes::{AGENT, is_alive, is_gone, pid_in};
use crate::producer::GOOD;
use crate::streams::{PROGRAM, checker, judge, program, root, text};

/// Makes that the programs started from here on do not ignore these signals. Where our parent does
/// (`nohup`, a job in the background of a script), they would too, and wait for ever. A program
/// starts with the default effect of a signal that its parent handles.
pub(crate) fn heed(signals: &[Signal]) {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    let mask = u64::from_str_radix(mask, 16).unwrap();
    for &signal in signals {
        if mask >> (signal as i32 - 1) & 1 == 1 {
            flag::register(signal as i32, Arc::default()).unwrap();
        }
    }
}

/// How a run ends; one that hangs is killed.
pub(crate) fn ended(child: &mut Child) -> ExitStatus {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if begun.elapsed() > Duration::from_secs(30) {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
}

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

/// Goal: every signal that ends a program, and leaves it time, ends the group; the report is
/// complete; we die of the same signal.
#[test]
fn signals_end_the_group_and_kill_us_after_the_report() {
    use Signal::{
        SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM,
        SIGXCPU,
    };
    let signals = [
        SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGVTALRM, SIGPROF,
        SIGABRT,
    ];
    heed(&signals);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (pid, other, report) = (path("pid"), path("other"), path("report"));
    for signal in signals {
        let grandchild = ["grandchild", "60", other.to_str().unwrap()];
        let agent = ["head", "2", GOOD, "become-sleep", "60"];
        let agent = [&["pid", pid.to_str().unwrap()], &grandchild[..], &agent].concat();
        let (mut child, stdout) = started(&agent, &report, &pid);
        send(&child, signal);
        assert_eq!(ended(&mut child).signal(), Some(signal as i32));
        drop(stdout);
        let text = fs::read_to_string(&report).unwrap();
        // A job in the background of a shell ignores SIGINT, and holds the stream open.
        let answer = "✗ fake-agent  stopped by SIG";
        assert!(text.starts_with(answer) && text.contains("2 events · signal"), "{text}");
        assert!(!is_alive(pid_in(&pid)) && is_gone(pid_in(&other)), "{signal}");
        fs::remove_file(&report).unwrap();
    }
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 2, "no temporary file is left");
}

/// Goal: no process of the command is left, also when we get no time to end it.
#[test]
fn a_death_without_a_report_leaves_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (pid, other, report) = (path("pid"), path("other"), path("report"));
    let grandchild = ["grandchild", "60", other.to_str().unwrap()];
    let agent = ["ignore", "TERM", "head", "2", GOOD, "become-sleep", "60"];
    let agent = [&["pid", pid.to_str().unwrap()], &grandchild[..], &agent].concat();
    for signal in [Signal::SIGKILL, Signal::SIGSYS, Signal::SIGTRAP] {
        let (mut child, _stdout) = started(&agent, &report, &pid);
        // The guard of the group is a process, too, and starts in its own time.
        std::thread::sleep(Duration::from_millis(200));
        send(&child, signal);
        assert_eq!(ended(&mut child).signal(), Some(signal as i32));
        assert!(is_gone(pid_in(&pid)) && is_gone(pid_in(&other)), "{signal}");
    }
}

/// Goal: the limits of a shell leave no process of the command behind; a file that may not grow is
/// like a full disk.
#[test]
fn limits_of_the_shell_leave_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (pid, large) = (path("pid"), path("large"));
    // Many small values take twenty times the memory of their text.
    let values = "[1,2],".repeat(8_000_000);
    fs::write(&large, format!("{{\"type\":\"user\",\"a\":[{values}1]}}\n")).unwrap();
    let run = |limit: &str, flags: &str, script: &str| {
        let script = format!("{limit}; exec {PROGRAM} --no-config {flags} -- sh -c '{script}'");
        let mut shell = Command::new("bash");
        shell.args(["-c", &script]).current_dir(root()).stdin(Stdio::null());
        shell.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        let status = ended(&mut child);
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(is_gone(pid_in(Path::new(&pid))), "{limit}: {said}");
        (status, said)
    };
    let lingers = format!("sleep 60 >/dev/null 2>&1 & echo $! >{pid}; ");
    let (status, said) = run(
        "ulimit -f 4",
        &format!("-q --tee {}", path("copy")),
        &format!("{lingers}cat {GOOD} {GOOD} {GOOD}"),
    );
    assert_eq!(status.code(), Some(2), "{said}");
    assert!(said.contains("copy: File too large"), "{said}");
    let (status, said) = run("ulimit -v 400000", "-q", &format!("{lingers}cat {large}; sleep 60"));
    assert_eq!(status.signal(), Some(Signal::SIGABRT as i32), "{said}");
    let flood = "while :; do echo \"{}\"; done";
    let (status, said) = run("ulimit -t 1", "-q", &format!("{lingers}ulimit -t 2>&-; {flood}"));
    assert_ne!(status.code(), Some(0), "{said}");
}

/// Goal: Ctrl-Z where no shell can resume us stops nothing, and Ctrl-C ends the run. Method: the
/// first process of a session with a terminal, as in a container.
#[test]
fn without_job_control_the_terminal_cannot_stop_a_run() {
    heed(&[Signal::SIGINT]);
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    for flags in ["", "--no-stdin"] {
        let agent = format!("pid {} head 2 {GOOD} become-sleep 60", pid.display());
        let run = format!("exec {PROGRAM} --no-config {flags} -- {AGENT} {agent}");
        let mut script = Command::new("script");
        script.args(["-qec", &run, "/dev/null"]).env("SHELL", "/bin/sh").current_dir(root());
        let child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let Ok(mut child) = child else { return crate::streams::is_absent("script") };
        let mut keys = child.stdin.take().unwrap();
        for key in [b"\x1a", b"\x03"] {
            std::thread::sleep(Duration::from_millis(700));
            keys.write_all(key).unwrap();
        }
        assert_eq!(ended(&mut child).code(), Some(130), "{flags}");
        assert!(is_gone(pid_in(&pid)));
    }
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
    pipe.write_all(b"{\"type\":\"user\"}\n").unwrap();
    let mut passed = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut passed).unwrap();
    send(&child, Signal::SIGTERM);
    assert_eq!(ended(&mut child).signal(), Some(15));
    let mut ours = checker(["--profile", "fixtures/profiles/report/profile.json"]);
    let bytes = fs::read(&report).unwrap();
    assert_eq!(judge(&bytes[..], &mut ours).1, []);
    let code = "\"exit_code\":143}\n";
    assert!(text(&bytes).ends_with(code), "the code of a shell, not {}", text(&bytes));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    drop(pipe);
}

/// Waits until a program handles this signal.
fn wait_for_handler(child: &Child, signal: Signal) {
    let begun = Instant::now();
    let handles = || {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim();
        u64::from_str_radix(mask, 16).unwrap() >> (signal as i32 - 1) & 1 == 1
    };
    while !handles() {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Goal: a pipe that is cancelled says what was open, in every report.
#[test]
fn a_signal_in_a_pipe_writes_the_report() {
    let signals = [Signal::SIGINT, Signal::SIGTERM];
    heed(&signals);
    let open = "fixtures/rules/missing-terminal-event/open-calls.ndjson";
    let stream = fs::read(root().join(open)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let outputs = folder.path().join("outputs");
    for (signal, format, shown) in [
        (signals[0], "human", "✗ stopped\n"),
        (signals[1], "human", "✗ stopped\n"),
        (signals[1], "markdown", "stopped"),
        (signals[1], "json", "\"exit_code\":143}\n"),
        (signals[1], "github", "stopped"),
    ] {
        let mut command = program();
        command.args(["--report", format]).env("GITHUB_OUTPUT", &outputs);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        wait_for_handler(&child, signal);
        pipe.write_all(&stream).unwrap();
        std::thread::sleep(Duration::from_millis(200));
        send(&child, signal);
        let mut report = String::new();
        child.stdout.take().unwrap().read_to_string(&mut report).unwrap();
        assert_eq!(ended(&mut child).signal(), Some(signal as i32));
        assert!(report.contains(shown), "{format}: {report}");
        assert!(format != "human" || report.contains("vm up a"), "{report}");
        drop(pipe);
    }
    assert!(fs::read_to_string(&outputs).unwrap().contains("exit-code=143\n"));
}

/// Goal: a second signal ends a pipe at once, whatever holds up the report.
#[test]
fn a_second_signal_ends_a_pipe() {
    let mut command = program();
    command.args(["--to", "stream-json"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    wait_for_handler(&child, Signal::SIGTERM);
    // More than the pipe holds that nobody reads.
    let fill = move || pipe.write_all(&b"{\"type\":\"user\"}\n".repeat(100_000));
    let writer = std::thread::spawn(fill);
    std::thread::sleep(Duration::from_millis(300));
    send(&child, Signal::SIGTERM);
    std::thread::sleep(Duration::from_millis(700));
    assert!(child.try_wait().unwrap().is_none(), "it waits for the reader");
    let second = Instant::now();
    send(&child, Signal::SIGTERM);
    assert_eq!(ended(&mut child).signal(), Some(15));
    assert!(second.elapsed() < Duration::from_secs(1), "{:?}", second.elapsed());
    assert!(writer.join().unwrap().is_err());
}

/// Goal: what our parent wants ignored stays ignored.
#[test]
fn an_ignored_signal_is_not_passed_on() {
    let script = format!("trap '' HUP; exec {PROGRAM} -- {AGENT} head 2 {GOOD} sleep 1 exit 0");
    let mut shell = Command::new("bash");
    shell.args(["-c", &script]).current_dir(root()).stdin(Stdio::null()).stdout(Stdio::piped());
    let child = shell.spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    send(&child, Signal::SIGHUP);
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
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        // The first is passed on and ignored there; the second is for us.
        send(&child, Signal::SIGTERM);
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
        send(child, Signal::SIGTERM);
    }
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
    let signals = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];
    heed(&signals);
    for signal in signals {
        let flag = format!("--report=json={}", report.display());
        let mut child = program().arg(&flag).arg(&input).spawn().unwrap();
        // Opened when the other end is: the check has begun.
        let pipe = fs::File::options().write(true).open(&input).unwrap();
        send(&child, signal);
        assert_eq!(ended(&mut child).signal(), Some(signal as i32));
        drop(pipe);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

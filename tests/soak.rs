//! Many runs, and many files in one run, leave nothing behind.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_ndjson-check");
const STREAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/agents/cursor/plain.ndjson");

/// Method: each command leaves a process in the background.
#[test]
fn two_hundred_runs_leave_no_process() {
    if !Path::new("/proc/self/stat").exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let background = format!("sleep 90 >/dev/null 2>&1 & echo $! >>{}", pids.display());
    let script = format!("cat {STREAM}; {background}; exit 0");
    for _ in 0..200 {
        let mut command = Command::new(PROGRAM);
        command.args(["--quiet", "--", "sh", "-c", &script]).stdin(Stdio::null());
        assert_eq!(command.status().unwrap().code(), Some(0));
    }
    let pids = fs::read_to_string(pids).unwrap();
    assert_eq!(pids.lines().count(), 200);
    let alive = |pid: &&str| {
        // Killed: gone, or about to be.
        let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        status.contains("(sleep) S")
    };
    assert_eq!(pids.lines().find(alive), None);
}

/// Method: far more files than descriptors.
#[test]
fn a_thousand_files_need_few_descriptors() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..1_000 {
        fs::copy(STREAM, folder.path().join(format!("{number}.ndjson"))).unwrap();
    }
    let script = format!("ulimit -n 32; exec {PROGRAM} --jobs 4 --report json \"$0\"");
    let output = Command::new("sh").args(["-c", &script]).arg(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.lines().last().unwrap().contains(r#""streams":1000,"#), "{report}");
}

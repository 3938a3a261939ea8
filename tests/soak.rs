//! Many runs in a row leave nothing behind. In a process of its own: it counts descriptors.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

use ndjson_check::check::Checker;
use ndjson_check::check::contract::Contract;
use ndjson_check::check::producer_exit::Status;
use ndjson_check::check::verdict::Outcome;
use ndjson_check::cli::producer::{Producer, Timers};
use ndjson_check::output::report::Reports;
use ndjson_check::profile::Profile;

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

fn children() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists = tasks.map(|it| fs::read_to_string(it.path().join("children")).unwrap_or_default());
    lists.map(|list| list.split_whitespace().count()).sum()
}

#[test]
fn two_hundred_runs_leave_no_process_and_no_descriptor() {
    if !Path::new("/proc/self/fd").exists() {
        return;
    }
    let (profile, schema) = Profile::load("cursor").unwrap();
    let contract = Contract::new(profile, schema).unwrap();
    let stream = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/agents/cursor/plain.ndjson");
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let left = format!("sleep 90 >/dev/null 2>&1 & echo $! >>{}", pids.display());
    let script = format!("cat {stream}; echo done >&2; {left}; exit 0");
    let command: Vec<OsString> = ["sh", "-c", &script].map(OsString::from).to_vec();
    let timers = Timers { timeout: None, idle: None, grace: Duration::from_secs(5) };
    let mut before = 0;
    for round in 0..200 {
        let (producer, input) = Producer::start(&command, true, timers).unwrap();
        let mut nothing = ();
        let mut watched = producer.watched(&mut nothing);
        let end = || producer.finish().0;
        let mut reports = Reports::default();
        let mut checker = Checker::new(&contract);
        let result = checker.check_until(input, "-", &mut reports, &mut watched, end);
        let summary = result.unwrap();
        assert_eq!(summary.outcome, Outcome::Succeeded, "{summary:?}");
        assert_eq!(summary.status, Some(Status::Code(0)));
        if round == 10 {
            before = descriptors();
        }
    }
    assert!(descriptors() <= before, "{} descriptors, {before} before", descriptors());
    assert_eq!(children(), 0);
    let pids = fs::read_to_string(pids).unwrap();
    assert_eq!(pids.lines().count(), 200);
    let alive = |pid: &&str| {
        // Killed, and reaped by whoever adopted it, or about to be.
        let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        status.contains("(sleep) S")
    };
    assert_eq!(pids.lines().find(alive), None);
}

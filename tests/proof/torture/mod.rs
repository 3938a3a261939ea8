//! Torture: every system call that can fail fails once, allocations fail, and reads and writes come
//! in pieces. However it ends, the program tells the truth: no exit code hides a lost
//! byte, nothing hangs or panics, and no process or temporary file is left.
//!
//! The rows of `scenarios.txt` are run under `strace`, which lets calls fail. One of so many faults
//! as `NDJSON_CHECK_TORTURE` says is tried: `1` is every one; without it each row gets a few.
//!
//! ```console
//! NDJSON_CHECK_TORTURE=1 cargo test --test proof -- torture --nocapture
//! ```

#![cfg(target_os = "linux")]

mod judge;
mod run;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

use crate::is_absent;
use crate::support::{root, run_on};
use judge::fault_of;
use run::{Fault, Place, Scenario};

/// Of the faults of all scenarios, one of so many is tried in the ordinary run.
const SAMPLED: usize = 193;

/// One of so many allocations fails: they are a hundred times as many as calls.
const ALLOCATIONS: usize = 23;

/// Faults that once were hidden: these are always tried, at each call.
const MENDED: [(&str, &str, &str); 6] = [
    ("fixtures/agents/grok --jobs 2 --report json={out}/report.json -q", "openat", "EINTR"),
    ("<{good} --report json={out}/report.json", "statx", "EIO"),
    ("{good} --report json={out}/report.json", "statx", "EIO"),
    ("merge {reports}", "write", "EIO"),
    ("profiles draft {good}", "write", "EAGAIN"),
    ("--no-stdin --to transcript -- sh -c cat%{good};echo%said>&2", "fcntl", "EMFILE"),
];

/// The calls that fail, and how.
const CALLS: &[(&str, &[&str])] = &[
    ("read", &["EINTR", "EAGAIN", "EIO"]),
    ("write", &["EINTR", "EAGAIN", "EIO", "ENOSPC", "EPIPE"]),
    ("openat", &["EINTR", "EMFILE", "EACCES", "ENOSPC"]),
    ("statx", &["EIO", "EACCES"]),
    ("newfstatat", &["ENOMEM"]),
    ("lseek", &["EINVAL"]),
    ("copy_file_range", &["EINTR", "EIO", "ENOSPC"]),
    ("renameat", &["EIO", "ENOSPC"]),
    ("rename", &["EIO", "ENOSPC"]),
    ("linkat", &["EIO", "ENOENT"]),
    ("unlink", &["EIO"]),
    ("mkdir", &["ENOSPC"]),
    ("getdents64", &["EIO"]),
    ("fcntl", &["EMFILE"]),
    ("dup2", &["EINTR", "EMFILE"]),
    ("pipe2", &["EMFILE"]),
    ("socketpair", &["EMFILE"]),
    ("clone", &["EAGAIN"]),
    ("clone3", &["EAGAIN", "ENOMEM"]),
    ("mmap", &["ENOMEM"]),
    ("poll", &["EINTR", "ENOMEM"]),
    ("ppoll", &["EINTR", "ENOMEM"]),
    ("wait4", &["EINTR"]),
    ("waitid", &["EINTR"]),
    ("recvfrom", &["EINTR", "EAGAIN"]),
    ("sendto", &["EINTR", "EAGAIN"]),
    ("setpgid", &["EPERM"]),
    ("pidfd_open", &["EMFILE", "ENOSYS"]),
    ("getrandom", &["EINTR"]),
    ("ioctl", &["EIO"]),
    ("prlimit64", &["EPERM"]),
    ("sched_getaffinity", &["EPERM"]),
];

/// What the rows of `scenarios.txt` read.
fn scenarios(place: &Place) -> Vec<Scenario> {
    let given = place.folder.parent().unwrap().join("given");
    let path = |name: &str| given.join(name).to_str().unwrap().to_owned();
    let names = [
        ("{out}", place.out().to_str().unwrap().to_owned()),
        ("{good}", "fixtures/agents/cursor/plain.ndjson".to_owned()),
        ("{bad}", "fixtures/rules/unfinished-call/one-open.ndjson".to_owned()),
        ("{failed}", "fixtures/agents/cursor/is-error.ndjson".to_owned()),
        ("{array}", "fixtures/agents/claude/array.ndjson".to_owned()),
        ("{gzip}", path("gzip.ndjson.gz")),
        ("{zstandard}", path("zstandard.ndjson.zst")),
        ("{reports}", format!("{} {}", path("first.json"), path("second.json"))),
        ("{baseline}", path("baseline.json")),
        ("{config}", path("ndjson-check.toml")),
        ("{list}", path("list")),
    ];
    let rows = include_str!("scenarios.txt").lines();
    let rows = rows.filter(|row| !row.starts_with('#'));
    rows.map(|row| {
        let line = names.iter().fold(row.to_owned(), |row, (name, value)| row.replace(name, value));
        Scenario::new(row, &line)
    })
    .collect()
}

/// Files that scenarios read, in a folder of their own.
fn given(folder: &Path) {
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    let read = |name: &str| fs::read(root().join(name)).unwrap();
    let (good, bad) = (
        read("fixtures/agents/cursor/plain.ndjson"),
        read("fixtures/rules/unfinished-call/one-open.ndjson"),
    );
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&good).unwrap();
    write("gzip.ndjson.gz", &gzip.finish().unwrap());
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    write("zstandard.ndjson.zst", &ruzstd::encoding::compress_to_vec(&good[..], level));
    let report = |stream: &[u8]| run_on(&["--report", "json"], stream).stdout;
    write("first.json", &report(&good));
    write("second.json", &report(&bad));
    let baseline = folder.join("baseline.json");
    run_on(&["-q", "--write-baseline", baseline.to_str().unwrap()], &bad);
    write("ndjson-check.toml", b"[rules]\nunfinished-call = \"warning\"\n[expect]\nanswer = {}\n");
    write("list", b"fixtures/agents/cursor/plain.ndjson\nfixtures/agents/cursor/is-error.ndjson\n");
}

/// The library that cuts reads and writes, and lets allocations fail.
fn shim(folder: &Path) -> Option<PathBuf> {
    let library = folder.join("shim.so");
    let source = root().join("tests/proof/torture/shim.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).arg("-ldl");
    compiler.status().is_ok_and(|status| status.success()).then_some(library)
}

/// All faults of a scenario: each call that it makes, and each allocation.
fn faults(place: &Place, scenario: &Scenario) -> Vec<Fault> {
    let mut faults = vec![Fault::Pieces];
    place.run(scenario, Fault::Traced);
    let trace = fs::read_to_string(place.trace()).unwrap();
    // Pairs of sockets of one process are how signals wake it.
    let network = trace.lines().find(|line| line.contains(" socket(") || line.contains("AF_INET"));
    assert_eq!(network, None, "{}", scenario.line);
    // A fault is for the n-th call of a thread. Those of the loader and the runtime come first; the
    // last of them is the second `sigaltstack`.
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut before = BTreeMap::new();
    for line in trace.lines() {
        let call = line
            .split_once(' ')
            .and_then(|(thread, rest)| Some((rest.trim_start().split_once('(')?.0, thread)));
        let call = call.unwrap_or_default();
        *counts.entry(call).or_default() += 1;
        if call.0 == "sigaltstack" && counts[&call] == 2 && before.is_empty() {
            before = counts.clone();
        }
    }
    for (name, errors) in CALLS {
        let of_name = |counts: &BTreeMap<(&str, &str), usize>| {
            let of_threads = counts.iter().filter(|((call, _), _)| call == name);
            of_threads.map(|(_, count)| *count).max().unwrap_or_default()
        };
        for at in of_name(&before) + 1..=of_name(&counts) {
            faults.extend(errors.iter().map(|error| Fault::Call(name, error, at)));
        }
    }
    let _ = fs::remove_file(place.trace());
    place.run(scenario, Fault::Counted);
    let count = fs::read_to_string(place.trace()).unwrap_or_default();
    let count = count.parse().unwrap_or_default();
    faults.extend((1..=count).step_by(ALLOCATIONS).map(Fault::Allocation));
    faults
}

/// What has been tried.
#[derive(Default)]
struct Tally {
    /// All faults that could be tried.
    faults: usize,
    runs: usize,
    /// Runs that a fault did not change.
    unchanged: usize,
    problems: Vec<String>,
}

/// Tries one of `sampled` faults of a scenario.
fn torture(place: &Place, scenario: &Scenario, sampled: usize, first: usize) -> Tally {
    let clean = place.run(scenario, Fault::None);
    let mut tally = Tally::default();
    let faults = faults(place, scenario);
    tally.faults = faults.len();
    let chosen = faults.iter().skip(first % sampled).step_by(sampled);
    let is_mended = |fault: &&Fault| match fault {
        Fault::Call(name, error, _) => MENDED.contains(&(scenario.line.as_str(), *name, *error)),
        _ => false,
    };
    let chosen = chosen.chain(faults.iter().filter(is_mended));
    // Reads and writes in pieces are always tried.
    for fault in chosen.copied().chain([Fault::Pieces]) {
        let left = place.run(scenario, fault);
        tally.runs += 1;
        tally.unchanged += usize::from(left == clean);
        if let Some(problem) = fault_of(scenario, fault, &clean, &left) {
            tally.problems.push(format!("{}\n  {fault:?}: {problem}", scenario.line));
        }
    }
    tally
}

/// Goal: whatever fails, the program says so, and leaves nothing behind.
/// Method: real system calls fail under `strace`; allocations fail in the real program.
#[test]
#[expect(clippy::print_stdout, reason = "the harness keeps it, unless it is asked for")]
fn no_failing_call_is_hidden() {
    if Command::new("strace").arg("-V").output().is_err() {
        return is_absent("strace");
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(shim) = shim(folder.path()) else { return is_absent("cc") };
    fs::create_dir(folder.path().join("given")).unwrap();
    given(&folder.path().join("given"));
    let variable = |name: &str| std::env::var(name).ok();
    let sampled = variable("NDJSON_CHECK_TORTURE").map_or(SAMPLED, |it| it.parse().unwrap());
    let only = variable("NDJSON_CHECK_TORTURE_ONLY").unwrap_or_default();
    let (next, tally, begun) = (Mutex::new(0), Mutex::new(Tally::default()), Instant::now());
    let work = |thread: usize| {
        let place = Place { folder: folder.path().join(thread.to_string()), shim: shim.clone() };
        fs::create_dir(&place.folder).unwrap();
        let scenarios = scenarios(&place);
        loop {
            let number = {
                let mut next = next.lock().unwrap();
                *next += 1;
                *next - 1
            };
            let Some(scenario) = scenarios.get(number) else { return };
            if scenario.line.contains(&only) {
                let own = torture(&place, scenario, sampled, number * 31);
                let mut tally = tally.lock().unwrap();
                tally.faults += own.faults;
                tally.runs += own.runs;
                tally.unchanged += own.unchanged;
                tally.problems.extend(own.problems);
            }
        }
    };
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let work = &work;
            scope.spawn(move || work(thread));
        }
    });
    let Tally { faults, runs, unchanged, problems } = tally.into_inner().unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    let shown = problems.join("\n");
    println!("figure: torture.faults {faults}");
    println!("figure: torture.runs {runs}");
    println!("figure: torture.unchanged {unchanged}");
    println!("figure: torture.seconds {seconds:.0}");
    assert!(problems.is_empty(), "{} of {runs} runs:\n{shown}", problems.len());
    // Some faults had an effect, and some had none.
    assert!(unchanged > 0 && unchanged < runs, "{unchanged} of {runs} runs are unchanged");
}

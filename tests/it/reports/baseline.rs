//! Known findings: written, accepted, and missed when they are gone.

use std::fs;
use std::path::Path;
use std::process::Output;

use ndjson_check::internals::satisfies;
use serde_json::Value;
use tempfile::TempDir;

use super::{nasty_folder, stdout};
use crate::streams::{misleads, program, root, text};

/// A folder with copies of these fixtures, in `runs`.
fn runs(fixtures: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("runs")).unwrap();
    for (number, fixture) in fixtures.iter().enumerate() {
        let copy = folder.path().join(format!("runs/{number}.ndjson"));
        fs::copy(root().join(format!("fixtures/rules/{fixture}.ndjson")), copy).unwrap();
    }
    folder
}

fn run_in(folder: &Path, flags: &[&str]) -> Output {
    program().args(flags).current_dir(folder).output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// What a baseline says: path, rule and count of each entry.
fn entries(folder: &TempDir) -> Vec<(String, String, u64)> {
    let written = fs::read_to_string(folder.path().join("known.json")).unwrap();
    let schema = stdout(&program().args(["schema", "baseline"]).output().unwrap());
    assert!(satisfies(&schema, &written).unwrap(), "{written}");
    let known: Value = serde_json::from_str(&written).unwrap();
    let findings = known["findings"].as_array().unwrap().iter();
    let said = |it: &Value| it.as_str().unwrap().to_owned();
    let entry = |it: &Value| (said(&it["path"]), said(&it["rule"]), it["count"].as_u64().unwrap());
    findings.map(entry).collect()
}

const WRITE: [&str; 3] = ["--write-baseline", "known.json", "runs"];
const READ: [&str; 3] = ["--baseline", "known.json", "runs"];

/// Goal: what is known does not fail, wherever its line is; what is new does, and is all that is
/// shown.
#[test]
fn known_findings_are_accepted_and_new_ones_are_not() {
    let folder = runs(&["unfinished-call/two-of-three-open", "schema-violation/missing-model"]);
    assert_eq!(code(&run_in(folder.path(), &WRITE)), 1, "what is written is not accepted yet");
    let call = |count| ("runs/0.ndjson".to_owned(), "unfinished-call".to_owned(), count);
    let schema = ("runs/1.ndjson".to_owned(), "schema-violation".to_owned(), 1);
    let known = entries(&folder);
    assert!(known == [call(2), schema.clone()] || known == [call(1), call(1), schema], "{known:?}");
    let output = run_in(folder.path(), &READ);
    let report = stdout(&output);
    assert_eq!(code(&output), 0, "{report}{}", text(&output.stderr));
    assert!(
        report.contains("0.ndjson  succeeded · Cursor CLI · ")
            && report.contains(" · 2 in the baseline · ")
    );
    assert!(report.ends_with("2 streams: 2 passed · 3 in the baseline\n"), "{report}");
    assert!(!report.contains("error["), "{report}");

    let path = folder.path().join("runs/0.ndjson");
    let stream = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("\n\n{stream}")).unwrap();
    let flags = [&READ[..], &["--allow", "blank-line"]].concat();
    let moved = run_in(folder.path(), &flags);
    assert_eq!(code(&moved), 0, "{}", stdout(&moved));
    let flags = [&READ[..], &["--strict"]].concat();
    let new = run_in(folder.path(), &flags);
    assert_eq!(code(&new), 1);
    assert_eq!(stdout(&new).matches("error[").count(), 1, "{}", stdout(&new));
    assert!(stdout(&new).contains("error[blank-line] lines 1, 2\n"), "{}", stdout(&new));
}

/// Goal: an entry that nothing fits is an error, in every report.
#[test]
fn stale_entries_fail() {
    let folder = runs(&["unfinished-call/two-of-three-open"]);
    run_in(folder.path(), &WRITE);
    let known = fs::read_to_string(folder.path().join("known.json")).unwrap();
    fs::write(folder.path().join("known.json"), known.replace("\"count\":1", "\"count\":3"))
        .unwrap();
    let flags = [&READ[..], &["--report", "json"]].concat();
    let output = run_in(folder.path(), &flags);
    let error = text(&output.stderr);
    assert_eq!(code(&output), 1, "{error}");
    let head = "ndjson-check: known.json: no longer found: runs/0.ndjson: unfinished-call: ";
    assert!(error.starts_with(head) && error.contains(" (1 of 3 found)\n"), "{error}");
    let report = stdout(&output);
    let last: Value = serde_json::from_str(report.lines().last().unwrap()).unwrap();
    assert_eq!(last["stale"], error.lines().count(), "{last}");
    assert_eq!((&last["known"], &last["exit_code"]), (&2.into(), &1.into()));
    let flags = [&READ[..], &["--report", "junit"]].concat();
    assert!(stdout(&run_in(folder.path(), &flags)).contains("<error message=\"known.json: no "));
    let flags = [&READ[..], &["--report", "html=index.html"]].concat();
    run_in(folder.path(), &flags);
    let page = fs::read_to_string(folder.path().join("index.html")).unwrap();
    let head = ">The stream passed; 2 stale in the baseline</span>";
    assert!(page.contains(head) && page.contains("<h2>Stale in the baseline</h2>"), "{page}");
    // Nothing is known about a stream that is not checked.
    let good = root().join("fixtures/agents/cursor/plain.ndjson");
    let output = run_in(folder.path(), &["--baseline", "known.json", good.to_str().unwrap()]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
}

/// Goal: a defect may be known; how the run ended stays what it is.
#[test]
fn the_outcome_stays() {
    let folder = runs(&["missing-terminal-event/after-the-prompt"]);
    let flags = [&WRITE[..], &["--deny", "blank-line"]].concat();
    assert_eq!(code(&run_in(folder.path(), &flags)), 1);
    let output = run_in(folder.path(), &READ);
    assert_eq!(code(&output), 3, "{}", stdout(&output));
    assert!(stdout(&output).contains("  cut short after line 2"), "{}", stdout(&output));
}

/// Goal: findings that are only counted are known by their number.
#[test]
fn findings_beyond_the_limit_are_counted() {
    let folder = runs(&[]);
    let write = |lines: usize| {
        fs::write(folder.path().join("runs/a.ndjson"), "[]\n{\"type\":\"user\"}\n".repeat(lines))
    };
    let flags = |flags: &[&'static str]| [flags, &["--profile", "jsonl"]].concat();
    write(120).unwrap();
    run_in(folder.path(), &flags(&WRITE));
    let counts: Vec<u64> = entries(&folder).iter().map(|it| it.2).collect();
    assert_eq!(counts, [20, 100]);
    for (lines, expected, shown) in [
        (120, 0, "120 in the baseline"),
        (130, 1, "the stream is broken: 10 errors"),
        (110, 1, "110 in the baseline"),
    ] {
        write(lines).unwrap();
        let output = run_in(folder.path(), &flags(&READ));
        assert_eq!(code(&output), expected, "{lines}: {}", stdout(&output));
        assert!(stdout(&output).contains(shown), "{lines}: {}", stdout(&output));
    }
}

/// Goal: a baseline is the same for any number of jobs, has nothing that misleads, and knows all.
#[test]
fn a_baseline_of_nasty_streams_is_complete() {
    let (folder, paths) = nasty_folder();
    let mut written = Vec::new();
    for jobs in ["1", "2", "8"] {
        let flags = ["--strict", "--jobs", jobs, "--write-baseline", "known.json", "."];
        assert_eq!(code(&run_in(folder.path(), &flags)), 1);
        written.push(fs::read_to_string(folder.path().join("known.json")).unwrap());
    }
    assert!(written[0] == written[1] && written[0] == written[2]);
    assert_eq!(written[0].chars().find(|it| misleads(*it) && *it != '\n'), None);
    assert!(entries(&folder).len() > 3 * paths.len());
    assert!(entries(&folder).iter().all(|it| !it.0.starts_with(['/', '.'])));
    let output = run_in(folder.path(), &["--strict", "--baseline", "known.json", "."]);
    assert!(!stdout(&output).contains("error["), "{}", stdout(&output));
    assert_eq!(code(&output), 3, "{}", text(&output.stderr));
}

/// Goal: each session of a recording has its own known findings.
#[test]
fn sessions_have_known_findings() {
    let folder = runs(&["unfinished-call/one-open", "schema-violation/missing-model"]);
    let runs = folder.path().join("runs");
    let streams = ["0", "1"].map(|name| {
        let path = runs.join(format!("{name}.ndjson"));
        let stream = fs::read_to_string(&path).unwrap();
        fs::remove_file(path).unwrap();
        stream
    });
    fs::write(runs.join("both.ndjson"), streams.concat()).unwrap();
    let flags = |flags: &[&'static str]| [flags, &["--sessions", "many"]].concat();
    assert_eq!(code(&run_in(folder.path(), &flags(&WRITE))), 1);
    let paths: Vec<String> = entries(&folder).into_iter().map(|it| it.0).collect();
    assert_eq!(paths, ["runs/both.ndjson#1", "runs/both.ndjson#2"]);
    let output = run_in(folder.path(), &flags(&READ));
    assert_eq!(code(&output), 0, "{}{}", stdout(&output), text(&output.stderr));
}

/// Goal: the stream of a command has known findings, too; so has a redacted one.
#[test]
fn a_command_has_known_findings() {
    let folder = runs(&["unfinished-call/one-open"]);
    let run = |flags: &[&str]| {
        let agent = crate::fake_agent::agent().to_str().unwrap();
        let command = ["--redact", "secrets", "--", agent, "emit", "runs/0.ndjson"];
        run_in(folder.path(), &[flags, &command].concat())
    };
    assert_eq!(code(&run(&["--write-baseline", "known.json"])), 1);
    assert_eq!(entries(&folder), [("fake-agent".to_owned(), "unfinished-call".to_owned(), 1)]);
    let output = run(&["--baseline", "known.json"]);
    assert_eq!(code(&output), 0, "{}{}", stdout(&output), text(&output.stderr));
}

/// Goal: a file that is no baseline is one line with its place.
#[test]
fn bad_baselines_are_refused() {
    let entry = r#"{"path":"a","rule":"blank-line","message":"m","fingerprint":"f","count":1}"#;
    let version = |version: u8, findings: &str| {
        format!("{{\n\"version\": {version},\n\"findings\": [{findings}]}}")
    };
    let rows = [
        (String::new(), "known.json:1:0: EOF while parsing a value"),
        ("{".to_owned(), "known.json:1:1: EOF while parsing an object"),
        (version(2, ""), "known.json:2:12: version 2 is not known; this program reads version 1"),
        (version(1, "{}"), "known.json:3:15: missing field `path`"),
        (version(1, &entry.replace(":1}", ":0}")), "known.json:3:86: invalid value: integer `0`"),
        (version(1, &entry.replace("path", "file")), "known.json:3:20: unknown field `file`"),
        (version(1, &format!("{entry},{entry}")), "known.json: finding 2 has the fingerprint of"),
        ("\u{1b}[31m".to_owned(), "known.json:1:1: expected value"),
    ];
    let folder = runs(&[]);
    for (baseline, message) in rows {
        fs::write(folder.path().join("known.json"), &baseline).unwrap();
        let output = run_in(folder.path(), &READ);
        let error = text(&output.stderr);
        assert_eq!(code(&output), 2, "{baseline}: {error}");
        assert!(error.starts_with(&format!("ndjson-check: {message}")), "{baseline}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    fs::remove_file(folder.path().join("known.json")).unwrap();
    let error = text(&run_in(folder.path(), &READ).stderr);
    assert!(error.starts_with("ndjson-check: failed to read the baseline known.json: "), "{error}");
}

/// Goal: no baseline is lost.
#[test]
fn a_baseline_is_written_whole_or_not_at_all() {
    let folder = runs(&["unfinished-call/one-open"]);
    let known = folder.path().join("known.json");
    fs::write(&known, "old").unwrap();
    let refused = |flags: &[&str], message: &str| {
        let output = run_in(folder.path(), flags);
        assert_eq!(code(&output), 2, "{flags:?}");
        let error = text(&output.stderr);
        assert!(error.contains(message), "{flags:?}: {error}");
        assert_eq!(fs::read_to_string(&known).unwrap(), "old");
    };
    refused(&["runs", "no-such-file", WRITE[0], WRITE[1]], "an input could not be checked");
    refused(&["runs", "--baseline", "known.json", WRITE[0], WRITE[1]], "cannot be used with");
    refused(&["known.json", WRITE[0], WRITE[1]], "would replace its own input");
    refused(&["runs", "--report=json=known.json", WRITE[0], WRITE[1]], "would be written twice");
    refused(&["runs", "--baseline", "known.json", "--tee=known.json"], "would replace its own");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("known.json", folder.path().join("l")).unwrap();
        run_in(folder.path(), &["--write-baseline", "l", "runs"]);
        assert_eq!(entries(&folder).len(), 1, "a link is followed");
    }
}

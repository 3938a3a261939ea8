//! Reports on many streams: those that ended in the same way are together.

use std::fs;

use tempfile::TempDir;

use super::{in_workflow, stdout};
use crate::streams::{program, root, run_on, text};

/// Copies of recordings: so many of each.
fn folder_of(recordings: &[(&str, usize)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (recording, count) in recordings {
        let bytes = fs::read(root().join("fixtures/agents").join(recording)).unwrap();
        for number in 0..*count {
            let name = format!("{}-{number}.ndjson", recording.replace(['/', '.'], "-"));
            fs::write(folder.path().join(name), &bytes).unwrap();
        }
    }
    folder
}

const ENDINGS: [(&str, usize); 4] = [
    ("claude/empty-answer.ndjson", 2),
    ("claude/not-logged-in.ndjson", 3),
    ("claude/overloaded.ndjson", 2),
    ("claude/failed-run.ndjson", 1),
];

/// Goal: failures are grouped by why they failed, and warnings by what they are.
#[test]
fn streams_are_grouped_by_how_they_ended() {
    let folder = folder_of(&ENDINGS);
    let report = |format: &str| {
        stdout(&program().args(["--report", format]).arg(folder.path()).output().unwrap())
    };
    let groups =
        ["3 × failed: not signed in", "2 × failed: the provider failed", "2 × succeeded, but the"];
    for (format, begin) in [("human", ["✗ ", "✗ ", "! "]), ("markdown", ["**"; 3])] {
        let report = report(format);
        let places: Vec<usize> = groups
            .iter()
            .zip(begin)
            .map(|(group, begin)| report.find(&format!("\n{begin}{group}")).unwrap_or(usize::MAX))
            .collect();
        let first = report.find(groups[0]).unwrap();
        assert!(first < places[1] && places[1] < places[2], "{format}: {report}");
        assert!(places[2] < report.len(), "{format}: {report}");
    }
}

/// Goal: in a summary with little room, each reason has a whole section.
#[test]
fn a_long_summary_shows_one_stream_of_each_reason() {
    let folder =
        folder_of(&[("claude/not-logged-in.ndjson", 300), ("claude/failed-run.ndjson", 1)]);
    let mut command = program();
    let report = stdout(&command.args(["--report=markdown"]).arg(folder.path()).output().unwrap());
    assert!(report.len() < 60_000, "{}", report.len());
    assert!(report.contains("**300 × failed: not signed in**"), "{report}");
    assert!(report.contains("failed-run-ndjson-0.ndjson`\n\n✗ stopped"), "{report}");
    assert!(report.contains("\n- `"), "{report}");
}

/// Goal: the runner shows few annotations, so that each reason has one.
#[test]
fn each_reason_has_an_annotation() {
    let folder = folder_of(&[("claude/not-logged-in.ndjson", 20), ("claude/overloaded.ndjson", 1)]);
    let log = stdout(&in_workflow(&folder).arg(folder.path()).output().unwrap());
    let errors: Vec<&str> = log.lines().filter(|it| it.starts_with("::error ")).collect();
    assert!(errors[0].contains("not-logged-in") && errors[1].contains("overloaded"), "{log}");
    assert!(errors[9].ends_with("::and 12 more"), "{log}");
    // The first annotation of a stream says what its sentence says.
    let folder = folder_of(&[("claude/denied-tools.ndjson", 1)]);
    let log = stdout(&in_workflow(&folder).arg(folder.path()).output().unwrap());
    assert!(log.contains("::every tool call was refused (3 of 3: git push origin main"), "{log}");
}

/// Goal: advice that is the same for many inputs is given once.
#[test]
fn the_same_advice_is_given_once() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..9 {
        let file = folder.path().join(format!("{number}.ndjson"));
        fs::write(file, "{\"event\":\"tick\"}\n").unwrap();
    }
    let page = folder.path().join("report.html");
    let mut command = program();
    command.arg(folder.path()).arg(format!("--report=html={}", page.display()));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let errors = text(&output.stderr);
    assert_eq!(errors.matches("no known agent writes these events").count(), 9, "{errors}");
    assert_eq!(errors.matches("choose with --profile").count(), 1, "{errors}");
    let page = fs::read_to_string(page).unwrap();
    assert_eq!(page.matches("choose with --profile").count(), 1, "{page}");
    assert!(page.contains("<code>ndjson-check profiles</code> lists the agents"), "{page}");
}

/// Goal: a step output that says why a run ended holds for each run that ended like that.
#[test]
fn step_outputs_mix_no_streams() {
    let (auth, overloaded) = ("claude/not-logged-in.ndjson", "claude/overloaded.ndjson");
    for (recordings, reason) in [
        (&[(auth, 2)][..], "auth"),
        (&[(auth, 1), (overloaded, 1)], ""),
        (&[(auth, 1), ("claude/plain.ndjson", 1)], "auth"),
    ] {
        let folder = folder_of(recordings);
        in_workflow(&folder).arg(folder.path()).output().unwrap();
        let outputs = fs::read_to_string(folder.path().join("outputs")).unwrap();
        assert!(outputs.contains("\noutcome=failed\n"), "{outputs}");
        assert!(outputs.contains(&format!("\nreason={reason}\n")), "{reason}: {outputs}");
    }
}

/// Goal: many runs that say the same take few lines, and each is named.
#[test]
fn many_runs_that_say_the_same_are_named_on_one_line() {
    let folder = folder_of(&[("claude/not-logged-in.ndjson", 30)]);
    let report = stdout(&program().arg(folder.path()).output().unwrap());
    assert!(report.contains("✗ 30 × failed: not signed in"), "{report}");
    assert!(report.contains("\n  and 20 more of these: "), "{report}");
    assert!(report.lines().count() < 40, "{report}");
    for number in 0..30 {
        assert!(report.contains(&format!("not-logged-in-ndjson-{number}.ndjson")), "{report}");
    }
    // What differs is shown.
    let other = fs::read(root().join("fixtures/agents/claude/not-logged-in.ndjson")).unwrap();
    let other = text(&other).replace("Please run /login", "Please call the help desk");
    fs::write(folder.path().join("zz.ndjson"), other).unwrap();
    let report = stdout(&program().arg(folder.path()).output().unwrap());
    assert!(report.contains("Please call the help desk"), "{report}");
}

/// Goal: findings that are alike are one line in every report that people read.
#[test]
fn findings_that_are_alike_are_one() {
    let stream = fs::read(root().join("fixtures/agents/claude/plain.ndjson")).unwrap();
    let stream = text(&stream).replace('\n', "\nwarning: the disk is slow\n");
    let count = stream.matches("warning: ").count();
    for format in ["markdown", "junit", "github"] {
        let report = text(&run_on(&["--report", format], stream.as_bytes()).stdout);
        assert!(report.contains("lines 2, 4, 6, 8, 10 and "), "{format}: {report}");
        assert!(report.matches("is not JSON").count() < 4, "{format}: {report}");
        assert!(!report.contains("\nand ") && !report.contains("- and "), "{format}: {report}");
    }
    assert!(count > 6);
}

/// Goal: what comes from standard input has no file, and so the message says the line.
#[test]
fn sarif_says_the_line_of_standard_input() {
    let stream = fs::read(root().join("fixtures/agents/claude/truncated.ndjson")).unwrap();
    let noisy = [b"hello\n", &stream[..]].concat();
    let report = text(&run_on(&["--report", "sarif"], &noisy).stdout);
    assert!(report.contains("line 1"), "{report}");
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let results = report["runs"][0]["results"].as_array().unwrap();
    for result in results {
        let message = result["message"]["text"].as_str().unwrap();
        assert!(message.contains("line "), "{message}");
    }
}

//! No report shows what the human report leaves out: findings that follow from another one, and
//! notes that mislead.

use std::fs;

use crate::streams::{root, run_on};

const FORMATS: [&str; 6] = ["human", "markdown", "junit", "sarif", "github", "html"];

/// The report on this stream.
fn report(format: &str, flags: &[&str], stream: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report");
    let target = format!("{format}={}", file.display());
    run_on(&[&["--report", &target], flags].concat(), stream);
    fs::read_to_string(&file).unwrap()
}

/// What a reader of a page sees of it before the timeline.
fn head(page: &str) -> &str {
    page.split_once("<header>").unwrap().1.split_once("</header>").unwrap().0
}

/// Goal: with the wrong profile, the only finding is that, and each report says the way out.
#[test]
fn nothing_follows_from_the_wrong_profile() {
    let stream = fs::read(root().join("fixtures/agents/qwen/plain.ndjson")).unwrap();
    for format in FORMATS {
        let report = report(format, &["--profile", "cursor"], &stream);
        assert!(
            report.contains("use the profile qwen, or let it be detected"),
            "{format}: {report}"
        );
        for rule in ["schema-violation", "unknown-event", "final-text-mismatch"] {
            assert!(!report.contains(rule), "{format}, {rule}: {report}");
        }
        if format == "html" {
            assert!(head(&report).contains("use the profile qwen"), "{report}");
        }
    }
    let failed = fs::read(root().join("fixtures/agents/qwen/failed-run.ndjson")).unwrap();
    for format in FORMATS {
        let report = report(format, &["--profile", "claude"], &failed);
        assert!(report.contains("looks like a stream of qwen"), "{format}: {report}");
        assert!(!report.contains("the terminal event in line"), "{format}: {report}");
    }
}

/// Goal: text in place of events is one problem, whose cause is not a second program.
#[test]
fn plain_text_is_one_problem() {
    for format in FORMATS {
        let report = report(format, &[], b"Hello\n\nI fixed it.\n");
        for wrong in ["is stderr merged", "using profile", "empty-stream"] {
            assert!(!report.contains(wrong), "{format}, {wrong}: {report}");
        }
    }
}

/// Goal: an input without events says nothing about profiles.
#[test]
fn an_empty_input_says_nothing_of_profiles() {
    for format in FORMATS.into_iter().chain(["json"]) {
        let report = report(format, &[], b"");
        assert!(!report.contains("using profile"), "{format}: {report}");
    }
}

/// Goal: of a stream of two runs, the second one is no finding.
#[test]
fn the_next_run_is_not_reported_line_by_line() {
    let stream = fs::read(root().join("fixtures/agents/gemini/tools.ndjson")).unwrap();
    let twice = [&stream[..], &stream].concat();
    let human = report("human", &[], &twice);
    assert!(human.contains("more findings not shown: they are about the next run"), "{human}");
    for format in ["markdown", "junit", "html"] {
        let report = report(format, &[], &twice);
        assert!(report.contains("they are about the next run"), "{format}: {report}");
    }
    let sarif: serde_json::Value = serde_json::from_str(&report("sarif", &[], &twice)).unwrap();
    let of_rule = |it: &&serde_json::Value| it["ruleId"] == "event-after-terminal";
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.iter().filter(of_rule).count(), 1, "{sarif}");
    assert!(!sarif.to_string().contains("not in this report"), "{sarif}");
}

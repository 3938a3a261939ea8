//! Lines that are no events, and that a profile knows.

use std::fs;

use ndjson_check::{Checker, EndReason, Outcome, Rule};
use serde_json::json;

use crate::streams::{json_report, judge};

const EVENT: &str = r#"{"t":"a"}"#;

/// A checker with a profile that knows some lines.
fn knowing(is_plain: bool) -> Checker {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profile.json");
    let profile = json!({
        "name": "noisy", "title": "x",
        "tags": {"at": ["/t"], "documented": ["a"]},
        "end": {"policy": "optional", "rules": [{"outcome": "success", "when": {"/t": "z"}}]},
        "noise": [
            {"matches": "^Loading", "is": "banner"},
            {"matches": "^\\s*$", "is": "banner"},
            {"matches": "^Hint: $", "is": "banner", "where": "before"},
            {"matches": "^warn: ", "is": "stderr"},
            {"matches": "^no: (?<text>.*)", "is": "stderr", "means": "denied-call"},
            {"matches": "^bad", "is": "banner", "means": "failed-call"},
            {"matches": "^lost", "is": "banner", "means": "background-work-lost"},
            {"matches": "^FATAL", "is": "banner", "failed": true, "reason": "billing"},
            {"matches": "^!", "is": "stderr", "where": "before"},
        ],
    });
    fs::write(&file, profile.to_string()).unwrap();
    Checker::builder().profile(file.to_str().unwrap()).plain(is_plain).build().unwrap()
}

#[test]
fn what_the_profile_knows_is_no_defect() {
    let mut checker = knowing(false);
    let rows: [(&str, u64, &[Rule]); 14] = [
        ("Loading ...\n%\n", 1, &[]),
        ("%\n\n  \nLoading", 1, &[]),
        ("Hint: %\n%\n", 2, &[]),
        ("Hint: %", 1, &[Rule::MissingFinalNewline]),
        ("Hint: %x\n%\n", 1, &[Rule::InvalidJson]),
        ("warn: no\n%\n", 1, &[Rule::StderrInStream]),
        ("!%\n!%\n", 2, &[Rule::StderrInStream]),
        ("Hint: Hint: %\n%\n", 2, &[Rule::InvalidJson]),
        // An event counts whatever stands before it; what somebody logs is none.
        ("Loading it %\n%\n", 2, &[]),
        ("warn: no %\n%\n", 2, &[Rule::StderrInStream]),
        ("debug { \"x\": 1}\n%\n", 1, &[Rule::InvalidJson]),
        ("debug {\"x\":1} %\n%\n", 2, &[Rule::InvalidJson]),
        ("[1]\n%\n", 1, &[Rule::NotAnObject]),
        ("Loading \u{fffd}\n{\"t\":\n%\n", 1, &[Rule::InvalidJson]),
    ];
    for (stream, events, rules) in rows {
        let stream = stream.replace('%', EVENT);
        let (summary, raised) = judge(stream.as_bytes(), &mut checker);
        assert_eq!(raised, rules, "{stream}");
        assert_eq!(summary.events, events, "{stream}");
        assert_eq!(summary.lines, stream.lines().count() as u64, "{stream}");
    }
}

/// Goal: plain text with which an agent reports a failure is no defect, and the run has failed.
#[test]
fn a_failure_in_plain_text_is_a_failed_run() {
    for is_plain in [false, true] {
        let mut checker = knowing(is_plain);
        let stream = format!("{EVENT}\nFATAL: no more credit\n{EVENT}\n");
        let (summary, raised) = judge(stream.as_bytes(), &mut checker);
        assert_eq!((summary.outcome, raised), (Outcome::Failed, vec![]));
        let notes: Vec<String> = summary.notes.iter().map(ToString::to_string).collect();
        assert_eq!(notes, ["an error in line 2 says that the run failed"]);
        let facts = summary.facts;
        assert_eq!(facts.error_text.as_deref(), Some("FATAL: no more credit"));
        assert_eq!(facts.reason, Some(EndReason::Billing));
        let recovered = format!("{stream}{{\"t\":\"z\"}}\n");
        let (summary, raised) = judge(recovered.as_bytes(), &mut checker);
        assert_eq!((summary.outcome, raised), (Outcome::Succeeded, vec![]));
    }
}

/// Goal: a line may say what no event shows.
#[test]
fn a_line_may_say_how_a_call_ended() {
    let lost = [Rule::BackgroundWorkLost];
    let denied = [Rule::StderrInStream, Rule::DeniedCall];
    for (stream, raised, counts, texts) in [
        ("%no: x\n%z", &denied[..], (1, 1, 0), vec!["x"]),
        ("%no: x\n%no: y\nbad\nz", &denied, (3, 2, 1), vec!["x", "y", "bad"]),
        ("%no: x%z", &denied, (1, 1, 0), vec!["x"]),
        ("%bad\n%z", &[], (1, 0, 1), vec!["bad"]),
        ("%lost\nz", &lost, (0, 0, 0), vec![]),
    ] {
        let stream = stream.replace('%', &format!("{EVENT}\n")).replace('z', "{\"t\":\"z\"}\n");
        for is_plain in [false, true] {
            let (summary, found) = judge(stream.as_bytes(), &mut knowing(is_plain));
            assert_eq!(found, raised, "{stream}");
            let all = summary.call_counts;
            assert_eq!((all.total, all.denied, all.failed), counts, "{stream}");
            let listed: Vec<&str> = summary.tool_calls.iter().map(|it| &*it.detail).collect();
            assert_eq!(listed, texts, "{stream}");
        }
    }
}

/// Goal: offsets count from the start of the stream, also behind a text.
#[test]
fn offsets_stay_true_behind_a_text() {
    let mut checker = knowing(false);
    let stream = "Loading\nHint: {\"t\":\"a\",\"t\":\"a\"}\n!{\"t\":\"b\"}\n";
    let report = json_report(stream.as_bytes(), &mut checker);
    let found: Vec<serde_json::Value> =
        report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let places: Vec<_> = found
        .iter()
        .filter(|it| it["type"] == "diagnostic")
        .map(|it| (it["rule"].as_str().unwrap(), it["line"].as_u64(), it["offset"].as_u64()))
        .collect();
    let second = stream.rfind("\"t\":\"a\"").unwrap() as u64;
    let third = stream.find('!').unwrap() as u64;
    let expected = [
        ("duplicate-key", Some(2), Some(second)),
        ("stderr-in-stream", Some(3), Some(third)),
        ("unknown-event", Some(3), Some(third + 1)),
    ];
    assert_eq!(places, expected);
}

/// Goal: noise changes nothing for the shortcuts.
#[test]
fn both_engines_know_the_same_lines() {
    let line = format!("{EVENT}\n");
    let block = format!("{}Loading\n{line}Hint: {line}warn: x\n!{line}? {line}", line.repeat(9));
    let stream = block.repeat(20);
    let [fast, plain] =
        [false, true].map(|is_plain| json_report(stream.as_bytes(), &mut knowing(is_plain)));
    assert_eq!(fast, plain);
}

//! The `JUnit` report, read by two parsers of XML and checked against Jenkins' schema.

use std::fs;
use std::path::Path;
use std::process::Command;

use quick_xml::events::Event;

use super::{nasty_folder, stdout};
use crate::streams::{is_absent, program, root, shared, text};

/// What one test case says: its name, the elements in it, and their attributes and text.
type Case = (String, Vec<String>);

/// The test cases of a report, in their order. Fails at XML that is not well-formed.
fn cases(report: &str) -> Vec<Case> {
    let mut reader = quick_xml::Reader::from_str(report);
    let mut cases: Vec<Case> = Vec::new();
    loop {
        let event = reader.read_event().unwrap();
        match &event {
            Event::Start(element) | Event::Empty(element) => {
                let name = element.name().as_ref().to_owned();
                let values = element.attributes().map(|it| {
                    let it = it.unwrap();
                    let value = it.normalized_value(quick_xml::XmlVersion::Implicit1_0).unwrap();
                    (it.key.as_ref().to_owned(), value.into_owned())
                });
                let values: Vec<_> = values.collect();
                if name == "testcase" {
                    let name = values.iter().find(|(key, _)| key == "name").unwrap();
                    cases.push((name.1.clone(), Vec::new()));
                } else if let (Some(case), false) = (cases.last_mut(), name == "testsuite") {
                    let values: Vec<_> = values.into_iter().map(|it| it.1).collect();
                    case.1.push(format!("{name} {}", values.join(" ")).trim().to_owned());
                }
            }
            Event::Eof => return cases,
            _ => {}
        }
    }
}

/// Fails unless libxml2 finds the report valid. Without its program nothing is checked.
fn is_valid(report: &Path) {
    let Some(schema) = shared("data/report-schemas/junit/junit-10.xsd") else { return };
    let mut xmllint = Command::new("xmllint");
    xmllint.args(["--noout", "--nonet", "--huge", "--schema"]).arg(schema).arg(report);
    match xmllint.output() {
        Ok(output) => assert!(output.status.success(), "{}", text(&output.stderr)),
        Err(_) => is_absent("xmllint"),
    }
}

/// Goal: the report is valid for every character that a stream can contain.
/// Method: failed runs whose error texts have all characters of the first plane between them, every
/// nasty text, all fixtures, and inputs that cannot be checked.
#[test]
fn the_report_is_valid() {
    let (folder, paths) = nasty_folder();
    let streams = folder.path().join("characters");
    fs::create_dir(&streams).unwrap();
    let characters: Vec<char> = ('\0'..='\u{ffff}').chain(['\u{1fffe}', '\u{10ffff}']).collect();
    for (number, part) in characters.chunks(150).enumerate() {
        let words: String = part.iter().collect();
        let end = serde_json::json!({"type": "result", "subtype": "success", "is_error": true,
            "duration_ms": 1, "duration_api_ms": 1, "result": words, "session_id": "s",
            "request_id": "r"});
        fs::write(streams.join(format!("{number:03}.ndjson")), format!("{end}\n")).unwrap();
    }
    let report = folder.path().join("report.xml");
    let mut command = program();
    command.arg(format!("--report=junit={}", report.display())).arg(folder.path());
    let output = command.args(["--strict", "fixtures", "no-such-`]]>`\u{1b}"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    is_valid(&report);
    let written = fs::read_to_string(&report).unwrap();
    assert!(!written.contains(['\u{fffe}', '\u{ffff}', '\0', '\u{1b}', '\u{202e}']));
    let names: Vec<String> = cases(&written).into_iter().map(|case| case.0).collect();
    let streams = names.iter().filter(|name| *name == "stream").count();
    assert!(streams > 437 + paths.len() + 500, "{streams}");
    let errors: Vec<&String> = names.iter().filter(|name| name.starts_with("error")).collect();
    assert_eq!(*names.last().unwrap(), format!("error {}", errors.len()));
    let is_ours = |name: &str| ["tool call ", "error "].iter().any(|it| name.starts_with(it));
    let forged = |name: &&String| !is_ours(name) && name.contains(['<', ' ']);
    assert_eq!(names.iter().find(forged), None);
}

/// Goal: what fails in the report is what the verdict says.
#[test]
fn only_errors_and_bad_outcomes_fail() {
    let streams = [
        "fixtures/rules/unfinished-call/two-of-three-open.ndjson",
        "fixtures/agents/cursor/is-error.ndjson",
        "fixtures/agents/cursor/plain.ndjson",
        "fixtures/agents/claude/denials-in-the-result.ndjson",
        "no-such-file",
        "nor-this-file",
    ];
    let output = program().args(["--report", "junit"]).args(streams).output().unwrap();
    let report = stdout(&output);
    let first = |case: &Case| {
        let kind = case.1.first().map_or("passed", |it| it.split(' ').next().unwrap());
        format!("{} {kind}", case.0)
    };
    let expected = [
        "stream failure",
        "stream failure",
        "stream system-out",
        "stream failure",
        "error error",
        "error 2 error",
    ];
    assert_eq!(cases(&report).iter().map(first).collect::<Vec<_>>(), expected);
    let head = "tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\" time=\"3.192\">";
    assert!(report.contains(head), "{report}");
}

/// Goal: the failure of a run says why, where a CI service shows it.
#[test]
#[cfg(unix)]
fn the_failure_of_a_run_has_its_reason() {
    let failed = "echo 'ActionRequiredError: usage <limit>' >&2; exit 1";
    let cut = "head -2 fixtures/agents/cursor/plain.ndjson";
    for (script, body) in [
        (failed, ">exit status 1\nstderr: ActionRequiredError: usage &lt;limit&gt;</failure>"),
        (
            cut,
            ">error[missing-terminal-event] line 2: the stream ends here, without a terminal event",
        ),
    ] {
        let mut command = program();
        command.args(["--no-stdin", "--report=junit", "--", "bash", "-c", script]);
        let report = stdout(&command.current_dir(root()).output().unwrap());
        assert!(report.contains(body), "{report}");
    }
}

/// Goal: what was found is in the report, also of a stream that could not be checked to its end.
#[test]
fn a_stream_that_is_abandoned_keeps_its_findings() {
    let folder = tempfile::tempdir().unwrap();
    let (schema, stream) = (folder.path().join("s.json"), folder.path().join("a.ndjson"));
    fs::write(&schema, r#"{"properties": {"type": {"pattern": "^(?!x)(a|aa)+(?=z)$"}}}"#).unwrap();
    fs::write(&stream, format!("[]\n{{\"type\":\"{}\"}}\n", "a".repeat(200))).unwrap();
    let mut command = program();
    command.args(["--profile", "jsonl", "--report", "junit", "--schema"]).arg(schema).arg(stream);
    let output = command.current_dir(root()).output().unwrap();
    let report = stdout(&output);
    let names: Vec<String> = cases(&report).into_iter().map(|case| case.0).collect();
    assert_eq!(names, ["stream"], "{}", text(&output.stderr));
    assert!(report.contains(">error[not-an-object] line 1: "), "{report}");
}

/// Goal: each demand is a test that passes, fails, or says nothing of a run that failed.
#[test]
fn demands_are_tests() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("ndjson-check.toml");
    let toml = "[limits]\ncalls = 1\n[expect]\nanswer = { matches = \"cart\" }\n";
    fs::write(&config, toml).unwrap();
    let good = "fixtures/agents/cursor/plain.ndjson";
    let failed = "fixtures/agents/cursor/is-error.ndjson";
    let mut command = program();
    command.args(["--report=junit", "--max-tokens=1000000", "--config"]).arg(&config);
    let report = stdout(&command.args([good, failed]).output().unwrap());
    let first = |case: &Case| {
        let name = case.0.replace(config.to_str().unwrap(), "toml");
        format!("{name} {}", case.1.first().map_or("passed", |it| it.split(' ').next().unwrap()))
    };
    let expected = [
        "stream system-out",
        "limits.tokens passed",
        "limits.calls failure",
        // The note about the configuration follows.
        "the answer matches `cart` (toml:4:22) system-out",
        "stream failure",
        "limits.tokens skipped",
        "limits.calls skipped",
        "the answer matches `cart` (toml:4:22) skipped",
    ];
    assert_eq!(cases(&report).iter().map(first).collect::<Vec<_>>(), expected, "{report}");
    assert!(report.contains("type=\"limit-exceeded\" message=\"the run made 4 tool calls"));
}

/// Goal: a preset of several demands is one case, and fails once.
#[test]
fn the_demands_of_a_preset_are_one_case() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("c.toml"), "[expect]\npresets = [\"read-only\"]\n").unwrap();
    let stream = root().join("fixtures/agents/claude/plain.ndjson");
    let mut command = program();
    command.current_dir(folder.path()).args(["--config", "c.toml", "--report", "junit"]);
    let output = command.arg(stream).output().unwrap();
    let cases = cases(&text(&output.stdout));
    let names: Vec<&str> = cases.iter().map(|(name, _)| &**name).collect();
    assert_eq!(
        names,
        ["stream", "there was no write call; there was no delete call (c.toml:2:12)"]
    );
    assert!(cases[1].1[0].starts_with("failure expectation-failed no write call is allowed"));
}

/// Goal: a limit that a failed run does not show is no test that passed.
#[test]
fn a_demand_of_a_failed_run_is_skipped() {
    let failed = root().join("fixtures/agents/codex/at-capacity.ndjson");
    let flags = ["--no-config", "--max-cost", "1", "--max-calls", "10", "--report", "junit"];
    let output = program().args(flags).arg(failed).output().unwrap();
    let cases = cases(&text(&output.stdout));
    let skipped = cases[1..].iter().map(|(name, says)| (&**name, says[0].starts_with("skipped")));
    assert_eq!(skipped.collect::<Vec<_>>(), [("limits.cost", true), ("limits.calls", true)]);
}

/// Goal: a demand that the stream does not show is no test that passed; one whose finding is only a
/// warning is, and says so.
#[test]
fn a_demand_of_a_good_run_passes_if_it_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("ndjson-check.toml");
    let fetch = "rules.expectation-failed = \"warning\"\n\
                 expect.calls = [{ kind = \"fetch\", at-least = 1 }]\n";
    fs::write(&config, fetch).unwrap();
    let good = root().join("fixtures/agents/cursor/plain.ndjson");
    let flags = ["--max-cost", "1", "--max-calls", "10", "--report", "junit", "--config"];
    let output = program().args(flags).args([config, good]).output().unwrap();
    let cases = cases(&text(&output.stdout));
    let says: Vec<String> = cases[1..].iter().map(|(_, says)| says.join("; ")).collect();
    let cost = "skipped the limit is $1.00, but the stream does not report the cost";
    // The last one is followed by the output of the suite.
    assert_eq!(says, [cost, "", "system-out; system-out"]);
}

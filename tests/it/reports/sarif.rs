//! The SARIF report, checked against its schema.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::{in_workflow, nasty_folder, stdout};
use crate::streams::{misleads, program, root, run_on, shared};

/// The report as JSON. Fails unless it satisfies the schema.
fn valid(report: &str) -> Value {
    let raw = |it: &char| misleads(*it) && *it != '\n';
    assert_eq!(report.chars().find(raw), None, "{report:?}");
    let report: Value = serde_json::from_str(report).unwrap();
    if let Some(schema) = shared("data/report-schemas/sarif/sarif-schema-2.1.0.json") {
        let schema: Value = serde_json::from_slice(&fs::read(schema).unwrap()).unwrap();
        let options = jsonschema::options().should_validate_formats(true);
        let validator = options.build(&schema).unwrap();
        let faults: Vec<String> = validator.iter_errors(&report).map(|it| it.to_string()).collect();
        assert_eq!(faults, [""; 0]);
    }
    report
}

fn results(report: &Value) -> &Vec<Value> {
    report["runs"][0]["results"].as_array().unwrap()
}

fn uri(result: &Value) -> &str {
    let place = &result["locations"][0]["physicalLocation"]["artifactLocation"];
    place["uri"].as_str().unwrap()
}

/// Goal: the report is valid for every stream, and each result points at its rule and its file.
#[test]
fn the_report_is_valid() {
    let (folder, paths) = nasty_folder();
    let mut command = in_workflow(&folder);
    command.args(["--strict", "--report=sarif", "no-such-file"]).arg(folder.path());
    let report = valid(&stdout(&command.output().unwrap()));
    let run = &report["runs"][0];
    assert_eq!(run["invocations"][0]["exitCode"], 2);
    let error = &run["invocations"][0]["toolExecutionNotifications"][0];
    assert!(error["message"]["text"].as_str().unwrap().contains("no-such-file"));
    let files: BTreeSet<&str> = results(&report).iter().map(uri).collect();
    assert_eq!(files.len(), paths.len());
    for result in results(&report) {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        let rule = &run["tool"]["driver"]["rules"][index];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(rule["help"]["markdown"].as_str().unwrap().starts_with("# "));
        assert!(!result["message"]["text"].as_str().unwrap().contains("]("), "{result}");
        assert!(uri(result).chars().all(|it| it.is_ascii_graphic()), "{result}");
        assert!(!uri(result).starts_with('/'), "{result}");
    }
    let report = valid(&stdout(&program().args(["--report=sarif", "fixtures"]).output().unwrap()));
    assert!(results(&report).len() > 300);
    assert!(uri(&results(&report)[0]).starts_with("fixtures/"));
    let report =
        valid(&stdout(&run_on(&["--report=sarif", "--profile=cursor"], b"{\"type\":\"user\"}\n")));
    let place = &results(&report)[0]["locations"][0]["logicalLocations"][0];
    assert_eq!(place["fullyQualifiedName"], "standard input");
}

/// Goal: a finding keeps its fingerprint when its stream changes elsewhere, and no two share one.
/// Method: fixtures, and the same with blank lines before their first line.
#[test]
fn fingerprints_survive_line_shifts() {
    let folder = tempfile::tempdir().unwrap();
    let streams = ["unfinished-call/two-of-three-open", "schema-violation/missing-model"];
    let identities = |blank: &str| -> Vec<(String, u64)> {
        for (number, stream) in streams.iter().enumerate() {
            let path = crate::streams::root().join(format!("fixtures/rules/{stream}.ndjson"));
            let stream = fs::read_to_string(path).unwrap();
            let path = folder.path().join(format!("{number}.ndjson"));
            fs::write(path, format!("{blank}{stream}")).unwrap();
        }
        let mut command = program();
        command.args(["--allow", "blank-line", "--report", "sarif", "."]);
        let output = command.current_dir(folder.path()).output().unwrap();
        let report = valid(&stdout(&output));
        let identity = |result: &Value| {
            let identity = &result["partialFingerprints"]["ndjsonCheckFinding/v1"];
            let region = &result["locations"][0]["physicalLocation"]["region"];
            (identity.as_str().unwrap().to_owned(), region["startLine"].as_u64().unwrap())
        };
        results(&report).iter().map(identity).collect()
    };
    let (before, after) = (identities(""), identities("\n\n\n"));
    assert!(before.len() >= 3, "{before:?}");
    let different: BTreeSet<&String> = before.iter().map(|it| &it.0).collect();
    assert_eq!(different.len(), before.len());
    for (before, after) in before.iter().zip(&after) {
        assert_eq!((&before.0, before.1 + 3), (&after.0, after.1));
    }
    assert_eq!(before.len(), after.len());
}

/// Goal: a run that failed is a result, and the first error of a stream is headed by its sentence.
#[test]
fn a_failed_run_is_a_result() {
    let result = |flags: &[&str], stream: &str| {
        let stream = fs::read(root().join("fixtures").join(stream)).unwrap();
        let report = valid(&stdout(&run_on(&[&["--report=sarif"], flags].concat(), &stream)));
        results(&report).iter().find(|result| result["level"] == "error").cloned()
    };
    let rows = [
        (
            "agents/claude/not-logged-in",
            "run-failed",
            "failed: Invalid API key · Please run /login",
        ),
        (
            "agents/claude/denied-tools",
            "all-calls-refused",
            "every tool call was refused (3 of 3: ",
        ),
        (
            "rules/unfinished-call/one-open",
            "unfinished-call",
            "a tool call never ended: systemctl restart worker; line 5: the `shell` call ",
        ),
    ];
    for (stream, rule, text) in rows {
        let result = result(&[], &format!("{stream}.ndjson")).unwrap();
        assert_eq!((&result["ruleId"], &result["level"]), (&rule.into(), &"error".into()));
        assert!(result["message"]["text"].as_str().unwrap().starts_with(text), "{result}");
    }
    assert_eq!(result(&[], "agents/cursor/plain.ndjson"), None);
}

/// Goal: the report stays within the limits of services, says what is missing, and leaves out
/// warnings before errors.
#[test]
fn results_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..60 {
        let path = folder.path().join(format!("{number}.ndjson"));
        fs::write(path, "\n[]\n{\"type\":\"user\"}\n".repeat(110)).unwrap();
    }
    let mut command = program();
    command.args(["--profile=jsonl", "--report=sarif"]).arg(folder.path());
    let report = valid(&stdout(&command.output().unwrap()));
    assert_eq!(results(&report).len(), 5_000);
    let notification = &report["runs"][0]["invocations"][0]["toolExecutionNotifications"][0];
    // 110 blank lines and 110 arrays in each stream; of each 100 are reported.
    let missing = 60 * 110 - 5_000;
    let text = format!("{missing} more errors and {} more warnings not in this report", 60 * 110);
    assert_eq!(notification["message"]["text"], text);
    assert!(results(&report).iter().all(|result| result["level"] == "error"));
}

/// Goal: inputs that could not be checked are counted where they are too many to be listed.
#[test]
fn errors_that_are_left_out_are_counted() {
    let mut command = program();
    command.arg("--report=sarif").args((0..600).map(|number| format!("no-such-{number}")));
    let report = valid(&stdout(&command.output().unwrap()));
    let notes = &report["runs"][0]["invocations"][0]["toolExecutionNotifications"];
    let notes = notes.as_array().unwrap();
    assert_eq!(notes.len(), 101, "{notes:?}");
    assert_eq!(notes[100]["message"]["text"], "500 more errors not in this report");
}

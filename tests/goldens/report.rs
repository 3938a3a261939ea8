//! The JSON report: its goldens, and what it must say of every case.

use std::collections::BTreeSet;
use std::fs;

use ndjson_check::{Outcome, Rule};
use serde_json::Value;

use crate::support::{checker, judge, program, root};
use crate::{chosen, compare, printed};

/// Goal: a change of the json report is seen and reviewed.
/// Method: compare the reports of the chosen cases, byte for byte but for the added line breaks.
#[test]
fn chosen_json_reports_are_as_written() {
    let goldens = chosen("report", "json").into_iter();
    compare(goldens.map(|(golden, it)| (golden, it.json.lines().map(one_member_a_line).collect())));
}

/// A line break before each member of an object but the first; what is nested keeps its line.
fn one_member_a_line(object: &str) -> String {
    let (mut lines, mut depth, mut in_string, mut escaped) = (String::new(), 0, false, false);
    for character in object.chars() {
        lines.push(character);
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => in_string = !in_string,
            _ if in_string => {}
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ',' if depth == 1 => lines.push_str("\n "),
            _ => {}
        }
    }
    lines + "\n"
}

/// Members and values that the chosen reports do not show. Most need a command, a time limit, a
/// huge stream or a rare event.
const NOT_SHOWN: &[&str] = &[
    "stream/estimated_cost_usd",
    "stream/known",
    "stream/notes/file",
    "stream/notes/limit",
    "stream/notes/limit=call-rows",
    "stream/notes/limit=calls",
    "stream/notes/limit=files",
    "stream/notes/limit=names",
    "stream/notes/limit=text",
    "stream/notes/note=configured",
    "stream/notes/note=cut-short",
    "stream/notes/note=diagnostics-omitted",
    "stream/notes/note=errors-survived",
    "stream/notes/note=events-incomplete",
    "stream/notes/note=exit-status-lost",
    "stream/notes/note=exit-status-meaning",
    "stream/notes/note=limit-reached",
    "stream/notes/note=line-lost",
    "stream/notes/note=lingered",
    "stream/notes/note=no-call-timeout",
    "stream/notes/note=no-idle-timeout",
    "stream/notes/note=not-tried-again",
    "stream/notes/note=profile-fallback",
    "stream/notes/note=rules-lowered",
    "stream/notes/note=rules-off",
    "stream/notes/note=timed-out",
    "stream/notes/note=tried-again",
    "stream/notes/note=unknown-event-repeated",
    "stream/notes/note=version-out-of-range",
    "stream/notes/rules",
    "stream/outcome=timed-out",
    "stream/reason=auth",
    "stream/reason=billing",
    "stream/reason=budget",
    "stream/reason=config",
    "stream/reason=content-filter",
    "stream/reason=context-overflow",
    "stream/reason=crash",
    "stream/reason=interrupted",
    "stream/reason=killed",
    "stream/reason=max-turns",
    "stream/reason=model-not-found",
    "stream/reason=network",
    "stream/reason=output-limit",
    "stream/reason=overloaded",
    "stream/reason=permission",
    "stream/reason=rate-limit",
    "stream/reason=refusal",
    "stream/reason=timeout",
    "stream/reason=tool",
    "stream/retry_after",
    "stream/retryable",
    "stream/retryable=later",
    "stream/retryable=no",
    "stream/retryable=yes",
    "stream/signal",
    "stream/stderr_tail",
    "stream/unknown/kind=event",
    "stream/unknown/kind=member",
    "stream/unknown/kind=tool",
    "stream/unknown/kind=value",
    "stream/unknown/of",
    "summary/known",
    "summary/stale",
    "summary/tried_again",
];

/// Goal: the chosen reports show all that a report can hold.
/// Method: collect every member and every named value of the report's schema, and of the reports.
#[test]
fn chosen_json_reports_show_every_member() {
    let schema = fs::read(root().join("crates/formats/src/report.schema.json")).unwrap();
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    let mut possible = BTreeSet::new();
    for kind in schema["properties"]["type"]["enum"].as_array().unwrap() {
        let kind = kind.as_str().unwrap();
        promised(&schema, &schema["$defs"][kind], kind, &mut possible);
    }
    let mut shown = BTreeSet::new();
    for (_, it) in chosen("report", "json") {
        for line in it.lines() {
            seen(&line, line["type"].as_str().unwrap(), &mut shown);
        }
    }
    // These take flags, and have tests in `tests/it`.
    let others = ["stream/stats", "summary/stats", "diff/", "drift/"];
    possible.retain(|path| !others.iter().any(|other| path.starts_with(other)));
    let missing: Vec<&String> = possible.difference(&shown).collect();
    assert_eq!(missing, NOT_SHOWN);
}

/// Adds the path of each member that a schema describes, and `path=value` of each named value.
fn promised(document: &Value, schema: &Value, path: &str, found: &mut BTreeSet<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(reference.trim_start_matches('#')).unwrap();
        promised(document, target, path, found);
    }
    for value in schema["enum"].as_array().into_iter().flatten() {
        found.insert(format!("{path}={}", value.as_str().unwrap()));
    }
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}/{name}");
        promised(document, member, &path, found);
        found.insert(path);
    }
    if let Some(items) = schema.get("items") {
        promised(document, items, path, found);
    }
}

/// Adds the path of each member of a value, and `path=value` of each string.
fn seen(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    for (name, member) in value.as_object().into_iter().flatten() {
        let path = format!("{path}/{name}");
        seen(member, &path, found);
        found.insert(path);
    }
    for item in value.as_array().into_iter().flatten() {
        seen(item, path, found);
    }
    if let Some(text) = value.as_str() {
        found.insert(format!("{path}={text}"));
    }
}

/// Goal: the two reports say the same, and so does the exit code.
/// Method: look for what each line of the json report says in the human one.
#[test]
fn json_reports_say_what_human_ones_say() {
    for it in printed() {
        let path = it.case.path.display();
        let (mut human, mut findings) = (it.human.lines(), BTreeSet::new());
        let head = human.next().unwrap();
        let body: Vec<&str> = human.collect();
        let is_shown = |text: &str| body.iter().any(|line| line.trim_start() == text);
        for line in it.lines() {
            let said = |name: &str| line[name].as_str().unwrap();
            match said("type") {
                "diagnostic" => {
                    findings.insert(format!("{}[{}]", said("severity"), said("rule")));
                }
                "stream" => {
                    let mark = match (&line["passed"], line["warnings"].as_u64().unwrap()) {
                        (Value::Bool(true), 0) => "✓",
                        (Value::Bool(true), _) => "!",
                        _ => "✗",
                    };
                    let sentence = format!("{mark} {}", said("headline"));
                    assert!(head.starts_with(&sentence), "{path}: {head}");
                    for note in line["notes"].as_array().into_iter().flatten() {
                        let message = note["message"].as_str().unwrap();
                        let what = message.trim_start_matches("the exit status means: ");
                        let is_told = head.contains(what)
                            || head.starts_with('✗') && what == "the run failed"
                            || body.iter().any(|line| line.contains(what))
                            || ["outcome-unknown", "failure-reported"]
                                .contains(&note["note"].as_str().unwrap());
                        assert!(is_told || is_shown(&format!("note: {message}")), "{path}");
                    }
                    assert_eq!(line["passed"], it.exit_code == 0, "{path}");
                }
                _ => assert_eq!(line["exit_code"], it.exit_code, "{path}"),
            }
        }
        if head.contains("plain text, not events") {
            findings.remove("error[empty-stream]");
        }
        let is_finding =
            |line: &&str| line.starts_with("    error[") || line.starts_with("    warning[");
        let shown = body.iter().copied().filter(is_finding);
        let shown: Vec<&str> = shown.map(|line| &line[4..=line.find(']').unwrap()]).collect();
        assert_eq!(
            shown.iter().map(|it| (*it).to_owned()).collect::<BTreeSet<_>>(),
            findings,
            "{path}"
        );
        assert!(shown.is_sorted_by_key(|it| it.starts_with("warning")), "{path}: {shown:?}");
    }
}

/// Goal: our own report keeps its contract.
/// Method: check the json report of every fixture with its profile and schema.
#[test]
fn our_report_conforms() {
    let mut checker = checker(["--profile", "fixtures/profiles/report/profile.json"]);
    for it in printed() {
        let (summary, rules) = judge(it.json.as_bytes(), &mut checker);
        assert_eq!(rules, [], "{}", it.case.path.display());
        let expected = if it.exit_code == 0 { Outcome::Succeeded } else { Outcome::Failed };
        assert_eq!(summary.outcome, expected, "{}", it.case.path.display());
        // A report without its last line is truncated.
        let cut = it.json.trim_end().rfind('\n').unwrap();
        let (_, rules) = judge(&it.json.as_bytes()[..=cut], &mut checker);
        assert_eq!(rules, [Rule::MissingTerminalEvent]);
    }
    let output = program().args(["--report", "json", "fixtures"]).output().unwrap();
    assert_eq!(judge(&output.stdout[..], &mut checker).1, []);
}

//! `--to events`: the normal form, and its own profile.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ndjson_check::{
    Checker, Conversion, Diagnostic, Outcome, Rule, RunFacts, Severity, StreamSummary, To,
};
use serde_json::Value;

use crate::streams::{Case, cases, check, checker, converted, files, run_on, shared, text};

/// The flags that also apply to the normal form of a stream.
const SEVERITIES: [&str; 3] = ["--deny", "--warn", "--allow"];

/// A stream that was converted, and both results.
struct Pair {
    original: StreamSummary,
    found: Vec<Diagnostic>,
    events: String,
    again: StreamSummary,
    found_again: Vec<Diagnostic>,
}

impl Pair {
    fn new(stream: &[u8], own: &mut Checker, events: &mut Checker) -> Self {
        let (original, found) = check(own, stream);
        let text = converted(stream, own, To::Events);
        let (again, found_again) = check(events, text.as_bytes());
        Self { original, found, events: text, again, found_again }
    }
}

/// The checker for the normal form of a case: its own severities.
fn of_events(case: &Case) -> Checker {
    let mut flags = vec!["--profile", "events"];
    let mut own = case.flags.iter().map(String::as_str);
    while let Some(flag) = own.next() {
        if SEVERITIES.contains(&flag) {
            flags.extend([flag, own.next().unwrap()]);
        } else if flag == "--strict" {
            flags.push(flag);
        }
    }
    checker(flags)
}

fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// What a pair of streams must have in common; the differences.
fn differences(pair: &Pair) -> Vec<String> {
    let Pair { original, found, events, again, found_again } = pair;
    let mut wrong = Vec::new();
    let mut same = |what: &str, one: String, other: String| {
        if one != other {
            wrong.push(format!("{what}: {one}, and {other}"));
        }
    };
    same("verdict", format!("{:?}", original.verdict), format!("{:?}", again.verdict));
    same("outcome", format!("{:?}", original.outcome), format!("{:?}", again.outcome));
    let errors = |found: &[Diagnostic]| -> BTreeSet<Rule> {
        let errors = found.iter().filter(|it| it.severity == Severity::Error);
        // The end of the normal form shows it, whatever else the stream lacks.
        errors.map(|it| it.rule).filter(|it| *it != Rule::MissingTerminalEvent).collect()
    };
    same("errors", format!("{:?}", errors(found)), format!("{:?}", errors(found_again)));
    let facts = |facts: &RunFacts| {
        let mut facts = facts.clone();
        // The kinds of calls are known to the normal form, also where none could be.
        facts.files = facts.files.filter(|files| !files.is_empty());
        facts.commands = facts.commands.filter(|commands| commands.total > 0);
        facts.agent_version = None;
        facts
    };
    let (own, other) = (facts(&original.facts), facts(&again.facts));
    same("facts", format!("{own:?}"), format!("{other:?}"));
    same("text", original.text_bytes.to_string(), again.text_bytes.to_string());
    let lines: Vec<Value> = events.lines().map(json).collect();
    same("first", lines[0]["type"].to_string(), "\"session\"".to_owned());
    let is_over = matches!(original.outcome, Outcome::Succeeded | Outcome::Failed);
    let last = if is_over { "\"end\"" } else { "\"cut\"" };
    same("last", lines[lines.len() - 1]["type"].to_string(), last.to_owned());
    let is_known = |it: &&Diagnostic| {
        let line = usize::try_from(it.line.unwrap_or(1)).unwrap();
        let is_new = [Rule::SchemaViolation, Rule::UnknownEvent, Rule::UnknownValue];
        is_new.contains(&it.rule) && lines[line - 1]["type"] != "defect"
    };
    let new: Vec<String> = found_again
        .iter()
        .filter(is_known)
        .map(|it| format!("{}: {}", it.rule, it.message))
        .collect();
    same("new defects", String::new(), new.join(", "));
    wrong
}

/// Goal: whoever reads the normal form learns what the stream shows.
/// Method: every fixture; the result of the check of its normal form.
#[test]
fn the_normal_form_has_the_same_verdict_and_outcome() {
    let (mut checked, mut wrong) = (0, Vec::new());
    let mut kinds = BTreeSet::new();
    for case in cases() {
        let pair = Pair::new(&case.bytes(), &mut case.checker(), &mut of_events(&case));
        kinds.extend(pair.events.lines().map(|it| json(it)["type"].to_string()));
        let name = case.path.display();
        wrong.extend(differences(&pair).into_iter().map(|it| format!("{name}: {it}")));
        checked += 1;
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked > 300 && kinds.len() == 16, "{checked} {kinds:?}");
}

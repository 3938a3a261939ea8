//! `--to events`: the normal form, and its own profile.

use std::collections::BTreeSet;
use std::fs;

use ndjson_check::internals::profile_text;
use ndjson_check::{
    AgentFormat, Checker, Converter, Diagnostic, ExitStatus, Form, FormStyle, Observer, Outcome,
    ProducerExit, Rule, RunFacts, Severity, StreamSummary, Verdict, Written,
};
use serde_json::Value;

use crate::streams::{
    Case, cases, check, checker, converted, files, judge, root, run_on, shared, text,
};

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
        let text = converted(stream, own, Form::Events);
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

/// A saved session may stop midway; a normal form without its end is a defect.
fn stops_midway(verdict: Verdict, outcome: Outcome) -> bool {
    verdict == Verdict::Conforming && outcome == Outcome::Truncated
}

/// Whether a single object names calls that were refused. That there were others is not in the
/// normal form.
fn names_refused_only(summary: &StreamSummary) -> bool {
    summary.format == AgentFormat::Json && summary.call_counts.total > 0
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
    let names_refused_only = names_refused_only(original);
    if !(names_refused_only || stops_midway(original.verdict, original.outcome)) {
        same("verdict", format!("{:?}", original.verdict), format!("{:?}", again.verdict));
    }
    same("outcome", format!("{:?}", original.outcome), format!("{:?}", again.outcome));
    let errors = |found: &[Diagnostic]| -> BTreeSet<Rule> {
        let errors = found.iter().filter(|it| it.severity == Severity::Error);
        // The end of the normal form shows it, whatever else the stream lacks.
        errors.map(|it| it.rule).filter(|it| *it != Rule::MissingTerminalEvent).collect()
    };
    if !names_refused_only {
        same("errors", format!("{:?}", errors(found)), format!("{:?}", errors(found_again)));
    }
    let knows_kinds = original.facts.may_have_written.is_some();
    let facts = |facts: &RunFacts| {
        let mut facts = facts.clone();
        // The kinds of calls are known to the normal form, also where none could be.
        facts.files = facts.files.filter(|files| !files.is_empty());
        facts.commands = facts.commands.filter(|commands| commands.total > 0);
        facts.may_have_written = facts.may_have_written.filter(|_| knows_kinds);
        facts.agent_version = None;
        facts
    };
    let (own, other) = (facts(&original.facts), facts(&again.facts));
    // Each half of the call has a kind.
    if !errors(found).contains(&Rule::CallMismatch) {
        same("facts", format!("{own:?}"), format!("{other:?}"));
    }
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
    assert!(checked > 300 && kinds.len() == 23, "{checked} {kinds:?}");
}

/// Method: every recording that is present.
#[test]
fn recordings_have_the_same_verdict_in_the_normal_form() {
    let Some(folder) = shared("captures") else { return };
    let (mut checked, mut wrong) = (0, Vec::new());
    let (mut own, mut events) = (checker([]), checker(["--profile", "events"]));
    for path in files(&folder, "ndjson") {
        let stream = fs::read(&path).unwrap();
        let pair = Pair::new(&stream, &mut own, &mut events);
        let name = path.display();
        wrong.extend(differences(&pair).into_iter().map(|it| format!("{name}: {it}")));
        checked += 1;
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked > 30, "only {checked}");
}

/// Goal: an exit status that both checks get counts the same in both.
#[test]
fn the_normal_form_has_the_same_verdict_with_an_exit_status() {
    let mut wrong = Vec::new();
    for case in cases() {
        for status in [0, 1] {
            let exit = ProducerExit::from(ExitStatus::Code(status));
            let mut output = Written::new(
                Vec::new(),
                Box::new(Converter::new(
                    Form::Events,
                    FormStyle { is_raw: true, ..FormStyle::default() },
                )),
            );
            let ended = |mut checker: Checker, bytes: &[u8], observer: &mut dyn Observer| {
                let mut check = checker.stream("-");
                check.feed(bytes, observer).unwrap();
                let summary = check.finish(&exit, observer).unwrap();
                let is_exempt = names_refused_only(&summary);
                (summary.verdict, summary.outcome, is_exempt)
            };
            let original = ended(case.checker(), &case.bytes(), &mut output);
            let again = ended(of_events(&case), output.writer().unwrap(), &mut ());
            let is_exempt = original.2 || stops_midway(original.0, original.1);
            if (original.0, original.1) != (again.0, again.1) && !is_exempt {
                wrong.push(format!("{}, {status}: {original:?}, {again:?}", case.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Goal: the answer and the calls of a stream are those of its normal form.
#[test]
fn the_normal_form_has_the_same_answer_and_calls() {
    let mut answers = 0;
    for case in cases() {
        let name = case.path.display();
        let (mut own, mut events) = (case.checker(), of_events(&case));
        let pair = Pair::new(&case.bytes(), &mut own, &mut events);
        let answer = converted(&case.bytes(), &mut own, Form::Answer);
        let again = converted(pair.events.as_bytes(), &mut events, Form::Answer);
        assert_eq!(again, answer, "{name}");
        answers += usize::from(!answer.is_empty());
        // A start without a completion, or the reverse, is a call; a late refusal changes one.
        let is_followed = pair.original.tool_calls.iter().all(|call| call.started_line.is_some());
        let (calls, again) = (pair.original.call_counts, pair.again.call_counts);
        if is_followed && pair.original.rule_counts.is_empty() {
            assert_eq!(calls, again, "{name}");
        }
    }
    assert!(answers > 100, "only {answers}");
}

/// Goal: a text of which a delta is lost comes once, and is counted once.
/// Method: each delta of the last text is lost, in the middle too.
#[test]
fn a_lost_delta_does_not_change_the_text() {
    let folder = root().join("fixtures/rules/schema-violation");
    let path = folder.join("message-null-in-place-of-the-last-delta.ndjson");
    let stream = fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = stream.lines().filter(|it| !it.contains("\"message\":null")).collect();
    for lost in 18..26 {
        let mut event = json(lines[lost]);
        event["message"] = Value::Null;
        let event = event.to_string();
        let mut lines = lines.clone();
        lines[lost] = &event;
        let stream = lines.join("\n") + "\n";
        let pair =
            Pair::new(stream.as_bytes(), &mut checker([]), &mut checker(["--profile", "events"]));
        assert_eq!(differences(&pair), Vec::<String>::new(), "{lost}");
        let texts = pair.events.lines().map(json).filter(|it| it["type"] == "text");
        let texts: Vec<String> = texts.map(|it| it["text"].as_str().unwrap().to_owned()).collect();
        assert_eq!(texts.concat().len() as u64, pair.original.text_bytes, "{lost}");
        assert_eq!(texts.len(), 3, "{lost}");
    }
}

/// Goal: the normal form of the normal form is the same.
#[test]
fn converting_twice_changes_nothing() {
    let mut checked = 0;
    for case in cases().iter().filter(|case| case.path.starts_with("fixtures/agents")) {
        let mut events = of_events(case);
        let pair = Pair::new(&case.bytes(), &mut case.checker(), &mut events);
        // A defect would be one of both streams.
        if !pair.found.is_empty() || !pair.found_again.is_empty() {
            continue;
        }
        let again = converted(pair.events.as_bytes(), &mut events, Form::Events);
        let kinds = |text: &str| -> Vec<(String, String)> {
            let events = text.lines().map(json);
            let lost = ["session_changed", "turn_ended", "usage", "error"];
            let events = events.filter(|it| lost.iter().all(|kind| it["type"] != *kind));
            events.map(|it| (it["type"].to_string(), it["text"].to_string())).collect()
        };
        assert_eq!(kinds(&again), kinds(&pair.events), "{}", case.path.display());
        checked += 1;
    }
    assert!(checked > 100, "only {checked}");
}

/// Goal: the profile finds what is missing in a normal form.
#[test]
fn a_damaged_normal_form_does_not_conform() {
    let stream = fs::read(root().join("fixtures/agents/cursor/plain.ndjson")).unwrap();
    let text = converted(&stream, &mut checker([]), Form::Events);
    let lines: Vec<&str> = text.lines().collect();
    let judged = |lines: &[&str]| {
        let (_, rules) = judge(lines.join("\n").as_bytes(), &mut checker(["--profile", "events"]));
        rules
    };
    assert_eq!(judged(&lines), [Rule::MissingFinalNewline]);
    let without = |kind: &str| -> Vec<&str> {
        let kind = format!("{{\"type\":\"{kind}\"");
        lines.iter().copied().filter(|line| !line.starts_with(&kind)).collect()
    };
    assert!(judged(&without("session")).contains(&Rule::MissingSessionStart));
    assert!(judged(&without("end")).contains(&Rule::MissingTerminalEvent));
    assert!(judged(&without("call_started")).contains(&Rule::CompletionWithoutStart));
    let rule = r#"{"type":"defect","rule":"No such rule","severity":"error","message":"x"}"#;
    let mut with_rule = lines.clone();
    with_rule.insert(1, rule);
    assert!(judged(&with_rule).contains(&Rule::SchemaViolation));
    let defect = rule.replace("No such rule", "call-mismatch");
    with_rule[1] = &defect;
    assert!(judged(&with_rule).contains(&Rule::CallMismatch));
}

/// Goal: the schema is closed and knows every kind of call.
#[test]
fn the_schema_knows_every_name() {
    let output = run_on(&["schema", "--profile", "events"], b"");
    let schema = json(&text(&output.stdout));
    let names = |definition: &str| -> Vec<String> {
        let names = schema["$defs"][definition]["enum"].as_array().unwrap();
        names.iter().map(|it| it.as_str().unwrap().to_owned()).collect()
    };
    let profile = json(profile_text("events").unwrap());
    let tags = profile["tags"]["documented"].as_array().unwrap();
    assert_eq!(schema["oneOf"].as_array().unwrap().len(), tags.len());
    for tag in tags {
        let definition = &schema["$defs"][tag.as_str().unwrap()];
        assert_eq!(definition["additionalProperties"], false, "{tag}");
        let page = fs::read_to_string(root().join("docs/convert.md")).unwrap();
        assert!(page.contains(&format!("| `{}` |", tag.as_str().unwrap())), "{tag}");
    }
    let actions = profile["calls"]["actions"]["rules"].as_array().unwrap();
    let kinds: Vec<&str> = actions.iter().map(|it| it["kind"].as_str().unwrap()).collect();
    assert_eq!(names("kind"), kinds);
}

/// Goal: the form has all arguments that the agent wrote, as an object, and exit statuses.
/// Method: every call of Cursor and Codex in the fixtures, compared with its line.
#[test]
fn arguments_and_exit_statuses_are_those_of_the_agent() {
    let (mut arguments, mut exit_codes) = (0, 0);
    for case in cases().iter().filter(|case| ["cursor", "codex"].contains(&case.folder())) {
        let bytes = case.bytes();
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        for event in converted(&bytes[..], &mut case.checker(), Form::Events).lines().map(json) {
            let line = event["line"].as_u64().and_then(|line| usize::try_from(line).ok());
            let Some(line) = line.and_then(|line| lines.get(line - 1)) else { continue };
            let Ok(raw) = serde_json::from_slice::<Value>(line) else { continue };
            let tool_call = raw["tool_call"].as_object().into_iter().flatten();
            let tool = tool_call.filter(|(key, _)| key.ends_with("ToolCall")).map(|(_, it)| it);
            let tool = tool.chain([&raw["item"]]).next().unwrap();
            let args = &tool["args"];
            let known = args.pointer("/args").filter(|it| it.is_object()).unwrap_or(args);
            if event["type"] == "call_started" && known.is_object() {
                assert_eq!(&event["arguments"], known, "{}", case.path.display());
                arguments += 1;
            }
            let places = ["/exit_code", "/result/success/exitCode", "/result/failure/exitCode"];
            let exit_code = places.iter().find_map(|place| tool.pointer(place)?.as_i64());
            if event["type"] == "call_completed" {
                assert_eq!(event["exit_code"].as_i64(), exit_code, "{}", case.path.display());
                exit_codes += usize::from(exit_code.is_some());
            }
        }
    }
    assert!(arguments > 80 && exit_codes > 25, "{arguments} {exit_codes}");
}

//! What the profiles of all agents promise, compared with their fixtures and with recordings.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use ndjson_check::internals::profile_names;
use ndjson_check::{Checker, Event, EventKind, Form, Observer, Outcome, Rule, Verdict};
use serde_json::Value;

use crate::streams::{
    Case, cases, checker, converted, files, inherited, judge, program, root, run_on, shared, text,
};

/// The agent whose fixture it is.
fn agent(case: &Case) -> Option<&str> {
    let below = case.path.strip_prefix("fixtures/agents").ok()?;
    below.iter().next()?.to_str()
}

/// The fixtures of agents.
fn of_agents() -> impl Iterator<Item = (String, Case)> {
    cases().into_iter().filter_map(|case| Some((agent(&case)?.to_owned(), case)))
}

/// The lines of a json report, without the last one.
fn report(flags: &[&str], path: &Path) -> Vec<Value> {
    report_of_many(flags, &[path.to_owned()])
}

fn report_of_many(flags: &[&str], paths: &[PathBuf]) -> Vec<Value> {
    let output = program().args(["--report", "json"]).args(flags).args(paths).output().unwrap();
    let reported = text(&output.stdout);
    assert_eq!(text(&output.stderr), "", "{paths:?}");
    let mut lines: Vec<Value> =
        reported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.pop();
    lines
}

/// Goal: real streams of every agent are judged as their index says.
/// Method: `agents.tsv` says for each recording its profile, verdict, outcome and rules, written by
/// hand from the index and the file itself; the program finds the profile, and gets it by name.
#[test]
fn recordings_of_agents_are_judged_as_their_index_says() {
    let table = fs::read_to_string(root().join("tests/it/agents.tsv")).unwrap();
    let mut rows = BTreeMap::new();
    for row in table.lines() {
        let [name, profile, verdict, outcome, rules] = row.split('\t').collect::<Vec<_>>()[..]
        else {
            panic!("not five columns: {row}");
        };
        let rules: BTreeSet<&str> = rules.split(',').filter(|it| *it != "-").collect();
        assert!(rows.insert(name, (profile, verdict, outcome, rules)).is_none(), "{name} twice");
    }
    let Some(folder) = shared("captures/other-agents") else { return };
    for path in files(&folder, "ndjson") {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let row = rows.remove(name).unwrap_or_else(|| panic!("{name} has no row in agents.tsv"));
        for profile in ["auto", row.0] {
            let lines = report(&["--profile", profile], &path);
            let stream = lines.last().unwrap();
            let reported = |key: &str| stream[key].as_str().unwrap();
            let rules =
                stream["rule_counts"].as_object().unwrap().keys().map(String::as_str).collect();
            let judged = (reported("profile"), reported("verdict"), reported("outcome"), rules);
            assert_eq!(judged, row, "{name}, --profile {profile}");
        }
    }
    assert!(rows.is_empty(), "rows without a recording: {:?}", rows.keys());
}

/// Fixtures that do not show their agent.
const UNKNOWABLE: [&str; 3] = [
    // The run failed at once: its only event is an error like many others'.
    "fixtures/agents/command-code/failed-early.ndjson",
    "fixtures/agents/grok/failed-run.ndjson",
    // An object over many lines: no line is an event.
    "fixtures/agents/openhands/before-2026-05.ndjson",
];

/// Fixtures that the latest version of the agent could have written: they are judged as its.
const LIKE_THE_LATEST: [&str; 3] = [
    "fixtures/agents/opencode/cut.ndjson",
    "fixtures/agents/opencode/only-a-start.ndjson",
    "fixtures/agents/opencode/step-not-finished.ndjson",
];

/// Goal: no user has to name the profile.
/// Method: the reports of every fixture, with the profile's name and without, are the same. One
/// process takes all fixtures of an agent that need no other flag.
#[test]
fn fixtures_are_recognised_and_judged_the_same() {
    let mut unknowable = BTreeSet::from(UNKNOWABLE);
    let mut without_flags: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for (agent, case) in of_agents().filter(|(agent, _)| agent != DEFAULT) {
        let name = &*case.path.to_str().unwrap().replace('\\', "/");
        let at = case.flags.iter().position(|it| it == "--profile").unwrap();
        assert_eq!(case.flags[at + 1], agent, "{name}");
        let mut flags: Vec<&str> = case.flags.iter().map(String::as_str).collect();
        let named = flags.clone();
        flags.drain(at..at + 2);
        if unknowable.remove(name) || BY_NAME.contains(&&*agent) {
            let json = program().args(flags).args(["--report", "json"]).arg(&case.path).output();
            let output = json.unwrap();
            // Without an event there is nothing that could be another agent's.
            let has_no_event = text(&output.stdout).contains("\"events\":0,");
            assert!(output.status.code() == Some(2) || has_no_event, "{name}");
            continue;
        }
        if LIKE_THE_LATEST.contains(&name) {
            let found = report(&flags, &case.path);
            assert_eq!(found.last().unwrap()["profile"], "opencode-2", "{name}");
        } else if flags.is_empty() {
            without_flags.entry(agent).or_default().push(case.path);
        } else {
            let found = report(&flags, &case.path);
            assert_eq!(found, report(&named, &case.path), "{name}");
            assert_eq!(found.last().unwrap()["profile"], *agent, "{name}");
        }
    }
    for (agent, paths) in without_flags {
        let found = report_of_many(&[], &paths);
        assert_eq!(found, report_of_many(&["--profile", &agent], &paths), "{agent}");
        let streams: Vec<&Value> = found.iter().filter(|it| it["type"] == "stream").collect();
        assert_eq!(streams.len(), paths.len(), "{agent}");
        assert!(streams.iter().all(|it| it["profile"] == *agent), "{agent}: {streams:#?}");
    }
    assert!(unknowable.is_empty(), "gone: {unknowable:?}");
}

/// The profile of a stream without events.
const DEFAULT: &str = "cursor";

/// The profile that fits every stream of objects.
const ANY_AGENT: &str = "jsonl";

/// The profiles that accept streams of several agents, and are only used by their names.
const BY_NAME: [&str; 2] = ["claude-like", ANY_AGENT];

/// The profile of what conversions write; `events.rs` has its tests.
const NORMAL_FORM: &str = "events";

/// Goal: nobody takes one agent's stream for another's.
/// Method: every fixture that is all right, held against every other profile, named by hand.
#[test]
fn no_profile_accepts_the_streams_of_another() {
    let mut checkers: BTreeMap<&str, Checker> =
        profile_names().map(|name| (name, checker(["--profile", name]))).collect();
    let (mut accepted, mut checked) = (Vec::new(), BTreeMap::new());
    for (own, case) in of_agents() {
        let bytes = case.bytes();
        let (summary, rules) = judge(&bytes[..], checkers.get_mut(own.as_str()).unwrap());
        if summary.outcome != Outcome::Succeeded || !rules.is_empty() {
            continue;
        }
        if BY_NAME.contains(&&*own) {
            checked.insert(own, 1);
            continue;
        }
        *checked.entry(own.clone()).or_insert(0) += 1;
        let others =
            checkers.iter_mut().filter(|(name, _)| **name != own && !BY_NAME.contains(name));
        for (name, checker) in others {
            let (summary, rules) = judge(&bytes[..], checker);
            if summary.verdict != Verdict::NonConforming && !rules.contains(&Rule::WrongProfile) {
                accepted.push(format!("{name} accepts {}: {rules:?}", case.path.display()));
            }
        }
    }
    assert!(accepted.is_empty(), "{}", accepted.join("\n"));
    checked.insert(NORMAL_FORM.to_owned(), 0);
    let unchecked: Vec<_> = checkers.keys().filter(|it| !checked.contains_key(**it)).collect();
    assert!(unchecked.is_empty(), "no good fixture of {unchecked:?}");
}

/// Goal: `empty-answer` and `--to answer` say the same.
/// Method: every fixture of a run of an agent that succeeded. An answer as a value needs no text.
#[test]
fn an_answer_is_called_empty_where_none_is_printed() {
    let (mut empty, mut given) = (0, 0);
    for case in cases().into_iter().filter(|case| !case.path.starts_with("fixtures/profiles")) {
        let mut checker = case.checker();
        let bytes = case.bytes();
        let (summary, rules) = judge(&bytes[..], &mut checker);
        let shows_text = inherited(&summary.profile, "text")["rules"].is_array();
        let is_value = summary.facts.structured.is_some();
        // The agent lost the answer, and the text before is shown in its place.
        let is_lost = case.path.ends_with("empty-final-text.ndjson")
            || case.path.ends_with("droid/final-text-empty.ndjson")
            || case.path.ends_with("gemini/quiet-after-call.ndjson");
        // A command of the agent itself has no answer.
        let has_none = case.path.ends_with("claude/cleared-conversation.ndjson");
        let is_exempt = is_value || is_lost || has_none;
        if summary.outcome != Outcome::Succeeded || !shows_text || is_exempt {
            continue;
        }
        let answer = converted(&bytes, &mut checker, Form::Answer);
        let is_called_empty = rules.contains(&Rule::EmptyAnswer);
        assert_eq!(
            answer.trim().is_empty(),
            is_called_empty,
            "{}: {answer:?}",
            case.path.display()
        );
        *(if is_called_empty { &mut empty } else { &mut given }) += 1;
    }
    assert!(empty > 5 && given > 200, "{empty} empty, {given} given");
}

/// As short as a text may be for its repetition to be no chance.
const TEXT_BYTES: usize = 20;

/// How often each text of this length is in one of these, at most.
fn most<'a>(texts: impl IntoIterator<Item = &'a str>) -> BTreeMap<&'a [u8], usize> {
    let mut most = BTreeMap::new();
    for text in texts {
        let mut counts = BTreeMap::new();
        for window in text.as_bytes().windows(TEXT_BYTES) {
            *counts.entry(window).or_insert(0) += 1;
        }
        for (window, count) in counts {
            let known = most.entry(window).or_insert(0);
            *known = count.max(*known);
        }
    }
    most
}

/// The events of a stream.
fn events(stream: &[u8]) -> Vec<Value> {
    stream.split(|it| *it == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// Every string in a JSON value.
fn strings<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(all) => all.iter().for_each(|it| strings(it, found)),
        Value::Object(all) => all.values().for_each(|it| strings(it, found)),
        _ => {}
    }
}

/// A transcript without the lines of actions.
fn without_actions(transcript: &str) -> String {
    let is_text = |line: &&str| !(line.starts_with('[') && line.ends_with("]\n"));
    transcript.split_inclusive('\n').filter(is_text).collect()
}

/// Streams in which a text is printed twice for a reason.
const SAID_TWICE: [&str; 11] = [
    // The agent answers more than once, or writes calls that are alike as text.
    "fixtures/agents/acp/own-turn-after-a-subagent.ndjson",
    "fixtures/agents/cline/team.ndjson",
    "fixtures/agents/gptme/failed-tool.ndjson",
    "fixtures/agents/gptme/prints-json.ndjson",
    "fixtures/agents/gptme/tools.ndjson",
    "fixtures/agents/kimi-code/goal-turn-budget.ndjson",
    "fixtures/agents/kimi/command-still-runs.ndjson",
    "fixtures/agents/kolega/goal-not-met.ndjson",
    "fixtures/agents/qwen/background-subagent.ndjson",
    // The first half was abandoned, and the transcript says so.
    "fixtures/agents/letta/retried-answer.ndjson",
    "fixtures/agents/pi/connection-lost-once.ndjson",
];

/// Goal: no text is printed twice, whatever an agent tells twice: in deltas, whole and at the end.
/// Method: what stands twice in the output stands twice in one string of the stream. This knows
/// nothing of profiles: a rule that takes a text for a new one is found. Actions may be alike.
#[test]
fn no_text_is_printed_twice() {
    let (mut twice, mut windows) = (BTreeSet::new(), 0);
    for (_, case) in of_agents() {
        let (stream, mut checker) = (case.bytes(), case.checker());
        let events = events(&stream);
        let mut reported = Vec::new();
        for event in &events {
            strings(event, &mut reported);
        }
        let reported = most(reported);
        for to in [Form::Answer, Form::Transcript] {
            let output = converted(&stream, &mut checker, to);
            let output = without_actions(&output);
            let found = most([&*output]);
            windows += found.len();
            let mut found = found.iter();
            let one = found.find(|(it, count)| **count > *reported.get(*it).unwrap_or(&1));
            if let Some((window, _)) = one {
                let path = case.path.to_str().unwrap().replace('\\', "/");
                let window = String::from_utf8_lossy(window);
                assert!(SAID_TWICE.contains(&&*path), "{path}, {to:?}: {window:?}");
                twice.insert(path);
            }
        }
    }
    assert_eq!(twice.len(), SAID_TWICE.len(), "only {twice:#?}");
    assert!(windows > 1_000, "only {windows}");
}

/// The texts of a stream as the check sees them: an API that the conversions use, too.
#[derive(Default)]
struct Texts(Vec<String>);

impl Observer for Texts {
    fn events(&mut self, events: &[Event<'_>]) {
        for event in events {
            match &event.kind {
                EventKind::TextDelta { text, .. } => self.0.push(text.to_string()),
                EventKind::Text(segment) if !segment.came_in_deltas => {
                    self.0.push(segment.beginning.to_string());
                }
                _ => {}
            }
        }
    }
}

/// Goal: no text is lost either.
/// Method: what the profile calls text, in streams without a defect, is in the transcript,
/// though actions may stand in its midst.
#[test]
fn every_text_is_in_the_transcript() {
    let mut found = BTreeMap::new();
    for (agent, case) in of_agents() {
        let (stream, mut checker) = (case.bytes(), case.checker());
        let (summary, rules) = judge(&stream[..], &mut checker);
        if summary.outcome != Outcome::Succeeded || !rules.is_empty() {
            continue;
        }
        let joined = |text: &str| text.split_whitespace().collect::<String>();
        let shown = converted(&stream, &mut checker, Form::Transcript);
        let transcript = joined(&without_actions(&shown));
        let mut texts = Texts::default();
        checker.check("-", &stream[..], &mut texts).unwrap();
        for text in texts.0 {
            let name = case.path.display();
            assert!(transcript.contains(&joined(&text)), "{name}: {text:?}, not in\n{shown}");
            *found.entry(agent.clone()).or_insert(0) += 1;
        }
    }
    let silent: Vec<_> = profile_names().filter(|it| !found.contains_key(*it)).collect();
    assert_eq!(silent, [NORMAL_FORM, ANY_AGENT, "mcp"], "no text in any good fixture");
}

/// Goal: an agent without a single object says so, once, before anything is read.
#[test]
fn agents_without_a_single_object_have_one_usage_error() {
    let (mut with, mut without) = (Vec::new(), 0);
    for name in profile_names() {
        let output = run_on(&["--profile", name, "--to", "json"], b"");
        let said = text(&output.stderr);
        let has_object = inherited(name, "single_object").is_object();
        if has_object {
            assert!(!said.contains("single object"), "{name}: {said}");
            with.push(name);
            continue;
        }
        without += 1;
        let expected = format!(
            "ndjson-check: standard input: profile {name} has no single object, which --to json \
             and --input-format json need\n"
        );
        assert_eq!(
            (output.status.code(), &said, text(&output.stdout)),
            (Some(2), &expected, String::new()),
            "{name}"
        );
        let output = run_on(&["--profile", name, "--input-format", "json"], b"");
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(2), expected), "{name}");
    }
    assert_eq!(with, ["cursor", "claude", "jan"]);
    assert!(without >= 19, "only {without}");
}

/// Goal: a profile is complete: built in, with a folder and a page.
#[test]
fn profiles_folders_and_pages_are_the_same() {
    let names: BTreeSet<String> = profile_names().map(str::to_owned).collect();
    let folder = root().join("crates/core/src/profile/builtin");
    let entries = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path());
    let folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let with = |file: &str| -> BTreeSet<String> {
        folders.iter().filter(|it| it.join(file).exists()).map(|it| name(it)).collect()
    };
    assert_eq!(folders.iter().map(|it| name(it)).collect::<BTreeSet<_>>(), names);
    assert_eq!(with("profile.json"), names);
    assert_eq!(with("README.md"), names);
}

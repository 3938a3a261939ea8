//! Reasoning, notices and results of calls: what the built-in profiles know.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use ndjson_check::internals::profile_names;
use ndjson_check::{Checker, Event, EventKind, Form, Observer};
use serde_json::Value;

use crate::log::logged;
use crate::streams::{Case, cases, converted, files, program, root, text};

/// Profiles whose fixtures show none: the agent writes none, or no fixture has any.
const NO_RESULTS: [&str; 2] = ["jsonl", "muse"];
const NO_THINKING: [&str; 23] = [
    "acpx",
    "amp",
    "antigravity",
    "claude-session",
    "claude-subagent",
    "codebuddy",
    "codex-rollout",
    "copilot",
    "droid-old",
    "gemini",
    "gptme",
    "grok-cli",
    "hermes",
    "jsonl",
    "junie",
    "kimi-code",
    "letta",
    "mcp",
    "muse",
    "openhands",
    "qwen",
    "qwen-old",
    "vibe-old",
];
const NO_NOTICES: [&str; 10] = [
    "antigravity",
    "claude-like",
    "grok-messages",
    "hermes",
    "jsonl",
    "kimi",
    "kiro",
    "kolega",
    "qoder",
    "qwen-old",
];

/// Goal: each profile knows where its agent's results, reasoning and notices are.
/// Method: the logs of all fixtures of an agent have some, or the agent is listed above; muse has a
/// notice in none.
#[test]
fn the_profiles_know_results_reasoning_and_notices() {
    let mut shown: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for case in cases().iter().filter(|case| case.path.starts_with("fixtures/agents")) {
        let log = logged(&case.bytes(), &mut case.checker(), Form::Text);
        for line in details(&log) {
            let kind = match line {
                _ if line.starts_with("    ") => "results",
                _ if line.starts_with("Thinking: ") => "thinking",
                _ => "notices",
            };
            shown.entry(kind).or_default().insert(case.folder().to_owned());
        }
    }
    for (kind, without) in
        [("results", &NO_RESULTS[..]), ("thinking", &NO_THINKING), ("notices", &NO_NOTICES)]
    {
        let lacks = |name: &&str| !shown[kind].contains(*name);
        // The normal form is no agent's; the test below compares it.
        let agents = profile_names().filter(|name| *name != "events");
        let mut found: Vec<&str> = agents.filter(lacks).collect();
        found.sort_unstable();
        if kind == "notices" {
            found.retain(|name| *name != "muse");
        }
        assert_eq!(found, without, "{kind}");
    }
}

/// The lines of a log that are not actions.
fn details(log: &str) -> Vec<&str> {
    let names = [
        "Thinking: ",
        "Prompt",
        "Retry",
        "Compaction",
        "Question",
        "Permission",
        "Rate limit",
        "Error",
        "Note",
        "    ",
    ];
    log.lines().filter(|line| names.iter().any(|name| line.starts_with(name))).collect()
}

/// Goal: results, reasoning and notices are the same in the normal form.
#[test]
fn the_normal_form_has_the_same_log() {
    let mut events = Checker::builder().profile("events").build().unwrap();
    let mut compared = 0;
    for case in cases().iter().filter(|case| case.path.starts_with("fixtures/agents")) {
        let log = logged(&case.bytes(), &mut case.checker(), Form::Text);
        let normal = converted(&case.bytes(), &mut case.checker(), Form::Events);
        let again = logged(normal.as_bytes(), &mut events, Form::Text);
        assert_eq!(details(&again), details(&log), "{}", case.path.display());
        compared += usize::from(!details(&log).is_empty());
    }
    assert!(compared > 150, "{compared}");
}

/// Agents that wrote no reasoning in the lab, although the model sent some.
const SILENT: [&str; 4] = ["gemini", "grok-cli", "kimi-code", "opencode"];

/// Goal: what real agents write of a known thought is shown once.
/// Method: the recordings of the lab, whose model thinks the same each time.
#[test]
fn the_lab_s_thought_is_shown_once() {
    let mut agents = 0;
    for path in files(&root().join("lab/recordings"), "ndjson") {
        if !path.ends_with("think.ndjson") {
            continue;
        }
        let mut checker = Checker::builder().build().unwrap();
        let log = logged(&fs::read(&path).unwrap(), &mut checker, Form::Text);
        let thoughts: Vec<&str> = log.lines().filter(|it| it.starts_with("Thinking")).collect();
        let name = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
        let is_silent = SILENT.iter().any(|agent| name.starts_with(&format!("{agent}-")));
        let expected = if is_silent { &[][..] } else { &["Thinking: I think therefore."] };
        assert_eq!(thoughts, expected, "{name}");
        agents += usize::from(!is_silent);
    }
    assert!(agents >= 8, "only {agents}");
}

/// The results of calls, by their ids.
#[derive(Default)]
struct Results(Vec<(String, String)>);

impl Observer for Results {
    fn events(&mut self, events: &[Event<'_>]) {
        for event in events {
            if let EventKind::CallCompleted(completed) = &event.kind {
                let result = completed.result.clone().map(Cow::into_owned);
                self.0.extend(result.map(|it| (completed.call.id.to_string(), it)));
            }
        }
    }
}

fn of_agent(name: &str) -> impl Iterator<Item = (Case, Vec<Value>)> + use<'_> {
    cases().into_iter().filter(move |case| case.folder() == name).map(|case| {
        let bytes = case.bytes();
        let lines = bytes.split(|byte| *byte == b'\n');
        let events = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        (case, events)
    })
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The texts of an array of blocks.
fn blocks(value: &Value) -> String {
    let texts = value.as_array().into_iter().flatten().filter_map(|it| it["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

/// A result of a call as a short script reads it: the id and the text.
fn naive_results(agent: &str, event: &Value) -> Vec<(String, String)> {
    match agent {
        "claude" if event["type"] == "user" => {
            let content = event["message"]["content"].as_array().into_iter().flatten();
            let results = content.filter(|it| it["type"] == "tool_result");
            let text = |it: &Value| string(&it["content"]) + &blocks(&it["content"]);
            results.map(|it| (string(&it["tool_use_id"]), text(it))).collect()
        }
        "cursor" if event["subtype"] == "completed" => {
            let shell = &event["tool_call"]["shellToolCall"]["result"];
            let read = &event["tool_call"]["readToolCall"]["result"]["success"]["content"];
            let output = ["success", "failure"].map(|it| string(&shell[it]["interleavedOutput"]));
            vec![(string(&event["call_id"]), output.concat() + &string(read))]
        }
        "codex" if event["type"] == "item.completed" => {
            let item = &event["item"];
            let mcp = blocks(&item["result"]["content"]);
            vec![(string(&item["id"]), string(&item["aggregated_output"]) + &mcp)]
        }
        _ => Vec::new(),
    }
}

/// Goal: the texts are those that a short script finds.
#[test]
fn results_are_what_a_naive_reading_finds() {
    for (agent, least) in [("claude", 20), ("cursor", 20), ("codex", 4)] {
        let mut compared = 0;
        for (case, events) in of_agent(agent) {
            let mut results = Results::default();
            case.checker().check("-", &case.bytes()[..], &mut results).unwrap();
            let naive = events.iter().flat_map(|event| naive_results(agent, event));
            for (id, text) in naive.filter(|(_, text)| !text.is_empty()) {
                let found: Vec<&str> =
                    results.0.iter().filter(|it| it.0 == id).map(|it| &*it.1).collect();
                assert!(
                    found.contains(&&*text),
                    "{}: {id}: {text:?}, {found:?}",
                    case.path.display()
                );
                compared += 1;
            }
        }
        assert!(compared >= least, "{agent}: {compared}");
    }
}

/// The reasoning of a stream as a short script reads it.
fn naive_thinking(agent: &str, events: &[Value]) -> Vec<String> {
    let of = |event: &Value| match agent {
        "claude" if event["type"] == "assistant" => {
            let content = event["message"]["content"].as_array().into_iter().flatten();
            content.map(|it| string(&it["thinking"]) + "\n").collect()
        }
        "cursor" if event["type"] == "thinking" => match event["subtype"].as_str() {
            Some("delta") => string(&event["text"]),
            _ => "\n".to_owned(),
        },
        "codex" if event["item"]["type"] == "reasoning" => string(&event["item"]["text"]) + "\n",
        _ => String::new(),
    };
    let all: String = events.iter().map(of).collect();
    let lines = all.lines().filter(|line| !line.trim().is_empty());
    lines.map(str::to_owned).collect()
}

/// The lines of reasoning in a log: the first has a name in front, and those that follow it are
/// indented.
fn reasoning(log: &str) -> Vec<&str> {
    let mut is_open = false;
    let of_reasoning = |line| {
        let first = str::strip_prefix(line, "Thinking: ");
        let found = first.or_else(|| str::strip_prefix(line, "    ").filter(|_| is_open));
        is_open = found.is_some();
        found
    };
    log.lines().filter_map(of_reasoning).collect()
}

/// Goal: the thoughts are those that a short script finds, each once.
#[test]
fn reasoning_is_what_a_naive_reading_finds() {
    for (agent, least) in [("claude", 1), ("cursor", 1), ("codex", 1)] {
        let mut compared = 0;
        for (case, events) in of_agent(agent) {
            let log = logged(&case.bytes(), &mut case.checker(), Form::Text);
            let shown = reasoning(&log);
            assert_eq!(shown, naive_thinking(agent, &events), "{}", case.path.display());
            compared += usize::from(!shown.is_empty());
        }
        assert!(compared >= least, "{agent}: {compared}");
    }
}

/// The sizes of the texts in the normal form: whole ones, and open ones by their deltas.
fn segments(events: &[Value]) -> Vec<u64> {
    let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
    for event in events {
        let Some(segment) = event["segment"].as_u64() else { continue };
        let size = sizes.entry(segment).or_default();
        match event["type"].as_str().unwrap() {
            "text_delta" => *size += event["text"].as_str().unwrap().len() as u64,
            "text" => *size = event["bytes"].as_u64().unwrap(),
            "text_abandoned" => *size = 0,
            other => panic!("{other}"),
        }
    }
    sizes.into_values().filter(|size| *size > 0).collect()
}

/// Goal: the sizes of text and reasoning are those of the normal form.
#[test]
fn text_and_reasoning_are_measured() {
    let mut with_reasoning = 0;
    for case in cases() {
        if case.flags.iter().any(|flag| !flag.starts_with("--profile") && flag.starts_with('-')) {
            continue;
        }
        let profile = case.flags.get(1).map_or("auto", String::as_str);
        let mut checker = Checker::builder().profile(profile).stats(true).build().unwrap();
        let Ok(summary) = checker.check("-", &*case.bytes(), &mut ()) else { continue };
        let stats = summary.stats.unwrap();
        let shown = converted(&case.bytes(), &mut checker, Form::Events);
        let shown = shown.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let shown: Vec<Value> = shown.collect();
        let texts = segments(&shown);
        let found = (stats.texts, stats.text_bytes, stats.longest_text_bytes);
        let longest = texts.iter().max().copied().unwrap_or_default();
        let expected = (texts.len() as u64, texts.iter().sum(), longest);
        assert_eq!(found, expected, "{}", case.path.display());
        let mut blocks: BTreeMap<u64, u64> = BTreeMap::new();
        for event in shown.iter().filter(|it| it["type"] == "thinking_delta") {
            let bytes = event["text"].as_str().unwrap().len() as u64;
            *blocks.entry(event["block"].as_u64().unwrap()).or_default() += bytes;
        }
        let found = (stats.reasoning_blocks, stats.reasoning_bytes, stats.longest_reasoning_bytes);
        let longest = blocks.values().max().copied().unwrap_or_default();
        let expected = (blocks.len() as u64, blocks.values().sum(), longest);
        assert_eq!(found, expected, "{}", case.path.display());
        with_reasoning += u64::from(!blocks.is_empty());
    }
    assert!(with_reasoning > 20, "only {with_reasoning}");
    let path = "fixtures/agents/cursor/plain.ndjson";
    let human = text(&program().args(["--stats", path]).output().unwrap().stdout);
    assert!(human.contains("; 4 texts, 203 bytes\n"), "{human}");
}

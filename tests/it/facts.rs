//! What the profiles say about runs, compared with a plain reading of the streams.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use ndjson_check::RunFacts;
use ndjson_check::internals::{profile_names, profile_text};
use serde_json::Value;

use crate::readers::{Reported, reader};
use crate::streams::{check, checker, files, root, shared};

/// Profiles without a reader.
const NOT_READ: [&str; 15] = [
    "amp",
    "claude-session",
    "claude-subagent",
    "codebuddy",
    "codex-old",
    "codex-rollout",
    "command-code",
    "copilot",
    "events",
    "grok-messages",
    "kimi",
    "kimi-code",
    "muse",
    "qwen",
    "qwen-old",
];

/// The objects of a stream: one in each line that has one, or one in the whole file.
fn events(stream: &[u8]) -> Vec<Value> {
    match serde_json::from_slice(stream) {
        Ok(Value::Array(elements)) => return elements,
        Ok(object) => return vec![object],
        Err(_) => {}
    }
    let object = |line: &[u8]| {
        let mut starts = (0..line.len()).filter(|at| line[*at] == b'{');
        starts.find_map(|start| serde_json::from_slice(&line[start..]).ok())
    };
    stream.split(|byte| *byte == b'\n').filter_map(object).collect()
}

/// The fixtures and recordings of a profile.
fn streams(profile: &str) -> Vec<PathBuf> {
    let mut found = files(&root().join("fixtures/agents").join(profile), "ndjson");
    for folder in fs::read_dir(root().join("lab/recordings")).unwrap() {
        let folder = folder.unwrap().path();
        let (agent, _) = folder.file_name().unwrap().to_str().unwrap().rsplit_once('-').unwrap();
        if agent == profile {
            found.extend(files(&folder, "ndjson"));
        }
    }
    let Some(captures) = shared("captures") else { return found };
    if profile == "cursor" {
        let of_others = captures.join("other-agents");
        found.extend(
            files(&captures, "ndjson").into_iter().filter(|it| !it.starts_with(&of_others)),
        );
    }
    for row in fs::read_to_string(root().join("tests/it/agents.tsv")).unwrap().lines() {
        let mut columns = row.split('\t');
        if let (Some(name), Some(of)) = (columns.next(), columns.next())
            && of == profile
        {
            found.push(captures.join("other-agents").join(format!("{name}.ndjson")));
        }
    }
    found
}

fn reported(facts: &RunFacts) -> Reported {
    let count = |number: Option<u64>| number.map(|number| u32::try_from(number).unwrap().into());
    Reported {
        model: facts.model.clone(),
        cost: facts.cost_usd,
        turns: count(facts.turns),
        duration: count(facts.duration_ms),
        input: count(facts.usage.input_tokens),
        cache_read: count(facts.usage.cache_read_tokens),
        cache_write: count(facts.usage.cache_write_tokens),
        output: count(facts.usage.output_tokens),
        reasoning: count(facts.usage.reasoning_tokens),
    }
}

/// Goal: the figures in reports are those of the agent, and what it does not say is unknown.
/// Method: all fixtures and recordings are read a second time, without the profiles.
#[test]
fn facts_are_those_of_the_stream() {
    let mut wrong = Vec::new();
    let mut told_something = BTreeSet::new();
    for profile in profile_names() {
        let Some(reader) = reader(profile) else {
            assert!(NOT_READ.contains(&profile), "no reader for {profile}");
            continue;
        };
        let mut checker = checker(["--profile", profile]);
        for path in streams(profile) {
            // The other parser does not read half of a surrogate pair.
            if path.ends_with("lone-surrogate.ndjson") {
                continue;
            }
            let stream = fs::read(&path).unwrap();
            let mut expected = Reported::default();
            for event in events(&stream) {
                reader(&mut expected, &event);
            }
            let (summary, _) = check(&mut checker, &stream[..]);
            let mut found = reported(&summary.facts);
            for cost in [&mut expected.cost, &mut found.cost].into_iter().flatten() {
                *cost = (*cost * 1e9).round();
            }
            if found != Reported::default() {
                told_something.insert(profile);
            }
            if found != expected {
                wrong.push(format!("{}\n  - {expected:?}\n  + {found:?}", path.display()));
            }
        }
    }
    let wrong_count = wrong.len();
    assert!(wrong.is_empty(), "{wrong_count} streams:\n{}", wrong.join("\n"));
    let silent = ["jsonl", "mcp", "openhands", "vibe", "vibe-old"];
    assert!(silent.iter().all(|profile| !told_something.contains(profile)));
    assert!(told_something.len() >= 17, "only {told_something:?}");
}

/// Goal: policies are written in kinds, so no action may be without one.
#[test]
fn every_action_has_a_kind() {
    let mut missing = Vec::new();
    for name in profile_names() {
        let profile: Value = serde_json::from_str(profile_text(name).unwrap()).unwrap();
        let rules = profile["calls"]["actions"]["rules"].as_array();
        for rule in rules.into_iter().flatten().filter(|rule| rule["kind"].is_null()) {
            missing.push(format!("{name}: {}", rule["tool"]));
        }
    }
    assert!(missing.is_empty(), "actions without a kind:\n{}", missing.join("\n"));
}

/// Goal: Claude's text alone shows that a command goes on in the background, as in the events of
/// its sub-agents.
#[test]
fn a_command_in_the_background_has_no_outcome_yet() {
    for name in ["command-moved-to-background", "moved-to-the-background"] {
        let path = root().join(format!("fixtures/agents/claude/{name}.ndjson"));
        let stream = fs::read_to_string(path).unwrap();
        let counts = |stream: &str| {
            check(&mut checker(["--profile", "claude"]), stream.as_bytes()).0.call_counts
        };
        let without = stream.lines().map(|line| {
            let mut event: Value = serde_json::from_str(line).unwrap();
            event.as_object_mut().unwrap().remove("tool_use_result");
            format!("{event}\n")
        });
        let without: String = without.collect();
        assert!(
            stream.contains("\"backgroundTaskId\"") && !without.contains("\"backgroundTaskId\"")
        );
        assert_eq!(counts(&without), counts(&stream), "{name}");
    }
}

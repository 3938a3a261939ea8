//! Facts of a run, and the rules that rest on them: the language, on both engines.

use std::fs;

use ndjson_check::{CallKind, Checker, EndReason, Rule, StreamSummary};
use serde_json::{Value, json};

use crate::language::{engines, stream};
use crate::streams::{judge, root, run_on, text};

/// What both engines say.
fn judged(profile: &Value, events: &Value) -> (StreamSummary, Vec<Rule>) {
    let bytes = stream(events);
    let [fast, plain] = engines(profile).map(|mut it: Checker| judge(bytes.as_bytes(), &mut it));
    assert_eq!((&fast.0.facts, &fast.1), (&plain.0.facts, &plain.1));
    fast
}

#[test]
fn numbers_are_set_added_and_subtracted() {
    let profile = json!({"facts": [
        {"when": {"/t": "a"}, "set": {"model": ["/none", "/m"]}},
        {"when": {"/t": "b"}, "add": {"turns": 1, "output_tokens": "/out",
            "input_tokens": ["/in", "-/cached"], "cache_read_tokens": "/cached"}},
        {"when": {"/t": "c"}, "each": "/bills", "where": {"/open": {"not": true}},
            "add": {"cost_usd": "/usd"}},
        {"when": {"/t": "z"}, "set": {"duration_ms": "/ms", "error_text": "/oops"}}]});
    let (summary, _) = judged(
        &profile,
        &json!([
            {"t": "a", "m": "m-1"},
            {"t": "b", "in": 10, "cached": 4, "out": 3},
            {"t": "b", "in": 7, "out": -1},
            {"t": "b", "cached": 5, "out": "8"},
            {"t": "c", "bills": [{"usd": 0.25}, {"usd": 9, "open": true}, {"usd": 0.5}]},
            {"t": "z", "ms": 1200.4, "oops": "not shown: the run succeeded"}
        ]),
    );
    let facts = summary.facts;
    assert_eq!(facts.model.as_deref(), Some("m-1"));
    assert_eq!((facts.turns, facts.duration_ms), (Some(3), Some(1200)));
    assert_eq!(facts.cost_usd, Some(0.75));
    let usage = facts.usage;
    assert_eq!((usage.input_tokens, usage.cache_read_tokens), (Some(13), Some(9)));
    assert_eq!((usage.output_tokens, usage.reasoning_tokens), (Some(3), None));
    assert_eq!((facts.reason, facts.error_text), (Some(EndReason::Completed), None));
}

#[test]
fn what_is_not_told_is_unknown() {
    let profile = json!({"facts": [{"when": {"/t": "z"}, "set": {"cost_usd": "/usd"},
        "add": {"input_tokens": ["/in", "/more"]}}]});
    for end in
        [json!({"t": "z"}), json!({"t": "z", "usd": null, "more": 3}), json!({"t": "z", "usd": -1})]
    {
        let facts = judged(&profile, &json!([end])).0.facts;
        assert_eq!((facts.cost_usd, facts.usage.tokens_in()), (None, None), "{end}");
        assert_eq!((facts.files, facts.commands), (None, None));
    }
    let facts = judged(&profile, &json!([{"t": "z", "usd": 0, "in": 0}])).0.facts;
    assert_eq!((facts.cost_usd, facts.usage.tokens_in()), (Some(0.0), Some(0)));
}

#[test]
fn a_failed_run_has_its_reason_and_error() {
    let profile = json!({
        "end": {"rules": [{"outcome": "failure", "when": {"/t": "z", "/bad": true}},
            {"outcome": "success", "when": {"/t": "z"}}],
            "reopen": [{"when": {"/t": "a"}}],
            "exit": {"success": [0], "reason": {"53": "max-turns"}}},
        "facts": [{"when": {"/t": "b"}, "reason": "rate-limit"},
            {"when": {"/t": "z"}, "set": {"error_text": "/why"}}]});
    let failed = json!([{"t": "b"}, {"t": "z", "bad": true, "why": "slow down"}]);
    let facts = judged(&profile, &failed).0.facts;
    assert_eq!(facts.reason, Some(EndReason::RateLimit));
    assert_eq!(facts.error_text.as_deref(), Some("slow down"));
    let recovered =
        json!([{"t": "b"}, {"t": "z", "bad": true, "why": "slow down"}, {"t": "a"}, {"t": "z"}]);
    let facts = judged(&profile, &recovered).0.facts;
    assert_eq!((facts.reason, facts.error_text), (Some(EndReason::Completed), None));
    let silent = json!([{"t": "z", "bad": true}]);
    assert_eq!(judged(&profile, &silent).0.facts.reason, Some(EndReason::Unknown));
}

#[test]
fn the_name_of_a_reason_may_be_in_the_event() {
    let profile = json!({
        "end": {"rules": [{"outcome": "failure", "when": {"/t": "z"}}]},
        "facts": [{"when": {"/t": "z"}, "reason": "/why"}]});
    for (why, reason) in [
        ("billing", EndReason::Billing),
        ("model-not-found", EndReason::ModelNotFound),
        ("no such reason", EndReason::Unknown),
    ] {
        let facts = judged(&profile, &json!([{"t": "z", "why": why}])).0.facts;
        assert_eq!(facts.reason, Some(reason), "{why}");
    }
}

#[test]
fn a_value_is_an_answer_of_the_last_turn() {
    let profile = json!({
        "end": {"rules": [{"outcome": "success", "when": {"/t": "z"}}],
            "reopen": [{"when": {"/t": "a"}}]},
        "facts": [{"when": {"/t": "z"}, "set": {"structured": ["/none", "/value"]}}]});
    let value = json!({"b": [1, {"c": null}], "a": "x"});
    let facts = judged(&profile, &json!([{"t": "z", "value": value}])).0.facts;
    assert_eq!(facts.structured, Some(value.clone()));
    let next = json!([{"t": "z", "value": value}, {"t": "a"}, {"t": "z"}]);
    assert_eq!(judged(&profile, &next).0.facts.structured, None);
    let long = json!([{"t": "z", "value": "x".repeat(70_000)}]);
    assert_eq!(judged(&profile, &long).0.facts.structured, None);
}

/// A profile of calls: `do` starts them, `did` completes them.
fn calls() -> Value {
    json!({
        "tags": {"at": ["/t"], "documented": ["s", "do", "did"]},
        "session": {"start": [{"when": {"/t": "s"}}], "required": false, "directory": "/dir"},
        "calls": {
            "start": [{"when": {"/t": "do"}, "id": ["/id"]}],
            "completion": [{"when": {"/t": "did"}, "id": ["/id"], "outcomes": [
                {"outcome": "denied", "when": {"/how": "denied"}},
                {"outcome": "failed", "when": {"/how": "failed"}},
                {"outcome": "succeeded", "when": {}}]}],
            "tool": [{"value": "/tool"}],
            "arguments": ["/args"],
            "background": {"start": [{"when": {"/t": "do", "/args/wait": false}, "id": ["/id"]}],
                "end": [{"when": {"/t": "over"}, "id": ["/id"]}]},
            "actions": {"rules": [
                {"tool": "save", "kind": "write", "path": true, "detail": ["{/args/file}"]},
                {"tool": "patch", "kind": "write",
                    "files": [{"each": "/args/files", "where": {"/skip": {"not": true}},
                        "value": "/p"}]},
                {"tool": "run", "kind": "command", "detail": ["{/args/line}"]},
                {"tool": "peek", "kind": "command", "polls": true}]}}})
}

/// A call that completes in this way.
fn call(id: u32, tool: &str, args: &Value, how: &str) -> [Value; 2] {
    [
        json!({"t": "do", "id": id, "tool": tool, "args": args}),
        json!({"t": "did", "id": id, "how": how}),
    ]
}

fn with_end(calls: &[[Value; 2]]) -> Value {
    let start = json!({"t": "s", "dir": "/srv/mill/"});
    let end = json!({"t": "z"});
    let events = [start].into_iter().chain(calls.iter().flatten().cloned()).chain([end]);
    events.collect()
}

#[test]
fn changed_files_and_commands_are_counted() {
    let events = with_end(&[
        call(1, "save", &json!({"file": "/srv/mill/a.rs"}), ""),
        call(2, "save", &json!({"file": "/srv/mill/a.rs"}), ""),
        call(3, "save", &json!({"file": "/etc/b"}), "failed"),
        call(
            4,
            "patch",
            &json!({"files": [{"p": "c"}, {"p": "d", "skip": true}, {"p": "/srv/mill/e"}]}),
            "",
        ),
        call(5, "run", &json!({"line": "make"}), "failed"),
        call(6, "run", &json!({"line": "ls"}), ""),
    ]);
    let (summary, rules) = judged(&calls(), &events);
    assert_eq!(rules, []);
    assert_eq!(summary.facts.files.unwrap(), ["a.rs", "c", "e"]);
    let commands = summary.facts.commands.unwrap();
    assert_eq!((commands.total, commands.failed), (2, 1));
    assert_eq!(CallKind::ALL.map(CallKind::name).len(), 11);
}

#[test]
fn equal_calls_in_a_row_are_one_series() {
    let same = |id, args: Value| call(id, "run", &args, "");
    let series: Vec<_> = (0..5).map(|id| same(id, json!({"a": 1, "b": [0, "x"]}))).collect();
    assert_eq!(judged(&calls(), &with_end(&series)).1, [Rule::RepeatedCall]);
    assert_eq!(judged(&calls(), &with_end(&series[1..])).1, []);
    // The order of keys does not count.
    let mut turned = series.clone();
    turned[2][0]["args"] = serde_json::from_str(r#"{"b": [0, "x"], "a": 1}"#).unwrap();
    assert_eq!(judged(&calls(), &with_end(&turned)).1, [Rule::RepeatedCall]);
    // Another tool, or other arguments, end the series.
    for other in [call(9, "save", &json!({"file": "x"}), ""), same(9, json!({"a": 2}))] {
        let mut broken = series.clone();
        broken.insert(2, other);
        assert_eq!(judged(&calls(), &with_end(&broken)).1, []);
    }
    // Two series are reported once each.
    let mut two = series.clone();
    two.push(same(9, json!({})));
    two.extend((10..17).map(|id| same(id, json!({"c": null}))));
    assert_eq!(judged(&calls(), &with_end(&two)).0.rule_counts[&Rule::RepeatedCall], 2);
    let waits: Vec<_> = (0..9).map(|id| call(id, "peek", &json!({}), "")).collect();
    assert_eq!(judged(&calls(), &with_end(&waits)).1, []);
}

#[test]
fn each_denied_call_is_reported_once() {
    let events = with_end(&[
        call(1, "run", &json!({"line": "rm"}), "denied"),
        call(2, "run", &json!({"line": "ls"}), ""),
        call(3, "save", &json!({"file": "x"}), "denied"),
    ]);
    let (summary, rules) = judged(&calls(), &events);
    assert_eq!((rules.len(), summary.rule_counts[&Rule::DeniedCall]), (1, 2));
}

#[test]
fn background_work_without_an_end_is_lost() {
    let [start, did] = call(1, "run", &json!({"line": "serve", "wait": false}), "");
    let (over, end) = (json!({"t": "over", "id": 1}), json!({"t": "z"}));
    let of = |events: &[&Value]| judged(&calls(), &events.iter().copied().cloned().collect()).1;
    let with_over = |rules: Vec<Rule>| {
        rules.into_iter().filter(|it| *it != Rule::UnknownEvent).collect::<Vec<_>>()
    };
    assert_eq!(of(&[&start, &did, &end]), [Rule::BackgroundWorkLost]);
    assert_eq!(with_over(of(&[&start, &did, &over, &end])), []);
    // The run did not succeed: the work is named there.
    assert_eq!(of(&[&start, &did]), [Rule::MissingTerminalEvent]);
}

/// Goal: work that the agent stops while it runs has ended; what it stops when it exits is lost.
#[test]
fn background_work_that_ends_with_the_agent_is_lost() {
    let mut profile = calls();
    let ends = &mut profile["calls"]["background"]["end"];
    ends[0]["only_in_run"] = json!(true);
    profile["end"] = json!({"rules": [{"outcome": "success", "when": {"/t": "z"}}],
        "after": [{"when": {"/t": "over"}}]});
    let [start, did] = call(1, "run", &json!({"line": "serve", "wait": false}), "");
    let (over, end) = (json!({"t": "over", "id": 1}), json!({"t": "z"}));
    let of = |events: &[&Value]| {
        let rules = judged(&profile, &events.iter().copied().cloned().collect()).1;
        rules.contains(&Rule::BackgroundWorkLost)
    };
    assert!(!of(&[&start, &did, &over, &end]));
    assert!(of(&[&start, &did, &end, &over]));
    // The agent went on.
    profile["end"]["reopen"] = json!([{"when": {"/t": "again"}}]);
    let of = |events: &[&Value]| {
        let rules = judged(&profile, &events.iter().copied().cloned().collect()).1;
        rules.contains(&Rule::BackgroundWorkLost)
    };
    assert!(!of(&[&start, &did, &end, &over, &json!({"t": "again"}), &end]));
}

#[test]
fn values_outside_a_documented_set_are_reported_once() {
    let profile = json!({"values": [
        {"when": {"/t": "a"}, "value": "/mode", "known": ["plan", "work"]},
        {"when": {"/t": "b"}, "each": "/parts", "value": "/role", "known": ["user"]}]});
    let rules = |events: Value| judged(&profile, &events).1;
    assert_eq!(
        rules(json!([{"t": "a", "mode": "plan"}, {"t": "a", "mode": 3}, {"t": "a"}, {"t": "z"}])),
        []
    );
    let (summary, _) = judged(
        &profile,
        &json!([{"t": "a", "mode": "yolo"}, {"t": "a", "mode": "yolo"},
        {"t": "b", "parts": [{"role": "user"}, {"role": "yolo"}]}, {"t": "z"}]),
    );
    assert_eq!(summary.rule_counts[&Rule::UnknownValue], 2);
}

/// Goal: the figures have a row for each sub-agent.
/// Method: a recording in which a sub-agent writes two messages, each with 13,114 tokens sent.
#[test]
fn a_sub_agent_has_figures() {
    let stream = fs::read(root().join("fixtures/agents/claude/subagent.ndjson")).unwrap();
    let mut checker = Checker::builder().profile("claude").stats(true).build().unwrap();
    let stats = checker.check("-", &stream[..], &mut ()).unwrap().stats.unwrap();
    let [it] = &stats.sub_agents[..] else { panic!("{:?}", stats.sub_agents) };
    let names = (it.tool.as_deref(), it.detail.as_deref(), it.model.as_deref());
    assert_eq!(names, (Some("Task"), Some("Find the rounding"), Some("claude-example-1")));
    assert_eq!((it.started_line, it.calls), (8, 1));
    assert_eq!(it.input_tokens, Some(2 * 13_114));
    let output = run_on(&["--stats", "--profile", "claude"], &stream);
    assert!(text(&output.stdout).contains("Find the rounding  claude-example-1      1     26 228"));
}

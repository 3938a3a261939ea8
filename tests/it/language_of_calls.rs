//! What the profile language says about calls is what is found.

use ndjson_check::{CallOutcome, Event, EventKind, Observer, Rule};
use serde_json::{Value, json};

use crate::language::{agree, checker, engines, raised, stream};
use crate::streams::judge;

/// Method: one stream; for each key the rule that is raised without it, and none with it.
#[test]
fn calls_may_go_as_the_profile_allows() {
    let calls = json!({
        "start": [{"when": {"/t": "a"}, "id": ["/i"]}],
        "completion": [{"when": {"/t": "b"}, "id": ["/i"],
            "outcomes": [{"outcome": "failed", "when": {"/x": true}}]}],
        "tool": [{"value": "/n"}]});
    let (a, b) = (json!({"t": "a", "i": 1, "n": "read"}), json!({"t": "b", "i": 1, "n": "read"}));
    let (other, z) = (json!({"t": "b", "i": 1, "n": "write"}), json!({"t": "z"}));
    let wrong = json!({"t": "b", "i": 1, "x": true});
    for (place, value, events, rules) in [
        ("/start/0/may_repeat", json!(true), json!([a, a, b, z]), vec![Rule::DuplicateCallStart]),
        (
            "/completion/0/may_repeat",
            json!(true),
            json!([a, b, b, z]),
            vec![Rule::DuplicateCompletion],
        ),
        (
            "/completion/0/without_start",
            json!("call"),
            json!([b, z]),
            vec![Rule::CompletionWithoutStart],
        ),
        (
            "/completion/0/without_start",
            json!("ignore"),
            json!([b, b, z]),
            vec![Rule::CompletionWithoutStart, Rule::DuplicateCompletion],
        ),
        ("/completion/0/tool", json!([]), json!([a, other, z]), vec![Rule::CallMismatch]),
        (
            "/completion/0/tool",
            json!([{"name": "read"}]),
            json!([a, other, z]),
            vec![Rule::CallMismatch],
        ),
        ("/open_at_end", json!("allowed"), json!([a, z]), vec![Rule::UnfinishedCall]),
        ("/open_at_end", json!(["grep", "read"]), json!([a, z]), vec![Rule::UnfinishedCall]),
    ] {
        assert_eq!(raised(&json!({"calls": calls}), &events), rules, "{place}");
        let mut calls = calls.clone();
        let (parent, key) = place.rsplit_once('/').unwrap();
        calls.pointer_mut(parent).unwrap()[key] = value;
        assert_eq!(raised(&json!({"calls": calls}), &events), [], "{place}");
    }
    let mut contradicts = calls.clone();
    contradicts["completion"][0]["outcomes"][0]["is_contradictory"] = json!(true);
    let events = json!([a, wrong, z]);
    assert_eq!(raised(&json!({"calls": calls}), &events), []);
    let rules = [Rule::ContradictoryCompletion];
    assert_eq!(raised(&json!({"calls": contradicts}), &events), rules);
    contradicts["completion"][0]["without_start"] = json!("ignore");
    let events = json!([wrong, a, b, z]);
    assert_eq!(raised(&json!({"calls": contradicts}), &events), []);
}

/// Goal: calls without ids are paired by name and order.
#[test]
fn calls_without_ids_end_in_the_order_of_their_starts() {
    let mut calls = json!({
        "start": [{"when": {"/t": "a"}, "id": ["/n"]}],
        "completion": [{"when": {"/t": "b"}, "id": ["/n"],
            "outcomes": [{"outcome": "failed", "when": {"/x": true}}]}],
        "tool": [{"value": "/n"}]});
    let (a, b) = (json!({"t": "a", "n": "read"}), json!({"t": "b", "n": "read"}));
    let failed = json!({"t": "b", "n": "read", "x": true});
    let (other, z) = (json!({"t": "a", "n": "grep"}), json!({"t": "z"}));
    let two = json!([a, a, failed, b, a, b, z]);
    let rules = [Rule::DuplicateCallStart, Rule::ReusedCallId];
    assert_eq!(raised(&json!({"calls": calls}), &two), rules);
    for half in ["start", "completion"] {
        calls[half][0]["in_order"] = json!(true);
    }
    let profile = json!({"calls": calls});
    assert_eq!(raised(&profile, &two), []);
    let counts = agree(&mut engines(&profile), &stream(&two)).call_counts;
    assert_eq!((counts.total, counts.succeeded, counts.failed, counts.unfinished), (3, 0, 1, 0));
    assert_eq!(raised(&profile, &json!([a, a, b, z])), [Rule::UnfinishedCall]);
    assert_eq!(raised(&profile, &json!([b, a, b, z])), [Rule::CompletionWithoutStart]);
    assert_eq!(
        raised(&profile, &json!([a, other, b, b, z])),
        [Rule::CompletionWithoutStart, Rule::UnfinishedCall]
    );
}

/// Goal: where only some tools may leave calls open, any other open call is reported, and only it.
#[test]
fn a_list_of_tools_says_which_calls_may_be_open() {
    let profile = json!({"calls": {
        "start": [{"when": {"/t": "a"}, "id": ["/i"]}],
        "tool": [{"value": "/n"}],
        "open_at_end": ["shell"]}});
    let (shell, mcp) =
        (json!({"t": "a", "i": 1, "n": "shell"}), json!({"t": "a", "i": 2, "n": "mcp"}));
    let (unnamed, z) = (json!({"t": "a", "i": 3}), json!({"t": "z"}));
    for (events, rules) in [
        (json!([shell, z]), vec![]),
        (json!([shell, mcp, z]), vec![Rule::UnfinishedCall]),
        (json!([unnamed, z]), vec![Rule::UnfinishedCall]),
    ] {
        agree(&mut engines(&profile), &stream(&events));
        assert_eq!(raised(&profile, &events), rules, "{events}");
    }
    let summary = agree(&mut engines(&profile), &stream(&json!([shell, mcp, z])));
    assert_eq!(summary.call_counts.unfinished, 2);
}

/// Goal: beyond what is followed, too, a completion that is a whole call, or no call, completes no
/// other call. Method: one open call more than is followed, and one foreign completion.
#[test]
fn a_whole_call_does_not_complete_a_call_that_is_not_followed() {
    let calls_open_max = 20_000;
    let start = |id: u32| format!("{{\"t\":\"a\",\"i\":{id}}}\n");
    let end = |id: u32| format!("{{\"t\":\"b\",\"i\":{id}}}\n");
    let starts: String = (0..=calls_open_max).map(start).collect();
    let ends: String = (0..calls_open_max).map(end).collect();
    for (without_start, total) in [("call", 20_002), ("ignore", 20_001)] {
        let profile = json!({"calls": {
            "start": [{"when": {"/t": "a"}, "id": ["/i"]}],
            "completion": [{"when": {"/t": "b"}, "id": ["/i"], "without_start": without_start}]}});
        let z = "{\"t\":\"z\"}\n";
        let [good, bad] =
            [calls_open_max, 99_999].map(|last| [&starts, &ends, &end(last), z].concat());
        assert_eq!(judge(good.as_bytes(), &mut checker(&profile)).1, [], "{without_start}");
        let (summary, rules) = judge(bad.as_bytes(), &mut checker(&profile));
        assert_eq!(rules, [Rule::UnfinishedCall], "{without_start}");
        let counts = summary.call_counts;
        assert_eq!((counts.total, counts.unfinished), (total, 1), "{without_start}");
    }
}

/// Goal: a tool that only the start names is the call's all the same, and so the other way round.
#[test]
fn one_half_names_the_tool_for_both() {
    let calls = json!({
        "start": [{"when": {"/t": "a"}, "id": ["/i"]}, {"when": {"/t": "c"}, "id": ["/i"]}],
        "completion": [{"when": {"/t": ["b", "c"]}, "id": ["/i"]}],
        "tool": [{"value": "/n"}, {"value": "^/m"}]});
    let events = json!([
        {"t": "a", "i": 1, "n": "read"}, {"t": "b", "i": 1},
        {"t": "a", "i": 2}, {"t": "b", "i": 2, "n": "write"},
        {"t": "c", "i": 3, "m": "both"}, {"t": "z"}]);
    let (summary, rules) =
        judge(stream(&events).as_bytes(), &mut checker(&json!({"calls": calls})));
    assert_eq!(rules, []);
    let tools: Vec<_> = summary.tool_calls.iter().filter_map(|it| it.tool.as_deref()).collect();
    assert_eq!(tools, ["read", "write", "both"]);
    assert_eq!(summary.call_counts.unknown, 3);
}

/// The outcomes of the calls in the report, after both engines agreed.
fn outcomes(profile: &Value, events: &Value) -> Vec<Option<&'static str>> {
    let summary = agree(&mut engines(profile), &stream(events));
    summary.tool_calls.iter().map(|call| call.outcome.map(CallOutcome::name)).collect()
}

/// Goal: how work in the background ended replaces an outcome that was unknown, and no other.
/// Method: before and after the completion, which does or does not say how the call ended.
#[test]
fn the_end_of_background_work_replaces_an_unknown_outcome() {
    let profile = json!({"calls": {
        "start": [{"when": {"/t": "a"}, "id": ["/i"]}],
        "completion": [{"when": {"/t": "b"}, "id": ["/i"], "outcomes": [
            {"outcome": "unknown", "when": {"/later": true}},
            {"outcome": "rejected", "when": {"/no": true}},
            {"outcome": "succeeded", "when": {}}]}],
        "corrections": [
            {"when": {"/t": "c", "/ok": true}, "id": ["/i"], "outcome": "succeeded"},
            {"when": {"/t": "c", "/ok": false}, "id": ["/i"], "outcome": "failed"}]}});
    let a = json!({"t": "a", "i": 1});
    let done = |members: Value| {
        let mut event = json!({"t": "b", "i": 1});
        let object = event.as_object_mut().unwrap();
        object.extend(members.as_object().cloned().unwrap_or_default());
        event
    };
    let (good, bad) =
        (json!({"t": "c", "i": 1, "ok": true}), json!({"t": "c", "i": 1, "ok": false}));
    let (z, later) = (json!({"t": "z"}), done(json!({"later": true})));
    assert_eq!(outcomes(&profile, &json!([a, later, z])), [Some("unknown")]);
    assert_eq!(outcomes(&profile, &json!([a, later, good, z])), [Some("succeeded")]);
    assert_eq!(outcomes(&profile, &json!([a, later, bad, z])), [Some("failed")]);
    assert_eq!(outcomes(&profile, &json!([a, later, bad, good, z])), [Some("failed")]);
    assert_eq!(outcomes(&profile, &json!([a, bad, later, z])), [Some("unknown")]);
    assert_eq!(outcomes(&profile, &json!([a, done(json!({})), bad, z])), [Some("succeeded")]);
    assert_eq!(
        outcomes(&profile, &json!([a, done(json!({"no": true})), good, z])),
        [Some("rejected")]
    );
    assert_eq!(outcomes(&profile, &json!([bad, z])), [] as [Option<&str>; 0]);
}

/// Goal: a refusal counts wherever the agent reports it.
/// Method: before, with and after the completion; for a call that is never completed; for no call.
#[test]
fn a_refusal_replaces_the_outcome_of_the_call() {
    let profile = json!({"calls": {
        "start": [{"when": {"/t": "a"}, "id": ["/i"]}],
        "completion": [{"when": {"/t": "b"}, "id": ["/i"],
            "outcomes": [{"outcome": "failed", "when": {}}]}],
        "corrections": [
            {"when": {"/t": "c"}, "id": ["/i"], "outcome": "denied"},
            {"when": {"/t": ["b", "z"]}, "each": "/no", "where": {"/why": {"exists": true}},
                "id": ["/i"], "outcome": "rejected"}]}});
    let (a, b, c) =
        (json!({"t": "a", "i": 1}), json!({"t": "b", "i": 1}), json!({"t": "c", "i": 1}));
    let z = json!({"t": "z"});
    let list = json!([{"i": 1}, {"i": 1, "why": "x"}, {"i": 9, "why": "x"}]);
    let (with_b, with_z) = (json!({"t": "b", "i": 1, "no": list}), json!({"t": "z", "no": list}));
    assert_eq!(outcomes(&profile, &json!([a, b, z])), [Some("failed")]);
    assert_eq!(outcomes(&profile, &json!([a, c, b, z])), [Some("denied")]);
    assert_eq!(outcomes(&profile, &json!([a, b, c, z])), [Some("denied")]);
    assert_eq!(outcomes(&profile, &json!([a, with_b, z])), [Some("rejected")]);
    assert_eq!(outcomes(&profile, &json!([a, b, with_z])), [Some("rejected")]);
    assert_eq!(outcomes(&profile, &json!([a, c, z])), [None]);
    assert_eq!(outcomes(&profile, &json!([c, z])), []);
    let summary = agree(&mut engines(&profile), &stream(&json!([a, b, c, z])));
    let counts = summary.call_counts;
    assert_eq!((counts.total, counts.failed, counts.denied), (1, 0, 1));
}

#[derive(Default)]
struct Durations(Vec<Option<u64>>);

impl Observer for Durations {
    fn events(&mut self, events: &[Event<'_>]) {
        for event in events {
            if let EventKind::CallCompleted(completed) = &event.kind {
                self.0.push(completed.duration_ms);
            }
        }
    }
}

/// Goal: the first duration that is one is used, and only that of a completion.
#[test]
fn a_completion_says_how_long_its_call_took() {
    let calls = json!({
        "start": [{"when": {"/t": "a"}, "id": ["/i"]}],
        "completion": [{"when": {"/t": "b"}, "id": ["/i"], "without_start": "call",
            "outcomes": [{"outcome": "succeeded", "when": {}}]}],
        "durations": [{"ms": "/took"}, {"start": "/from", "end": "/to"}]});
    let time = |seconds: &str| format!("2026-11-22T10:00:{seconds}Z");
    for (event, expected) in [
        (json!({"t": "b", "took": 7.5, "from": 1, "to": 2}), &[Some(8)][..]),
        (json!({"t": "b", "from": 1_000, "to": 1_250}), &[Some(250)]),
        (json!({"t": "b", "from": time("01"), "to": time("02.5")}), &[Some(1_500)]),
        (json!({"t": "b", "took": "long", "from": 1, "to": 2}), &[Some(1)]),
        (json!({"t": "b", "took": -1, "from": 2, "to": 1}), &[None]),
        (json!({"t": "b", "from": 1}), &[None]),
        (json!({"t": "b"}), &[None]),
        (json!({"t": "a", "took": 1}), &[]),
    ] {
        let mut event = event;
        event["i"] = json!(1);
        for mut checker in engines(&json!({"calls": calls})) {
            let mut durations = Durations::default();
            let bytes = stream(&json!([event, {"t": "z"}]));
            checker.check("-", bytes.as_bytes(), &mut durations).unwrap();
            assert_eq!(durations.0, expected, "{event}");
        }
    }
}

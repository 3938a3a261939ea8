//! What the profile language says is what is found.

use ndjson_check::{Checker, Json, Outcome, Rule, StreamSummary};
use serde_json::{Value, json};

use crate::streams::{judge, text};

/// A checker with a profile that says this, in addition to a name, the tag `/t` and an end `z`.
fn checker(profile: &Value) -> Checker {
    built(profile, false)
}

/// The two engines, with the same profile.
fn engines(profile: &Value) -> [Checker; 2] {
    [false, true].map(|is_plain| built(profile, is_plain))
}

fn built(profile: &Value, is_plain: bool) -> Checker {
    let mut whole = json!({"name": "x", "title": "x",
        "tags": {"at": ["/t"], "documented": ["a", "b", "c", "d", "s"]},
        "end": {"rules": [{"outcome": "success", "when": {"/t": "z"}}]}});
    for (key, value) in profile.as_object().unwrap() {
        whole[key] = value.clone();
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profile.json");
    std::fs::write(&file, whole.to_string()).unwrap();
    // The file is read here, and is gone afterwards.
    Checker::builder().profile(file.to_str().unwrap()).plain(is_plain).build().unwrap()
}

fn stream(events: &Value) -> String {
    let lines: Vec<String> = events.as_array().unwrap().iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

fn raised(profile: &Value, events: &Value) -> Vec<Rule> {
    judge(stream(events).as_bytes(), &mut checker(profile)).1
}

/// Method: each condition, events for which it holds, and events for which it does not.
#[test]
fn conditions_say_what_they_ask() {
    for (conditions, holds, fails) in [
        (json!({}), json!([{}, {"t": 1}]), json!([])),
        (json!({"/t": "a", "/n": 1}), json!([{"t": "a", "n": 1.0}]), json!([{"t": "a"}, {"n": 1}])),
        (json!({"/t": ["a", true]}), json!([{"t": "a"}, {"t": true}]), json!([{"t": "true"}, {}])),
        (
            json!({"/t": {"not": ["a", 2]}}),
            json!([{}, {"t": null}, {"t": "b"}, {"t": ["a"]}]),
            json!([{"t": "a"}, {"t": 2}]),
        ),
        (json!({"/t": {"not": "a"}}), json!([{}, {"t": "b"}]), json!([{"t": "a"}])),
        (
            json!({"/t": {"matches": "(?i)^No .*file"}}),
            json!([{"t": "no such FILE"}]),
            json!([{}, {"t": "oh no such file"}, {"t": ["no file"]}, {"t": 1}]),
        ),
        (
            json!({"/t": {"empty": true}}),
            json!([{}, {"t": null}, {"t": ""}, {"t": []}, {"t": {}}]),
            json!([{"t": 0}, {"t": false}, {"t": " "}, {"t": [[]]}, {"t": {"": null}}]),
        ),
        (
            json!({"/t": {"empty": false, "not": "a", "matches": "[ab]"}}),
            json!([{"t": "b"}, {"t": "aa"}]),
            json!([{}, {"t": "a"}, {"t": ""}, {"t": "c"}]),
        ),
        (
            json!([{"/t": "a", "/n": 1}, {"/t": "b"}, {"/m": {"exists": true}}]),
            json!([{"t": "a", "n": 1}, {"t": "b"}, {"t": "c", "m": 0}]),
            json!([{"t": "a"}, {"t": "c", "m": null}, {}]),
        ),
    ] {
        let profile = json!({
            "end": {"policy": "none", "rules": [{"outcome": "failure", "when": conditions}]},
            "calls": {"start": [{"when": {}, "each": "/e", "where": conditions, "id": ["/id"]}],
                "open_at_end": "allowed"}});
        let mut engines = engines(&profile);
        for (events, expected) in [(holds, true), (fails, false)] {
            for event in events.as_array().unwrap() {
                let mut element = event.clone();
                element["id"] = json!(1);
                let alone = stream(&json!([event, event, event, event]));
                let within = stream(&json!([{"t": "s", "e": [element]}]));
                let alone = agree(&mut engines, &alone);
                let within = agree(&mut engines, &within);
                assert_eq!(alone.outcome == Outcome::Failed, expected, "{conditions} {event}");
                assert_eq!(within.call_counts.total == 1, expected, "{conditions} {event}");
            }
        }
    }
}

/// The summary of a stream, about which the engines must agree.
fn agree(engines: &mut [Checker; 2], stream: &str) -> StreamSummary {
    let [(summary, fast), (_, plain)] = engines.each_mut().map(|engine| {
        let mut report = Json::new(Vec::new());
        let summary = engine.check("-", stream.as_bytes(), &mut report).unwrap();
        (summary, text(&report.finish().unwrap()))
    });
    assert_eq!(fast, plain, "{stream}");
    summary
}

/// Goal: the memory of lines hides nothing that a condition asks.
/// Method: lines that are alike but for one value, which a condition asks for: at the element, at
/// the event, in an array of conditions, by a regular expression, and whether it is empty.
#[test]
fn what_a_condition_asks_is_never_taken_from_an_earlier_line() {
    let profile = json!({
        "text": {
            "rules": [{"mode": "delta", "when": [{"/t": "b"}, {"/to": {"matches": "^user"}}],
                "each": "/parts",
                "where": [{"/k": "text", "^/by": {"not": ["x", "y"]}}, {"/k": {"empty": true}}],
                "value": "^/v"}],
            "ends_at": [{"when": {"/end": {"empty": false}}}]},
        "session": {"id": ["/s", "/u"], "id_is_constant": false}});
    let mut engines = engines(&profile);
    let event = |t: &str, to: &str, by: &str, k: &str, end: &str| {
        json!({"t": t, "to": to, "by": by, "end": end, "u": by, "v": "text ",
            "parts": [{"k": k, "n": 1}]})
    };
    let like = event("a", "user", "me", "text", "");
    let others = [
        event("b", "user", "me", "text", ""),
        event("a", "nobody", "me", "text", ""),
        event("a", "user", "x", "text", ""),
        event("a", "user", "me", "call", ""),
        event("a", "user", "me", "", ""),
        event("a", "user", "me", "text", "here"),
    ];
    let texts: Vec<u64> = [like.clone()]
        .iter()
        .chain(&others)
        .map(|other| {
            let end = json!({"t": "z"});
            let events = json!([like, like, like, other, like, other, other, like, end]);
            agree(&mut engines, &stream(&events)).text_bytes
        })
        .collect();
    assert_eq!(texts, [40, 40, 25, 25, 25, 40, 40]);
}

/// Method: one stream; for each key the rule that is raised without it, and none with it.
#[test]
fn sessions_may_begin_as_the_profile_allows() {
    let start = json!([{"when": {"/t": "s"}}]);
    let (a, s) = (json!({"t": "a", "s": "1"}), json!({"t": "s", "s": "1"}));
    let (b, z) = (json!({"t": "b", "s": "2"}), json!({"t": "z"}));
    for (key, value, events, rule) in [
        ("required", json!(false), json!([a, z]), Rule::MissingSessionStart),
        ("must_be_first", json!(false), json!([a, s, z]), Rule::LateSessionStart),
        ("must_be_first", json!(["b"]), json!([a, s, z]), Rule::LateSessionStart),
        ("repeats", json!("always"), json!([s, a, s, z]), Rule::DuplicateSessionStart),
        ("id_is_constant", json!(false), json!([s, b, a, z]), Rule::SessionIdChanged),
    ] {
        let session = json!({"start": start, "id": ["/nowhere", "/s"]});
        let found = raised(&json!({"session": session}), &events);
        assert_eq!(found, [rule]);
        let mut session = session;
        session[key] = value;
        assert_eq!(raised(&json!({"session": session}), &events), [], "{key}");
    }
    let session = json!({"start": start, "must_be_first": ["b", "a"]});
    let found = raised(&json!({"session": session}), &json!([{"t": "c"}, a, s, z]));
    assert_eq!(found, [Rule::LateSessionStart]);
}

/// Method: as above.
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
        (
            "/start/0/may_repeat",
            json!(true),
            json!([a, a, b, a, z]),
            vec![Rule::DuplicateCallStart],
        ),
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
    ] {
        // A start that comes again after the completion is open at the end.
        let found = raised(&json!({"calls": calls}), &events);
        let found: Vec<Rule> = found
            .into_iter()
            .filter(|it| rules.contains(it) || place != "/start/0/may_repeat")
            .collect();
        assert_eq!(found, rules, "{place}");
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

#[test]
fn an_event_without_a_tag_is_named_alike_everywhere() {
    let events = json!([{"n": 1}, {"n": 2}, {"t": "z"}]);
    let mut checker = checker(&json!({"tags": {"at": ["/t"], "documented": ["z"]}}));
    let (summary, _) = judge(stream(&events).as_bytes(), &mut checker);
    let notes: Vec<String> = summary.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["the unknown event without a tag occurs 2 times"]);
}

//! What the profile language says is what is found.

use ndjson_check::{Checker, Form, JsonReport, Outcome, Rule, StreamSummary, Written};
use serde_json::{Value, json};

use crate::streams::{converted, judge, text};

/// A checker with a profile that says this, in addition to a name, the tag `/t` and an end `z`.
pub(crate) fn checker(profile: &Value) -> Checker {
    built(profile, false)
}

/// The two engines, with the same profile.
pub(crate) fn engines(profile: &Value) -> [Checker; 2] {
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

pub(crate) fn stream(events: &Value) -> String {
    let lines: Vec<String> = events.as_array().unwrap().iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

pub(crate) fn raised(profile: &Value, events: &Value) -> Vec<Rule> {
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
pub(crate) fn agree(engines: &mut [Checker; 2], stream: &str) -> StreamSummary {
    let [(summary, fast), (_, plain)] = engines.each_mut().map(|engine| {
        let mut report = Written::new(Vec::new(), Box::new(JsonReport::default()));
        let summary = engine.check("-", stream.as_bytes(), &mut report).unwrap();
        (summary, text(report.writer().unwrap()))
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
    // Twice in one turn, unless an event in between allows it.
    let mut session = json!({"start": start, "repeats": "each_turn"});
    let profile = |session: &Value| {
        json!({"session": session, "end": {
        "rules": [{"outcome": "success", "when": {"/t": "z"}}],
        "reopen": [{"when": {"/t": "s"}}]}})
    };
    let (turns, lost) = (json!([s, a, z, s, a, z]), json!([s, a, s, a, z]));
    assert_eq!(raised(&profile(&session), &turns), []);
    assert_eq!(raised(&profile(&session), &lost), [Rule::DuplicateSessionStart]);
    session["may_repeat_after"] = json!([{"when": {"/t": "c"}}]);
    let pause = json!({"t": "c"});
    let events = json!([s, a, pause, s, a, z]);
    agree(&mut engines(&profile(&session)), &stream(&events));
    assert_eq!(raised(&profile(&session), &events), []);
    assert_eq!(raised(&profile(&session), &lost), [Rule::DuplicateSessionStart]);

    let session = json!({"start": start, "must_be_first": ["b", "a"]});
    let found = raised(&json!({"session": session}), &json!([{"t": "c"}, a, s, z]));
    assert_eq!(found, [Rule::LateSessionStart]);
}

#[test]
fn an_event_without_a_tag_is_named_alike_everywhere() {
    let events = json!([{"n": 1}, {"n": 2}, {"t": "z"}]);
    let mut checker = checker(&json!({"tags": {"at": ["/t"], "documented": ["z"]}}));
    let (summary, _) = judge(stream(&events).as_bytes(), &mut checker);
    let notes: Vec<String> = summary.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["the unknown event without a tag occurs 2 times"]);
}

#[test]
fn a_failure_overrides_the_terminal_event() {
    let errors = |severity: &str| json!([{"severity": severity, "when": {"/t": "a"}}]);
    let profile = |severity: &str| {
        json!({"end": {"rules": [{"outcome": "success", "when": {"/t": "z"}}],
            "errors": errors(severity)}})
    };
    let events = json!([{"t": "a"}, {"t": "b"}, {"t": "z"}]);
    let (summary, rules) = judge(stream(&events).as_bytes(), &mut checker(&profile("failure")));
    assert_eq!((summary.outcome, rules), (Outcome::Failed, vec![]));
    let (summary, rules) = judge(stream(&events).as_bytes(), &mut checker(&profile("fatal")));
    assert_eq!((summary.outcome, rules), (Outcome::Failed, vec![Rule::SuccessAfterFatalError]));
    // Also where the end of the stream is the end of the run.
    for policy in ["optional", "none"] {
        let mut profile = profile("failure");
        profile["end"]["policy"] = json!(policy);
        profile["end"]["progress"] = json!([{"outcome": "success", "when": {"/t": "b"}}]);
        let events = json!([{"t": "a"}, {"t": "b"}]);
        let (summary, rules) = judge(stream(&events).as_bytes(), &mut checker(&profile));
        assert_eq!((summary.outcome, rules), (Outcome::Failed, vec![]), "{policy}");
    }
}

#[test]
fn a_tag_that_ends_in_a_star_is_a_prefix() {
    let profile = json!({"tags": {"at": ["/t"], "documented": ["z", "_a*"], "observed": ["b*"]}});
    let events = json!([{"t": "_a"}, {"t": "_ab/c"}, {"t": "b1"}, {"t": "_"}, {"t": "z"}]);
    assert_eq!(raised(&profile, &events), [Rule::UnknownEvent]);
}

/// Goal: an agent may say after its terminal event that the run failed.
#[test]
fn a_failure_after_the_end_is_a_failure() {
    let profile = json!({"end": {
        "rules": [
            {"outcome": "success", "when": {"/t": "z"}},
            {"outcome": "failure", "when": {"/t": "a"}}],
        "after": [{"when": {"/t": ["a", "b", "c"]}}],
        "errors": [
            {"severity": "failure", "when": {"/t": "b"}},
            {"severity": "warning", "when": {"/t": "c"}}]}});
    let z = json!({"t": "z"});
    for (after, outcome) in
        [("a", Outcome::Failed), ("b", Outcome::Failed), ("c", Outcome::Succeeded)]
    {
        let events = json!([z, {"t": after}, {"t": "c"}]);
        let summary = agree(&mut engines(&profile), &stream(&events));
        assert_eq!((summary.outcome, raised(&profile, &events)), (outcome, vec![]), "{after}");
    }
}

/// Goal: the final text may be that of the last part only, and is then compared with it.
#[test]
fn the_final_text_may_begin_in_the_middle() {
    let profile = json!({"text": {
        "rules": [
            {"mode": "delta", "when": {"/t": "d"}, "value": "/x"},
            {"mode": "whole", "when": {"/t": "a"}, "value": "/x"},
            {"mode": "final", "when": {"/t": "z"}, "value": "/x"}],
        "final_may_begin_at": [{"when": {"/t": "b"}}]}});
    let (a, z) = (|x: &str| json!({"t": "a", "x": x}), |x: &str| json!({"t": "z", "x": x}));
    let (b, d) = (json!({"t": "b"}), |x: &str| json!({"t": "d", "x": x}));
    for (events, answer) in [
        (json!([a("One."), b, a("Two."), a("Three."), z("Two.Three.")]), Some("Two.Three.\n")),
        (json!([a("One."), b, a("Two."), z("One.Two.")]), Some("Two.\n")),
        (json!([a("One."), b, a("Two."), b, a("Three."), z("Three.")]), Some("Three.\n")),
        (json!([d("One."), b, d("Two."), z("Two.")]), Some("Two.\n")),
        (json!([a("One."), b, a("Two."), b, a("Three."), z("Two.Three.")]), None),
        (json!([a("One."), b, a("Two."), z("One.")]), None),
        (json!([a("One."), a("Two."), z("Two.")]), None),
        (json!([a("One."), b, z("")]), None),
    ] {
        agree(&mut engines(&profile), &stream(&events));
        let rules = if answer.is_some() { vec![] } else { vec![Rule::FinalTextMismatch] };
        assert_eq!(raised(&profile, &events), rules, "{events}");
        if let Some(answer) = answer {
            let found = converted(stream(&events).as_bytes(), &mut checker(&profile), Form::Answer);
            assert_eq!(found, answer, "{events}");
        }
    }
}

/// Goal: an empty line may be between the texts of one event, also in the answer.
#[test]
fn the_texts_of_one_event_may_be_paragraphs() {
    let profile = json!({"text": {"final": "last", "rules": [
        {"mode": "whole", "when": {"/t": "a"}, "each": "/x", "value": "", "paragraphs": true},
        {"mode": "final", "when": {"/t": "z"}, "value": "/x"}]}});
    for (texts, last, rules) in [
        (json!(["One.", "Two."]), "One.\n\nTwo.", vec![]),
        (json!(["One.", "", "Two."]), "One.\n\n\n\nTwo.\n", vec![]),
        (json!(["One.", ""]), "One.\n\n", vec![]),
        (json!(["One.", "", "Two."]), "One.\n\nTwo.", vec![Rule::FinalTextMismatch]),
        (json!(["One.\n\nTwo."]), "One.\n\nTwo.", vec![]),
        (json!(["One.", "Two."]), "One.Two.", vec![Rule::FinalTextMismatch]),
        (json!(["One."]), "Two.\n\nThree.", vec![Rule::FinalTextMismatch]),
    ] {
        let events = json!([{"t": "a", "x": texts}, {"t": "z", "x": last}]);
        agree(&mut engines(&profile), &stream(&events));
        assert_eq!(raised(&profile, &events), rules, "{events}");
    }
}

/// Goal: a value is an answer, also next to a final text without words; null is none.
#[test]
fn a_structured_answer_is_not_empty() {
    let profile = json!({"text": {"rules": [{"mode": "final", "when": {"/t": "z"}, "value": "/x"}]},
        "facts": [{"when": {"/t": "z"}, "set": {"structured": "/v"}}]});
    for (text, value, rules) in [
        ("", json!({"open": false}), vec![]),
        (" \n", json!(0), vec![]),
        ("", json!(null), vec![Rule::EmptyAnswer]),
        ("\u{a0}", json!(null), vec![Rule::EmptyAnswer]),
    ] {
        let events = json!([{"t": "z", "x": text, "v": value}]);
        agree(&mut engines(&profile), &stream(&events));
        assert_eq!(raised(&profile, &events), rules, "{events}");
    }
}

/// Goal: text that the agent gave up is not in the answer and raises nothing; the transcript says
/// so. Method: the streams as one profile reads them, by both engines.
#[test]
fn abandoned_text_is_not_part_of_the_answer() {
    let profile = json!({
        "tags": {"at": ["/t"], "documented": ["d", "w", "m", "retry"]},
        "text": {
            "rules": [
                {"mode": "delta", "when": {"/t": "d"}, "value": "/x"},
                {"mode": "whole", "when": {"/t": "w"}, "value": "/x", "group": ["/id"]},
                {"mode": "final", "when": {"/t": "z"}, "value": "/x"}],
            "deltas": "closed",
            "ends_at": [{"when": {"/t": "m"}, "group": ["/id"]}],
            "abandoned_at": [{"when": {"/t": "retry"}}],
            "may_repeat_after": [{"when": {"/t": "retry"}}]}});
    let (m, d) = (|id: u32| json!({"t": "m", "id": id}), |x: &str| json!({"t": "d", "x": x}));
    let w = |id: u32, x: &str| json!({"t": "w", "id": id, "x": x});
    let (retry, z) = (json!({"t": "retry"}), json!({"t": "z", "x": "Hello."}));
    let mark = "Hel\n\n[The agent abandoned the text above]\n\nHello.\n";
    for (events, transcript) in [
        (json!([m(1), d("Hel"), d("lo."), w(1, "Hello."), z]), "Hello.\n"),
        (json!([m(1), d("Hel"), retry, m(2), d("Hello."), w(2, "Hello."), z]), mark),
        // The whole is of another message than the deltas.
        (json!([m(1), d("Hel"), w(2, "Hello."), z]), mark),
        // Nothing is open: what was said stays.
        (json!([m(1), d("Hello."), w(1, "Hello."), retry, z]), "Hello.\n"),
        (json!([w(1, "Hello."), retry, w(2, "Hello."), z]), "Hello.\n"),
    ] {
        let stream = stream(&events);
        for mut checker in engines(&profile) {
            assert_eq!(judge(stream.as_bytes(), &mut checker).1, [], "{events}");
        }
        let checker = &mut checker(&profile);
        assert_eq!(converted(stream.as_bytes(), checker, Form::Transcript), transcript, "{events}");
        assert_eq!(converted(stream.as_bytes(), checker, Form::Answer), "Hello.\n", "{events}");
    }
    // Without a new connection, a text that comes again is text.
    let events = json!([w(1, "Ha"), w(2, "Ha"), {"t": "z", "x": "HaHa"}]);
    assert_eq!(raised(&profile, &events), []);
}

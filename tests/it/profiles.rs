//! Profiles are data, in a closed language of their own.

use std::fs;

use ndjson_check::internals::{LANGUAGE, profile_names, profile_text, satisfies};
use ndjson_check::{Checker, JsonReport, Outcome, Rule, RunTotals, Verdict, Written};
use serde_json::{Value, json};

use crate::streams::{cases, checker, files, judge, program, root, run_on, text};

fn profile_files() -> Vec<std::path::PathBuf> {
    let mut found = files(&root().join("crates/core/src/profile/builtin"), "json");
    found.extend(files(&root().join("fixtures/profiles"), "json"));
    found.retain(|path| path.ends_with("profile.json"));
    assert!(found.len() >= 3, "{found:?}");
    found
}

#[test]
fn every_profile_here_is_written_in_the_language() {
    for path in profile_files() {
        let text = fs::read_to_string(&path).unwrap();
        let profile: Value = serde_json::from_str(&text).unwrap();
        // A patch may have nulls: what results from it is checked.
        if profile.get("extends").is_none() {
            assert!(satisfies(LANGUAGE, &text).unwrap(), "{}", path.display());
        }
        Checker::builder().profile(path.to_str().unwrap()).build().unwrap();
    }
    for name in profile_names() {
        let mut checker = Checker::builder().profile(name).build().unwrap();
        assert_eq!(judge(&b""[..], &mut checker).0.profile, name);
        let profile: Value = serde_json::from_str(profile_text(name).unwrap()).unwrap();
        assert!(profile["schema"].is_string(), "{name}");
    }
}

/// Goal: a slip in a profile is named, not ignored.
/// Method: one wrong key or value at each place; the message has its JSON Pointer.
#[test]
fn what_the_language_does_not_know_is_refused_with_its_place() {
    let good = json!({"name": "x", "title": "x", "tags": {"at": ["/t"]}, "text": {}, "calls": {},
        "session": {"start": [{"when": {"/t": "a"}}]}, "end": {"rules": []}});
    let wrong: [(&str, Value); 33] = [
        ("/extra", json!(1)),
        ("/session/star", json!([])),
        ("/session/start/0/wenn", json!({})),
        ("/session/start/0/when/~1t", json!({"exist": true})),
        ("/tags/at/0", json!("t")),
        ("/tags/schemas", json!({"a": "result"})),
        ("/end/policy", json!("maybe")),
        ("/end/rules/0", json!({"outcome": "perhaps", "when": {}})),
        ("/text/rules", json!([{"mode": "delta", "when": {}, "values": "/x", "value": "/x"}])),
        ("/text/deltas", json!("open")),
        ("/text/final", json!("some")),
        ("/text/ends_at_calls", json!("no")),
        ("/session/id", json!([])),
        ("/session/id", json!("/s")),
        ("/session/must_be_first", json!("yes")),
        ("/session/repeats", json!(true)),
        ("/session/start/0/when", json!([{"/t": "a"}, {"^/t": "a"}])),
        ("/session/start/0/when", json!([])),
        ("/session/start/0/when/~1t", json!({"matches": "a("})),
        ("/session/start/0/when/~1t", json!({"not": []})),
        ("/calls", json!({"start": [{"when": {}, "id": ["/i"], "without_start": "call"}]})),
        ("/calls", json!({"completion": [{"when": {}, "id": ["/i"], "without_start": "often"}]})),
        ("/calls", json!({"start": [{"when": {"^/t": 1}, "id": ["/i"]}]})),
        ("/calls", json!({"open_at_end": "warning"})),
        ("/end/progress", json!([{"outcome": "neutral", "when": {}}])),
        ("/end/rules/0", json!({"outcome": "success", "when": {}, "provisional": 1})),
        ("/end/rules/0", json!({"outcome": "suspect", "when": {}})),
        ("/versions", json!({"from": "2.x"})),
        ("/detect", json!([{"where": {}}])),
        ("/noise", json!([{"matches": "[", "is": "banner"}])),
        ("/noise", json!([{"matches": "x", "is": "stdout"}])),
        ("/end/errors", json!([{"severity": "grave", "when": {}}])),
        ("/end/exit", json!({"failure": "all"})),
    ];
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profile.json");
    for (place, value) in wrong {
        let mut profile = good.clone();
        let (parent, key) = place.rsplit_once('/').unwrap();
        match profile.pointer_mut(parent).unwrap() {
            Value::Array(array) => {
                array.truncate(key.parse().unwrap());
                array.push(value);
            }
            parent => parent[key.replace("~1", "/")] = value,
        }
        fs::write(&file, profile.to_string()).unwrap();
        let output = run_on(&["--profile", file.to_str().unwrap()], b"{}\n");
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(place), "{place}: {message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    fs::write(&file, good.to_string()).unwrap();
    let output = run_on(&["--profile", file.to_str().unwrap()], b"{\"t\":\"a\"}\n");
    assert_ne!(output.status.code(), Some(2), "{}", text(&output.stderr));
}

#[test]
fn a_key_that_is_not_known_gets_a_suggestion() {
    let profile = json!({"name": "x", "title": "x", "tags": {"at": ["/t"]}, "sesion": {},
        "calls": {"start": [{"when": {}, "id": ["/i"], "may_repeats": true}], "zzz": 1}});
    let error = refusal(&profile.to_string());
    for reported in [
        "/may_repeats: the property `may_repeats` is not allowed; a similar one is `may_repeat`; ",
        "/calls/zzz: the property `zzz` is not allowed; /sesion",
        "/sesion: the property `sesion` is not allowed; a similar one is `session`",
    ] {
        assert!(error.contains(reported), "{error}");
    }
}

/// What is said of a profile file with this text.
fn refusal(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profile.json");
    fs::write(&file, text).unwrap();
    let error = Checker::builder().profile(file.to_str().unwrap()).build().unwrap_err();
    let error = error.to_string();
    assert!(error.starts_with(&format!("failed to use the profile {}", file.display())), "{error}");
    assert!(!error.contains('\n'), "{error}");
    error
}

/// Goal: no word of a profile is lost without a word.
/// Method: what the reader, or another key, would make useless; the message names its place.
#[test]
fn what_would_have_no_effect_is_refused_with_its_place() {
    let missing = format!("nowhere.json: {}", fs::read("nowhere.json").unwrap_err());
    let actions = |key: &str, text: &str| {
        let rule = json!({"tool": "*", key: ["a", text]});
        json!({"calls": {"actions": {"rules": [{"tool": "*"}, rule]}}})
    };
    let none = |key: &str, value: Value| json!({"end": {"policy": "none", key: value}});
    let rule = json!([{"when": {}}]);
    for (says, reported) in [
        (actions("detail", "{/a/~2b}"), "/calls/actions/rules/1/detail/1: in a path, write ~ as"),
        (actions("detail", "{a}"), "/calls/actions/rules/1/detail/1: a path begins with a slash"),
        (actions("suffix", "{/a"), "/calls/actions/rules/1/suffix/1: `{` without `}`"),
        (actions("suffix", "{/a} }"), "/calls/actions/rules/1/suffix/1: `}` without `{`"),
        (actions("suffix", "}{/a}"), "/calls/actions/rules/1/suffix/1: `}` without `{`"),
        (
            json!({"end": {"exit": {"meaning": {"041": "x"}}}}),
            "/end/exit/meaning: \"041\" does not",
        ),
        (
            json!({"end": {"exit": {"meaning": {"256": "x"}}}}),
            "/end/exit/meaning: \"256\" does not",
        ),
        (json!({"calls": {"tool": [{"known": ["a"]}]}}), "/calls/tool/0: "),
        (json!({"calls": {"tool": [{"key": "/a/~2/*b"}]}}), "/calls/tool/0/key: "),
        (
            none("reopen", rule.clone()),
            "/end/reopen: `reopen` has no effect with the policy `none`",
        ),
        (none("after", rule), "/end/after: `after` has no effect with the policy `none`"),
        (json!({"end": {"only_last_turn_ends": true}}), "/end/only_last_turn_ends: it has no"),
        (
            json!({"text": {"final": "last", "final_may_begin_at": [{"when": {}}]}}),
            "/text/final_may_begin_at: it has an effect only if /text/final is `all`",
        ),
        (
            json!({"session": {"may_repeat_after": [{"when": {}}]}}),
            "/session/may_repeat_after: it has an effect only if /session/repeats is `each_turn`",
        ),
        (
            none("rules", json!([{"outcome": "failure", "provisional": true, "when": {}}])),
            "/end/rules/0: `provisional` has no effect with the policy `none`",
        ),
        (
            json!({"detect": [{"when": [{}, {"/a": {"matches": "("}}]}]}),
            "/detect/0/when/1/~1a/matches: unclosed group",
        ),
        (
            json!({"calls": {"completion": [{"when": {}, "each": "/e", "id": ["/i"],
                "outcomes": [{"outcome": "failed", "when": {"^/a": {"matches": "(?!a)"}}}]}]}}),
            "/calls/completion/0/outcomes/0/when/^~1a/matches: look-around",
        ),
        (
            json!({"end": {"errors": [{"severity": "fatal", "when": {}, "each": "/e",
                "where": {"/a": {"matches": "*"}}}]}}),
            "/end/errors/0/where/~1a/matches: repetition operator missing",
        ),
        (json!({"versions": {"from": "2", "before": "1.9"}}), "/versions/before: `before` ("),
        (json!({"versions": {"from": "1", "before": "1.0"}}), "/versions/before: `before` ("),
        (json!({"versions": {"from": "1.9999999999999999999"}}), "/versions/from: "),
        (json!({"schema": {"type": "objct"}}), "/schema: "),
        (json!({"schema": "nowhere.json"}), &*missing),
    ] {
        let mut profile = json!({"name": "x", "title": "x", "tags": {"at": ["/t"]}});
        profile.as_object_mut().unwrap().extend(says.as_object().unwrap().clone());
        let error = refusal(&profile.to_string());
        assert!(error.contains(reported), "{reported}: {error}");
    }
}

#[test]
fn a_key_that_occurs_twice_is_refused_with_its_place() {
    let head = r#""name": "x", "title": "x", "tags": {"at": ["/t"]}"#;
    let rules = r#"{"outcome": "success", "when": {"/t": "a", "/n": 1, "/t": "b"}}"#;
    for (says, reported) in [
        (r#""end": {}, "end": {"policy": "none"}"#.to_owned(), "/end: the key"),
        (format!(r#""end": {{"rules": [{rules}]}}"#), "/end/rules/0/when/~1t: the key"),
        (r#""schema": {"allOf": [], "allOf": [true]}"#.to_owned(), "/schema/allOf: the key"),
    ] {
        let error = refusal(&format!("{{{head}, {says}}}"));
        assert!(error.contains(reported), "{reported}: {error}");
    }
}

#[test]
fn a_profile_that_is_not_there_is_named() {
    let missing = "no/such/profile.json";
    let error = fs::read(missing).unwrap_err().to_string();
    let (error, _) = error.split_once(" (os error").unwrap();
    for (name, hint) in [("nobody", "no such profile"), (missing, error)] {
        let output = run_on(&["--profile", name], b"{}\n");
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(hint), "{}", text(&output.stderr));
    }
}

/// Goal: the stream of one agent is never taken for that of another.
#[test]
fn the_stream_of_another_profile_does_not_conform() {
    let mut cursor = checker(["--profile", "cursor"]);
    let mut checked = 0;
    for case in cases() {
        if case.path.starts_with("fixtures/profiles/go-test") {
            let (summary, rules) = judge(&case.bytes()[..], &mut cursor);
            assert_eq!(summary.verdict, Verdict::NonConforming);
            assert!(rules.contains(&Rule::MissingTerminalEvent), "{rules:?}");
            checked += 1;
        }
    }
    assert!(checked >= 4, "only {checked}");
}

/// Goal: our own report keeps the contract that we ask of others.
/// Method: the json report of every fixture, checked with its profile and schema.
#[test]
fn our_report_conforms() {
    let mut own = checker(["--profile", "fixtures/profiles/report/profile.json"]);
    let (mut checked, mut succeeded) = (0, 0);
    for case in cases() {
        let mut report = Written::new(Vec::new(), Box::new(JsonReport::default()));
        let summary = case.checker().check("-", &case.bytes()[..], &mut report).unwrap();
        let mut totals = RunTotals::default();
        totals.add(&summary);
        let is_good = summary.verdict == Verdict::Conforming;
        report.end(&totals, u8::from(!is_good));
        let report = report.writer().unwrap();
        let (summary, rules) = judge(&report[..], &mut own);
        assert_eq!(rules, [], "{}: {}", case.path.display(), text(report));
        assert_eq!(summary.outcome == Outcome::Succeeded, is_good, "{}", case.path.display());
        succeeded += usize::from(is_good);
        // A report without its last line is truncated, and we say so.
        let cut = report.trim_ascii_end().iter().rposition(|&byte| byte == b'\n').unwrap();
        let (_, rules) = judge(&report[..=cut], &mut own);
        assert_eq!(rules, [Rule::MissingTerminalEvent]);
        checked += 1;
    }
    assert!(checked > 100 && succeeded > 50, "{succeeded} of {checked}");
    let output = program().args(["--report", "json", "fixtures"]).output().unwrap();
    assert_eq!(judge(&output.stdout[..], &mut own).1, []);
}

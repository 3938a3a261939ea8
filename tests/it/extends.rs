//! A profile file: what it may say, and what it takes from the profile that it extends.

use std::fs;

use ndjson_check::{Checker, Rule};
use serde_json::{Value, json};

use crate::streams::{judge, no_such_file};

/// Goal: all that the language knows can be said at once.
#[test]
fn a_profile_may_say_everything() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profile.json");
    let inner =
        json!([{"/a": {"not": ["x", 1]}, "^/b": {"empty": false}}, {"/c": {"matches": "^c"}}]);
    let profile = json!({
        "name": "x", "title": "x",
        "versions": {"at": "/v", "seen": ["1.2.3-beta"], "from": "1.2", "before": "3"},
        "detect": [{"when": [{"/t": "a"}, {"/u": "a"}]}],
        "tags": {"at": ["/t"], "documented": ["a", ""], "observed": ["b"],
            "schemas": {"a": "#/$defs/a"}},
        "session": {"start": [{"when": {"/t": "a"}}], "id": ["/s", "/session"],
            "required": false, "must_be_first": ["b"], "repeats": "always",
            "id_is_constant": false, "time": "/ms"},
        "calls": {
            "start": [{"when": {}, "each": "/e", "where": inner, "id": ["^/m", "/i"],
                "tool": [{"name": "shell"}], "may_repeat": true}],
            "completion": [{"when": {}, "id": ["/i"], "tool": [], "without_start": "ignore",
                "may_repeat": true, "outcomes": [
                    {"outcome": "failed", "when": {"^/x": true}, "is_contradictory": true}]}],
            "tool": [{"value": "^/n"}, {"key": "^/n/*Call"}],
            "open_at_end": "allowed", "arguments": ["/args"],
            "background": {"start": [{"when": {}, "id": ["/b"]}],
                "end": [{"when": {}, "id": ["/b"]}]},
            "actions": {"rules": [{"tool": "*", "done": "Did", "kind": "write", "polls": true,
                "files": [{"each": "/e", "where": inner, "value": "/v"}]}]},
        },
        "text": {
            "rules": [{"mode": "delta", "when": {}, "each": "/e", "where": inner, "value": "/v",
                "group": ["^/m", "/i"]}],
            "deltas": "closed", "final": "either", "ends_at": [{"when": {"/t": "b"}}],
            "ends_at_calls": false},
        "end": {"policy": "optional",
            "rules": [{"outcome": "neutral", "when": {"/t": "z"}},
                {"outcome": "failure", "provisional": true, "when": {"/t": "y"}}],
            "progress": [{"outcome": "failure", "when": {"/t": "e"}}],
            "reopen": [{"when": {"/t": "a"}}], "after": [{"when": {"/t": "b"}}],
            "errors": [
                {"severity": "fatal", "when": {"/t": "e"}, "each": "/e", "where": inner}],
            "exit": {"success": [0], "failure": "any", "meaning": {"41": "not logged in"}}},
        "facts": [{"when": {"/t": "z"}, "each": "/e", "where": inner, "reason": "auth",
            "set": {"turns": 1, "model": ["/m", "^/n"]},
            "add": {"input_tokens": ["/in", "-/cached"]}}],
        "values": [{"when": {}, "value": "/v", "known": ["a"]}],
        "noise": [{"matches": "^Warning", "is": "stderr", "where": "before"}],
        "single_object": {"schema": "#/$defs/a", "order": ["t"]},
    });
    fs::write(&file, profile.to_string()).unwrap();
    Checker::builder().profile(file.to_str().unwrap()).build().unwrap();
}

/// Writes `base.json`, the profile that the tests extend.
fn with_base() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let base = json!({"name": "base", "title": "b", "schema": {"required": ["t"]},
        "tags": {"at": ["/t"], "documented": ["a", "b"]},
        "session": {"start": [{"when": {"/t": "a"}}], "id": ["/s"], "time": "/ms"},
        "end": {"policy": "none"}});
    written(&folder, "base.json", &base);
    folder
}

fn written(folder: &tempfile::TempDir, name: &str, profile: &Value) -> String {
    let file = folder.path().join(name);
    fs::write(&file, profile.to_string()).unwrap();
    file.to_str().unwrap().to_owned()
}

/// The rules that these events raise by the profile in this file, and the id of the session.
fn raised(file: &str, events: &[Value]) -> (Vec<Rule>, Option<String>) {
    let stream: Vec<String> = events.iter().map(|event| format!("{event}\n")).collect();
    let mut checker = Checker::builder().profile(file).build().unwrap();
    let (summary, rules) = judge(stream.concat().as_bytes(), &mut checker);
    (rules, summary.session_id)
}

/// Goal: a profile names only what it changes in another.
/// Method: objects are merged, arrays replaced, null removes, and the schema is the base's.
#[test]
fn a_profile_extends_another() {
    let folder = with_base();
    let file = |name: &str, profile: &Value| written(&folder, name, profile);
    let start = json!({"t": "a", "s": "1", "x": "2", "ms": 2});
    let later = |tag: &str| json!({"t": tag, "x": "2", "ms": 1});
    let no_tag = json!({"x": "2", "ms": 3});
    let base = file("same.json", &json!({"extends": "base.json"}));
    let child = file(
        "child.json",
        &json!({"extends": "base.json", "name": "child",
        "session": {"id": ["/x", "/s"], "time": null}, "tags": {"documented": ["a", "c"]}}),
    );
    let without = file(
        "without.json",
        &json!({"extends": "child.json", "name": "grandchild", "schema": null}),
    );
    let (back, unknown) = (Rule::TimestampWentBackwards, Rule::UnknownEvent);
    let events = [start.clone(), later("b"), no_tag.clone()];
    let found = [Rule::SchemaViolation, Rule::UnknownEvent, back];
    assert_eq!(raised(&base, &events).0, [Rule::SchemaViolation, back]);
    assert_eq!(raised(&child, &events).0, found[..2]);
    assert_eq!(raised(&child, &[start.clone(), later("c")]), (vec![], Some("2".to_owned())));
    assert_eq!(raised(&without, &[start.clone(), later("c"), no_tag]).0, [unknown]);

    let ours = file("ours.json", &json!({"extends": "cursor", "end": {"policy": "none"}}));
    let events = [json!({"type": "system", "subtype": "init"})];
    let found = raised(&ours, &events).0;
    assert!(found.contains(&Rule::SchemaViolation), "{found:?}");
    assert!(!found.contains(&Rule::MissingTerminalEvent), "{found:?}");
    // A null in a schema is the schema's.
    let schema = json!({"properties": {"u": {"const": null}}});
    let child = file("child.json", &json!({"extends": "base.json", "schema": schema}));
    let event = |u: Value| json!({"t": "a", "s": "1", "u": u});
    assert_eq!(raised(&child, &[event(Value::Null)]).0, []);
    assert_eq!(raised(&child, &[event(json!(1))]).0, [Rule::SchemaViolation]);
}

/// Goal: a file without end is an error, not all the memory.
#[test]
fn a_file_that_is_too_large_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.json");
    fs::File::create(&path).unwrap().set_len((64 << 20) + 1).unwrap();
    let error = Checker::builder().schema_file(&path).unwrap_err().to_string();
    assert!(error.ends_with("the file is larger than 64 MiB"), "{error}");
}

#[test]
fn a_faulty_extension_names_its_place() {
    let folder = with_base();
    let file = |name: &str, profile: &Value| written(&folder, name, profile);
    file("bad.json", &json!({"extends": "base.json", "noise": [{"matches": "(", "is": "banner"}]}));
    file("lost.json", &json!({"extends": "base.json", "schema": "nowhere.json"}));
    let lost = format!("nowhere.json: {}", no_such_file());
    for (profile, hints) in [
        (json!({"extends": "round.json"}), ["round.json: more", "extend one another"]),
        (json!({"extends": "unknown"}), ["round.json: /extends: ", "unknown, and no such profile"]),
        (json!({"extends": "claud"}), ["round.json: /extends: ", "a similar one is `claude`"]),
        (json!({"extends": 1}), ["round.json: /extends: ", "a string"]),
        (json!({"extends": "base.json", "tags": null}), ["round.json: the profile: ", "tags"]),
        (json!({"extends": "base.json", "boundarys": null}), ["round.json: /boundarys: null", ""]),
        (
            json!({"extends": "base.json", "session": {"directory": null}}),
            ["/session/directory: null", ""],
        ),
        (json!({"extends": "base.json", "end": {"after": null}}), ["/end/after: null", ""]),
        (
            json!({"extends": "bad.json"}),
            ["/noise/0/matches: unclosed group, inherited", "bad.json"],
        ),
        (json!({"extends": "lost.json"}), ["lost.json: /schema: ", &*lost]),
    ] {
        let file = file("round.json", &profile);
        let error = Checker::builder().profile(&file).build().unwrap_err().to_string();
        assert!(hints.iter().all(|hint| error.contains(hint)), "{error}");
    }
}

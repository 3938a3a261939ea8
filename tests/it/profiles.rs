//! Profiles are data, in a closed language of their own.

use std::fs;

use ndjson_check::event::Node;
use ndjson_check::facts::Reader;
use ndjson_check::profile::{LANGUAGE, Profile};
use ndjson_check::rule::Rule;
use ndjson_check::schema::Schema;
use ndjson_check::verdict::Verdict;
use serde_json::{Value, json};

use crate::streams::{cases, contract, files, judge, root, run_on, text};

fn profile_files() -> Vec<std::path::PathBuf> {
    let mut found = files(&root().join("src/profiles"), "json");
    found.extend(files(&root().join("fixtures/profiles"), "json"));
    found.retain(|path| path.ends_with("profile.json"));
    assert!(found.len() >= 3, "{found:?}");
    found
}

#[test]
fn every_profile_here_is_written_in_the_language() {
    let language: Value = serde_json::from_str(LANGUAGE).unwrap();
    let language = Schema::compile("the language", &language).unwrap();
    for path in profile_files() {
        let profile: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        // A patch may hold nulls: what is made of it is held against the language.
        if profile.get("extends").is_none() {
            assert_eq!(language.violations(&profile).unwrap(), [], "{}", path.display());
        }
        Profile::load(path.to_str().unwrap()).unwrap();
    }
    for name in Profile::names() {
        let (profile, schema) = Profile::load(name).unwrap();
        assert_eq!(profile.name, name);
        assert!(schema.is_some());
    }
}

/// Goal: a slip in a profile is named, not ignored.
/// Method: one wrong key or value at each place; the message has its JSON Pointer.
#[test]
fn what_the_language_does_not_know_is_refused_with_its_place() {
    let good = json!({"name": "x", "title": "x", "tag": ["/t"],
        "session": {"start": [{"when": {"/t": "a"}}]}, "terminal": {"rules": []}});
    let wrong: [(&str, Value); 30] = [
        ("/extra", json!(1)),
        ("/session/star", json!([])),
        ("/session/start/0/wenn", json!({})),
        ("/session/start/0/when/~1t", json!({"exist": true})),
        ("/tag/0", json!("t")),
        ("/terminal/policy", json!("maybe")),
        ("/terminal/rules/0", json!({"outcome": "perhaps", "when": {}})),
        ("/text", json!([{"mode": "delta", "when": {}, "values": "/x", "value": "/x"}])),
        ("/text_groups", json!("many")),
        ("/text_deltas", json!("open")),
        ("/final_is", json!("some")),
        ("/calls_end_text", json!("no")),
        ("/session/id", json!([])),
        ("/session/first", json!("yes")),
        ("/session/start/0/when", json!([{"/t": "a"}, {"^/t": "a"}])),
        ("/session/start/0/when", json!([])),
        ("/session/start/0/when/~1t", json!({"matches": "a("})),
        ("/session/start/0/when/~1t", json!({"not": []})),
        ("/calls", json!({"start": [{"when": {}, "id": ["/i"], "alone": true}]})),
        ("/calls", json!({"completion": [{"when": {}, "id": ["/i"], "alone": "often"}]})),
        ("/calls", json!({"start": [{"when": {"^/t": 1}, "id": ["/i"]}]})),
        ("/calls", json!({"open_at_end": "warning"})),
        ("/terminal/verdict", json!([{"outcome": "neutral", "when": {}}])),
        ("/terminal/rules/0", json!({"outcome": "success", "when": {}, "suspect": 1})),
        ("/versions", json!({"from": "2.x"})),
        ("/fingerprint", json!([{"where": {}}])),
        ("/noise", json!([{"matches": "[", "is": "banner"}])),
        ("/noise", json!([{"matches": "x", "is": "stdout"}])),
        ("/errors", json!([{"severity": "grave", "when": {}}])),
        ("/exit", json!({"failure": "all"})),
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

/// What is said of a profile file with this text.
fn refusal(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profile.json");
    fs::write(&file, text).unwrap();
    let error = Profile::load(file.to_str().unwrap()).unwrap_err().to_string();
    assert!(error.starts_with(&format!("failed to use the profile {}", file.display())), "{error}");
    assert!(!error.contains('\n'), "{error}");
    error
}

/// Goal: no word of a profile is lost without a word.
/// Method: what the reader, or another key, would make of no effect; its place is told.
#[test]
fn what_would_have_no_effect_is_refused_with_its_place() {
    let actions = |key: &str, text: &str| {
        let rule = json!({"tool": "*", key: ["a", text]});
        json!({"calls": {"actions": {"rules": [{"tool": "*"}, rule]}}})
    };
    let none = |key: &str, value: Value| json!({"terminal": {"policy": "none", key: value}});
    let rule = json!([{"when": {}}]);
    for (says, told) in [
        (actions("detail", "{/a/~2b}"), "/calls/actions/rules/1/detail/1: in a path ~ is"),
        (actions("detail", "{a}"), "/calls/actions/rules/1/detail/1: a path begins with a slash"),
        (actions("figures", "{/a"), "/calls/actions/rules/1/figures/1: a brace is not closed"),
        (actions("figures", "{/a} }"), "/calls/actions/rules/1/figures/1: a brace is closed"),
        (actions("figures", "}{/a}"), "/calls/actions/rules/1/figures/1: a brace is closed"),
        (json!({"exit": {"meaning": {"041": "x"}}}), "/exit/meaning: \"041\" does not"),
        (json!({"exit": {"meaning": {"256": "x"}}}), "/exit/meaning: \"256\" does not"),
        (json!({"calls": {"tool": [{"known": ["a"]}]}}), "/calls/tool/0: "),
        (json!({"calls": {"tool": [{"key": "/a/~2/*b"}]}}), "/calls/tool/0/key: "),
        (json!({"session": {"before": ["a"]}}), "/session/before: nothing comes before"),
        (none("reopen", rule.clone()), "/terminal/reopen: with the policy none"),
        (none("after", rule), "/terminal/after: with the policy none"),
        (
            none("rules", json!([{"outcome": "failure", "suspect": true, "when": {}}])),
            "/terminal/rules/0: with the policy none",
        ),
        (none("rules", json!([{"outcome": "suspect", "when": {}}])), "/terminal/rules/0: with"),
        (json!({"versions": {"from": "2", "before": "1.9"}}), "/versions/before: no version is"),
        (json!({"versions": {"from": "1", "before": "1.0"}}), "/versions/before: no version is"),
        (json!({"versions": {"from": "1.9999999999999999999"}}), "/versions/from: "),
        (json!({"schema": {"type": "objct"}}), "/schema: "),
        (json!({"schema": "nowhere.json"}), "nowhere.json: No such file"),
    ] {
        let mut profile = json!({"name": "x", "title": "x", "tag": ["/t"]});
        profile.as_object_mut().unwrap().extend(says.as_object().unwrap().clone());
        let error = refusal(&profile.to_string());
        assert!(error.contains(told), "{told}: {error}");
    }
}

#[test]
fn a_key_that_occurs_twice_is_refused_with_its_place() {
    let head = r#""name": "x", "title": "x", "tag": ["/t"]"#;
    let rules = r#"{"outcome": "success", "when": {"/t": "a", "/n": 1, "/t": "b"}}"#;
    for (says, told) in [
        (r#""terminal": {}, "terminal": {"policy": "none"}"#.to_owned(), "/terminal: the key"),
        (format!(r#""terminal": {{"rules": [{rules}]}}"#), "/terminal/rules/0/when/~1t: the key"),
        (r#""schema": {"allOf": [], "allOf": [true]}"#.to_owned(), "/schema/allOf: the key"),
    ] {
        let error = refusal(&format!("{{{head}, {says}}}"));
        assert!(error.contains(told), "{told}: {error}");
    }
}

/// Goal: all that the language knows can be said at once.
#[test]
fn a_profile_may_say_everything() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profile.json");
    let inner =
        json!([{"/a": {"not": ["x", 1]}, "^/b": {"empty": false}}, {"/c": {"matches": "^c"}}]);
    let profile = json!({
        "name": "x", "title": "x", "tag": ["/t"],
        "versions": {"at": "/v", "seen": ["1.2.3-beta"], "from": "1.2", "before": "3"},
        "fingerprint": [{"when": [{"/t": "a"}, {"/u": "a"}]}],
        "events": {"documented": ["a", ""]},
        "session": {"start": [{"when": {"/t": "a"}}], "id": ["/s", "/session"], "required": false,
            "first": false, "repeats": true, "constant": false},
        "calls": {
            "start": [{"when": {}, "each": "/e", "where": inner, "id": ["^/m", "/i"],
                "tool": [{"name": "shell"}], "repeat": true}],
            "completion": [{"when": {}, "id": ["/i"], "tool": [], "alone": "ignored",
                "repeat": true, "outcomes": [
                    {"outcome": "failed", "when": {"^/x": true}, "contradicts": true}]}],
            "tool": [{"value": "^/n"}, {"key": "^/n/*Call"}],
            "open_at_end": "allowed",
            "actions": {"rules": [{"tool": "*", "done": "Did"}]},
        },
        "text": [{"mode": "delta", "when": {}, "each": "/e", "where": inner, "value": "/v",
            "group": ["^/m", "/i"]}],
        "text_groups": "parallel", "text_deltas": "closed", "calls_end_text": false,
        "final_is": "either",
        "terminal": {"policy": "optional",
            "rules": [{"outcome": "neutral", "when": {"/t": "z"}},
                {"outcome": "failure", "suspect": true, "when": {"/t": "y"}}],
            "verdict": [{"outcome": "failure", "when": {"/t": "e"}}],
            "reopen": [{"when": {"/t": "a"}}], "after": [{"when": {"/t": "b"}}]},
        "errors": [{"severity": "fatal", "when": {"/t": "e"}, "each": "/e", "where": inner}],
        "noise": [{"matches": "^Warning", "is": "stderr", "where": "before"}],
        "exit": {"success": [0], "failure": "any", "meaning": {"41": "not logged in"}},
    });
    fs::write(&file, profile.to_string()).unwrap();
    let (profile, schema) = Profile::load(file.to_str().unwrap()).unwrap();
    assert!(schema.is_none());
    assert_eq!(profile.session.id.len(), 2);
    assert_eq!(profile.exit.meaning[&41], "not logged in");
}

/// Goal: a profile may be what another is, but for a few words.
/// Method: objects are merged, arrays replaced, null removes, and the schema is the base's.
#[test]
fn a_profile_extends_another() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, profile: &Value| {
        let file = folder.path().join(name);
        fs::write(&file, profile.to_string()).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let base = json!({"name": "base", "title": "b", "tag": ["/t"],
        "schema": {"required": ["t"]}, "time": "/ms",
        "session": {"start": [{"when": {"/t": "a"}}], "id": "/s"},
        "events": {"documented": ["a", "b"]}});
    file("base.json", &base);
    let child = json!({"extends": "base.json", "name": "child", "time": null,
        "session": {"id": ["/x", "/s"]}, "events": {"documented": ["c"]}});
    let (profile, schema) = Profile::load(&file("child.json", &child)).unwrap();
    assert_eq!((profile.name.as_str(), profile.title.as_str()), ("child", "b"));
    assert_eq!(profile.events.documented, ["c"]);
    assert_eq!((profile.session.start.len(), profile.session.id.len()), (1, 2));
    assert!(profile.time.is_none() && !schema.unwrap().is_valid(&json!({})));

    let without = json!({"extends": "child.json", "name": "grandchild", "schema": null});
    let (profile, schema) = Profile::load(&file("without.json", &without)).unwrap();
    assert!(schema.is_none() && profile.events.documented == ["c"]);
    let ours = json!({"extends": "cursor", "name": "mine", "terminal": {"policy": "none"}});
    let (profile, schema) = Profile::load(&file("ours.json", &ours)).unwrap();
    assert!(schema.unwrap().is_built_in() && !profile.terminal.rules.is_empty());

    file("bad.json", &json!({"extends": "base.json", "noise": [{"matches": "(", "is": "banner"}]}));
    file("lost.json", &json!({"extends": "base.json", "schema": "nowhere.json"}));
    for (profile, hints) in [
        (json!({"extends": "round.json"}), ["round.json: more", "extend one another"]),
        (json!({"extends": "nobody"}), ["round.json: /extends: ", "nobody, and no such profile"]),
        (json!({"extends": "claud"}), ["round.json: /extends: ", "a similar one is claude"]),
        (json!({"extends": 1}), ["round.json: /extends: ", "a string"]),
        (json!({"extends": "base.json", "tag": null}), ["round.json: the profile: ", "tag"]),
        (json!({"extends": "base.json", "boundarys": null}), ["round.json: /boundarys: null", ""]),
        (json!({"extends": "base.json", "session": {"first": null}}), ["/session/first: null", ""]),
        (json!({"extends": "base.json", "exit": {"failure": null}}), ["/exit/failure: null", ""]),
        (
            json!({"extends": "bad.json"}),
            ["/noise/0/matches: unclosed group, inherited", "bad.json"],
        ),
        (json!({"extends": "lost.json"}), ["lost.json: /schema: ", "nowhere.json: No such file"]),
    ] {
        let error = Profile::load(&file("round.json", &profile)).unwrap_err().to_string();
        assert!(hints.iter().all(|hint| error.contains(hint)), "{error}");
    }
    // A null in a schema is the schema's.
    let schema = json!({"properties": {"u": {"const": null}}});
    let child = json!({"extends": "base.json", "schema": schema});
    let (_, loaded) = Profile::load(&file("child.json", &child)).unwrap();
    assert_eq!(loaded.unwrap().document(), schema);
}

#[test]
fn a_profile_that_is_not_there_is_named() {
    for (name, hint) in [("nobody", "built in: cursor"), ("no/such/profile.json", "No such file")] {
        let output = run_on(&["--profile", name], b"{}\n");
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(hint), "{}", text(&output.stderr));
    }
}

/// Goal: nobody takes one producer's stream for another's.
#[test]
fn the_stream_of_another_profile_does_not_conform() {
    let cursor = contract([]);
    let mut checked = 0;
    for case in cases() {
        if case.path.starts_with("fixtures/profiles/go-test") && case.folder() == "go-test" {
            let (summary, rules) = judge(&case.bytes()[..], &cursor);
            assert_eq!(summary.verdict, Verdict::NonConforming);
            assert!(rules.contains(&Rule::MissingTerminalEvent), "{rules:?}");
            checked += 1;
        }
    }
    assert!(checked >= 4, "only {checked}");
}

/// Goal: what streams are full of is read once for all lines that are alike.
#[test]
fn deltas_are_repeatable_also_in_groups() {
    let profile = Profile::load("fixtures/profiles/mixed/profile.json").unwrap().0;
    let mut reader = Reader::new(&profile);
    let mut is_repeatable = |event: &Value| reader.plan(Node::Tree(event)).is_repeatable();
    assert!(is_repeatable(&json!({"at": "bit", "from": "a", "no": 1, "text": "x"})));
    assert!(is_repeatable(&json!({"at": "text", "from": null, "text": "x"})));
    assert!(!is_repeatable(&json!({"at": "bit", "from": "a", "no": 1})));
    assert!(!is_repeatable(&json!({"at": "mood", "well": true})));
    assert!(!is_repeatable(&json!({"at": "over"})));
}

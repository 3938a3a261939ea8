//! Profiles are data, in a closed language of their own.

use std::fs;

use ndjson_check::check::verdict::{Outcome, Verdict};
use ndjson_check::facts::Reader;
use ndjson_check::json::schema::Schema;
use ndjson_check::profile::{LANGUAGE, Profile};
use ndjson_check::rules::Rule;
use ndjson_check::stream::event::Node;
use serde_json::{Value, json};

use crate::streams::{cases, contract, files, judge, program, root, run_on, text};

fn profile_files() -> Vec<std::path::PathBuf> {
    let mut found = files(&root().join("src/profile/builtin"), "json");
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
        ("/end/verdict", json!([{"outcome": "neutral", "when": {}}])),
        ("/end/rules/0", json!({"outcome": "success", "when": {}, "suspect": 1})),
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
    for told in [
        "/may_repeats: the property `may_repeats` is not allowed; a similar one is may_repeat; ",
        "/calls/zzz: the property `zzz` is not allowed; /sesion",
        "/sesion: the property `sesion` is not allowed; a similar one is session",
    ] {
        assert!(error.contains(told), "{error}");
    }
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
    let none = |key: &str, value: Value| json!({"end": {"policy": "none", key: value}});
    let rule = json!([{"when": {}}]);
    for (says, told) in [
        (actions("detail", "{/a/~2b}"), "/calls/actions/rules/1/detail/1: in a path ~ is"),
        (actions("detail", "{a}"), "/calls/actions/rules/1/detail/1: a path begins with a slash"),
        (actions("suffix", "{/a"), "/calls/actions/rules/1/suffix/1: a brace is not closed"),
        (actions("suffix", "{/a} }"), "/calls/actions/rules/1/suffix/1: a brace is closed"),
        (actions("suffix", "}{/a}"), "/calls/actions/rules/1/suffix/1: a brace is closed"),
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
        (none("reopen", rule.clone()), "/end/reopen: with the policy none"),
        (none("after", rule), "/end/after: with the policy none"),
        (
            none("rules", json!([{"outcome": "failure", "suspect": true, "when": {}}])),
            "/end/rules/0: with the policy none",
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
        (json!({"versions": {"from": "2", "before": "1.9"}}), "/versions/before: no version is"),
        (json!({"versions": {"from": "1", "before": "1.0"}}), "/versions/before: no version is"),
        (json!({"versions": {"from": "1.9999999999999999999"}}), "/versions/from: "),
        (json!({"schema": {"type": "objct"}}), "/schema: "),
        (json!({"schema": "nowhere.json"}), "nowhere.json: No such file"),
    ] {
        let mut profile = json!({"name": "x", "title": "x", "tags": {"at": ["/t"]}});
        profile.as_object_mut().unwrap().extend(says.as_object().unwrap().clone());
        let error = refusal(&profile.to_string());
        assert!(error.contains(told), "{told}: {error}");
    }
}

#[test]
fn a_key_that_occurs_twice_is_refused_with_its_place() {
    let head = r#""name": "x", "title": "x", "tags": {"at": ["/t"]}"#;
    let rules = r#"{"outcome": "success", "when": {"/t": "a", "/n": 1, "/t": "b"}}"#;
    for (says, told) in [
        (r#""end": {}, "end": {"policy": "none"}"#.to_owned(), "/end: the key"),
        (format!(r#""end": {{"rules": [{rules}]}}"#), "/end/rules/0/when/~1t: the key"),
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
        "name": "x", "title": "x",
        "versions": {"at": "/v", "seen": ["1.2.3-beta"], "from": "1.2", "before": "3"},
        "detect": [{"when": [{"/t": "a"}, {"/u": "a"}]}],
        "tags": {"at": ["/t"], "documented": ["a", ""], "observed": ["b"],
            "schemas": {"a": "#/$defs/a"}},
        "session": {"start": [{"when": {"/t": "a"}}], "id": ["/s", "/session"], "required": false,
            "must_be_first": ["b"], "repeats": "always", "id_is_constant": false, "time": "/ms"},
        "calls": {
            "start": [{"when": {}, "each": "/e", "where": inner, "id": ["^/m", "/i"],
                "tool": [{"name": "shell"}], "may_repeat": true}],
            "completion": [{"when": {}, "id": ["/i"], "tool": [], "without_start": "ignore",
                "may_repeat": true, "outcomes": [
                    {"outcome": "failed", "when": {"^/x": true}, "is_contradictory": true}]}],
            "tool": [{"value": "^/n"}, {"key": "^/n/*Call"}],
            "open_at_end": "allowed",
            "actions": {"rules": [{"tool": "*", "done": "Did"}]},
        },
        "text": {
            "rules": [{"mode": "delta", "when": {}, "each": "/e", "where": inner, "value": "/v",
                "group": ["^/m", "/i"]}],
            "deltas": "closed", "final": "either", "ends_at": [{"when": {"/t": "b"}}],
            "ends_at_calls": false},
        "end": {"policy": "optional",
            "rules": [{"outcome": "neutral", "when": {"/t": "z"}},
                {"outcome": "failure", "suspect": true, "when": {"/t": "y"}}],
            "verdict": [{"outcome": "failure", "when": {"/t": "e"}}],
            "reopen": [{"when": {"/t": "a"}}], "after": [{"when": {"/t": "b"}}],
            "duration_ms": "/ms", "usage": {"input_tokens": "/in"},
            "errors": [{"severity": "fatal", "when": {"/t": "e"}, "each": "/e", "where": inner}],
            "exit": {"success": [0], "failure": "any", "meaning": {"41": "not logged in"}}},
        "noise": [{"matches": "^Warning", "is": "stderr", "where": "before"}],
        "single_object": {"schema": "#/$defs/a", "order": ["t"]},
    });
    fs::write(&file, profile.to_string()).unwrap();
    let (profile, schema) = Profile::load(file.to_str().unwrap()).unwrap();
    assert!(schema.is_none());
    assert_eq!(profile.session.id.len(), 2);
    assert_eq!(profile.end.exit.meaning[&41], "not logged in");
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
    let base = json!({"name": "base", "title": "b", "schema": {"required": ["t"]},
        "tags": {"at": ["/t"], "documented": ["a", "b"]},
        "session": {"start": [{"when": {"/t": "a"}}], "id": ["/s"], "time": "/ms"}});
    file("base.json", &base);
    let child = json!({"extends": "base.json", "name": "child",
        "session": {"id": ["/x", "/s"], "time": null}, "tags": {"documented": ["c"]}});
    let (profile, schema) = Profile::load(&file("child.json", &child)).unwrap();
    assert_eq!((profile.name.as_str(), profile.title.as_str()), ("child", "b"));
    assert_eq!(profile.tags.documented, ["c"]);
    assert_eq!((profile.session.start.len(), profile.session.id.len()), (1, 2));
    assert!(profile.session.time.is_none() && !schema.unwrap().is_valid(&json!({})));

    let without = json!({"extends": "child.json", "name": "grandchild", "schema": null});
    let (profile, schema) = Profile::load(&file("without.json", &without)).unwrap();
    assert!(schema.is_none() && profile.tags.documented == ["c"]);
    let ours = json!({"extends": "cursor", "name": "mine", "end": {"policy": "none"}});
    let (profile, schema) = Profile::load(&file("ours.json", &ours)).unwrap();
    assert!(schema.unwrap().is_built_in() && !profile.end.rules.is_empty());

    file("bad.json", &json!({"extends": "base.json", "noise": [{"matches": "(", "is": "banner"}]}));
    file("lost.json", &json!({"extends": "base.json", "schema": "nowhere.json"}));
    for (profile, hints) in [
        (json!({"extends": "round.json"}), ["round.json: more", "extend one another"]),
        (json!({"extends": "nobody"}), ["round.json: /extends: ", "nobody, and no such profile"]),
        (json!({"extends": "claud"}), ["round.json: /extends: ", "a similar one is claude"]),
        (json!({"extends": 1}), ["round.json: /extends: ", "a string"]),
        (json!({"extends": "base.json", "tags": null}), ["round.json: the profile: ", "tags"]),
        (json!({"extends": "base.json", "boundarys": null}), ["round.json: /boundarys: null", ""]),
        (
            json!({"extends": "base.json", "session": {"directory": null}}),
            ["/session/directory: null", ""],
        ),
        (json!({"extends": "base.json", "end": {"policy": null}}), ["/end/policy: null", ""]),
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

/// Goal: our own report keeps the contract that we ask of others.
/// Method: the json report of every fixture, held against its profile and schema by ourselves.
#[test]
fn our_report_conforms() {
    let contract = contract(["--profile", "fixtures/profiles/report/profile.json"]);
    let mut checked = 0;
    for case in cases() {
        let golden = fs::read(root().join(&case.path).with_extension("json")).unwrap();
        let (summary, rules) = judge(&golden[..], &contract);
        assert_eq!(rules, [], "{}", case.path.display());
        let good = ["conforming", "go-test"].contains(&case.folder());
        if good && !String::from_utf8_lossy(&golden).contains(r#""outcome":"failed""#) {
            assert_eq!(summary.outcome, Outcome::Succeeded, "{}", case.path.display());
        }
        // A report without its last line is truncated, and we say so.
        let cut = golden.trim_ascii_end().iter().rposition(|&byte| byte == b'\n').unwrap();
        let (_, rules) = judge(&golden[..=cut], &contract);
        assert_eq!(rules, [Rule::MissingTerminalEvent]);
        checked += 1;
    }
    assert!(checked > 100, "only {checked}");
    let output = program().args(["--report", "json", "fixtures"]).output().unwrap();
    assert_eq!(judge(&output.stdout[..], &contract).1, []);
}

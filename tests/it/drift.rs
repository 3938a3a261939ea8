//! `drift`: what a profile does not know of recordings of a new version.

use std::fs;
use std::path::Path;

use ndjson_check::internals::{REPORT_SCHEMA, satisfies};
use ndjson_check::{Checker, UnknownKind};
use serde_json::{Value, json};

use crate::streams::{misleads, program, root, text};

/// Runs the subcommand; returns what it prints, and its exit code.
fn drift(arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = program().arg("drift").args(arguments).output().unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

/// A stream of Claude Code with something new of each kind.
fn new_version() -> Vec<Value> {
    let text = std::fs::read_to_string(root().join("fixtures/agents/claude/plain.ndjson")).unwrap();
    let mut events: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    events[0]["weather"] = json!({"deep": 1});
    events[0]["permissionMode"] = json!("hypnosis");
    let mut result = events.pop().unwrap();
    assert_eq!(result["type"], "result");
    result["usage"]["dreams"] = json!(7);
    let session = result["session_id"].clone();
    for _ in 0..3 {
        events.push(json!({"type": "telegram", "session_id": session}));
    }
    events.push(result);
    events
}

fn written(events: &[Value]) -> String {
    let lines: Vec<String> = events.iter().map(|event| format!("{event}\n")).collect();
    lines.concat()
}

/// Goal: each kind of news is found, with its count and first line.
#[test]
fn what_is_new_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.ndjson");
    let events = new_version();
    fs::write(&path, written(&events)).unwrap();
    fs::write(folder.path().join("second.ndjson"), written(&events)).unwrap();
    let (printed, errors, code) = drift(&[folder.path().to_str().unwrap()]);
    assert_eq!((errors.as_str(), code), ("", Some(1)));
    let (first, last) = (path.display(), events.len());
    let telegram = last - 3;
    let expected = [
        ", 2 streams: 4 new".to_owned(),
        format!("  event telegram: 6 times in 2 streams, first {first}:{telegram}"),
        format!("  value \"hypnosis\" of /permissionMode: 2 times in 2 streams, first {first}:1"),
        format!(
            "  member /usage/dreams of result/success: 2 times in 2 streams, first {first}:{last}"
        ),
        format!("  member /weather of system/init: 2 times in 2 streams, first {first}:1"),
    ];
    assert_eq!(printed.lines().count(), 5, "{printed}");
    for (line, expected) in printed.lines().zip(&expected) {
        assert!(line.ends_with(expected), "{line}\n{expected}");
    }
    // What older recordings have is not new.
    let old = folder.path().join("old");
    fs::write(&old, written(&events)).unwrap();
    let known = ["--known", old.to_str().unwrap()];
    let (printed, _, code) = drift(&[&known[..], &[folder.path().to_str().unwrap()]].concat());
    assert!(printed.ends_with(", 2 streams: nothing new\n"), "{printed}");
    assert_eq!(code, Some(0));
}

/// Goal: without `--profile`, that of the configuration is used, as for a check.
#[test]
fn the_profile_of_the_configuration_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let minimal = root().join("fixtures/profiles/minimal");
    for name in ["profile.json", "schema.json", "good.ndjson"] {
        fs::copy(minimal.join(name), folder.path().join(name)).unwrap();
    }
    for arguments in [&["drift", "good.ndjson"][..], &["diff", "good.ndjson", "good.ndjson"]] {
        let compare = || {
            let mut command = program();
            command.args(arguments).current_dir(&folder).output().unwrap()
        };
        let config = folder.path().join("ndjson-check.toml");
        let _ = fs::remove_file(&config);
        assert_eq!(compare().status.code(), Some(2), "{arguments:?}");
        fs::write(&config, "profile = \"profile.json\"").unwrap();
        let output = compare();
        let error = text(&output.stderr);
        assert_eq!((output.status.code(), error.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

/// Goal: the forms say the same.
#[test]
fn the_forms_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.ndjson");
    fs::write(&path, written(&new_version())).unwrap();
    let new = path.to_str().unwrap();
    let known = "fixtures/agents/claude/plain.ndjson";
    for known in [&[][..], &["--known", known], &["--known", new]] {
        let (human, _, code) = drift(&[&[new], known].concat());
        let (json, _, json_code) = drift(&[&["--report", "json", new], known].concat());
        let (markdown, _, markdown_code) = drift(&[&["--report", "markdown", new], known].concat());
        assert_eq!((code, code), (json_code, markdown_code));
        assert!(satisfies(REPORT_SCHEMA, &json).unwrap(), "{json}");
        let line: Value = serde_json::from_str(&json).unwrap();
        let names = line["unknown"].as_array().unwrap();
        assert_eq!(names.len(), human.lines().count() - 1, "{human}{json}");
        for (name, shown) in names.iter().zip(human.lines().skip(1)) {
            let (kind, line) = (name["kind"].as_str().unwrap(), &name["line"]);
            let place = format!(", first {new}:{line}");
            assert!(shown.trim().starts_with(kind) && shown.ends_with(&place), "{shown}{name}");
        }
        let [agent] = &line["agents"].as_array().unwrap()[..] else { panic!("{json}") };
        assert_eq!((&agent["profile"], &agent["new"]), (&json!("claude"), &json!(names.len())));
        assert_eq!(line["is_complete"], json!(true));
        let title = ["nothing new", "4 names new"][usize::from(!names.is_empty())];
        let expected = format!("## ndjson-check drift: {title}\n\n```text\n{human}```\n");
        assert_eq!(markdown, expected);
    }
    let (_, errors, code) = drift(&["--report", "sarif", new]);
    assert_eq!((errors.lines().count(), code), (1, Some(2)), "{errors}");
}

/// Goal: it says when a stream has more names than are counted, of whichever kind.
#[test]
fn it_says_what_is_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["events", "members"].map(|name| folder.path().join(name));
    let mut events = new_version();
    let session = events[0]["session_id"].clone();
    let many = (0..300).map(|at| json!({"type": format!("new{at}"), "session_id": session}));
    let many: Vec<_> = many.collect();
    fs::write(&files[0], written(&[&events[..1], &many, &events[1..]].concat())).unwrap();
    for at in 0..300 {
        events[0][format!("new{at}")] = json!(1);
    }
    fs::write(&files[1], written(&events)).unwrap();
    for file in files {
        let file = file.to_str().unwrap();
        let more = "There is more: at most 200 names of a kind are counted for a stream, 5 000 ";
        let (printed, _, code) = drift(&[file]);
        assert!(printed.lines().last().unwrap().starts_with(more), "{printed}");
        assert_eq!(code, Some(1));
        let line: Value = serde_json::from_str(&drift(&["--report", "json", file]).0).unwrap();
        assert_eq!(line["is_complete"], json!(false));
        // What is not counted may be new, although all that is counted is known.
        let (printed, _, code) = drift(&["--known", file, file]);
        let says = printed.contains("nothing new among the names that were counted");
        assert!(says && printed.contains(more), "{printed}");
        assert_eq!(code, Some(1));
        let other = folder.path().join("other");
        fs::write(&other, written(&new_version())).unwrap();
        let (printed, _, _) = drift(&["--known", file, other.to_str().unwrap()]);
        let may_be_known = printed.contains("\nSome of it may be known: not all names");
        assert_eq!(may_be_known, !printed.contains("nothing new"), "{printed}");
    }
}

/// Goal: the json report lists the same; members only with `--stats`.
#[test]
fn the_json_report_lists_what_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.ndjson");
    fs::write(&path, written(&new_version())).unwrap();
    let report = |flags: &[&str]| -> Vec<Value> {
        let mut command = program();
        command.args(["--no-config", "--report", "json"]).args(flags).arg(&path);
        let report = text(&command.output().unwrap().stdout);
        for line in report.lines() {
            assert!(satisfies(REPORT_SCHEMA, line).unwrap(), "{line}");
        }
        report.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let kinds = |lines: &[Value]| -> Vec<String> {
        let stream = lines.iter().find(|line| line["type"] == "stream").unwrap();
        let list = stream["unknown"].as_array().unwrap();
        list.iter().map(|it| it["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&report(&[])), ["event", "value"]);
    let lines = report(&["--stats"]);
    assert_eq!(kinds(&lines), ["event", "value", "member", "member"]);
    let totals = lines.last().unwrap()["stats"]["unknown"].as_array().unwrap();
    assert_eq!(totals.len(), 4, "{totals:?}");
    let human = text(&program().arg("--stats").arg(&path).output().unwrap().stdout);
    assert!(human.contains("\nnot in the profile:\n  event telegram: 3 times, first "), "{human}");
}

/// Goal: both engines find the same, also in lines that the cache of shapes recalls.
#[test]
fn every_line_is_looked_at() {
    let init = json!({"type": "system", "subtype": "init", "apiKeySource": "login", "cwd": "/w",
        "session_id": "s", "model": "m", "permissionMode": "default"});
    let mut stream = format!("{init}\n");
    for at in 0..50 {
        let content = json!([{"type": "text", "text": at.to_string(), "mood": "good"}]);
        let message = json!({"role": "assistant", "content": content});
        let event = json!({"type": "assistant", "message": message, "session_id": "s",
            "timestamp_ms": at});
        stream.extend([event.to_string(), "\n".to_owned()]);
    }
    for is_plain in [false, true] {
        let builder = Checker::builder().profile("cursor").stats(true).plain(is_plain);
        let summary = builder.build().unwrap().check("-", stream.as_bytes(), &mut ()).unwrap();
        let found: Vec<_> = summary
            .unknown
            .iter()
            .map(|it| (it.kind, it.of.as_deref(), it.name.as_str(), it.count, it.line))
            .collect();
        let mood = (UnknownKind::Member, Some("assistant"), "/message/content/*/mood", 50, 2);
        assert_eq!(found, [mood], "plain: {is_plain}");
    }
}

/// Goal: the profiles know the versions that were recorded.
#[test]
fn recorded_versions_have_nothing_new() {
    let (printed, errors, code) = drift(&["lab/recordings"]);
    let new: Vec<&str> = printed.lines().filter(|line| !line.ends_with("nothing new")).collect();
    assert!(new.is_empty() && errors.is_empty(), "{printed}{errors}");
    assert_eq!(code, Some(0));
    assert!(printed.lines().count() > 10, "{printed}");
}

#[test]
fn what_cannot_be_read_is_trouble() {
    let good = "fixtures/agents/claude/plain.ndjson";
    for arguments in [&["no-such-file", good][..], &["--known", "no-such-file", good]] {
        let (printed, errors, code) = drift(arguments);
        assert!(printed.contains("claude") && errors.contains("no-such-file"), "{printed}{errors}");
        assert_eq!(code, Some(2));
        let (json, _, _) = drift(&[&["--report", "json"], arguments].concat());
        assert!(json.contains("\"is_complete\":false"), "{json}");
    }
    let (markdown, _, _) = drift(&["--report", "markdown", "no-such-file"]);
    assert!(markdown.starts_with("## ndjson-check drift: not everything was compared\n"));
    assert_eq!(drift(&[]).2, Some(2));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("empty.ndjson");
    fs::write(&file, "hello\n").unwrap();
    let (_, errors, code) = drift(&[file.to_str().unwrap()]);
    assert!(errors.contains("has no event"), "{errors}");
    assert_eq!(code, Some(2));
}

/// Goal: names from a stream cannot control a terminal, or the log of a CI job.
#[test]
fn names_are_shown_escaped() {
    let nasty = "\u{1b}[31m\n::error::x\u{202e}";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.ndjson");
    let mut events = new_version();
    events[0][nasty] = json!(1);
    events[0]["permissionMode"] = json!(nasty);
    events[1] = json!({"type": nasty, "session_id": events[0]["session_id"]});
    fs::write(&path, written(&events)).unwrap();
    let (printed, _, code) = drift(&[Path::new(&path).to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert!(printed.matches(r"\x1b[31m").count() >= 3, "{printed}");
    assert!(!printed.chars().any(|it| misleads(it) && it != '\n'), "{printed}");
    assert!(!printed.lines().any(|line| line.starts_with("::")), "{printed}");
}

//! The stream in other forms, by profiles that are quite unlike each other.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::streams::{run_on, text};

/// Calls are elements of arrays, and the completion names nothing but the id.
fn blocks() -> Value {
    let block = |kind: &str| json!({ "/type": kind });
    json!({
        "name": "blocks", "title": "An invented agent",
        "tags": { "at": ["/type", "/subtype"],
            "observed": ["system/init", "assistant", "user", "result/success"] },
        "session": {
            "start": [{ "when": { "/type": "system" } }],
            "id": ["/session"], "directory": "/folder"
        },
        "calls": {
            "start": [{ "when": { "/type": "assistant" }, "each": "/message/content",
                "where": block("tool_use"), "id": ["/id"] }],
            "completion": [{ "when": { "/type": "user" }, "each": "/message/content",
                "where": block("tool_result"), "id": ["/tool_use_id"],
                "outcomes": [
                    { "outcome": "failed", "when": { "/is_error": true } },
                    { "outcome": "succeeded", "when": {} }
                ] }],
            "tool": [{ "value": "/name" }],
            "actions": { "rules": [
                { "tool": "Run", "done": "Ran terminal command", "failed": "Ran terminal command",
                  "attempt": "run terminal command", "detail": ["{/input/command}"],
                  "suffix": ["exit {/exit}"] },
                { "tool": "File", "when": { "/input/mode": "look" }, "done": "Read file",
                  "attempt": "read file", "path": true, "detail": ["{/input/path}"] },
                { "tool": "File", "done": "Edited file", "attempt": "edit file", "path": true,
                  "detail": ["{/input/path}"], "suffix": ["in turn {^/turn}"] },
                { "tool": "*", "done": "Called tool", "attempt": "call tool",
                  "detail": ["{/name} in {/input#/town}", "{/name}"] }
            ] }
        },
        "text": { "rules": [
            { "mode": "whole", "when": { "/type": "assistant" }, "each": "/message/content",
              "where": block("text"), "value": "/text" },
            { "mode": "final", "when": { "/type": "result" }, "value": "/result" }
        ] },
        "end": { "rules": [{ "outcome": "success", "when": { "/type": "result" } }] }
    })
}

fn blocks_stream() -> String {
    let blocks = |kind: &str, content: Value| {
        json!({ "type": kind, "session": "s1", "turn": 2,
        "message": { "content": content } })
    };
    let call = |id: &str, name: &str, input: Value| {
        let (kind, mut call) = ("tool_use", json!({ "id": id, "name": name, "input": input }));
        call["type"] = kind.into();
        call
    };
    let events = [
        json!({ "type": "system", "subtype": "init", "session": "s1", "folder": "/home/me/shop" }),
        blocks("assistant", json!([{ "type": "text", "text": "I look first.\n" }])),
        blocks(
            "assistant",
            json!([
                call("a1", "File", json!({ "mode": "look", "path": "/home/me/shop/cart.py" })),
                call("a2", "Run", json!({ "command": "make test" })),
                call("a3", "Weather", json!("{\"town\": \"Bern\", \"when\": [1]}")),
                call("a5", "Weather", json!("{\"town\": \"Ber")),
            ]),
        ),
        blocks(
            "user",
            json!([
                { "type": "tool_result", "tool_use_id": "a2", "is_error": true, "exit": 2 },
                { "type": "tool_result", "tool_use_id": "a1" },
                { "type": "tool_result", "tool_use_id": "a3", "is_error": true },
                { "type": "tool_result", "tool_use_id": "a5" },
            ]),
        ),
        blocks(
            "assistant",
            json!([call("a4", "File", json!({ "mode": "change", "path": "/etc/hosts" }))]),
        ),
        blocks("user", json!([{ "type": "tool_result", "tool_use_id": "a4" }])),
        blocks("assistant", json!([{ "type": "text", "text": "All is well." }])),
        json!({ "type": "result", "subtype": "success", "session": "s1",
            "result": "I look first.\nAll is well." }),
    ];
    events.map(|it| it.to_string() + "\n").concat()
}

/// Calls are objects below the event, and some come without a start.
fn items() -> Value {
    json!({
        "name": "items", "title": "Another",
        "tags": { "at": ["/type", "/item/type"],
            "observed": ["begin", "item.started/command", "item.completed/command",
                "item.completed/change", "item.completed/message", "end"] },
        "calls": {
            "start": [
                { "when": { "/type": "item.started" }, "id": ["/item/id"], "may_repeat": true,
                  "same": "/item/type" }
            ],
            "completion": [{
                "when": { "/type": "item.completed", "/item/type": ["command", "change"] },
                "id": ["/item/id"], "without_start": "call", "may_repeat": true,
                "outcomes": [
                    { "outcome": "failed", "when": { "/item/exit": { "exists": true, "not": 0 } } },
                    { "outcome": "succeeded", "when": {} }
                ]
            }],
            "tool": [{ "value": "/item/type" }],
            "actions": { "of": "/item", "rules": [
                { "tool": "command", "done": "Ran terminal command",
                  "attempt": "run terminal command", "failed": "Ran terminal command",
                  "detail": ["{/command}"], "suffix": ["exit {/exit}"] },
                { "tool": "change", "when": { "/kind": "add" }, "done": "Created new file",
                  "detail": ["{/path}"] },
                { "tool": "change", "done": "Changed file", "detail": ["{/path}"] }
            ] }
        },
        "text": { "rules": [
            { "mode": "whole", "when": { "/item/type": "message" }, "value": "/item/text" }
        ] },
        "end": { "rules": [{ "outcome": "success", "when": { "/type": "end" } }] }
    })
}

fn items_stream() -> String {
    let item = |half: &str, kind: &str, id: &str, more: Value| {
        let mut item = json!({ "type": kind, "id": id });
        item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "type": format!("item.{half}"), "item": item })
    };
    let events = [
        json!({ "type": "begin" }),
        item("completed", "message", "i0", json!({ "text": "On my way." })),
        item("started", "command", "i1", json!({})),
        item("started", "command", "i1", json!({ "command": "make" })),
        item("completed", "command", "i1", json!({ "exit": 0 })),
        item("completed", "command", "i1", json!({ "exit": 0 })),
        item("started", "command", "i1", json!({ "command": "make" })),
        item("completed", "change", "i2", json!({ "kind": "add", "path": "a.c" })),
        item("completed", "command", "i3", json!({ "command": "make check", "exit": 2 })),
        item("completed", "change", "i4", json!({ "kind": "update", "path": "b.c" })),
        item("completed", "message", "i5", json!({ "text": "Done, but for one test." })),
        json!({ "type": "end" }),
    ];
    events.map(|it| it.to_string() + "\n").concat()
}

/// What `--to` makes of a stream, if the check is content with it.
fn converted(profile: &Value, form: &str, stream: &str) -> String {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("profile.json");
    fs::write(&file, profile.to_string()).unwrap();
    let flags = ["--profile", file.to_str().unwrap(), "--strict", "--allow", "undocumented-event"];
    let output = run_on(&[&flags[..], &["--to", form]].concat(), stream.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{form}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// Goal: what a person reads of a call is the same wherever its parts stand.
#[test]
fn actions_are_told_of_calls_in_arrays() {
    let (profile, stream) = (blocks(), blocks_stream());
    let actions = "Ran terminal command make test (exit 2)\nRead file cart.py\n\
        Failed: call tool Weather in Bern\nCalled tool Weather\n\
        Edited file /etc/hosts (in turn 2)\n";
    assert_eq!(converted(&profile, "text", &stream), actions);
    let transcript = "I look first.\n\n[Ran terminal command make test (exit 2)]\n\
        [Read file cart.py]\n[Failed: call tool Weather in Bern]\n\
        [Called tool Weather]\n[Edited file /etc/hosts (in turn 2)]\n\n\
        All is well.\n";
    assert_eq!(converted(&profile, "transcript", &stream), transcript);
    assert_eq!(converted(&profile, "answer", &stream), "All is well.\n");
    assert_eq!(converted(&profile, "stream-json", &stream), stream);
}

/// Goal: a call that is announced or completed again is shown once, and one without a start too.
#[test]
fn actions_are_told_of_calls_below_a_key() {
    let (profile, stream) = (items(), items_stream());
    let actions = "Ran terminal command make (exit 0)\nCreated new file a.c\n\
        Ran terminal command make check (exit 2)\nChanged file b.c\n";
    assert_eq!(converted(&profile, "text", &stream), actions);
    let transcript = converted(&profile, "transcript", &stream);
    assert!(transcript.starts_with("On my way.\n\n[Ran terminal"), "{transcript}");
    assert!(transcript.ends_with("[Changed file b.c]\n\nDone, but for one test.\n"));
    assert_eq!(converted(&profile, "answer", &stream), "Done, but for one test.\n");
    assert_eq!(converted(&profile, "stream-json", &stream), stream);
}

/// Goal: a call that never ends is shown with what its start said.
#[test]
fn open_calls_are_told_with_the_words_of_their_start() {
    let stream = blocks_stream();
    let cut: String = stream.lines().take(3).map(|it| it.to_owned() + "\n").collect();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("profile.json");
    fs::write(&file, blocks().to_string()).unwrap();
    let flags = ["--profile", file.to_str().unwrap(), "--to", "text"];
    let output = run_on(&flags, cut.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    let unfinished = "Unfinished: read file cart.py\nUnfinished: run terminal command make test\n\
        Unfinished: call tool Weather in Bern\nUnfinished: call tool Weather\n";
    assert_eq!(text(&output.stdout), unfinished);
}

/// Goal: the single object of the other format is written where there is one, or refused at once.
#[test]
fn the_single_object_is_written_where_a_profile_has_one() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("profile.json");
    let mut profile = blocks();
    fs::write(&file, profile.to_string()).unwrap();
    let flags = ["--profile", file.to_str().unwrap(), "--to", "json"];
    let output = run_on(&flags, blocks_stream().as_bytes());
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()));
    let refused = "ndjson-check: standard input: profile blocks has no single object, ";
    assert!(text(&output.stderr).starts_with(refused), "{}", text(&output.stderr));
    profile["single_object"] = json!({ "schema": "#", "order": ["type", "result"] });
    let object = converted(&profile, "json", &blocks_stream());
    let expected = r#"{"type":"result","result":"I look first.\nAll is well.","session":"s1","#;
    assert!(object.starts_with(expected), "{object}");
    assert_eq!(object.lines().count(), 1);
}

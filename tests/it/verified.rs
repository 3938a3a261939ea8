//! Expectations about the order of calls, about what they print, and what must come before them.

use ndjson_check::{Expectation, ExpectedCalls};
use serde_json::{Value, json};

use crate::demands::{
    PLACE, answered, call, command, fails, fetch, half, hides, holds, init, judged_with, of_kind,
    rejected, run_of, write,
};
use crate::streams::{root, run_on, text};
use crate::support::{builder, check};

/// A command that prints this.
fn printing(id: &str, line: &str, stdout: &str) -> String {
    let result = json!({"command": line, "workingDirectory": "", "exitCode": 0, "signal": "",
        "stdout": stdout, "stderr": "", "executionTime": 1, "interleavedOutput": ""});
    call(id, "shellToolCall", &json!({"command": line}), &json!({"success": result}))
}

pub(crate) fn read(id: &str, path: &str) -> String {
    let result = json!({"success": {"content": "x", "isEmpty": false, "exceededLimit": false,
        "totalLines": 1, "totalChars": 1}});
    call(id, "readToolCall", &json!({"path": path}), &result)
}

/// An edit of a file that was there.
pub(crate) fn edit(id: &str, path: &str) -> String {
    let diff = format!("--- a{path}\n+++ b{path}\n@@ -1 +1 @@\n-x\n+y\n");
    let result = json!({"success": {"path": path, "diffString": diff}});
    call(id, "editToolCall", &json!({"path": path}), &result)
}

fn tests(set: impl FnOnce(&mut ExpectedCalls)) -> Expectation {
    of_kind("command", |it| {
        it.matches = Some("^npm test".to_owned());
        set(it);
    })
}

pub(crate) fn kind(name: &str) -> Option<ndjson_check::CallKind> {
    serde_json::from_value(json!(name)).unwrap()
}

/// Goal: tests that ran before the last edit are no proof.
#[test]
fn the_last_test_comes_after_the_last_edit() {
    let last = tests(|it| (it.last_must_succeed, it.after) = (true, kind("write")));
    let some = tests(|it| (it.at_least, it.after) = (Some(1), kind("write")));
    let (edit, test) = (write("c1", "/app/a.js"), command("c2", "npm test", true));
    let again = write("c3", "/app/b.js");
    for expected in [&last, &some] {
        holds(&run_of(&[edit.clone(), test.clone()]), expected);
        holds(&run_of(std::slice::from_ref(&test)), expected);
        let refused = rejected("c3", "/app/b.js");
        holds(&run_of(&[edit.clone(), test.clone(), refused]), expected);
    }
    let early = run_of(&[edit.clone(), test.clone(), again]);
    let message = "the last command call with `^npm test` (line 4) came before the last write \
                   call (line 6)";
    fails(&early, &last, message);
    let message = "at least 1 command call with `^npm test` must succeed after the last write \
                   call, but none did; see line 4";
    fails(&early, &some, message);
    // A tool that the profile does not know may have written.
    let unknown = call("c4", "teleportToolCall", &json!({}), &json!({"success": {}}));
    let message = "the last command call with `^npm test` succeeded after the last write call; \
                   the call in line 6 may be a later write call: it failed, its command edits \
                   files, its tool is unknown, or a sub-agent hides its calls";
    hides(&run_of(&[edit.clone(), test, unknown]), &last, message);
    // The test began while the edit was open: the agent may have waited for it.
    let start = half("started", "c1", "shellToolCall", &json!({"args": {"command": "npm test"}}));
    let whole = command("c1", "npm test", true);
    let end = whole.lines().last().unwrap().to_owned() + "\n";
    let edit_half = write("c2", "/app/a.js");
    let (edit_start, edit_end) = edit_half.split_once('\n').unwrap();
    let run = run_of(&[format!("{edit_start}\n"), start, edit_end.to_owned(), end]);
    let message = "the last command call with `^npm test` succeeded after the last write call; \
                   the write call in line 2 had not ended when the command call with \
                   `^npm test` in line 3 started";
    hides(&run, &last, message);
}

/// Goal: an agent that writes a call only at its end shows by its times that two calls overlapped.
#[test]
fn the_last_test_starts_after_the_end_of_the_last_edit() {
    let call = |tool: &str, input: Value, start: u64, end: u64| {
        let state = json!({"status": "completed", "input": input, "output": "ok", "title": "",
            "metadata": {"exit": 0}, "time": {"start": start, "end": end}});
        let part = json!({"id": "p", "sessionID": "ses_1", "messageID": "m1", "type": "tool",
            "callID": format!("{tool}{end}"), "tool": tool, "state": state});
        json!({"type": "tool_use", "timestamp": end, "sessionID": "ses_1", "part": part})
    };
    let edit = json!({"filePath": "/app/a.js", "oldString": "1", "newString": "2"});
    let test = json!({"command": "npm test", "description": "t"});
    let last = tests(|it| (it.last_must_succeed, it.after) = (true, kind("write")));
    let fault = |start: u64| {
        let run =
            [call("edit", edit.clone(), 200, 5_000), call("bash", test.clone(), start, 9_000)];
        let part = json!({"id": "p2", "sessionID": "ses_1", "messageID": "m1", "type": "text",
            "text": "Done."});
        let done = json!({"type": "text", "timestamp": 9_001, "sessionID": "ses_1", "part": part});
        let end = json!({"type": "step_finish", "timestamp": 9_002, "sessionID": "ses_1", "part":
            {"id": "p3", "sessionID": "ses_1", "messageID": "m1", "type": "step-finish",
            "reason": "stop", "cost": 0, "tokens": {"input": 1, "output": 1, "reasoning": 0,
            "cache": {"read": 0, "write": 0}}}});
        let run = run.iter().chain([&done, &end]);
        let run = run.map(|event| format!("{event}\n")).collect::<Vec<String>>().concat();
        let checker = builder(["--profile", "opencode"]).expect(PLACE, last.clone());
        let (_, found) = check(&mut checker.build().unwrap(), run.as_bytes());
        found.into_iter().find(|it| it.demand.is_some()).map(|it| it.message)
    };
    let message = "the last command call with `^npm test` (line 2) started before the last write \
                   call (line 1) had ended (ndjson-check.toml:3:5)";
    assert_eq!(fault(150).as_deref(), Some(message));
    assert_eq!(fault(5_000), None);
}

#[test]
fn calls_come_before_the_first_of_a_kind() {
    let expected = of_kind("read", |it| (it.at_least, it.before) = (Some(1), kind("write")));
    let (seen, edit) = (read("c1", "/app/a.js"), write("c2", "/app/a.js"));
    holds(&run_of(&[seen.clone(), edit.clone()]), &expected);
    let refused = rejected("c3", "/app/b.js");
    holds(&run_of(&[refused, seen.clone(), edit.clone()]), &expected);
    let message = "at least 1 read call must succeed before the first write call, but none did; \
                   see line 4";
    fails(&run_of(&[edit.clone(), seen.clone()]), &expected, message);
    let none = of_kind("fetch", |it| (it.at_most, it.before) = (Some(0), kind("write")));
    holds(&run_of(&[edit.clone(), fetch("c3")]), &none);
    let message = "no fetch call is allowed before the first write call, but there was 1; see \
                   line 2";
    fails(&run_of(&[fetch("c3"), edit]), &none, message);
}

#[test]
fn calls_print_what_they_must() {
    let expected = tests(|it| {
        (it.last_must_succeed, it.output_matches) = (true, Some(r"\d+ passed".to_owned()));
        it.output_never = Some(r"\b0 tests".to_owned());
    });
    holds(&run_of(&[printing("c1", "npm test", "12 passed")]), &expected);
    let message = "the last command call with `^npm test` (line 2) did not print what `output` \
                   demands";
    fails(&run_of(&[printing("c1", "npm test", "0 tests, 0 passed")]), &expected, message);
    fails(&run_of(&[printing("c1", "npm test", "")]), &expected, message);
    // Without a result, nothing is known of it.
    let bare = half("started", "c1", "shellToolCall", &json!({"args": {"command": "npm test"}}))
        + &half(
            "completed",
            "c1",
            "shellToolCall",
            &json!({"args": {"command": "npm test"},
            "result": {"success": {}}}),
        );
    let message = "the last command call with `^npm test` succeeded, with `\\d+ passed` in the \
                   output, without `\\b0 tests` in the output";
    hides(&run_of(&[bare]), &expected, message);
    let leaks = of_kind("command", |it| {
        (it.at_most, it.output_matches) = (Some(0), Some("SECRET".to_owned()));
    });
    let message =
        "no command call is allowed, with `SECRET` in the output, but there was 1; see line 2";
    fails(&run_of(&[printing("c1", "env", "SECRET=1")]), &leaks, message);
    // Colours hide nothing.
    let coloured = printing("c1", "npm test", "\u{1b}[32m12\u{1b}[0m passed\u{1b}[");
    holds(&run_of(&[coloured]), &expected);
}

/// Goal: a patch is about each of its files.
#[test]
fn each_file_of_a_patch_counts() {
    let change = |path: &str, kind: &str| json!({"path": format!("/w/{path}"), "kind": kind});
    let changes = [change("a.js", "update"), change("package.json", "update")];
    let stream = |changes: &[serde_json::Value]| {
        let item = json!({"id": "i0", "type": "file_change", "changes": changes,
            "status": "completed"});
        let events = [
            json!({"type": "thread.started", "thread_id": "t"}),
            json!({"type": "turn.started"}),
            json!({"type": "item.completed", "item": item}),
            json!({"type": "item.completed",
                "item": {"id": "i1", "type": "agent_message", "text": "DONE"}}),
            json!({"type": "turn.completed", "usage": {"input_tokens": 1,
                "cached_input_tokens": 0, "output_tokens": 1, "reasoning_output_tokens": 0}}),
        ];
        events.map(|event| format!("{event}\n")).concat()
    };
    let manifest = "{ kind = \"write\", matches = 'package\\.json$', at-most = 0 }";
    let delete = "{ kind = \"delete\", at-most = 0 }";
    let deleting = [&changes[..], &[change("b.js", "delete")]].concat();
    for (entry, changes, code) in [
        (manifest, &changes[..1], 0),
        (manifest, &changes, 1),
        (delete, &changes, 0),
        (delete, &deleting, 1),
        ("{ kind = \"delete\", matches = 'package', at-most = 0 }", &deleting, 0),
        ("{ kind = \"delete\", matches = 'b.js', at-most = 0 }", &deleting, 1),
        ("{ kind = \"write\", matches = 'b.js', at-most = 0 }", &deleting, 0),
    ] {
        let config = format!("expect.calls = [{entry}]");
        let (found, report) = judged_with(&config, &stream(changes));
        assert_eq!(found, code, "{entry}: {report}");
        assert_eq!(report.contains("but there was 1"), code == 1, "{report}");
    }
}

/// Goal: what is not in a result of which a part is missing may be in that part.
#[test]
fn a_cut_result_shows_only_what_is_in_it() {
    let file = root().join("lab/recordings/opencode-1.18.33/tool.ndjson");
    let stream = std::fs::read_to_string(file).unwrap();
    let printing = |output: &str, is_cut: bool| {
        let of_call = |event: &str| {
            let mut event: Value = serde_json::from_str(event).unwrap();
            let state = &mut event["part"]["state"];
            if state["input"].is_object() {
                state["output"] = output.into();
                state["metadata"]["truncated"] = is_cut.into();
            }
            format!("{event}\n")
        };
        stream.lines().map(of_call).collect::<String>()
    };
    let matches = "output = { matches = 'passed' }, last = 'succeeded'";
    let never = "output = { never = 'deprecated' }, last = 'succeeded'";
    for (entry, output, is_cut, rule) in [
        (matches, "12 passed", true, ""),
        (matches, "12 failed", false, "expectation-failed"),
        (matches, "12 ...", true, "expectation-unobservable"),
        (never, "12 passed", false, ""),
        (never, "12 ...", true, "expectation-unobservable"),
        (never, "deprecated ...", true, "expectation-failed"),
    ] {
        let config = format!("expect.calls = [{{ kind = 'command', {entry} }}]");
        let (_, report) = judged_with(&config, &printing(output, is_cut));
        let raised = ["expectation-failed", "expectation-unobservable"];
        let raised = raised.into_iter().find(|rule| report.contains(rule)).unwrap_or_default();
        assert_eq!(raised, rule, "{entry} {output}: {report}");
    }
}

/// The configuration in `docs/configuration.md` that says what tested means.
fn tested() -> &'static str {
    "[expect]\ncalls = [{ kind = \"command\", matches = \"npm test\", last = \"succeeded\", \
     after = \"write\", output = { matches = '\\d+ passed', never = '\\b0 tests' } }]"
}

/// Goal: a run whose last tests came before the last edit, or found no test, is not verified.
#[test]
fn the_program_judges_what_was_verified() {
    let (edit, good) = (write("c1", "/app/a.js"), printing("c2", "npm test", "12 passed"));
    let empty = printing("c3", "npm test", "0 tests run");
    let of = |calls: &[&String]| -> String { calls.iter().map(|it| it.as_str()).collect() };
    let refused = call(
        "c4",
        "editToolCall",
        &json!({"path": "/app/a.js"}),
        &json!({"error": {"path": "/app/a.js", "error": "String to replace not found"}}),
    );
    let coloured = printing("c5", "npm test", "\u{1b}[32m12 passed\u{1b}[0m\r\n");
    let runs = [
        (of(&[&edit, &good]), 0),
        (of(&[&good, &edit]), 1),
        (of(&[&edit, &good, &empty]), 1),
        (of(&[&edit]), 1),
        (of(&[&edit, &coloured]), 0),
        // Whether an edit that failed changed something is not known.
        (of(&[&edit, &good, &refused]), 0),
    ];
    for (calls, expected) in &runs {
        let (code, report) = judged_with(tested(), &(init() + calls + &answered("DONE")));
        assert_eq!(code, *expected, "{report}");
        assert_eq!(report.contains("expectation-failed"), *expected == 1, "{report}");
    }
    // Each session is judged on its own.
    let session = |id: &str, calls: &str| {
        (init() + calls + &answered("DONE"))
            .replace("\"session_id\":\"s\"", &format!("\"session_id\":\"{id}\""))
    };
    let stream = session("a", &runs[0].0) + &session("b", &runs[1].0);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), tested()).unwrap();
    let flags = ["--config", file.path().to_str().unwrap(), "--sessions", "many"];
    let output = run_on(&flags, stream.as_bytes());
    let report = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert_eq!(report.matches("error[expectation-failed]").count(), 1, "{report}");
    assert!(report.contains("came before the last write call"), "{report}");
}

/// Goal: of three sessions in a recording one is as expected, one is not, and one does not show it.
#[test]
fn each_session_is_judged_by_its_own_calls() {
    let (seen, edit) = (read("c1", "/app/a.js"), edit("c2", "/app/a.js"));
    let good = printing("c3", "npm test", "12 passed");
    let bad = printing("c3", "npm test", "1 failed");
    let unknown = call("c4", "teleportToolCall", &json!({}), &json!({"success": {}}));
    let piped = printing("c3", "npm test | tail", "");
    let of = |calls: &[&String]| -> String { calls.iter().map(|it| it.as_str()).collect() };
    for (entry, met, broken, hidden) in [
        (
            "kind = 'read', at-least = 1, before = 'write'",
            of(&[&seen, &edit]),
            of(&[&edit, &seen]),
            of(&[&unknown, &seen, &edit]),
        ),
        (
            "runs = 'npm test', last = 'succeeded', after = 'write'",
            of(&[&edit, &good]),
            of(&[&good, &edit]),
            of(&[&edit, &piped]),
        ),
        (
            "kind = 'write', requires = { kind = 'read', same = 'path' }",
            of(&[&seen, &edit]),
            of(&[&edit]),
            of(&[&unknown, &edit]),
        ),
        (
            "runs = 'npm test', last = 'succeeded', output = { matches = 'passed' }",
            of(&[&good]),
            of(&[&bad]),
            of(&[
                &half("started", "c5", "shellToolCall", &json!({"args": {"command": "npm test"}})),
                &half(
                    "completed",
                    "c5",
                    "shellToolCall",
                    &json!({"args": {"command": "npm test"},
                "result": {"success": {}}}),
                ),
            ]),
        ),
    ] {
        let sessions = [("a", met), ("b", broken), ("c", hidden)].map(|(id, calls)| {
            (init() + &calls + &answered("DONE"))
                .replace("\"session_id\":\"s\"", &format!("\"session_id\":\"{id}\""))
        });
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("expect.calls = [{{ {entry} }}]")).unwrap();
        let flags = ["--config", file.path().to_str().unwrap(), "--sessions", "many"];
        let report = text(&run_on(&flags, sessions.concat().as_bytes()).stdout);
        for rule in ["error[expectation-failed]", "warning[expectation-unobservable]"] {
            assert_eq!(report.matches(rule).count(), 1, "{entry}: {rule}: {report}");
        }
    }
}

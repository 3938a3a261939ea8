//! The presets `tested` and `no-push`: what runs the tests, and what the exit status shows of them.

mod command_lines;
mod outputs;

use std::collections::BTreeMap;
use std::sync::Mutex;

use ndjson_check::{Checker, Rule};
use ndjson_check_config::Config;
use serde_json::{Value, json};

use command_lines::{HIDES_STATUS, RUNS, RUNS_NONE, SKIPS};
use outputs::{PRINTS_FAILED, PRINTS_NEITHER, PRINTS_NOTHING, PRINTS_PASSED};

use crate::demands::{call, command, judged_with, run_of, write};
use crate::support::{builder, check};

/// A command that prints this.
fn printing(id: &str, arguments: &Value, works: bool, output: &str) -> String {
    let result = json!({"command": arguments["command"], "workingDirectory": "",
        "exitCode": i32::from(!works), "signal": "", "stdout": output, "stderr": "",
        "executionTime": 1, "interleavedOutput": output});
    let key = if works { "success" } else { "failure" };
    call(id, "shellToolCall", arguments, &json!({key: result}))
}

/// What a preset says of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Met,
    /// The tests ran, and failed.
    Broken,
    /// They may have passed.
    Hidden,
    /// They did not run.
    NotRun,
}
use Says::{Broken, Hidden, Met, NotRun};

/// The regular expressions of a preset are compiled once for all of its command lines.
fn checker(preset: &str) -> Checker {
    static CHECKERS: Mutex<BTreeMap<String, Checker>> = Mutex::new(BTreeMap::new());
    let mut checkers = CHECKERS.lock().unwrap();
    let built = checkers.entry(preset.to_owned()).or_insert_with(|| {
        let config = format!("expect.presets = [\"{preset}\"]");
        let config = Config::parse("x.toml", config).unwrap();
        let flags = ["--profile", "cursor", "--allow", "schema-violation"];
        config.apply_to(builder(flags)).profile("cursor").build().unwrap()
    });
    built.clone()
}

pub(crate) fn found(preset: &str, stream: &str) -> Option<(Rule, String)> {
    let (_, found) = check(&mut checker(preset), stream.as_bytes());
    let found = found.into_iter().find(|it| it.rule.name().starts_with("expectation-"))?;
    Some((found.rule, found.message + &found.note.unwrap_or_default()))
}

fn tested(call: String) -> (Says, String) {
    let stream = run_of(&[write("c0", "/app/a.js"), call]);
    match found("tested", &stream) {
        None => (Met, String::new()),
        Some((Rule::ExpectationUnobservable, message)) => (Hidden, message),
        Some((_, message)) if message.contains("but there was none") => (NotRun, message),
        Some((_, message)) => (Broken, message),
    }
}

/// Goal: a run of the tests is one in every spelling, and nothing else is.
#[test]
fn tests_count_where_they_run() {
    for line in RUNS {
        let (says, message) = tested(command("c1", line, true));
        assert_eq!(says, Met, "{line}: {message}");
        let (says, message) = tested(command("c1", line, false));
        assert_eq!(says, Broken, "{line}: {message}");
    }
    for line in RUNS_NONE {
        let (says, message) = tested(command("c1", line, true));
        assert_eq!(says, NotRun, "{line}: {message}");
    }
}

/// Goal: neither a false "passed" nor a false "failed": if the status is that of another command,
/// the output decides, and without it nothing is known.
#[test]
fn a_hidden_status_is_not_a_success() {
    for line in HIDES_STATUS {
        let arguments = json!({"command": line});
        for works in [true, false] {
            for (output, expected) in [
                ("", Hidden),
                ("> jest\n\nTests:       12 passed, 12 total\n", Met),
                ("Tests:       1 failed, 11 passed, 12 total\n", Broken),
                ("  11 passing (20ms)\n  1 failing\n", Broken),
                ("some other text\n", Hidden),
            ] {
                let (says, message) = tested(printing("c1", &arguments, works, output));
                assert_eq!(says, expected, "{line}: {output}: {message}");
            }
        }
    }
    let background = json!({"command": "npm test", "run_in_background": true});
    let (says, message) = tested(printing("c1", &background, true, "Running in background: b1"));
    assert_eq!(says, Hidden, "{message}");
    assert!(message.contains("the exit status in line 4 is not that of the test run"), "{message}");
    // Cursor moves a slow command to the background by itself.
    let arguments = json!({"command": "npm test"});
    let result = json!({"success": {"command": "npm test", "workingDirectory": "", "exitCode": 0,
        "signal": "", "stdout": "", "stderr": "", "executionTime": 1, "interleavedOutput": ""},
        "isBackground": true});
    let (says, message) = tested(call("c1", "shellToolCall", &arguments, &result));
    assert_eq!(says, Hidden, "{message}");
    // A filter may have left out the line that says so.
    for line in ["npm test | grep passing", "npm test > o; head -5 o", "npm test; echo '3 passed'"]
    {
        let arguments = json!({"command": line});
        let (says, message) = tested(printing("c1", &arguments, true, "  11 passing (20ms)\n"));
        assert_eq!(says, Hidden, "{line}: {message}");
    }
    // A later command of the line failed.
    let arguments = json!({"command": "npm test && git push"});
    let (says, message) = tested(printing("c1", &arguments, false, "12 passed\nrejected\n"));
    assert_eq!(says, Met, "{message}");
}

/// Goal: a sub-agent whose calls are not shown may have run the tests, where they must run.
#[test]
fn a_sub_agent_may_have_run_the_tests() {
    let asked = json!({"description": "Run the tests", "prompt": "Run the tests."});
    let task = |id| {
        let result = json!({"success": {"conversationSteps": []}});
        call(id, "taskToolCall", &asked, &result)
    };
    let writes = || write("c0", "/app/a.js");
    let tests = |works| command("c1", "npm test", works);
    let says = |calls: &[String]| found("tested", &run_of(calls));
    let (rule, message) = says(&[writes(), task("c1")]).unwrap();
    assert_eq!(rule, Rule::ExpectationUnobservable);
    assert!(
        message.contains("a sub-agent whose calls are not shown may have made it (see line 4)")
    );
    let unmet = |calls: &[String]| says(calls).unwrap().0 == Rule::ExpectationFailed;
    assert!(unmet(&[task("c1"), writes()]), "before the write");
    assert!(unmet(&[writes(), tests(false), task("c2")]), "tests that failed");
    assert!(!unmet(&[tests(true), writes(), task("c2")]), "tests before the write");
    // It may also have written after the tests, or pushed.
    let (rule, message) = says(&[writes(), tests(true), task("c2")]).unwrap();
    assert_eq!(rule, Rule::ExpectationUnobservable);
    assert!(message.ends_with("may have made it (see line 6)"), "{message}");
    assert_eq!(says(&[task("c0"), writes(), tests(true)]), None);
    let (rule, message) = found("no-push", &run_of(&[task("c1")])).unwrap();
    assert_eq!(rule, Rule::ExpectationUnobservable);
    assert!(message.ends_with("may have made it (see line 2)"), "{message}");
    let read =
        call("c1", "readToolCall", &json!({"path": "a"}), &json!({"success": {"content": ""}}));
    assert!(unmet(&[writes(), read]), "no sub-agent");
}

/// Goal: of test runs that overlap, each must have succeeded.
#[test]
fn no_other_run_hides_tests_that_failed() {
    let halves = |id: &str, line: &str, works: bool| {
        let whole = command(id, line, works);
        let (start, end) = whole.split_once('\n').unwrap();
        (format!("{start}\n"), end.to_owned())
    };
    let outcome = |order: [bool; 2], is_one_after_the_other: bool| {
        let (first, second) =
            (halves("c1", "npm test -w web", order[0]), halves("c2", "npm test -w api", order[1]));
        let run = if is_one_after_the_other {
            [first.0, first.1, second.0, second.1]
        } else {
            [first.0, second.0, second.1, first.1]
        };
        tested(run.concat()).0
    };
    for is_one_after_the_other in [true, false] {
        assert_eq!(outcome([true, true], is_one_after_the_other), Met);
        assert_eq!(outcome([true, false], is_one_after_the_other), Broken);
    }
    assert_eq!(outcome([false, true], true), Met);
    assert_eq!(outcome([false, true], false), Broken);
}

/// Goal: a script that may be missing has run only if its output shows it; if the command fails,
/// it was there.
#[test]
fn a_script_that_may_be_missing_is_not_a_success() {
    for line in SKIPS {
        let arguments = json!({"command": line});
        let says = |works, output| tested(printing("c1", &arguments, works, output));
        assert_eq!(says(true, "Tests:       12 passed, 12 total\n").0, Met, "{line}");
        assert_eq!(says(false, "").0, Broken, "{line}");
        let (answer, message) = says(true, "");
        assert_eq!(answer, Hidden, "{line}");
        assert!(
            message.contains("it may not have run (`exit`, `xargs`, `--if-present`)"),
            "{message}"
        );
    }
}

/// Goal: the output of each test runner is understood.
#[test]
fn runners_say_how_they_ended() {
    let says = |output: &str| {
        tested(printing("c1", &json!({"command": "npm test | cat"}), true, output)).0
    };
    for output in PRINTS_PASSED {
        assert_eq!(says(output), Met, "{output}");
    }
    for output in PRINTS_FAILED {
        assert_eq!(says(output), Broken, "{output}");
    }
    for output in PRINTS_NEITHER {
        assert_eq!(says(output), Hidden, "{output}");
    }
}

/// Goal: whatever the status is, tests that did not run have not passed.
#[test]
fn a_run_without_tests_proves_nothing() {
    for output in PRINTS_NOTHING {
        let (says, message) = tested(printing("c1", &json!({"command": "npm test"}), true, output));
        assert_eq!(says, Broken, "{output}");
        assert!(message.contains("printed that it did nothing"), "{message}");
    }
}

/// Goal: a success does not hide what the output says, and the message names what may be a run.
#[test]
fn the_output_may_say_more_than_the_status() {
    let says =
        |line: &str, output: &str| tested(printing("c1", &json!({"command": line}), true, output));
    let failed = "> jest || true\n\nTests:       1 failed, 11 passed, 12 total";
    let (hidden, message) = says("npm test", failed);
    assert_eq!(hidden, Hidden, "{message}");
    assert!(message.ends_with("exited with 0, but its output shows a failure"), "{message}");
    let (not_run, message) = says("make ci", "12 passed in 0.1s");
    assert_eq!(not_run, NotRun);
    let advice = "; the command in line 4 may be one: name it in `calls` with `runs`";
    assert!(message.contains(advice), "{message}");
    let (_, message) = says("make ci", "built");
    assert!(!message.contains("may be one"), "{message}");
}

/// Goal: a file that no test can depend on does not count.
#[test]
fn temporary_files_do_not_count() {
    let test = command("c1", "npm test", true);
    let after = |path: &str| found("tested", &run_of(&[test.clone(), write("c2", path)]));
    assert_eq!(after("/tmp/notes.md"), None);
    assert_eq!(after("/app/tmp/notes.md").unwrap().0, Rule::ExpectationFailed);
    // The project itself may be there.
    assert_eq!(after("/tmp/app/a.js").unwrap().0, Rule::ExpectationFailed);
    let there = [test.clone(), write("c2", "/tmp/notes.md")];
    let there = run_of(&there).replace("\"/app\"", "\"/tmp/app\"");
    assert_eq!(found("tested", &there).unwrap().0, Rule::ExpectationFailed);
}

/// Goal: an agent that asks for an edit and the tests at once may wait for the edit.
#[test]
fn tests_may_wait_for_an_edit() {
    let (edit, test) = (write("c1", "/app/a.js"), command("c2", "npm test", true));
    let halves = |call: &str| {
        let (start, end) = call.split_once('\n').unwrap();
        (format!("{start}\n"), end.to_owned())
    };
    let ((edit, edited), (test, tested)) = (halves(&edit), halves(&test));
    let says = |calls: &[&String]| {
        let calls: Vec<String> = calls.iter().map(|it| (*it).clone()).collect();
        found("tested", &run_of(&calls)).unwrap().0
    };
    assert_eq!(says(&[&edit, &test, &edited, &tested]), Rule::ExpectationUnobservable);
    assert_eq!(says(&[&test, &edit, &edited, &tested]), Rule::ExpectationFailed);
    assert_eq!(says(&[&edit, &test, &tested, &edited]), Rule::ExpectationFailed);
}

/// Goal: Cargo prints the same for a run without tests as at the end of a run with tests.
#[test]
fn cargo_without_tests_proves_nothing_where_its_output_is_whole() {
    let none = "\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; \
                12 filtered out; finished in 0.00s\n";
    let some = none.replace("running 0 tests", "running 2 tests\n..").replace("ok. 0", "ok. 2");
    let ignored = none.replace("running 0 tests", "running 2 tests\nii");
    let errors = "   Compiling a v0.1.0 (/app)\n    Finished `test` profile in 0.41s\n";
    let empty = [none.to_owned(), none.repeat(2), ignored, format!("{none}\n{none}{errors}")];
    for line in ["cargo test -q nosuch", "cd app && cargo test nosuch 2>/dev/null"] {
        let says = |output: &str| tested(printing("c1", &json!({"command": line}), true, output));
        for output in &empty {
            let (says, message) = says(output);
            assert_eq!(says, Broken, "{line}: {output}: {message}");
            assert!(message.contains("printed that it did nothing"), "{message}");
        }
        for output in [&some, &format!("{some}{none}"), &format!("{some}{none}{errors}"), ""] {
            assert_eq!(says(output).0, Met, "{line}: {output}");
        }
    }
    for (line, expected) in [
        ("cargo test -q cart | tail -4", Hidden),
        ("cargo test -q cart; echo done", Hidden),
        ("set -o pipefail; cargo test -q cart | tail -4", Met),
        ("set -o pipefail; cargo test -q cart | grep -v ok", Met),
    ] {
        let says = |output: &str| tested(printing("c1", &json!({"command": line}), true, output)).0;
        assert_eq!(says(none), expected, "{line}");
    }
}

/// Goal: a message says what happened, in words, without a pattern.
#[test]
fn messages_say_what_happened() {
    let of = |calls: &[String]| found("tested", &run_of(calls)).unwrap().1;
    let (edit, late) = (write("c0", "/app/a.js"), write("c2", "/app/b.js"));
    let test = |works| command("c1", "npm test", works);
    let place = " (x.toml:1:19)";
    let cases = [
        (
            vec![edit.clone()],
            "the last test run must succeed after the last write call, but there \
             was none",
        ),
        (vec![edit.clone(), test(false)], "the last test run (line 4) failed"),
        (
            vec![test(true), late],
            "the last test run (line 2) came before the last write call \
             (line 4)",
        ),
    ];
    for (calls, message) in cases {
        assert_eq!(of(&calls), format!("{message}{place}"));
    }
    let (rule, message) = found("no-push", &run_of(&[command("c1", "git push", true)])).unwrap();
    assert_eq!(rule, Rule::ExpectationFailed);
    assert!(message.starts_with("no `git push` is allowed, but there was 1 (x.toml"), "{message}");
}

/// Goal: a result that is empty is a result.
#[test]
fn an_empty_result_is_shown() {
    let content = json!([{"type": "tool_use", "id": "t1", "name": "Bash",
        "input": {"command": "npm test"}}]);
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let said = json!({"type": "assistant", "message": {"id": "m1", "type": "message",
        "role": "assistant", "model": "m", "content": content, "stop_reason": null,
        "usage": usage}, "parent_tool_use_id": null, "session_id": "s1", "uuid": "u2"});
    let result = |content: &Value| {
        let block = json!({"type": "tool_result", "tool_use_id": "t1", "content": content,
            "is_error": false});
        let event = json!({"type": "user", "message": {"role": "user", "content": [block]},
            "parent_tool_use_id": null, "session_id": "s1", "uuid": "u3"});
        let stream = crate::starts::run("s1", &json!({}));
        let (start, rest) = stream.split_once('\n').unwrap();
        format!("{start}\n{said}\n{event}\n{rest}")
    };
    for content in [json!(""), json!("12 passed"), json!([{"type": "text", "text": ""}])] {
        let (code, report) = judged_with("expect.presets = [\"tested\"]", &result(&content));
        assert_eq!((code, report.contains("expectation-")), (0, false), "{report}");
    }
}

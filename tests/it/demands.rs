//! Expectations: what a user demands of a run.

use ndjson_check::{Diagnostic, Expectation, ExpectedCalls, Rule};
use serde_json::{Value, json};

use crate::streams::{files, root, run_on, text};
use crate::support::{builder, check};

fn line(event: &Value) -> String {
    format!("{event}\n")
}

pub(crate) fn init() -> String {
    line(&json!({"type": "system", "subtype": "init", "apiKeySource": "env", "cwd": "/app",
        "session_id": "s", "model": "Auto", "permissionMode": "default"}))
}

/// The end of a run that answered with this text.
pub(crate) fn answered(text: &str) -> String {
    let content = json!([{"type": "text", "text": text}]);
    let said = json!({"type": "assistant", "message": {"role": "assistant", "content": content},
        "session_id": "s"});
    let result = json!({"type": "result", "subtype": "success", "duration_ms": 1,
        "duration_api_ms": 1, "is_error": false, "result": text, "session_id": "s"});
    line(&said) + &line(&result)
}

/// One half of a call.
pub(crate) fn half(subtype: &str, id: &str, tool: &str, call: &Value) -> String {
    line(&json!({"type": "tool_call", "subtype": subtype, "call_id": id,
        "tool_call": {tool: call}, "session_id": "s"}))
}

/// A call with these arguments and this result, in two lines.
pub(crate) fn call(id: &str, tool: &str, args: &Value, result: &Value) -> String {
    half("started", id, tool, &json!({"args": args}))
        + &half("completed", id, tool, &json!({"args": args, "result": result}))
}

pub(crate) fn command(id: &str, command: &str, works: bool) -> String {
    let exit = i32::from(!works);
    let result = json!({"command": command, "workingDirectory": "", "exitCode": exit, "signal": "",
        "stdout": "", "stderr": "", "executionTime": 1, "interleavedOutput": ""});
    let key = if works { "success" } else { "failure" };
    call(id, "shellToolCall", &json!({"command": command}), &json!({key: result}))
}

pub(crate) fn write(id: &str, path: &str) -> String {
    let result = json!({"success": {"path": path, "linesCreated": 1, "fileSize": 1}});
    call(id, "writeToolCall", &json!({"path": path, "fileText": "x"}), &result)
}

pub(crate) fn rejected(id: &str, path: &str) -> String {
    let result = json!({"rejected": {"path": path, "reason": ""}});
    call(id, "writeToolCall", &json!({"path": path, "fileText": "x"}), &result)
}

pub(crate) fn fetch(id: &str) -> String {
    let url = "https://example.com/";
    let result = json!({"success": {"url": url, "content": "", "statusCode": 200}});
    call(id, "webFetchToolCall", &json!({"url": url}), &result)
}

/// A run with these calls that succeeds.
pub(crate) fn run_of(calls: &[String]) -> String {
    init() + &calls.concat() + &answered("DONE: all of it")
}

pub(crate) const PLACE: &str = "ndjson-check.toml:3:5";

fn calls(set: impl FnOnce(&mut ExpectedCalls)) -> Expectation {
    let mut calls = ExpectedCalls::default();
    set(&mut calls);
    Expectation::Calls(calls)
}

pub(crate) fn of_kind(kind: &str, set: impl FnOnce(&mut ExpectedCalls)) -> Expectation {
    let kind = serde_json::from_value(json!(kind)).unwrap();
    calls(|it| {
        it.kind = Some(kind);
        set(it);
    })
}

/// What this expectation raises: the rule, and its message and note without the place.
fn raised(stream: &str, expectation: &Expectation) -> Option<(Rule, String)> {
    let checker = builder(["--profile", "cursor", "--allow", "schema-violation"]);
    let mut checker = checker.expect(PLACE, expectation.clone()).build().unwrap();
    let (_, found) = check(&mut checker, stream.as_bytes());
    let of_rule = |it: &&Diagnostic| it.rule.name().starts_with("expectation-");
    let found: Vec<&Diagnostic> = found.iter().filter(of_rule).collect();
    assert!(found.len() <= 1, "{found:?}");
    found.first().map(|it| {
        let message = it.message.strip_suffix(&format!(" ({PLACE})")).expect(&it.message);
        let note = it.note.as_ref().map(|note| format!("; {note}")).unwrap_or_default();
        (it.rule, message.to_owned() + &note)
    })
}

pub(crate) fn holds(stream: &str, expectation: &Expectation) {
    assert_eq!(raised(stream, expectation), None, "{expectation:?}");
}

pub(crate) fn fails(stream: &str, expectation: &Expectation, message: &str) {
    let expected = Some((Rule::ExpectationFailed, message.to_owned()));
    assert_eq!(raised(stream, expectation), expected, "{expectation:?}");
}

pub(crate) fn hides(stream: &str, expectation: &Expectation, message: &str) {
    let of_lines = |_: &str| ": the stream does not show enough to decide";
    let note: String = message.matches("; see line").map(of_lines).collect();
    let message = format!("the stream does not show whether {message}{note}");
    let found = raised(stream, expectation).expect(&message);
    assert_eq!(found, (Rule::ExpectationUnobservable, message), "{expectation:?}");
}

/// The exit code and the report of the program with this configuration file.
pub(crate) fn judged_with(config: &str, stream: &str) -> (i32, String) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), config).unwrap();
    let output = run_on(&["--config", file.path().to_str().unwrap()], stream.as_bytes());
    (output.status.code().unwrap(), text(&output.stdout))
}

/// The configuration file in the README.
fn readmes_file() -> String {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (_, file) = readme.split_once("```toml\n[limits]").unwrap();
    let file = format!("[limits]{}", file.split_once("```").unwrap().0);
    assert_eq!(file.lines().count(), 12);
    file
}

/// Goal: the file in the README catches real runs that failed, and look good without it.
/// Method: recordings of four agents whose answer was cut at the output limit. Each ended with
/// exit status 0.
#[test]
fn the_readmes_file_catches_real_runs() {
    let file = readmes_file();
    let recordings = files(&root().join("lab/green"), "ndjson");
    assert_eq!(recordings.len(), 4);
    for path in recordings {
        let stream = std::fs::read_to_string(&path).unwrap();
        assert_eq!(judged_with("", &stream).0, 0, "{path:?}");
        let (code, report) = judged_with(&file, &stream);
        assert_eq!(code, 1, "{path:?}: {report}");
        assert!(report.contains("the answer does not match `DONE$`"), "{path:?}: {report}");
    }
}

/// Goal: the file in the README catches the runs that it names, and no good one.
#[test]
fn the_readmes_file_catches_what_it_names() {
    let file = readmes_file();
    let (edit, push) = (write("c1", "/app/src/a.js"), command("c2", "git push origin", true));
    let (red, green) = (command("c3", "npm test", false), command("c4", "npm test", true));
    let pipeline = write("c5", "/app/.github/workflows/ci.yml");
    let of = |calls: &[&String], answer: &str| -> (i32, String) {
        let calls: String = calls.iter().map(|it| it.as_str()).collect();
        judged_with(&file, &(init() + &calls + &answered(answer)))
    };
    let (code, report) = of(&[&edit, &red, &green], "DONE");
    assert_eq!((code, report.contains("expectation-")), (0, false), "{report}");
    for (calls, answer, broken) in [
        (vec![&edit, &green], "Shall I go on?", "the answer does not match"),
        (vec![&green], "DONE", "at least 1 write call must succeed, but none did"),
        (vec![&edit, &green, &red], "DONE", "the last command call"),
        (vec![&edit, &green, &push], "DONE", "no command call of `git push` is allowed"),
        (
            vec![&edit, &pipeline, &green],
            "DONE",
            "1 call writes a file that matches a glob of `never`",
        ),
    ] {
        let (code, report) = of(&calls, answer);
        assert_eq!(code, 1, "{report}");
        assert_eq!(report.matches("error[expectation-failed]").count(), 1, "{report}");
        assert!(report.contains(broken), "{broken}: {report}");
    }
}

#[test]
fn calls_are_counted_by_kind_tool_and_detail() {
    let run = run_of(&[
        command("c1", "cargo test", false),
        write("c2", "/app/src/a.rs"),
        fetch("c3"),
        command("c4", "cargo test --all", true),
        rejected("c5", "/app/b.rs"),
    ]);
    holds(&run, &of_kind("write", |it| it.at_least = Some(1)));
    holds(&run, &of_kind("write", |it| it.at_most = Some(1)));
    fails(
        &run,
        &of_kind("write", |it| it.at_least = Some(2)),
        "at least 2 write calls must succeed, but 1 did; see line 4",
    );
    fails(
        &run,
        &of_kind("fetch", |it| it.at_most = Some(0)),
        "no fetch call is allowed, but there was 1; see line 6",
    );
    let tests = |it: &mut ExpectedCalls| it.matches = Some("^cargo test".to_owned());
    fails(
        &run,
        &of_kind("command", |it| {
            tests(it);
            it.at_most = Some(1);
        }),
        "only 1 command call with `^cargo test` is allowed, but there were 2; see lines 2, 8",
    );
    holds(
        &run,
        &of_kind("command", |it| {
            tests(it);
            (it.at_least, it.last_must_succeed) = (Some(1), true);
        }),
    );
    fails(
        &run,
        &calls(|it| (it.tool, it.at_most) = (Some("webF*".to_owned()), Some(0))),
        "no call of the tool `webF*` is allowed, but there was 1; see line 6",
    );
    holds(&run, &calls(|it| (it.tool, it.at_most) = (Some("webS*".to_owned()), Some(0))));
}

#[test]
fn the_last_call_must_succeed() {
    let last = of_kind("command", |it| it.last_must_succeed = true);
    let (good, bad) = (command("c1", "make", true), command("c2", "make", false));
    holds(&run_of(&[bad.clone(), good.clone()]), &last);
    fails(&run_of(&[good, bad]), &last, "the last command call (line 4) failed");
    fails(&run_of(&[]), &last, "the last command call must succeed, but there was none");
}

#[test]
fn writes_stay_where_they_may_be() {
    let within = Expectation::WritesWithin(vec!["src/**".to_owned(), "tests/*.rs".to_owned()]);
    let never = Expectation::WritesNever(vec![".github/**".to_owned(), "**/*.lock".to_owned()]);
    let paths = [
        ("/app/src/a/b.rs", true, true),
        ("src/a.rs", true, true),
        ("./src/./a.rs", true, true),
        ("/app/tests/a.rs", true, true),
        ("/app/tests/a/b.rs", false, true),
        ("/app/src/../.github/ci.yml", false, false),
        ("/app/.github/ci.yml", false, false),
        ("/app/x/../../app/.github/ci.yml", false, false),
        ("/app/src/a.lock", true, false),
        ("Cargo.lock", false, false),
        ("/etc/passwd", false, true),
        ("../src/a.rs", false, true),
        ("/application/src/a.rs", false, true),
    ];
    for (path, is_within, is_allowed) in paths {
        let run = run_of(&[write("c1", path)]);
        assert_eq!(raised(&run, &within).is_none(), is_within, "{path}: within");
        assert_eq!(raised(&run, &never).is_none(), is_allowed, "{path}: never");
    }
    // Without the agent's directory, an absolute path in it cannot be distinguished from another.
    let lost = |path: &str| run_of(&[write("c1", path)]).replace("\"cwd\":\"/app\",", "");
    hides(
        &lost("/app/.github/ci.yml"),
        &never,
        "no call writes a file that matches `.github/**` or `**/*.lock`; see line 2",
    );
    hides(
        &lost("/app/src/a.rs"),
        &within,
        "calls write only files that match `src/**` or `tests/*.rs`; see line 2",
    );
    holds(&lost("/app/src/a.rs"), &never);
    let run = run_of(&[rejected("c1", "/app/.github/ci.yml"), write("c2", "/app/src/a.rs")]);
    holds(&run, &never);
    let run = run_of(&[write("c1", "/app/a.lock"), write("c2", "/app/b.lock")]);
    fails(&run, &never, "2 calls write a file that matches a glob of `never`; see lines 2, 4");
}

#[test]
fn the_answer_must_match() {
    let run = run_of(&[]);
    let matches = |pattern: &str| Expectation::AnswerMatches(pattern.to_owned());
    holds(&run, &matches("^DONE"));
    fails(&run, &matches("^done$"), "the answer does not match `^done$`");
    let schema =
        json!({"type": "object", "required": ["ok"], "properties": {"ok": {"const": true}}});
    let satisfies = Expectation::AnswerSatisfies(schema.to_string());
    fails(&run, &satisfies, "the answer is not JSON");
    let run = |answer: &str| init() + &answered(answer);
    holds(&run("{\"ok\":true}"), &satisfies);
    holds(&run("\n{\"ok\": true}\n"), &satisfies);
    fails(
        &run("{\"ok\":\"hunter2\"}"),
        &satisfies,
        "the answer does not satisfy its schema at /ok: true was expected",
    );
}

/// Goal: what is not observed has not passed.
#[test]
fn what_the_stream_hides_is_not_taken_for_granted() {
    let none = of_kind("fetch", |it| it.at_most = Some(0));
    // An unknown tool may do anything.
    let unknown = call("c1", "teleportToolCall", &json!({}), &json!({"success": {}}));
    hides(&run_of(std::slice::from_ref(&unknown)), &none, "there was no fetch call; see line 2");
    hides(
        &run_of(std::slice::from_ref(&unknown)),
        &Expectation::WritesWithin(vec!["**".to_owned()]),
        "calls write only files that match `**`; see line 2",
    );
    // Neither does it change what is sure.
    fails(
        &run_of(&[unknown, fetch("c2")]),
        &none,
        "no fetch call is allowed, but there was 1; see line 4",
    );
    // A call without its arguments.
    let bare = half("started", "c1", "shellToolCall", &json!({"args": {}}))
        + &half("completed", "c1", "shellToolCall", &json!({"result": {"success": {}}}));
    let harmless = of_kind("command", |it| {
        (it.matches, it.at_most) = (Some("rm -rf".to_owned()), Some(0));
    });
    hides(&run_of(&[bare]), &harmless, "there was no command call with `rm -rf`; see line 2");
    // The single object of a run says nothing about its calls.
    let result = answered("DONE").lines().last().unwrap().to_owned() + "\n";
    hides(&result, &none, "there was no fetch call; this stream shows no tool calls");
    // A broken line may have been a call.
    let broken = init() + "{\"type\":\"tool_call\",\n" + &answered("DONE");
    hides(&broken, &none, "there was no fetch call; a line is not a usable event");
}

/// Goal: a call that is open at the end may have done its work.
#[test]
fn an_open_call_counts_as_tried() {
    let open = half("started", "c1", "webFetchToolCall", &json!({"args": {"url": "https://a.b/"}}));
    let run = run_of(&[open]);
    let expected = "no fetch call is allowed, but there was 1; see line 2";
    fails(&run, &of_kind("fetch", |it| it.at_most = Some(0)), expected);
    let expected = "at least 1 fetch call must succeed, but none did; see line 2";
    fails(&run, &of_kind("fetch", |it| it.at_least = Some(1)), expected);
}

/// Goal: more calls than are followed do not make an expectation pass.
#[test]
fn calls_beyond_every_bound_are_counted() {
    let many = |count: usize| -> String {
        let start = |number: usize| {
            let args = json!({"args": {"path": "a"}});
            half("started", &format!("c{number}"), "readToolCall", &args)
        };
        (0..count).map(start).collect()
    };
    let none = of_kind("fetch", |it| it.at_most = Some(0));
    // The rows of the report are full.
    let reads = (0..1_200).map(|it| command(&format!("c{it}"), "true", true));
    let run = run_of(&[reads.collect(), fetch("last")]);
    fails(&run, &none, "no fetch call is allowed, but there was 1; see line 2402");
    // So many are open that no more can be followed.
    let run = |open| init() + &many(open) + &answered("DONE");
    holds(&run(20_000), &none);
    let open = "more than 20000 tool calls were open at once";
    fails(&run(20_001), &none, &format!("it is uncertain whether there was no fetch call; {open}"));
}

/// Goal: a run that failed need not have done its task; what it did is compared all the same.
#[test]
fn a_failed_run_stays_a_failed_run() {
    let failed = |calls: &str| {
        (init() + calls + &answered("no")).replace("\"is_error\":false", "\"is_error\":true")
    };
    holds(&failed(""), &of_kind("write", |it| it.at_least = Some(1)));
    holds(&failed(""), &of_kind("command", |it| it.last_must_succeed = true));
    holds(&failed(""), &Expectation::AnswerMatches("^DONE".to_owned()));
    let expected = "no fetch call is allowed, but there was 1; see line 2";
    fails(&failed(&fetch("c1")), &of_kind("fetch", |it| it.at_most = Some(0)), expected);
    let config = "expect.calls = [{ kind = \"write\", at-least = 1 }]";
    let (code, report) = judged_with(config, &failed(""));
    assert_eq!(code, 3, "{report}");
}

/// Goal: a library user learns at once that an expectation makes no sense.
#[test]
fn a_wrong_expectation_is_refused() {
    for (expectation, message) in [
        (Expectation::AnswerMatches("(".to_owned()), "not a regular expression: unclosed group"),
        (Expectation::AnswerSatisfies("{".to_owned()), "EOF while parsing"),
        (Expectation::AnswerSatisfies("{\"type\":5}".to_owned()), "`5` is not valid at /type"),
        (Expectation::WritesNever(vec!["[".to_owned()]), "`[` is not a glob"),
        (Expectation::WritesNever(vec!["./src/**".to_owned()]), "`./src/**` matches no path"),
        (Expectation::WritesNever(vec!["../x".to_owned()]), "`../x` matches no path"),
        (Expectation::WritesNever(vec!["src/".to_owned()]), "`src/` matches no path"),
        (Expectation::WritesNever(vec!["~/x".to_owned()]), "`~/x` matches no path"),
        (Expectation::WritesNever(vec![" src/**".to_owned()]), "matches no path"),
        (Expectation::WritesWithin(vec![String::new()]), "matches no path"),
    ] {
        let error = builder([]).expect(PLACE, expectation).build().unwrap_err().to_string();
        let start = format!("failed to use the expectation {PLACE}: ");
        assert!(error.starts_with(&start) && error.contains(message), "{error}");
    }
}

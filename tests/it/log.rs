//! The log: results of calls, reasoning and notices in `text` and `transcript`.

use std::fs;
use std::process::Stdio;

use ndjson_check::{Checker, Converter, Form, FormStyle, ProducerExit, Written};
use serde_json::{Value, json};

use crate::language::{checker, engines, stream};
use crate::streams::{cases, converted, misleads, program, root, run_on, text};

fn full_style() -> FormStyle {
    FormStyle { results: 1_000, thinking: true, ..FormStyle::default() }
}

/// A stream as a log with everything that a log can show.
pub(crate) fn logged(bytes: &[u8], checker: &mut Checker, to: Form) -> String {
    let log = Converter::new(to, full_style());
    let mut output = Written::new(Vec::new(), Box::new(log));
    checker.check("-", bytes, &mut output).unwrap();
    text(output.writer().unwrap())
}

fn profile() -> Value {
    json!({
        "calls": {
            "start": [{"when": {"/t": "a"}, "id": ["/id"]}],
            "completion": [{"when": {"/t": "b"}, "each": "/done", "id": ["/id"],
                "outcomes": [{"outcome": "succeeded", "when": {}}]}],
            "tool": [{"value": "/tool"}],
            "results": [
                {"text": ["{/out}", "stderr: {/err}"]},
                {"each": "/blocks", "where": {"/type": {"not": "image"}}, "text": ["{/text}"]},
                {"each": "/names", "text": ["{}"]},
                {"text": ["{/json#/text}"]},
                {"text": ["{^/all}"]}
            ]
        },
        "text": {"rules": [{"mode": "whole", "when": {"/t": "d"}, "value": "/text"}]},
        "thinking": [
            {"mode": "delta", "when": {"/t": "s"}, "value": "/part"},
            {"mode": "whole", "when": {"/t": "c"}, "each": "/blocks", "where": {"/k": 1},
                "value": "/text"}
        ],
        "notices": [
            {"kind": "retry", "when": {"/t": "e", "/no": {"exists": true}},
                "detail": ["attempt {/no}: {/why}", "attempt {/no}"]},
            {"kind": "compaction", "when": {"/t": "e", "/shorter": true}},
            {"kind": "question", "when": {"/t": "e"}, "each": "/asks", "detail": ["{}"]}
        ]
    })
}

/// Goal: a reader sees whole lines while the agent is at work.
#[test]
fn a_text_that_has_ended_is_a_whole_line() {
    let [mut fast, _] = engines(&profile());
    let mut output =
        Written::new(Vec::new(), Box::new(Converter::new(Form::Transcript, FormStyle::default())));
    let mut check = fast.stream("-");
    check.feed(stream(&json!([{"t": "d", "text": "hello"}])).as_bytes(), &mut output).unwrap();
    assert_eq!(text(output.writer().unwrap()), "hello\n");
}

/// Method: each stream on both engines, and the lines of its log.
#[test]
fn a_profile_says_where_reasoning_and_notices_are() {
    let call = json!({"t": "a", "id": "1", "tool": "x"});
    let whole = |text: &str| json!({"t": "c", "blocks": [{"k": 1, "text": text}, {"text": "no"}]});
    let part = |text: &str| json!({"t": "s", "part": text});
    let said = json!({"t": "d", "text": "hello"});
    let mut logs = engines(&profile());
    for (events, expected) in [
        (json!([whole("one\n\n two\n")]), &["Thinking: one", "     two"][..]),
        (json!([part("on"), part("e\ntw"), part("o")]), &["Thinking: one", "    two"]),
        // The whole of chunks adds nothing, whatever came between; nor does a repeated whole.
        (json!([part("on"), part("e"), whole("one"), whole("one")]), &["Thinking: one"]),
        (json!([part("on"), part("e"), said, whole("one")]), &["Thinking: one"]),
        (json!([part("one"), said, whole("two")]), &["Thinking: one", "Thinking: two"]),
        (json!([whole("one"), said, whole("one")]), &["Thinking: one", "Thinking: one"]),
        (json!([part("one"), said, part("two")]), &["Thinking: one", "Thinking: two"]),
        (json!([part("one"), call]), &["Thinking: one", "Unfinished: call tool x"]),
        (json!([whole("")]), &[]),
        (json!([{"t": "e", "no": 2, "why": "a\nb"}]), &["Retry: attempt 2: a", "    b"]),
        (json!([{"t": "e", "no": 2, "why": ""}]), &["Retry: attempt 2"]),
        (json!([{"t": "e", "shorter": true}]), &["Compaction"]),
        (json!([{"t": "e", "asks": ["who?", "why?"]}]), &["Question: who?", "Question: why?"]),
        (json!([part("one"), {"t": "e", "no": 2}]), &["Thinking: one", "Retry: attempt 2"]),
        // What comes after the end is not of the run.
        (json!([{"t": "z"}, {"t": "e", "no": 2}]), &[]),
    ] {
        for checker in &mut logs {
            let shown = logged(stream(&events).as_bytes(), checker, Form::Text);
            assert_eq!(shown.lines().collect::<Vec<_>>(), expected, "{events}");
        }
    }
}

/// Method: each completion, and what is below the line of its call.
#[test]
fn a_profile_says_where_results_are() {
    for (done, expected) in [
        (json!({"out": "one\ntwo\n", "err": "three"}), &["one", "two", "stderr: three"][..]),
        (json!({"out": "one", "blocks": [{"text": "two"}]}), &["one"]),
        (json!({"blocks": [{"text": "one"}, {"type": "image", "text": "no"}]}), &["one"]),
        (json!({"out": "", "names": ["a.txt", "b.txt"]}), &["a.txt", "b.txt"]),
        (json!({"json": "{\"text\": \"one\"}"}), &["one"]),
        (json!({}), &["of all"]),
    ] {
        let mut done = done;
        done["id"] = json!("1");
        let events = json!([{"t": "a", "id": "1", "tool": "x", "out": "no"},
            {"t": "b", "all": "of all", "done": [done]}]);
        for mut checker in engines(&profile()) {
            let shown = logged(stream(&events).as_bytes(), &mut checker, Form::Transcript);
            let mut lines = shown.lines();
            assert_eq!(lines.next(), Some("[Called tool x]"));
            let below: Vec<&str> = lines.map(|it| it.strip_prefix("    ").unwrap()).collect();
            assert_eq!(below, expected, "{events}");
        }
    }
}

/// Goal: what `--to text` and `--to transcript` write without the options does not change.
/// Method: all fixtures; a log with the options has the same lines in the same order, and more.
#[test]
fn the_options_only_add_lines() {
    for case in cases() {
        let (bytes, name) = (case.bytes(), case.path.display());
        for to in [Form::Text, Form::Transcript] {
            let plain = converted(&bytes, &mut case.checker(), to);
            let log = Converter::new(to, FormStyle { is_raw: true, ..FormStyle::default() });
            let mut output = Written::new(Vec::new(), Box::new(log));
            case.checker().check("-", &bytes[..], &mut output).unwrap();
            assert_eq!(text(output.writer().unwrap()), plain, "{name}");
            if to == Form::Text {
                let full = logged(&bytes, &mut case.checker(), to);
                let plain = plain.lines().map(|it| it.replace(misleads, "?"));
                let mut lines = full.lines();
                for line in plain.filter(|line| !line.contains('?')) {
                    assert!(lines.any(|it| it == line), "{name}: {line}");
                }
            }
        }
    }
}

/// Goal: no line depends on how the stream is cut.
#[test]
fn a_log_is_the_same_however_the_stream_arrives() {
    for case in cases().into_iter().filter(|case| case.bytes().len() < 20_000) {
        let bytes = case.bytes();
        for to in [Form::Text, Form::Transcript] {
            let whole = logged(&bytes, &mut case.checker(), to);
            let mut checker = case.checker();
            let log = Converter::new(to, full_style());
            let mut output = Written::new(Vec::new(), Box::new(log));
            let mut stream = checker.stream("-");
            let fed = bytes.chunks(7).try_for_each(|bytes| stream.feed(bytes, &mut output));
            fed.and_then(|()| stream.finish(&ProducerExit::default(), &mut output)).unwrap();
            assert_eq!(text(output.writer().unwrap()), whole, "{}", case.path.display());
        }
    }
}

/// A stream of Cursor's with one command and this output.
fn with_output(output: &str) -> Vec<u8> {
    let shell = json!({"shellToolCall": {"args": {"command": "make %0A::x::"},
        "result": {"success": {"exitCode": 0, "interleavedOutput": output}}}});
    let call = |subtype: &str, call: &Value| {
        json!({"type": "tool_call", "subtype": subtype, "call_id": "1", "tool_call": call,
            "session_id": "s"})
    };
    stream(&json!([
        {"type": "thinking", "subtype": "delta", "text": format!("x{output}"), "session_id": "s"},
        call("started", &json!({"shellToolCall": {"args": {"command": "make %0A::x::"}}})),
        call("completed", &shell),
    ]))
    .into_bytes()
}

/// Goal: in a workflow a long result is folded, and no text of the agent is a command.
#[test]
fn results_are_folded_in_a_workflow() {
    const NASTY: &str = "\n::error::x\n  ::endgroup::\n##[error]y\r::add-mask::z\u{1b}[31m\u{202e}";
    let long = format!("{}{NASTY}", "line\n".repeat(9));
    for form in ["text", "transcript"] {
        for (output, is_folded) in [(&*long, true), (NASTY, false)] {
            let mut command = program();
            command.args(["--profile", "cursor", "--to", form, "--results", "50", "--thinking"]);
            command.env("GITHUB_ACTIONS", "true").stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.stderr(Stdio::null()).spawn().unwrap();
            let stream = with_output(output);
            std::io::Write::write_all(&mut child.stdin.take().unwrap(), &stream).unwrap();
            let shown = text(&child.wait_with_output().unwrap().stdout);
            let is_command =
                |line: &&str| line.trim_start().starts_with("::") || line.contains("##[");
            let commands: Vec<&str> = shown.split(['\n', '\r']).filter(is_command).collect();
            let title = match form {
                "text" => "::group::Ran terminal command make %250A::x:: (exit 0)",
                _ => "::group::[Ran terminal command make %250A::x:: (exit 0)]",
            };
            let expected = if is_folded { &[title, "::endgroup::"][..] } else { &[] };
            assert_eq!(commands, expected, "{shown}");
            let raw = |it: &char| misleads(*it) && !['\n', '\t'].contains(it);
            assert_eq!(shown.chars().find(raw), None, "{shown:?}");
            assert!(shown.contains("Thinking: ") && shown.contains("\\x1b[31m"), "{shown}");
        }
    }
}

/// Goal: colour comes only where it is asked for, and is all that it changes.
#[test]
fn colour_is_for_those_who_ask() {
    let stream = fs::read(root().join("fixtures/agents/cursor/plain.ndjson")).unwrap();
    let log = |flags: &[&str], variables: &[(&str, &str)]| {
        let mut command = program();
        command.args(["--to", "text", "--results", "2"]).args(flags);
        command.envs(variables.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), &stream).unwrap();
        text(&child.wait_with_output().unwrap().stdout)
    };
    let plain = log(&[], &[]);
    assert!(!plain.contains('\x1b'), "{plain:?}");
    assert_eq!(log(&[], &[("FORCE_COLOR", "1")]), plain);
    let coloured = log(&["--color", "always"], &[("NO_COLOR", "1")]);
    assert!(coloured.contains("\x1b[31mRan terminal command npm test"), "{coloured:?}");
    // What failed is not dim, and of a change the lines are shown.
    assert!(coloured.contains("\n    1 failing"), "{coloured:?}");
    assert!(coloured.contains("\x1b[2m    ") && coloured.contains("\x1b[32m    +"), "{coloured:?}");
    let bare = ["\x1b[31m", "\x1b[32m", "\x1b[2m", "\x1b[0m"];
    assert_eq!(bare.iter().fold(coloured, |text, code| text.replace(code, "")), plain);
}

/// Goal: the colours of a command's output are colours where there are some, and nothing elsewhere.
#[test]
fn colours_of_a_command_are_colours_or_nothing() {
    let stream = with_output("\u{1b}[1;32mok\u{1b}[0m 1\u{1b}[2J\n\u{1b}[38;5;196mbad");
    let log = |flags: &[&str]| {
        let flags = [&["--profile", "cursor", "--to", "transcript", "--results", "9"], flags];
        text(&run_on(&flags.concat(), &stream).stdout)
    };
    let plain = log(&[]);
    assert!(plain.contains("\n    ok 1\\x1b[2J\n    bad\n"), "{plain:?}");
    let colored = log(&["--color", "always"]);
    let green = "\n    \x1b[1m\x1b[32mok\x1b[0m 1\\x1b[2J\n    \x1b[31mbad\x1b[0m\n";
    assert!(colored.contains(green), "{colored:?}");
}

/// Goal: of a file that was read a log shows less than of what failed.
#[test]
fn what_was_read_is_quiet() {
    let good = fs::read(root().join("fixtures/agents/cursor/plain.ndjson")).unwrap();
    let log = text(&run_on(&["--to", "transcript", "--results", "4"], &good).stdout);
    let below = |action: &str| {
        let lines = log.lines().skip_while(|line| !line.starts_with(action)).skip(1);
        lines.take_while(|line| line.starts_with("    ")).count()
    };
    assert_eq!(below("[Read file src/cart.js]"), 2, "{log}");
    assert_eq!(below("[Edited file src/cart.js"), 2, "{log}");
    assert!(
        log.contains("\n    -  return items") && log.contains("\n    +  return items"),
        "{log}"
    );
    assert!(below("[Ran terminal command npm test") == 2, "{log}");
}

#[test]
fn the_options_need_a_log() {
    for flags in [["--results", "3"].as_slice(), &["--thinking"]] {
        for form in ["answer", "json", "stream-json"] {
            let output = run_on(&[flags, &["--to", form]].concat(), b"");
            assert_eq!(output.status.code(), Some(2));
            let expected = "ndjson-check: --results and --thinking require --to text or --to \
                            transcript\n";
            assert_eq!(text(&output.stderr), expected);
        }
        assert_eq!(run_on(flags, b"").status.code(), Some(2));
    }
}

/// Goal: a huge result, and a huge thought, take a bounded number of lines and bytes.
#[test]
fn huge_texts_are_cut() {
    let output = "x".repeat(100_000) + &"\ny".repeat(100_000);
    let mut shown = Vec::new();
    let log = Converter::new(Form::Text, FormStyle { results: 4, ..FormStyle::default() });
    let mut cursor = Checker::builder().profile("cursor").build().unwrap();
    let mut conversion = Written::new(&mut shown, Box::new(log));
    cursor.check("-", &with_output(&output)[..], &mut conversion).unwrap();
    let shown = text(&shown);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 6, "{lines:?}");
    assert_eq!(lines[1], format!("    {}…", "x".repeat(300)));
    assert_eq!(lines[2..], ["    y", "    … 99997 lines more …", "    y", "    y"]);
    let mut thinker = checker(&profile());
    let events = json!([{"t": "s", "part": "x".repeat(100_000)}, {"t": "s", "part": "y"}]);
    let log = logged(stream(&events).as_bytes(), &mut thinker, Form::Text);
    assert!(log.lines().all(|line| line.len() <= 100_020), "{}", log.len());
}

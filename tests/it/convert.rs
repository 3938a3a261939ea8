//! The stream in other forms.

use std::fs;
use std::io;
use std::process::Output;

use ndjson_check::{Converter, Error, Form, FormStyle, Written};
use serde_json::Value;

use crate::streams::{Case, cases, program, root, run_on, shared, some_cases, text};

pub(crate) const FORMS: [&str; 8] =
    ["text", "transcript", "answer", "json", "events", "chrome-trace", "otlp-json", "atif"];

fn converted(flags: &[String], form: &str, stream: &[u8]) -> Output {
    let flags: Vec<&str> = flags.iter().map(String::as_str).chain(["--to", form]).collect();
    run_on(&flags, stream)
}

/// Whether the producer has a format that is a single object.
fn has_object(case: &Case) -> bool {
    let mut object = Written::new(
        io::sink(),
        Box::new(Converter::new(Form::Json, FormStyle { is_raw: true, ..FormStyle::default() })),
    );
    !matches!(
        case.checker().check("-", io::empty(), &mut object),
        Err(Error::NoSingleObject { .. })
    )
}

/// Goal: converting changes neither verdict nor report; a filter and a copy have every byte.
/// Method: some of the cases with a copy and in one form: all forms of all are ten thousand
/// processes. The length of its path chooses the form. Streams of no agent, with bytes that agents
/// do not write, pass the filter, too.
#[test]
fn converting_changes_no_verdict_and_passes_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    let tee = format!("--tee={}", copy.display());
    for case in some_cases(5) {
        let name = case.path.display();
        let flags: Vec<&str> = case.flags.iter().map(String::as_str).chain([&*tee]).collect();
        let plain = run_on(&flags, &case.bytes());
        assert_eq!(fs::read(&copy).unwrap(), case.bytes(), "{name}");
        let forms = [&FORMS[..], &["stream-json"]].concat();
        let chosen = forms[case.path.as_os_str().len() % forms.len()];
        let is_of_agent = case.path.starts_with("fixtures/agents");
        for form in [Some(chosen), (!is_of_agent).then_some("stream-json")].into_iter().flatten() {
            if form == "json" && !has_object(&case) {
                continue;
            }
            let output = converted(&case.flags, form, &case.bytes());
            assert_eq!(output.status.code(), plain.status.code(), "{form}, {name}");
            assert_eq!(output.stderr, plain.stdout, "{form}, {name}");
            // An array of events becomes lines.
            let is_array = case.bytes().starts_with(b"[") && case.folder() != "not-ndjson";
            if form == "stream-json" && !is_array {
                assert_eq!(output.stdout, case.bytes(), "{name}");
            }
        }
    }
}

/// Goal: what is promised of `answer` and `json` holds for real runs.
/// Method: every recording that succeeded: `json` is the recorded result, `answer` the text of the
/// last assistant event, which has no time; the other forms are never empty of what happened.
#[test]
fn recordings_convert_to_their_own_result_and_last_message() {
    let Some(folder) = shared("captures") else { return };
    let mut converted_count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|it| it != "ndjson") {
            continue;
        }
        let stream = fs::read(&path).unwrap();
        let events: Vec<Value> =
            text(&stream).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let result = events.last().unwrap();
        let last = events.iter().rfind(|it| it["type"] == "assistant");
        let message = last.map_or(&result["result"], |it| &it["message"]["content"][0]["text"]);
        let output = text(&converted(&[], "json", &stream).stdout);
        assert_eq!(&serde_json::from_str::<Value>(&output).unwrap(), result, "{}", path.display());
        assert_eq!(output.matches('\n').count(), 1);
        let head = r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":"#;
        assert!(output.starts_with(head), "{output}");
        let answer = text(&converted(&[], "answer", &stream).stdout);
        let message = message.as_str().unwrap().trim_matches('\n');
        assert_eq!(answer, format!("{message}\n"), "{}", path.display());
        let actions = text(&converted(&[], "text", &stream).stdout);
        let completed = events.iter().filter(|it| it["subtype"] == "completed");
        let calls = completed.filter(|it| it["type"] == "tool_call").count();
        assert_eq!(actions.lines().count(), calls, "{actions}");
        let transcript = text(&converted(&[], "transcript", &stream).stdout);
        assert!(transcript.contains(answer.trim_end()), "{transcript}");
        let once = result["result"].as_str().unwrap().matches(answer.trim_end()).count();
        assert_eq!(transcript.matches(answer.trim_end()).count(), once, "{transcript}");
        converted_count += 1;
    }
    assert!(converted_count > 15, "only {converted_count}");
}

/// Goal: a delta is text whatever it says; the final version of a segment is the answer; a call
/// that completes twice is shown once.
#[test]
fn deltas_are_text_and_a_final_version_wins() {
    let event = |text: &str, more: &str| {
        format!(
            "{{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"text\",\
             \"text\":\"{text}\"}}]}},{more}\"session_id\":\"s\"}}\n"
        )
    };
    let result = |text: &str| {
        format!(
            "{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\
             \"result\":\"{text}\",\"session_id\":\"s\"}}\n"
        )
    };
    let delta = |text: &str| event(text, "\"timestamp_ms\":1,");
    let ha = ["ha", "ha", "haha"].map(delta).concat();
    let answer = |stream: String| text(&converted(&[], "answer", stream.as_bytes()).stdout);
    assert_eq!(answer(ha.clone() + &result("hahahaha")), "hahahaha\n");
    assert_eq!(answer(ha + &result("haha")), "hahahaha\n");
    assert_eq!(answer(delta("a") + &event("ab", "") + &result("ab")), "ab\n");
    let call = |half: &str| {
        format!(
            "{{\"type\":\"tool_call\",\"subtype\":\"{half}\",\"call_id\":\"c\",\
             \"tool_call\":{{\"readToolCall\":{{\"args\":{{\"path\":\"a\"}}}}}}}}\n"
        )
    };
    let stream = call("started") + &call("completed") + &call("completed");
    assert_eq!(text(&converted(&[], "text", stream.as_bytes()).stdout), "Read file a\n");
}

/// Goal: on one screen nothing is glued: the conversion is complete before the last diagnostics.
#[test]
fn the_report_begins_on_a_line_of_its_own() {
    let temporary = tempfile::tempdir().unwrap();
    let shown = temporary.path().join("screen");
    for folder in ["agents/cursor", "rules/truncated-line", "rules/missing-terminal-event"] {
        let folder = format!("fixtures/{folder}");
        for case in cases().into_iter().filter(|case| case.path.starts_with(&folder)) {
            let file = fs::File::create(&shown).unwrap();
            let mut command = program();
            command.args(["--to", "transcript"]).arg(&case.path);
            command.stderr(file.try_clone().unwrap()).stdout(file).status().unwrap();
            let name = case.path.display().to_string().replace('\\', "/");
            let screen = fs::read_to_string(&shown).unwrap();
            let reports = screen.lines().filter(|line| line.contains(&name));
            for line in reports {
                let (mark, rest) = line.split_once(' ').unwrap();
                assert!(["✓", "✗", "!"].contains(&mark) && rest.starts_with(&name), "{line}");
            }
        }
    }
}

/// Goal: nothing for a failed run where only a good one has an answer.
#[test]
fn failed_and_cut_runs_have_no_answer_and_no_object() {
    let mut checked = 0;
    let failed =
        ["agents/cursor/is-error.ndjson", "rules/missing-terminal-event", "rules/truncated-line"];
    let failed = failed.map(|it| format!("fixtures/{it}"));
    for case in cases().into_iter().filter(|it| failed.iter().any(|path| it.path.starts_with(path)))
    {
        for form in ["answer", "json"] {
            let output = converted(&case.flags, form, &case.bytes());
            assert_eq!(text(&output.stdout), "", "{form}, {}", case.path.display());
        }
        checked += 1;
    }
    assert!(checked > 5, "only {checked}");
}

/// Goal: whoever asked for JSON gets it, also from an agent that repeats no text.
#[test]
fn an_answer_may_be_a_value() {
    for (path, expected) in [
        ("claude/structured-answer", "{\"ok\":true}\n"),
        ("claude/structured-answer-as-text", "{\"ok\":true}\n"),
    ] {
        let stream = fs::read(root().join(format!("fixtures/agents/{path}.ndjson"))).unwrap();
        assert_eq!(text(&converted(&[], "answer", &stream).stdout), expected, "{path}");
    }
}

#[test]
fn only_valid_events_pass_when_asked() {
    let good = fs::read(root().join("fixtures/agents/cursor/plain.ndjson")).unwrap();
    let mut stream = b"noise\n{\"type\":\"user\"}\n\n".to_vec();
    stream.extend_from_slice(&good);
    let output = run_on(&["--to", "stream-json", "--only-valid"], &stream);
    assert_eq!(output.stdout, good);
    assert_eq!(output.status.code(), Some(1));
}

#[cfg(target_os = "linux")]
#[test]
fn a_copy_that_cannot_be_written_is_two_and_the_check_ends() {
    let good = fs::read(root().join("fixtures/agents/cursor/plain.ndjson")).unwrap();
    let output = run_on(&["--tee", "/dev/full"], &good);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("failed to write to /dev/full: "));
    assert!(text(&output.stdout).contains("✓ succeeded"));
    let output = run_on(&["--tee", "/no/such/folder/copy"], &good);
    assert_eq!(output.status.code(), Some(2));
    let mut full = program();
    full.args(["--to", "text", "fixtures/agents/cursor/plain.ndjson"]);
    let device = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = full.stdout(device).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}

/// Goal: a reader who has seen enough ends the conversion, never the check.
#[cfg(unix)]
#[test]
fn a_reader_that_leaves_changes_no_verdict() {
    for (path, expected) in
        [("rules/session-id-changed", 1), ("agents/cursor/parallel-calls.ndjson", 0)]
    {
        for form in FORMS.iter().chain(&["stream-json"]) {
            let script = format!(
                "cat $(find fixtures/{path} -name '*.ndjson' | head -1) \
                 | $P -q --to {form} | true; echo ${{PIPESTATUS[1]}}"
            );
            let mut shell = std::process::Command::new("bash");
            shell.args(["-c", &script]).env("P", crate::streams::PROGRAM).current_dir(root());
            let output = shell.stdin(std::process::Stdio::null()).output().unwrap();
            assert_eq!(text(&output.stdout), format!("{expected}\n"), "{form}");
        }
    }
}

#[test]
fn flags_that_do_not_go_together_are_refused() {
    for flags in [&["--only-valid"][..], &["--raw"], &["--only-valid", "--to", "text"]] {
        let output = run_on(flags, b"");
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
    }
    let two = program()
        .args(["--tee", "x", "fixtures/rules/blank-line", "fixtures/agents/cursor"])
        .output();
    assert_eq!(two.unwrap().status.code(), Some(2));
}

/// Goal: what was converted has been written, even if the next event stops the check.
#[test]
fn what_was_converted_before_a_schema_failed_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("slow.json");
    let without_end = r#"{"properties": {"s": {"pattern": "^(?!x)(a|aa)+(?=z)$"}}}"#;
    std::fs::write(&schema, without_end).unwrap();
    let good = "{\"type\":\"x\",\"s\":1}\n";
    let stream = format!("{good}{good}{{\"type\":\"x\",\"s\":\"{}\"}}\n", "a".repeat(200));
    let flags = [
        "--profile",
        "jsonl",
        "--schema",
        schema.to_str().unwrap(),
        "--to",
        "stream-json",
        "--only-valid",
    ];
    let output = run_on(&flags, stream.as_bytes());
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stdout), good.repeat(2));
}

/// Goal: an edit whose arguments name no file says which files it changed.
#[test]
fn an_edit_names_its_files() {
    let stream = fs::read(root().join("fixtures/agents/opencode/changes.ndjson")).unwrap();
    for form in ["text", "transcript"] {
        let shown = text(&converted(&[], form, &stream).stdout);
        let line = "Changed files /home/dev/house/bolt.txt, /home/dev/house/rust.txt";
        assert!(shown.contains(line), "{form}: {shown}");
    }
}

/// Goal: what a sub-agent says in its own session is not the run's text, and becomes it once the
/// user resumes that session.
#[test]
fn the_session_of_a_sub_agent_can_become_that_of_the_run() {
    let run = "fixtures/agents/codex-app-server/subagent.ndjson";
    let run = std::fs::read_to_string(root().join(run)).unwrap();
    let transcript = |stream: &str| {
        let arguments = ["--profile=codex-app-server", "--to=transcript", "--quiet"];
        text(&run_on(&arguments, stream.as_bytes()).stdout)
    };
    let alone = transcript(&run);
    assert!(alone.contains("The command printed hi."), "{alone}");
    assert!(!alone.contains("The sub-agent says hi."), "{alone}");
    let turn = r#""turn":{"id":"t","rootTurnId":"t","items":[],"status":"inProgress"}"#;
    let item = r#""turnId":"t","item":{"type":"agentMessage","id":"m","text":"It goes on."}"#;
    let resumed = [
        r#"{"id":9,"result":{"thread":{"id":"thr_4","turns":[]}}}"#.to_owned(),
        format!(r#"{{"method":"turn/started","params":{{"threadId":"thr_4",{turn}}}}}"#),
        format!(r#"{{"method":"item/completed","params":{{"threadId":"thr_4",{item}}}}}"#),
    ];
    let both = transcript(&(run + &resumed.join("\n") + "\n"));
    assert!(both.contains("It goes on."), "{both}");
    assert!(!both.contains("The sub-agent says hi."), "{both}");
}

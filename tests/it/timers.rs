//! Run mode and pipes: timeouts and the idle timer.

use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use serde_json::json;

use crate::fake_agent::{agent, ended, run};
use crate::producer::{GOOD, code};
#[cfg(unix)]
use crate::streams::root;
use crate::streams::{program, text};

#[test]
#[cfg_attr(windows, ignore = "a process may take longer to start than these timers")]
fn timeouts_end_the_command_and_name_the_open_calls() {
    let open = "fixtures/rules/missing-terminal-event/open-calls.ndjson";
    let rows: [(&[&str], &[&str], &str); 5] = [
        (
            &["--idle-timeout", "300ms"],
            &["head", "2", GOOD, "sleep", "60"],
            "no event arrived for 300ms",
        ),
        (
            &["--idle-timeout", "300ms"],
            &["head", "2", GOOD, "dribble"],
            "no event arrived for 300ms",
        ),
        (&["--idle-timeout", "300ms"], &["sleep", "60"], "no event arrived for 300ms"),
        // After the end of the stream, an open call cannot end.
        (
            &["--idle-timeout", "300ms"],
            &["emit", open, "close-stdout", "sleep", "60"],
            "no event arrived for 300ms",
        ),
        (
            &["--timeout", "1800ms", "--idle-timeout", "100ms"],
            &["emit", open, "sleep", "60"],
            "the run did not end within 1s 800ms",
        ),
    ];
    for (flags, agent, shown) in rows {
        let output = run(flags, agent);
        let report = text(&output.stdout);
        assert_eq!(code(&output), 4, "{agent:?}: {report}");
        assert!(report.contains(shown), "{agent:?}: {report}");
        assert!(report.contains("timed out: "), "{report}");
        if agent[..] == ["emit", open, "sleep", "60"] {
            let note = "2 open tool calls: `shell` `vm up a` since line 4 (1s), \
                        `shell` `vm up b` since line 5 (1s)\n";
            assert!(report.contains(note), "{report}");
        }
    }
}

/// Goal: a run that is over has not timed out; the timeout only ends the wait for its process.
#[test]
fn a_timeout_after_the_end_only_stops_the_agent() {
    let output = run(&["--timeout", "800ms"], &["emit", GOOD, "sleep", "60"]);
    let report = text(&output.stdout);
    assert_eq!(code(&output), 0, "{report}");
    assert!(report.contains("still running after its terminal event; stopped"), "{report}");
}

/// Goal: an agent that writes a call only when it has ended may be silent, and the report says so.
#[test]
#[cfg_attr(windows, ignore = "a process may take longer to start than these timers")]
fn an_agent_that_hides_open_calls_has_no_idle_timeout() {
    let tools = "fixtures/agents/opencode/tools.ndjson";
    let agent = ["head", "1", tools, "sleep", "1", "emit", tools];
    let output = run(&["--idle-timeout", "300ms"], &agent);
    let report = text(&output.stdout);
    assert_eq!(code(&output), 0, "{report}");
    assert!(
        report.contains("note: the idle timeout did not apply, because opencode shows"),
        "{report}"
    );
    let output = run(&["--timeout", "800ms", "--idle-timeout", "300ms"], &agent[..5]);
    assert_eq!(code(&output), 4, "{}", text(&output.stdout));
}

/// Goal: a call that was refused is not at work: an agent that is silent after it is ended.
#[test]
#[cfg_attr(windows, ignore = "a process may take longer to start than these timers")]
fn a_refused_call_does_not_stop_the_idle_timer() {
    let refused = "fixtures/agents/acp/gemini-only-call-refused.ndjson";
    // The line after the request is a text.
    let output =
        run(&["--profile", "acp", "--idle-timeout", "1s"], &["head", "5", refused, "sleep", "60"]);
    assert_eq!(code(&output), 4, "{}", text(&output.stdout));
}

/// Goal: an agent that only says that it connects again makes no progress.
/// Method: a notice every 200 ms, for two seconds; then the same with another event.
#[test]
fn notices_of_a_retry_are_no_progress() {
    let retry = r#"{"type":"error","message":"Reconnecting... 1/5 (timeout)"}"#;
    let message =
        r#"{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"x"}}"#;
    for (line, expected) in [(retry, 4), (message, 0)] {
        let line = format!("{line}\n");
        let recovered = "fixtures/agents/codex/recovered.ndjson";
        let agent = [
            &["head", "3", recovered][..],
            &["say", &line, "sleep", "0.2"].repeat(10),
            &["say", "{\"type\":\"turn.completed\",\"usage\":{}}\n"],
        ];
        let output = run(&["--idle-timeout", "900ms"], &agent.concat());
        let report = text(&output.stdout);
        assert_eq!(code(&output) == 4, expected == 4, "{report}");
    }
}

#[test]
fn a_timed_pipe_is_given_up_and_nobody_killed() {
    let mut child = program()
        .args(["--idle-timeout", "300ms"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pipe = child.stdin.take();
    let mut report = String::new();
    child.stdout.take().unwrap().read_to_string(&mut report).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(4), "{report}");
    assert!(report.starts_with("✗ timed out: no event arrived for 300ms\n"), "{report}");
    drop(pipe);
    // Time that is left over changes nothing.
    let output = crate::streams::run_on(&["--timeout", "1h", "--idle-timeout", "10m"], b"");
    assert_eq!(code(&output), 1);
    let files = program().args(["--timeout", "1s", GOOD]).output().unwrap();
    assert_eq!(code(&files), 2);
}

/// Goal: a producer that never stops writing does not keep a timer from ending it.
#[test]
fn floods_do_not_outrun_the_timers() {
    assert_ne!(code(&run(&["--profile=cursor", "--timeout", "300ms", "-q"], &["flood"])), 0);
    let mut flood = std::process::Command::new(agent());
    let mut flood = flood.arg("flood").stdout(Stdio::piped()).spawn().unwrap();
    let mut piped = program();
    piped
        .args(["-q", "--profile=cursor", "--timeout", "300ms"])
        .stdin(flood.stdout.take().unwrap());
    let child = piped.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    assert_ne!(code(&ended(child)), 0);
    // It has the other end of the pipe, too.
    drop(piped);
    flood.wait().unwrap();
}

/// Goal: a tool whose calls have no name of their own is named once.
#[test]
fn a_tool_is_named_once() {
    let folder = tempfile::tempdir().unwrap();
    let stream = folder.path().join("run");
    let lines = [
        json!({"type": "system", "subtype": "init", "cwd": "/app", "session_id": "s1",
            "tools": ["mcp__tracker__search"], "mcp_servers": [], "model": "claude-sonnet-4-5",
            "permissionMode": "default", "apiKeySource": "none", "output_style": "default",
            "claude_code_version": "2.1.330", "uuid": "u1"}),
        json!({"type": "assistant", "session_id": "s1", "parent_tool_use_id": null, "uuid": "u2",
            "message": {"id": "m1", "type": "message", "role": "assistant", "stop_reason": null,
                "model": "claude-sonnet-4-5", "usage": {"input_tokens": 1, "output_tokens": 1},
                "content": [{"type": "tool_use", "id": "t1", "name": "mcp__tracker__search",
                    "input": {}}]}}),
    ];
    fs::write(&stream, format!("{}\n{}\n", lines[0], lines[1])).unwrap();
    let agent = ["emit", stream.to_str().unwrap(), "sleep", "60"];
    let report = text(&run(&["--call-timeout", "300ms"], &agent).stdout);
    let message = "the `mcp__tracker__search` call since line 2 did not end within 300ms";
    assert!(report.contains(message), "{report}");
}

/// Goal: one call that hangs ends the run, and the report names it; others may take their time.
#[test]
fn a_call_that_hangs_ends_the_run() {
    let open = "fixtures/rules/missing-terminal-event/open-calls.ndjson";
    for (flags, shown) in [
        (
            ["--call-timeout", "300ms"],
            "the `shell` call `vm up a` since line 4 did not end within 300ms",
        ),
        (["--call-timeout", "1h,command=300ms"], " did not end within 300ms"),
    ] {
        let output = run(&flags, &["emit", open, "sleep", "60"]);
        let report = text(&output.stdout);
        assert_eq!(code(&output), 4, "{report}");
        assert!(report.contains(shown), "{report}");
    }
    for flags in ["read=300ms", "300ms,command=1h"] {
        let output = run(&["--call-timeout", flags], &["emit", open, "sleep", "1"]);
        assert!(!text(&output.stdout).contains("timed out"), "{}", text(&output.stdout));
    }
    // A call that ends in time, and a silence without a call, are no reason.
    let output = run(&["--call-timeout", "5s"], &["emit", GOOD, "sleep", "0.5"]);
    assert_eq!(code(&output), 0, "{}", text(&output.stdout));
    let output = program().args(["--call-timeout", "reed=1s", "-"]).output().unwrap();
    let expected = "the kinds of calls are read, write, delete, command,";
    assert!(text(&output.stderr).contains(expected), "{}", text(&output.stderr));
    // An agent that shows only ended calls.
    let tools = "fixtures/agents/opencode/tools.ndjson";
    let output =
        run(&["--call-timeout", "300ms"], &["head", "1", tools, "sleep", "1", "emit", tools]);
    let report = text(&output.stdout);
    assert_eq!(code(&output), 0, "{report}");
    assert!(
        report.contains("note: the call timeout did not apply, because opencode shows"),
        "{report}"
    );
}

/// Goal: the report names the call that hung, also if the agent ends it when it is asked to end.
#[test]
#[cfg(unix)]
fn a_call_that_ends_with_the_agent_is_named() {
    let stream = fs::read_to_string(root().join("fixtures/agents/claude/plain.ndjson")).unwrap();
    let lines: Vec<&str> = stream.split_inclusive('\n').collect();
    let folder = tempfile::tempdir().unwrap();
    let written = |name: &str, text: String| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let open = written("open", lines[..7].concat());
    let ended_call = lines[7].replace("4 passing", "Exit code 137");
    let end = written("end", ended_call.replace("\"is_error\":false", "\"is_error\":true"));
    let script = "trap 'cat \"$1\"; exit 143' TERM; cat \"$0\"; while :; do sleep 0.1; done";
    for (flags, message) in [
        (
            ["--timeout", "1500ms"],
            "the run did not end within 1s 500ms; 1 tool call was open: `Bash` \
             `npm test -- cart` since line 7",
        ),
        (
            ["--call-timeout", "300ms"],
            "the `Bash` call `npm test -- cart` since line 7 did not end within 300ms",
        ),
    ] {
        let mut command = program();
        command.args(flags).args(["--no-stdin", "--", "bash", "-c", script]).arg(&open).arg(&end);
        let output = command.output().unwrap();
        let report = text(&output.stdout);
        assert!(code(&output) == 4 && report.contains(message), "{report}");
        assert!(report.contains("1 failed"), "{report}");
    }
}

/// Goal: an agent that waits until its standard error is read is not idle.
#[test]
#[cfg(unix)]
fn a_slow_reader_of_standard_error_is_not_the_agents_silence() {
    let agent = format!("head -3 {GOOD}; yes eeeeeeee | head -c 1000000 >&2; tail -n +4 {GOOD}");
    let mut command = program();
    command.args(["--idle-timeout", "1s", "--", "sh", "-c", &agent]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(3));
    let mut stderr = Vec::new();
    child.stderr.take().unwrap().read_to_end(&mut stderr).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 0, "{}", text(&output.stdout));
    assert!(stderr.len() >= 1_000_000, "{}", stderr.len());
}

//! What is not a stream of events, and what to do about it.

use std::fs;

use serde_json::{Value, json};

use crate::streams::{root, run_on, text};

const STREAM: &str = "fixtures/agents/claude/plain.ndjson";

fn events() -> Vec<String> {
    let stream = fs::read_to_string(root().join(STREAM)).unwrap();
    stream.lines().map(str::to_owned).collect()
}

/// The first line of the human report, and the rest of it.
fn report(stream: &str) -> (String, String) {
    let report = text(&run_on(&[], stream.as_bytes()).stdout);
    let (head, rest) = report.split_once('\n').unwrap();
    (head.to_owned(), rest.to_owned())
}

fn lines(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().map(|line| line + "\n").collect()
}

/// Goal: a log that has more than the events gets one finding, whose advice works.
#[cfg(unix)]
#[test]
fn the_log_of_a_job_is_named_once() {
    let time = "2026-11-27T02:00:00.1234567Z ";
    let job = |prefix: &str| {
        let heads = ["##[group]Run agent", "shell: /usr/bin/bash -e {0}", "##[endgroup]"];
        let all = heads.into_iter().map(str::to_owned).chain(events());
        lines(all.chain(["Post job cleanup.".to_owned()]).map(|line| format!("{prefix}{line}")))
    };
    let behind = |head: &str, prefix: &str| {
        format!("{head}\n") + &lines(events().into_iter().map(|line| format!("{prefix}{line}")))
    };
    let folder = tempfile::tempdir().unwrap();
    for log in [
        job(time),
        format!("\u{feff}{}", job(time)),
        job(&format!("agent\tRun agent\t{time}")),
        behind("Attaching to app-1", "app-1  | "),
        behind("-- Journal begins at Mon 2026-11-02 --", "Nov 27 02:00:00 host agent[123]: "),
        behind("2026-11-27T02:00:00.1Z stderr F ready", "2026-11-27T02:00:00.1Z stdout F "),
        // What runs the agent has the last word.
        lines(events().into_iter().map(|line| format!("app-1  | {line}"))) + "app-1 exited\n",
    ] {
        let (head, rest) = report(&log);
        let says = "not an agent's stream: the input is a log with text in front of each event";
        assert!(head.contains(says), "{head}\n{rest}");
        assert_eq!(rest.matches("error[").count(), 1, "{rest}");
        let file = folder.path().join("job.log");
        fs::write(&file, &log).unwrap();
        let (_, command) = rest.split_once('`').unwrap();
        let (command, _) = command.split_once(" | ndjson-check`").unwrap();
        let command = command.replace("FILE", file.to_str().unwrap());
        let kept = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
        assert_eq!(text(&kept.stdout), lines(events()), "{command}");
    }
}

/// Goal: each other shape of events has advice of its own.
#[test]
fn other_shapes_of_events_are_named() {
    let each = |change: fn(String) -> String| lines(events().into_iter().map(change));
    let (whole, all) = (lines(events()), events());
    let cut = format!("{}\n{}{whole}", all[0], &all[1][..40]);
    for (stream, says, advice) in [
        (each(|it| it + ","), "events with a comma behind each", "sed 's/,$//'"),
        (each(|it| format!("\x1b[36m{it}")), "events in terminal colours", "NO_COLOR=1"),
        (each(|it| format!("\x1b[36m{it}\x1b[0m")), "events in terminal colours", "NO_COLOR=1"),
        (all.join("\r"), "a second object follows", r"tr '\r' '\n'"),
        (whole.clone() + &"\0".repeat(512), "the line consists of NUL bytes", "lost its power"),
        (cut, "the line was cut, and an object begins at byte 40 of it", "was appended to one"),
        (format!("> app@1.0.0 agent\n{whole}"), "the line is not JSON", "add `--silent`"),
        (format!("$ agent -p hi\n{whole}"), "the line is not JSON", "if `yarn` wrote it"),
        (format!("make: Entering directory '/a'\n{whole}"), "not JSON", "call it as `make -s`"),
        (whole.clone() + "<html>\n</html>\n", "the line is not JSON", "an error page"),
    ] {
        let (head, rest) = report(&stream);
        assert!(head.contains(says), "{says}: {head}");
        assert!(rest.contains(advice), "{advice}: {rest}");
        assert!(!rest.contains("2>&1"), "{rest}");
    }
}

/// Goal: an agent that could not start was not called without a flag.
#[test]
fn a_program_that_failed_is_no_agent_without_its_flag() {
    for (output, says) in [
        ("bash: agent: command not found\n", "bash: agent: command not found"),
        ("Usage: agent [options]\n\nOptions:\n  -p  print\n", "Usage: agent [options]"),
        ("Error: listen EADDRINUSE\n    at x.js:1\n", "Error: listen EADDRINUSE"),
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'model'\n",
            "KeyError: 'model'",
        ),
    ] {
        let (head, rest) = report(output);
        assert_eq!(head, format!("✗ failed before its first event: {says}"));
        assert!(!rest.contains("its flag") && !rest.contains("2>&1"), "{rest}");
    }
    let (head, _) = report("I fixed the error: the sum was wrong.\n");
    assert!(head.contains("run the agent with its flag for events"), "{head}");
}

/// Goal: binary data is no text, whatever its first bytes are.
#[test]
fn binary_data_is_no_plain_text() {
    let mut number = 1_u32;
    let mut next = || {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        number.to_be_bytes()[0]
    };
    let bytes: Vec<u8> = (0..20_000).map(|_| next()).collect();
    for start in [&b""[..], b"O\n", b"{\n"] {
        let output = run_on(&[], &[start, &bytes].concat());
        let report = text(&output.stdout);
        let head = report.lines().next().unwrap();
        assert!(head.contains("binary data"), "{head}");
        assert!(!report.contains("its flag"), "{report}");
    }
}

/// Goal: the event that no agent is known for is shown, without what must stay secret.
#[test]
fn an_event_of_an_unknown_agent_is_quoted() {
    let secret = "sk-ant-api03-".to_owned() + &"a1B2".repeat(24);
    let stream = format!("{{\"error\":\"unauthorized \u{202e}\",\"api_key\":\"{secret}\"}}\n");
    let said = |flags: &[&str], stream: &str| text(&run_on(flags, stream.as_bytes()).stderr);
    let message = said(&[], &stream);
    let quoted = "; the first is `{\"error\":\"unauthorized \\u{202e}\",\"api_key\":\"sk-ant-";
    assert!(message.contains(quoted) && message.contains("choose with --profile"), "{message}");
    assert!(message.ends_with("…`\n") && message.lines().count() == 1, "{message}");
    let message = said(&["--redact", "secrets"], &stream);
    assert!(message.contains("unauthorized") && !message.contains("a1B2"), "{message}");
    let message = said(&["--redact", "content"], &stream);
    assert!(!message.contains("unauthorized") && !message.contains("a1B2"), "{message}");
}

/// Goal: a user who checks the log of a container learns how to get the events out of it.
#[test]
fn events_inside_other_json_are_found() {
    let wrapped = |wrap: fn(String) -> Value| {
        let stream = lines(events().into_iter().map(|event| wrap(event).to_string()));
        text(&run_on(&[], stream.as_bytes()).stderr)
    };
    let parsed = |event: &str| serde_json::from_str::<Value>(event).unwrap();
    let docker = wrapped(|event| json!({"log": event + "\n", "stream": "stdout", "time": "t"}));
    assert!(docker.contains("`jq -r .log FILE | ndjson-check`"), "{docker}");
    assert!(!docker.contains("--profile"), "{docker}");
    let cloud = wrapped(|event| json!({"timestamp": 1, "message": event}));
    assert!(cloud.contains("`jq -r .message FILE | ndjson-check`"), "{cloud}");
    let all = json!({"events": events().iter().map(|it| parsed(it)).collect::<Vec<_>>()});
    let message = text(&run_on(&[], format!("{all}\n").as_bytes()).stderr);
    assert!(message.contains("`jq -c '.events[]' FILE | ndjson-check`"), "{message}");
}

/// Goal: nothing sends a reader to a standard error that was empty.
#[cfg(unix)]
#[test]
fn an_empty_standard_error_has_no_reason() {
    let stream = "{\"role\":\"meta\",\"type\":\"session.resume_hint\",\"session_id\":\"s\"}\n";
    for (script, says, is_empty) in [
        ("cat; exit 1", "but the exit status is 1", true),
        ("cat; echo 'error: no key' >&2; exit 1", "error: no key", false),
    ] {
        let mut command = crate::streams::program();
        command.args(["--profile", "kimi-code", "--", "sh", "-c"]);
        let script = format!("printf '%s' '{stream}' | {script}");
        let report = text(&command.arg(script).output().unwrap().stdout);
        assert!(report.contains(says), "{report}");
        let sends_there = report.contains("the reason is on standard error");
        assert!(!(is_empty && sends_there), "{report}");
    }
}

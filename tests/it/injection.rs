//! No agent commands a terminal or a workflow through us.

use std::process::Stdio;

use serde_json::Value;

use crate::convert::FORMS;
use crate::streams::{misleads, program, run_on, text};

/// Streams in which every text is made of what hurts; some have no event.
fn nasty_streams(rounds: u64) -> impl Iterator<Item = Vec<u8>> {
    const PIECES: [&str; 25] = [
        "::error::x",
        "##vso[task.setvariable variable=A]b",
        "##[add-mask]",
        "##",
        "[",
        "#",
        ":",
        "::",
        "\n",
        "\r",
        "\r\n",
        " ",
        "\u{a0}",
        "\u{1b}[31m",
        "\u{1b}]0;x\u{7}",
        "\u{9b}",
        "\u{202e}",
        "\u{200b}",
        "\u{e0041}",
        "\0",
        "a",
        "::stop-commands::x",
        "\t",
        "\u{2028}::set-env name=A::b",
        "é",
    ];
    let mut state = 42_u64;
    let mut next = move |bound: usize| {
        // A linear congruential generator: the same streams on every machine.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % bound
    };
    (0..rounds).map(move |round| {
        let mut nasty = || -> String { (0..next(9)).map(|_| PIECES[next(PIECES.len())]).collect() };
        let (a, b, c, d) = (nasty(), nasty(), nasty(), nasty());
        if round % 3 == 2 {
            return format!("{a}{{{b}}}\n{c}{d}\n").into_bytes();
        }
        let events = [
            serde_json::json!({"type": "system", "subtype": "init", "cwd": a, "session_id": b}),
            serde_json::json!({"type": c, "session_id": b}),
            serde_json::json!({"type": "assistant", "message": {"content":
                [{"type": "text", "text": a}]}, "session_id": b, "timestamp_ms": 1}),
            serde_json::json!({"type": "assistant", "message": {"content":
                [{"type": "text", "text": c}]}, "session_id": b, "timestamp_ms": 1}),
            serde_json::json!({"type": "tool_call", "subtype": "started", "call_id": d,
                "tool_call": {"shellToolCall": {"args": {"command": c}}}, "session_id": a}),
            serde_json::json!({"type": "tool_call", "subtype": "completed", "call_id": d,
                "tool_call": {format!("{a}ToolCall"): {"result": {"rejected": {}}}}}),
            serde_json::json!({"type": "assistant", "message": {"content":
                [{"type": "text", "text": d}]}, "session_id": b}),
            serde_json::json!({"type": "result", "subtype": "success", "is_error": false,
                "duration_ms": 1, "duration_api_ms": 1, "result": b, "session_id": b}),
        ];
        let mut stream = events.map(|event| event.to_string()).join("\n").into_bytes();
        stream.extend_from_slice(format!("\n{a}\n{c}").as_bytes());
        stream
    })
}

/// What a runner takes for a command, as far as it reads a line. GitHub's: `::name`, after white
/// space, with an end; `##[name]` anywhere. Azure's: `##vso[name]` too.
fn commands(log: &str) -> Vec<String> {
    let lines = log.split(['\n', '\r']);
    lines
        .filter(|line| {
            let first = line.trim_start().strip_prefix("::").is_some_and(|it| it.contains("::"));
            first || line.contains("##[") || line.contains("##vso[")
        })
        .map(str::to_owned)
        .collect()
}

/// The lines that the runner reads as commands, `stop-commands` taken into account.
fn obeyed(log: &str) -> Vec<String> {
    let mut stopped: Option<String> = None;
    let mut obeyed = Vec::new();
    for line in log.split(['\n', '\r']) {
        if let Some(token) = &stopped {
            if line.trim() == format!("::{token}::") {
                stopped = None;
            }
        } else if let Some(token) = line.strip_prefix("::stop-commands::") {
            stopped = Some(token.to_owned());
        } else {
            obeyed.extend(commands(line));
        }
    }
    obeyed
}

/// Goal: no agent commands a terminal or a workflow through us.
/// Method: streams of hostile text in every form, each with two of the runners and reports in turn,
/// compared with the runner's grammar.
#[test]
fn nothing_of_the_agent_is_obeyed() {
    let runners = [
        ("human", ("GITHUB_ACTIONS", "true")),
        ("json", ("GITHUB_ACTIONS", "1")),
        ("human", ("TF_BUILD", "True")),
        ("json", ("TF_BUILD", "True")),
    ];
    let mut checked = 0;
    for (number, stream) in nasty_streams(30).enumerate() {
        for form in FORMS.iter().chain(&["stream-json"]) {
            for (report, runner) in runners.into_iter().skip(number % 2).step_by(2) {
                let mut command = program();
                command.args(["--to", form, "--report", report, "--strict"]);
                command.env(runner.0, runner.1);
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
                let mut child = command.spawn().unwrap();
                std::io::Write::write_all(&mut child.stdin.take().unwrap(), &stream).unwrap();
                let output = child.wait_with_output().unwrap();
                let (out, report) = (text(&output.stdout), text(&output.stderr));
                let reader = if runner.0 == "TF_BUILD" { commands } else { obeyed };
                assert_eq!(reader(&out), [""; 0], "{form}: {out:?}");
                assert_eq!(commands(&report), [""; 0], "{report:?}");
                let raw = |it: &char| misleads(*it) && !['\n', '\t'].contains(it);
                assert_eq!(report.chars().find(raw), None, "{report:?}");
                if *form != "stream-json" && *form != "json" {
                    assert_eq!(out.chars().find(raw), None, "{form}: {out:?}");
                }
                if *form == "stream-json" {
                    let same = |bytes: &[u8]| -> Vec<Value> {
                        let lines = bytes.split(|&byte| byte == b'\n');
                        lines.filter_map(|it| serde_json::from_slice(it).ok()).collect()
                    };
                    assert_eq!(same(&output.stdout), same(&stream));
                }
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 540);
}

/// Goal: standard error of the agent, which we copy, commands no runner either.
#[test]
fn nothing_on_standard_error_is_obeyed() {
    for runner in ["GITHUB_ACTIONS", "TF_BUILD"] {
        let said = [" ::error::x", "a ##vso[task.setvariable variable=A]b"];
        let said = said.iter().flat_map(|it| ["stderr", it]);
        let mut command = program();
        command.args(["--no-stdin", "--quiet", "--"]).arg(crate::fake_agent::agent()).args(said);
        command.args(["stderr", "::set-output name=x::y"]).env(runner, "true");
        command.args(["emit", "fixtures/agents/cursor/plain.ndjson"]);
        let output = command.output().unwrap();
        let log = text(&output.stderr);
        assert_eq!(commands(&log), [""; 0], "{log}");
        assert_eq!(log.lines().count(), 3, "{log}");
        assert!(log.contains("\\u003a\\u003aset-output name=x::y"), "{log}");
        assert_eq!(output.status.code(), Some(0));
    }
}

/// Goal: a variable that says no is not taken for a runner.
#[test]
fn outside_of_a_workflow_nothing_is_escaped() {
    let stream = b"{\"type\":\"user\",\"text\":\"##[group]\"}\n";
    for (variable, value, watched) in [
        ("GITHUB_ACTIONS", "", false),
        ("GITHUB_ACTIONS", "0", false),
        ("GITHUB_ACTIONS", "false", false),
        ("TF_BUILD", "False", false),
        ("GITHUB_ACTIONS", "true", true),
        ("GITHUB_ACTIONS", "yes", true),
        ("TF_BUILD", "True", true),
    ] {
        let mut command = program();
        command.args(["--to", "stream-json"]).env(variable, value);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), stream).unwrap();
        let same = child.wait_with_output().unwrap().stdout == stream;
        assert_eq!(!same, watched, "{variable}={value}");
    }
}

/// Goal: texts that are shown raw are so only on request, and never to a terminal.
#[test]
fn raw_texts_are_shown_as_they_are() {
    let stream = nasty_streams(1).next().unwrap();
    let red = String::from_utf8_lossy(&stream);
    let red = red.replacen("\"text\":\"", "\"text\":\"\\u001b[31mred", 1);
    let shown = |flags: &[&str]| text(&run_on(flags, red.as_bytes()).stdout);
    assert!(shown(&["--to", "transcript"]).contains("\\x1b[31mred"));
    assert!(shown(&["--to", "transcript", "--raw"]).contains("\u{1b}[31mred"));
}

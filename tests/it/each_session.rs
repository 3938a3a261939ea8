//! What is asked of a run is asked of each session of a recording; a wrong start ends a command.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::starts::run;
use crate::streams::{root, run_on, text};

/// The exit code and the report of a stream with this configuration and these flags. Next to the
/// file is a schema that only an object with `ok` satisfies.
fn judged(config: &str, flags: &[&str], stream: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ndjson-check.toml");
    fs::write(&file, config).unwrap();
    fs::write(folder.path().join("schema.json"), "{\"required\":[\"ok\"]}").unwrap();
    let mut all = vec!["--config", file.to_str().unwrap()];
    all.extend(flags);
    let output = run_on(&all, stream.as_bytes());
    (output.status.code(), text(&output.stdout))
}

/// A run that calls a tool.
fn calling(id: &str, tool: &str, input: &Value) -> String {
    let stream = run(id, &json!({}));
    let mut lines: Vec<String> = stream.lines().map(str::to_owned).collect();
    let mut call: Value = serde_json::from_str(&lines[1]).unwrap();
    call["message"]["id"] = "m0".into();
    call["message"]["content"] = json!([{"type": "tool_use", "id": "t1", "name": tool,
        "input": input}]);
    let content = json!([{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]);
    let result = json!({"type": "user", "message": {"role": "user", "content": content},
        "parent_tool_use_id": null, "session_id": id, "uuid": "u4"});
    lines.insert(1, result.to_string());
    lines.insert(1, call.to_string());
    lines.join("\n") + "\n"
}

/// A run with these members in its last event.
fn ending(id: &str, end: &Value) -> String {
    let stream = run(id, &json!({}));
    let mut lines: Vec<String> = stream.lines().map(str::to_owned).collect();
    let mut result: Value = serde_json::from_str(&lines[2]).unwrap();
    result.as_object_mut().unwrap().extend(end.as_object().unwrap().clone());
    lines[2] = result.to_string();
    lines.join("\n") + "\n"
}

/// A run with this answer.
fn saying(id: &str, answer: &str) -> String {
    run(id, &json!({})).replace("\"Done.\"", &json!(answer).to_string())
}

fn servers(status: &str) -> Value {
    json!({"mcp_servers": [{"name": "tracker", "status": status}]})
}

/// Goal: one session does not answer for another.
/// Method: three sessions in one stream; which raise the rule, and which do not show it.
#[test]
fn each_session_is_asked() {
    let plain = || run("b", &json!({}));
    let many: Vec<String> = (0..1_200).map(|it| format!("t{it}")).collect();
    let write = |path: &str| json!({"file_path": path, "content": "x"});
    let command = |line: &str| json!({"command": line});
    for (config, sessions, broken, hidden) in [
        ("expect.session = \"a\"", [run("a", &json!({})), plain(), run("c", &json!({}))], 2, 0),
        (
            "expect.servers = [\"tracker\"]",
            [plain(), run("c", &servers("failed")), run("d", &servers("pending"))],
            1,
            1,
        ),
        (
            "expect.tools = [\"mcp__tracker__*\"]",
            [plain(), run("c", &json!({"tools": ["Bash"]})), run("d", &json!({"tools": many}))],
            1,
            1,
        ),
        (
            "expect.answer.schema = \"schema.json\"",
            [
                ending("a", &json!({"result": "", "structured_output": {"ok": true}})),
                ending("c", &json!({"result": "", "structured_output": {"no": true}})),
                plain(),
            ],
            2,
            0,
        ),
        (
            "expect.writes.never = [\".github\"]",
            [
                plain(),
                calling("c", "Write", &write("/app/.github/ci.yml")),
                calling("d", "Write", &write("/app/src/cart.js")),
            ],
            1,
            0,
        ),
        (
            "expect.presets = [\"no-push\"]",
            [
                plain(),
                calling("c", "Bash", &command("git push")),
                calling("d", "Bash", &command("git status")),
            ],
            1,
            0,
        ),
    ] {
        raise_in_all(config, &sessions, (broken, hidden));
    }
}

/// Checks how many of the sessions fail an expectation, and how many do not show whether they do.
fn raise_in_all(config: &str, sessions: &[String], expected: (usize, usize)) {
    let (code, report) = judged(config, &["--sessions", "many"], &sessions.concat());
    assert_eq!(code, Some(1), "{config}: {report}");
    let count = |rule: &str| report.matches(&format!("[expectation-{rule}]")).count();
    let counts = (count("failed"), count("unobservable"));
    assert_eq!(counts, expected, "{config}: {report}");
}

/// Goal: presets and answers are about each session, too.
#[test]
fn each_session_is_asked_by_presets() {
    let plain = || run("b", &json!({}));
    let command = |line: &str| json!({"command": line});
    let write = json!({"file_path": "/app/src/cart.js", "content": "x"});
    for (config, sessions, broken, hidden) in [
        ("expect.presets = [\"answered\"]", [plain(), saying("c", ""), saying("d", "x")], 1, 0),
        ("expect.answer.matches = \"^Done\"", [plain(), saying("c", "No"), saying("d", "")], 2, 0),
        (
            "expect.presets = [\"read-only\"]",
            [
                calling("a", "Read", &json!({"file_path": "/app/a.js"})),
                calling("c", "Write", &write),
                calling("d", "Bash", &command("sed -i s/a/b/ a.js")),
            ],
            1,
            1,
        ),
        (
            "expect.presets = [\"tested\"]",
            [
                calling("a", "Bash", &command("npm test")),
                plain(),
                calling("d", "Bash", &command("npm test | tail -3")),
            ],
            1,
            1,
        ),
    ] {
        raise_in_all(config, &sessions, (broken, hidden));
    }
}

/// Goal: limits and rules are about each session, too.
#[test]
fn each_session_has_its_own_limits_and_servers() {
    let dear = |cost: f64| json!({"total_cost_usd": cost});
    let sessions = [
        ending("a", &dear(0.01)),
        ending("b", &dear(0.04)),
        // A cost of 0 for tokens is unknown.
        ending("c", &json!({"total_cost_usd": 0})),
    ];
    let flags = ["--sessions", "many"];
    let (code, report) = judged("limits.cost = 0.03", &flags, &sessions.concat());
    assert_eq!(code, Some(1), "{report}");
    assert_eq!(report.matches("error[limit-exceeded]").count(), 1, "{report}");
    assert_eq!(report.matches("warning[limit-unknown]").count(), 1, "{report}");
    // The longest glob counts; a cache has its own prices.
    let prices = "[prices.\"*\"]\ninput = 1000\noutput = 1000\n[prices.\"claude-*\"]\ninput = 1\n\
                  output = 2\ncache-read = 0.5\n[limits]\ncost = 2\nestimates = true\n";
    let used = |input: u64, cached: u64, output: u64| {
        let usage = json!({"input_tokens": input, "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": 0, "output_tokens": output});
        json!({"total_cost_usd": null, "usage": usage, "modelUsage": {}})
    };
    let million = 1_000_000;
    let sessions =
        [ending("a", &used(million, million, 0)), ending("b", &used(million, 0, million))];
    let (code, report) = judged(prices, &flags, &sessions.concat());
    assert_eq!(code, Some(1), "{report}");
    assert!(report.contains("about $1.50 by your prices"), "{report}");
    assert!(report.contains("the run cost $3.00 by your prices; the limit is $2.00"), "{report}");
    assert_eq!(report.matches("error[limit-exceeded]").count(), 1, "{report}");
    let sessions =
        [run("a", &servers("failed")), run("b", &json!({})), run("c", &servers("failed"))];
    for (config, expected) in [("", 0), ("rules.tool-server-unavailable = \"error\"", 1)] {
        let (code, report) = judged(config, &flags, &sessions.concat());
        assert_eq!(code, Some(expected), "{report}");
        assert_eq!(report.matches("[tool-server-unavailable]").count(), 2, "{report}");
    }
}

/// Goal: a stream that names no session has not had the right one.
#[test]
fn a_session_without_an_id_is_not_the_right_one() {
    let stream = fs::read_to_string(root().join("fixtures/agents/goose/good.ndjson")).unwrap();
    let (code, report) = judged("expect.session = \"a\"", &["--profile", "goose"], &stream);
    assert_eq!(code, Some(0), "{report}");
    assert!(report.contains("[expectation-unobservable]"), "{report}");
}

/// Goal: a run without its session, its servers or its tools ends before it costs.
#[test]
fn a_start_without_what_is_asked_for_ends_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let stream = folder.path().join("run");
    let config = folder.path().join("config");
    fs::write(&stream, run("s1", &json!({}))).unwrap();
    let [stream, config_path] = [&stream, &config].map(|it| it.to_str().unwrap());
    for (expected, message) in [
        ("session = \"s2\"", "the session must be `s2`, but it is `s1`"),
        ("servers = [\"docs\"]", "there must be a tool server `docs`, but there is none"),
        ("tools = [\"mcp__docs__*\"]", "there must be a tool `mcp__docs__*`, but there is none"),
    ] {
        fs::write(&config, format!("expect.{expected}")).unwrap();
        let begun = Instant::now();
        // The first two lines: the agent has begun to speak.
        let agent = ["head", "2", stream, "sleep", "40"];
        let output = crate::fake_agent::run(&["--config", config_path], &agent);
        let report = text(&output.stdout);
        assert!(begun.elapsed() < Duration::from_secs(30), "{report}");
        assert_eq!(output.status.code(), Some(1), "{report}");
        assert!(report.contains(&format!("not as expected: {message}")), "{report}");
        assert!(report.contains("note: the run was ended; see line"), "{report}");
        assert_eq!(report.matches("error[").count(), 1, "{report}");
    }
}

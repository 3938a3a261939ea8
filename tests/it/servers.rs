//! The tool servers and tools that a run must start with.

use ndjson_check::{Expectation, Rule};
use serde_json::{Value, json};

use crate::starts::{names, raised, run};
use crate::streams::root;
use crate::support::{builder, check};

/// Goal: a call that succeeds shows that its tool is there; a server that is still connecting may
/// bring one.
#[test]
fn a_tool_that_is_used_is_there() {
    let servers = Expectation::Servers(names(&["tracker"]));
    let tools = Expectation::Tools(names(&["mcp__tracker__*"]));
    let pending = json!({"mcp_servers": [{"name": "tracker", "status": "pending"}],
        "tools": ["Bash"]});
    let unused = run("s1", &pending);
    let content = json!([{"type": "tool_use", "id": "t1", "name": "mcp__tracker__list",
        "input": {}}]);
    let said = json!({"type": "assistant", "message": {"id": "m0", "type": "message",
        "role": "assistant", "model": "claude-sonnet-4-5", "content": content,
        "stop_reason": null, "usage": {"input_tokens": 1, "output_tokens": 1}},
        "parent_tool_use_id": null, "session_id": "s1", "uuid": "u7"});
    let used = |is_error: bool| {
        let block = json!({"type": "tool_result", "tool_use_id": "t1", "content": "1 issue",
            "is_error": is_error});
        let result = json!({"type": "user", "message": {"role": "user", "content": [block]},
            "parent_tool_use_id": null, "session_id": "s1", "uuid": "u8"});
        let (start, rest) = unused.split_once('\n').unwrap();
        format!("{start}\n{said}\n{result}\n{rest}")
    };
    for expected in [&servers, &tools] {
        let rule = |stream: &str| raised(stream, "claude", expected).map(|(rule, _)| rule);
        assert_eq!(rule(&unused), Some(Rule::ExpectationUnobservable), "{expected:?}");
        assert_eq!(rule(&used(true)), Some(Rule::ExpectationUnobservable), "{expected:?}");
        assert_eq!(rule(&used(false)), None, "{expected:?}");
    }
}

/// Goal: every agent that lists its servers says which of them it can use.
#[test]
fn many_agents_list_their_servers() {
    let servers = Expectation::Servers(names(&["tracker"]));
    let states = [
        ("connected", None),
        ("failed", Some(Rule::ExpectationFailed)),
        ("pending", Some(Rule::ExpectationUnobservable)),
        ("of a later version", Some(Rule::ExpectationUnobservable)),
    ];
    for (agent, name) in [
        ("claude", "plain"),
        ("qwen", "plain"),
        ("qoder", "good"),
        ("cortex", "good"),
        ("letta", "tools"),
    ] {
        let file = root().join(format!("fixtures/agents/{agent}/{name}.ndjson"));
        let recorded = std::fs::read_to_string(file).unwrap();
        for (status, expected) in states {
            let lines = recorded.lines().map(|line| {
                let mut event: Value = serde_json::from_str(line).unwrap();
                if event["subtype"] == "init" {
                    event["mcp_servers"] = json!([{"name": "tracker", "status": status}]);
                }
                format!("{event}\n")
            });
            let stream: String = lines.collect();
            let found = raised(&stream, agent, &servers).map(|(rule, _)| rule);
            assert_eq!(found, expected, "{agent} {status}");
            let mut checker = builder(["--profile", agent]).build().unwrap();
            let (_, found) = check(&mut checker, stream.as_bytes());
            let is_told = found.iter().any(|it| it.rule == Rule::ToolServerUnavailable);
            assert_eq!(is_told, status == "failed", "{agent} {status}");
        }
    }
}

/// Goal: a server that did not start is missing, although the agent does not list its servers.
#[test]
fn a_message_names_a_server_that_is_missing() {
    let file = root().join("fixtures/rules/tool-server-unavailable/in-a-message.ndjson");
    let stream = std::fs::read_to_string(file).unwrap();
    let found = |name| raised(&stream, "codex", &Expectation::Servers(names(&[name]))).unwrap();
    let message = "the tool server `tracker` must be available, but it is not; see line 2";
    assert_eq!(found("tracker"), (Rule::ExpectationFailed, message.to_owned()));
    // The agent does not list other servers.
    for name in ["docs", "track*"] {
        assert_eq!(found(name).0, Rule::ExpectationUnobservable);
    }
}

/// Goal: the last state of a server before the agent works counts; one that may be listed beyond
/// what is kept is not missing.
#[test]
fn the_last_state_of_a_server_counts() {
    let session = |servers: Value, line: &str| line.replace("\"SERVERS\"", &servers.to_string());
    let template =
        r#"{"type":"session","format":"ndjson-check/1","profile":"claude","servers":"SERVERS"}"#;
    let again = r#"{"type":"session_changed","servers":"SERVERS"}"#;
    let text = r#"{"type":"text","segment":1,"text":"Hi","bytes":2}"#;
    let end =
        r#"{"type":"end","outcome":"succeeded","verdict":"conforming","errors":0,"warnings":0}"#;
    let server = |status: &str| {
        let available = match status {
            "connected" => json!(true),
            "failed" => json!(false),
            _ => Value::Null,
        };
        let mut server = json!({"name": "tracker", "status": status});
        if !available.is_null() {
            server["available"] = available;
        }
        json!([server])
    };
    let run = |before: &str, between: &str, after: &str| {
        let lines = [
            session(server(before), template),
            session(server(between), again),
            text.to_owned(),
            session(server(after), again),
            text.replace("\"segment\":1", "\"segment\":2"),
            end.to_owned(),
        ];
        lines.join("\n") + "\n"
    };
    let servers = Expectation::Servers(names(&["tracker"]));
    for (before, between, after, expected) in [
        ("failed", "connected", "connected", None),
        ("pending", "connected", "failed", None),
        ("connected", "failed", "connected", Some(Rule::ExpectationFailed)),
        ("failed", "pending", "connected", None),
        ("connected", "pending", "failed", Some(Rule::ExpectationFailed)),
        ("connected", "pending", "pending", Some(Rule::ExpectationUnobservable)),
    ] {
        let found = raised(&run(before, between, after), "events", &servers);
        assert_eq!(found.map(|(rule, _)| rule), expected, "{before} {between} {after}");
    }
    let many = |count: usize| {
        let names: Vec<String> = (0..count).map(|it| format!("t{it}")).collect();
        self::run("s1", &json!({"tools": names}))
    };
    let tools = Expectation::Tools(names(&["mcp__tracker__*"]));
    let found = |count| raised(&many(count), "claude", &tools).map(|(rule, _)| rule);
    assert_eq!(found(999), Some(Rule::ExpectationFailed));
    assert_eq!(found(1_500), Some(Rule::ExpectationUnobservable));
}

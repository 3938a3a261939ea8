//! What a run must start with: its model, its session, its servers and tools; structured answers.

use ndjson_check::{Expectation, Rule};
use serde_json::{Value, json};

use crate::demands::{PLACE, judged_with};
use crate::streams::{root, run_on, text};
use crate::support::{builder, check};

/// A run of Claude Code with these members in its first event.
pub(crate) fn run(id: &str, init: &Value) -> String {
    let mut start = json!({"type": "system", "subtype": "init", "cwd": "/app", "session_id": id,
        "tools": ["Bash", "mcp__tracker__search"], "model": "claude-sonnet-4-5",
        "mcp_servers": [{"name": "tracker", "status": "connected"}], "permissionMode": "default",
        "apiKeySource": "none", "claude_code_version": "2.1.330", "output_style": "default",
        "uuid": "u1"});
    start.as_object_mut().unwrap().extend(init.as_object().unwrap().clone());
    let content = json!([{"type": "text", "text": "Done."}]);
    let said = json!({"type": "assistant", "message": {"id": "m1", "type": "message",
        "role": "assistant", "model": "claude-sonnet-4-5", "content": content, "stop_reason": null,
        "usage": {"input_tokens": 1, "output_tokens": 1}}, "parent_tool_use_id": null,
        "session_id": id, "uuid": "u2"});
    let end = json!({"type": "result", "subtype": "success", "is_error": false, "duration_ms": 1,
        "duration_api_ms": 1, "num_turns": 1, "result": "Done.", "session_id": id,
        "total_cost_usd": 0.01, "usage": {"input_tokens": 2, "output_tokens": 2},
        "permission_denials": [], "uuid": "u3"});
    format!("{start}\n{said}\n{end}\n")
}

pub(crate) fn plain() -> String {
    run("s1", &json!({}))
}

/// The rule that the expectation raises, and its message without the place.
pub(crate) fn raised(
    stream: &str,
    profile: &str,
    expectation: &Expectation,
) -> Option<(Rule, String)> {
    let checker = builder(["--profile", profile]).expect(PLACE, expectation.clone());
    let (_, found) = check(&mut checker.build().unwrap(), stream.as_bytes());
    let mut found = found.iter().filter(|it| it.rule.name().starts_with("expectation-"));
    let first = found.next().map(|it| {
        let message = it.message.replace(&format!(" ({PLACE})"), "");
        (it.rule, message + &it.note.as_ref().map(|it| format!("; {it}")).unwrap_or_default())
    });
    assert!(found.next().is_none());
    first
}

pub(crate) fn fault(stream: &str, expectation: &Expectation) -> String {
    let (rule, message) = raised(stream, "claude", expectation).expect("it fails");
    assert_eq!(rule, Rule::ExpectationFailed, "{message}");
    message
}

pub(crate) fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn the_start_of_a_run_is_as_expected() {
    let run_with = |init: Value| run("s1", &init);
    let model = Expectation::Model("claude-*".to_owned());
    // A name is itself, although its brackets make it a glob, too.
    let long = Expectation::Model("claude-sonnet-4-5[1m]".to_owned());
    let stream = run_with(json!({"model": "claude-sonnet-4-5[1m]"}));
    assert_eq!(raised(&stream, "claude", &long), None);
    let short = Expectation::Model("claude-sonnet-4-5".to_owned());
    assert_eq!(raised(&stream, "claude", &short), None);
    let dated =
        run_with(json!({"model": "gpt-5"})).replace("claude-sonnet-4-5", "gpt-5-2025-08-07");
    assert_eq!(raised(&dated, "claude", &Expectation::Model("gpt-5".to_owned())), None);
    let other = dated.replace("\"gpt-5\"", "\"gpt-5-2025-09-01\"");
    let of_date = Expectation::Model("gpt-5-2025-09-01".to_owned());
    let message = "the model must be `gpt-5-2025-09-01`, but it is `gpt-5-2025-08-07`; see line 3";
    assert_eq!(fault(&other, &of_date), message);
    let session = Expectation::Session("s1".to_owned());
    let servers = Expectation::Servers(names(&["tracker"]));
    let tools = Expectation::Tools(names(&["Bash", "mcp__tracker__*"]));
    for expected in [&model, &session, &servers, &tools] {
        assert_eq!(raised(&plain(), "claude", expected), None, "{expected:?}");
    }
    let other = run_with(json!({"model": "haiku"}));
    let message = "the model must be `claude-*`, but it is `haiku`; see line 1";
    assert_eq!(fault(&other, &model), message);
    let message = "the session must be `s1`, but it is `s2`; see line 1";
    assert_eq!(fault(&run("s2", &json!({})), &session), message);
    let failed = run_with(json!({"mcp_servers": [{"name": "tracker", "status": "failed"}]}));
    let message =
        "the tool server `tracker` must be available, but it is not: `failed`; see line 1";
    assert_eq!(fault(&failed, &servers), message);
    let none = run_with(json!({"mcp_servers": [], "tools": ["Bash"]}));
    let message = "there must be a tool server `tracker`, but there is none; see line 1";
    assert_eq!(fault(&none, &servers), message);
    let message = "there must be a tool `mcp__tracker__*`, but there is none; see line 1";
    assert_eq!(fault(&none, &tools), message);
}

/// Goal: Codex's app-server reports its servers one by one, and a model that replaces another.
#[test]
fn the_app_server_reports_servers_and_models() {
    let failed = Some(Rule::ExpectationFailed);
    for (name, expectation, expected) in [
        ("failed-server", Expectation::Servers(names(&["docs"])), None),
        ("failed-server", Expectation::Servers(names(&["tracker"])), failed),
        ("failed-server", Expectation::Model("scripted-model".to_owned()), None),
        ("model-rerouted", Expectation::Model("scripted-model".to_owned()), failed),
    ] {
        let file = root().join(format!("fixtures/agents/codex-app-server/{name}.ndjson"));
        let stream = std::fs::read_to_string(file).unwrap();
        let found = raised(&stream, "codex-app-server", &expectation).map(|(rule, _)| rule);
        assert_eq!(found, expected, "{name} {expectation:?}");
    }
}

/// Goal: the session is that of the run, whatever sessions its sub-agents have; agents with two
/// names for it are asked for either.
#[test]
fn a_sub_agent_may_have_another_session() {
    for (agent, name, id, is_met) in [
        ("codex-app-server", "subagent", "thr_1", true),
        ("codex-app-server", "subagent", "thr_4", false),
        ("kiro", "subagent", "parent", true),
        ("cline", "good", "sess_1", true),
        ("cline", "good", "conv_1", true),
    ] {
        let file = root().join(format!("fixtures/agents/{agent}/{name}.ndjson"));
        let stream = std::fs::read_to_string(file).unwrap();
        let found = raised(&stream, agent, &Expectation::Session(id.to_owned()));
        assert_eq!(found.is_none(), is_met, "{agent} {id}: {found:?}");
    }
}

/// Goal: what the stream does not say has not passed.
#[test]
fn what_the_start_hides_is_not_taken_for_granted() {
    let codex = std::fs::read_to_string(root().join("fixtures/agents/codex/tools.ndjson")).unwrap();
    for (expected, question) in [
        (Expectation::Model("gpt-*".to_owned()), "the model is `gpt-*`"),
        (Expectation::Servers(names(&["tracker"])), "these tool servers are available: `tracker`"),
        (Expectation::Tools(names(&["shell"])), "there are these tools: `shell`"),
    ] {
        let message = format!("the stream does not show whether {question}");
        let expected_rule = Some((Rule::ExpectationUnobservable, message));
        assert_eq!(raised(&codex, "codex", &expected), expected_rule);
    }
    let pending = json!({"mcp_servers": [{"name": "tracker", "status": "pending"}]});
    let servers = Expectation::Servers(names(&["tracker"]));
    let (rule, _) = raised(&run("s1", &pending), "claude", &servers).unwrap();
    assert_eq!(rule, Rule::ExpectationUnobservable);
}

/// Goal: each session of a recording is judged on its own.
#[test]
fn each_session_starts_as_expected() {
    let stream = plain() + &run("s2", &json!({"model": "haiku"}));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "expect.model = \"claude-*\"").unwrap();
    let flags = ["--config", file.path().to_str().unwrap(), "--sessions", "many"];
    let output = run_on(&flags, stream.as_bytes());
    let report = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert_eq!(report.matches("error[expectation-failed]").count(), 1, "{report}");
}

/// Goal: a run on the wrong model, or in another session, ends before it costs; a warning ends
/// nothing.
#[test]
fn a_wrong_start_ends_the_command() {
    use std::time::{Duration, Instant};
    let folder = tempfile::tempdir().unwrap();
    let (stream, config) = (folder.path().join("run"), folder.path().join("config"));
    std::fs::write(&stream, plain()).unwrap();
    std::fs::write(&config, "expect.model = \"opus*\"").unwrap();
    let [stream, config] = [&stream, &config].map(|it| it.to_str().unwrap());
    let agent = ["head", "1", stream, "sleep", "40"];
    let begun = Instant::now();
    let output = crate::fake_agent::run(&["--config", config], &agent);
    let report = text(&output.stdout);
    assert!(begun.elapsed() < Duration::from_secs(30), "{report}");
    assert_eq!(output.status.code(), Some(1), "{report}");
    let headline = "not as expected: the model must be `opus*`, but it is `claude-sonnet-4-5`";
    assert!(report.contains(headline), "{report}");
    assert!(report.contains("note: the run was ended; see line 1"), "{report}");
    assert_eq!(report.matches("error[").count(), 1, "{report}");
    std::fs::write(config, "expect.session = \"other\"").unwrap();
    let report = text(&crate::fake_agent::run(&["--config", config], &agent).stdout);
    assert!(report.contains("the session must be `other`, but it is `s1`"), "{report}");
    assert!(report.contains("note: the run was ended; see line 1"), "{report}");
    let agent = ["head", "1", stream, "sleep", "0.5"];
    let flags = ["--config", config, "--warn", "expectation-failed"];
    let report = text(&crate::fake_agent::run(&flags, &agent).stdout);
    assert!(report.contains("missing-terminal-event"), "{report}");
}

/// Goal: a good structured answer is one, wherever the agent writes it; a wrong one is not.
#[test]
fn a_schema_judges_structured_answers() {
    let schema = json!({"type": "object", "required": ["ok"]});
    let satisfies = Expectation::AnswerSatisfies(schema.to_string());
    let structured = |value: &Value| {
        let mut lines: Vec<Value> =
            plain().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        lines[1]["message"]["content"][0]["text"] = "Here it is.".into();
        (lines[2]["result"], lines[2]["structured_output"]) = ("".into(), value.clone());
        lines.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect::<String>()
    };
    assert_eq!(raised(&structured(&json!({"ok": true})), "claude", &satisfies), None);
    let message = "the answer does not satisfy its schema";
    assert!(fault(&structured(&json!({"no": true})), &satisfies).starts_with(message));
    assert_eq!(fault(&plain(), &satisfies), "the answer is not JSON");
    // A value that is too long to be kept is not judged.
    let long = structured(&json!({"no": "x".repeat(100_000)}));
    let (rule, _) = raised(&long, "claude", &satisfies).unwrap();
    assert_eq!(rule, Rule::ExpectationUnobservable);
    let with_text = long.replace("\"result\":\"\"", r#""result":"{\"ok\":true}""#);
    assert_ne!(with_text, long);
    let (rule, _) = raised(&with_text, "claude", &satisfies).unwrap();
    assert_eq!(rule, Rule::ExpectationUnobservable);
    let greeting = Expectation::AnswerSatisfies("{\"required\":[\"greeting\"]}".to_owned());
    let codex = root().join("lab/recordings/codex-0.169.0/schema.ndjson");
    let codex = std::fs::read_to_string(codex).unwrap();
    assert_eq!(raised(&codex, "codex", &greeting), None);
    let qwen = root().join("fixtures/agents/qwen/structured-result.ndjson");
    let qwen = std::fs::read_to_string(qwen).unwrap();
    assert_eq!(raised(&qwen, "qwen", &satisfies), None);
    let found = raised(&qwen, "qwen", &greeting).map(|(rule, _)| rule);
    assert_eq!(found, Some(Rule::ExpectationFailed));
    let antigravity = "{\"event\":\"result\",\"result\":{\"conversation_id\":\"c\",\
        \"status\":\"SUCCESS\",\"response\":\"\",\"num_turns\":1,\
        \"structured_output\":{\"ok\":true},\"usage\":{\"input_tokens\":12,\
        \"output_tokens\":5,\"total_tokens\":17}}}\n";
    assert_eq!(raised(antigravity, "antigravity", &satisfies), None);
}

/// Goal: presets say what they stand for, and catch what they name.
#[test]
fn presets_stand_for_expectations() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config");
    let all = "expect.presets = [\"tested\", \"read-only\", \"no-push\", \"answered\"]";
    std::fs::write(&file, all).unwrap();
    let file = file.to_str().unwrap();
    let shown = text(&run_on(&["--config", file, "--print-config"], b"").stdout);
    let line = "# Entries below come from the presets tested, read-only, no-push, answered.\n";
    assert!(shown.contains(line), "{shown}");
    assert_eq!(shown.matches("[[expect.calls]]").count(), 4, "{shown}");
    // What is printed is what is meant.
    let copy = folder.path().join("copy");
    std::fs::write(&copy, &shown).unwrap();
    let again = text(&run_on(&["--config", copy.to_str().unwrap(), "--print-config"], b"").stdout);
    assert_eq!(
        again.lines().skip(1).collect::<String>(),
        shown.lines().skip(2).collect::<String>()
    );
    let (code, report) = judged_with(all, &plain());
    assert_eq!(code, 1, "{report}");
    assert!(
        report.contains("the last test run must succeed after the last write call, but there"),
        "{report}"
    );
    let wrong = judged_with("expect.presets = [\"testd\"]", &plain());
    assert_eq!(wrong.0, 2);
    let own = "expect.presets = [\"answered\"]\nexpect.answer.matches = \"^no$\"";
    assert!(judged_with(own, &plain()).1.contains("the answer does not match `^no$`"));
}

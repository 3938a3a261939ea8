//! What events say besides text and calls: of sessions, retries, permissions and sub-agents.

use std::collections::BTreeSet;
use std::fs;

use ndjson_check::{Checker, Expectation, Form, Rule};
use serde_json::{Value, json};

use crate::streams::{cases, checker, converted, files, judge, root};

/// The members that a rule has paths for, as the events name them.
fn named(rule: &Value) -> Vec<String> {
    let members = rule.as_object().into_iter().flatten().map(|(member, _)| member.as_str());
    let named = members.filter(|member| !["when", "kind", "each", "where"].contains(member));
    let in_events = |member: &str| match member {
        "resets_at" => "resets_at_ms".to_owned(),
        "call" => "call_id".to_owned(),
        member => member.to_owned(),
    };
    named.map(in_events).collect()
}

/// Goal: an exit status in a text is a number, and other failures have none.
#[test]
fn an_exit_status_in_a_text_is_found() {
    let stream = fs::read(root().join("fixtures/agents/claude/failed-tool.ndjson")).unwrap();
    let events = converted(&stream, &mut checker(["--profile", "claude"]), Form::Events);
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let completed = events.filter(|event| event["type"] == "call_completed");
    let codes: Vec<_> = completed.map(|event| event["exit_code"].as_i64()).collect();
    assert_eq!(codes, [Some(1), None]);
}

/// Goal: what a profile says of sessions and notices is in the events.
/// Method: each member for which a profile has a path comes in a fixture of the agent.
#[test]
fn sessions_and_notices_have_their_members() {
    let mut expected = BTreeSet::new();
    for file in files(&root().join("crates/core/src/profile/builtin"), "json") {
        let agent = file.parent().and_then(|it| it.file_name()).unwrap().to_str().unwrap();
        let profile: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        // The tests of the normal form compare both.
        if agent == "events" {
            continue;
        }
        for rule in profile["session"]["details"].as_array().into_iter().flatten() {
            expected.extend(named(rule).into_iter().map(|it| (agent.to_owned(), it)));
        }
        if profile["plans"].is_array() {
            expected.insert((agent.to_owned(), "items".to_owned()));
        }
        for rule in profile["notices"].as_array().into_iter().flatten() {
            expected.extend(named(&rule["values"]).into_iter().map(|it| (agent.to_owned(), it)));
        }
    }
    assert!(expected.len() > 40, "{expected:?}");
    let mut shown = BTreeSet::new();
    for case in cases().iter().filter(|case| case.path.starts_with("fixtures/agents")) {
        let events = converted(&case.bytes(), &mut case.checker(), Form::Events);
        for line in events.lines() {
            let event: Value = serde_json::from_str(line).unwrap();
            if ["session", "session_changed", "notice", "plan"]
                .iter()
                .any(|it| event["type"] == *it)
            {
                let members = event.as_object().unwrap().keys().cloned();
                shown.extend(members.map(|member| (case.folder().to_owned(), member)));
            }
        }
    }
    let missing: Vec<_> = expected.difference(&shown).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_session_names_its_tools_and_servers() {
    let stream = fs::read(root().join("fixtures/agents/claude/plain.ndjson")).unwrap();
    let events = converted(&stream, &mut checker(["--profile", "claude"]), Form::Events);
    let session: Value = serde_json::from_str(events.lines().next().unwrap()).unwrap();
    assert_eq!(session["mode"], "acceptEdits");
    assert_eq!(session["tools"][0], "Bash");
    let server = json!({"name": "tracker", "status": "connected", "available": true});
    assert_eq!(session["servers"][0], server);
}

/// Goal: the version of the agent is not that of its protocol.
#[test]
fn the_end_names_the_version_of_the_session() {
    let mut seen = BTreeSet::new();
    for case in cases().iter().filter(|case| case.path.starts_with("fixtures/agents")) {
        let events = converted(&case.bytes(), &mut case.checker(), Form::Events);
        let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let events: Vec<_> = events.collect();
        let first = events.iter().find(|event| event["version"].is_string());
        let last = events.last().filter(|event| event["type"] == "end");
        if let (Some(first), Some(last)) = (first, last) {
            assert_eq!(last["agent_version"], first["version"], "{}", case.path.display());
            seen.insert(case.folder().to_owned());
        }
    }
    assert!(seen.contains("acp") && seen.len() > 5, "{seen:?}");
}

/// Goal: what is known of a session is not said again with each change, however long it is.
#[test]
fn a_changed_session_has_only_what_is_new() {
    let path = root().join("fixtures/agents/claude/plain.ndjson");
    let stream = fs::read_to_string(path).unwrap();
    let (first, _) = stream.split_once('\n').unwrap();
    let mut again: Value = serde_json::from_str(first).unwrap();
    again["session_id"] = json!("other");
    again["mcp_servers"] = json!([{ "name": "tracker", "status": "failed" }]);
    let stream = format!("{first}\n{again}\n{again}\n");
    let events = converted(stream.as_bytes(), &mut checker(["--profile", "claude"]), Form::Events);
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let changes: Vec<_> = events.filter(|event| event["type"] == "session_changed").collect();
    let server = json!({ "name": "tracker", "status": "failed", "available": false });
    let servers = json!([server]);
    let change =
        json!({ "type": "session_changed", "session_id": "other", "servers": servers, "line": 2 });
    assert_eq!(changes, [change]);
}

/// Goal: the calls of a sub-agent name the call inside which they happen.
#[test]
fn calls_of_sub_agents_have_a_parent() {
    let nested = |fixture: &str, stream: &[u8]| -> Vec<(u64, u64)> {
        let profile = fixture.split('/').next().unwrap();
        let events = converted(stream, &mut checker(["--profile", profile]), Form::Events);
        let calls = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let calls = calls.filter(|event| event["type"] == "call_completed");
        let nested =
            calls.filter_map(|call| Some((call["call"].as_u64()?, call["parent"].as_u64()?)));
        nested.collect()
    };
    let read = |fixture: &str| fs::read(root().join("fixtures/agents").join(fixture)).unwrap();
    let fixture = "claude/subagent.ndjson";
    assert_eq!(nested(fixture, &read(fixture)), [(2, 1)]);
    // Of an event whose own call has the id, nothing is said.
    let fixture = "codebuddy/denied-tool.ndjson";
    assert_eq!(nested(fixture, &read(fixture)), []);
    let call = |id: &str, status: &str, parent: Option<&str>| {
        let update = json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": id,
            "kind": "think", "status": status,
            "_meta": {"claudeCode": {"parentToolUseId": parent}}});
        let params = json!({"sessionId": "s", "update": update});
        json!({"jsonrpc": "2.0", "method": "session/update", "params": params}).to_string() + "\n"
    };
    let stream = [
        call("task", "pending", None),
        call("inner", "pending", Some("task")),
        call("inner", "completed", None),
        call("task", "completed", None),
    ];
    assert_eq!(nested("acp", stream.concat().as_bytes()), [(2, 1)]);
}

#[test]
fn a_plan_comes_when_it_changes() {
    let stream = fs::read(root().join("fixtures/agents/acp/plan.ndjson")).unwrap();
    let events = converted(&stream, &mut checker(["--profile", "acp"]), Form::Events);
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let plans: Vec<Value> = events.filter(|event| event["type"] == "plan").collect();
    let states = |plan: &Value| {
        plan["items"].as_array().unwrap().iter().map(|item| item["state"].clone()).collect()
    };
    let states: Vec<Vec<Value>> = plans.iter().map(states).collect();
    assert_eq!(states, [["in_progress", "pending"], ["completed", "in_progress"]]);
    assert_eq!(plans[0]["items"][1]["text"], "Plant the fern");
}

/// The completions of calls in the fixtures of an agent, as events.
fn completions(agent: &str) -> Vec<Value> {
    let mut found = Vec::new();
    for case in
        cases().iter().filter(|case| case.path.starts_with(format!("fixtures/agents/{agent}")))
    {
        let events = converted(&case.bytes(), &mut case.checker(), Form::Events);
        let events = events.lines().map(|line| serde_json::from_str(line).unwrap());
        found.extend(events.filter(|event: &Value| event["type"] == "call_completed"));
    }
    found
}

/// Goal: the outputs of a command are apart where the agent gives them apart.
#[test]
fn outputs_of_commands_are_apart() {
    let failed = |event: &&Value| event["stderr"] == "npm ERR! Test failed\n";
    let cursor = completions("cursor");
    let failed = cursor.iter().find(failed).expect("a fixture has it");
    assert_eq!(failed["stdout"], "1 failing: total() ignores the discount\n");
    assert!(completions("claude").iter().any(|event| event["stdout"] == "4 passing"));
}

/// Goal: a call of a tool of an MCP server is one, whatever the kind that ACP gives it.
#[test]
fn mcp_calls_have_their_kind() {
    let kinds = |fixture: &str| -> Vec<Value> {
        completions(fixture).iter().map(|event| event["kind"].clone()).collect()
    };
    assert_eq!(kinds("acp/mcp-calls.ndjson"), [json!("mcp"), json!("mcp")]);
    assert!(kinds("kimi-code/failed-reads.ndjson").contains(&json!("mcp")));
    let good = kinds("acp/good.ndjson");
    assert!(!good.is_empty() && !good.contains(&json!("mcp")), "{good:?}");
}

/// Goal: a completion says what the call changed in files.
#[test]
fn completions_have_the_changes_of_files() {
    let cursor = completions("cursor");
    // A file has one name, relative to the directory of the session.
    let changed = |event: &&Value| event["changes"][0]["path"] == "src/cart.js";
    let call = cursor.iter().find(changed).expect("a fixture has it");
    assert_eq!(call["files"], json!(["src/cart.js"]));
    let change = &call["changes"][0];
    assert_eq!((&change["added"], &change["removed"]), (&json!(1), &json!(1)));
    let diff = change["diff"].as_str().unwrap();
    assert!(
        diff.contains("\n+  return items.reduce((sum, item) => sum + item.price - item.discount")
    );
    let [old, new] = ["old", "new"].map(|side| change[side].as_str().unwrap());
    assert!(!old.contains("discount") && new.contains("item.discount"), "{change}");
    let kinds: BTreeSet<String> = completions("codex/")
        .iter()
        .flat_map(|event| event["changes"].as_array().cloned().unwrap_or_default())
        .map(|change| change["kind"].as_str().unwrap().to_owned())
        .collect();
    let expected = ["added", "deleted", "modified"].map(str::to_owned);
    assert_eq!(kinds, BTreeSet::from(expected));
}

/// Goal: agents that say what they changed have it in a fixture.
/// Method: each profile with rules for changes has a completion with one.
#[test]
fn each_rule_for_changes_and_media_has_a_fixture() {
    for (key, rules) in [("changes", 9), ("media", 6)] {
        let mut agents = 0;
        for file in files(&root().join("crates/core/src/profile/builtin"), "json") {
            let profile: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
            // The normal form is no agent's.
            if profile["calls"][key].is_array() && profile["name"] != "events" {
                let agent = profile["name"].as_str().unwrap();
                let found = completions(&format!("{agent}/"));
                assert!(found.iter().any(|event| event[key].is_array()), "{agent} {key}");
                agents += 1;
            }
        }
        assert_eq!(agents, rules, "{key}");
    }
}

#[test]
fn changes_say_what_happened_to_the_file() {
    let changes = |agent: &str| -> Vec<Value> {
        let found = completions(agent).into_iter();
        let changes = found.filter_map(|event| event["changes"].as_array().cloned());
        changes.flatten().collect()
    };
    let claude = changes("claude/");
    let [added, edited] =
        ["added", "modified"].map(|kind| claude.iter().find(|it| it["kind"] == kind).unwrap());
    assert_eq!(added["new"], "# Notes\n");
    assert_eq!((&added["added"], &added["removed"]), (&json!(1), &json!(0)));
    assert_eq!((&edited["added"], &edited["removed"]), (&json!(1), &json!(1)));
    assert!(edited["diff"].as_str().unwrap().starts_with("@@ -1,3 +1,3 @@\n export function"));
    let acp = changes("acp/");
    assert_eq!((&acp[0]["old"], &acp[0]["kind"]), (&json!("bed 4: fern\n"), &json!("modified")));
    assert_eq!((&acp[1]["new"], &acp[1]["kind"]), (&json!("water daily\n"), &json!("added")));
    let opencode = changes("opencode/");
    assert!(opencode.iter().any(|change| change["added"] == 1 && change["old"] == "width 81\n"));
    // The text of a new or a deleted file is in the member of the diff, and is not a diff.
    let codex = changes("codex-app-server/");
    let codex = |kind: &str| codex.iter().find(|change| change["kind"] == kind).unwrap();
    let figures = |change: &Value| (change["added"].clone(), change["removed"].clone());
    let (added, deleted) = (codex("added"), codex("deleted"));
    assert_eq!((&added["new"], figures(added)), (&json!("open\n"), (json!(1), json!(0))));
    assert_eq!((&deleted["old"], figures(deleted)), (&json!("shut\n"), (json!(0), json!(1))));
    assert!(added["diff"].is_null() && deleted["diff"].is_null());
    assert!(changes("openhands/").iter().any(|change| change["kind"] == "added"));
}

/// Goal: a file that must not be written does not come from another by a rename.
#[test]
fn a_rename_names_both_files() {
    let file = root().join("fixtures/agents/codex-app-server/tools.ndjson");
    let stream = fs::read_to_string(file).unwrap();
    let stream = stream.replace("\"move_path\":null", "\"move_path\":\"/srv/mill/gate.lock\"");
    let others = [",{\"path\":\"/srv/mill/gate.log\"", "],\"status\":\"completed\""];
    let [begin, end] = others.map(|text| stream.find(text).unwrap());
    let alone = [&stream[..begin], &stream[end..]].concat();
    let never = Expectation::WritesNever(vec!["**/*.lock".to_owned()]);
    for stream in [stream, alone] {
        let events = converted(stream.as_bytes(), &mut checker([]), Form::Events);
        let renamed =
            r#""path":"/srv/mill/gate.lock","kind":"renamed","from":"/srv/mill/gate.cfg""#;
        assert!(events.contains(renamed), "{events}");
        let checker = Checker::builder().expect("never", never.clone());
        let (_, rules) = judge(stream.as_bytes(), &mut checker.build().unwrap());
        assert!(rules.contains(&Rule::ExpectationFailed), "{rules:?}");
    }
}

#[test]
fn images_have_a_type_and_a_size_and_no_bytes() {
    for agent in ["claude", "acp", "codex", "opencode"] {
        let found = completions(&format!("{agent}/image.ndjson"));
        assert_eq!(found.len(), 1, "{agent}");
        let image = json!([{ "kind": "image", "media_type": "image/png", "bytes": 70 }]);
        assert_eq!(found[0]["media"], image, "{agent}");
        assert!(!found[0].to_string().contains("iVBOR"), "{agent}");
    }
}

/// The figures of tokens in an event.
fn tokens(event: &Value) -> [u64; 5] {
    ["input", "cache_read", "cache_write", "output", "reasoning"]
        .map(|name| event[format!("{name}_tokens")].as_u64().unwrap_or_default())
}

/// Goal: the usage of each message comes once.
/// Method: for agents that give whole figures, the messages of a run add up to its sum.
#[test]
fn messages_add_up_to_the_usage_of_the_run() {
    let agents = ["amp", "cline", "gptme", "letta", "opencode", "pi"];
    let mut runs = BTreeSet::new();
    // The sum that Cline reports lacks those of its sub-agents.
    let is_sum = |case: &&crate::streams::Case| !case.path.ends_with("cline/two-subagents.ndjson");
    for case in cases().iter().filter(|it| agents.contains(&it.folder())).filter(is_sum) {
        let events = converted(&case.bytes(), &mut case.checker(), Form::Events);
        let events: Vec<Value> =
            events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let messages = events.iter().filter(|event| event["type"] == "message_usage");
        let sum = messages.map(tokens).reduce(|sum, it| std::array::from_fn(|at| sum[at] + it[at]));
        let end = events.iter().find(|event| event["type"] == "end");
        if let Some((sum, end)) = sum.zip(end) {
            assert_eq!(sum, tokens(end), "{}", case.path.display());
            runs.insert(case.folder().to_owned());
        }
    }
    assert_eq!(runs.len(), agents.len(), "{runs:?}");
}

/// Goal: several events of one message of Claude make one figure, and the last number counts.
#[test]
fn the_last_number_of_a_message_counts() {
    let usage = |output: u64| json!({ "input_tokens": 4, "output_tokens": output });
    let assistant = |id: &str, output: u64, parent: Value| {
        json!({ "type": "assistant", "parent_tool_use_id": parent, "session_id": "s",
            "message": { "id": id, "model": "m", "role": "assistant", "usage": usage(output),
                "content": [{ "type": "text", "text": "a" }] } })
    };
    let delta = json!({ "type": "stream_event", "session_id": "s",
        "event": { "type": "message_delta", "usage": usage(90) } });
    let lines = [
        assistant("msg_1", 1, Value::Null),
        assistant("msg_1", 2, Value::Null),
        delta,
        assistant("msg_sub", 5, json!("task")),
        assistant("msg_2", 3, Value::Null),
        assistant("msg_1", 4, Value::Null),
    ];
    let stream = lines.map(|line| line.to_string() + "\n").concat();
    let events = converted(stream.as_bytes(), &mut checker(["--profile", "claude"]), Form::Events);
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let usage = events.filter(|event| event["type"] == "message_usage");
    let shown: Vec<_> = usage
        .map(|event| format!("{} {}", event["message"].as_str().unwrap(), event["output_tokens"]))
        .collect();
    assert_eq!(shown, ["msg_1 90", "msg_sub 5", "msg_2 3"]);
}

/// Goal: a completion says when its call started, and how long it took.
#[test]
fn completions_have_the_start_of_their_call() {
    let stream = fs::read(root().join("fixtures/agents/cursor/plain.ndjson")).unwrap();
    let events = converted(&stream, &mut checker(["--profile", "cursor"]), Form::Events);
    let events: Vec<Value> =
        events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let completed = events.iter().filter(|event| event["type"] == "call_completed");
    let mut durations = 0;
    for call in completed {
        let is_start =
            |event: &&Value| event["type"] == "call_started" && event["call"] == call["call"];
        let start = events.iter().find(is_start).unwrap();
        assert_eq!(
            (&call["started_line"], &call["started_ms"]),
            (&start["line"], &start["time_ms"])
        );
        let [from, to] = [start, call].map(|event| event["time_ms"].as_u64());
        if let Some((from, to)) = from.zip(to) {
            assert_eq!(call["duration_ms"], to - from);
            durations += 1;
        }
    }
    assert_eq!(durations, 4);
}

//! A history as the stream of an agent.

use serde_json::{Value, json};

use super::naive::{Contract, Step};

pub(super) fn written(history: &[Step], contract: Contract) -> String {
    let mut out = String::new();
    let mut segment = 1;
    for (time, step) in (1_700_000_000_000_u64..).zip(history) {
        let events = match contract {
            Contract::Cursor => vec![cursor(step, time)],
            Contract::Normal => normal(step, &mut segment),
            Contract::Codex => codex(step),
        };
        for event in events {
            out += &event.to_string();
            out.push('\n');
        }
    }
    out
}

/// Deltas have a time, and whole texts have none.
fn cursor(step: &Step, time: u64) -> Value {
    let said =
        |text: &str| json!({"role": "assistant", "content": [{"type": "text", "text": text}]});
    let call = |half: &str, id: u8, result: Option<Value>| {
        let mut read = json!({"args": {"path": format!("file-{id}")}});
        if let Some(result) = result {
            read["result"] = result;
        }
        json!({"type": "tool_call", "subtype": half, "call_id": format!("call-{id}"),
            "tool_call": {"readToolCall": read}, "session_id": "s", "timestamp_ms": time})
    };
    match step {
        Step::Session => json!({"type": "system", "subtype": "init", "apiKeySource": "env",
            "cwd": "/app", "session_id": "s", "model": "Auto", "permissionMode": "default"}),
        Step::Prompt | Step::Turn => json!({"type": "user", "session_id": "s",
            "message": {"role": "user", "content": [{"type": "text", "text": "Go on"}]}}),
        Step::Start(id) => call("started", *id, None),
        Step::Completion(id, true) => call("completed", *id, Some(json!({"success": {}}))),
        Step::Completion(id, false) => {
            call("completed", *id, Some(json!({"error": {"errorMessage": "no"}})))
        }
        Step::Refusal(id) => call("completed", *id, Some(json!({"rejected": {"reason": "no"}}))),
        Step::Delta(text) => json!({"type": "assistant", "message": said(text), "session_id": "s",
            "timestamp_ms": time}),
        Step::Text(text) => json!({"type": "assistant", "message": said(text), "session_id": "s"}),
        Step::End(success, text) => json!({"type": "result",
            "subtype": if *success { "success" } else { "error" }, "duration_ms": 1,
            "duration_api_ms": 1, "is_error": !success, "result": text, "session_id": "s"}),
    }
}

fn normal(step: &Step, segment: &mut u64) -> Vec<Value> {
    let number = |id: u8| u64::from(id) + 1;
    let call = |kind: &str, id: u8| {
        let name = format!("call-{id}");
        json!({"type": kind, "call": number(id), "id": name, "tool": "read"})
    };
    let completed = |id: u8, outcome: &str| {
        let mut event = call("call_completed", id);
        event["outcome"] = outcome.into();
        vec![event]
    };
    match step {
        Step::Session => {
            vec![json!({"type": "session", "format": "ndjson-check/1", "profile": "cursor"})]
        }
        Step::Prompt | Step::Turn => {
            vec![json!({"type": "notice", "kind": "prompt", "detail": "Go on"})]
        }
        Step::Start(id) => vec![call("call_started", *id)],
        Step::Completion(id, success) => {
            completed(*id, if *success { "succeeded" } else { "failed" })
        }
        Step::Refusal(id) => completed(*id, "rejected"),
        Step::Delta(text) => vec![json!({"type": "text_delta", "segment": *segment, "text": text})],
        Step::Text(text) => {
            *segment += 1;
            vec![
                json!({"type": "text", "segment": *segment - 1, "text": text, "bytes": text.len()}),
            ]
        }
        Step::End(success, text) => {
            let outcome = if *success { "succeeded" } else { "failed" };
            let end = json!({"type": "end", "outcome": outcome, "verdict": "conforming",
                "errors": 0, "warnings": 0});
            vec![json!({"type": "answer", "text": text}), end]
        }
    }
}

fn codex(step: &Step) -> Vec<Value> {
    let call = |half: &str, id: u8, status: &str, rest: Value| {
        let mut item = json!({"id": format!("item_{id}"), "type": "mcp_tool_call", "server": "s",
            "tool": "read", "arguments": {"path": format!("file-{id}")}, "status": status});
        item.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        vec![json!({"type": format!("item.{half}"), "item": item})]
    };
    match step {
        Step::Session => vec![json!({"type": "thread.started", "thread_id": "t"})],
        Step::Turn => vec![json!({"type": "turn.started"})],
        Step::Prompt | Step::Delta(_) => Vec::new(),
        Step::Start(id) => call("started", *id, "in_progress", json!({})),
        Step::Completion(id, true) => {
            call("completed", *id, "completed", json!({"result": {"content": []}}))
        }
        Step::Completion(id, false) => {
            call("completed", *id, "failed", json!({"error": {"message": "no"}}))
        }
        Step::Refusal(id) => call("completed", *id, "declined", json!({})),
        Step::Text(text) => vec![json!({"type": "item.completed",
            "item": {"id": "text", "type": "agent_message", "text": text}})],
        Step::End(true, _) => vec![json!({"type": "turn.completed",
            "usage": {"input_tokens": 1, "output_tokens": 1}})],
        Step::End(false, _) => {
            vec![json!({"type": "turn.failed", "error": {"message": "no"}})]
        }
    }
}

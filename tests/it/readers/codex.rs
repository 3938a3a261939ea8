//! What Codex and VT Code say.

use serde_json::Value;

use super::{Reported, add, set, without};

pub(super) fn codex(reported: &mut Reported, event: &Value) {
    if event["type"] != "turn.completed" {
        return;
    }
    // Of the thread so far.
    let usage = &event["usage"];
    if usage["input_tokens"] == 0 && usage["output_tokens"] == 0 {
        return;
    }
    let (read, write) = (&usage["cached_input_tokens"], &usage["cache_write_input_tokens"]);
    set(&mut reported.input, without(&usage["input_tokens"], &[read, write]));
    set(&mut reported.cache_read, read.as_f64());
    set(&mut reported.cache_write, write.as_f64());
    set(&mut reported.output, usage["output_tokens"].as_f64());
    set(&mut reported.reasoning, usage["reasoning_output_tokens"].as_f64());
}

pub(super) fn codex_app_server(reported: &mut Reported, event: &Value) {
    reported.model(&event["result"]["model"]);
    let params = &event["params"];
    reported.model(&params["toModel"]);
    let turn = &params["turn"];
    // The turn of a sub-agent has the id of another one as its root.
    if turn["rootTurnId"].is_null() || turn["rootTurnId"] == turn["id"] {
        set(&mut reported.duration, turn["durationMs"].as_f64());
    }
    if event["method"] != "thread/tokenUsage/updated" {
        return;
    }
    let last = &params["tokenUsage"]["last"];
    let (read, write) = (&last["cachedInputTokens"], &last["cacheWriteInputTokens"]);
    add(&mut reported.turns, Some(1.0));
    add(&mut reported.input, without(&last["inputTokens"], &[read, write]));
    add(&mut reported.cache_read, read.as_f64());
    add(&mut reported.cache_write, write.as_f64());
    add(&mut reported.output, last["outputTokens"].as_f64());
    add(&mut reported.reasoning, last["reasoningOutputTokens"].as_f64());
}

pub(super) fn vtcode(reported: &mut Reported, event: &Value) {
    if event["type"] == "thread.completed" {
        let usage = &event["usage"];
        let (read, write) = (&usage["cached_input_tokens"], &usage["cache_creation_tokens"]);
        set(&mut reported.cost, event["total_cost_usd"].as_f64());
        set(&mut reported.turns, event["num_turns"].as_f64());
        set(&mut reported.input, without(&usage["input_tokens"], &[read, write]));
        set(&mut reported.cache_read, read.as_f64());
        set(&mut reported.cache_write, write.as_f64());
        set(&mut reported.output, usage["output_tokens"].as_f64());
    }
}

//! Agents that report in the words of Claude Code.

use serde_json::Value;

use super::{Reported, add, set};

/// Usage with the names of the Anthropic API.
pub(super) fn anthropic(usage: &Value) -> [Option<f64>; 4] {
    let names =
        ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"];
    names.map(|name| usage[name].as_f64())
}

pub(super) fn claude(reported: &mut Reported, event: &Value) {
    if event["type"] == "system" && event["subtype"] == "init" {
        reported.model(&event["model"]);
    }
    reported.model(&event["fallback_model"]);
    if event["type"] != "result" {
        return;
    }
    add(&mut reported.turns, event["num_turns"].as_f64());
    add(&mut reported.duration, event["duration_ms"].as_f64());
    if let Some(models) = event["model_usage_since_last_result"].as_object() {
        let costs = models.values().map(|of| of["costUSD"].as_f64());
        let free = (event["usage"]["output_tokens"] == 0).then_some(0.0);
        costs.chain([free]).for_each(|cost| add(&mut reported.cost, cost));
        for of in models.values().filter(|of| of["outputTokens"] != 0) {
            add(&mut reported.input, of["inputTokens"].as_f64());
            add(&mut reported.cache_read, of["cacheReadInputTokens"].as_f64());
            add(&mut reported.cache_write, of["cacheCreationInputTokens"].as_f64());
            add(&mut reported.output, of["outputTokens"].as_f64());
            add(&mut reported.reasoning, of["thinkingTokens"].as_f64());
        }
        return;
    }
    // Of the session so far; all else is of the turn.
    set(&mut reported.cost, event["total_cost_usd"].as_f64());
    let usage = anthropic(&event["usage"]);
    if usage.iter().flatten().all(|number| *number == 0.0) {
        // Nothing but zeros: it is unknown.
        return;
    }
    let [input, read, write, output] = usage;
    add(&mut reported.input, input);
    add(&mut reported.cache_read, read);
    add(&mut reported.cache_write, write);
    add(&mut reported.output, output);
    let details = &event["usage"]["output_tokens_details"];
    add(&mut reported.reasoning, details["thinking_tokens"].as_f64());
}

pub(super) fn claude_like(reported: &mut Reported, event: &Value) {
    if event["type"] == "system" && event["subtype"] == "init" {
        reported.model(&event["model"]);
    }
}

pub(super) fn qoder(reported: &mut Reported, event: &Value) {
    claude_like(reported, event);
    if event["type"] != "result" {
        return;
    }
    add(&mut reported.turns, event["num_turns"].as_f64());
    add(&mut reported.duration, event["duration_ms"].as_f64());
    let usage = anthropic(&event["usage"]);
    if usage.iter().flatten().any(|number| *number != 0.0) {
        let [input, read, write, output] = usage;
        add(&mut reported.input, input);
        add(&mut reported.cache_read, read);
        add(&mut reported.cache_write, write);
        add(&mut reported.output, output);
    }
}

pub(super) fn cortex(reported: &mut Reported, event: &Value) {
    let mut all = Reported::default();
    qoder(&mut all, event);
    // Whether the input includes the cached tokens is unknown.
    claude_like(reported, event);
    add(&mut reported.turns, all.turns);
    add(&mut reported.duration, all.duration);
    add(&mut reported.cache_read, all.cache_read);
    add(&mut reported.cache_write, all.cache_write);
    add(&mut reported.output, all.output);
}

//! Agents that report in the words of Claude Code.

use serde_json::Value;

use super::{Reported, add, set};

/// Usage with the names of the Anthropic API.
pub(super) fn anthropic(usage: &Value) -> [Option<f64>; 4] {
    let names =
        ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"];
    names.map(|name| usage[name].as_f64())
}

pub(super) fn claude(told: &mut Reported, event: &Value) {
    if event["type"] == "system" && event["subtype"] == "init" {
        told.model(&event["model"]);
    }
    if event["type"] != "result" {
        return;
    }
    // Of the session so far; all else is of the turn.
    set(&mut told.cost, event["total_cost_usd"].as_f64());
    add(&mut told.turns, event["num_turns"].as_f64());
    add(&mut told.duration, event["duration_ms"].as_f64());
    let usage = anthropic(&event["usage"]);
    if usage.iter().flatten().all(|number| *number == 0.0) {
        // Nothing but zeros: it is unknown.
        return;
    }
    let [input, read, write, output] = usage;
    add(&mut told.input, input);
    add(&mut told.cache_read, read);
    add(&mut told.cache_write, write);
    add(&mut told.output, output);
    let details = &event["usage"]["output_tokens_details"];
    add(&mut told.reasoning, details["thinking_tokens"].as_f64());
}

pub(super) fn claude_like(told: &mut Reported, event: &Value) {
    if event["type"] == "system" && event["subtype"] == "init" {
        told.model(&event["model"]);
    }
}

pub(super) fn qoder(told: &mut Reported, event: &Value) {
    claude_like(told, event);
    if event["type"] != "result" {
        return;
    }
    add(&mut told.turns, event["num_turns"].as_f64());
    add(&mut told.duration, event["duration_ms"].as_f64());
    let usage = anthropic(&event["usage"]);
    if usage.iter().flatten().any(|number| *number != 0.0) {
        let [input, read, write, output] = usage;
        add(&mut told.input, input);
        add(&mut told.cache_read, read);
        add(&mut told.cache_write, write);
        add(&mut told.output, output);
    }
}

pub(super) fn cortex(told: &mut Reported, event: &Value) {
    let mut all = Reported::default();
    qoder(&mut all, event);
    // Whether the input includes the cached tokens is unknown.
    claude_like(told, event);
    add(&mut told.turns, all.turns);
    add(&mut told.duration, all.duration);
    add(&mut told.cache_read, all.cache_read);
    add(&mut told.cache_write, all.cache_write);
    add(&mut told.output, all.output);
}

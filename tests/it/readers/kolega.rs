//! What Kolega Code and Mastra Code say.

use serde_json::Value;

use super::{Reported, add, set, without};

pub(super) fn kolega(reported: &mut Reported, event: &Value) {
    let payload = &event["payload"];
    let of_model = event["depth"] == 0 && payload["origin_type"] == "llm";
    add(&mut reported.turns, of_model.then_some(1.0));
    reported.model(&payload["metadata"]["config"]["long_model"]);
    if !payload["totals"].is_object() {
        return;
    }
    reported.model(&payload["model"]);
    let totals = &payload["totals"];
    let (read, write) = (&totals["cache_read_input_tokens"], &totals["cache_write_input_tokens"]);
    set(&mut reported.input, without(&totals["input_tokens"], &[read, write]));
    set(&mut reported.cache_read, read.as_f64());
    set(&mut reported.cache_write, write.as_f64());
    set(&mut reported.output, totals["output_tokens"].as_f64());
    set(&mut reported.reasoning, totals["reasoning_output_tokens"].as_f64());
}

pub(super) fn mastracode(reported: &mut Reported, event: &Value) {
    if event["type"] == "usage_update" {
        let usage = &event["usage"];
        let cached = &usage["cachedInputTokens"];
        add(&mut reported.turns, Some(1.0));
        add(&mut reported.input, without(&usage["promptTokens"], &[cached]));
        add(&mut reported.cache_read, cached.as_f64());
        add(&mut reported.output, usage["completionTokens"].as_f64());
        add(&mut reported.reasoning, usage["reasoningTokens"].as_f64());
    }
}

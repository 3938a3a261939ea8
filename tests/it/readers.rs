//! A plain reading of what streams say about their runs: a few lines for each agent, which do not
//! use its profile.

mod anthropic;
mod codex;
mod kolega;
mod opencode;

use serde_json::Value;

use anthropic::{anthropic, claude, claude_like, cortex, qoder};
use codex::{codex, codex_app_server, vtcode};
use kolega::{kolega, mastracode};
use opencode::{opencode, opencode_2};

/// What a stream says about its run.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Reported {
    pub(crate) model: Option<String>,
    pub(crate) cost: Option<f64>,
    pub(crate) turns: Option<f64>,
    pub(crate) duration: Option<f64>,
    pub(crate) input: Option<f64>,
    pub(crate) cache_read: Option<f64>,
    pub(crate) cache_write: Option<f64>,
    pub(crate) output: Option<f64>,
    pub(crate) reasoning: Option<f64>,
}

impl Reported {
    fn model(&mut self, model: &Value) {
        if let Some(model) = model.as_str().filter(|model| !model.is_empty()) {
            self.model = Some(model.to_owned());
        }
    }
}

/// Adds a number; a negative one is no number.
fn add(sum: &mut Option<f64>, number: Option<f64>) {
    if let Some(number) = number.filter(|number| *number >= 0.0) {
        *sum = Some(sum.unwrap_or_default() + number);
    }
}

fn set(known: &mut Option<f64>, number: Option<f64>) {
    *known = number.filter(|number| *number >= 0.0).or(*known);
}

/// A number that is unknown if it is 0.
fn paid(number: &Value) -> Option<f64> {
    number.as_f64().filter(|number| *number != 0.0)
}

/// The first number without the others; those may be absent.
fn without(whole: &Value, parts: &[&Value]) -> Option<f64> {
    Some(whole.as_f64()? - parts.iter().filter_map(|part| part.as_f64()).sum::<f64>())
}

fn acp(reported: &mut Reported, event: &Value) {
    let (result, update) = (&event["result"], &event["params"]["update"]);
    for options in [&result["configOptions"], &update["configOptions"]] {
        for option in options.as_array().into_iter().flatten().filter(|it| it["id"] == "model") {
            reported.model(&option["currentValue"]);
        }
    }
    reported.model(&result["models"]["currentModelId"]);
    if update["sessionUpdate"] == "usage_update" && update["cost"]["currency"] == "USD" {
        set(&mut reported.cost, paid(&update["cost"]["amount"]));
    }
    if result["stopReason"].is_null() {
        return;
    }
    let usage = &result["usage"];
    let (read, write) = (&usage["cachedReadTokens"], &usage["cachedWriteTokens"]);
    if paid(&usage["thoughtTokens"]).is_none() {
        let input = without(&usage["totalTokens"], &[&usage["outputTokens"], read, write]);
        add(&mut reported.input, input);
        add(&mut reported.output, usage["outputTokens"].as_f64());
    }
    add(&mut reported.cache_read, read.as_f64());
    add(&mut reported.cache_write, write.as_f64());
    add(&mut reported.reasoning, usage["thoughtTokens"].as_f64());
}

fn antigravity(reported: &mut Reported, event: &Value) {
    if event["event"] == "init" {
        reported.model(&event["init"]["model"]);
    }
    let usage = &event["result"]["usage"];
    if event["event"] != "result" || paid(&usage["total_tokens"]).is_none() {
        return;
    }
    // Of the conversation so far.
    set(&mut reported.turns, event["result"]["num_turns"].as_f64());
    set(&mut reported.input, usage["input_tokens"].as_f64());
    set(&mut reported.cache_read, usage["cache_read_tokens"].as_f64());
    set(&mut reported.output, usage["output_tokens"].as_f64());
    set(&mut reported.reasoning, usage["thinking_tokens"].as_f64());
}

fn cline(reported: &mut Reported, event: &Value) {
    if event["type"] == "run_start" {
        reported.model(&event["modelId"]);
    }
    if event["type"] != "run_result" {
        return;
    }
    reported.model(&event["model"]["id"]);
    set(&mut reported.turns, event["iterations"].as_f64());
    set(&mut reported.duration, event["durationMs"].as_f64());
    for usage in [&event["usage"], &event["aggregateUsage"]] {
        let (read, write) = (&usage["cacheReadTokens"], &usage["cacheWriteTokens"]);
        set(&mut reported.input, without(&usage["inputTokens"], &[read, write]));
        set(&mut reported.cache_read, read.as_f64());
        set(&mut reported.cache_write, write.as_f64());
        set(&mut reported.output, usage["outputTokens"].as_f64());
        set(&mut reported.cost, paid(&usage["totalCost"]));
    }
}

fn cursor(reported: &mut Reported, event: &Value) {
    if event["type"] == "system" && event["subtype"] == "init" {
        reported.model(&event["model"]);
    }
    if event["type"] != "result" {
        return;
    }
    add(&mut reported.duration, event["duration_ms"].as_f64());
    let usage = &event["usage"];
    add(&mut reported.input, usage["inputTokens"].as_f64());
    add(&mut reported.cache_read, usage["cacheReadTokens"].as_f64());
    add(&mut reported.cache_write, usage["cacheWriteTokens"].as_f64());
    add(&mut reported.output, usage["outputTokens"].as_f64());
}

fn droid(reported: &mut Reported, event: &Value) {
    if event["type"] == "system" && event["subtype"] == "init" {
        reported.model(&event["model"]);
    }
    // `result` is the whole run in one object.
    let [turns, duration] = match event["type"].as_str() {
        Some("completion") => ["numTurns", "durationMs"],
        Some("result") => ["num_turns", "duration_ms"],
        _ => return,
    };
    set(&mut reported.turns, event[turns].as_f64());
    set(&mut reported.duration, event[duration].as_f64());
    let [input, read, write, output] = anthropic(&event["usage"]);
    set(&mut reported.input, input);
    set(&mut reported.cache_read, read);
    set(&mut reported.cache_write, write);
    set(&mut reported.output, output);
    set(&mut reported.reasoning, event["usage"]["thinking_tokens"].as_f64());
}

fn gemini(reported: &mut Reported, event: &Value) {
    if event["type"] == "init" {
        reported.model(&event["model"]);
    }
    if event["type"] != "result" {
        return;
    }
    let stats = &event["stats"];
    set(&mut reported.duration, stats["duration_ms"].as_f64());
    set(&mut reported.input, without(&stats["input_tokens"], &[&stats["cached"]]));
    set(&mut reported.cache_read, stats["cached"].as_f64());
    // Only the total includes thoughts.
    let total = without(&stats["total_tokens"], &[&stats["input_tokens"]]);
    set(&mut reported.output, total.or(stats["output_tokens"].as_f64()));
}

fn goose(reported: &mut Reported, event: &Value) {
    if event["type"] != "complete" {
        return;
    }
    set(&mut reported.cost, paid(&event["cost_usd"]));
    if paid(&event["total_tokens"]).is_some() {
        let (read, write) = (&event["cache_read_input_tokens"], &event["cache_write_input_tokens"]);
        set(&mut reported.input, without(&event["input_tokens"], &[read, write]));
        set(&mut reported.cache_read, read.as_f64());
        set(&mut reported.cache_write, write.as_f64());
        set(&mut reported.output, event["output_tokens"].as_f64());
    }
}

fn gptme(reported: &mut Reported, event: &Value) {
    if event["type"] != "message" || event["role"] != "assistant" {
        return;
    }
    let data = &event["metadata"];
    reported.model(&data["model"]);
    add(&mut reported.cost, data["cost"].as_f64());
    let usage = &data["usage"];
    add(&mut reported.turns, usage.is_object().then_some(1.0));
    add(&mut reported.input, usage["input_tokens"].as_f64());
    add(&mut reported.cache_read, usage["cache_read_tokens"].as_f64());
    add(&mut reported.cache_write, usage["cache_creation_tokens"].as_f64());
    add(&mut reported.output, usage["output_tokens"].as_f64());
    add(&mut reported.reasoning, usage["reasoning_tokens"].as_f64());
}

fn grok(reported: &mut Reported, event: &Value) {
    let [input, read, write, output] = anthropic(&event["usage"]);
    let reasoning = event["usage"]["reasoning_tokens"].as_f64();
    // The last event has the sums of those before it.
    let update: fn(&mut Option<f64>, Option<f64>) = match event["type"].as_str() {
        Some("usage") => add,
        Some("end" | "error") => set,
        _ => return,
    };
    update(&mut reported.input, input);
    update(&mut reported.cache_read, read);
    update(&mut reported.cache_write, write);
    update(&mut reported.output, output);
    update(&mut reported.reasoning, reasoning);
    set(&mut reported.turns, event["num_turns"].as_f64());
    set(&mut reported.cost, event["total_cost_usd"].as_f64());
}

fn grok_cli(reported: &mut Reported, event: &Value) {
    add(&mut reported.turns, (event["role"] == "assistant").then_some(1.0));
}

fn hermes(reported: &mut Reported, event: &Value) {
    if event["type"] == "system" {
        reported.model(&event["model"]);
    }
    set(&mut reported.duration, event["duration_ms"].as_f64());
    let tokens = &event["tokens"];
    if paid(&tokens["total"]).is_some() {
        set(&mut reported.input, tokens["input"].as_f64());
        set(&mut reported.cache_read, tokens["cache_read"].as_f64());
        set(&mut reported.cache_write, tokens["cache_write"].as_f64());
        set(&mut reported.output, tokens["output"].as_f64());
    }
}

fn jan(reported: &mut Reported, event: &Value) {
    reported.model(&event["model"]);
    if event["type"] != "result" {
        return;
    }
    add(&mut reported.turns, event["num_turns"].as_f64());
    add(&mut reported.duration, event["duration_ms"].as_f64());
    let usage = &event["usage"];
    let (read, write) = (&usage["cached_tokens"], &usage["cache_write_tokens"]);
    add(&mut reported.cost, usage["estimated_cost_usd"].as_f64());
    add(&mut reported.input, without(&usage["prompt_tokens"], &[read, write]));
    add(&mut reported.cache_read, read.as_f64());
    add(&mut reported.cache_write, write.as_f64());
    add(&mut reported.output, usage["completion_tokens"].as_f64());
}

fn junie(reported: &mut Reported, event: &Value) {
    let lists = [&event["errorCode"], &event["llmUsage"]].into_iter().filter_map(Value::as_array);
    for list in lists {
        reported.model(list.first().map_or(&Value::Null, |usage| &usage["model"]));
        for usage in list {
            add(&mut reported.cost, usage["cost"].as_f64());
            add(&mut reported.input, usage["inputTokens"].as_f64());
            add(&mut reported.cache_read, usage["cacheInputTokens"].as_f64());
            add(&mut reported.cache_write, usage["cacheCreateTokens"].as_f64());
            add(&mut reported.output, usage["outputTokens"].as_f64());
        }
    }
}

fn kiro(reported: &mut Reported, event: &Value) {
    set(&mut reported.duration, event["data"]["turnDurationMs"].as_f64());
}

fn letta(reported: &mut Reported, event: &Value) {
    if event["type"] == "system" && event["subtype"] == "init" {
        reported.model(&event["model"]);
    }
    if event["type"] == "result" {
        add(&mut reported.duration, event["duration_ms"].as_f64());
    }
    let message = if event["type"] == "stream_event" { &event["event"] } else { event };
    if message["message_type"] != "usage_statistics" {
        return;
    }
    add(&mut reported.turns, Some(1.0));
    add(&mut reported.input, message["prompt_tokens"].as_f64());
    add(&mut reported.cache_read, message["cached_input_tokens"].as_f64());
    add(&mut reported.cache_write, message["cache_write_tokens"].as_f64());
    add(&mut reported.output, message["completion_tokens"].as_f64());
    add(&mut reported.reasoning, message["reasoning_tokens"].as_f64());
}

fn pi(reported: &mut Reported, event: &Value) {
    let message = &event["message"];
    if event["type"] != "message_end" || message["role"] != "assistant" {
        return;
    }
    reported.model(&message["model"]);
    add(&mut reported.turns, Some(1.0));
    let usage = &message["usage"];
    add(&mut reported.cost, paid(&usage["cost"]["total"]));
    if paid(&usage["totalTokens"]).is_some() {
        add(&mut reported.input, usage["input"].as_f64());
        add(&mut reported.cache_read, usage["cacheRead"].as_f64());
        add(&mut reported.cache_write, usage["cacheWrite"].as_f64());
        add(&mut reported.output, usage["output"].as_f64());
        add(&mut reported.reasoning, usage["reasoning"].as_f64());
    }
}

fn zero(reported: &mut Reported, event: &Value) {
    reported.model(&event["model"]);
    reported.model(&event["apiModel"]);
    if event["type"] == "usage" {
        add(&mut reported.turns, Some(1.0));
        add(&mut reported.output, event["completionTokens"].as_f64());
    }
}

fn nothing(_: &mut Reported, _: &Value) {}

pub(crate) type Reader = fn(&mut Reported, &Value);

/// What reads the events of a profile.
pub(crate) fn reader(profile: &str) -> Option<Reader> {
    let reader: Reader = match profile {
        "acp" | "acpx" => acp,
        "antigravity" => antigravity,
        "claude" => claude,
        "claude-like" => claude_like,
        "cline" => cline,
        "codex" => codex,
        "codex-app-server" => codex_app_server,
        "cortex" => cortex,
        "cursor" => cursor,
        "droid" | "droid-old" => droid,
        "gemini" => gemini,
        "goose" => goose,
        "gptme" => gptme,
        "grok" => grok,
        "grok-cli" => grok_cli,
        "hermes" => hermes,
        "jsonl" | "mcp" | "openhands" | "roo" | "vibe" | "vibe-old" => nothing,
        "jan" => jan,
        "junie" => junie,
        "kiro" => kiro,
        "kolega" => kolega,
        "letta" => letta,
        "mastracode" => mastracode,
        "opencode" => opencode,
        "opencode-2" => opencode_2,
        "pi" => pi,
        "qoder" => qoder,
        "vtcode" => vtcode,
        "zero" => zero,
        _ => return None,
    };
    Some(reader)
}

//! What the two versions of opencode say.

use serde_json::Value;

use super::{Reported, add, paid, without};

pub(super) fn opencode(reported: &mut Reported, event: &Value) {
    if event["type"] != "step_finish" {
        return;
    }
    let (part, tokens) = (&event["part"], &event["part"]["tokens"]);
    add(&mut reported.turns, Some(1.0));
    add(&mut reported.cost, paid(&part["cost"]));
    add(&mut reported.input, tokens["input"].as_f64());
    add(&mut reported.cache_read, tokens["cache"]["read"].as_f64());
    add(&mut reported.cache_write, tokens["cache"]["write"].as_f64());
    // Whether `output` includes reasoning depends on the version; `total` always does.
    let (read, write) = (&tokens["cache"]["read"], &tokens["cache"]["write"]);
    let output = without(&tokens["total"], &[&tokens["input"], read, write]);
    add(&mut reported.output, output.or(tokens["output"].as_f64()));
    add(&mut reported.reasoning, tokens["reasoning"].as_f64());
}

pub(super) fn opencode_2(reported: &mut Reported, event: &Value) {
    if event["type"] == "step_start" {
        add(&mut reported.turns, Some(1.0));
    }
    if event["type"] != "step_finish" {
        return;
    }
    let (part, tokens) = (&event["part"], &event["part"]["tokens"]);
    add(&mut reported.cost, paid(&part["cost"]));
    add(&mut reported.input, tokens["input"].as_f64());
    add(&mut reported.cache_read, tokens["cache"]["read"].as_f64());
    add(&mut reported.cache_write, tokens["cache"]["write"].as_f64());
    // `output` excludes reasoning.
    add(&mut reported.output, tokens["output"].as_f64());
    add(&mut reported.output, tokens["reasoning"].as_f64());
    add(&mut reported.reasoning, tokens["reasoning"].as_f64());
}

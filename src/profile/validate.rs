//! Holding a profile against the language: what is wrong with it, and where.

use serde_json::Value;

use super::versions::is_below;
use super::{Figure, LANGUAGE};
use crate::json::pointer;
use crate::json::{Json, Schema};
use crate::profile::pattern::Pattern;

/// What is wrong with a profile, each fault with the JSON Pointer of its place.
pub(super) fn faults(profile: &Value) -> Vec<String> {
    let language = serde_json::from_str(LANGUAGE).map_err(|it| it.to_string());
    let violations = language.and_then(|language| {
        let language = Schema::compile("the profile language", &language);
        language
            .and_then(|it| it.violations(&Json::tree(profile.clone())))
            .map_err(|it| it.to_string())
    });
    let violations = match violations {
        Ok(violations) => violations,
        Err(message) => return vec![message],
    };
    let told = violations.iter().map(|it| {
        let place = if it.instance.is_empty() { "the profile" } else { &it.instance };
        format!("{place}: {}", it.message)
    });
    let mut faults: Vec<String> = told.collect();
    if faults.is_empty() {
        let members = profile.as_object().into_iter().flatten();
        for (key, value) in members.filter(|(key, _)| *key != "schema") {
            misread(&pointer::joined("", key), value, &mut faults);
        }
        idle(profile, &mut faults);
    }
    faults
}

/// Texts with a language of their own, which the schema does not know: regular expressions, and
/// texts with values of the event in them.
fn misread(place: &str, value: &Value, faults: &mut Vec<String>) {
    let told = |place: &str, it: Option<String>| it.map(|it| format!("{place}: {it}"));
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let place = pointer::joined(place, key);
                match (key.as_str(), value) {
                    ("matches", Value::String(text)) => {
                        faults.extend(told(&place, Pattern::fault(text)));
                    }
                    ("detail" | "figures", Value::Array(texts)) => {
                        for (index, text) in texts.iter().filter_map(Value::as_str).enumerate() {
                            let figure = Figure::try_from(text.to_owned());
                            faults.extend(told(&format!("{place}/{index}"), figure.err()));
                        }
                    }
                    _ => misread(&place, value, faults),
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                misread(&format!("{place}/{index}"), item, faults);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What says nothing beside the rest of the profile: whoever wrote it expects something of it.
fn idle(profile: &Value, faults: &mut Vec<String>) {
    let text = |place| profile.pointer(place).and_then(Value::as_str);
    let items = |place| profile.pointer(place).and_then(Value::as_array).into_iter().flatten();
    if text("/terminal/policy") == Some("none") {
        let without = "with the policy none there is no terminal event";
        for place in ["/terminal/reopen", "/terminal/after"] {
            faults.extend(items(place).next().map(|_| format!("{place}: {without}")));
        }
        for (index, rule) in items("/terminal/rules").enumerate() {
            if rule["suspect"] == true || rule["outcome"] == "suspect" {
                faults.push(format!("/terminal/rules/{index}: {without} to suspect"));
            }
        }
    }
    if items("/session/before").next().is_some() && profile["session"]["first"] != false {
        faults.push("/session/before: nothing comes before a start that is first".to_owned());
    }
    if let (Some(from), Some(before)) = (text("/versions/from"), text("/versions/before"))
        && !is_below(from, before)
    {
        faults.push(format!("/versions/before: no version is from {from} and before {before}"));
    }
}

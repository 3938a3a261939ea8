//! Checks a profile against the language: what is wrong with it, and where.

use std::fmt;

use serde_json::Value;

use super::versions::is_below;
use super::{LANGUAGE, Template};
use crate::json::{ParsedJson, Schema, Violation, pointer};
use crate::profile::pattern::pattern_error;
use crate::rules::suggest::nearest;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// A JSON Pointer.
    pointer: String,
    message: String,
}

impl Fault {
    fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "the profile" } else { &self.pointer };
        write!(out, "{place}: {}", self.message)
    }
}

pub(super) fn faults(profile: &Value) -> Vec<Fault> {
    let mut faults = match violations(profile) {
        Ok(faults) => faults,
        Err(message) => return vec![Fault::new("", message)],
    };
    if faults.is_empty() {
        let members = profile.as_object().into_iter().flatten();
        for (key, value) in members.filter(|(key, _)| !["schema", "tags"].contains(&key.as_str())) {
            check_embedded_syntax(&pointer::joined("", key), value, &mut faults);
        }
        find_ineffective_keys(profile, &mut faults);
    }
    faults
}

fn violations(profile: &Value) -> Result<Vec<Fault>, String> {
    let language: Value = serde_json::from_str(LANGUAGE).map_err(|error| error.to_string())?;
    let schema = Schema::compile("the profile language", &language)?;
    let violations = schema.violations(&ParsedJson::Tree(profile.clone()));
    let violations = violations.map_err(|error| error.to_string())?;
    let fault = |violation: Violation| {
        let message = match similar_key(&language, &violation) {
            Some(key) => format!("{}; a similar one is `{key}`", violation.message),
            None => violation.message,
        };
        Fault::new(violation.instance, message)
    };
    Ok(violations.into_iter().map(fault).collect())
}

/// The known key most similar to one that the language does not know.
fn similar_key<'l>(language: &'l Value, violation: &Violation) -> Option<&'l str> {
    let object = violation.keyword.strip_suffix("/additionalProperties")?;
    let schema = pointer::tokens(object).try_fold(language, |schema, token| {
        let next = match schema.as_array() {
            Some(items) => items.get(token.parse::<usize>().ok()?)?,
            None => schema.get(&*token)?,
        };
        if token == "$ref" {
            language.pointer(next.as_str()?.strip_prefix('#')?)
        } else {
            Some(next)
        }
    })?;
    let known = schema["properties"].as_object()?;
    let name = pointer::tokens(&violation.instance).last()?;
    nearest(&name, known.keys().map(String::as_str))
}

/// Checks regular expressions and templates, whose syntax the schema does not know.
fn check_embedded_syntax(place: &str, value: &Value, faults: &mut Vec<Fault>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let place = pointer::joined(place, key);
                match (key.as_str(), value) {
                    ("matches", Value::String(text)) => {
                        let error = pattern_error(text);
                        faults.extend(error.map(|it| Fault::new(place, it)));
                    }
                    ("detail" | "suffix" | "text", Value::Array(texts)) => {
                        for (index, text) in texts.iter().filter_map(Value::as_str).enumerate() {
                            let error = Template::try_from(text.to_owned()).err();
                            let place = format!("{place}/{index}");
                            faults.extend(error.map(|it| Fault::new(place, it)));
                        }
                    }
                    _ => check_embedded_syntax(&place, value, faults),
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                check_embedded_syntax(&format!("{place}/{index}"), item, faults);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Finds keys that have no effect because of the rest of the profile.
fn find_ineffective_keys(profile: &Value, faults: &mut Vec<Fault>) {
    let text = |place| profile.pointer(place).and_then(Value::as_str);
    let items = |place| profile.pointer(place).and_then(Value::as_array).into_iter().flatten();
    if text("/end/policy") == Some("none") {
        let no_effect = |key: &str| format!("`{key}` has no effect with the policy `none`");
        for (place, key) in
            [("/end/reopen", "reopen"), ("/end/more_turns", "more_turns"), ("/end/after", "after")]
        {
            faults.extend(items(place).next().map(|_| Fault::new(place, no_effect(key))));
        }
        for (index, rule) in items("/end/rules").enumerate() {
            if rule["provisional"] == true {
                let place = format!("/end/rules/{index}");
                faults.push(Fault::new(place, no_effect("provisional")));
            }
        }
    }
    for (index, rule) in items("/end/rules").enumerate() {
        if rule["without_status"].is_string() && rule["provisional"] != true {
            let message = "`without_status` has no effect without `provisional`";
            faults.push(Fault::new(format!("/end/rules/{index}"), message));
        }
    }
    if profile["end"]["only_last_turn_ends"] == true && items("/end/reopen").next().is_none() {
        let message = "it has no effect without `reopen`";
        faults.push(Fault::new("/end/only_last_turn_ends", message));
    }
    for (place, other, default, wanted) in [
        ("/text/final_may_begin_at", "/text/final", "all", "all"),
        ("/session/may_repeat_after", "/session/repeats", "never", "each_turn"),
    ] {
        if text(other).unwrap_or(default) != wanted && items(place).next().is_some() {
            faults
                .push(Fault::new(place, format!("it has an effect only if {other} is `{wanted}`")));
        }
    }
    if let (Some(from), Some(before)) = (text("/versions/from"), text("/versions/before"))
        && !is_below(from, before)
    {
        let message = format!("`before` ({before}) must be greater than `from` ({from})");
        faults.push(Fault::new("/versions/before", message));
    }
}

//! The arguments of a call, to read.

use ndjson_check_core::escape::clipped;
use serde_json::Value;

use super::excerpt::Excerpt;
use super::order;
use crate::limits::{NAME_BYTES_MAX, PAGE_VALUE_BYTES_MAX};

const PAGE_ARGUMENTS_MAX: usize = 20;

#[derive(Debug)]
pub(super) struct Argument {
    /// Empty if the arguments are not an object.
    pub(super) name: String,
    pub(super) value: Excerpt,
    pub(super) is_empty: bool,
    /// Of a plan: how many steps are done, and how many there are.
    pub(super) steps: Option<(usize, usize)>,
}

/// The members of an object in the order of the line; another value has no name.
pub(super) fn arguments(arguments: &Value, line: &[u8]) -> Vec<Argument> {
    let Value::Object(members) = arguments else {
        let value = value(arguments);
        return vec![Argument { name: String::new(), value, is_empty: false, steps: None }];
    };
    let names = order::names(line, members).into_iter().take(PAGE_ARGUMENTS_MAX);
    let argument = |name: String| {
        let member = members.get(&name)?;
        let name = clipped(&name, NAME_BYTES_MAX).into_owned();
        let steps = plan(member)
            .map(|steps| (steps.iter().filter(|(is_done, _)| *is_done).count(), steps.len()));
        Some(Argument { name, value: value(member), is_empty: is_empty(member), steps })
    };
    names.filter_map(argument).collect()
}

/// Whether a value is what most tools take for one that is absent.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.values().all(is_empty),
        Value::Bool(true) => false,
    }
}

/// The steps of a plan, and which of them are done; none if the value is something else.
fn plan(value: &Value) -> Option<Vec<(bool, &str)>> {
    value.as_array().filter(|items| !items.is_empty())?.iter().map(step).collect()
}

fn step(item: &Value) -> Option<(bool, &str)> {
    let status = item.get("status")?.as_str()?;
    let text = ["content", "step", "title", "description"].iter().find_map(|it| item.get(it));
    Some((matches!(status, "completed" | "done"), text?.as_str()?))
}

/// A text as it is, and a plan as a list; another value as JSON, the members of an object in the
/// order of their names.
fn value(value: &Value) -> Excerpt {
    let mut excerpt = Excerpt::new(PAGE_VALUE_BYTES_MAX);
    if let Some(steps) = plan(value) {
        for (number, (is_done, text)) in steps.into_iter().enumerate() {
            let mark = if is_done { "✓ " } else { "○ " };
            let line_end = if number == 0 { "" } else { "\n" };
            for part in [line_end, mark, text] {
                excerpt.push(part);
            }
        }
        return excerpt;
    }
    match value {
        Value::String(text) => excerpt.push(text),
        _ => write(value, &mut excerpt),
    }
    excerpt
}

fn write(value: &Value, out: &mut Excerpt) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            out.push("{");
            for (number, (name, member)) in members.into_iter().enumerate() {
                out.push(if number == 0 { "" } else { ", " });
                out.push(&Value::from(name.as_str()).to_string());
                out.push(": ");
                write(member, out);
            }
            out.push("}");
        }
        Value::Array(items) => {
            out.push("[");
            for (number, item) in items.iter().enumerate() {
                out.push(if number == 0 { "" } else { ", " });
                write(item, out);
            }
            out.push("]");
        }
        scalar => out.push(&scalar.to_string()),
    }
}

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
}

/// The members of an object in the order of the line; another value has no name.
pub(super) fn arguments(arguments: &Value, line: &[u8]) -> Vec<Argument> {
    let Value::Object(members) = arguments else {
        let value = value(arguments);
        return vec![Argument { name: String::new(), value, is_empty: false }];
    };
    let names = order::names(line, members).into_iter().take(PAGE_ARGUMENTS_MAX);
    let argument = |name: String| {
        let member = members.get(&name)?;
        let name = clipped(&name, NAME_BYTES_MAX).into_owned();
        Some(Argument { name, value: value(member), is_empty: is_empty(member) })
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
/// A text as it is; another value as JSON, the members of an object in the order of their names.
fn value(value: &Value) -> Excerpt {
    let mut excerpt = Excerpt::new(PAGE_VALUE_BYTES_MAX);
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

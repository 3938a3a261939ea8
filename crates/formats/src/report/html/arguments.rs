//! The arguments of a call, to read.

use ndjson_check_core::escape::clipped;
use serde_json::Value;

use super::excerpt::Excerpt;
use crate::limits::{NAME_BYTES_MAX, PAGE_VALUE_BYTES_MAX};

/// Arguments of one tool call in an HTML page.
const PAGE_ARGUMENTS_MAX: usize = 20;

/// The members of an object by their names, in the order of the names; another value has no name.
pub(super) fn named(arguments: &Value) -> Vec<(String, Excerpt)> {
    let Value::Object(members) = arguments else {
        return vec![(String::new(), value(arguments))];
    };
    let mut members: Vec<_> = members.iter().collect();
    members.sort_by_key(|(name, _)| *name);
    let named = members.into_iter().take(PAGE_ARGUMENTS_MAX);
    named.map(|(name, it)| (clipped(name, NAME_BYTES_MAX).into_owned(), value(it))).collect()
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

//! The arguments of a call, to read.

use super::excerpt::Excerpt;
use crate::json::JsonRef;
use crate::limits::{CALL_ID_BYTES_MAX, PAGE_ARGUMENTS_MAX, PAGE_VALUE_BYTES_MAX};
use crate::rules::escape::clipped;

/// The members of an object by their names, in the order of the names; another value has no name.
pub(super) fn named(arguments: JsonRef<'_>) -> Vec<(String, Excerpt)> {
    if !arguments.is_object() {
        return vec![(String::new(), value(arguments))];
    }
    let mut members: Vec<_> = arguments.members().collect();
    members.sort_by(|a, b| a.0.cmp(&b.0));
    let named = members.into_iter().take(PAGE_ARGUMENTS_MAX);
    named.map(|(name, it)| (clipped(&name, CALL_ID_BYTES_MAX).into_owned(), value(it))).collect()
}

/// A text as it is; another value as JSON, the members of an object in the order of their names.
fn value(value: JsonRef<'_>) -> Excerpt {
    let mut excerpt = Excerpt::new(PAGE_VALUE_BYTES_MAX);
    match value.as_str() {
        Some(text) => excerpt.push(&text),
        None => write(value, &mut excerpt),
    }
    excerpt
}

fn write(value: JsonRef<'_>, out: &mut Excerpt) {
    if value.is_object() {
        let mut members: Vec<_> = value.members().collect();
        members.sort_by(|a, b| a.0.cmp(&b.0));
        out.push("{");
        for (number, (name, member)) in members.into_iter().enumerate() {
            out.push(if number == 0 { "" } else { ", " });
            out.push(&quoted(&name));
            out.push(": ");
            write(member, out);
        }
        out.push("}");
    } else if value.is_array() {
        out.push("[");
        for (number, item) in value.items().enumerate() {
            out.push(if number == 0 { "" } else { ", " });
            write(item, out);
        }
        out.push("]");
    } else if let Some(text) = value.as_str() {
        out.push(&quoted(&text));
    } else {
        out.push(value.scalar_text().as_deref().unwrap_or("null"));
    }
}

fn quoted(text: &str) -> String {
    // Cannot fail: it is a string.
    serde_json::to_string(text).unwrap_or_default()
}

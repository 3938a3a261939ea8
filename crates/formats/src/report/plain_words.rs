//! Findings about the form of a stream in words for a sentence; reports keep the exact ones below.

use ndjson_check_core::{Diagnostic, Rule, SchemaLocation};

/// What is wrong, without the terms of JSON Schema and of the check. `message` is the exact text.
pub(super) fn in_plain_words(found: &Diagnostic, message: String) -> String {
    match (found.rule, &found.location) {
        (Rule::DeltaMismatch, _) => "the pieces before do not add up to this text".to_owned(),
        (Rule::FinalTextMismatch, _) => "the final text is not the text before it".to_owned(),
        (_, Some(location)) => of_schema(location, &message),
        _ => message,
    }
}

fn of_schema(location: &SchemaLocation, message: &str) -> String {
    let path = location.instance.trim_start_matches('/').replace('/', ".");
    let path = path.replace("~1", "/").replace("~0", "~");
    if let Some(name) = message.strip_suffix(" is a required property") {
        let dot = if path.is_empty() { "" } else { "." };
        return format!("the event has no `{path}{dot}{}`", name.trim_matches('"'));
    }
    let what = if path.is_empty() { "the event".to_owned() } else { format!("`{path}`") };
    match message.strip_prefix("value ") {
        Some(rest) if rest.contains(" of the schemas listed ") => {
            format!("{what} has no known form")
        }
        Some(rest) => format!("{what} {rest}"),
        None => format!("{what}: {message}"),
    }
}

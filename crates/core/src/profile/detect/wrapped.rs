//! Events inside the lines of another program, such as the log of a container.

use super::DetectRules;
use crate::json::JsonRef;
use crate::stream::{Ending, Line, parse_line};

/// How deep in a line an event is looked for.
const DEPTH_MAX: usize = 2;

/// The filter of `jq`, with its option, that gets an event of a known agent out of an object.
pub(super) fn filter(object: JsonRef<'_>, rules: &DetectRules) -> Option<String> {
    inside(object, rules, "", DEPTH_MAX)
}

fn inside(object: JsonRef<'_>, rules: &DetectRules, path: &str, depth: usize) -> Option<String> {
    let is_known = |event: JsonRef<'_>| rules.matching(event).next().is_some();
    let members = object.members().filter(|(name, _)| is_plain(name));
    members.filter(|_| depth > 0).find_map(|(name, value)| {
        let path = format!("{path}.{name}");
        if value.is_object() {
            let here = is_known(value).then(|| format!("-c {path}"));
            return here.or_else(|| inside(value, rules, &path, depth - 1));
        }
        if value.is_array() {
            let first = value.items().next().filter(|item| item.is_object() && is_known(*item));
            return first.map(|_| format!("-c '{path}[]'"));
        }
        let text = value.as_str().filter(|text| text.trim_start().starts_with('{'))?;
        let line = Line::new(0, text.trim().as_bytes(), Ending::Lf);
        let event = parse_line(&line).ok()?;
        is_known(event.root()).then(|| format!("-r {path}"))
    })
}

/// Whether a filter can name a member without quotes.
fn is_plain(name: &str) -> bool {
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    name.chars().all(is_word) && name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_found_in_an_object_a_string_or_an_array() {
        let event = json!({"type": "thread.started", "thread_id": "t"});
        let text = format!("{event}\n");
        for (object, expected) in [
            (json!({"log": text, "stream": "stdout"}), Some("-r .log")),
            (json!({"jsonPayload": event}), Some("-c .jsonPayload")),
            (json!({"jsonPayload": {"message": text}}), Some("-r .jsonPayload.message")),
            (json!({"events": [event]}), Some("-c '.events[]'")),
            (json!({"a": {"b": {"c": event}}}), None),
            (json!({"a'b": event}), None),
            (json!({"log": "{"}), None),
            (json!({"log": "ready"}), None),
        ] {
            let found = filter(JsonRef::tree(&object), DetectRules::built_in());
            assert_eq!(found.as_deref(), expected, "{object}");
        }
    }
}

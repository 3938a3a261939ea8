//! Flags and values whose English names suggest a failure.

use serde_json::{Map, Value, json};

use super::last_token;
use super::leaves::{LeafCounts, LeafPath, LeafTable};

/// Parts of the keys of flags that are true after a failure, and of values that name one.
const FAILURE: [&str; 3] = ["error", "fail", "abort"];

/// Parts of the keys of values that do not say how something ended.
const NAMES: [&str; 6] = ["name", "tool", "policy", "permission", "mode", "option"];

/// More parts of values and tags that name a failure, or that something was not done.
const NOT_DONE: [&str; 10] = [
    "blocked",
    "cancel",
    "denied",
    "interrupted",
    "killed",
    "refused",
    "rejected",
    "timed out",
    "timed_out",
    "timeout",
];

/// Parts of the keys of flags that are false after a failure.
const SUCCESS: [&str; 1] = ["success"];

/// The key of such a flag. It is not searched for in longer words.
const OK: &str = "ok";

/// The key of a text that is there only after a failure.
const ERROR: &str = "error";

/// Parts of the keys of numbers that are 0 unless something failed.
const EXIT_CODES: [&str; 4] = ["exit_code", "exitcode", "exit_status", "returncode"];

/// Deepest marker, in tokens of its path.
const DEPTH: usize = 3;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct FailureMarker {
    pub(super) path: String,
    sign: FailureSign,
}

/// What shows a failure.
#[derive(Debug, Clone, PartialEq)]
enum FailureSign {
    /// One of these values.
    Values(Vec<Value>),
    /// Any value that is not empty.
    Presence,
    /// Any number but 0.
    NotZero,
}

impl FailureMarker {
    pub(super) fn condition(&self) -> Value {
        match &self.sign {
            FailureSign::Values(values) => match &values[..] {
                [value] => value.clone(),
                values => json!(values),
            },
            FailureSign::Presence => json!({ "empty": false }),
            FailureSign::NotZero => json!({ "exists": true, "not": 0 }),
        }
    }

    pub(super) fn negation(&self) -> Value {
        match &self.sign {
            FailureSign::Values(_) => json!({ "not": self.condition() }),
            FailureSign::Presence => json!({ "empty": true }),
            FailureSign::NotZero => json!(0),
        }
    }
}

/// The markers in the same object as `path`: in the event, or in the element of an array.
pub(super) fn failure_markers(path: &LeafPath, leaves: &LeafTable) -> Vec<FailureMarker> {
    let near =
        leaves.iter().filter(|(leaf, _)| leaf.is_in_same_object(path) && leaf.depth() <= DEPTH);
    let markers = near.filter_map(|(leaf, counts)| {
        let sign = failure_sign(last_token(&leaf.path), counts)?;
        Some(FailureMarker { path: leaf.path.clone(), sign })
    });
    markers.collect()
}

fn failure_sign(key: &str, counts: &LeafCounts) -> Option<FailureSign> {
    let values = failure_values(key, counts);
    match () {
        () if !values.is_empty() => Some(FailureSign::Values(values)),
        () if counts.booleans > 0 => None,
        () if counts.strings > 0 => {
            key.eq_ignore_ascii_case(ERROR).then_some(FailureSign::Presence)
        }
        () => contains(key, &EXIT_CODES).then_some(FailureSign::NotZero),
    }
}

fn failure_values(key: &str, counts: &LeafCounts) -> Vec<Value> {
    if counts.booleans == counts.scalars {
        let flags = [(true, contains(key, &FAILURE)), (false, is_success(key))].into_iter();
        return flags.filter(|(_, is)| *is).map(|(flag, _)| json!(flag)).collect();
    }
    let values = counts.values.get().into_iter().flatten();
    let is_name = contains(key, &NAMES);
    let is_failure =
        |value: &&String| contains(value, &FAILURE) || !is_name && contains(value, &NOT_DONE);
    values.filter(is_failure).map(|value| json!(value)).collect()
}

/// Whether the last part of a tag or the whole of a value names a failure.
pub(super) fn names_failure(tag: &str) -> bool {
    let name = last_token(tag);
    contains(name, &FAILURE) || contains(name, &NOT_DONE)
}

/// Whether the key at a path is that of a flag for failure or success.
pub(super) fn is_marker(path: &str) -> bool {
    let key = last_token(path);
    contains(key, &FAILURE) || is_success(key)
}

fn is_success(key: &str) -> bool {
    contains(key, &SUCCESS) || key.eq_ignore_ascii_case(OK)
}

/// Whether the text contains one of these lower-case parts, in any case.
pub(super) fn contains(text: &str, parts: &[&str]) -> bool {
    let text = text.to_ascii_lowercase();
    parts.iter().any(|part| text.contains(part))
}

/// These conditions and more, of which the later ones win.
pub(super) fn and(
    conditions: &Map<String, Value>,
    more: impl IntoIterator<Item = (String, Value)>,
) -> Value {
    let mut conditions = conditions.clone();
    conditions.extend(more);
    conditions.into()
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use serde_json::json;

    use super::super::leaves::{LeafPath, LeafTable, leaves};
    use super::{failure_markers, is_marker, names_failure};
    use ndjson_check_core::internals::JsonRef;

    #[test]
    fn markers_are_flags_and_values_with_known_names() {
        let tag: Rc<str> = "end".into();
        let mut table = LeafTable::default();
        for status in ["ok", "errored", "aborted"] {
            let event = json!({"is_error": false, "success": true, "more": true, "status": status,
                "list": [{"failed": true}]});
            for leaf in leaves(JsonRef::tree(&event), None) {
                table.count(&tag, &leaf);
            }
        }
        let event = LeafPath { tag, each: None, kind: None, path: String::new() };
        let markers = failure_markers(&event, &table);
        let conditions: Vec<_> =
            markers.iter().map(|marker| (&*marker.path, marker.condition())).collect();
        let status = json!(["aborted", "errored"]);
        let expected =
            [("/is_error", json!(true)), ("/status", status), ("/success", json!(false))];
        assert_eq!(conditions, expected);
        assert_eq!(markers[0].negation(), json!({ "not": true }));
    }

    #[test]
    fn a_flag_a_text_and_an_exit_code_may_be_markers() {
        let tag: Rc<str> = "end".into();
        let mut table = LeafTable::default();
        for event in [
            json!({"ok": true, "exit_code": 0, "error": null, "token": true, "code": 0}),
            json!({"ok": false, "exit_code": 7, "error": "no disk left", "errors": 1}),
        ] {
            for leaf in leaves(JsonRef::tree(&event), None) {
                table.count(&tag, &leaf);
            }
        }
        let event = LeafPath { tag, each: None, kind: None, path: String::new() };
        let markers = failure_markers(&event, &table);
        let conditions: Vec<_> = markers
            .iter()
            .map(|marker| (&*marker.path, marker.condition(), marker.negation()))
            .collect();
        let expected = [
            ("/exit_code", json!({ "exists": true, "not": 0 }), json!(0)),
            ("/ok", json!(false), json!({ "not": false })),
            ("/error", json!({ "empty": false }), json!({ "empty": true })),
        ];
        assert_eq!(conditions, expected);
    }

    #[test]
    fn names_of_failures() {
        assert!(names_failure("result/Error_max") && !names_failure("error/none"));
        assert!(is_marker("/a/isSuccess") && !is_marker("/error/code"));
    }
}

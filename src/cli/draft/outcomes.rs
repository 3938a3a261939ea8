//! What may tell that something failed: a flag or a word beside it, by its English name.

use serde_json::{Map, Value, json};

use super::leaves::{Place, Places};

/// Part of the keys of flags that are set for a failure, and of words that stand for one.
const BAD: [&str; 3] = ["error", "fail", "abort"];

/// Part of the keys of flags that are not set for one.
const GOOD: [&str; 1] = ["success"];

/// Deepest place that is looked at, in tokens of its path.
const DEPTH: usize = 3;

/// A value that may tell of a failure.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sign {
    pub(super) path: String,
    /// The values that do.
    pub(super) values: Vec<Value>,
}

impl Sign {
    /// The condition that it says so.
    pub(super) fn says_so(&self) -> Value {
        match &self.values[..] {
            [value] => value.clone(),
            values => json!(values),
        }
    }

    /// The condition that it does not.
    pub(super) fn does_not(&self) -> Value {
        json!({ "not": self.says_so() })
    }
}

/// The signs of failure beside a place: in the same event, or in the same element of an array.
pub(super) fn signs(beside: &Place, places: &Places) -> Vec<Sign> {
    let near = places.iter().filter(|(it, _)| it.is_beside(beside) && it.depth() <= DEPTH);
    near.filter_map(|(place, seen)| {
        let key = place.path.rsplit('/').next().unwrap_or_default();
        let values = if seen.booleans == seen.count {
            let flags = [(true, &BAD[..]), (false, &GOOD[..])].into_iter();
            flags.filter(|(_, names)| contains(key, names)).map(|(flag, _)| json!(flag)).collect()
        } else {
            let words = seen.words.few().into_iter().flatten();
            words.filter(|it| contains(it, &BAD)).map(|it| json!(it)).collect::<Vec<_>>()
        };
        (!values.is_empty()).then(|| Sign { path: place.path.clone(), values })
    })
    .collect()
}

/// Whether a tag is one of failure by its last part.
pub(super) fn is_bad(tag: &str) -> bool {
    contains(tag.rsplit('/').next().unwrap_or_default(), &BAD)
}

/// Whether the key of a path is that of a flag of failure or success.
pub(super) fn is_sign(path: &str) -> bool {
    let key = path.rsplit('/').next().unwrap_or_default();
    contains(key, &BAD) || contains(key, &GOOD)
}

/// Whether one of these is a part of a text, in whatever case.
pub(super) fn contains(text: &str, names: &[&str]) -> bool {
    let text = text.to_ascii_lowercase();
    names.iter().any(|name| text.contains(name))
}

/// These conditions and more.
pub(super) fn and(
    conditions: &Map<String, Value>,
    more: impl IntoIterator<Item = (String, Value)>,
) -> Value {
    let mut conditions = conditions.clone();
    conditions.extend(more);
    conditions.into()
}

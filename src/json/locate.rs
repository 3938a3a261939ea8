//! Where in a JSON text a value stands: JSON Pointer → byte offset. Only for diagnostics.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::json::pointer;

/// Where a value stands, and its key if it is a member; bytes of the text, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) key: Option<usize>,
    pub(crate) value: usize,
}

/// Finds the values at these pointers (RFC 6901) in a valid JSON text; of a key that occurs more
/// than once, the last. Only what leads to one of them is looked into.
pub(crate) fn places(text: &str, pointers: &BTreeSet<String>) -> BTreeMap<String, Place> {
    let mut found = BTreeMap::new();
    if pointers.is_empty() {
        return found; // As for nearly every event.
    }
    visit(text, text.trim_start(), None, "", pointers, &mut found);
    found
}

fn visit(
    text: &str,
    value: &str,
    key: Option<usize>,
    pointer: &str,
    wanted: &BTreeSet<String>,
    found: &mut BTreeMap<String, Place>,
) {
    let below = format!("{pointer}/");
    let leads_on = wanted.range(below.clone()..).next().is_some_and(|it| it.starts_with(&below));
    if wanted.contains(pointer) {
        found.insert(pointer.to_owned(), Place { key, value: offset(text, value) });
    }
    if !leads_on {
        return;
    }
    if value.starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(value).unwrap_or_default();
        for (index, item) in items.iter().enumerate() {
            let pointer = pointer::joined(pointer, &index.to_string());
            visit(text, item.get(), None, &pointer, wanted, found);
        }
    } else {
        for (key, value) in members(value) {
            let name: String = serde_json::from_str(key).unwrap_or_default();
            let pointer = pointer::joined(pointer, &name);
            visit(text, value, Some(offset(text, key)), &pointer, wanted, found);
        }
    }
}

fn offset(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// The bytes of a member's value, of an object.
#[cfg(feature = "cli")]
pub(crate) fn member(text: &str, key: &str) -> Option<std::ops::Range<usize>> {
    let is_it = |name: &str| serde_json::from_str::<String>(name).is_ok_and(|it| it == key);
    let (_, value) = members(text).into_iter().find(|(name, _)| is_it(name))?;
    let start = offset(text, value);
    Some(start..start + value.len())
}

/// The members of an object in the order of the text: keys, quotes included, and values.
pub(crate) fn members(text: &str) -> Vec<(&str, &str)> {
    let Members(members) = serde_json::from_str(text).unwrap_or(Members(Vec::new()));
    members.into_iter().map(|(key, value)| (key.get(), value.get())).collect()
}

struct Members<'t>(Vec<(&'t RawValue, &'t RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_keys_are_found_where_they_stand() {
        let text = r#" {"a" : [1, {"b/c": "x"}], "\u0064": 2, "a~": 3, "d": 4}"#;
        let expected = [
            ("", None, 1),
            ("/a", Some(2), 8),
            ("/a/1", None, 12),
            ("/a/1/b~1c", Some(13), 20),
            ("/a~0", Some(40), 46),
            ("/d", Some(49), 54),
        ];
        let mut wanted: BTreeSet<String> = expected.iter().map(|it| it.0.to_owned()).collect();
        wanted.insert("/z".to_owned());
        let found = places(text, &wanted);
        let found: Vec<_> = found.iter().map(|(it, at)| (it.as_str(), at.key, at.value)).collect();
        assert_eq!(found, expected);
    }
}

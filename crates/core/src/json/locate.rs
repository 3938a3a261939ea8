//! JSON Pointer → byte offset in the text. Only for diagnostics.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::json::pointer;

/// Bytes of the text, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ValueOffsets {
    /// Only if the value is a member of an object.
    pub(crate) key: Option<usize>,
    pub(crate) value: usize,
}

/// Finds the values at these pointers (RFC 6901) in a valid JSON text; of a key that occurs more
/// than once, the last.
pub(crate) fn places(text: &str, pointers: &BTreeSet<String>) -> BTreeMap<String, ValueOffsets> {
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
    found: &mut BTreeMap<String, ValueOffsets>,
) {
    let below = format!("{pointer}/");
    let leads_on =
        wanted.range(below.clone()..).next().is_some_and(|pointer| pointer.starts_with(&below));
    if wanted.contains(pointer) {
        found.insert(pointer.to_owned(), ValueOffsets { key, value: offset(text, value) });
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

/// The bytes of the value that an object has for `key`.
pub(crate) fn member(text: &str, key: &str) -> Option<std::ops::Range<usize>> {
    let is_key =
        |written: &str| serde_json::from_str::<String>(written).is_ok_and(|name| name == key);
    let (_, value) = members(text).into_iter().find(|(written, _)| is_key(written))?;
    let start = offset(text, value);
    Some(start..start + value.len())
}

/// The members of an object in the order of the text: keys, quotes included, and values.
pub(crate) fn members(text: &str) -> Vec<(&str, &str)> {
    let RawMembers(members) = serde_json::from_str(text).unwrap_or(RawMembers(Vec::new()));
    members.into_iter().map(|(key, value)| (key.get(), value.get())).collect()
}

struct RawMembers<'t>(Vec<(&'t RawValue, &'t RawValue)>);

impl<'de> Deserialize<'de> for RawMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = RawMembers<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(RawMembers(members))
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_keys_have_their_offsets() {
        let text = r#" {"a" : [1, {"b/c": "x"}], "\u0064": 2, "a~": 3, "d": 4}"#;
        let expected = [
            ("", None, 1),
            ("/a", Some(2), 8),
            ("/a/1", None, 12),
            ("/a/1/b~1c", Some(13), 20),
            ("/a~0", Some(40), 46),
            ("/d", Some(49), 54),
        ];
        let mut wanted: BTreeSet<String> =
            expected.iter().map(|(pointer, ..)| (*pointer).to_owned()).collect();
        wanted.insert("/z".to_owned());
        let found = places(text, &wanted);
        let found: Vec<_> =
            found.iter().map(|(pointer, at)| (pointer.as_str(), at.key, at.value)).collect();
        assert_eq!(found, expected);
    }
}

//! Where in a JSON text a value stands: JSON Pointer → byte offset. Only for diagnostics.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::pointer;

/// The offset of the value at `pointer` (RFC 6901) in a valid JSON text; of a key that occurs
/// more than once, the last.
pub(super) fn value(text: &str, pointer: &str) -> Option<usize> {
    find(text, pointer).map(|(_, value)| offset(text, value))
}

/// The offset of the key of the member at `pointer`.
pub(super) fn key(text: &str, pointer: &str) -> Option<usize> {
    find(text, pointer).and_then(|(key, _)| key).map(|key| offset(text, key))
}

fn offset(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

fn find<'t>(text: &'t str, pointer: &str) -> Option<(Option<&'t str>, &'t str)> {
    let mut key = None;
    let mut value = text.trim_start();
    for token in pointer::tokens(pointer) {
        if value.starts_with('[') {
            let items: Vec<&RawValue> = serde_json::from_str(value).ok()?;
            (key, value) = (None, items.get(token.parse::<usize>().ok()?)?.get());
        } else {
            let Members(members) = serde_json::from_str(value).ok()?;
            let is_named = |name: &RawValue| {
                serde_json::from_str::<String>(name.get()).is_ok_and(|name| name == token)
            };
            let (name, member) = members.into_iter().rev().find(|(name, _)| is_named(name))?;
            (key, value) = (Some(name.get()), member.get());
        }
    }
    Some((key, value))
}

/// The members of an object in the order of the text, keys and values as they are written.
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
        let text = r#" {"a" : [1, {"b/c": "x"}], "\u0064": 2, "a~": 3}"#;
        let cases = [
            ("", 1, None),
            ("/a", 8, Some(2)),
            ("/a/1", 12, None),
            ("/a/1/b~1c", 20, Some(13)),
            ("/d", 37, Some(27)),
            ("/a~0", 46, Some(40)),
        ];
        for (pointer, at, key_at) in cases {
            assert_eq!(value(text, pointer), Some(at), "{pointer}");
            assert_eq!(key(text, pointer), key_at, "{pointer}");
        }
        assert_eq!(value(text, "/z"), None);
    }
}

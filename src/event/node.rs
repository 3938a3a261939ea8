//! One value of an event, seen through the few questions that profiles and stages ask.

use std::borrow::Cow;
use std::hash::{BuildHasher, Hash, Hasher};

use serde_json::Value;

/// A value of an event.
///
/// Members of an object have no order here: where a choice must be made, the smallest key in byte
/// order is taken, whatever engine holds the object.
#[derive(Debug, Clone, Copy)]
pub struct Node<'e>(&'e Value);

impl<'e> Node<'e> {
    pub(super) fn new(value: &'e Value) -> Self {
        Self(value)
    }

    /// The member of an object, or the item of an array, that a reference token names.
    pub fn get(self, token: &str) -> Option<Self> {
        match self.0 {
            Value::Object(object) => object.get(token).map(Self),
            Value::Array(array) => array.get(token.parse::<usize>().ok()?).map(Self),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        }
    }

    /// The member with the smallest key that ends in `suffix` and is longer than it.
    pub fn member_ending_in(self, suffix: &str) -> Option<(&'e str, Self)> {
        let object = self.0.as_object()?;
        object
            .iter()
            .filter(|(key, _)| key.len() > suffix.len() && key.ends_with(suffix))
            .min_by_key(|(key, _)| *key)
            .map(|(key, value)| (key.as_str(), Self(value)))
    }

    /// Whether it is an array.
    pub fn is_array(self) -> bool {
        self.0.is_array()
    }

    /// The items of an array; nothing for any other value.
    pub fn items(self) -> impl Iterator<Item = Self> {
        self.0.as_array().into_iter().flatten().map(Self)
    }

    /// The string.
    pub fn as_str(self) -> Option<&'e str> {
        self.0.as_str()
    }

    /// The number, where it is a whole one from 0 to 2^64 - 1.
    pub fn as_u64(self) -> Option<u64> {
        self.0.as_u64()
    }

    /// The number, as near as a double comes to it.
    pub fn as_f64(self) -> Option<f64> {
        self.0.as_f64()
    }

    /// A string, number or boolean as text.
    pub fn scalar_text(self) -> Option<Cow<'e, str>> {
        match self.0 {
            Value::String(string) => Some(Cow::Borrowed(string)),
            Value::Number(number) => Some(Cow::Owned(number.to_string())),
            Value::Bool(value) => Some(Cow::Owned(value.to_string())),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Whether it equals a string, number, boolean or null of a profile; numbers by value.
    pub fn equals(self, scalar: &Value) -> bool {
        match (self.0, scalar) {
            (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
            (a, b) => a == b,
        }
    }

    /// A fingerprint that is equal for equal values, the order of members not counted.
    pub fn fingerprint(self, state: &impl BuildHasher) -> u64 {
        let mut hasher = state.build_hasher();
        match self.0 {
            Value::Null => 0_u8.hash(&mut hasher),
            Value::Bool(value) => (1_u8, value).hash(&mut hasher),
            Value::Number(number) => (2_u8, number).hash(&mut hasher),
            Value::String(string) => (3_u8, string).hash(&mut hasher),
            Value::Array(items) => {
                (4_u8, items.len()).hash(&mut hasher);
                for item in items {
                    Self(item).fingerprint(state).hash(&mut hasher);
                }
            }
            Value::Object(members) => {
                (5_u8, members.len()).hash(&mut hasher);
                let sum = members.iter().fold(0_u64, |sum, (key, value)| {
                    sum.wrapping_add(state.hash_one((key, Self(value).fingerprint(state))))
                });
                sum.hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::hash::RandomState;

    use serde_json::json;

    use super::*;

    #[test]
    fn fingerprints_follow_equality() {
        let state = RandomState::new();
        let of = |value: &Value| Node(value).fingerprint(&state);
        let value = json!({"a": [1, "x", null], "b": {"c": true, "d": 2}});
        let reordered = serde_json::from_str(r#"{"b":{"d":2,"c":true},"a":[1,"x",null]}"#);
        assert_eq!(of(&value), of(&reordered.expect("valid JSON")));
        for other in [json!({"a": [1, "x", null], "b": {"c": true, "d": 3}}), json!([]), json!({})]
        {
            assert_ne!(of(&value), of(&other));
        }
    }

    #[test]
    fn numbers_are_equal_by_value() {
        assert!(Node(&json!(0)).equals(&json!(0.0)));
        assert!(!Node(&json!(1)).equals(&json!("1")));
    }

    #[test]
    fn the_smallest_matching_key_is_taken() {
        let value = json!({"toolCallId": 1, "zToolCall": 2, "aToolCall": 3, "ToolCall": 4});
        let found = Node(&value).member_ending_in("ToolCall").map(|(key, _)| key);
        assert_eq!(found, Some("aToolCall"));
    }
}

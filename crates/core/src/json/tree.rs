//! One JSON text → a tree, and the keys that occur twice in one object.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::json::pointer;

/// A tree takes up to 90 times the bytes of its text. Longer texts are checked first, without
/// a tree, so that a broken one costs no memory.
pub(crate) const TREE_BYTES_MAX: usize = 1 << 16;

/// Parses one whole JSON text: the tree, and JSON Pointers to at most `max` members whose key
/// occurred before in their object, escapes decoded. The last value of a key counts. Of a long
/// text that is not an object, only the type is right: it has no parts.
pub(crate) fn parse(text: &str, max: usize) -> serde_json::Result<(Value, BTreeSet<String>)> {
    if text.len() > TREE_BYTES_MAX {
        let value = Builder::new(false, max).read(text)?;
        if !value.is_object() {
            return Ok((value, BTreeSet::new()));
        }
    }
    let mut builder = Builder::new(true, max);
    let value = builder.read(text)?;
    Ok((value, builder.pointers()))
}

/// The pointers that [`parse`] finds, without a tree; `None` if the text is not one JSON object.
pub(crate) fn duplicate_keys(text: &str, max: usize) -> Option<BTreeSet<String>> {
    let mut builder = Builder::new(false, max);
    builder.read(text).is_ok_and(|value| value.is_object()).then(|| builder.pointers())
}

struct Builder {
    keeps_parts: bool,
    /// Paths to keys that occur more than once, from the leaf to the root; they grow on the way
    /// back up, so a text without them pays nothing.
    duplicates: Vec<Vec<String>>,
    duplicates_max: usize,
}

impl Builder {
    fn new(keeps_parts: bool, duplicates_max: usize) -> Self {
        Self { keeps_parts, duplicates: Vec::new(), duplicates_max }
    }

    fn pointers(&self) -> BTreeSet<String> {
        let pointer = |path: &Vec<String>| {
            path.iter().rev().fold(String::new(), |pointer, token| pointer::joined(&pointer, token))
        };
        self.duplicates.iter().map(pointer).collect()
    }

    fn read(&mut self, text: &str) -> serde_json::Result<Value> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let value = self.deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(value)
    }

    fn extend_paths(&mut self, from: usize, token: impl Fn() -> String) {
        for path in &mut self.duplicates[from..] {
            path.push(token());
        }
    }
}

impl<'de> DeserializeSeed<'de> for &mut Builder {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Builder {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("number out of range"))?;
        Ok(Value::Number(number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(if self.keeps_parts { value.to_owned() } else { String::new() }))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let (mut array, mut count) = (Vec::new(), 0_usize);
        loop {
            let known = self.duplicates.len();
            let Some(item) = items.next_element_seed(&mut *self)? else {
                return Ok(Value::Array(array));
            };
            self.extend_paths(known, || count.to_string());
            count += 1;
            if self.keeps_parts {
                array.push(item);
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        // Without parts, the keys alone.
        let (mut object, mut keys) = (Map::new(), BTreeSet::new());
        while let Some(key) = members.next_key::<String>()? {
            let known = self.duplicates.len();
            let value = members.next_value_seed(&mut *self)?;
            if known == self.duplicates.len()
                && known < self.duplicates_max
                && (object.contains_key(&key) || keys.contains(&key))
            {
                self.duplicates.push(Vec::new());
            }
            self.extend_paths(known, || key.clone());
            if self.keeps_parts {
                object.insert(key, value);
            } else {
                keys.insert(key);
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_broken_text_has_the_error_of_the_parser() {
        let long = format!("\"{}\"", "x".repeat(TREE_BYTES_MAX));
        let deep = "[".repeat(200);
        let tails =
            ["", ",", ", 1e999]", ", \"\\ud83d\"]", ", \"\\u00", ", tru]", "] {}", &deep, "]]"];
        for tail in tails {
            let text = format!("[{long}, {{\"a\": 1, \"a\": 2}}{tail}");
            let expected = Builder::new(true, 1).read(&text).expect_err(tail).to_string();
            assert_eq!(parse(&text, 1).expect_err(tail).to_string(), expected);
        }
    }

    #[test]
    fn a_long_object_is_a_whole_tree_and_any_other_long_text_a_type() {
        let long = "x".repeat(TREE_BYTES_MAX);
        let object = format!("{{\"a\": [{{\"b\": 1, \"b\": \"{long}\"}}]}}");
        let (value, duplicates) = parse(&object, 1).expect("JSON");
        assert_eq!(value, serde_json::from_str::<Value>(&object).expect("JSON"));
        assert_eq!(duplicates, ["/a/0/b".to_owned()].into());
        assert_eq!(duplicate_keys(&object, 1), Some(duplicates));
        assert_eq!(duplicate_keys("[{}]", 1), None);
        assert_eq!(parse(&format!("[{object}]"), 1).expect("JSON").0, Value::Array(Vec::new()));
    }
}

//! One JSON text → a tree, and the keys that occur twice in one object.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::json::pointer;

/// A tree takes up to 70 times the bytes of its text. Longer texts are checked first, without
/// a tree, so that a broken one costs no memory.
const UNCHECKED_BYTES_MAX: usize = 1 << 16;

/// Parses one whole JSON text: the tree, and JSON Pointers to at most `max` members whose key
/// occurred before in their object, escapes decoded. The last value of a key counts. Of a long
/// text that is not an object, only the type is right: it has no parts.
pub(crate) fn parse(text: &str, max: usize) -> serde_json::Result<(Value, BTreeSet<String>)> {
    let mut builder = Builder { keeps_parts: false, duplicates: Vec::new(), duplicates_max: max };
    if text.len() > UNCHECKED_BYTES_MAX {
        let value = builder.read(text)?;
        if !value.is_object() {
            return Ok((value, BTreeSet::new()));
        }
    }
    builder.keeps_parts = true;
    let value = builder.read(text)?;
    let pointer = |path: &Vec<String>| {
        path.iter().rev().fold(String::new(), |pointer, token| pointer::joined(&pointer, token))
    };
    Ok((value, builder.duplicates.iter().map(pointer).collect()))
}

struct Builder {
    keeps_parts: bool,
    /// Paths to keys that occur more than once, from the leaf to the root; they grow on the way
    /// back up, so a text without them pays nothing.
    duplicates: Vec<Vec<String>>,
    duplicates_max: usize,
}

impl Builder {
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
        let mut array = Vec::new();
        loop {
            let known = self.duplicates.len();
            let Some(item) = items.next_element_seed(&mut *self)? else {
                return Ok(Value::Array(array));
            };
            if self.keeps_parts {
                self.extend_paths(known, || array.len().to_string());
                array.push(item);
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let known = self.duplicates.len();
            let value = members.next_value_seed(&mut *self)?;
            if !self.keeps_parts {
                continue;
            }
            if known == self.duplicates.len()
                && known < self.duplicates_max
                && object.contains_key(&key)
            {
                self.duplicates.push(Vec::new());
            }
            self.extend_paths(known, || key.clone());
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_broken_text_has_the_error_of_the_parser() {
        let long = format!("\"{}\"", "x".repeat(UNCHECKED_BYTES_MAX));
        let deep = "[".repeat(200);
        let tails =
            ["", ",", ", 1e999]", ", \"\\ud83d\"]", ", \"\\u00", ", tru]", "] {}", &deep, "]]"];
        for tail in tails {
            let text = format!("[{long}, {{\"a\": 1, \"a\": 2}}{tail}");
            let mut builder =
                Builder { keeps_parts: true, duplicates: Vec::new(), duplicates_max: 1 };
            let expected = builder.read(&text).expect_err(tail).to_string();
            assert_eq!(parse(&text, 1).expect_err(tail).to_string(), expected);
        }
    }

    #[test]
    fn a_long_object_is_a_whole_tree_and_any_other_long_text_a_type() {
        let long = "x".repeat(UNCHECKED_BYTES_MAX);
        let object = format!("{{\"a\": [{{\"b\": 1, \"b\": \"{long}\"}}]}}");
        let (value, duplicates) = parse(&object, 1).expect("JSON");
        assert_eq!(value, serde_json::from_str::<Value>(&object).expect("JSON"));
        assert_eq!(duplicates, ["/a/0/b".to_owned()].into());
        assert_eq!(parse(&format!("[{object}]"), 1).expect("JSON").0, Value::Array(Vec::new()));
    }
}

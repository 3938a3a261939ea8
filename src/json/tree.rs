//! One JSON text → a tree, noticing keys that occur twice in one object.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::json::pointer;

/// Parses one whole JSON text. Beside the tree stand the members whose key had occurred before in
/// their object, escapes decoded, as JSON Pointers, at most `max` of them; the last value of a key
/// counts.
pub(crate) fn parse(text: &str, max: usize) -> serde_json::Result<(Value, BTreeSet<String>)> {
    let mut duplicates = Duplicates { paths: Vec::new(), max };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Tree { duplicates: &mut duplicates }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    let pointer = |path: &Vec<String>| {
        path.iter().rev().fold(String::new(), |pointer, token| pointer::joined(&pointer, token))
    };
    Ok((value, duplicates.paths.iter().map(pointer).collect()))
}

/// Paths to keys that occur more than once, from the leaf to the root; they grow on the way back
/// up, so a text without them pays nothing.
struct Duplicates {
    paths: Vec<Vec<String>>,
    max: usize,
}

/// Builds the tree.
struct Tree<'t> {
    duplicates: &'t mut Duplicates,
}

impl Tree<'_> {
    fn extend_paths(&mut self, from: usize, token: impl Fn() -> String) {
        for path in &mut self.duplicates.paths[from..] {
            path.push(token());
        }
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
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
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        loop {
            let known = self.duplicates.paths.len();
            let Some(item) = items.next_element_seed(Tree { duplicates: self.duplicates })? else {
                return Ok(Value::Array(array));
            };
            self.extend_paths(known, || array.len().to_string());
            array.push(item);
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let known = self.duplicates.paths.len();
            let value = members.next_value_seed(Tree { duplicates: self.duplicates })?;
            if known == self.duplicates.paths.len()
                && known < self.duplicates.max
                && object.contains_key(&key)
            {
                self.duplicates.paths.push(Vec::new());
            }
            self.extend_paths(known, || key.clone());
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

//! The order in which an agent wrote the arguments of a call.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// A longer line is not read again.
const LINE_BYTES_MAX: usize = 1024 * 1024;

/// The names of these members in the order of the line. If no object of the line has just these
/// members, they are in the order of the alphabet.
pub(super) fn names(line: &[u8], members: &Map<String, Value>) -> Vec<String> {
    let mut search = OrderSearch { members, found: None, is_in_text: false };
    if members.len() > 1 && line.len() <= LINE_BYTES_MAX {
        let mut reader = serde_json::Deserializer::from_slice(line);
        // A line that cannot be read again has no order.
        let _ = search.deserialize(&mut reader);
    }
    search.found.unwrap_or_else(|| {
        let mut names: Vec<String> = members.keys().cloned().collect();
        names.sort();
        names
    })
}

struct OrderSearch<'s> {
    members: &'s Map<String, Value>,
    found: Option<Vec<String>>,
    /// Whether this is the JSON text in a string.
    is_in_text: bool,
}

impl<'de> DeserializeSeed<'de> for &mut OrderSearch<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut OrderSearch<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    /// Some agents write the arguments as JSON in a string.
    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        if self.found.is_none() && !self.is_in_text && text.starts_with('{') {
            self.is_in_text = true;
            let _ = self.deserialize(&mut serde_json::Deserializer::from_str(text));
            self.is_in_text = false;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(&mut *self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let (mut names, mut others) = (Vec::new(), false);
        while let Some(name) = members.next_key::<String>()? {
            if self.members.contains_key(&name) && !others {
                names.push(name);
            } else {
                others = true;
            }
            members.next_value_seed(&mut *self)?;
        }
        let is_whole = !others && names.len() == self.members.len();
        if is_whole
            && self.found.is_none()
            && names.iter().collect::<BTreeSet<_>>().len() == names.len()
        {
            self.found = Some(names);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_have_the_order_of_the_agent() {
        let members = serde_json::json!({"a": 1, "m": [{"b": 2}], "z": "{"});
        let members = members.as_object().expect("an object");
        let order = |line: &str| names(line.as_bytes(), members).concat();
        assert_eq!(order(r#"{"x":[{"z":"{","m":[{"b":2}],"a":1}],"a":0}"#), "zma");
        assert_eq!(order(r#"{"x":"{\"m\":[],\"z\":\"\",\"a\":1}"}"#), "mza");
        for line in [r#"{"z":1,"m":2}"#, "", "{\"z\":1,\"m\":2,\"a\"", r#"{"z":1,"z":1,"a":1}"#] {
            assert_eq!(order(line), "amz", "{line}");
        }
    }
}

//! The members of the events of one tag, how often each is present and with which types, as a
//! schema.

use std::collections::{BTreeMap, BTreeSet};

use ndjson_check_core::internals::{JsonRef, pointer};
use serde_json::{Map, Value, json};

use super::leaves::FewValues;
use crate::limits::{DRAFT_PATH_BYTES_MAX, DRAFT_VALUES_MAX};

/// Deepest value that the schema describes.
const DEPTH: usize = 16;

/// Most values of an `enum`, and how often each must occur on average.
const ENUM_VALUES_MAX: usize = 6;
const ENUM_EVENTS_MIN: u64 = 4;

/// What was counted at one place, and below it.
#[derive(Debug, Default)]
pub(super) struct FieldStats {
    seen: u64,
    /// How many values have each type of JSON Schema.
    types: BTreeMap<&'static str, u64>,
    values: FewValues,
    members: BTreeMap<String, FieldStats>,
    /// Whether some members were not counted: too many, too deep, or with too long keys.
    is_incomplete: bool,
    items: Option<Box<FieldStats>>,
}

impl FieldStats {
    /// `nodes_left` is how many more members may be described.
    pub(super) fn add(&mut self, node: JsonRef<'_>, depth: usize, nodes_left: &mut usize) {
        self.seen += 1;
        *self.types.entry(type_of(node)).or_default() += 1;
        if let Some(text) = node.as_str() {
            self.values.add(&text);
        }
        if depth > DEPTH {
            self.is_incomplete = true;
            return;
        }
        for (key, value) in node.members() {
            if !self.members.contains_key(&*key) {
                let is_full = *nodes_left == 0 || self.members.len() >= DRAFT_VALUES_MAX;
                if is_full || key.len() > DRAFT_PATH_BYTES_MAX {
                    self.is_incomplete = true;
                    continue;
                }
                *nodes_left -= 1;
                self.members.insert(key.clone().into_owned(), Self::default());
            }
            if let Some(member) = self.members.get_mut(&*key) {
                member.add(value, depth + 1, nodes_left);
            }
        }
        for item in node.items() {
            self.items.get_or_insert_default().add(item, depth + 1, nodes_left);
        }
    }

    fn objects(&self) -> u64 {
        self.types.get("object").copied().unwrap_or_default()
    }

    /// The schema. It is open, so that new members are accepted, and its comments say how often
    /// an optional member is present.
    pub(super) fn schema(&self) -> Map<String, Value> {
        let mut schema = Map::new();
        let mut types: Vec<&str> = self.types.keys().copied().collect();
        if types.contains(&"number") {
            types.retain(|name| *name != "integer");
        }
        match types[..] {
            [] => {}
            [name] => drop(schema.insert("type".to_owned(), json!(name))),
            _ => drop(schema.insert("type".to_owned(), json!(types))),
        }
        if let Some(values) = self.closed_set() {
            schema.insert("enum".to_owned(), json!(values));
        }
        if let Some(items) = &self.items {
            schema.insert("items".to_owned(), items.schema().into());
        }
        if !self.members.is_empty() && !self.is_incomplete {
            schema.extend(self.member_schemas());
        }
        schema
    }

    fn member_schemas(&self) -> Map<String, Value> {
        let objects = self.objects();
        let mut required = Vec::new();
        let mut properties = Map::new();
        for (key, member) in &self.members {
            let mut schema = member.schema();
            if member.seen == objects {
                required.push(key);
            } else if member.seen < objects {
                let comment = format!("in {} of {objects}", member.seen);
                schema.insert("$comment".to_owned(), comment.into());
            }
            properties.insert(key.clone(), schema.into());
        }
        let mut schema = Map::new();
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        schema.insert("properties".to_owned(), properties.into());
        schema
    }

    /// Names that occur so often that there are probably no others.
    fn closed_set(&self) -> Option<&BTreeSet<String>> {
        let values = self.values.get()?;
        let is_often = self.seen >= ENUM_EVENTS_MIN * values.len() as u64;
        let has_only_strings = self.types.len() == 1 && !values.is_empty();
        (has_only_strings && is_often && values.len() <= ENUM_VALUES_MAX).then_some(values)
    }

    /// An object that always has one of several members whose keys end alike, such as
    /// `{"readCall": …}` and `{"writeCall": …}`: its pointer, and the common ending.
    pub(super) fn one_of(&self) -> Option<(String, String)> {
        if let Some(suffix) = self.common_suffix() {
            return Some((String::new(), suffix));
        }
        self.members.iter().find_map(|(key, member)| {
            let (path, suffix) = member.one_of()?;
            Some((pointer::joined("", key) + &path, suffix))
        })
    }

    fn common_suffix(&self) -> Option<String> {
        let objects = self.objects();
        let is_choice = |member: &Self| member.seen < objects && member.objects() > 0;
        let choices: Vec<(&String, &Self)> =
            self.members.iter().filter(|(_, member)| is_choice(member)).collect();
        let (first, _) = choices.first()?;
        let is_suffix = |suffix: &str| {
            let begins_word = |character: char| character.is_uppercase() || character == '_';
            suffix.len() > 2
                && suffix.starts_with(begins_word)
                && choices.iter().all(|(key, _)| key.len() > suffix.len() && key.ends_with(suffix))
        };
        let suffix =
            (1..first.len()).filter_map(|at| first.get(at..)).find(|text| is_suffix(text))?;
        let total: u64 = choices.iter().map(|(_, member)| member.seen).sum();
        let is_exclusive = choices.len() > 1 && total == objects;
        (is_exclusive && !suffix.contains(['/', '~'])).then(|| suffix.to_owned())
    }
}

fn type_of(node: JsonRef<'_>) -> &'static str {
    if node.is_null() {
        "null"
    } else if node.as_bool().is_some() {
        "boolean"
    } else if node.is_string() {
        "string"
    } else if node.is_array() {
        "array"
    } else if node.is_number() {
        let is_whole = node.as_f64().is_some_and(|number| number.fract() == 0.0);
        if is_whole { "integer" } else { "number" }
    } else {
        "object"
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::FieldStats;
    use crate::limits::DRAFT_PATH_BYTES_MAX;
    use ndjson_check_core::internals::JsonRef;

    fn stats(values: &[Value]) -> FieldStats {
        let mut stats = FieldStats::default();
        for value in values {
            stats.add(JsonRef::tree(value), 0, &mut 100);
        }
        stats
    }

    #[test]
    fn a_schema_has_types_optional_members_and_closed_sets() {
        let event = |number: Value| json!({"n": number, "s": "on", "l": ["x y"]});
        let mut events = vec![event(json!(1)); 3];
        events.push(event(json!(1.5)));
        events.push(json!({"s": "on"}));
        let items = json!({"type": "string"});
        let comment = "in 4 of 5";
        let expected = json!({
            "type": "object",
            "required": ["s"],
            "properties": {
                "l": {"type": "array", "items": items, "$comment": comment},
                "n": {"type": "number", "$comment": comment},
                "s": {"type": "string", "enum": ["on"]},
            },
        });
        assert_eq!(Value::from(stats(&events).schema()), expected);
    }

    #[test]
    fn an_object_with_too_many_members_or_too_long_keys_has_no_member_schemas() {
        let wide: Value = (0..101).map(|key| (key.to_string(), json!(1))).collect();
        let long = json!({ "k".repeat(DRAFT_PATH_BYTES_MAX + 1): 1, "a": 1 });
        for event in [wide, long] {
            assert_eq!(Value::from(stats(&[event]).schema()), json!({"type": "object"}));
        }
    }

    #[test]
    fn keys_that_end_alike_name_one_of_several() {
        let call = |key: &str| json!({ "call": { key: {} } });
        let found = stats(&[call("readCall"), call("writeCall")]).one_of();
        assert_eq!(found, Some(("/call".to_owned(), "Call".to_owned())));
        assert_eq!(stats(&[call("readCall"), call("writeTool")]).one_of(), None);
    }
}

//! The fields of the events of one tag, how often they are there and of what type, as a schema.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::leaves::Words;
use crate::json::JsonRef;
use crate::limits::INFER_VALUES_MAX;
use crate::json::pointer;

/// Deepest value that the schema describes.
const DEPTH: usize = 16;

/// Most values of a closed set, and how often each was seen on average, at least.
const ENUM: usize = 6;
const ENUM_SEEN: u64 = 4;

/// What was seen of the values at one place.
#[derive(Debug, Default)]
pub(super) struct Fields {
    seen: u64,
    /// How many were of each type of JSON Schema.
    types: BTreeMap<&'static str, u64>,
    words: Words,
    members: BTreeMap<String, Fields>,
    /// There were more members, or deeper ones, than are followed.
    more: bool,
    items: Option<Box<Fields>>,
}

impl Fields {
    /// Takes a value into account; `room` is how many more places may be followed.
    pub(super) fn see(&mut self, node: JsonRef<'_>, depth: usize, room: &mut usize) {
        self.seen += 1;
        *self.types.entry(type_of(node)).or_default() += 1;
        if let Some(text) = node.as_str() {
            self.words.add(&text);
        }
        if depth > DEPTH {
            self.more = true;
            return;
        }
        for (key, value) in node.members() {
            if !self.members.contains_key(&*key) {
                if *room == 0 || self.members.len() >= INFER_VALUES_MAX {
                    self.more = true;
                    continue;
                }
                *room -= 1;
                self.members.insert(key.clone().into_owned(), Self::default());
            }
            if let Some(member) = self.members.get_mut(&*key) {
                member.see(value, depth + 1, room);
            }
        }
        for item in node.items() {
            self.items.get_or_insert_default().see(item, depth + 1, room);
        }
    }

    fn objects(&self) -> u64 {
        self.types.get("object").copied().unwrap_or_default()
    }

    /// The schema: open, so that new members are no defect, and with a remark where a member is
    /// not always there.
    pub(super) fn schema(&self) -> Map<String, Value> {
        let mut schema = Map::new();
        let number = ["integer", "number"];
        let types: BTreeSet<&str> = self.types.keys().copied().collect();
        let both = number.iter().all(|it| types.contains(it));
        let mut types: Vec<&str> =
            types.into_iter().filter(|it| !(both && *it == "integer")).collect();
        if types.len() == 1 {
            schema.extend(types.pop().map(|it| ("type".to_owned(), json!(it))));
        } else if types.len() > 1 {
            schema.insert("type".to_owned(), json!(types));
        }
        if let Some(values) = self.closed_set() {
            schema.insert("enum".to_owned(), json!(values));
        }
        if let Some(items) = &self.items {
            schema.insert("items".to_owned(), items.schema().into());
        }
        if !self.members.is_empty() && !self.more {
            schema.extend(self.member_schemas());
        }
        schema
    }

    fn member_schemas(&self) -> Map<String, Value> {
        let mut schema = Map::new();
        let objects = self.objects();
        let required: Vec<_> =
            self.members.iter().filter(|(_, it)| it.seen == objects).map(|(key, _)| key).collect();
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        let property = |(key, it): (&String, &Self)| {
            let mut schema = it.schema();
            if it.seen < objects {
                let remark = format!("in {} of {objects}", it.seen);
                schema.insert("$comment".to_owned(), remark.into());
            }
            (key.clone(), Value::Object(schema))
        };
        let properties: Map<String, Value> = self.members.iter().map(property).collect();
        schema.insert("properties".to_owned(), properties.into());
        schema
    }

    /// Words that were seen so often that there may be no others.
    fn closed_set(&self) -> Option<&BTreeSet<String>> {
        let values = self.words.few()?;
        let often = self.seen >= ENUM_SEEN * values.len() as u64;
        let strings_only = self.types.len() == 1 && !values.is_empty();
        (strings_only && often && values.len() <= ENUM).then_some(values)
    }

    /// An object of which each has one of several members whose keys end alike, as in
    /// `{"readCall": …}` and `{"writeCall": …}`: its pointer, and how they end.
    pub(super) fn one_of(&self) -> Option<(String, String)> {
        if let Some(suffix) = self.common_suffix() {
            return Some((String::new(), suffix));
        }
        self.members.iter().find_map(|(key, it)| {
            let (below, suffix) = it.one_of()?;
            Some((pointer::joined("", key) + &below, suffix))
        })
    }

    fn common_suffix(&self) -> Option<String> {
        let objects = self.objects();
        let choices = self.members.iter().filter(|(_, it)| it.seen < objects && it.objects() > 0);
        let choices: Vec<_> = choices.collect();
        let (first, _) = choices.first()?;
        let all: u64 = choices.iter().map(|(_, it)| it.seen).sum();
        let begins = |at: usize| {
            let rest = &first[at..];
            rest.len() > 2 && rest.starts_with(|it: char| it.is_uppercase() || it == '_')
        };
        let ends = (1..first.len()).filter(|at| first.is_char_boundary(*at) && begins(*at));
        let suffix = ends.map(|at| &first[at..]).find(|suffix| {
            choices.iter().all(|(key, _)| key.len() > suffix.len() && key.ends_with(*suffix))
        })?;
        (choices.len() > 1 && all == objects && !suffix.contains(['/', '~']))
            .then(|| suffix.to_owned())
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
        let whole = node.as_f64().is_some_and(|it| it.fract() == 0.0);
        if whole { "integer" } else { "number" }
    } else {
        "object"
    }
}

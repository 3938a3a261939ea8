//! Which members of a value a schema describes.

use serde_json::Value;

use super::Schema;
use crate::json::{JsonRef, pointer};

/// Keywords with schemas that may apply to the same value.
const BRANCHES: &[&str] = &["allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"];

/// How many names of a place are remembered, if the schema does not describe them, and the longest
/// of them, in bytes.
const NAMES_REMEMBERED_MAX: usize = 64;
const REMEMBERED_NAME_BYTES_MAX: usize = 256;

/// Keywords with an object of schemas.
const SCHEMAS_BY_NAME: &[&str] = &["dependentSchemas", "patternProperties"];

/// The members that some part of a schema describes for values at one place. Which of its branches
/// apply to a value does not matter, so that the answer is the same for every value there.
///
/// It remembers for the next value what it has looked up. Each call passes the schema's document,
/// because this memory outlives every borrow of it.
#[derive(Debug)]
pub(crate) struct DescribedMembers {
    /// The parts of the schema that can apply at this place, as pointers. Only those with which it
    /// begins, until an object or an array needs all.
    parts: Vec<String>,
    has_all_parts: bool,
    /// Whether one of them names members.
    has_names: bool,
    /// What is below the members that were asked for, in the order of the first event; nothing
    /// below those that are not described.
    members: Vec<(String, Option<Self>)>,
    /// The place of the member that came after the latest one before.
    next: usize,
    /// What is below the members of an object that may have any names, and below elements.
    any: Option<Box<Self>>,
    elements: Option<Box<Self>>,
}

/// Where a value is. Most members are described, so that their pointers are not needed.
struct MemberPlace<'p> {
    above: Option<&'p Self>,
    name: &'p str,
}

impl MemberPlace<'_> {
    fn pointer(&self) -> String {
        let above = self.above.map(MemberPlace::pointer).unwrap_or_default();
        pointer::joined(&above, self.name)
    }
}

impl Schema {
    pub(crate) fn described_members(&self) -> DescribedMembers {
        let part = self.part.as_deref().unwrap_or("#").trim_start_matches('#');
        DescribedMembers::new(vec![part.to_owned()])
    }
}

impl DescribedMembers {
    fn new(roots: Vec<String>) -> Self {
        Self {
            parts: roots,
            has_all_parts: false,
            has_names: false,
            members: Vec::new(),
            next: 0,
            any: None,
            elements: None,
        }
    }

    fn find_parts(&mut self, document: &Value) {
        self.parts = all_parts(document, std::mem::take(&mut self.parts));
        let names = |part: &String| resolved(document, part)?.get("properties");
        self.has_names = self.parts.iter().any(|part| names(part).is_some());
        self.has_all_parts = true;
    }

    /// Reports the pointers to members that nothing describes, with `*` for the index of an
    /// element. An object of which no member is described may have any.
    pub(crate) fn unknown(
        &mut self,
        document: &Value,
        value: JsonRef<'_>,
        found: &mut impl FnMut(&str),
    ) {
        self.unknown_at(None, document, value, found);
    }

    fn unknown_at(
        &mut self,
        place: Option<&MemberPlace<'_>>,
        document: &Value,
        value: JsonRef<'_>,
        found: &mut impl FnMut(&str),
    ) {
        if !self.has_all_parts && (value.is_object() || value.is_array()) {
            self.find_parts(document);
        }
        if value.is_object() {
            if !self.has_names {
                return;
            }
            for (name, value) in value.members() {
                let place = MemberPlace { above: place, name: &name };
                match self.member(document, &name) {
                    Some(below) => below.unknown_at(Some(&place), document, value, found),
                    None => found(&place.pointer()),
                }
            }
        } else if value.is_array() {
            let parts = || children(document, &self.parts, &["items", "prefixItems"]);
            let elements = self.elements.get_or_insert_with(|| Box::new(Self::new(parts())));
            let place = MemberPlace { above: place, name: "*" };
            value.items().for_each(|it| elements.unknown_at(Some(&place), document, it, found));
        }
    }

    fn member(&mut self, document: &Value, name: &str) -> Option<&mut Self> {
        if !self.moves_to(name) {
            let described = |part: &String| {
                resolved(document, part)?.get("properties")?.get(name)?;
                Some(pointer::joined(&format!("{part}/properties"), name))
            };
            let parts: Vec<_> = self.parts.iter().filter_map(described).collect();
            if parts.is_empty() && self.allows_any_name(document) {
                let keywords = ["additionalProperties", "patternProperties"];
                let parts = || children(document, &self.parts, &keywords);
                return Some(self.any.get_or_insert_with(|| Box::new(Self::new(parts()))));
            }
            let is_remembered = self.members.len() < NAMES_REMEMBERED_MAX
                && name.len() <= REMEMBERED_NAME_BYTES_MAX;
            if parts.is_empty() && !is_remembered {
                return None;
            }
            let below = (!parts.is_empty()).then(|| Self::new(parts));
            self.next = self.members.len();
            self.members.push((name.to_owned(), below));
        }
        self.next += 1;
        self.members.get_mut(self.next - 1)?.1.as_mut()
    }

    /// Whether what is below this member is known; then its place is the next one. Events of a kind
    /// have their members in the same order, so it mostly is already.
    fn moves_to(&mut self, name: &str) -> bool {
        let (before, after) = self.members.split_at(self.next);
        let in_order = (self.next..).zip(after).chain((0..).zip(before));
        let place = in_order.map(|(place, (known, _))| (place, known)).find(|(_, it)| *it == name);
        self.next = place.map_or(self.next, |(place, _)| place);
        place.is_some()
    }

    /// Whether names are data here.
    fn allows_any_name(&self, document: &Value) -> bool {
        self.parts.iter().filter_map(|part| resolved(document, part)).any(|part| {
            let others = part.get("additionalProperties");
            others.is_some_and(|others| *others != Value::Bool(false))
                || part.get("patternProperties").is_some()
        })
    }
}

/// The part of a schema at this pointer. The name of an anchor is none. `Value::pointer` allocates
/// for each token.
fn resolved<'s>(document: &'s Value, pointer: &str) -> Option<&'s Value> {
    if !(pointer.is_empty() || pointer.starts_with('/')) {
        return None;
    }
    pointer::tokens(pointer).try_fold(document, |value, token| match value {
        Value::Array(items) => items.get(token.parse::<usize>().ok()?),
        value => value.get(&*token),
    })
}

/// The schemas under these keywords: one, or several in an array or an object.
fn children(document: &Value, parts: &[String], keywords: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for part in parts {
        let Some(schema) = resolved(document, part) else { continue };
        for keyword in keywords {
            let at = format!("{part}/{keyword}");
            match schema.get(keyword) {
                None => {}
                Some(Value::Array(schemas)) => {
                    found.extend((0..schemas.len()).map(|index| format!("{at}/{index}")));
                }
                Some(Value::Object(schemas)) if SCHEMAS_BY_NAME.contains(keyword) => {
                    found.extend(schemas.keys().map(|name| pointer::joined(&at, name)));
                }
                Some(_) => found.push(at),
            }
        }
    }
    found
}

/// A schema, and all that may apply to the same value: references, and every branch.
fn all_parts(document: &Value, roots: Vec<String>) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut pending = roots;
    while let Some(part) = pending.pop() {
        let Some(schema) = resolved(document, &part).filter(|it| it.is_object()) else { continue };
        if parts.contains(&part) {
            continue;
        }
        let reference = schema.get("$ref").and_then(Value::as_str);
        let pointer = reference.and_then(|reference| reference.strip_prefix('#'));
        pending.extend(pointer.map(str::to_owned));
        pending.extend(children(document, std::slice::from_ref(&part), BRANCHES));
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn unknown(schema: &Value, value: &Value) -> Vec<String> {
        let schema = Schema::compile("test", schema).expect("a schema");
        let mut found = Vec::new();
        let mut described = schema.described_members();
        // Twice: what was learned from the first value must be right for the second.
        for _ in 0..2 {
            found.clear();
            let document = schema.document();
            described.unknown(document, JsonRef::tree(value), &mut |at| found.push(at.to_owned()));
        }
        found
    }

    #[test]
    fn members_are_known_by_any_branch_and_reference() {
        let schema = json!({
            "$ref": "#/$defs/event",
            "allOf": [{ "if": { "properties": { "kind": {} } },
                "then": { "properties": { "list": { "items": { "$ref": "#/$defs/event" } } } } }],
            "$defs": { "event": { "properties": { "id": {}, "open": { "type": "object" },
                "map": { "properties": { "fixed": {} },
                    "additionalProperties": { "properties": { "x": {} } } } } } }
        });
        let value = json!({
            "kind": 1, "id": {"any": 1}, "open": {"any": {"thing": 1}}, "new": {"deep": 1},
            "map": {"fixed": 1, "name": {"x": 1, "y": 2}, "other": {"y": 1}},
            "list": [{"id": 1, "a/b": 2}, {"map": {}}, 7]
        });
        let found = unknown(&schema, &value);
        assert_eq!(found, ["/list/*/a~1b", "/map/name/y", "/map/other/y", "/new"]);
    }

    #[test]
    fn an_anchor_is_no_pointer() {
        let schema = json!({ "properties": { "a": { "$ref": "#opt" } },
            "$defs": { "opt": { "$anchor": "opt", "properties": { "b": {} } } } });
        let mut described = DescribedMembers::new(vec![String::new()]);
        let value = json!({ "a": { "b": 1 } });
        let mut found = Vec::new();
        described
            .unknown(&schema, JsonRef::tree(&value), &mut |at: &str| found.push(at.to_owned()));
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn few_names_are_remembered() {
        let schema = json!({ "properties": { "known": {} } });
        let mut described = DescribedMembers::new(vec![String::new()]);
        let names = (0..1_000).map(|number| (format!("n{number}"), Value::Null));
        let long = ("x".repeat(1_000), Value::Null);
        let value = Value::Object(names.chain([long]).collect());
        for _ in 0..2 {
            let mut count = 0;
            described.unknown(&schema, JsonRef::tree(&value), &mut |_| count += 1);
            assert_eq!(count, 1_001);
        }
        assert!(described.members.len() <= NAMES_REMEMBERED_MAX);
        assert!(described.members.iter().all(|(name, _)| name.len() <= REMEMBERED_NAME_BYTES_MAX));
    }

    #[cfg(feature = "user-schemas")]
    #[test]
    fn a_schema_that_refers_to_itself_is_read_once() {
        let schema = json!({ "$ref": "#", "anyOf": [{ "$ref": "#" }],
            "properties": { "next": { "$ref": "#" } } });
        let value = json!({"next": {"next": {"last": 1}}});
        assert_eq!(unknown(&schema, &value), ["/next/next/last"]);
    }
}

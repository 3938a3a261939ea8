//! Which members of a value a schema describes.

use serde_json::Value;

use super::Schema;
use crate::json::{JsonRef, pointer};

/// The members that some part of a schema describes for values at one place. Which of its branches
/// apply to a value does not matter, so that the answer is the same for every value there.
#[derive(Debug)]
pub(crate) struct DescribedMembers<'s> {
    document: &'s Value,
    /// The parts of the schema that can apply at this place.
    parts: Vec<&'s Value>,
    /// What is below the described members that were asked for, in the order of the first event.
    members: Vec<(String, DescribedMembers<'s>)>,
    /// The place of the member that came after the latest one before.
    next: usize,
    /// What is below the members of an object that may have any names, and below elements.
    any: Option<Box<DescribedMembers<'s>>>,
    elements: Option<Box<DescribedMembers<'s>>>,
}

impl Schema {
    pub(crate) fn described_members(&self) -> DescribedMembers<'_> {
        let document = self.document();
        let part = self.part.as_deref().unwrap_or("#").trim_start_matches('#');
        DescribedMembers::new(document, document.pointer(part).into_iter().collect())
    }
}

impl<'s> DescribedMembers<'s> {
    fn new(document: &'s Value, roots: Vec<&'s Value>) -> Self {
        let parts = all_parts(document, roots);
        Self { document, parts, members: Vec::new(), next: 0, any: None, elements: None }
    }

    /// Reports the pointers to members that nothing describes, with `*` for the index of an
    /// element. An object of which no member is described may have any. `at` is the pointer to the
    /// value.
    pub(crate) fn unknown(
        &mut self,
        value: JsonRef<'_>,
        at: &mut String,
        found: &mut impl FnMut(&str),
    ) {
        let length = at.len();
        if value.is_object() {
            if self.parts.iter().all(|part| part.get("properties").is_none()) {
                return;
            }
            for (name, value) in value.members() {
                pointer::push(at, &name);
                match self.member(&name) {
                    Some(below) => below.unknown(value, at, found),
                    None => found(at),
                }
                at.truncate(length);
            }
        } else if value.is_array() {
            let parts = || children(&self.parts, &["items", "prefixItems"]);
            let document = self.document;
            let elements =
                self.elements.get_or_insert_with(|| Box::new(Self::new(document, parts())));
            at.push_str("/*");
            value.items().for_each(|item| elements.unknown(item, at, found));
            at.truncate(length);
        }
    }

    fn member(&mut self, name: &str) -> Option<&mut Self> {
        if !self.moves_to(name) {
            let described = |part: &&'s Value| part.get("properties")?.get(name);
            let parts: Vec<_> = self.parts.iter().filter_map(described).collect();
            if parts.is_empty() && self.allows_any_name() {
                let parts = children(&self.parts, &["additionalProperties", "patternProperties"]);
                let document = self.document;
                return Some(self.any.get_or_insert_with(|| Box::new(Self::new(document, parts))));
            }
            if parts.is_empty() {
                return None;
            }
            self.next = self.members.len();
            self.members.push((name.to_owned(), Self::new(self.document, parts)));
        }
        self.next += 1;
        self.members.get_mut(self.next - 1).map(|(_, below)| below)
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
    fn allows_any_name(&self) -> bool {
        self.parts.iter().any(|part| {
            let others = part.get("additionalProperties");
            others.is_some_and(|others| *others != Value::Bool(false))
                || part.get("patternProperties").is_some()
        })
    }
}

/// The schemas under these keywords: one, or several in an array or an object.
fn children<'s>(parts: &[&'s Value], keywords: &[&str]) -> Vec<&'s Value> {
    let found = parts.iter().flat_map(|part| {
        keywords.iter().filter_map(move |keyword| Some((*keyword, part.get(keyword)?)))
    });
    found
        .flat_map(|(keyword, value)| match value {
            Value::Array(schemas) => schemas.iter().collect::<Vec<_>>(),
            Value::Object(schemas) if keyword == "patternProperties" => schemas.values().collect(),
            schema => vec![schema],
        })
        .collect()
}

/// A schema, and all that may apply to the same value: references, and every branch.
fn all_parts<'s>(document: &'s Value, roots: Vec<&'s Value>) -> Vec<&'s Value> {
    let mut parts: Vec<&Value> = Vec::new();
    let mut pending = roots;
    while let Some(part) = pending.pop() {
        if !part.is_object() || parts.iter().any(|known| std::ptr::eq(*known, part)) {
            continue;
        }
        parts.push(part);
        let reference = part.get("$ref").and_then(Value::as_str);
        let pointer = reference.and_then(|reference| reference.strip_prefix('#'));
        pending.extend(pointer.and_then(|pointer| document.pointer(pointer)));
        pending.extend(children(&[part], &["allOf", "anyOf", "oneOf", "if", "then", "else"]));
        if let Some(Value::Object(dependent)) = part.get("dependentSchemas") {
            pending.extend(dependent.values());
        }
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
            described.unknown(JsonRef::tree(value), &mut String::new(), &mut |at| {
                found.push(at.to_owned());
            });
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

    #[cfg(feature = "user-schemas")]
    #[test]
    fn a_schema_that_refers_to_itself_is_read_once() {
        let schema = json!({ "$ref": "#", "anyOf": [{ "$ref": "#" }],
            "properties": { "next": { "$ref": "#" } } });
        let value = json!({"next": {"next": {"last": 1}}});
        assert_eq!(unknown(&schema, &value), ["/next/next/last"]);
    }
}

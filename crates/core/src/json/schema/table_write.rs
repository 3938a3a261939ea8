//! Writes a schema as a table. `build.rs` compiles this file and does so for the schemas of
//! built-in profiles. The order of members in the document does not matter: the program finds the
//! places of a table that was written when it was built.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::PackedTexts;
use super::table::{Keyword, List, Scalar, SchemaTable};
use crate::json::pointer::joined;

impl SchemaTable {
    /// Writes a document of draft 2020-12. A keyword that the evaluator does not know is an error.
    pub(crate) fn new(document: &Value) -> Result<Self, String> {
        TableWriter::default().document(document).map(|(table, _)| table)
    }

    /// The JSON Pointer to each schema in the document, in the order of the table's nodes.
    pub(crate) fn places(document: &Value) -> Result<Vec<String>, String> {
        TableWriter::default().document(document).map(|(_, places)| places)
    }
}

#[derive(Default)]
struct TableWriter {
    /// The keywords of each.
    nodes: Vec<Vec<Keyword>>,
    /// Where each is in the document.
    places: Vec<String>,
    /// The definitions and their places.
    parts: BTreeMap<String, u16>,
    words: PackedTexts,
    numbers: Vec<u16>,
    scalars: Vec<Scalar>,
    bounds: Vec<f64>,
    patterns: Vec<u16>,
}

/// Keywords that say nothing about validity, or are read with another one.
const SILENT: [&str; 8] = [
    "$schema",
    "$id",
    "$defs",
    "format",
    "patternProperties",
    "additionalProperties",
    "then",
    "else",
];

/// Keywords that only describe.
const NOTES: [&str; 8] = [
    "$comment",
    "title",
    "description",
    "examples",
    "default",
    "deprecated",
    "readOnly",
    "writeOnly",
];

impl TableWriter {
    fn document(mut self, document: &Value) -> Result<(SchemaTable, Vec<String>), String> {
        // The whole document is the first node; definitions may refer to each other.
        self.add(String::new(), Vec::new())?;
        let empty = Map::new();
        let definitions = document.get("$defs").and_then(Value::as_object).unwrap_or(&empty);
        for (name, _) in sorted(definitions) {
            let at = joined("/$defs", name);
            let place = self.add(at.clone(), Vec::new())?;
            self.parts.insert(format!("#{at}"), place);
        }
        for (name, schema) in sorted(definitions) {
            let at = joined("/$defs", name);
            let node = self.inner(&at, schema).map_err(|error| format!("{at}: {error}"))?;
            let place = self.parts[&format!("#{at}")];
            self.nodes[usize::from(place)] = node;
        }
        self.nodes[0] = self.keywords("", document)?;
        let mut parts = Vec::new();
        for (name, place) in &self.parts {
            parts.push((self.words.number(name)?, *place));
        }
        let mut ends = Vec::new();
        let mut end = 0;
        for node in &self.nodes {
            end += node.len();
            ends.push(place(end)?);
        }
        let table = SchemaTable {
            words: self.words,
            keywords: self.nodes.concat().into(),
            nodes: ends.into(),
            numbers: self.numbers.into(),
            scalars: self.scalars.into(),
            bounds: self.bounds.into(),
            parts: parts.into(),
            patterns: self.patterns.into(),
        };
        Ok((table, self.places))
    }

    fn add(&mut self, at: String, node: Vec<Keyword>) -> Result<u16, String> {
        self.places.push(at);
        self.nodes.push(node);
        place(self.nodes.len() - 1)
    }

    /// Adds the schema at a pointer, and returns its place in the table.
    fn node(&mut self, at: String, schema: &Value) -> Result<u16, String> {
        // A schema that is only a reference needs no place.
        if let Some(members) = schema.as_object()
            && let Some(reference) = members.get("$ref")
            && members.keys().all(|key| key == "$ref" || NOTES.contains(&&**key))
        {
            return self.part(reference);
        }
        let node = self.inner(&at, schema)?;
        self.add(at, node)
    }

    /// The keywords of a schema that is a part of the document.
    fn inner(&mut self, at: &str, schema: &Value) -> Result<Vec<Keyword>, String> {
        if schema.get("$id").is_some() {
            return Err("references are relative to another document".to_owned());
        }
        self.keywords(at, schema)
    }

    fn part(&self, reference: &Value) -> Result<u16, String> {
        let place = reference.as_str().and_then(|reference| self.parts.get(reference));
        place.copied().ok_or_else(|| format!("{reference} is no definition of the document"))
    }

    fn keywords(&mut self, at: &str, schema: &Value) -> Result<Vec<Keyword>, String> {
        let members = match schema {
            Value::Bool(true) => return Ok(Vec::new()),
            Value::Bool(false) => return Ok(vec![Keyword::Never]),
            Value::Object(members) => members,
            other => return Err(format!("{other} is no schema")),
        };
        let mut keywords = Vec::new();
        let has_members = ["properties", "patternProperties", "additionalProperties"]
            .iter()
            .any(|keyword| members.contains_key(*keyword));
        if let Some(types) = members.get("type") {
            keywords.push(Keyword::Types(types_of(types)?));
        }
        for (keyword, value) in sorted(members) {
            if keyword == "if" {
                let mut branch = |name: &str| -> Result<Option<u16>, String> {
                    let schema = members.get(name);
                    schema.map(|schema| self.node(joined(at, name), schema)).transpose()
                };
                let condition = branch("if")?.ok_or("there is no condition")?;
                let (then, otherwise) = (branch("then")?, branch("else")?);
                keywords.push(Keyword::If { condition, then, otherwise });
            } else if !(["type", "properties"].contains(&keyword)
                || SILENT.contains(&keyword)
                || NOTES.contains(&keyword))
            {
                keywords.push(self.keyword(&joined(at, keyword), keyword, value)?);
            }
        }
        if has_members {
            keywords.push(self.members(at, members)?);
        }
        Ok(keywords)
    }

    fn keyword(&mut self, at: &str, keyword: &str, value: &Value) -> Result<Keyword, String> {
        let text = || value.as_str().ok_or("not a string");
        Ok(match keyword {
            "const" => Keyword::Const(self.scalar(value)?),
            "enum" => Keyword::Enum(self.choices(value)?),
            "minLength" => Keyword::MinLength(count(value)?),
            "maxLength" => Keyword::MaxLength(count(value)?),
            "minItems" => Keyword::MinItems(count(value)?),
            "maxItems" => Keyword::MaxItems(count(value)?),
            "minProperties" => Keyword::MinProperties(count(value)?),
            "maxProperties" => Keyword::MaxProperties(count(value)?),
            "minimum" => Keyword::Minimum(self.bound(value)?),
            "maximum" => Keyword::Maximum(self.bound(value)?),
            "pattern" => Keyword::Pattern(self.pattern(text()?)?),
            "required" => Keyword::Required(self.required(value)?),
            "items" => Keyword::Items(self.node(at.to_owned(), value)?),
            "not" => Keyword::Not(self.node(at.to_owned(), value)?),
            "$ref" => Keyword::Ref(self.part(value)?),
            "allOf" => Keyword::AllOf(self.nodes_of(at, value)?),
            "anyOf" => Keyword::AnyOf(self.nodes_of(at, value)?),
            "oneOf" => Keyword::OneOf(self.nodes_of(at, value)?),
            "dependentSchemas" => Keyword::DependentSchemas(self.named(at, value)?),
            other => return Err(format!("the keyword {other} is not known to the evaluator")),
        })
    }

    fn members(&mut self, at: &str, members: &Map<String, Value>) -> Result<Keyword, String> {
        let empty = Value::Object(Map::new());
        let properties = members.get("properties").unwrap_or(&empty);
        let named = self.named(&joined(at, "properties"), properties)?;
        let mut matching = Vec::new();
        let patterns = members.get("patternProperties").unwrap_or(&empty);
        let at_patterns = joined(at, "patternProperties");
        for (pattern, schema) in sorted(patterns.as_object().ok_or("not an object")?) {
            let node = self.node(joined(&at_patterns, pattern), schema)?;
            matching.extend([self.pattern(pattern)?, node]);
        }
        let others = members.get("additionalProperties").filter(|it| **it != true);
        let others = others.map(|it| self.node(joined(at, "additionalProperties"), it));
        let others = others.transpose()?;
        let matching = self.list(&matching)?;
        Ok(Keyword::Members { named, matching, others })
    }

    fn named(&mut self, at: &str, schemas: &Value) -> Result<List, String> {
        let mut named = Vec::new();
        for (name, schema) in sorted(schemas.as_object().ok_or("not an object")?) {
            let node = self.node(joined(at, name), schema);
            let node = node.map_err(|error| format!("{name}: {error}"))?;
            named.extend([self.words.number(name)?, node]);
        }
        self.list(&named)
    }

    fn nodes_of(&mut self, at: &str, schemas: &Value) -> Result<List, String> {
        let mut nodes = Vec::new();
        for (index, schema) in schemas.as_array().ok_or("not an array")?.iter().enumerate() {
            nodes.push(self.node(format!("{at}/{index}"), schema)?);
        }
        self.list(&nodes)
    }

    fn required(&mut self, names: &Value) -> Result<List, String> {
        let mut words = Vec::new();
        for name in names.as_array().ok_or("not an array")? {
            words.push(self.words.number(name.as_str().ok_or("not a string")?)?);
        }
        self.list(&words)
    }

    fn choices(&mut self, values: &Value) -> Result<List, String> {
        let from = self.scalars.len();
        for value in values.as_array().ok_or("not an array")? {
            let scalar = self.scalar(value)?;
            self.scalars.push(scalar);
        }
        Ok(List(place(from)?, place(self.scalars.len())?))
    }

    fn scalar(&mut self, value: &Value) -> Result<Scalar, String> {
        Ok(match value {
            Value::Null => Scalar::Null,
            Value::Bool(value) => Scalar::Bool(*value),
            Value::Number(_) => Scalar::Number(self.bound(value)?),
            Value::String(text) => Scalar::Text(self.words.number(text)?),
            other => return Err(format!("the evaluator does not compare with {other}")),
        })
    }

    /// Adds a number of which all neighbours are exact, too.
    fn bound(&mut self, value: &Value) -> Result<u16, String> {
        const EXACT_BELOW: f64 = 9_007_199_254_740_992.0;
        let bound = value.as_f64().filter(|bound| bound.abs() < EXACT_BELOW);
        self.bounds.push(bound.ok_or_else(|| format!("{value} is no exact number"))?);
        place(self.bounds.len() - 1)
    }

    /// Adds numbers, and returns from where to where they are.
    fn list(&mut self, numbers: &[u16]) -> Result<List, String> {
        let from = place(self.numbers.len())?;
        self.numbers.extend(numbers);
        Ok(List(from, place(self.numbers.len())?))
    }

    fn pattern(&mut self, pattern: &str) -> Result<u16, String> {
        self.patterns.push(self.words.number(pattern)?);
        place(self.patterns.len() - 1)
    }
}

/// The members of an object in the order of their names, whatever order a map keeps.
fn sorted(members: &Map<String, Value>) -> Vec<(&str, &Value)> {
    let mut members: Vec<_> = members.iter().map(|(name, value)| (name.as_str(), value)).collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    members
}

/// A place in a list of a table.
fn place(at: usize) -> Result<u16, String> {
    u16::try_from(at).map_err(|_| "the schema is too large for a table".to_owned())
}

/// A bit for each type.
fn types_of(value: &Value) -> Result<u8, String> {
    const TYPES: [&str; 7] = ["null", "boolean", "object", "array", "number", "string", "integer"];
    let names = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
    names.iter().try_fold(0, |bits, name| {
        let bit = TYPES.iter().position(|known| name == known);
        bit.map(|bit| bits | 1 << bit).ok_or_else(|| format!("{name} is no type"))
    })
}

fn count(value: &Value) -> Result<u32, String> {
    let count = value.as_u64().and_then(|count| u32::try_from(count).ok());
    count.filter(|count| *count > 0).ok_or_else(|| format!("{value} is no count above 0"))
}

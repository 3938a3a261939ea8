//! Derives the table of built-in profiles from the folders of `src/profile/builtin`, and a table of
//! what their `detect` says and of the formats that no profile reads: the program finds out whose
//! stream it reads without parsing any profile.

#[path = "src/profile/detect/table.rs"]
mod table;
#[path = "src/json/words.rs"]
mod words;
#[path = "src/json/words_write.rs"]
mod words_write;
#[path = "src/profile/detect/write.rs"]
mod write;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use serde_json::{Map, Value};
use table::DetectTable;
use words::PackedTexts;

const FOLDER: &str = "src/profile/builtin";

/// Formats that are recognised and not read.
const UNREAD: &str = "src/profile/unread.json";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={FOLDER}");
    println!("cargo::rerun-if-changed={UNREAD}");
    let mut names = Vec::new();
    for entry in fs::read_dir(FOLDER)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.push(entry.file_name().into_string().map_err(|it| it.display().to_string())?);
        }
    }
    names.sort();
    let mut table = "&[\n".to_owned();
    let mut detect = Map::new();
    for name in &names {
        let path = format!("{FOLDER}/{name}/profile.json");
        let text = fs::read(&path).map_err(|error| format!("{path}: {error}"))?;
        let mut profile: Value =
            serde_json::from_slice(&text).map_err(|error| format!("{path}: {error}"))?;
        detect.insert(name.clone(), profile["detect"].take());
        let file =
            |name: &str| format!("include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {name:?}))");
        let profile = file(&format!("/{FOLDER}/{name}/profile.json"));
        let schema = file(&format!("/{FOLDER}/{name}/schema.json"));
        let path = format!("{FOLDER}/{name}/schema.json");
        let text = fs::read(&path).map_err(|error| format!("{path}: {error}"))?;
        let document: Value =
            serde_json::from_slice(&text).map_err(|error| format!("{path}: {error}"))?;
        let nodes = TableWriter::table(&document).map_err(|error| format!("{path}: {error}"))?;
        writeln!(
            table,
            "BuiltInProfile {{ name: {name:?}, profile: {profile}, schema: {schema}, \
             table: {nodes} }},"
        )?;
    }
    table.push(']');
    let unread = fs::read(UNREAD).map_err(|error| format!("{UNREAD}: {error}"))?;
    let unread: Value =
        serde_json::from_slice(&unread).map_err(|error| format!("{UNREAD}: {error}"))?;
    let detect = DetectTable::new(detect.into(), unread)?;
    let out = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    fs::write(Path::new(&out).join("builtin.rs"), table)?;
    fs::write(Path::new(&out).join("detect.rs"), rust_of_detect(&detect))?;
    Ok(())
}

fn rust_of_words(PackedTexts { text, ends }: &PackedTexts) -> String {
    format!("PackedTexts {{ text: Cow::Borrowed({text:?}), ends: Cow::Borrowed(&{ends:?}) }}")
}

fn rust_of_detect(table: &DetectTable) -> String {
    let DetectTable { words, tokens, paths, choices, patterns, tests, groups, profiles, unread } =
        table;
    let words = rust_of_words(words);
    format!(
        "DetectTable {{ words: {words}, tokens: Cow::Borrowed(&{tokens:?}), \
         paths: Cow::Borrowed(&{paths:?}), choices: Cow::Borrowed(&{choices:?}), \
         patterns: Cow::Borrowed(&{patterns:?}), tests: Cow::Borrowed(&{tests:?}), \
         groups: Cow::Borrowed(&{groups:?}), profiles: Cow::Borrowed(&{profiles:?}), \
         unread: Cow::Borrowed(&{unread:?}) }}"
    )
}

/// Writes a schema as a table; see `src/json/schema/table.rs`.
#[derive(Default)]
struct TableWriter {
    /// The keywords of each.
    nodes: Vec<Vec<String>>,
    /// The definitions and their places.
    parts: BTreeMap<String, usize>,
    words: PackedTexts,
    numbers: Vec<u16>,
    scalars: Vec<String>,
    patterns: Vec<u16>,
}

/// Keywords that say nothing about validity, or are read with another one.
const SILENT: [&str; 12] = [
    "$schema",
    "$id",
    "$defs",
    "$comment",
    "title",
    "description",
    "examples",
    "default",
    "patternProperties",
    "additionalProperties",
    "then",
    "else",
];

impl TableWriter {
    /// The table of a document, as Rust.
    fn table(document: &Value) -> Result<String, String> {
        let mut writer = Self::default();
        // The whole document is the first node; definitions may refer to each other.
        writer.nodes.push(Vec::new());
        let definitions = document["$defs"].as_object();
        for name in definitions.into_iter().flat_map(Map::keys) {
            writer.nodes.push(Vec::new());
            writer.parts.insert(format!("#/$defs/{name}"), writer.nodes.len() - 1);
        }
        for (name, schema) in definitions.into_iter().flatten() {
            let node =
                writer.keywords(schema).map_err(|error| format!("/$defs/{name}: {error}"))?;
            let place = writer.parts[&format!("#/$defs/{name}")];
            writer.nodes[place] = node;
        }
        writer.nodes[0] = writer.keywords(document)?;
        let mut parts = Vec::new();
        for (name, place) in &writer.parts {
            parts.push((writer.words.number(name)?, *place));
        }
        let mut ends = Vec::new();
        for node in &writer.nodes {
            ends.push(ends.last().unwrap_or(&0) + node.len());
        }
        Ok(format!(
            "crate::json::SchemaTable {{ words: {}, keywords: &[{}], nodes: &{ends:?}, \
             numbers: &{:?}, scalars: &[{}], parts: &{parts:?}, patterns: &{:?} }}",
            rust_of_words(&writer.words),
            writer.nodes.concat().join(",\n"),
            writer.numbers,
            writer.scalars.join(", "),
            writer.patterns,
        ))
    }

    /// Adds a schema, and returns its place.
    fn node(&mut self, schema: &Value) -> Result<usize, String> {
        // A schema that is only a reference needs no place of its own.
        if let Some(members) = schema.as_object()
            && let Some(reference) = members.get("$ref")
            && members.keys().all(|key| key == "$ref" || SILENT[3..8].contains(&&**key))
        {
            return self.part(reference);
        }
        let node = self.keywords(schema)?;
        self.nodes.push(node);
        Ok(self.nodes.len() - 1)
    }

    fn part(&self, reference: &Value) -> Result<usize, String> {
        let place = reference.as_str().and_then(|reference| self.parts.get(reference));
        place.copied().ok_or_else(|| format!("{reference} is no definition of the document"))
    }

    fn keywords(&mut self, schema: &Value) -> Result<Vec<String>, String> {
        let members = match schema {
            Value::Bool(true) => return Ok(Vec::new()),
            Value::Bool(false) => return Ok(vec!["crate::json::Keyword::Never".to_owned()]),
            Value::Object(members) => members,
            other => return Err(format!("{other} is no schema")),
        };
        let mut keywords = Vec::new();
        let has_members = ["properties", "patternProperties", "additionalProperties"]
            .iter()
            .any(|keyword| members.contains_key(*keyword));
        if let Some(types) = members.get("type") {
            keywords.push(format!("Types({})", types_of(types)?));
        }
        for (keyword, value) in members {
            let written = match keyword.as_str() {
                "type" | "properties" => continue,
                keyword if SILENT.contains(&keyword) => continue,
                "const" => format!("Const({})", self.scalar(value)?),
                "enum" => format!("Enum({})", self.choices(value)?),
                "minLength" => format!("MinLength({})", count(value)?),
                "minItems" => format!("MinItems({})", count(value)?),
                "minProperties" => format!("MinProperties({})", count(value)?),
                "minimum" => format!("Minimum({})", value.as_i64().ok_or("not a whole number")?),
                "pattern" => {
                    format!("Pattern({})", self.pattern(value.as_str().ok_or("not a string")?)?)
                }
                "required" => format!("Required({})", self.required(value)?),
                "items" => format!("Items({})", self.node(value)?),
                "not" => format!("Not({})", self.node(value)?),
                "$ref" => format!("Ref({})", self.part(value)?),
                "allOf" => format!("AllOf({})", self.nodes_of(value)?),
                "anyOf" => format!("AnyOf({})", self.nodes_of(value)?),
                "oneOf" => format!("OneOf({})", self.nodes_of(value)?),
                "dependentSchemas" => format!("DependentSchemas({})", self.named(value)?),
                "if" => {
                    let condition = self.node(value)?;
                    let mut branch = |name: &str| -> Result<String, String> {
                        let node = members.get(name).map(|schema| self.node(schema)).transpose()?;
                        Ok(format!("{node:?}"))
                    };
                    let (then, otherwise) = (branch("then")?, branch("else")?);
                    format!("If {{ condition: {condition}, then: {then}, otherwise: {otherwise} }}")
                }
                other => return Err(format!("the keyword {other} is not known to the evaluator")),
            };
            keywords.push(written);
        }
        if has_members {
            keywords.push(self.members(members)?);
        }
        Ok(keywords.iter().map(|keyword| format!("crate::json::Keyword::{keyword}")).collect())
    }

    fn members(&mut self, members: &Map<String, Value>) -> Result<String, String> {
        let named = self.named(members.get("properties").unwrap_or(&Value::Object(Map::new())))?;
        let mut matching = Vec::new();
        let patterns = members.get("patternProperties").and_then(Value::as_object);
        for (pattern, schema) in patterns.into_iter().flatten() {
            matching.extend([self.pattern(pattern)?, self.node(schema)?]);
        }
        let others = members.get("additionalProperties").filter(|it| **it != true);
        let others = others.map(|it| self.node(it)).transpose()?;
        let matching = self.list(&matching)?;
        Ok(format!("Members {{ named: {named}, matching: {matching}, others: {others:?} }}"))
    }

    fn named(&mut self, schemas: &Value) -> Result<String, String> {
        let mut named = Vec::new();
        for (name, schema) in schemas.as_object().ok_or("not an object")? {
            let node = self.node(schema).map_err(|error| format!("{name}: {error}"))?;
            named.extend([usize::from(self.words.number(name)?), node]);
        }
        self.list(&named)
    }

    fn nodes_of(&mut self, schemas: &Value) -> Result<String, String> {
        let mut nodes = Vec::new();
        for schema in schemas.as_array().ok_or("not an array")? {
            nodes.push(self.node(schema)?);
        }
        self.list(&nodes)
    }

    fn required(&mut self, names: &Value) -> Result<String, String> {
        let mut words = Vec::new();
        for name in names.as_array().ok_or("not an array")? {
            words.push(self.words.number(name.as_str().ok_or("not a string")?)?.into());
        }
        self.list(&words)
    }

    fn choices(&mut self, values: &Value) -> Result<String, String> {
        let from = self.scalars.len();
        for value in values.as_array().ok_or("not an array")? {
            let scalar = self.scalar(value)?;
            self.scalars.push(scalar);
        }
        Ok(format!("crate::json::List({from}, {})", self.scalars.len()))
    }

    fn scalar(&mut self, value: &Value) -> Result<String, String> {
        let written = match value {
            Value::Null => "Null".to_owned(),
            Value::Bool(value) => format!("Bool({value})"),
            Value::String(text) => format!("Text({})", self.words.number(text)?),
            other => return Err(format!("the evaluator does not compare with {other}")),
        };
        Ok(format!("crate::json::Scalar::{written}"))
    }

    /// Adds numbers, and returns from where to where they are.
    fn list(&mut self, numbers: &[usize]) -> Result<String, String> {
        let from = self.numbers.len();
        for number in numbers {
            self.numbers.push(u16::try_from(*number).map_err(|error| error.to_string())?);
        }
        Ok(format!("crate::json::List({from}, {})", self.numbers.len()))
    }

    fn pattern(&mut self, pattern: &str) -> Result<usize, String> {
        self.patterns.push(self.words.number(pattern)?);
        Ok(self.patterns.len() - 1)
    }
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

fn count(value: &Value) -> Result<u64, String> {
    value.as_u64().filter(|count| *count > 0).ok_or_else(|| format!("{value} is no count above 0"))
}

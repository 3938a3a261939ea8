//! The table and the validator say the same of every value, violation for violation.
//!
//! `NDJSON_CHECK_VALUES` is the number of varied values, and `NDJSON_CHECK_SEED` the seed. A long
//! run: `NDJSON_CHECK_VALUES=1_000_000 cargo test --release -p ndjson-check-core agreement`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::super::Schema;
use crate::json::ParsedJson;
use crate::json::tape::Tape;

const VALUES: u64 = 100_000;

/// Values at least that do not satisfy their schema, so that something was compared.
const INVALID_PERCENT: u64 = 30;

fn variable(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).unwrap_or_default().replace('_', "");
    if text.is_empty() { default } else { text.parse().expect("a number") }
}

fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.map(|it| it.expect("readable").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|it| it == extension) {
            found.push(path);
        }
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder next to the repository. If it is missing, the test fails where all must be present.
fn shared(path: &str) -> Option<PathBuf> {
    let folder = repository().join("../shared").join(path);
    let exists = folder.exists();
    assert!(exists || std::env::var_os("CI").is_none(), "{} is absent", folder.display());
    if !exists {
        // Tests capture what is printed, and not what is written.
        let _ = writeln!(std::io::stderr(), "\nNOT CHECKED: ../shared/{path} is absent");
    }
    exists.then_some(folder)
}

/// The number of violations, of which both say the same.
fn agreed(schema: &Schema, value: &Value) -> usize {
    let text = value.to_string();
    let mut tape = Tape::default();
    assert!(tape.read(text.as_bytes(), text.len()), "{text}");
    let tape = ParsedJson::Tape(tape.doc(&text));
    let tree = ParsedJson::Tree(value.clone());
    assert!(schema.table().is_some(), "{schema:?} has no table");
    let found = schema.violations(&tape).expect("the table answers");
    assert_eq!(found, schema.violations(&tree).expect("the validator answers"), "{text}");
    assert_eq!(schema.is_valid(&tape), found.is_empty(), "{text}");
    assert_eq!(schema.is_valid(&tree), found.is_empty(), "{text}");
    found.len()
}

/// The schemas of all built-in profiles: the definitions of each, and at its end the document.
fn built_in() -> Vec<Vec<Schema>> {
    let mut paths = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/profile/builtin");
    files(&folder, "json", &mut paths);
    let schemas = paths.iter().filter(|path| path.ends_with("schema.json"));
    let schemas: Vec<_> = schemas.map(|path| parts(path)).collect();
    assert!(schemas.len() > 30, "only {}", schemas.len());
    schemas
}

fn parts(path: &Path) -> Vec<Schema> {
    let text = fs::read(path).expect("readable");
    let document: Value = serde_json::from_slice(&text).expect("JSON");
    let schema = Schema::compile(&path.display().to_string(), &document).expect("a schema");
    let definitions = document.get("$defs").and_then(Value::as_object);
    let names = definitions.into_iter().flat_map(Map::keys);
    let part = |name: &String| schema.part(&format!("#/$defs/{name}")).expect("a definition");
    let mut parts: Vec<Schema> = names.map(part).collect();
    parts.push(schema);
    parts
}

/// The events of the fixtures, and of recordings next to the repository.
fn events() -> Vec<Value> {
    let mut paths = Vec::new();
    files(&repository().join("fixtures"), "ndjson", &mut paths);
    if let Some(folder) = shared("captures") {
        files(&folder, "ndjson", &mut paths);
    }
    let mut events = Vec::new();
    for path in paths {
        let bytes = fs::read(&path).expect("readable");
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| line.len() < 20_000);
        events.extend(lines.filter_map(|line| serde_json::from_slice(line).ok()));
    }
    events
}

#[test]
fn both_say_the_same_of_the_events_of_all_agents() {
    let events = events();
    assert!(events.len() > 2_000, "only {}", events.len());
    let mut violations = 0;
    for (number, parts) in built_in().into_iter().enumerate() {
        for (at, event) in events.iter().enumerate() {
            // The whole document reads each event; its definitions read every tenth.
            violations += agreed(&parts[parts.len() - 1], event);
            if (at + number) % 10 == 0 {
                violations += parts.iter().map(|part| agreed(part, event)).sum::<usize>();
            }
        }
    }
    assert!(violations > 10_000, "only {violations}");
}

#[test]
fn both_say_the_same_of_the_json_schema_test_suite() {
    let Some(folder) = shared("data/JSON-Schema-Test-Suite/tests/draft2020-12") else { return };
    let mut paths = Vec::new();
    files(&folder, "json", &mut paths);
    let (mut groups, mut violations) = (0, 0);
    let mut random = Random(variable("NDJSON_CHECK_SEED", 1));
    for path in paths {
        let text = fs::read(&path).expect("readable");
        let all: Vec<Value> = serde_json::from_slice(&text).expect("groups");
        let values: Vec<&Value> =
            all.iter().filter_map(|group| group["tests"].as_array()).flatten().collect();
        for group in &all {
            let Ok(schema) = Schema::compile("suite", &group["schema"]) else { continue };
            if schema.table().is_none() {
                continue;
            }
            groups += 1;
            for test in &values {
                violations += agreed(&schema, &test["data"]);
                let varied = random.varied(&test["data"], &test["data"]);
                violations += agreed(&schema, &varied);
            }
        }
    }
    assert!(groups > 150 && violations > 1_000, "{groups} groups, {violations} violations");
}

/// Schemas with what the built-in ones and the suite have little of.
fn dense() -> Vec<Schema> {
    let schemas = [
        json!({"properties": {"a": {"maximum": 3, "type": ["number", "integer", "null"]},
            "b": {"minItems": 1, "maxItems": 1, "items": {"not": {"type": "string"}}}},
            "patternProperties": {"^[ab]": {"maxLength": 1}, "c": false},
            "additionalProperties": {"minProperties": 2, "maxProperties": 2}}),
        json!({"$defs": {"no": false, "a/b~c": {"required": ["a", "b", "c", "d"]}},
            "properties": {"a": true, "b": {"$ref": "#/$defs/no"}},
            "patternProperties": {"^c": {"minLength": 2}}, "additionalProperties": false,
            "allOf": [{"$ref": "#/$defs/a~1b~0c"}, {"$ref": "#/$defs/a~1b~0c"}]}),
        json!({"$defs": {"no": false}, "additionalProperties": {"$ref": "#/$defs/no"}}),
        json!({"oneOf": [
            {"properties": {"a": {"const": 1}}, "required": ["a"], "additionalProperties": false},
            {"properties": {"a": {"enum": [2, "b", null, true]}, "b": {"anyOf": [
                {"properties": {"c": {"const": "x"}}, "required": ["c"]},
                {"properties": {"c": {"const": "y"}, "d": {"enum": ["x", "y"]}}}]}}},
            {"type": "array", "items": {"oneOf": [{"const": 1.0}, {"minimum": 0.5}]}}]}),
    ];
    let compile = |schema: &Value| Schema::compile("dense", schema).expect("a schema");
    schemas.iter().map(compile).collect()
}

#[test]
fn both_say_the_same_of_varied_values() {
    let events = events();
    let wanted = variable("NDJSON_CHECK_VALUES", VALUES);
    let mut random = Random(variable("NDJSON_CHECK_SEED", 20_260_101));
    let mut schemas: Vec<Schema> = built_in().into_iter().flatten().collect();
    schemas.extend(dense());
    // What an agent's own schema nearly allows is where the branches are.
    let own: Vec<Vec<&Value>> = schemas
        .iter()
        .map(|it| events.iter().filter(|event| it.is_valid_tree(event)).collect())
        .collect();
    let (mut invalid, mut violations) = (0, 0);
    for number in 0..wanted {
        let at = random.below(schemas.len());
        let mut value = match &own[at] {
            own if !own.is_empty() && number % 4 > 0 => own[random.below(own.len())].clone(),
            _ => events[random.below(events.len())].clone(),
        };
        for _ in 0..=random.below(3) {
            let other = &events[random.below(events.len())];
            value = random.varied(&value, other);
        }
        let found = agreed(&schemas[at], &value);
        invalid += u64::from(found > 0);
        violations += found;
    }
    assert!(invalid * 100 > wanted * INVALID_PERCENT, "{invalid} of {wanted} are invalid");
    assert!(violations as u64 > invalid, "only {violations} violations of {invalid} values");
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888);
        usize::try_from(self.0 >> 33).unwrap_or_default() % end.max(1)
    }

    /// A part of a value, or all of it.
    fn part<'v>(&mut self, value: &'v Value) -> &'v Value {
        let parts: Vec<&Value> = match value {
            Value::Array(items) => items.iter().collect(),
            Value::Object(members) => members.values().collect(),
            _ => return value,
        };
        if parts.is_empty() || self.below(4) == 0 {
            return value;
        }
        let at = self.below(parts.len());
        self.part(parts[at])
    }

    /// The value with one change; `other` may lend a part.
    fn varied(&mut self, value: &Value, other: &Value) -> Value {
        match value {
            Value::Object(members) if !members.is_empty() && self.below(5) > 0 => {
                let mut members = members.clone();
                let at = self.below(members.len());
                let name = members.keys().nth(at).cloned().unwrap_or_default();
                self.vary_member(&mut members, &name, other);
                Value::Object(members)
            }
            Value::Array(items) if !items.is_empty() && self.below(5) > 0 => {
                let mut items = items.clone();
                let at = self.below(items.len());
                match self.below(4) {
                    0 => drop(items.remove(at)),
                    1 => items.push(self.part(other).clone()),
                    _ => items[at] = self.varied(&items[at].clone(), other),
                }
                Value::Array(items)
            }
            _ => self.replacement(other),
        }
    }

    fn vary_member(&mut self, members: &mut Map<String, Value>, name: &str, other: &Value) {
        let value = members.get(name).cloned().unwrap_or_default();
        match self.below(7) {
            0 => drop(members.remove(name)),
            1 => {
                members.remove(name);
                members.insert(format!("{name}/~\u{7}"), value);
            }
            2 => {
                let names: Vec<&String> =
                    other.as_object().into_iter().flat_map(Map::keys).collect();
                let new = names.get(self.below(names.len())).map_or("a", |name| name.as_str());
                members.insert(new.to_owned(), self.part(other).clone());
            }
            _ => drop(members.insert(name.to_owned(), self.varied(&value, other))),
        }
    }

    fn replacement(&mut self, other: &Value) -> Value {
        let nasty = [
            json!(null),
            json!(true),
            json!(0),
            json!(-1),
            json!(1.0),
            json!(1.5),
            json!(1e300),
            json!(u64::MAX),
            json!(""),
            json!("b"),
            json!("success"),
            json!("\u{1f600}\n"),
            json!([]),
            json!({}),
            json!({"a": 1, "b": ["x"], "c": "x", "d": 1}),
            json!({"type": "text", "text": 1}),
        ];
        match self.below(nasty.len() * 2) {
            at if at < nasty.len() => nasty[at].clone(),
            _ => self.part(other).clone(),
        }
    }
}

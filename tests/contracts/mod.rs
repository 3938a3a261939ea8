//! Contracts that look at much and at little of an event, and streams for them.

use std::fs;
use std::path::{Path, PathBuf};

use ndjson_check::check::contract::Contract;
use ndjson_check::profile::{DEFAULT, Profile};
use ndjson_check::rules::{Rule, Severities, Severity};
use serde_json::{Value, json};

use crate::differential::Engines;
use crate::mutation::Corpus;

/// A contract with its engines, and the streams to mutate for it.
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) engines: Engines,
    pub(crate) corpus: Corpus,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn subjects() -> Vec<Subject> {
    let go = root().join("fixtures/profiles/go-test");
    let report = root().join("fixtures/profiles/report/profile.json");
    let sessions = || Corpus::new(cursors(), true);
    let of_cursor = |name: &str, make: &dyn Fn() -> Contract| Subject {
        name: name.to_owned(),
        engines: Engines::new(make),
        corpus: sessions(),
    };
    let of_file = |name: &str, profile: &Path, corpus| Subject {
        name: name.to_owned(),
        engines: Engines::new(|| contract(profile.to_str().unwrap())),
        corpus,
    };
    let of_folder = |name, folder: &str| {
        let folder = root().join(folder);
        let corpus = Corpus::new(streams(&folder), false);
        of_file(name, &folder.join("profile.json"), corpus)
    };
    vec![
        of_cursor("plain", &|| contract("cursor")),
        Subject {
            name: "warming up".to_owned(),
            engines: Engines::new(|| contract("cursor")).warmed_up_after(50_000),
            corpus: sessions(),
        },
        of_cursor("strict", &|| changed(|contract| contract.severities = Severities::new(true))),
        of_cursor("warnings only", &warnings_only),
        of_cursor("short lines", &|| changed(|contract| contract.line_bytes_max = 300)),
        of_cursor("texts", &|| with_schema(&texts())),
        of_cursor("close", &|| with_schema(&close())),
        of_cursor("closer", &|| with_schema(&closer())),
        of_cursor("loose", &|| with_schema(&loose())),
        of_cursor("no schema", &|| {
            Contract::new(Profile::load("cursor").unwrap().0, None).unwrap()
        }),
        of_cursor("curious", &curious),
        of_cursor("punctual", &punctual),
        of_file("go test", &go.join("profile.json"), Corpus::new(streams(&go), false)),
        of_folder("turns", "fixtures/profiles/turns"),
        of_folder("mixed", "fixtures/profiles/mixed"),
        of_file("report", &report, Corpus::new(reports(), false)),
    ]
}

/// Each agent but the default one, with its own streams: under its own contract, and without its
/// schema, which looks at much that the profile then has to look at alone.
pub(crate) fn agents() -> Vec<Subject> {
    let agents = Profile::names().filter(|&agent| agent != DEFAULT);
    agents.flat_map(|agent| [agent_subject(agent, true), agent_subject(agent, false)]).collect()
}

fn agent_subject(agent: &str, has_schema: bool) -> Subject {
    let make = || {
        let (profile, schema) = Profile::load(agent).unwrap();
        Contract::new(profile, schema.filter(|_| has_schema)).unwrap()
    };
    let name = if has_schema { agent.to_owned() } else { format!("{agent} without its schema") };
    let corpus = Corpus::new(streams(&root().join("fixtures/agents").join(agent)), false);
    Subject { name, engines: Engines::new(make), corpus }
}

/// Every stream of Cursor's.
fn cursors() -> Vec<Vec<u8>> {
    let folders = ["fixtures/agents/cursor", "fixtures/rules"];
    folders.iter().flat_map(|folder| streams(&root().join(folder))).collect()
}

/// Reports of our own, one object a line, as they were before their goldens were folded.
fn reports() -> Vec<Vec<u8>> {
    let texts = read(&root().join("fixtures/report"), "json").into_iter();
    texts.map(|text| String::from_utf8(text).unwrap().replace("\n ", "").into_bytes()).collect()
}

/// The streams of a folder.
fn streams(folder: &Path) -> Vec<Vec<u8>> {
    read(folder, "ndjson")
}

/// The files below a folder with this extension, in the order of their paths.
fn read(folder: &Path, extension: &str) -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    collect(folder, extension, &mut paths);
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

fn collect(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, extension, found);
        } else if path.extension().is_some_and(|it| it == extension) {
            found.push(path);
        }
    }
}

pub(crate) fn contract(profile: &str) -> Contract {
    let (profile, schema) = Profile::load(profile).unwrap();
    Contract::new(profile, schema).unwrap()
}

fn changed(change: impl FnOnce(&mut Contract)) -> Contract {
    let mut contract = contract("cursor");
    change(&mut contract);
    contract
}

fn with_schema(schema: &Value) -> Contract {
    changed(|contract| contract.add_schema("user", schema).unwrap())
}

/// Under which no line counts as lost, so that nothing is left out that may follow from one.
fn warnings_only() -> Contract {
    changed(|contract| {
        for &rule in Rule::ALL {
            contract.severities.set(rule, Some(Severity::Warning));
        }
    })
}

/// A schema that looks at the texts of deltas, and at nothing else.
fn texts() -> Value {
    let text = json!({"pattern": "^[^#]*$", "maxLength": 150});
    let items = json!({"items": {"properties": {"text": text}}});
    json!({"properties": {"text": text, "message": {"properties": {"content": items}}}})
}

/// A schema that looks at what changes from one delta to the next.
fn close() -> Value {
    let text = json!({
        "pattern": "^[^#]*$", "maxLength": 150, "not": {"enum": ["stop", "boundary"]}
    });
    json!({
        "properties": {
            "timestamp_ms": {"minimum": 1000, "maximum": 1e18, "multipleOf": 1},
            "text": text,
            "n": {"not": {"const": 1}, "exclusiveMaximum": 1e17},
            "values": {"uniqueItems": true, "contains": {"multipleOf": 2}, "maxContains": 2},
            "message": {"properties": {"content": {
                "contains": {"properties": {"type": {"const": "text"}}, "required": ["type"]},
                "items": {
                    "properties": {"text": text}, "unevaluatedProperties": {"type": "string"}
                },
                "uniqueItems": true
            }}}
        }
    })
}

/// A schema whose keywords depend on each other: a value decides what another must be.
fn closer() -> Value {
    let long = json!({"properties": {"text": {"minLength": 5}}, "required": ["text"]});
    json!({
        "if": long,
        "then": {"properties": {"timestamp_ms": {"multipleOf": 2}}},
        "else": {"properties": {"timestamp_ms": {"not": {"multipleOf": 10}}}},
        "propertyNames": {"pattern": "^[a-zA-Z_]+$"},
        "maxProperties": 9,
        "dependentRequired": {"n": ["values"]},
        "dependentSchemas": {"values": {"properties": {"values": {"maxItems": 3}}}},
        "properties": {"nested": {"$ref": "#/$defs/tree"}, "more": {"$ref": "#/$defs/tree"}},
        "unevaluatedProperties": {"not": {"const": 0}},
        "$defs": {"tree": {
            "anyOf": [
                {"type": ["object", "array"]},
                {"type": "string", "maxLength": 20},
                {"type": "integer", "maximum": 1_000_000_000},
                {"enum": [true, null]}
            ],
            "additionalProperties": {"$ref": "#/$defs/tree"},
            "items": {"$ref": "#/$defs/tree"}
        }}
    })
}

/// A schema that looks at one text and at nothing else, and only at its type in other places.
fn loose() -> Value {
    json!({
        "properties": {
            "text": {"const": "a"},
            "timestamp_ms": {"type": "integer"},
            "n": {"type": "number"},
            "subtype": {"format": "email", "contentEncoding": "base64", "default": 1}
        },
        "patternProperties": {"ToolCall$": {"required": ["args"]}}
    })
}

/// The profile with a rule that looks at times.
fn punctual() -> Contract {
    changed_profile(|profile| {
        profile["text"]["ends_at"] = json!([{"when": {"/timestamp_ms": {"not": 0}}}]);
    })
}

/// The profile with rules that look at texts, as no real one does.
fn curious() -> Contract {
    let text = "/message/content/0/text";
    let first = |list: &mut Value, rule: Value| list.as_array_mut().unwrap().insert(0, rule);
    changed_profile(|profile| {
        let stop = json!({"outcome": "failure", "when": {text: "stop"}});
        first(&mut profile["end"]["rules"], stop);
        let when = json!({"/text": ["a", "file", " the"]});
        first(
            &mut profile["text"]["rules"],
            json!({"mode": "whole", "when": when, "value": "/text"}),
        );
        first(&mut profile["session"]["start"], json!({"when": {"/n": 1}}));
        profile["text"]["ends_at"] = json!([{"when": {text: "b", "/more/n": {"not": 0}}}]);
        profile["tags"]["at"] = json!(["/type", "/subtype", "/nested/deep/0/x"]);
    })
}

fn changed_profile(change: impl FnOnce(&mut Value)) -> Contract {
    let file = root().join("src/profile/builtin/cursor/profile.json");
    let mut profile: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    change(&mut profile);
    let schema = Profile::load("cursor").unwrap().1;
    Contract::new(serde_json::from_value(profile).unwrap(), schema).unwrap()
}

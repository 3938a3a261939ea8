//! Contracts that read much and little of an event, and streams for them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use ndjson_check::internals::{profile_names, profile_text};
use ndjson_check::{Checker, CheckerBuilder, Error, Rule, Severity};
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

/// Contracts for the streams of Cursor, and profiles and schemas made for tests.
pub(crate) fn subjects() -> &'static [Subject] {
    static SUBJECTS: LazyLock<Vec<Subject>> = LazyLock::new(new_subjects);
    &SUBJECTS
}

/// Each agent but the default one, with its own streams: under its own contract, and without its
/// schema, which reads much that the profile then has to read alone.
pub(crate) fn agents() -> &'static [Subject] {
    static AGENTS: LazyLock<Vec<Subject>> = LazyLock::new(new_agents);
    &AGENTS
}

fn new_subjects() -> Vec<Subject> {
    let of_cursor = |name: &str, engines: Engines| Subject {
        name: name.to_owned(),
        engines,
        corpus: Corpus::new(cursors(), true),
    };
    let with_schema = |name, schema: Value| of_cursor(name, engines(None, Some(&schema)).unwrap());
    let with_profile =
        |name, profile: Value| of_cursor(name, engines(Some(&profile), None).unwrap());
    let of_folder = |folder: &str, streams: Vec<Vec<u8>>| {
        let profile = root().join("fixtures/profiles").join(folder).join("profile.json");
        let engines = Engines::new(of_profile(profile.to_str().unwrap())).unwrap();
        Subject { name: folder.to_owned(), engines, corpus: Corpus::new(streams, false) }
    };
    let own = |folder: &str| streams(&root().join("fixtures/profiles").join(folder));
    let cursor = || of_profile("cursor");
    vec![
        of_cursor("plain", Engines::new(cursor()).unwrap()),
        of_cursor("detected", Engines::new(Checker::builder()).unwrap()),
        of_cursor("strict", Engines::new(cursor().strict(true)).unwrap()),
        of_cursor("warnings only", Engines::new(warnings_only()).unwrap()),
        of_cursor("short lines", Engines::new(cursor().max_line_bytes(300)).unwrap()),
        with_schema("texts", texts()),
        with_schema("close", close()),
        with_schema("closer", closer()),
        with_schema("loose", loose()),
        with_profile("no schema", without_schema("cursor")),
        with_profile("curious", curious()),
        with_profile("punctual", punctual()),
        of_folder("go-test", own("go-test")),
        of_folder("turns", own("turns")),
        of_folder("mixed", own("mixed")),
        of_folder("report", reports()),
    ]
}

fn new_agents() -> Vec<Subject> {
    let has_streams = |it: &&str| root().join("fixtures/agents").join(it).exists();
    let agents = profile_names().skip(1).filter(has_streams);
    agents.flat_map(|agent| [agent_subject(agent, true), agent_subject(agent, false)]).collect()
}

pub(crate) fn agent_subject(agent: &str, has_schema: bool) -> Subject {
    let corpus = Corpus::new(streams(&root().join("fixtures/agents").join(agent)), false);
    if has_schema {
        let engines = Engines::new(of_profile(agent)).unwrap();
        Subject { name: agent.to_owned(), engines, corpus }
    } else {
        let engines = engines(Some(&without_schema(agent)), None).unwrap();
        Subject { name: format!("{agent} without its schema"), engines, corpus }
    }
}

/// All streams of Cursor.
fn cursors() -> Vec<Vec<u8>> {
    let folders = ["fixtures/agents/cursor", "fixtures/rules"];
    folders.iter().flat_map(|folder| streams(&root().join(folder))).collect()
}

/// Our own reports, one object on each line; their goldens have more line breaks.
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

pub(crate) fn of_profile(name_or_file: &str) -> CheckerBuilder {
    Checker::builder().profile(name_or_file)
}

/// The engines for a profile (Cursor's if there is none) and a user's schema.
pub(crate) fn engines(profile: Option<&Value>, schema: Option<&Value>) -> Result<Engines, Error> {
    // Both are read before this returns.
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, value: &Value| {
        let path = folder.path().join(name);
        fs::write(&path, value.to_string()).unwrap();
        path
    };
    let profile = profile.map(|profile| write("profile.json", profile));
    let mut builder = of_profile(profile.as_ref().map_or("cursor", |it| it.to_str().unwrap()));
    if let Some(schema) = schema {
        builder = builder.schema_file(&write("schema.json", schema))?;
    }
    Engines::new(builder)
}

/// A built-in profile that does not check its events against a schema.
pub(crate) fn without_schema(profile: &str) -> Value {
    json!({"extends": profile, "schema": null})
}

/// Then no line counts as lost, so nothing that depends on one is left out.
fn warnings_only() -> CheckerBuilder {
    let all = Rule::ALL.iter();
    all.fold(of_profile("cursor"), |it, &rule| it.severity(rule, Some(Severity::Warning)))
}

/// A schema that reads the texts of deltas, and at nothing else.
fn texts() -> Value {
    let text = json!({"pattern": "^[^#]*$", "maxLength": 150});
    let items = json!({"items": {"properties": {"text": text}}});
    json!({"properties": {"text": text, "message": {"properties": {"content": items}}}})
}

/// A schema that reads what changes from one delta to the next.
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

/// A schema that reads one text and at nothing else, and only at its type in other places.
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

/// The profile with a rule that reads times.
fn punctual() -> Value {
    json!({
        "extends": "cursor",
        "text": {"ends_at": [{"when": {"/timestamp_ms": {"not": 0}}}]}
    })
}

/// The profile with rules that read texts, as no real one does.
fn curious() -> Value {
    let text = "/message/content/0/text";
    let cursor: Value = serde_json::from_str(profile_text("cursor").unwrap()).unwrap();
    let preceded = |list: &Value, rule: Value| {
        let mut list = list.as_array().unwrap().clone();
        list.insert(0, rule);
        list
    };
    let stop = json!({"outcome": "failure", "when": {text: "stop"}});
    let when = json!({"/text": ["a", "file", " the"]});
    let whole = json!({"mode": "whole", "when": when, "value": "/text"});
    json!({
        "extends": "cursor",
        "tags": {"at": ["/type", "/subtype", "/nested/deep/0/x"]},
        "session": {"start": preceded(&cursor["session"]["start"], json!({"when": {"/n": 1}}))},
        "text": {
            "rules": preceded(&cursor["text"]["rules"], whole),
            "ends_at": [{"when": {text: "b", "/more/n": {"not": 0}}}]
        },
        "end": {"rules": preceded(&cursor["end"]["rules"], stop)}
    })
}

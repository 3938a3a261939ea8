//! The entries for the catalog of `SchemaStore`, with which editors know our files.

use std::fs;

use serde_json::Value;

use crate::streams::root;

/// Where the catalog reads our schemas.
const BASE: &str = "https://raw.githubusercontent.com/ndjson-check/ndjson-check/main/";

#[test]
fn entries_lead_to_schemas_and_match_only_our_files() {
    let read = |file: &str| -> Value {
        serde_json::from_slice(&fs::read(root().join(file)).unwrap()).unwrap()
    };
    let catalog = read("packaging/schemastore.json");
    let mut matched = Vec::new();
    for entry in catalog.as_array().unwrap() {
        for (key, value) in entry.as_object().unwrap() {
            assert!(["name", "description", "fileMatch", "url"].contains(&&**key), "{key}");
            assert!(value.is_array() || value.as_str().is_some_and(|it| !it.is_empty()), "{key}");
        }
        let file = entry["url"].as_str().unwrap().strip_prefix(BASE).unwrap();
        let schema = read(file);
        assert!(jsonschema::meta::is_valid(&schema), "{file}");
        assert!(schema["title"].is_string(), "{file}");
        matched.extend(entry["fileMatch"].as_array().into_iter().flatten().cloned());
    }
    // The name that the program looks for. A pattern could match the files of others.
    assert_eq!(matched, ["ndjson-check.toml"]);
}

//! A schema of the user: what is reported, and where both engines must agree.

use std::fs;

use ndjson_check::{Checker, CheckerBuilder, Diagnostic, Error};
use serde_json::{Value, json};

use crate::streams::check;

/// Checks events of no known agent by this schema.
fn builder(schema: &Value) -> CheckerBuilder {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("schema.json");
    fs::write(&file, schema.to_string()).unwrap();
    // The file is read here, and is gone afterwards.
    Checker::builder().profile("jsonl").schema_file(&file).unwrap()
}

fn checker(schema: &Value) -> Checker {
    builder(schema).build().unwrap()
}

fn found(schema: &Value, event: &Value) -> Vec<Diagnostic> {
    check(&mut checker(schema), format!("{event}\n").as_bytes()).1
}

#[test]
fn locations_name_the_definition_and_the_meant_branch() {
    let schema = json!({
        "oneOf": [
            {"required": ["k"], "properties": {"k": {"const": "a"}}},
            {"required": ["k"], "properties": {"k": {"const": "b"}}, "$ref": "#/$defs/b"},
            {"required": ["k"], "properties": {"k": {"const": "c"}}}
        ],
        "$defs": {"b": {"properties": {"n": {"type": "integer"}}, "required": ["m"]}}
    });
    let located = |event: &Value| -> Vec<(String, String)> {
        let locations = found(&schema, event).into_iter().filter_map(|it| it.location);
        locations.map(|it| (it.instance, it.keyword)).collect()
    };
    assert_eq!(
        located(&json!({"k": "b", "n": "x"})),
        [
            (String::new(), "/$defs/b/required".to_owned()),
            ("/n".to_owned(), "/$defs/b/properties/n/type".to_owned()),
        ]
    );
    assert_eq!(located(&json!({"k": "z"})), [(String::new(), "/oneOf".to_owned())]);
    assert_eq!(located(&json!({"k": "a"})), []);
}

#[test]
fn messages_do_not_show_values() {
    let schema = json!({"properties": {"key": {"type": "integer"}, "k2": {"maxLength": 2}}});
    let found = found(&schema, &json!({"key": "hunter2", "k2": "hunter2"}));
    assert_eq!(found.len(), 2);
    for diagnostic in found {
        assert!(!diagnostic.message.contains("hunter2"), "{}", diagnostic.message);
    }
}

#[test]
fn numbers_are_the_same_for_both_engines_in_every_draft() {
    let numbers = "0 -0 0.0 1 1.0 1e2 1.5 -7 999999999999999 9007199254740993 \
        18446744073709551615 18446744073709551616 -9223372036854775809 1e300";
    let keywords = [
        json!({"type": "integer"}),
        json!({"multipleOf": 2}),
        json!({"minimum": 1}),
        json!({"exclusiveMaximum": 18_446_744_073_709_551_615_u64}),
        json!({"const": 1}),
        json!({"enum": [100, 0]}),
        json!({"multipleOf": 0.5}),
        json!({"maximum": 1.5}),
    ];
    let lines: Vec<String> = numbers.split(' ').map(|it| format!("{{\"n\":{it}}}\n")).collect();
    let stream = lines.concat();
    for draft in [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2020-12/schema",
    ] {
        for keyword in &keywords {
            let schema = json!({"$schema": draft, "properties": {"n": {"not": keyword}}});
            // Draft 4 has no number there: neither engine takes that schema.
            let builder = builder(&schema);
            let [fast, plain] = [false, true].map(|is_plain| {
                let checker = builder.clone().plain(is_plain).build();
                checker.map(|mut checker| check(&mut checker, stream.as_bytes()).1).ok()
            });
            assert_eq!(fast, plain, "{keyword} in {draft}");
        }
    }
}

#[test]
fn a_pattern_without_end_is_an_error_of_the_schema() {
    let schema = json!({"properties": {"x": {"pattern": "^(?!x)(a|aa)+(?=z)$"}}});
    let event = json!({"x": "a".repeat(200)}).to_string() + "\n";
    let result = checker(&schema).check("-", event.as_bytes(), &mut ());
    assert!(matches!(result, Err(Error::Schema { .. })), "{result:?}");
}

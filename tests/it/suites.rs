//! The public suites for JSON and JSON Schema, kept beside the repository.

use std::fs;

use ndjson_check::json::schema::Schema;
use ndjson_check::rules::Rule;
use ndjson_check::stream::event;
use ndjson_check::stream::line::{Ending, Line};
use serde_json::Value;

use crate::streams::{files, shared};

/// What the suite leaves open and we accept: numbers that a double holds only roughly.
const ACCEPTED: [&str; 5] = [
    "i_number_double_huge_neg_exp",
    "i_number_real_underflow",
    "i_number_too_big_neg_int",
    "i_number_too_big_pos_int",
    "i_number_very_big_negative_int",
];

/// Goal: a line is exactly one JSON text. Method: each file of the suite as one line.
#[test]
fn the_json_test_suite_is_decided_right() {
    let Some(folder) = shared("data/JSONTestSuite/test_parsing") else { return };
    let (mut decided, mut open) = (0, Vec::new());
    for path in files(&folder, "json") {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let bytes = fs::read(&path).unwrap();
        // An offset above 0: a byte order mark is taken at the start of a stream only.
        let line = Line::new(2, 9, &bytes, Ending::Lf);
        let mut found = Vec::new();
        let event = event::parse(&line, &mut found);
        let no_object = found.iter().any(|it| it.rule == Rule::NotAnObject);
        let is_json = event.is_some() || no_object;
        match &name[..2] {
            "y_" | "n_" => {
                assert_eq!(is_json, name.starts_with('y'), "{name}: {found:?}");
                decided += 1;
            }
            _ if is_json => open.push(name.to_owned()),
            _ => {}
        }
    }
    assert_eq!(decided, 283);
    assert_eq!(open, ACCEPTED);
}

/// Goal: our way of loading schemas and reading verdicts loses nothing of the validator.
/// Method: every required test of draft 2020-12 that refers to nothing outside its own schema.
#[test]
fn the_json_schema_test_suite_is_decided_right() {
    let Some(folder) = shared("data/JSON-Schema-Test-Suite/tests/draft2020-12") else { return };
    let (mut decided, mut remote) = (0, 0);
    for path in files(&folder, "json") {
        if path.components().any(|it| it.as_os_str() == "optional") {
            continue;
        }
        let groups: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        for group in groups.as_array().unwrap() {
            let Ok(schema) = Schema::compile("suite", &group["schema"]) else {
                // Refused, as it must be: it needs another document.
                assert!(group["schema"].to_string().contains("localhost:1234"), "{group}");
                remote += 1;
                continue;
            };
            for test in group["tests"].as_array().unwrap() {
                let valid = schema.violations(&test["data"]).unwrap().is_empty();
                assert_eq!(Some(valid), test["valid"].as_bool(), "{}: {test}", path.display());
                decided += 1;
            }
        }
    }
    assert!(decided > 1_200, "only {decided}");
    assert!(remote < 40, "{remote} groups were refused");
}

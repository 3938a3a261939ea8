//! The public suites for JSON and JSON Schema, kept beside the repository.

use std::fs;

use ndjson_check::internals::satisfies;
use ndjson_check::{Diagnostic, Rule};
use serde_json::Value;

use crate::streams::{checker, files, shared};

/// What the suite leaves open and we accept: numbers that a double holds only roughly, and escapes
/// of half a surrogate pair, which the grammar of RFC 8259 allows and agents write.
const ACCEPTED: [&str; 15] = [
    "i_number_double_huge_neg_exp",
    "i_number_real_underflow",
    "i_number_too_big_neg_int",
    "i_number_too_big_pos_int",
    "i_number_very_big_negative_int",
    "i_object_key_lone_2nd_surrogate",
    "i_string_1st_surrogate_but_2nd_missing",
    "i_string_1st_valid_surrogate_2nd_invalid",
    "i_string_incomplete_surrogate_and_escape_valid",
    "i_string_incomplete_surrogate_pair",
    "i_string_incomplete_surrogates_escape_valid",
    "i_string_invalid_lonely_surrogate",
    "i_string_invalid_surrogate",
    "i_string_inverted_surrogates_U+1D11E",
    "i_string_lone_second_surrogate",
];

/// The rules of a line that is not one JSON text.
const NOT_JSON: [Rule; 4] =
    [Rule::InvalidJson, Rule::InvalidUtf8, Rule::NestingTooDeep, Rule::BlankLine];

/// Goal: a line is exactly one JSON text. Method: each file of the suite as one line.
#[test]
fn the_json_test_suite_is_decided_right() {
    let Some(folder) = shared("data/JSONTestSuite/test_parsing") else { return };
    let mut checker = checker(["--profile", "cursor"]);
    let (mut decided, mut open) = (0, Vec::new());
    for path in files(&folder, "json") {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let bytes = fs::read(&path).unwrap();
        // One line: a carriage return is white space, too, and no part of a string.
        let bytes: Vec<u8> =
            bytes.iter().map(|byte| if *byte == b'\n' { b'\r' } else { *byte }).collect();
        // As the second line: a byte order mark is taken at the start of a stream only.
        let stream = [&b"{}\n"[..], &bytes, b"\n"].concat();
        let mut found: Vec<Diagnostic> = Vec::new();
        checker.check("-", &stream[..], &mut found).unwrap();
        let is_json = !found.iter().any(|it| it.line == Some(2) && NOT_JSON.contains(&it.rule));
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
            let schema = group["schema"].to_string();
            if satisfies(&schema, "null").is_err() {
                // Refused, as it must be: it needs another document.
                assert!(schema.contains("localhost:1234"), "{group}");
                remote += 1;
                continue;
            }
            for test in group["tests"].as_array().unwrap() {
                let valid = satisfies(&schema, &test["data"].to_string()).unwrap();
                assert_eq!(Some(valid), test["valid"].as_bool(), "{}: {test}", path.display());
                decided += 1;
            }
        }
    }
    assert!(decided > 1_200, "only {decided}");
    assert!(remote < 40, "{remote} groups were refused");
}

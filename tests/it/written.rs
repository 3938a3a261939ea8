//! An event means the same however its JSON is written.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ndjson_check::Rule;
use serde_json::Value;

use crate::arrays::{facts, places};
use crate::streams::{cases, checker};
use crate::support::check;

/// Another text of the same value: members from the last name to the first, space around each sign,
/// and an escape for each character that is not ASCII.
fn rewritten(value: &Value) -> String {
    let list = |parts: Vec<String>| parts.join(" , ");
    match value {
        Value::Object(members) => {
            let members = members.iter().rev();
            let parts =
                members.map(|(key, value)| format!("{} : {}", string(key), rewritten(value)));
            format!("{{ {} }}", list(parts.collect()))
        }
        Value::Array(items) => format!("[ {} ]", list(items.iter().map(rewritten).collect())),
        Value::String(text) => string(text),
        scalar => scalar.to_string(),
    }
}

fn string(text: &str) -> String {
    let mut out = String::new();
    for character in Value::from(text).to_string().chars() {
        if character.is_ascii() {
            out.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            write!(out, "\\u{unit:04x}").unwrap();
        }
    }
    out
}

/// Goal: no verdict, outcome, finding, count or line depends on how an event is written.
/// Method: every fixture whose lines are JSON objects without a finding about their text.
#[test]
fn an_event_means_the_same_however_it_is_written() {
    let of_text = [Rule::BlankLine, Rule::DuplicateKey, Rule::LineTooLong, Rule::LoneSurrogate];
    let mut agents = BTreeSet::new();
    let mut same = 0;
    for case in cases() {
        let bytes = case.bytes();
        let Some(text) = str::from_utf8(&bytes).ok().filter(|text| text.ends_with('\n')) else {
            continue;
        };
        let events: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
        let Ok(events) = events else { continue };
        let mut checker = checker(case.flags.iter().map(String::as_str));
        let (expected, expected_found) = check(&mut checker, text.as_bytes());
        if expected.rule_counts.keys().any(|rule| of_text.contains(rule)) {
            continue;
        }
        let other: String = events.iter().map(|event| rewritten(event) + "\n").collect();
        let (summary, found) = check(&mut checker, other.as_bytes());
        let name = case.path.display();
        assert_eq!(facts(&summary), facts(&expected), "{name}: {found:?}");
        assert_eq!(places(&found), places(&expected_found), "{name}");
        agents.insert(summary.profile);
        same += 1;
    }
    assert!(same > 900 && agents.len() > 35, "{same} streams of {agents:?}");
}

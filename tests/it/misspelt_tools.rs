//! A name of a tool in another case.

use ndjson_check::{Expectation, ExpectedCalls, Rule};
use serde_json::json;

use crate::demands::PLACE;
use crate::evasion::{checked, claude};
use crate::support::{builder, check};

/// Goal: a prohibition whose tool is misspelt does not pass as if it were kept.
#[test]
fn a_tool_in_another_case_is_not_forbidden_in_silence() {
    let forbids = |tool: &str| {
        Expectation::Calls({
            let mut calls = ExpectedCalls::default();
            (calls.tool, calls.at_most) = (Some(tool.to_owned()), Some(0));
            calls
        })
    };
    let listed = crate::starts::run("s1", &json!({}));
    let used = claude("/w", &[("Bash", json!({"command": "ls"}))]);
    for (tool, stream, expected) in [
        ("bash", listed.as_bytes(), &[Rule::ExpectationUnobservable][..]),
        ("MCP__*", listed.as_bytes(), &[Rule::ExpectationUnobservable]),
        ("Bash", listed.as_bytes(), &[]),
        ("fetch", listed.as_bytes(), &[]),
        ("bash", used.as_bytes(), &[Rule::ExpectationUnobservable]),
        ("Bash", used.as_bytes(), &[Rule::ExpectationFailed]),
        ("[Bb]ash", used.as_bytes(), &[Rule::ExpectationFailed]),
    ] {
        let rules = checked(&["--profile", "claude"], &forbids(tool), stream).1;
        assert_eq!(rules, expected, "{tool}");
    }
    let built = builder(["--profile", "claude"]).expect(PLACE, forbids("bash")).build();
    let (_, found) = check(&mut built.unwrap(), listed.as_bytes());
    let note = found.iter().find_map(|it| it.note.clone()).unwrap();
    assert_eq!(note, "no tool is called `bash`, but there is `Bash`");
}

//! Tables of what the stages decide, each on its own.

mod calls;
pub(in crate::check) mod end;
mod lines;
mod open_calls;
mod session;
mod terminal;
mod text;

use serde_json::{Map, Value, json};

use crate::facts::{FactReader, Facts};
use crate::profile::Profile;
use crate::rules::diagnostic::Diagnostic;
use crate::stream::{Ending, Line, parse_line};

/// An agent whose events say in one word what they are.
pub(super) fn agent() -> Value {
    json!({
        "name": "test", "title": "test",
        "tags": { "at": ["/at"], "documented": ["x"] },
        "session": {
            "start": [{ "when": { "/at": "hello" } }], "id": ["/session"], "time": "/time"
        },
        "calls": {
            "start": [{ "when": { "/at": "start" }, "id": ["/id"] }],
            "completion": [
                { "when": { "/at": "done" }, "id": ["/id"],
                  "outcomes": [{ "outcome": "succeeded", "when": {} }] },
                { "when": { "/at": "broken" }, "id": ["/id"],
                  "outcomes": [{ "outcome": "failed", "when": {} }] },
                { "when": { "/at": "rejected" }, "id": ["/id"],
                  "outcomes": [{ "outcome": "rejected", "when": {} }] }
            ],
            "corrections": [
                { "when": { "/at": "denied" }, "id": ["/id"], "outcome": "denied" }
            ]
        },
        "end": {
            "rules": [
                { "outcome": "success", "when": { "/at": "good" } },
                { "outcome": "failure", "when": { "/at": "bad" } },
                { "outcome": "neutral", "when": { "/at": "over" } },
                { "outcome": "failure", "when": { "/at": "late-bad" } },
                { "outcome": "success", "provisional": true, "when": { "/at": "pause" } },
                { "outcome": "failure", "provisional": true, "when": { "/at": "quit" } }
            ],
            "progress": [
                { "outcome": "success", "when": { "/at": "well" } },
                { "outcome": "failure", "when": { "/at": "badly" } },
                { "outcome": "unfinished", "when": { "/at": "more" } },
                { "outcome": "finished", "when": { "/at": "enough" } }
            ],
            "reopen": [{ "when": { "/at": "ask" } }],
            "after": [{ "when": { "/at": ["bye", "late-error", "late-bad"] } }],
            "errors": [
                { "severity": "warning", "when": { "/at": "warning" } },
                { "severity": "fatal", "when": { "/at": "fatal" } },
                { "severity": "failure", "when": { "/at": "late-error" } }
            ]
        }
    })
}

/// The same agent, but for these members of one part of its profile.
pub(super) fn agent_with(part: &str, members: Value) -> Value {
    let mut agent = agent();
    let Value::Object(members) = members else { panic!("members") };
    for (name, value) in members {
        agent[part][name] = value;
    }
    agent
}

pub(super) fn profile(agent: Value) -> Profile {
    serde_json::from_value(agent).expect("a profile")
}

/// Calls `see` with the facts of each event: `start id=1` is `{"at":"start","id":"1"}` on its line.
/// A number after `time=` is one.
pub(super) fn each_event(profile: &Profile, events: &str, mut see: impl FnMut(&Facts<'_>)) {
    let mut reader = FactReader::default();
    for (number, event) in (1..).zip(events.split(", ").filter(|event| !event.is_empty())) {
        let mut words = event.split(' ');
        let mut members = Map::new();
        members.insert("at".to_owned(), words.next().into());
        for word in words {
            let (name, value) = word.split_once('=').expect("name=value");
            let time = value.parse::<u64>().ok().filter(|_| name == "time");
            members.insert(name.to_owned(), time.map_or_else(|| value.into(), Value::from));
        }
        let bytes = Value::Object(members).to_string().into_bytes();
        let mut line = Line::new(0, &bytes, Ending::Lf);
        line.number = number;
        let Ok(event) = parse_line(&line) else { panic!("not an event: {event}") };
        see(&reader.plan(profile, &event).facts(number, 0));
    }
}

/// Rules, lines and related lines, as `rule@line(related)`.
pub(super) fn shown(found: &[Diagnostic]) -> String {
    let one = |it: &Diagnostic| {
        let line = it.line.map(|line| format!("@{line}")).unwrap_or_default();
        let related = it.related_line.map(|line| format!("({line})")).unwrap_or_default();
        format!("{}{line}{related}", it.rule.name())
    };
    found.iter().map(one).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_check_is_shown_by_the_name_of_its_type() {
    let mut checker = crate::check::Checker::builder().build().expect("a built-in profile");
    assert_eq!(format!("{:?}", checker.stream("a")), "StreamCheck { name: \"a\", .. }");
}

//! Detects the agent by the first events of a stream.
//!
//! The detection rules of a profile match a key or a value that only its agent writes. `build.rs`
//! writes those of the built-in profiles as one table, so that nothing is parsed before a stream is
//! checked.

mod rules;
mod table;
mod wrapped;
#[cfg(test)]
mod write;

use crate::error::Error;
use crate::json::PackedTexts;
use crate::limits::{
    DETECTION_BYTES_MAX, DETECTION_EVENTS_MAX, LINE_BYTES_MAX, TEXT_LINE_BYTES_MAX,
    UNKNOWN_EVENTS_MAX,
};
use crate::rules::escape::clipped;
use crate::stream::{Ending, Line, SSE_FIELDS, glued_events, parse_line};
pub(crate) use rules::{Author, DetectRules, matches};

/// The name that requests detection.
pub const AUTO: &str = "auto";

/// How the profile of a stream was chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProfileSource {
    /// The caller named it.
    #[default]
    Named,
    /// One of the first events shows the agent.
    Detected,
    /// The stream has no event that could show the agent.
    Fallback,
}

/// An event that no known agent writes.
#[derive(Debug)]
struct UnknownEvent {
    /// It, or its start.
    text: String,
    /// What gets one of a known agent out of it: a filter of `jq`, with its option.
    inside: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Detector {
    rules: &'static DetectRules,
    /// Who may have written the stream: one of these. None if no event shows it.
    authors: Vec<Author<'static>>,
    events: usize,
    /// Whether one of the events is whole, or follows other text. The objects in a broken event are
    /// not events.
    pub(crate) has_events: bool,
    /// The first event, if no profile knows it.
    unknown: Option<UnknownEvent>,
    /// Bytes read so far.
    at: usize,
    /// The length of the longest of these lines.
    longest: usize,
    /// No line feed is between `at` and here.
    searched: usize,
    is_over: bool,
}

impl Default for Detector {
    fn default() -> Self {
        Self::new(DetectRules::built_in())
    }
}

impl Detector {
    fn new(rules: &'static DetectRules) -> Self {
        Self {
            rules,
            authors: Vec::new(),
            events: 0,
            has_events: false,
            unknown: None,
            at: 0,
            longest: 0,
            searched: 0,
            is_over: false,
        }
    }

    /// Reads the complete lines in `bytes`, which is the stream so far, and calls `on_event` for
    /// each event. True once the agent is known, or enough was read.
    pub(crate) fn observe(&mut self, bytes: &[u8], mut on_event: impl FnMut()) -> bool {
        while !self.is_over
            && let Some(found) = memchr::memchr(b'\n', &bytes[self.searched..])
        {
            let end = self.searched + found;
            self.line(&bytes[self.at..end], &mut on_event);
            self.longest = self.longest.max(end - self.at);
            (self.at, self.searched) = (end + 1, end + 1);
            self.is_over |= self.at - self.longest >= DETECTION_BYTES_MAX;
        }
        self.searched = bytes.len();
        // A line may be as long as the check allows.
        self.is_over |= (bytes.len() - self.at) as u64 >= LINE_BYTES_MAX;
        self.is_over
    }

    /// Those of whom nothing shows yet who wrote the stream.
    pub(crate) fn candidates(&self) -> &[Author<'static>] {
        if self.authors.len() > 1 { &self.authors } else { &[] }
    }

    /// Who may have written the stream.
    pub(crate) fn finish(&mut self, bytes: &[u8]) -> Vec<Author<'static>> {
        if !self.observe(bytes, || ()) {
            self.line(&bytes[self.at..], || ());
        }
        std::mem::take(&mut self.authors)
    }

    /// The error that no agent is known, with the event that shows it.
    pub(crate) fn explained(&mut self, error: Error) -> Error {
        match (error, self.unknown.take()) {
            (Error::UnknownAgent { stream, .. }, Some(UnknownEvent { text, inside })) => {
                Error::UnknownAgent { stream, first: Some(text), inside }
            }
            (error, _) => error,
        }
    }

    fn line(&mut self, bytes: &[u8], mut on_event: impl FnMut()) {
        let line = Line::new(self.at as u64, bytes, Ending::Lf);
        let whole = parse_line(&line).ok();
        let is_broken = whole.is_none() && bytes.trim_ascii_start().starts_with(b"{");
        let glued = || glued_events(&line).next().map(|glued| glued.event);
        let Some(event) = whole.or_else(glued) else { return };
        on_event();
        // What follows a field of server-sent events is part of another format.
        let is_field = SSE_FIELDS.iter().any(|field| bytes.trim_ascii_start().starts_with(field));
        self.has_events |= !is_broken && !is_field;
        self.events += 1;
        let mut matching: Vec<Author<'_>> = self.rules.matching(event.root()).collect();
        if matching.is_empty() && self.events == 1 {
            let text = clipped(&event.text, TEXT_LINE_BYTES_MAX).into_owned();
            let inside = wrapped::filter(event.root(), self.rules);
            self.unknown = Some(UnknownEvent { text, inside });
        }
        if self.authors.len() > 1 {
            matching.retain(|author| self.authors.contains(author));
        }
        // An event that no remaining author matches changes nothing.
        if !matching.is_empty() {
            self.authors = matching;
        }
        self.is_over = match self.authors.len() {
            0 => self.events >= UNKNOWN_EVENTS_MAX,
            1 => true,
            // Versions of one agent may differ in their tool calls only.
            _ => self.events >= DETECTION_EVENTS_MAX && !are_versions(&self.authors),
        };
    }
}

/// Whether these are major versions of one agent, from the first: `opencode` and `opencode-2`.
pub(crate) fn are_versions(authors: &[Author<'_>]) -> bool {
    let [first, later @ ..] = authors else { return false };
    let is_later = |author: &Author<'_>| {
        let (name, first) = (author.agent()?, first.agent()?);
        let version = name.strip_prefix(first)?.strip_prefix('-')?;
        Some(version.bytes().all(|byte| byte.is_ascii_digit()))
    };
    !later.is_empty() && later.iter().all(|author| is_later(author) == Some(true))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::sync::OnceLock;

    use serde_json::{Map, Value, json};

    use super::table::DetectTable;
    use super::*;
    use crate::json::JsonRef;
    use crate::profile::{DEFAULT, EventRule, profile_names, profile_text};

    fn rules() -> &'static DetectRules {
        static RULES: OnceLock<DetectRules> = OnceLock::new();
        RULES.get_or_init(|| {
            let profiles = json!({
                "a": [{ "when": { "/a": { "exists": true } } }, { "when": { "/t": "x" } }],
                "b": [{ "when": { "/b": "1" } }, { "when": { "/t": "x" } }]
            });
            let unread = json!({ "c": [{ "when": { "/t": ["x", "y"] } }] });
            Cow::<DetectTable>::Owned(DetectTable::new(profiles, unread).expect("rules")).into()
        })
    }

    /// The result, and the number of events read; the bytes arrive in chunks.
    fn detect(stream: &[u8], chunk: usize) -> (String, usize) {
        let mut detector = Detector::new(rules());
        let mut events = 0;
        for end in (chunk..stream.len()).step_by(chunk) {
            if detector.observe(&stream[..end], || events += 1) {
                break;
            }
        }
        let authors = format!("{:?}", detector.finish(stream));
        (authors, detector.events.max(events))
    }

    #[test]
    fn the_first_event_that_only_one_writer_matches_decides() {
        let cases: [(&[u8], &str, usize); 9] = [
            (b"", "[]", 0),
            (b"{\"a\":1}\n{\"b\":\"1\"}\n", "[Agent(\"a\")]", 1),
            (b"{\"t\":\"z\"}\n{\"b\":\"1\"}", "[Agent(\"b\")]", 2),
            (b"Hello\n\n[1]\n{\"b\":\"1\"}\n", "[Agent(\"b\")]", 1),
            (b"Warning: { \"b\":\"1\"}\n", "[Agent(\"b\")]", 1),
            (b"{\"t\":\"x\"}\n{\"t\":\"q\"}\n{\"t\":\"y\"}\n", "[Unread(\"c\")]", 3),
            (b"{\"t\":\"x\"}\n{\"t\":\"x\"}\n", "[Agent(\"a\"), Agent(\"b\"), Unread(\"c\")]", 2),
            (b"{\"a\":1,\"b\":\"1\"}\n{\"t\":\"y\"}\n", "[Agent(\"a\"), Agent(\"b\")]", 2),
            (b"{\"a\":1,\"b\":", "[]", 0),
        ];
        for (stream, expected, events) in cases {
            for chunk in [1, 7, usize::MAX] {
                let shown = String::from_utf8_lossy(stream);
                assert_eq!(detect(stream, chunk), (expected.to_owned(), events), "{shown}");
            }
        }
    }

    #[test]
    fn no_more_is_read_than_necessary() {
        for (event, authors, events_max) in [
            (&b"{\"t\":\"z\"}\n"[..], "[]", UNKNOWN_EVENTS_MAX),
            (b"{\"a\":1,\"b\":\"1\"}\n", "[Agent(\"a\"), Agent(\"b\")]", DETECTION_EVENTS_MAX),
        ] {
            let stream = [&event.repeat(events_max), &b"{\"a\":1}\n"[..]].concat();
            assert_eq!(detect(&stream, 100), (authors.to_owned(), events_max));
            let sooner = &stream[event.len()..];
            assert_eq!(detect(sooner, 100), ("[Agent(\"a\")]".to_owned(), events_max));
        }
        let long = b"no JSON at all\n".repeat(DETECTION_BYTES_MAX / 10);
        let late = [&long[..], b"{\"a\":1}\n"].concat();
        assert_eq!(detect(&late, 1 << 16), ("[]".to_owned(), 0));
    }

    #[test]
    fn one_long_answer_does_not_end_the_detection() {
        let answer = format!("{{\"t\":\"x\",\"text\":\"{}\"}}\n", "x".repeat(DETECTION_BYTES_MAX));
        let once = [answer.as_bytes(), b"{\"b\":\"1\"}\n"].concat();
        assert_eq!(detect(&once, 1 << 16), ("[Agent(\"b\")]".to_owned(), 2));
        let twice = [answer.as_bytes(), &once].concat();
        let authors = "[Agent(\"a\"), Agent(\"b\"), Unread(\"c\")]".to_owned();
        assert_eq!(detect(&twice, 1 << 16), (authors, 2));
    }

    /// Goal: the table means what conditions of profiles mean, for each test that rules may have.
    #[test]
    fn a_table_matches_as_conditions_do() {
        let conditions = [
            json!({}),
            json!({ "/a": "x" }),
            json!({ "/a": ["x", ""] }),
            json!({ "/a": { "exists": true } }),
            json!({ "/a": { "exists": false } }),
            json!({ "/a": { "not": "x" } }),
            json!({ "/a": { "not": ["x", "y"], "exists": true } }),
            json!({ "/a": { "empty": true } }),
            json!({ "/a": { "empty": false, "exists": true } }),
            json!({ "/a": { "starts_with": "" } }),
            json!({ "/a": { "starts_with": "x" } }),
            json!({ "/a": { "matches": "^x|z$" } }),
            json!({ "/a/0/b": "x" }),
            json!({ "/a/0": { "exists": true }, "/a/1": { "exists": false } }),
            json!([{ "/a": "x" }, { "/a/0": { "starts_with": "y" }, "/b": { "exists": false } }]),
        ];
        let values =
            [json!(null), json!("x"), json!("xz"), json!(""), json!("yz"), json!(0), json!([])];
        let values = values.into_iter().chain([json!(["y"]), json!([{"b": "x"}, 1]), json!({})]);
        let mut events: Vec<Value> = values.map(|value| json!({ "a": value })).collect();
        events.extend([json!({}), json!({ "a": ["y"], "b": 1 })]);
        for when in conditions {
            let rules = json!([{ "when": when }]);
            let own: Vec<EventRule> = serde_json::from_value(rules.clone()).expect("conditions");
            let table = DetectTable::new(json!({ "a": rules }), json!({})).expect("a table");
            let table = DetectRules::from(Cow::<DetectTable>::Owned(table));
            for event in &events {
                let event = JsonRef::tree(event);
                let expected = matches(event, &own);
                assert_eq!(table.matching(event).count() == 1, expected, "{when} {event:?}");
            }
        }
    }

    #[test]
    fn a_rule_that_the_table_cannot_have_is_an_error() {
        let refused = |when: Value| {
            let rules = json!({ "a": [{ "when": when }] });
            DetectTable::new(rules, json!({})).expect_err("an error")
        };
        assert_eq!(refused(json!({ "/a": 1 })), "a: /a: a detection rule has no value 1");
        assert_eq!(refused(json!({ "/*a": "x" })), "a: a detection rule has no path /*a");
        let more = refused(json!({ "/a": { "more": 1 } }));
        assert_eq!(more, "a: /a: a detection rule has no test more: 1");
    }

    /// Goal: the table that the build writes has what the profiles have.
    #[test]
    fn every_built_in_profile_has_rules_and_they_are_used() {
        let names: Vec<&str> = profile_names().collect();
        assert_eq!(names[0], DEFAULT);
        assert!(names[1..].is_sorted());
        let mut profiles = Map::new();
        for name in names {
            let text = profile_text(name).expect("a built-in profile");
            let mut profile: Value = serde_json::from_str(text).expect("JSON");
            let own = profile["detect"].take();
            assert_eq!(own == json!([]), ["claude-like", "jsonl"].contains(&name), "{name}");
            profiles.insert(name.to_owned(), own);
        }
        let unread = serde_json::from_str(include_str!("unread.json")).expect("JSON");
        let table = DetectTable::new(profiles.into(), unread).expect("a table");
        assert_eq!(DetectRules::built_in().table(), &table);
    }
}

//! Whose stream it is, detected from its first events.
//!
//! The `detect` rules of a profile name what the events of one producer have and those of no other:
//! a key, or a value that it alone writes. `build.rs` collects those of the built-in profiles in one
//! small file, so that no profile is parsed before the stream begins.

mod replay;

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::limits::{OPENING_BYTES_MAX, OPENING_EVENTS_MAX};
use crate::profile::EventRule;
use crate::profile::builtin::DETECT;
use crate::stream::event::{self, Event, Node};
use crate::stream::line::{Line, LineReader};

use replay::Recorder;
pub use replay::Replay;

/// The name that asks for detection.
pub const AUTO: &str = "auto";

/// Why a stream is checked with this profile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProfileSource {
    /// The user named it.
    #[default]
    Named,
    /// The stream's first events are of this producer and of no other.
    Detected,
    /// They are of no known producer, and this profile is the one used then.
    Fallback,
}

/// The `detect` rules of some profiles.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct DetectRules(BTreeMap<String, Vec<EventRule>>);

impl DetectRules {
    /// Those of the built-in profiles.
    pub fn built_in() -> &'static Self {
        static BUILT_IN: OnceLock<DetectRules> = OnceLock::new();
        BUILT_IN.get_or_init(|| {
            // It is well-formed, as a test shows.
            serde_json::from_str(DETECT).unwrap_or_default()
        })
    }

    /// The names of the profiles, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The rules of a profile.
    pub fn of(&self, name: &str) -> Option<&[EventRule]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// The profiles with a rule that holds for an event.
    pub fn matching_profiles(&self, event: Node<'_>) -> impl Iterator<Item = &str> {
        let rows = self.0.iter().filter(move |(_, rules)| matches(event, rules));
        rows.map(|(name, _)| name.as_str())
    }
}

/// Whether one of these rules holds for an event.
pub fn matches(event: Node<'_>, rules: &[EventRule]) -> bool {
    rules.iter().any(|rule| rule.when.hold(event))
}

/// Whose stream it may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detection<'f> {
    /// No profile's.
    None,
    /// This one's, and no other's.
    One(&'f str),
    /// One of these, and nothing shows which.
    Several(Vec<&'f str>),
}

impl<'f> Detection<'f> {
    /// Takes an event into account. One that is like none of those that are left says nothing.
    fn observe(self, event: Node<'_>, rules: &'f DetectRules) -> Self {
        let mut names: Vec<&str> = rules.matching_profiles(event).collect();
        if let Self::Several(left) = &self {
            names.retain(|name| left.contains(name));
        }
        match names[..] {
            [] => self,
            [name] => Self::One(name),
            [_, _, ..] => Self::Several(names),
        }
    }
}

/// Reads the first events of streams, one after the other.
#[derive(Debug, Default)]
pub struct ProfileDetector {
    buffer: Vec<u8>,
}

impl ProfileDetector {
    /// Whose stream it is, as soon as its events show it, and the stream from its start. Calls
    /// `on_event` for every event: the caller may have to wait for it.
    ///
    /// A failure to read comes again when the stream is read from its start.
    pub fn detect<'f, R: Read>(
        &mut self,
        stream: R,
        rules: &'f DetectRules,
        mut on_event: impl FnMut(),
    ) -> (Detection<'f>, Replay<R>) {
        let mut recorder = Recorder::new(stream);
        let buffer = std::mem::take(&mut self.buffer);
        let mut reader = LineReader::reusing(buffer, &mut recorder, OPENING_BYTES_MAX as u64);
        let (mut detection, mut events) = (Detection::None, 0);
        // The recorder knows no error.
        'reading: while let Ok(Some(lines)) = reader.next_lines() {
            for line in lines {
                let event = event::parse(&line, &mut Vec::new()).or_else(|| behind_text(&line));
                let Some(event) = event else { continue };
                on_event();
                events += 1;
                detection = detection.observe(event.root(), rules);
                if matches!(detection, Detection::One(_)) || events == OPENING_EVENTS_MAX {
                    break 'reading;
                }
            }
        }
        self.buffer = reader.into_buffer();
        (detection, recorder.into_stream())
    }

    /// Gives it memory that has served another reader.
    pub fn lend_buffer(&mut self, buffer: Vec<u8>) {
        self.buffer = buffer;
    }

    /// The memory that detection took, for another reader.
    pub fn take_buffer(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }
}

/// The event behind text that is glued to the front of it.
fn behind_text<'a>(line: &Line<'a>) -> Option<Event<'a>> {
    let at = line.text()?.find("{\"").filter(|at| *at > 0)?;
    let rest = Line::new(line.number, line.offset + at as u64, &line.bytes[at..], line.ending);
    event::parse(&rest, &mut Vec::new())
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn rules() -> DetectRules {
        serde_json::from_str(
            r#"{
                "a": [{ "when": { "/a": { "exists": true } } }, { "when": { "/t": "x" } }],
                "b": [{ "when": { "/b": 1 } }, { "when": { "/t": "x" } }],
                "c": [{ "when": { "/t": ["x", "y"] } }]
            }"#,
        )
        .expect("rows are well-formed")
    }

    fn detect(stream: &[u8]) -> (String, Vec<u8>, usize) {
        let rules = rules();
        let mut events = 0;
        let (detection, mut replay) =
            ProfileDetector::default().detect(stream, &rules, || events += 1);
        let mut bytes = Vec::new();
        replay.read_to_end(&mut bytes).expect("memory reads");
        (format!("{detection:?}"), bytes, events)
    }

    #[test]
    fn the_first_event_of_only_one_profile_decides() {
        let cases: [(&[u8], &str, usize); 9] = [
            (b"", "None", 0),
            (b"{\"a\":1}\n{\"b\":1}\n", "One(\"a\")", 1),
            (b"{\"t\":\"z\"}\n{\"b\":1}", "One(\"b\")", 2),
            (b"Hello\n\n[1]\n{\"b\":1}\n", "One(\"b\")", 1),
            (b"Warning: {\"b\":1}\n", "One(\"b\")", 1),
            (b"{\"t\":\"x\"}\n{\"t\":\"q\"}\n{\"t\":\"y\"}\n", "One(\"c\")", 3),
            (b"{\"t\":\"x\"}\n{\"t\":\"x\"}\n", "Several([\"a\", \"b\", \"c\"])", 2),
            (b"{\"a\":1,\"b\":1}\n{\"t\":\"y\"}\n", "Several([\"a\", \"b\"])", 2),
            (b"{\"a\":1,\"b\":", "None", 0),
        ];
        for (stream, expected, events) in cases {
            let shown = String::from_utf8_lossy(stream);
            assert_eq!(detect(stream), (expected.to_owned(), stream.to_vec(), events), "{shown}");
        }
    }

    #[test]
    fn no_more_is_read_than_has_to_be() {
        let many = b"{\"t\":\"z\"}\n".repeat(OPENING_EVENTS_MAX + 1);
        let stream = [&many[..], b"{\"a\":1}\n"].concat();
        assert_eq!(detect(&stream), ("None".to_owned(), stream, OPENING_EVENTS_MAX));
        let long = b"no JSON at all\n".repeat(OPENING_BYTES_MAX / 10);
        assert_eq!(detect(&long), ("None".to_owned(), long, 0));
    }

    /// A source that fails in its middle, once.
    struct Failing(&'static [u8], bool);

    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() && !std::mem::replace(&mut self.1, true) {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            assert!(!self.0.is_empty(), "read behind its failure");
            let count = self.0.read(&mut buffer[..1])?;
            Ok(count)
        }
    }

    #[test]
    fn a_failure_is_met_again_where_it_was() {
        let rules = rules();
        let source = Failing(b"{\"t\":\"z\"}\n{\"a\"", false);
        let (detection, mut replay) = ProfileDetector::default().detect(source, &rules, || {});
        assert_eq!(detection, Detection::None);
        let mut bytes = Vec::new();
        let error = replay.read_to_end(&mut bytes).expect_err("it failed");
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        assert_eq!(bytes, b"{\"t\":\"z\"}\n{\"a\"");
    }
}

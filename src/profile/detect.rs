//! Whose stream it is, told by its first events.
//!
//! A fingerprint is what the events of one producer have and those of no other: a key, or a value
//! that it alone writes. Those of the profiles built in stand in one small file, so that nothing
//! else has to be read before a stream is begun.

mod again;

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::stream::event::{self, Event, Node};
use crate::limits::{OPENING_BYTES_MAX, OPENING_EVENTS_MAX};
use crate::stream::line::{Line, LineReader};
use crate::profile::EventRule;

pub use again::Again;
use again::Recorder;

/// What stands for the profile that the stream itself shows.
pub const AUTO: &str = "auto";

/// How the profile came to be chosen that a stream is held against.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Choice {
    /// Somebody named it.
    #[default]
    Named,
    /// The stream's first events are of this producer and of no other.
    Recognised,
    /// They are of none that is known, and this profile is the one used then.
    Default,
}

/// The fingerprints of some profiles.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Fingerprints(BTreeMap<String, Vec<EventRule>>);

impl Fingerprints {
    /// Those of the profiles built in.
    pub fn built_in() -> &'static Self {
        static BUILT_IN: OnceLock<Fingerprints> = OnceLock::new();
        BUILT_IN.get_or_init(|| {
            let rows = include_str!("builtin/fingerprints.json");
            // It is well-formed, a test holds.
            serde_json::from_str(rows).unwrap_or_default()
        })
    }

    /// The names of the profiles, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The fingerprint of a profile.
    pub fn of(&self, name: &str) -> Option<&[EventRule]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// The profiles whose fingerprint an event bears.
    pub fn borne_by(&self, event: Node<'_>) -> impl Iterator<Item = &str> {
        let rows = self.0.iter().filter(move |(_, rules)| bears(event, rules));
        rows.map(|(name, _)| name.as_str())
    }
}

/// Whether an event bears a fingerprint.
pub fn bears(event: Node<'_>, fingerprint: &[EventRule]) -> bool {
    fingerprint.iter().any(|rule| rule.when.hold(event))
}

/// Whose stream it may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Likeness<'f> {
    /// No profile's.
    None,
    /// This one's, and no other's.
    One(&'f str),
    /// One of these, and nothing tells which.
    Several(Vec<&'f str>),
}

impl<'f> Likeness<'f> {
    /// Takes an event into account. One that is like none of those that are left tells nothing.
    fn observe(self, event: Node<'_>, fingerprints: &'f Fingerprints) -> Self {
        let mut borne: Vec<&str> = fingerprints.borne_by(event).collect();
        if let Self::Several(left) = &self {
            borne.retain(|name| left.contains(name));
        }
        match borne[..] {
            [] => self,
            [name] => Self::One(name),
            [_, _, ..] => Self::Several(borne),
        }
    }
}

/// Looks at the first events of streams, one after the other.
#[derive(Debug, Default)]
pub struct Onlooker {
    buffer: Vec<u8>,
}

impl Onlooker {
    /// Whose stream it is, as soon as its events show it, and the stream from its start. `heard`
    /// is told of every event: who looks may have to wait for it.
    ///
    /// What cannot be read is met again by whoever reads the stream from its start.
    pub fn look<'f, R: Read>(
        &mut self,
        stream: R,
        fingerprints: &'f Fingerprints,
        mut heard: impl FnMut(),
    ) -> (Likeness<'f>, Again<R>) {
        let mut recorder = Recorder::new(stream);
        let buffer = std::mem::take(&mut self.buffer);
        let mut reader = LineReader::reusing(buffer, &mut recorder, OPENING_BYTES_MAX as u64);
        let (mut likeness, mut events) = (Likeness::None, 0);
        // The recorder knows no error.
        'looking: while let Ok(Some(lines)) = reader.next_lines() {
            for line in lines {
                let event = event::parse(&line, &mut Vec::new()).or_else(|| behind_text(&line));
                let Some(event) = event else { continue };
                heard();
                events += 1;
                likeness = likeness.observe(event.root(), fingerprints);
                if matches!(likeness, Likeness::One(_)) || events == OPENING_EVENTS_MAX {
                    break 'looking;
                }
            }
        }
        self.buffer = reader.into_buffer();
        (likeness, recorder.into_stream())
    }

    /// Gives it memory that has served another reader.
    pub fn lend_buffer(&mut self, buffer: Vec<u8>) {
        self.buffer = buffer;
    }

    /// The memory that looking took, for another reader.
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

    fn fingerprints() -> Fingerprints {
        serde_json::from_str(
            r#"{
                "a": [{ "when": { "/a": { "exists": true } } }, { "when": { "/t": "x" } }],
                "b": [{ "when": { "/b": 1 } }, { "when": { "/t": "x" } }],
                "c": [{ "when": { "/t": ["x", "y"] } }]
            }"#,
        )
        .expect("rows are well-formed")
    }

    fn look(stream: &[u8]) -> (String, Vec<u8>, usize) {
        let fingerprints = fingerprints();
        let mut heard = 0;
        let (likeness, mut again) = Onlooker::default().look(stream, &fingerprints, || heard += 1);
        let mut bytes = Vec::new();
        again.read_to_end(&mut bytes).expect("memory reads");
        (format!("{likeness:?}"), bytes, heard)
    }

    #[test]
    fn the_first_event_that_only_one_bears_decides() {
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
            assert_eq!(look(stream), (expected.to_owned(), stream.to_vec(), events), "{shown}");
        }
    }

    #[test]
    fn no_more_is_read_than_has_to_be() {
        let many = b"{\"t\":\"z\"}\n".repeat(OPENING_EVENTS_MAX + 1);
        let stream = [&many[..], b"{\"a\":1}\n"].concat();
        assert_eq!(look(&stream), ("None".to_owned(), stream, OPENING_EVENTS_MAX));
        let long = b"no JSON at all\n".repeat(OPENING_BYTES_MAX / 10);
        assert_eq!(look(&long), ("None".to_owned(), long, 0));
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
        let fingerprints = fingerprints();
        let source = Failing(b"{\"t\":\"z\"}\n{\"a\"", false);
        let (likeness, mut again) = Onlooker::default().look(source, &fingerprints, || {});
        assert_eq!(likeness, Likeness::None);
        let mut bytes = Vec::new();
        let error = again.read_to_end(&mut bytes).expect_err("it failed");
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        assert_eq!(bytes, b"{\"t\":\"z\"}\n{\"a\"");
    }
}

//! Detects the agent by the first events of a stream.
//!
//! The detection rules of a profile match a key or a value that only its agent writes. `build.rs`
//! collects the rules of the built-in profiles in one small file, so that nothing else is parsed
//! before a stream is checked.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::json::JsonRef;
use crate::limits::{DETECTION_BYTES_MAX, DETECTION_EVENTS_MAX, LINE_BYTES_MAX};
use crate::profile::EventRule;
use crate::profile::builtin::DETECT;
use crate::stream::{Ending, Line, glued_events, parse_line};

/// The name that requests detection.
pub(crate) const AUTO: &str = "auto";

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

/// Detection rules.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct DetectRules {
    /// By the name of the profile.
    profiles: BTreeMap<String, Vec<EventRule>>,
    /// Of formats that no profile reads, by their description.
    unread: BTreeMap<String, Vec<EventRule>>,
}

impl DetectRules {
    pub(crate) fn built_in() -> &'static Self {
        static BUILT_IN: OnceLock<DetectRules> = OnceLock::new();
        BUILT_IN
            .get_or_init(|| serde_json::from_str(DETECT).expect("a test parses the built-in rules"))
    }

    pub(crate) fn matching(&self, event: JsonRef<'_>) -> impl Iterator<Item = Author<'_>> {
        let profiles = self.profiles.iter().map(|(name, rules)| (Author::Agent(name), rules));
        let unread = self.unread.iter().map(|(format, rules)| (Author::Unread(format), rules));
        let both = profiles.chain(unread);
        both.filter(move |(_, rules)| matches(event, rules)).map(|(author, _)| author)
    }
}

pub(crate) fn matches(event: JsonRef<'_>, rules: &[EventRule]) -> bool {
    rules.iter().any(|rule| rule.when.hold(event))
}

/// Who writes an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Author<'r> {
    /// The agent of this profile.
    Agent(&'r str),
    /// No profile reads this format.
    Unread(&'r str),
}

impl<'r> Author<'r> {
    pub(crate) fn agent(self) -> Option<&'r str> {
        match self {
            Self::Agent(profile) => Some(profile),
            Self::Unread(_) => None,
        }
    }
}

impl fmt::Display for Author<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(profile) => write!(out, "a stream of {profile}"),
            Self::Unread(format) => write!(out, "{format}, which no profile reads"),
        }
    }
}

/// Who may have written a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Detection<'r> {
    /// No event shows it.
    #[default]
    None,
    One(Author<'r>),
    /// One of these; nothing shows which.
    Several(Vec<Author<'r>>),
}

impl<'r> Detection<'r> {
    /// An event that no remaining author matches changes nothing.
    fn observe(self, event: JsonRef<'_>, rules: &'r DetectRules) -> Self {
        let mut matching: Vec<Author<'_>> = rules.matching(event).collect();
        if let Self::Several(left) = &self {
            matching.retain(|author| left.contains(author));
        }
        match matching[..] {
            [] => self,
            [author] => Self::One(author),
            [_, _, ..] => Self::Several(matching),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Detector {
    rules: &'static DetectRules,
    detection: Detection<'static>,
    events: usize,
    /// Whether one of the events is whole, or follows other text.
    has_events: bool,
    /// Bytes read so far.
    at: usize,
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
            detection: Detection::None,
            events: 0,
            has_events: false,
            at: 0,
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
            (self.at, self.searched) = (end + 1, end + 1);
            self.is_over |= self.at >= DETECTION_BYTES_MAX;
        }
        self.searched = bytes.len();
        // A line may be as long as the check allows.
        self.is_over |= (bytes.len() - self.at) as u64 >= LINE_BYTES_MAX;
        self.is_over
    }

    /// Whether there is an event. The objects in a broken one are not events.
    pub(crate) fn has_events(&self) -> bool {
        self.has_events
    }

    /// The result, at the end of the stream.
    pub(crate) fn finish(&mut self, bytes: &[u8]) -> Detection<'static> {
        if !self.observe(bytes, || ()) {
            self.line(&bytes[self.at..], || ());
        }
        std::mem::take(&mut self.detection)
    }

    fn line(&mut self, bytes: &[u8], mut on_event: impl FnMut()) {
        let line = Line::new(self.at as u64, bytes, Ending::Lf);
        let whole = parse_line(&line).ok();
        let is_broken = whole.is_none() && bytes.trim_ascii_start().starts_with(b"{");
        let glued = || glued_events(&line).next().map(|glued| glued.event);
        let Some(event) = whole.or_else(glued) else { return };
        on_event();
        self.has_events |= !is_broken;
        self.events += 1;
        let detection = std::mem::take(&mut self.detection);
        self.detection = detection.observe(event.root(), self.rules);
        let is_known = matches!(self.detection, Detection::One(_));
        self.is_over = is_known || self.events == DETECTION_EVENTS_MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{DEFAULT, Profile};

    fn rules() -> &'static DetectRules {
        static RULES: OnceLock<DetectRules> = OnceLock::new();
        RULES.get_or_init(|| {
            serde_json::from_str(
                r#"{
                    "profiles": {
                        "a": [{ "when": { "/a": { "exists": true } } }, { "when": { "/t": "x" } }],
                        "b": [{ "when": { "/b": 1 } }, { "when": { "/t": "x" } }]
                    },
                    "unread": { "c": [{ "when": { "/t": ["x", "y"] } }] }
                }"#,
            )
            .expect("rules are well-formed")
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
        let detection = detector.finish(stream);
        (format!("{detection:?}"), detector.events.max(events))
    }

    #[test]
    fn the_first_event_that_only_one_writer_matches_decides() {
        let cases: [(&[u8], &str, usize); 9] = [
            (b"", "None", 0),
            (b"{\"a\":1}\n{\"b\":1}\n", "One(Agent(\"a\"))", 1),
            (b"{\"t\":\"z\"}\n{\"b\":1}", "One(Agent(\"b\"))", 2),
            (b"Hello\n\n[1]\n{\"b\":1}\n", "One(Agent(\"b\"))", 1),
            (b"Warning: { \"b\":1}\n", "One(Agent(\"b\"))", 1),
            (b"{\"t\":\"x\"}\n{\"t\":\"q\"}\n{\"t\":\"y\"}\n", "One(Unread(\"c\"))", 3),
            (
                b"{\"t\":\"x\"}\n{\"t\":\"x\"}\n",
                "Several([Agent(\"a\"), Agent(\"b\"), Unread(\"c\")])",
                2,
            ),
            (b"{\"a\":1,\"b\":1}\n{\"t\":\"y\"}\n", "Several([Agent(\"a\"), Agent(\"b\")])", 2),
            (b"{\"a\":1,\"b\":", "None", 0),
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
        let many = b"{\"t\":\"z\"}\n".repeat(DETECTION_EVENTS_MAX + 1);
        let stream = [&many[..], b"{\"a\":1}\n"].concat();
        assert_eq!(detect(&stream, 100), ("None".to_owned(), DETECTION_EVENTS_MAX));
        let long = b"no JSON at all\n".repeat(DETECTION_BYTES_MAX / 10);
        let late = [&long[..], b"{\"a\":1}\n"].concat();
        assert_eq!(detect(&late, 1 << 16), ("None".to_owned(), 0));
    }

    /// Goal: the file that the build writes has what the profiles have.
    #[test]
    fn every_built_in_profile_has_rules_and_they_are_used() {
        let names: Vec<&str> = Profile::names().collect();
        assert_eq!(names[0], DEFAULT);
        assert!(names[1..].is_sorted());
        // Not the shared rules: other tests compile their patterns meanwhile.
        let built: DetectRules = serde_json::from_str(DETECT).expect("built-in rules");
        assert_eq!(built.profiles.len(), names.len());
        for name in names {
            let own = Profile::load(name).expect("a built-in profile").0.detect;
            assert_eq!(own.is_empty(), name == "jsonl", "{name}");
            let used = &built.profiles[name];
            assert_eq!(format!("{own:?}"), format!("{used:?}"), "{name}");
        }
    }
}

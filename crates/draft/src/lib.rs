//! Drafts a profile and a schema from recordings of an agent that has no profile yet.
//!
//! The recordings are read several times: once for each part of the tag, to find what names an
//! event, then once more to count which values are where. Nothing is assumed about the producer:
//! the draft rests on counts, and the evidence reports them. The user then edits the draft.

mod call_pairs;
mod ends;
mod failure_markers;
mod fields;
mod leaves;
mod limits;
mod recording_stats;
mod statistics;
mod tag_search;
mod terminal_rules;
mod text_rules;
mod text_search;

use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};

use ndjson_check_core::{
    Error, counted,
    escape::{escaped_json, shown},
    internals::{JsonRef, each_event},
};
use serde_json::Value;

use statistics::Statistics;
use tag_search::TagSearch;

/// Most parts of a tag; each costs one reading of all recordings.
const TAG_PARTS_MAX: usize = 3;

/// A drafted profile, and the reasons for it.
#[derive(Debug, Default)]
pub struct Draft {
    /// The members of the profile, in reading order: a map would sort them.
    members: Vec<(&'static str, Value)>,
    /// The counts behind the draft, one sentence each.
    pub evidence: Vec<String>,
}

impl Draft {
    /// The profile with its schema, as a file that `--profile` accepts.
    pub fn profile(&self) -> String {
        let mut json = "{".to_owned();
        for (index, (key, value)) in self.members.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let value = format!("{value:#}").lines().collect::<Vec<_>>().join("\n  ");
            let _ = write!(json, "{comma}\n  \"{key}\": {value}");
        }
        json.push_str("\n}\n");
        // Line by line, because the escape replaces line breaks too.
        json.lines().map(|line| escaped_json(line) + "\n").collect()
    }
}

/// Opens a recording; called several times for each.
pub type Open<'o> = &'o dyn Fn(&Path) -> Result<Box<dyn Read>, Error>;

/// Drafts a profile from these recordings.
///
/// # Errors
///
/// When a recording cannot be read, or when none contains an event.
pub fn draft_profile(recordings: &[PathBuf], open: Open<'_>) -> Result<Draft, Error> {
    let recordings = Recordings { paths: recordings, open };
    let mut tag = Vec::new();
    let mut evidence = Vec::new();
    while tag.len() < TAG_PARTS_MAX {
        let mut search = TagSearch::new(&tag);
        recordings.visit(&mut search)?;
        if search.events() == 0 {
            return Err(Error::NothingToCheck {
                origin: recordings.name(),
                message: "no line is a JSON object".to_owned(),
            });
        }
        let Some((path, reason)) = search.choice() else { break };
        evidence.push(reason);
        tag.push(path);
    }
    let mut statistics = Statistics::new(&tag);
    let skipped = recordings.visit(&mut statistics)?;
    evidence.insert(0, skipped.evidence(recordings.paths.len(), statistics.events()));
    let draft = statistics.draft();
    evidence.extend(draft.evidence);
    Ok(Draft { members: draft.members, evidence })
}

/// Receives the events of all recordings, in order.
trait Visitor {
    fn event(&mut self, root: JsonRef<'_>);

    /// The recording `is_cut` if it ends inside an event.
    fn end_of_recording(&mut self, is_cut: bool);
}

struct Recordings<'a> {
    paths: &'a [PathBuf],
    open: Open<'a>,
}

impl Recordings<'_> {
    /// The name of the first.
    fn name(&self) -> String {
        self.paths.first().map(|path| path.display().to_string()).unwrap_or_default()
    }

    fn visit(&self, visitor: &mut dyn Visitor) -> Result<SkippedLines, Error> {
        let mut skipped = SkippedLines::default();
        for path in self.paths {
            let is_cut = skipped.visit(path, (self.open)(path)?, visitor)?;
            visitor.end_of_recording(is_cut);
        }
        Ok(skipped)
    }
}

#[derive(Debug, Default)]
struct SkippedLines {
    count: u64,
    first: Option<(PathBuf, u64)>,
}

impl SkippedLines {
    /// Returns whether the recording ends inside an event.
    fn visit(
        &mut self,
        path: &Path,
        source: Box<dyn Read>,
        visitor: &mut dyn Visitor,
    ) -> Result<bool, Error> {
        let read = each_event(source, &mut |line, event| {
            if let Some(event) = event {
                visitor.event(event);
            } else {
                self.count += 1;
                self.first.get_or_insert((path.to_owned(), line));
            }
        });
        let stream = || path.display().to_string();
        read.map_err(|source| Error::Read { stream: stream(), source: source.into() })
    }

    fn evidence(&self, recordings: usize, events: u64) -> String {
        let recordings = counted(recordings as u64, "recording");
        let mut evidence = format!("{recordings}, {}", counted(events, "event"));
        if let Some((path, line)) = &self.first {
            let lines = counted(self.count, "line");
            let path = shown(&path.display().to_string());
            let _ =
                write!(evidence, "; skipped {lines} without an event, first line {line} of {path}");
        }
        evidence
    }
}

/// The last token of a pointer, as it is written there.
fn last_token(pointer: &str) -> &str {
    pointer.rsplit('/').next().unwrap_or_default()
}

/// How many tokens a pointer has.
fn depth(pointer: &str) -> usize {
    pointer.matches('/').count()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::json;

    use super::{Draft, SkippedLines, depth, last_token};

    #[test]
    fn a_profile_keeps_its_order_and_escapes_what_misleads() {
        let draft = Draft {
            members: vec![("tag", json!(["/t"])), ("name", json!("\u{202e}"))],
            evidence: Vec::new(),
        };
        let profile = draft.profile();
        assert!(profile.starts_with("{\n  \"tag\": [\n    \"/t\"\n  ],\n"), "{profile}");
        assert!(profile.contains("\\u202e"), "{profile}");
    }

    #[test]
    fn the_first_line_of_evidence_counts_and_names_skipped_lines() {
        assert_eq!(SkippedLines::default().evidence(2, 1), "2 recordings, 1 event");
        let skipped = SkippedLines { count: 3, first: Some((PathBuf::from("a.ndjson"), 7)) };
        let evidence = "1 recording, 2 events; skipped 3 lines without an event, first line 7 of \
            `a.ndjson`";
        assert_eq!(skipped.evidence(1, 2), evidence);
    }

    #[test]
    fn pointers_have_a_last_token_and_a_depth() {
        assert_eq!((last_token("/a/b~1c"), depth("/a/b~1c")), ("b~1c", 2));
        assert_eq!((last_token(""), depth("")), ("", 0));
    }
}

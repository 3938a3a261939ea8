//! `events`: the normal form, one event on each line.

use serde::Serialize;

use super::normal::NormalEvent;
use super::normal_target::{EventTime, NormalTarget};

pub(super) struct NormalLines;

#[derive(Serialize)]
struct NormalLine<'a> {
    #[serde(flatten)]
    event: &'a NormalEvent<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_ms: Option<u64>,
}

impl NormalTarget for NormalLines {
    fn event(&mut self, at: EventTime, event: &NormalEvent<'_>, out: &mut String) {
        let EventTime { line, time_ms } = at;
        // Strings, numbers and maps with names as keys can always be written.
        if let Ok(line) = serde_json::to_string(&NormalLine { event, line, time_ms }) {
            out.push_str(&line);
            out.push('\n');
        }
    }
}

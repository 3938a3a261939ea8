//! `json`: the single object that the agent writes in its non-streaming format (contract J1 to
//! J3).

use ndjson_check_core::escape::escaped_json;
use ndjson_check_core::{CheckedLine, Outcome, StreamSummary};

use crate::Output;

pub(super) struct ObjectFormatter {
    is_raw: bool,
    object: String,
}

impl ObjectFormatter {
    /// Unless `is_raw`, what misleads a terminal is escaped; the JSON stays equal.
    pub(super) fn new(is_raw: bool) -> Self {
        Self { is_raw, object: String::new() }
    }
}

impl Output for ObjectFormatter {
    fn event(&mut self, event: &CheckedLine<'_>, _: &mut String) {
        let Some(object) = event.single_object() else { return };
        self.object = if self.is_raw { object } else { escaped_json(&object) };
        self.object.push('\n');
    }

    fn summary(&mut self, summary: &StreamSummary, out: &mut String) {
        if summary.outcome == Outcome::Succeeded {
            out.push_str(&self.object);
        }
    }
}

//! `json`: the single object that the agent writes in its non-streaming format (contract J1 to
//! J3).

use std::sync::Arc;

use super::Formatter;
use crate::check::{CheckedEvent, Outcome, StreamSummary};
use crate::json;
use crate::profile::Profile;
use crate::rules::escape::escaped_json;
use crate::stream::Ending;

pub(super) struct ObjectFormatter {
    profile: Arc<Profile>,
    is_raw: bool,
    object: String,
}

impl ObjectFormatter {
    /// Unless `is_raw`, what misleads a terminal is escaped; the JSON stays equal.
    pub(super) fn new(profile: &Arc<Profile>, is_raw: bool) -> Self {
        Self { profile: Arc::clone(profile), is_raw, object: String::new() }
    }
}

impl Formatter for ObjectFormatter {
    fn event(&mut self, event: &CheckedEvent<'_>, _: &mut Vec<u8>) {
        let Some(end) = event.facts.terminal().filter(|_| event.is_in_run()) else { return };
        let order = self.profile.single_object.as_ref().map_or(&[][..], |single| &single.order);
        // Members that the profile does not list come last, in their own order.
        let rank = |key: &str| {
            let key = key.trim_matches('"');
            order.iter().position(|listed| listed == key).unwrap_or(order.len())
        };
        let mut members = json::members(end.source);
        members.sort_by_key(|(key, _)| rank(key));
        let members = members.iter().map(|(key, value)| format!("{key}:{value}"));
        let mut object = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
        if event.line.ending == Ending::Element {
            object = String::from_utf8_lossy(&json::compact(object.as_bytes())).into_owned();
        }
        self.object = if self.is_raw { object } else { escaped_json(&object) };
        self.object.push('\n');
    }

    fn finish(&mut self, summary: &StreamSummary, out: &mut Vec<u8>) {
        if summary.outcome == Outcome::Succeeded {
            out.extend_from_slice(self.object.as_bytes());
        }
    }
}

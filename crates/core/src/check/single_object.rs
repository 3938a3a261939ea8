//! The single object that an agent writes in its non-streaming format (contract J1 to J3).

use super::CheckedLine;
use crate::json;
use crate::stream::Ending;

impl CheckedLine<'_> {
    /// The single object of the agent's non-streaming format as JSON, if this event ends the run.
    pub fn single_object(&self) -> Option<String> {
        let end = self.facts.terminal().filter(|_| self.is_in_run())?;
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
        if self.line.ending == Ending::Element {
            object = String::from_utf8_lossy(&json::compact(object.as_bytes())).into_owned();
        }
        Some(object)
    }
}

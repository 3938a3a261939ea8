//! `json`: the single object that the producer writes in its non-streaming format (J1 to J3).

use super::{Converter, Seen};
use crate::facts::Fact;
use crate::profile::Profile;
use crate::check::verdict::Outcome;
use crate::rules::escape::escaped_json;

pub(super) struct Json<'p> {
    profile: &'p Profile,
    raw: bool,
    object: String,
}

impl<'p> Json<'p> {
    /// Unless `raw`, what misleads a terminal is escaped: the same JSON.
    pub(super) fn new(profile: &'p Profile, raw: bool) -> Self {
        Self { profile, raw, object: String::new() }
    }
}

impl Converter for Json<'_> {
    fn event(&mut self, seen: &Seen<'_, '_>, _: &mut Vec<u8>) {
        let ends = seen.facts.list().iter().any(|fact| matches!(fact, Fact::Terminal(_)));
        let Some(event) = seen.event.filter(|_| seen.in_run && ends) else { return };
        let order = self.profile.single_object.as_ref().map_or(&[][..], |single| &single.order);
        let mut members = event.members();
        // Those the profile does not name come last, in their own order.
        let rank = |key: &str| {
            order.iter().position(|it| it == key.trim_matches('"')).unwrap_or(order.len())
        };
        members.sort_by_key(|(key, _)| rank(key));
        let members = members.iter().map(|(key, value)| format!("{key}:{value}"));
        let object = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
        self.object = if self.raw { object } else { escaped_json(&object) };
        self.object.push('\n');
    }

    fn finish(&mut self, outcome: Outcome, out: &mut Vec<u8>) {
        if outcome == Outcome::Succeeded {
            out.extend_from_slice(self.object.as_bytes());
        }
    }
}

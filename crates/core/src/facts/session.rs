//! What an event says of its session, and of its place in it.

use super::Unavailable;
use super::details::scalar;
use super::reader::Rare;
use super::tag_rules::TagRules;
use crate::json::JsonRef;
use crate::limits::SESSION_LIST_MAX;
use crate::profile::{EventOrder, Profile};

/// What the event says of its place: a number, or its id.
pub(super) fn order<'e>(profile: &Profile, root: JsonRef<'e>) -> Option<JsonRef<'e>> {
    match profile.session.order.as_ref()? {
        EventOrder::Number { number } => number.find(root).filter(|it| it.is_number()),
        EventOrder::Id { id } => id.find(root).filter(|it| it.is_string()),
    }
}

/// The directory in which the agent works, in an event that starts a session.
pub(super) fn directory<'e>(profile: &Profile, root: JsonRef<'e>, rare: &mut Rare<'e>) {
    let directory = profile.session.directory.as_ref().and_then(|path| path.find(root)?.as_str());
    if directory.is_some() {
        rare.get_or_insert_default().directory = directory;
    }
}

pub(super) fn unavailable(
    profile: &Profile,
    rules: &TagRules,
    root: JsonRef<'_>,
    rare: &mut Rare<'_>,
) {
    for rule in rules.unavailable(profile, root) {
        let named = rule.of.objects(root).filter_map(|scope| {
            let why = rule.why.as_ref().and_then(|path| scalar(path, scope));
            let name = scalar(&rule.name, scope)?;
            let name = match &rule.matches {
                Some(pattern) => pattern.group(&name, "name")?.to_owned(),
                None => name,
            };
            Some(Unavailable { is: rule.is, name, why })
        });
        let named: Vec<_> = named.take(SESSION_LIST_MAX).collect();
        if !named.is_empty() {
            rare.get_or_insert_default().unavailable.extend(named);
        }
    }
}

pub(super) fn time<'e>(
    profile: &Profile,
    root: JsonRef<'e>,
    reads_all_times: bool,
) -> Option<JsonRef<'e>> {
    let time = profile.session.time.as_ref().and_then(|path| path.find(root));
    time.filter(|time| time.is_number()).or_else(|| {
        let mut times = profile.session.times.iter().filter(|_| reads_all_times);
        times.find_map(|path| path.find(root)).filter(|it| it.is_number() || it.is_string())
    })
}

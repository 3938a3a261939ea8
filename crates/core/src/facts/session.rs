//! What an event says of its session, and of its place in it.

use super::reader::Rare;
use crate::json::JsonRef;
use crate::profile::path::Path;
use crate::profile::{EventOrder, Profile};

/// What the event says of its place: a number, or strings.
pub(super) fn order<'e>(profile: &Profile, root: JsonRef<'e>) -> [Option<JsonRef<'e>>; 2] {
    let text = |path: &Path| path.find(root).filter(|it| it.is_string());
    match &profile.session.order {
        None => [None, None],
        Some(EventOrder::Number { number }) => {
            [number.find(root).filter(|it| it.is_number()), None]
        }
        Some(EventOrder::Link { id, after }) => [text(id), text(after)],
    }
}

/// The directory in which the agent works, in an event that starts a session.
pub(super) fn directory<'e>(profile: &Profile, root: JsonRef<'e>, rare: &mut Rare<'e>) {
    let directory = profile.session.directory.as_ref().and_then(|path| path.find(root)?.as_str());
    if directory.is_some() {
        rare.get_or_insert_default().directory = directory;
    }
}

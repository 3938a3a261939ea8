//! The names that the profile does not know: each once, counted, with its first line.

use std::collections::BTreeMap;

use crate::check::unknown::{UnknownKind, UnknownName};
use crate::limits::{CALL_ID_BYTES_MAX, NAMES_MAX};
use crate::rules::escape::clipped;

#[derive(Debug, Default)]
pub(crate) struct UnknownNames {
    /// By what the name is of, and the name.
    names: BTreeMap<String, BTreeMap<String, SeenName>>,
    length: usize,
    pub(crate) has_overflowed: bool,
}

#[derive(Debug, Clone, Copy)]
struct SeenName {
    count: u64,
    line: u64,
}

impl UnknownNames {
    /// Counts a name; true if it is new and within the bound.
    pub(crate) fn count(&mut self, of: &str, name: &str, line: u64) -> bool {
        let (of, name) = (clipped(of, CALL_ID_BYTES_MAX), clipped(name, CALL_ID_BYTES_MAX));
        let known = self.names.get_mut(of.as_ref());
        if let Some(seen) = known.and_then(|names| names.get_mut(name.as_ref())) {
            seen.count += 1;
            return false;
        }
        let has_room = self.length < NAMES_MAX;
        if has_room {
            let names = self.names.entry(of.into_owned()).or_default();
            names.insert(name.into_owned(), SeenName { count: 1, line });
            self.length += 1;
        }
        self.has_overflowed |= !has_room;
        has_room
    }

    /// The names in their order.
    pub(crate) fn list(&self, kind: UnknownKind) -> impl Iterator<Item = UnknownName> {
        let all = self.names.iter().flat_map(|(of, names)| names.iter().map(move |it| (of, it)));
        all.map(move |(of, (name, SeenName { count, line }))| UnknownName {
            kind,
            of: Some(of.clone()).filter(|of| !of.is_empty()),
            name: name.clone(),
            count: *count,
            line: *line,
        })
    }
}

//! The names that the profile does not know: each once, counted, with its first line.

use std::collections::BTreeMap;

use crate::check::unknown::{UnknownKind, UnknownName};
use crate::limits::{CALL_ID_BYTES_MAX, NAMES_MAX};
use crate::rules::escape::clipped;

/// A bounded table of names of one kind.
#[derive(Debug)]
pub(crate) struct UnknownNames {
    kind: UnknownKind,
    /// By what the name is of, and the name.
    names: BTreeMap<(String, String), SeenName>,
    has_overflowed: bool,
}

#[derive(Debug, Clone, Copy)]
struct SeenName {
    count: u64,
    line: u64,
}

impl UnknownNames {
    pub(crate) fn new(kind: UnknownKind) -> Self {
        Self { kind, names: BTreeMap::new(), has_overflowed: false }
    }

    /// Counts a name; true if it is new and within the bound.
    pub(crate) fn count(&mut self, of: &str, name: &str, line: u64) -> bool {
        let clip = |text: &str| clipped(text, CALL_ID_BYTES_MAX).into_owned();
        let key = (clip(of), clip(name));
        if let Some(seen) = self.names.get_mut(&key) {
            seen.count += 1;
            return false;
        }
        let has_room = self.names.len() < NAMES_MAX;
        if has_room {
            self.names.insert(key, SeenName { count: 1, line });
        }
        self.has_overflowed |= !has_room;
        has_room
    }

    pub(crate) fn has_overflowed(&self) -> bool {
        self.has_overflowed
    }

    /// The names in their order.
    pub(crate) fn list(&self) -> impl Iterator<Item = UnknownName> {
        self.names.iter().map(|((of, name), SeenName { count, line })| UnknownName {
            kind: self.kind,
            of: Some(of.clone()).filter(|of| !of.is_empty()),
            name: name.clone(),
            count: *count,
            line: *line,
        })
    }
}

//! `text`: one line for each action, as it happens (T1).

use super::actions::Actions;
use super::{Converter, Seen};
use crate::profile::Profile;

pub(super) struct Text<'p> {
    actions: Actions<'p>,
}

impl<'p> Text<'p> {
    pub(super) fn new(profile: &'p Profile, raw: bool) -> Self {
        Self { actions: Actions::new(profile, raw) }
    }
}

impl Converter for Text<'_> {
    fn event(&mut self, seen: &Seen<'_, '_>, out: &mut Vec<u8>) {
        for line in self.actions.lines(seen) {
            out.extend_from_slice(line.as_bytes());
            out.push(b'\n');
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        for line in self.actions.unfinished() {
            out.extend_from_slice(line.as_bytes());
            out.push(b'\n');
        }
    }
}

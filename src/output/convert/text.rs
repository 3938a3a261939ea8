//! `text`: one line for each action, as it happens (contract T1).

use std::sync::Arc;

use super::Formatter;
use super::actions::Actions;
use crate::check::CheckedEvent;
use crate::profile::Profile;

pub(super) struct TextFormatter {
    actions: Actions,
}

impl TextFormatter {
    pub(super) fn new(profile: &Arc<Profile>, is_raw: bool) -> Self {
        Self { actions: Actions::new(profile, is_raw) }
    }
}

impl Formatter for TextFormatter {
    fn event(&mut self, event: &CheckedEvent<'_>, out: &mut Vec<u8>) {
        write(&self.actions.lines(event), out);
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        write(&self.actions.unfinished(), out);
    }
}

fn write(lines: &[String], out: &mut Vec<u8>) {
    for line in lines {
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
    }
}

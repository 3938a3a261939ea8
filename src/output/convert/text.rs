//! `text`: one line for each action, as it happens (contract T1).

use std::sync::Arc;

use super::Formatter;
use super::actions::Actions;
use super::details::DetailLines;
use super::log::{Log, LogLine};
use crate::check::CheckedEvent;
use crate::profile::Profile;

pub(super) struct TextFormatter {
    log: Log,
    actions: Actions,
    details: Option<DetailLines>,
}

impl TextFormatter {
    pub(super) fn new(profile: &Arc<Profile>, log: &Log) -> Self {
        let (actions, details) = (Actions::new(profile, log), DetailLines::new(profile, log));
        Self { log: log.clone(), actions, details }
    }

    fn write(&self, lines: &[LogLine], out: &mut Vec<u8>) {
        let mut text = String::new();
        for line in lines {
            self.log.write(line, ("", ""), &mut text);
        }
        out.extend_from_slice(text.as_bytes());
    }
}

impl Formatter for TextFormatter {
    fn event(&mut self, event: &CheckedEvent<'_>, out: &mut Vec<u8>) {
        let mut lines = self.actions.lines(event);
        if let Some(details) = &mut self.details {
            lines.splice(..0, details.lines(event));
        }
        self.write(&lines, out);
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        let open = self.details.as_mut().and_then(DetailLines::end);
        let lines: Vec<LogLine> = open.into_iter().chain(self.actions.unfinished()).collect();
        self.write(&lines, out);
    }
}

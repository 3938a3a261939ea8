//! What profiles do not know of the streams of a new version, as text.

use std::fmt::Write as _;

use super::stats::StatsTotals;
use super::stats_text::agent;
use super::unknown_text;
use crate::check::{StreamSummary, counted};

/// Collects what the profiles do not know of some streams.
#[derive(Debug, Default)]
pub(crate) struct DriftReport {
    totals: StatsTotals,
}

impl DriftReport {
    /// Adds a stream, which was checked with its figures.
    pub(crate) fn add(&mut self, stream: &StreamSummary) {
        self.totals.add(&stream.into());
    }

    /// A part for each version of an agent, without what these known streams have, too; and how
    /// many names there are.
    pub(crate) fn text(&self, known: &Self) -> (String, usize) {
        let mut text = String::new();
        let mut count = 0;
        for (of, names) in self.totals.unknown_without(&known.totals) {
            let sum = self.totals.agents.named.get(of);
            let streams = counted(sum.map_or(0, |sum| sum.streams), "stream");
            let news = match names.len() {
                0 => "nothing new".to_owned(),
                count => format!("{count} new"),
            };
            let _ = writeln!(text, "{}, {streams}: {news}", agent(&of.0, of.1.as_deref()));
            for (unknown, found) in &names {
                let _ = writeln!(text, "  {}", unknown_text::line(unknown, found));
            }
            count += names.len();
        }
        if self.totals.unknown.others.is_some() || self.totals.agents.others.is_some() {
            text += "There is more: check fewer streams.\n";
        }
        (text, count)
    }
}

//! The answer about several streams.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ndjson_check_core::counted;

use super::headline::TRIED_AGAIN;
use super::{Headline, RunTotals};

/// How many streams passed, and how many did not for each reason.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    passed: u64,
    reasons: BTreeMap<&'static str, u64>,
}

impl Answers {
    /// Counts a stream.
    pub fn add(&mut self, headline: &Headline) {
        if headline.passed {
            self.passed += 1;
        } else {
            *self.reasons.entry(headline.group).or_default() += 1;
        }
    }

    /// One sentence about all streams, the most frequent reason first: `3 streams: 2 × cut short, 1
    /// passed`, or `4 streams: 3 did not pass (2 × cut short, 1 × failed), 1 passed`.
    pub fn text(&self, totals: &RunTotals) -> String {
        let mut reasons: Vec<(&str, u64)> = self.reasons.iter().map(|it| (*it.0, *it.1)).collect();
        reasons.sort_by_key(|(_, count)| Reverse(*count));
        let (tried, bad): (Vec<_>, Vec<_>) =
            reasons.into_iter().partition(|(reason, _)| *reason == TRIED_AGAIN);
        let grouped = |(reason, count)| format!("{count} × {reason}");
        let failed: u64 = bad.iter().map(|(_, count)| count).sum();
        let mut bad: Vec<String> = bad.into_iter().map(grouped).collect();
        if bad.len() > 1 {
            bad = vec![format!("{failed} did not pass ({})", bad.join(", "))];
        }
        let others = [("not checked", totals.not_checked), ("passed", self.passed)];
        let others = others.into_iter().filter(|(_, count)| *count > 0);
        let others = others.map(|(what, count)| format!("{count} {what}"));
        let all: Vec<String> =
            bad.into_iter().chain(others).chain(tried.into_iter().map(grouped)).collect();
        let streams = counted(totals.streams + totals.not_checked, "stream");
        let stale = match totals.stale {
            0 => String::new(),
            count => {
                let known = counted(count, "finding");
                format!("; {known} of the baseline did not occur: `--write-baseline` renews it")
            }
        };
        format!("{streams}: {}{stale}", all.join(", "))
    }
}

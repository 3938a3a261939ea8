//! The diagnostics of one stream: severities, counts, suppression.

use std::collections::BTreeMap;

use super::{Note, Observer};
use crate::limits::PRINTED_PER_RULE_MAX;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::{Rule, Severities, Severity};

#[derive(Debug)]
pub(super) struct Findings<'c> {
    severities: &'c Severities,
    pub(super) pending: Vec<Diagnostic>,
    counts: Vec<u64>,
    /// The first line that looks like an event and is not a usable one.
    pub(super) first_lost_line: Option<u64>,
    pub(super) is_last_line_lost: bool,
}

impl<'c> Findings<'c> {
    pub(super) fn new(severities: &'c Severities) -> Self {
        let counts = vec![0; Rule::ALL.len()];
        Self {
            severities,
            pending: Vec::new(),
            counts,
            first_lost_line: None,
            is_last_line_lost: false,
        }
    }

    pub(super) fn is_error(&self, rule: Rule) -> bool {
        self.severities.of(rule) == Some(Severity::Error)
    }

    /// A line that may have been an event is lost: what it would explain is not reported.
    pub(super) fn lost_line(&mut self, line: u64) {
        self.first_lost_line.get_or_insert(line);
    }

    pub(super) fn count(&self, rule: Rule) -> u64 {
        self.counts[rule as usize]
    }

    /// Counts a diagnostic without building it, if it would not be reported anyway.
    pub(super) fn is_counted_only(&mut self, rule: Rule) -> bool {
        let count = &mut self.counts[rule as usize];
        let is_on = self.severities.of(rule).is_some();
        let counted_only = !is_on || *count >= PRINTED_PER_RULE_MAX;
        *count += u64::from(is_on && counted_only);
        counted_only
    }

    pub(super) fn report(&mut self, out: &mut dyn Observer) {
        if self.pending.is_empty() {
            return;
        }
        out.flush();
        for diagnostic in std::mem::take(&mut self.pending) {
            let rule = diagnostic.rule;
            if self.is_explained_by_lost_line(rule) {
                continue;
            }
            let Some(severity) = self.severities.of(rule) else { continue };
            let count = &mut self.counts[rule as usize];
            *count += 1;
            if *count <= PRINTED_PER_RULE_MAX {
                out.diagnostic(&Diagnostic { severity, ..diagnostic });
            }
        }
        out.flush();
    }

    /// Whether what seems to be missing may have been in a line that is not a usable event. That
    /// line has been reported, once, as an error.
    fn is_explained_by_lost_line(&self, rule: Rule) -> bool {
        self.first_lost_line.is_some() && rule.needs_every_line()
            || self.is_last_line_lost && rule == Rule::MissingTerminalEvent
    }

    pub(super) fn rule_counts(&self) -> BTreeMap<Rule, u64> {
        let counts = Rule::ALL.iter().copied().zip(self.counts.iter().copied());
        counts.filter(|(_, count)| *count > 0).collect()
    }

    pub(super) fn total(&self, severity: Severity) -> u64 {
        let counts = Rule::ALL.iter().zip(&self.counts);
        let counts = counts.filter(|(rule, _)| self.severities.of(**rule) == Some(severity));
        counts.map(|(_, count)| count).sum()
    }

    pub(super) fn notes(&self) -> Vec<Note> {
        let omitted = Rule::ALL.iter().zip(&self.counts).filter_map(|(&rule, &count)| {
            let count = count.checked_sub(PRINTED_PER_RULE_MAX).filter(|count| *count > 0)?;
            Some(Note::DiagnosticsOmitted { rule, count })
        });
        omitted.collect()
    }
}

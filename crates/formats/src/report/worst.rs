//! Findings in a list of bounded size: no error is left out while a warning stays.

use ndjson_check_core::{Diagnostic, Severity, StreamSummary, counted};

/// Items in the order in which they came, as many as have room together. A warning goes to make
/// room for an error.
#[derive(Debug)]
pub(super) struct WorstItems<T> {
    /// With their sizes.
    items: Vec<(Severity, usize, T)>,
    warnings: usize,
    /// The sum of their sizes.
    used: usize,
    /// No later warning stays where an earlier one went.
    is_full: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SeverityCounts {
    pub(super) errors: u64,
    pub(super) warnings: u64,
}

impl<T> Default for WorstItems<T> {
    fn default() -> Self {
        Self { items: Vec::new(), warnings: 0, used: 0, is_full: false }
    }
}

impl<T> WorstItems<T> {
    /// `max` is the room for all items.
    pub(super) fn add(&mut self, max: usize, severity: Severity, size: usize, item: T) {
        while size > max - self.used && severity == Severity::Error && self.warnings > 0 {
            self.is_full = true;
            let last = self.items.iter().rposition(|it| it.0 == Severity::Warning);
            let Some(last) = last else { break };
            self.used -= self.items.remove(last).1;
            self.warnings -= 1;
        }
        if size > max - self.used || self.is_full && severity == Severity::Warning {
            self.is_full = true;
            return;
        }
        self.used += size;
        self.warnings += usize::from(severity == Severity::Warning);
        self.items.push((severity, size, item));
    }

    pub(super) fn counts(&self) -> SeverityCounts {
        let errors = (self.items.len() - self.warnings) as u64;
        SeverityCounts { errors, warnings: self.warnings as u64 }
    }

    pub(super) fn into_items(self) -> impl Iterator<Item = T> {
        self.items.into_iter().map(|(_, _, item)| item)
    }
}

impl<'d> FromIterator<&'d Diagnostic> for SeverityCounts {
    fn from_iter<I: IntoIterator<Item = &'d Diagnostic>>(found: I) -> Self {
        let mut counts = Self::default();
        found.into_iter().for_each(|it| counts.add(it.severity));
        counts
    }
}

impl SeverityCounts {
    pub(super) fn of(summary: &StreamSummary) -> Self {
        Self { errors: summary.errors, warnings: summary.warnings }
    }

    pub(super) fn plus(self, more: Self) -> Self {
        Self { errors: self.errors + more.errors, warnings: self.warnings + more.warnings }
    }

    /// All as warnings: those of an attempt that was tried again.
    pub(super) fn lowered(self) -> Self {
        Self { errors: 0, warnings: self.errors + self.warnings }
    }

    pub(super) fn add(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
    }

    pub(super) fn without(self, shown: Self) -> Self {
        Self {
            errors: self.errors.saturating_sub(shown.errors),
            warnings: self.warnings.saturating_sub(shown.warnings),
        }
    }

    /// How many more there are of each, for a sentence; none if there are no more.
    pub(super) fn more(self) -> Option<String> {
        let counts = [(self.errors, "more error"), (self.warnings, "more warning")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, what)| counted(*count, what)).collect();
        (!counts.is_empty()).then(|| counts.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_stay_and_warnings_go() {
        let mut items = WorstItems::default();
        for number in 0..1_200 {
            let severity = if number < 600 { Severity::Warning } else { Severity::Error };
            items.add(1_000, severity, 1, number);
        }
        items.add(1_000, Severity::Warning, 1, 1_200);
        assert_eq!(items.counts(), SeverityCounts { errors: 600, warnings: 400 });
        assert!(items.into_items().eq((0..400).chain(600..1_200)));
    }

    #[test]
    fn the_room_is_never_exceeded() {
        let mut items = WorstItems::default();
        for (severity, size) in
            [(Severity::Warning, 6), (Severity::Warning, 4), (Severity::Error, 5)]
        {
            items.add(10, severity, size, size);
        }
        assert!(items.into_items().eq([5]), "a warning of 6 and an error of 5 need 11");
        let mut items = WorstItems::default();
        items.add(10, Severity::Error, 11, ());
        assert_eq!(items.counts(), SeverityCounts::default());
    }

    #[test]
    fn what_is_missing_is_said_of_each_kind() {
        let counts = |errors, warnings| SeverityCounts { errors, warnings };
        assert_eq!(counts(0, 0).more(), None);
        assert_eq!(counts(1, 0).more().as_deref(), Some("1 more error"));
        assert_eq!(counts(2, 1).more().as_deref(), Some("2 more errors and 1 more warning"));
        assert_eq!(counts(2, 1).without(counts(1, 1)), counts(1, 0));
    }
}

//! What a stream shows of a question.

use super::seen_call::SeenCall;

/// From "it is not so" to "it is so". The least of several is whether all are so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Truth {
    #[default]
    No,
    /// The stream does not show it.
    Unknown,
    Yes,
}

impl Truth {
    pub(super) fn negated(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Unknown => Self::Unknown,
            Self::Yes => Self::No,
        }
    }
}

impl From<bool> for Truth {
    fn from(is_so: bool) -> Self {
        if is_so { Self::Yes } else { Self::No }
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    pub(super) sure: u64,
    /// Those of which the stream does not show whether they belong to them.
    pub(super) unsure: u64,
    /// The first lines of the sure ones.
    pub(super) lines: Vec<u64>,
    /// The first lines of the others.
    pub(super) unsure_lines: Vec<u64>,
    /// What the first sure one did, if an event shows it.
    pub(super) detail: Box<str>,
}

const LINES_NAMED_MAX: usize = 10;

impl Tally {
    pub(super) fn add(&mut self, truth: Truth, line: u64) {
        let (count, lines) = match truth {
            Truth::No => return,
            Truth::Unknown => (&mut self.unsure, &mut self.unsure_lines),
            Truth::Yes => (&mut self.sure, &mut self.lines),
        };
        *count += 1;
        if lines.len() < LINES_NAMED_MAX {
            lines.push(line);
        }
    }

    pub(super) fn add_call(&mut self, truth: Truth, call: &SeenCall) {
        if truth == Truth::Yes && self.sure == 0 {
            self.detail = call.detail.clone();
        }
        self.add(truth, call.line);
    }

    /// Discards what was counted if this is so; what may be so makes it unsure.
    pub(super) fn discard_if(&mut self, is_so: Truth) {
        match is_so {
            Truth::No => {}
            Truth::Yes => *self = Self::default(),
            Truth::Unknown => {
                self.unsure += std::mem::take(&mut self.sure);
                self.detail = Box::default();
                self.unsure_lines.append(&mut self.lines);
                self.unsure_lines.sort_unstable();
                self.unsure_lines.truncate(LINES_NAMED_MAX);
            }
        }
    }

    /// Whether there are at least `needed`; `hidden` more may be there.
    pub(super) fn reaches(&self, needed: u64, hidden: u64) -> Truth {
        let possible = self.sure.saturating_add(self.unsure).saturating_add(hidden);
        match () {
            () if self.sure >= needed => Truth::Yes,
            () if possible >= needed => Truth::Unknown,
            () => Truth::No,
        }
    }

    pub(super) fn stays_within(&self, allowed: u64, hidden: u64) -> Truth {
        match self.reaches(allowed.saturating_add(1), hidden) {
            Truth::Yes => Truth::No,
            Truth::Unknown => Truth::Unknown,
            Truth::No => Truth::Yes,
        }
    }
}

/// `see line 3`, `see lines 3, 8 and 2 more`; nothing if there is none.
pub(super) fn lines(lines: &[u64], count: u64) -> Option<String> {
    let more = count.saturating_sub(lines.len() as u64);
    let mut named: Vec<String> = lines.iter().map(u64::to_string).collect();
    // Several calls may be in one line.
    named.dedup();
    match (named.len(), more) {
        (0, _) => None,
        (1, 0) => Some(format!("see line {}", named[0])),
        (_, 0) => Some(format!("see lines {}", named.join(", "))),
        (1, _) => Some(format!("see line {} and later ones", named[0])),
        (_, more) => Some(format!("see lines {} and {more} more", named.join(", "))),
    }
}

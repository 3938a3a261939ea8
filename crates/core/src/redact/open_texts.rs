//! The open texts of one place, and which of them a string goes on.

use ndjson_check_secrets::SecretFinder;

use super::held::HeldLines;
use super::open_text::{OpenPart, OpenText, SearchedString, replace};
use crate::limits::HELD_EVENTS_MAX;

/// The open texts of one place.
#[derive(Debug, Default)]
pub(super) struct OpenTexts(Vec<OpenText>);

/// The shortest start of a secret that is replaced at the end of a text that no profile knows.
const CUT_BYTES_MIN: usize = 12;

/// The text of lines that are not JSON.
pub(super) const PLAIN: u64 = u64::MAX;

/// Most open texts of one place.
const OPEN_TEXTS_MAX: usize = 8;

impl OpenTexts {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Decides about the texts that no event has gone on for a while.
    pub(super) fn expire(&mut self, next: u64, finder: &SecretFinder, held: &mut HeldLines) {
        self.end(|open| open.event + HELD_EVENTS_MAX < next, finder, held);
    }

    fn end(
        &mut self,
        mut is_over: impl FnMut(&OpenText) -> bool,
        finder: &SecretFinder,
        held: &mut HeldLines,
    ) {
        self.0.retain(|open| {
            let is_over = is_over(open);
            if is_over {
                open.replace_likely(finder, held);
            }
            !is_over
        });
    }

    /// The first line that they need.
    pub(super) fn first_line(&self) -> Option<u64> {
        self.0.iter().filter_map(OpenText::first_line).min()
    }

    /// Takes a string, which may go on one of them, and begin another.
    pub(super) fn take(
        &mut self,
        string: &SearchedString<'_>,
        finder: &SecretFinder,
        held: &mut HeldLines,
    ) {
        let mut before = std::mem::take(&mut self.0);
        before.sort_by_key(|open| open.origin);
        let mut own = OpenText::start_of(string);
        let is_other_event = |open: &OpenText| open.event != string.event;
        let may_go_on = |open: &OpenText| is_other_event(open) && open.key.is_same(string.key);
        let is_expected = string.key.known.is_some() || before.iter().any(may_go_on);
        let is_copy = before.iter().any(|it| is_other_event(it) && it.is_copied_by(string));
        let mut covered = 0;
        let mut gone_on = Vec::new();
        for open in before {
            let is_same = open.key.is_same(string.key);
            let is_of_known = open.key.known.is_some() && !is_same;
            if !is_other_event(&open) || is_of_known || (is_expected && !is_same) {
                self.0.push(open);
                continue;
            }
            if open.is_copied_by(string) {
                open.grow(string, own.as_mut(), finder, held);
                continue;
            }
            // It began inside a secret that goes on to here, or nothing goes it on.
            if is_same && (covered > 0 || is_copy) {
                open.replace_likely(finder, held);
                continue;
            }
            let origin = (!open.is_guess && is_same).then_some(open.origin);
            let continued = open.continued(string, is_same, finder, held);
            covered = covered.max(continued.covered);
            gone_on.extend(origin.filter(|_| continued.is_gone_on));
            self.0.extend(continued.open);
        }
        self.0.retain(|open| !(open.is_guess && gone_on.contains(&open.origin)));
        // A secret that ends in this string, or goes on behind it, has no other in it.
        self.0.extend(own.filter(|own| own.start_in_string() >= covered));
        self.0.extend(OpenText::whole_of(string));
        if self.0.len() > OPEN_TEXTS_MAX {
            self.0.sort_by_key(|open| std::cmp::Reverse((open.event, open.text.len())));
            let others = self.0.split_off(OPEN_TEXTS_MAX);
            for open in others {
                open.replace_likely(finder, held);
            }
        }
    }

    /// Takes a string that goes on nothing, but may be a longer copy.
    pub(super) fn take_whole(
        &mut self,
        string: &SearchedString<'_>,
        finder: &SecretFinder,
        held: &mut HeldLines,
    ) {
        for open in std::mem::take(&mut self.0) {
            if open.event != string.event && open.is_copied_by(string) {
                open.grow(string, None, finder, held);
            } else {
                self.0.push(open);
            }
        }
    }

    /// No more of these texts comes: the start of a secret is replaced, too.
    pub(super) fn cut(self, finder: &SecretFinder, held: &mut HeldLines) {
        for open in self.0 {
            open.replace_likely(finder, held);
            let OpenPart::Start { pieces, copies, cut: Some(cut), .. } = &open.part else {
                continue;
            };
            if open.key.known.is_some() || is_like_secret(&open.text[cut.range.clone()]) {
                for pieces in copies.iter().chain([pieces]) {
                    replace(pieces, open.context, cut, finder, held);
                }
            }
        }
    }
}

/// Whether the end of a text that may be complete is rather a secret than a word.
fn is_like_secret(end: &[u8]) -> bool {
    let is_capital_inside = |two: &[u8]| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase();
    end.len() >= CUT_BYTES_MIN
        && (end.iter().any(u8::is_ascii_digit) || end.windows(2).any(is_capital_inside))
}

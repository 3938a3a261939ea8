//! Stage: the assistant's text, from deltas to segments to the answer.

mod bounded_text;
mod final_text;
mod unfinished;

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::check::{Bound, Note, TextUpdate};
use crate::facts::{AnswerText, BoundedId, FactUpdate, Facts, OpenHalf, TextFact, TextKind};
use crate::profile::{FinalText, Profile, TextDeltas, TextMode};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

use bounded_text::{BoundedText, Mark};
use unfinished::Unfinished;

/// What one event adds to the text.
pub(crate) type TextUpdates<'f> = SmallVec<[TextUpdate<'f>; 2]>;

/// Reassembles the assistant's text and compares the copies that the agent sends.
///
/// A delta is appended to the open segment. A whole text closes it: with no delta before it, it is
/// the segment; otherwise it repeats the deltas and adds nothing. The end, a text of another group
/// and what else the profile names close it, too. A chunk is never dropped because it equals an
/// earlier one.
#[derive(Debug)]
pub(crate) struct TextCheck<'p> {
    profile: &'p Profile,
    keeps_last: bool,
    segment: BoundedText,
    deltas: u64,
    first_delta_line: u64,
    /// Half of a character at the end of the latest delta.
    half: OpenHalf,
    /// The group of the open segment.
    group: Option<BoundedId>,
    /// All segments of the turn.
    answer: BoundedText,
    /// Where the open segment begins in it.
    segment_start: Mark,
    /// Whether a whole text differed from its deltas, so that either may be the answer.
    is_answer_in_doubt: bool,
    last: BoundedText,
    unfinished: Unfinished,
    /// Whether the next whole text may repeat the last segment.
    may_repeat: bool,
    /// Where in the answer the final text may begin, besides its start.
    final_start: Option<Mark>,
    /// Whether the final text came, and whether it is empty although no finding says so.
    is_final_text_empty: Option<bool>,
    /// Whether a call has ended since the last text, so that this text is not the answer to it.
    has_call_ended: bool,
    /// That of the last text.
    offset: u64,
    /// Whether a call that did something began and ended after the last text.
    has_only_worked: bool,
    /// Whether the answer is a value.
    has_value: bool,
    /// What it repeats, if not what the profile says of all final texts.
    final_is: Option<FinalText>,
    /// The size of the text of earlier turns, and whether it was too long to keep.
    earlier: (u64, bool),
}

impl<'p> TextCheck<'p> {
    pub(crate) fn new(profile: &'p Profile) -> Self {
        Self {
            profile,
            keeps_last: profile.text.deltas == Some(TextDeltas::Closed)
                || profile.text.final_text != FinalText::All
                || !profile.text.may_repeat_after.is_empty(),
            segment: BoundedText::default(),
            deltas: 0,
            first_delta_line: 0,
            half: OpenHalf::default(),
            group: None,
            answer: BoundedText::default(),
            segment_start: Mark::default(),
            is_answer_in_doubt: false,
            last: BoundedText::default(),
            unfinished: Unfinished::default(),
            may_repeat: false,
            final_start: None,
            is_final_text_empty: None,
            has_call_ended: false,
            offset: 0,
            has_only_worked: false,
            has_value: false,
            final_is: None,
            earlier: (0, false),
        }
    }

    pub(crate) fn new_turn(&mut self, updates: &mut TextUpdates<'_>) {
        self.close(updates);
        let earlier = (self.text_bytes(), self.has_overflowed());
        *self = Self { earlier, ..Self::new(self.profile) };
    }

    /// `is_single` is set for the one object of a format without segments,
    /// whose text has nothing to be compared with.
    pub(crate) fn observe<'f>(
        &mut self,
        facts: &'f Facts<'_>,
        is_single: bool,
        found: &mut Vec<Diagnostic>,
        updates: &mut TextUpdates<'f>,
    ) {
        let at = |diagnostic: Diagnostic| diagnostic.at(facts.line, facts.offset);
        let has_calls = !facts.started().is_empty() || !facts.completed().is_empty();
        if has_calls && self.profile.text.ends_at_calls.0 {
            self.close(updates);
        }
        let rare = facts.rare.as_deref();
        if rare.is_some_and(|rare| rare.abandons_text) {
            self.abandon(updates);
        }
        if rare.is_some_and(|rare| rare.may_begin_final_text) {
            self.close(updates);
            self.final_start = Some(self.answer.mark());
        }
        self.has_call_ended |= !facts.completed().is_empty();
        let is_value = |it: &FactUpdate| matches!(it, FactUpdate::Structured(_));
        self.has_value |= rare.is_some_and(|rare| rare.run_facts.iter().any(is_value));
        for TextFact { kind, group, text } in facts.texts() {
            self.has_call_ended &= text.is_empty();
            if !text.trim().is_empty() {
                self.has_only_worked = false;
                self.offset = facts.offset;
            }
            if let Some(group) = group {
                let whole = (*kind == TextKind::Whole && !text.is_empty()).then_some(&**text);
                self.switch_group(group, whole, updates);
            }
            match kind {
                TextKind::Delta => self.append(text, facts, updates),
                TextKind::Whole => found.extend(self.whole(text, updates).map(at)),
            }
        }
        if let Some(text) = rare.and_then(|rare| rare.final_text.as_ref()) {
            self.final_is = rare.and_then(|rare| rare.final_is);
            found.extend(self.final_text(text, is_single, updates).map(at));
        }
        // If something follows, a provisional end was none.
        let has_ended = facts.terminal().is_some_and(|end| !end.is_provisional);
        if facts.marks.ends_segment || has_ended {
            self.close(updates);
        }
        if let Some(group) = rare.and_then(|rare| rare.next_group.as_ref()) {
            self.group = Some(BoundedId::from(group.as_str()));
        }
        self.may_repeat |= rare.is_some_and(|rare| rare.may_repeat_text);
    }

    /// The text that follows is of this group; one of another group is complete, or abandoned if
    /// this is the whole of another message.
    fn switch_group(&mut self, group: &str, whole: Option<&str>, updates: &mut TextUpdates<'_>) {
        if self.group.as_ref().is_some_and(|own| own.is(group)) {
            return;
        }
        let names_groups = self.profile.text.names_groups_of_deltas();
        match whole.filter(|_| names_groups) {
            // The event that names the group of the deltas is lost.
            Some(whole) if self.deltas > 0 && self.segment.difference(whole).is_none() => {
                self.group = Some(BoundedId::from(group));
                return;
            }
            Some(_) if self.group.is_some() => self.abandon(updates),
            Some(_) | None => {}
        }
        self.close(updates);
        self.unfinished.is_waiting = false;
        self.group = Some(BoundedId::from(group));
    }

    #[inline]
    fn append<'f>(&mut self, delta: &'f str, of: &Facts<'_>, updates: &mut TextUpdates<'f>) {
        if self.deltas == 0 {
            self.first_delta_line = of.line;
            self.unfinished.is_waiting = false;
            self.segment_start = self.answer.mark();
        }
        self.deltas += 1;
        let halves = of.rare.as_ref().and_then(|rare| rare.lone_halves);
        let delta = self.half.join(Cow::Borrowed(delta), halves);
        self.push(delta, updates);
    }

    #[inline]
    fn push<'f>(&mut self, text: Cow<'f, str>, updates: &mut TextUpdates<'f>) {
        self.segment.push(&text);
        self.answer.push(&text);
        updates.push(TextUpdate::Chunk(text));
    }

    fn end_half(&mut self, updates: &mut TextUpdates<'_>) {
        if let Some(text) = self.half.end() {
            self.push(Cow::Borrowed(text), updates);
        }
    }

    fn whole<'f>(&mut self, whole: &'f str, updates: &mut TextUpdates<'f>) -> Option<Diagnostic> {
        if self.deltas == 0 {
            if self.is_late_whole(whole) || self.is_repeated_whole(whole) {
                return None;
            }
            self.answer.push(whole);
            self.keep_last(whole);
            updates.extend([TextUpdate::Chunk(Cow::Borrowed(whole)), TextUpdate::SegmentEnd]);
            return None;
        }
        self.end_half(updates);
        let difference = self.segment.difference(whole);
        let (deltas, line) = (self.deltas, self.first_delta_line);
        if difference.is_some() {
            self.correct(whole, updates);
        }
        self.end_segment(updates);
        difference.map(|difference| {
            self.keep_last(whole);
            let (deltas, verb) = match deltas {
                1 => ("delta".to_owned(), "does"),
                _ => (format!("{deltas} deltas"), "do"),
            };
            let message =
                format!("the {deltas} {verb} not match the whole text that follows: {difference}");
            Diagnostic::new(Rule::DeltaMismatch, message).related(line)
        })
    }

    /// The whole text counts: it adds what the last deltas lack, or replaces them all.
    fn correct<'f>(&mut self, whole: &'f str, updates: &mut TextUpdates<'f>) {
        self.is_answer_in_doubt = true;
        if let Some(rest) = self.segment.rest_of(whole) {
            self.push(Cow::Borrowed(rest), updates);
        } else {
            self.answer.truncate(std::mem::take(&mut self.segment_start));
            self.answer.push(whole);
            updates.push(TextUpdate::Replaced(whole));
        }
    }

    /// Whether this is the whole text of deltas that something else closed just before.
    fn is_late_whole(&mut self, whole: &str) -> bool {
        let is_waiting = std::mem::take(&mut self.unfinished.is_waiting);
        let is_late = is_waiting && self.last.difference(whole).is_none();
        self.unfinished.count -= u64::from(is_late);
        is_late
    }

    /// Whether this is the last segment once more, after the agent has lost its connection.
    fn is_repeated_whole(&mut self, whole: &str) -> bool {
        std::mem::take(&mut self.may_repeat) && self.last.difference(whole).is_none()
    }

    fn keep_last(&mut self, segment: &str) {
        if self.keeps_last && !segment.is_empty() {
            self.last.clear();
            self.last.push(segment);
        }
    }

    /// Closes the open segment without a whole text.
    fn close(&mut self, updates: &mut TextUpdates<'_>) {
        if self.deltas > 0 && self.profile.text.deltas == Some(TextDeltas::Closed) {
            let Unfinished { count, line, .. } = self.unfinished;
            let line = if count == 0 { self.first_delta_line } else { line };
            self.unfinished = Unfinished { count: count + 1, line, is_waiting: true };
        }
        self.end_segment(updates);
    }

    /// The agent gives up the open segment: it is not part of the answer.
    fn abandon(&mut self, updates: &mut TextUpdates<'_>) {
        if self.deltas > 0 {
            self.answer.truncate(std::mem::take(&mut self.segment_start));
            self.segment.clear();
            self.half = OpenHalf::default();
            self.deltas = 0;
            updates.push(TextUpdate::Abandoned);
        }
    }

    fn end_segment(&mut self, updates: &mut TextUpdates<'_>) {
        self.end_half(updates);
        if self.deltas > 0 {
            updates.push(TextUpdate::SegmentEnd);
            if self.keeps_last && self.segment.length() > 0 {
                std::mem::swap(&mut self.last, &mut self.segment);
            }
        }
        self.segment.clear();
        self.deltas = 0;
    }

    /// Takes where the latest call began that has just ended, and did something.
    pub(crate) fn note_work(&mut self, began: Option<u64>) {
        self.has_only_worked |= began.is_some_and(|offset| offset >= self.offset);
    }

    /// What is doubtful in the text of a turn that succeeded and has ended. `is_incomplete` says
    /// that the event that ends it lacks something.
    pub(crate) fn end_diagnostics(
        &self,
        is_incomplete: bool,
    ) -> impl Iterator<Item = Diagnostic> + use<> {
        let is_nothing = self.answer.is_blank();
        let is_empty = match self.is_final_text_empty {
            _ if self.has_value => false,
            Some(is_empty) => is_empty,
            // An answer may be something else than text, where text has a final text.
            None if self.has(TextMode::Final) => is_nothing && is_incomplete,
            None => (is_nothing || self.has_only_worked) && !self.profile.text.rules.is_empty(),
        };
        let empty = is_empty.then(|| {
            let message = match self.is_final_text_empty {
                None if !is_nothing => "the run succeeded, but no text follows its last call",
                Some(_) if !is_nothing && !self.has_call_ended => {
                    "the run succeeded, but its final text is empty, and the text before it is not"
                }
                _ => "the run succeeded, but its answer is empty",
            };
            Diagnostic::new(Rule::EmptyAnswer, message)
        });
        self.unfinished.diagnostic().into_iter().chain(empty)
    }

    pub(crate) fn finish(&mut self) {
        self.close(&mut TextUpdates::new());
    }

    pub(crate) fn text_bytes(&self) -> u64 {
        self.earlier.0 + self.answer.length()
    }

    /// Whether text was compared by hash because it is too long to keep.
    fn has_overflowed(&self) -> bool {
        self.earlier.1 || self.answer.overflowed()
    }

    pub(crate) fn notes(&self) -> Vec<Note> {
        self.has_overflowed().then_some(Note::LimitReached(Bound::Text)).into_iter().collect()
    }
}

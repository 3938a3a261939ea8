//! Segments of several groups that are open at once.

use std::borrow::Cow;

use super::key::Key;
use super::buffer::Text;
use super::{Piece, Pieces, Reassembly, replay_mismatch};
use crate::rules::diagnostic::Diagnostic;
use crate::limits::TEXT_GROUPS_MAX;

/// The segments that have begun, the oldest first; none after those that are complete.
///
/// The oldest is shown as it comes and belongs to the answer already. The others wait for their
/// turn, so that no two texts are mixed.
#[derive(Debug, Default)]
pub(super) struct Groups {
    begun: Vec<Group>,
}

#[derive(Debug)]
struct Group {
    key: Option<Key>,
    text: Text,
    deltas: u64,
    first_delta_line: u64,
    /// No more of it will come.
    complete: bool,
}

/// Where deltas come in several groups, one after the other or mixed.
impl Reassembly<'_> {
    pub(super) fn append_to_group<'f>(
        &mut self,
        delta: &'f str,
        line: u64,
        pieces: &mut Pieces<'f>,
    ) {
        let place = self.open_group().unwrap_or_else(|| self.begin_group(line, pieces));
        if place == 0 {
            pieces.push(Piece::Text(Cow::Borrowed(delta)));
            self.push(delta);
        }
        let Some(group) = self.begun().get_mut(place) else { return };
        group.deltas += 1;
        group.text.push(delta);
        if place > 0 && group.text.overflowed() {
            // No more of it can wait.
            self.crowded = true;
            self.complete(0, pieces);
        }
    }

    pub(super) fn whole_of_group<'f>(
        &mut self,
        whole: &'f str,
        pieces: &mut Pieces<'f>,
    ) -> Option<Diagnostic> {
        let Some(place) = self.open_group() else {
            let place = self.begin_group(0, pieces);
            if place == 0 {
                pieces.push(Piece::Text(Cow::Borrowed(whole)));
                self.push(whole);
            }
            self.begun()[place].text.push(whole);
            self.complete(place, pieces);
            return None;
        };
        let group = &mut self.begun()[place];
        let (deltas, line) = (group.deltas, group.first_delta_line);
        let difference = group.text.difference(whole);
        if difference.is_some() {
            // The producer stands by it.
            group.text.clear();
            group.text.push(whole);
            if place == 0 {
                self.correct(whole, pieces);
            }
        }
        self.begun()[place].deltas = 0;
        self.complete(place, pieces);
        // Where not all texts can be kept apart, nothing is known of this one.
        let difference = difference.filter(|_| !self.crowded);
        difference.map(|it| replay_mismatch(deltas, &it).related(line))
    }

    /// Completes all segments that are open.
    pub(super) fn close_groups(&mut self, pieces: &mut Pieces<'_>) {
        for place in (0..self.begun().len()).rev() {
            self.complete(place, pieces);
        }
    }

    fn begun(&mut self) -> &mut Vec<Group> {
        &mut self.groups.get_or_insert_default().begun
    }

    /// The open segment of the group whose text comes.
    fn open_group(&mut self) -> Option<usize> {
        let groups = self.groups.as_ref()?;
        groups.begun.iter().position(|it| !it.complete && it.key == self.key)
    }

    fn begin_group(&mut self, line: u64, pieces: &mut Pieces<'_>) -> usize {
        if self.begun().len() == TEXT_GROUPS_MAX {
            self.crowded = true;
            self.complete(0, pieces);
        }
        let key = self.key.clone();
        let begun = self.begun();
        let text = Text::default();
        begun.push(Group { key, text, deltas: 0, first_delta_line: line, complete: false });
        begun.len() - 1
    }

    /// A segment is complete. If it was the one that is shown, it is the turn of the next.
    fn complete(&mut self, place: usize, pieces: &mut Pieces<'_>) {
        let group = &mut self.begun()[place];
        group.complete = true;
        let (deltas, line) = (std::mem::take(&mut group.deltas), group.first_delta_line);
        if deltas > 0 {
            self.note_unclosed(line);
        }
        while self.begun().first().is_some_and(|it| it.complete) {
            let shown = self.begun().remove(0);
            pieces.push(Piece::End);
            self.segment_start = self.answer.mark();
            if self.keeps_last && shown.text.length() > 0 {
                self.last = shown.text;
            }
            let Some(next) = self.begun().first() else { return };
            let (next, cut) = (next.text.to_text(), next.text.overflowed());
            self.crowded |= cut;
            if !next.is_empty() {
                self.push(&next);
                pieces.push(Piece::Text(Cow::Owned(next)));
            }
        }
    }
}

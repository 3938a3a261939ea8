//! The times without an event, while no call was open.

use super::clock::{Gap, Moment};

/// The longest ones stay.
const SILENCES_MAX: usize = 2_000;

#[derive(Debug, Default)]
pub(super) struct Silences(Vec<Gap>);

impl Silences {
    /// Nothing came for so many milliseconds before `end`.
    pub(super) fn add(&mut self, end: &Moment, ms: f64) {
        let Some(end) = end.ms() else { return };
        if self.0.len() == SILENCES_MAX {
            self.0.sort_by(|a, b| b.length().total_cmp(&a.length()));
            self.0.truncate(SILENCES_MAX / 2);
            self.0.sort_by(|a, b| a.start.total_cmp(&b.start));
        }
        self.0.push(Gap { start: end - ms, end });
    }

    /// In milliseconds since the first time of the stream.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Gap> {
        self.0.iter()
    }
}

//! The rows of the call table. When it is full, a call that succeeded makes room for one that did
//! not.

use super::{ROW_DETAIL_BYTES_MAX, ToolCall};
use crate::limits::CALL_ROWS_MAX;
use crate::profile::CallOutcome;
use crate::rules::escape::clipped;

/// The listed calls, in the order of their numbers. Where there are too many, the last good one
/// makes room for the next call.
#[derive(Debug, Default)]
pub(super) struct ToolCalls {
    rows: Vec<ToolCall>,
    good: usize,
}

impl ToolCalls {
    /// Adds a call that is open, if there is room for it. Its number is the highest.
    pub(super) fn start(&mut self, row: ToolCall) {
        if self.rows.len() >= CALL_ROWS_MAX {
            let last_good = self.rows.iter().rposition(is_good).filter(|_| self.good > 0);
            let Some(place) = last_good else { return };
            self.rows.remove(place);
            self.good -= 1;
        }
        self.rows.push(row);
    }

    /// Changes the row of a call, if it is listed.
    pub(super) fn change(&mut self, number: u64, change: impl FnOnce(&mut ToolCall)) {
        let place = self.rows.binary_search_by_key(&number, |row| row.number);
        let Some(row) = place.ok().and_then(|place| self.rows.get_mut(place)) else { return };
        self.good -= usize::from(is_good(row));
        change(row);
        self.good += usize::from(is_good(row));
    }

    pub(super) fn outcome(&self, number: u64) -> Option<CallOutcome> {
        let place = self.rows.binary_search_by_key(&number, |row| row.number).ok()?;
        self.rows[place].outcome
    }

    /// Notes the purpose of a call, if it is listed and did not succeed.
    pub(super) fn describe(&mut self, number: u64, detail: &str) {
        self.change(number, |row| {
            if !is_good(row) {
                row.detail = clipped(detail, ROW_DETAIL_BYTES_MAX).into_owned();
            }
        });
    }

    /// Of the calls that began in this line and have ended, the last ones, in the order of their
    /// ends.
    pub(super) fn last_ended(&self, line: u64, count: usize) -> Vec<&ToolCall> {
        let rows = self.rows.iter();
        let ended = rows.filter(|row| row.started_line == Some(line) && row.outcome.is_some());
        let mut ended: Vec<&ToolCall> = ended.collect();
        ended.sort_by_key(|row| row.completed_line);
        ended.split_off(ended.len().saturating_sub(count))
    }

    pub(super) fn last(&self, id: &str) -> Option<&ToolCall> {
        self.rows.iter().rev().find(|row| row.id == id)
    }

    pub(super) fn take(&mut self) -> Vec<ToolCall> {
        self.good = 0;
        std::mem::take(&mut self.rows)
    }
}

fn is_good(row: &ToolCall) -> bool {
    matches!(row.outcome, Some(CallOutcome::Succeeded | CallOutcome::Unknown))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(mut rows: ToolCalls) -> Vec<u64> {
        rows.take().iter().map(|row| row.number).collect()
    }

    fn rows(outcomes: impl Iterator<Item = CallOutcome>) -> ToolCalls {
        let mut rows = ToolCalls::default();
        for (outcome, number) in outcomes.zip(1..) {
            let (id, tool) = (number.to_string(), None);
            rows.start(ToolCall {
                number,
                id,
                tool,
                outcome: None,
                started_line: None,
                completed_line: None,
                detail: String::new(),
            });
            rows.change(number, |row| row.outcome = Some(outcome));
        }
        rows
    }

    #[test]
    fn a_good_call_makes_room_for_a_failed_one() {
        let good = std::iter::repeat_n(CallOutcome::Succeeded, 600);
        let bad = std::iter::repeat_n(CallOutcome::Failed, 600);
        let expected: Vec<u64> = (1..=400).chain(601..=1_200).collect();
        assert_eq!(numbers(rows(good.clone().chain(bad.clone()))), expected);
        let expected: Vec<u64> = (1..=999).chain([1_200]).collect();
        assert_eq!(numbers(rows(bad.chain(good))), expected);
    }

    #[test]
    fn the_first_failed_calls_stay() {
        let bad = std::iter::repeat_n(CallOutcome::Denied, 1_200);
        assert!(numbers(rows(bad)).into_iter().eq(1..=1_000));
    }
}

//! Stage: the place of each event among the others, where the events themselves say it.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};

use crate::check::counted;
use crate::facts::Facts;
use crate::limits::EVENT_IDS_MAX;
use crate::profile::EventOrder;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

/// Finds lines that are missing, that came twice, or that are out of place.
#[derive(Debug)]
pub(crate) struct OrderCheck<'p> {
    rules: Option<&'p EventOrder>,
    /// The line and the number of the latest event with a number.
    latest: Option<(u64, u64)>,
    ids: RecentIds,
}

/// The hashes of the latest ids. The author of a stream does not know the key of the hash.
#[derive(Debug, Default)]
struct RecentIds {
    state: RandomState,
    known: HashSet<u64>,
    in_order: VecDeque<u64>,
}

impl<'p> OrderCheck<'p> {
    pub(crate) fn new(rules: Option<&'p EventOrder>) -> Self {
        Self { rules, latest: None, ids: RecentIds::default() }
    }

    #[inline]
    pub(crate) fn observe(&mut self, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        let defect = match (self.rules, &facts.order) {
            (Some(EventOrder::Number { .. }), Some(number)) => {
                number.parse().ok().and_then(|number| self.number(facts.line, number))
            }
            (Some(EventOrder::Id { .. }), Some(id)) => self.ids.add(id),
            _ => None,
        };
        found.extend(defect.map(|defect| defect.at(facts.line, facts.offset)));
    }

    fn number(&mut self, line: u64, number: u64) -> Option<Diagnostic> {
        let (latest_line, latest) = self.latest.replace((line, number))?;
        let message = match number.checked_sub(latest) {
            Some(1) => return None,
            Some(0) => "the event has the same number as the previous event".to_owned(),
            Some(step) => {
                format!("{} missing before this one: its number jumps", are_counted(step - 1))
            }
            None => "the event's number is lower than that of the previous event".to_owned(),
        };
        Some(Diagnostic::new(Rule::BrokenSequence, message).related(latest_line))
    }
}

impl RecentIds {
    /// Adds an event, whose id must be new.
    fn add(&mut self, id: &str) -> Option<Diagnostic> {
        let key = self.state.hash_one(id);
        if !self.known.insert(key) {
            let message = "an earlier event has the same id";
            return Some(Diagnostic::new(Rule::BrokenSequence, message));
        }
        self.in_order.push_back(key);
        if self.in_order.len() > EVENT_IDS_MAX
            && let Some(oldest) = self.in_order.pop_front()
        {
            self.known.remove(&oldest);
        }
        None
    }
}

/// `1 event is`, `3 events are`.
fn are_counted(count: u64) -> String {
    format!("{} {}", counted(count, "event"), if count == 1 { "is" } else { "are" })
}

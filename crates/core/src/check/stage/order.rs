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
    has_forgotten: bool,
}

impl<'p> OrderCheck<'p> {
    pub(crate) fn new(rules: Option<&'p EventOrder>) -> Self {
        Self { rules, latest: None, ids: RecentIds::default() }
    }

    #[inline]
    pub(crate) fn observe(&mut self, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        let defect = match (self.rules, &facts.order) {
            (Some(EventOrder::Number { .. }), [Some(number), _]) => {
                number.parse().ok().and_then(|number| self.number(facts.line, number))
            }
            (Some(EventOrder::Link { .. }), [Some(id), after]) => {
                self.ids.add(id, after.as_deref())
            }
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
    /// Adds an event that names another one, which must have come before it.
    fn add(&mut self, id: &str, after: Option<&str>) -> Option<Diagnostic> {
        let is_first = self.in_order.is_empty();
        let has_come = |after: &str| self.known.contains(&self.state.hash_one(after));
        let is_lost = !(is_first || self.has_forgotten || after.is_none_or(has_come));
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
            self.has_forgotten = true;
        }
        let message = "the event names a predecessor that is not in the stream";
        is_lost.then(|| Diagnostic::new(Rule::BrokenSequence, message))
    }
}

/// `1 event is`, `3 events are`.
fn are_counted(count: u64) -> String {
    format!("{} {}", counted(count, "event"), if count == 1 { "is" } else { "are" })
}

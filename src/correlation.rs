//! Stage: tool calls, from their start to their completion, matched by id.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use crate::diagnostic::{Diagnostic, shown};
use crate::facts::{Call, CallId, Fact, Facts};
use crate::limits::{
    CALL_ID_BYTES_MAX, CALL_ROWS_MAX, CALLS_ENDED_MAX, CALLS_NAMED_MAX, CALLS_OPEN_MAX,
};
use crate::profile::{CallOutcome, RunOutcome};
use crate::rule::Rule;
use crate::visible::clipped;

/// Pairs the halves of tool calls.
#[derive(Debug)]
pub struct Correlation {
    /// What the profile calls the values that both halves must share.
    same: Vec<String>,
    open: HashMap<CallId, Open>,
    /// Fingerprints of the ids that were completed.
    ended: HashSet<u64>,
    state: RandomState,
    rows: Vec<CallRow>,
    counts: CallCounts,
    overflow: bool,
}

#[derive(Debug)]
struct Open {
    line: u64,
    tool: Option<String>,
    same: Vec<Option<u64>>,
    row: Option<usize>,
}

/// A tool call as the report lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRow {
    /// Its id.
    pub id: String,
    /// Its tool, if an event names one.
    pub tool: Option<String>,
    /// How it ended; none while it is open.
    pub outcome: Option<CallOutcome>,
    /// The line of its start.
    pub started_line: Option<u64>,
    /// The line of its completion.
    pub completed_line: Option<u64>,
}

/// How many tool calls there were, and how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Calls started, or completed without a start.
    pub total: u64,
    /// Of these, those that succeeded.
    pub succeeded: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those rejected by the user.
    pub rejected: u64,
    /// Those denied by a permission rule.
    pub denied: u64,
    /// Those that completed without saying how.
    pub unknown: u64,
    /// Those that never completed.
    pub unfinished: u64,
}

impl Correlation {
    /// Pairs calls whose halves must agree in the values that `same` names.
    pub fn new(same: impl IntoIterator<Item = String>) -> Self {
        Self {
            same: same.into_iter().collect(),
            open: HashMap::new(),
            ended: HashSet::new(),
            state: RandomState::new(),
            rows: Vec::new(),
            counts: CallCounts::default(),
            overflow: false,
        }
    }

    /// Takes an event into account.
    pub fn observe(&mut self, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        let at = |diagnostic: Diagnostic| diagnostic.at(facts.line, facts.offset);
        for fact in &facts.list {
            match fact {
                Fact::CallStarted(call) => {
                    found.extend(self.start(call, facts.line).map(at));
                }
                Fact::CallCompleted(call, outcome) => {
                    found.extend(self.complete(call, *outcome, facts.line).map(at));
                }
                Fact::Terminal(end) if end.outcome == RunOutcome::Success => {
                    self.report_open(facts.line, facts.offset, found);
                }
                Fact::SessionStart
                | Fact::Session(_)
                | Fact::Time(_)
                | Fact::TextDelta(_)
                | Fact::TextWhole(_)
                | Fact::FinalText(_)
                | Fact::Boundary
                | Fact::Terminal(_)
                | Fact::Outcome(_) => {}
            }
        }
    }

    fn start(&mut self, call: &Call<'_>, line: u64) -> Option<Diagnostic> {
        let id = shown(call.id.as_str());
        if let Some(open) = self.open.get(&call.id) {
            let message = format!("the tool call {id} is started again while it is open");
            return Some(Diagnostic::new(Rule::RepeatedCallStart, message).related(open.line));
        }
        let again = self.ended.remove(&self.state.hash_one(&call.id));
        self.counts.total += 1;
        self.counts.unfinished += 1;
        if self.open.len() >= CALLS_OPEN_MAX {
            self.overflow = true;
        } else {
            let row = self.row(call, Some(line));
            let tool = call.tool.map(|tool| clipped(tool, CALL_ID_BYTES_MAX).into_owned());
            let open = Open { line, tool, same: call.same.clone(), row };
            self.open.insert(call.id.clone(), open);
        }
        again.then(|| {
            let message = format!("the tool call {id} is started again after its completion");
            Diagnostic::new(Rule::RepeatedCallStart, message)
        })
    }

    fn complete(&mut self, call: &Call<'_>, outcome: CallOutcome, line: u64) -> Option<Diagnostic> {
        let Some(open) = self.open.remove(&call.id) else {
            return self.complete_unopened(call, outcome, line);
        };
        self.remember(&call.id);
        self.counts.unfinished -= 1;
        self.count(outcome);
        if let Some(row) = open.row {
            self.rows[row].outcome = Some(outcome);
            self.rows[row].completed_line = Some(line);
        }
        let differing = self.differing(&open, call);
        (!differing.is_empty()).then(|| {
            let message = format!(
                "the halves of the tool call {} differ in {}",
                shown(call.id.as_str()),
                differing.join(" and ")
            );
            Diagnostic::new(Rule::CallMismatch, message).related(open.line)
        })
    }

    fn complete_unopened(
        &mut self,
        call: &Call<'_>,
        outcome: CallOutcome,
        line: u64,
    ) -> Option<Diagnostic> {
        let id = shown(call.id.as_str());
        if self.ended.contains(&self.state.hash_one(&call.id)) {
            let message = format!("the tool call {id} is completed a second time");
            return Some(Diagnostic::new(Rule::RepeatedCompletion, message));
        }
        if self.overflow {
            // Its start may be one of those there was no room for.
            self.counts.unfinished = self.counts.unfinished.saturating_sub(1);
            self.count(outcome);
            return None;
        }
        self.counts.total += 1;
        self.count(outcome);
        self.remember(&call.id);
        if let Some(row) = self.row(call, None) {
            self.rows[row].outcome = Some(outcome);
            self.rows[row].completed_line = Some(line);
        }
        let tool = in_brackets(call.tool, &call.id);
        let rule = match outcome {
            CallOutcome::Rejected => Rule::RejectedWithoutStart,
            CallOutcome::Succeeded
            | CallOutcome::Failed
            | CallOutcome::Denied
            | CallOutcome::Unknown => Rule::CompletionWithoutStart,
        };
        let message = format!("the tool call {id}{tool} is completed but never started");
        Some(Diagnostic::new(rule, message))
    }

    /// In what the two halves differ, as the profile names it.
    fn differing(&self, open: &Open, call: &Call<'_>) -> Vec<String> {
        let tools = match (&open.tool, call.tool) {
            (Some(a), Some(b)) if *a != clipped(b, CALL_ID_BYTES_MAX) => {
                Some(format!("the tool ({} and {})", shown(a), shown(b)))
            }
            _ => None,
        };
        let halves = open.same.iter().zip(&call.same).zip(&self.same);
        let values = halves.filter_map(|((a, b), path)| match (a, b) {
            (Some(a), Some(b)) if a != b => Some(shown(path)),
            _ => None,
        });
        tools.into_iter().chain(values).collect()
    }

    fn count(&mut self, outcome: CallOutcome) {
        let count = match outcome {
            CallOutcome::Succeeded => &mut self.counts.succeeded,
            CallOutcome::Failed => &mut self.counts.failed,
            CallOutcome::Rejected => &mut self.counts.rejected,
            CallOutcome::Denied => &mut self.counts.denied,
            CallOutcome::Unknown => &mut self.counts.unknown,
        };
        *count += 1;
    }

    fn remember(&mut self, id: &CallId) {
        if self.ended.len() < CALLS_ENDED_MAX {
            self.ended.insert(self.state.hash_one(id));
        } else {
            self.overflow = true;
        }
    }

    fn row(&mut self, call: &Call<'_>, started_line: Option<u64>) -> Option<usize> {
        if self.rows.len() >= CALL_ROWS_MAX {
            return None;
        }
        self.rows.push(CallRow {
            id: call.id.as_str().to_owned(),
            tool: call.tool.map(|tool| clipped(tool, CALL_ID_BYTES_MAX).into_owned()),
            outcome: None,
            started_line,
            completed_line: None,
        });
        Some(self.rows.len() - 1)
    }

    /// The open calls, in the order of their starts.
    fn open_calls(&self) -> Vec<(&CallId, &Open)> {
        let mut open: Vec<_> = self.open.iter().collect();
        open.sort_unstable_by_key(|(_, open)| open.line);
        open
    }

    /// Reports each call that is open where the run has ended.
    pub fn report_open(&self, line: u64, offset: u64, found: &mut Vec<Diagnostic>) {
        for (id, open) in self.open_calls() {
            let tool = in_brackets(open.tool.as_deref(), id);
            let message = format!(
                "the run has ended, and the tool call {}{tool} is open",
                shown(id.as_str())
            );
            let diagnostic = Diagnostic::new(Rule::UnfinishedCall, message).related(open.line);
            found.push(diagnostic.at(line, offset));
        }
    }

    /// Names the open calls in half a sentence; nothing if there is none.
    pub fn open_summary(&self) -> Option<String> {
        let open = self.open_calls();
        let named = open.iter().take(CALLS_NAMED_MAX).map(|(id, open)| {
            let tool = open.tool.as_deref().unwrap_or(id.as_str());
            format!("{} since line {}", shown(tool), open.line)
        });
        let mut named: Vec<String> = named.collect();
        if open.len() > CALLS_NAMED_MAX {
            named.push(format!("{} more", open.len() - CALLS_NAMED_MAX));
        }
        let calls = if open.len() == 1 { "tool call" } else { "tool calls" };
        (!open.is_empty()).then(|| format!("{} open {calls}: {}", open.len(), named.join(", ")))
    }

    /// How many calls there were.
    pub fn counts(&self) -> CallCounts {
        self.counts
    }

    /// The calls, in the order in which they appeared; at most [`CALL_ROWS_MAX`].
    pub fn into_rows(self) -> Vec<CallRow> {
        self.rows
    }

    /// Whether there were more calls than can be followed.
    pub fn overflowed(&self) -> bool {
        self.overflow
    }
}

/// The tool behind a call's id; nothing if the id is its name.
fn in_brackets(tool: Option<&str>, id: &CallId) -> String {
    match tool {
        Some(tool) if tool != id.as_str() => format!(" ({})", shown(tool)),
        Some(_) | None => String::new(),
    }
}

//! Stage: tool calls, from their start to their completion, matched by id.

mod counts;
mod likeness;

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use foldhash::fast::RandomState as OfFingerprints;

use crate::rules::diagnostic::Diagnostic;
use crate::facts::{Call, CallId, Fact, Facts};
use crate::limits::{
    CALL_ID_BYTES_MAX, CALL_ROWS_MAX, CALLS_ENDED_MAX, CALLS_NAMED_MAX, CALLS_OPEN_MAX,
};
use crate::profile::{CallOutcome, CallRules, OpenAtEnd, WithoutStart};
use crate::rules::Rule;
use crate::rules::escape::{clipped, shown};

pub use counts::{CallCounts, CallRow};
use likeness::{Likeness, Likenesses};

/// Pairs the halves of tool calls.
#[derive(Debug)]
pub struct Correlation<'p> {
    profile: &'p CallRules,
    /// Those that are open, by the fingerprint of their id.
    open: HashMap<u64, Open, OfFingerprints>,
    /// Those that were completed, the same way.
    ended: HashMap<u64, Ended, OfFingerprints>,
    /// Further completions of them that belong to starts already reported.
    owed: HashMap<u64, u32, OfFingerprints>,
    /// What fingerprints are taken with: nobody who writes a stream can foresee them.
    state: RandomState,
    likenesses: Likenesses,
    rows: Vec<CallRow>,
    counts: CallCounts,
    /// Calls of earlier turns that never ended.
    left_open: u64,
    overflow: bool,
}

#[derive(Debug)]
struct Open {
    id: CallId,
    line: u64,
    tool: Option<String>,
    same: Vec<Option<Likeness>>,
    row: Option<usize>,
    /// Further starts of the call; as many completions may follow.
    repeats: u32,
}

/// A call that has ended: the line of its completion times two, and one more if no start of it is
/// still to come. In one word, because tens of thousands are kept.
#[derive(Debug, Clone, Copy)]
struct Ended(u64);

impl Ended {
    fn new(line: u64, started: bool) -> Self {
        Self(line << 1 | u64::from(started))
    }

    fn line(self) -> u64 {
        self.0 >> 1
    }

    fn is_started(self) -> bool {
        self.0 & 1 == 1
    }
}

impl<'p> Correlation<'p> {
    /// Pairs calls as a profile says.
    pub fn new(profile: &'p CallRules) -> Self {
        Self {
            profile,
            open: HashMap::default(),
            ended: HashMap::default(),
            owed: HashMap::default(),
            state: RandomState::new(),
            likenesses: Likenesses::default(),
            rows: Vec::new(),
            counts: CallCounts::default(),
            left_open: 0,
            overflow: false,
        }
    }

    /// A new turn begins: what was open will not end any more, and an id may come again.
    pub fn reopen(&mut self) {
        self.open.clear();
        self.likenesses = Likenesses::default();
        self.ended.clear();
        self.owed.clear();
        self.left_open = self.counts.unfinished;
    }

    /// Takes an event into account; `succeeds` says whether the run ends with it, and well.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other facts are for others")]
    pub fn observe(&mut self, facts: &Facts<'_>, succeeds: bool, found: &mut Vec<Diagnostic>) {
        let at = |diagnostic: Diagnostic| diagnostic.at(facts.line, facts.offset);
        for fact in facts.list() {
            match fact {
                Fact::CallStarted(call) => {
                    let key = self.fingerprint(&call.id);
                    found.extend(self.start(key, call, facts.line).map(at));
                }
                Fact::CallCompleted(call, outcome) => {
                    let key = self.fingerprint(&call.id);
                    found.extend(self.contradiction(key, call).map(at));
                    found.extend(self.complete(key, call, *outcome, facts.line).map(at));
                }
                Fact::Terminal(_) if succeeds => {
                    self.report_open(facts.line, facts.offset, found);
                }
                _ => {}
            }
        }
    }

    fn fingerprint(&self, id: &CallId) -> u64 {
        self.state.hash_one(id)
    }

    fn start(&mut self, key: u64, call: &Call<'_>, line: u64) -> Option<Diagnostic> {
        let name = || name(call.tool.as_deref(), &call.id);
        if let Some(open) = self.open.get_mut(&key) {
            if call.repeat {
                return None;
            }
            open.repeats = open.repeats.saturating_add(1);
            let message = format!("{} is started again while it is open", name());
            return Some(Diagnostic::new(Rule::RepeatedCallStart, message).related(open.line));
        }
        if call.repeat && self.ended.get(&key).is_some_and(|it| it.is_started()) {
            return None;
        }
        let ended = self.ended.remove(&key);
        self.owed.remove(&key);
        if let Some(ended) = ended.filter(|it| !it.is_started()) {
            // The completion came first, and has been reported for that.
            self.remember(key, Ended::new(ended.line(), true));
            return None;
        }
        self.counts.total += 1;
        self.counts.unfinished += 1;
        if self.open.len() >= CALLS_OPEN_MAX {
            self.overflow = true;
        } else {
            let row = self.row(call, Some(line));
            let tool = tool(call);
            let same = call.same.iter().map(|it| it.map(|it| self.likenesses.keep(it))).collect();
            let open = Open { id: call.id.clone(), line, tool, same, row, repeats: 0 };
            self.open.insert(key, open);
        }
        ended.map(|ended| {
            let message = format!("{} is started again after its completion", name());
            Diagnostic::new(Rule::RepeatedCallStart, message).related(ended.line())
        })
    }

    /// Whether a completion says two things at once.
    fn contradiction(&self, key: u64, call: &Call<'_>) -> Option<Diagnostic> {
        let open = self.open.get(&key);
        if !call.contradicts || call.alone == WithoutStart::Ignore && open.is_none() {
            return None;
        }
        let tool = call.tool.as_deref().or_else(|| open?.tool.as_deref());
        let message = format!("the completion of {} contradicts itself", name(tool, &call.id));
        let diagnostic = Diagnostic::new(Rule::ContradictoryCompletion, message);
        Some(match open {
            Some(open) => diagnostic.related(open.line),
            None => diagnostic,
        })
    }

    fn complete(
        &mut self,
        key: u64,
        call: &Call<'_>,
        outcome: CallOutcome,
        line: u64,
    ) -> Option<Diagnostic> {
        let Some(open) = self.open.remove(&key) else {
            return self.complete_unopened(key, call, outcome, line);
        };
        self.remember(key, Ended::new(line, true));
        if open.repeats > 0 && self.ended.contains_key(&key) {
            self.owed.insert(key, open.repeats);
        }
        self.counts.unfinished -= 1;
        self.counts.add(outcome);
        if let Some(row) = open.row {
            self.rows[row].outcome = Some(outcome);
            self.rows[row].completed_line = Some(line);
            if self.rows[row].tool.is_none() {
                self.rows[row].tool = tool(call);
            }
        }
        let differing = self.differing(&open, call);
        self.likenesses.forget(open.same);
        (!differing.is_empty()).then(|| {
            let tool = call.tool.as_deref().or(open.tool.as_deref());
            let name = name(tool, &call.id);
            let message = format!("the halves of {name} differ in {}", differing.join(" and "));
            Diagnostic::new(Rule::CallMismatch, message).related(open.line)
        })
    }

    fn complete_unopened(
        &mut self,
        key: u64,
        call: &Call<'_>,
        outcome: CallOutcome,
        line: u64,
    ) -> Option<Diagnostic> {
        let name = || name(call.tool.as_deref(), &call.id);
        if let Some(ended) = self.ended.get(&key) {
            if call.repeat {
                return None;
            }
            if let Some(owed) = self.owed.get_mut(&key).filter(|owed| **owed > 0) {
                *owed -= 1;
                return None;
            }
            let message = format!("{} is completed a second time", name());
            return Some(Diagnostic::new(Rule::RepeatedCompletion, message).related(ended.line()));
        }
        if call.alone == WithoutStart::Ignore {
            return None;
        }
        if self.unfollowed() > 0 {
            // Its start may be one of those there was no room for.
            self.counts.unfinished -= 1;
            self.counts.add(outcome);
            return None;
        }
        self.counts.total += 1;
        self.counts.add(outcome);
        let whole = call.alone == WithoutStart::Call;
        self.remember(key, Ended::new(line, whole));
        if let Some(row) = self.row(call, None) {
            self.rows[row].outcome = Some(outcome);
            self.rows[row].completed_line = Some(line);
        }
        if whole {
            return None;
        }
        let rule = match outcome {
            CallOutcome::Rejected => Rule::RejectedWithoutStart,
            CallOutcome::Succeeded
            | CallOutcome::Failed
            | CallOutcome::Denied
            | CallOutcome::Unknown => Rule::CompletionWithoutStart,
        };
        let message = format!("{} is completed and was not started before", name());
        Some(Diagnostic::new(rule, message))
    }

    /// In what the two halves differ, as the profile names it.
    fn differing(&self, open: &Open, call: &Call<'_>) -> Vec<String> {
        let tools = match (&open.tool, &call.tool) {
            (Some(a), Some(b)) if *a != clipped(b, CALL_ID_BYTES_MAX) => {
                Some(format!("the tool ({} and {})", shown(a), shown(b)))
            }
            _ => None,
        };
        let halves = open.same.iter().zip(&call.same).zip(&self.profile.must_match);
        let values = halves.filter_map(|((a, b), path)| match (a, b) {
            (Some(a), Some(b)) if !self.likenesses.equal(a, *b) => Some(shown(&path.to_string())),
            _ => None,
        });
        tools.into_iter().chain(values).collect()
    }

    fn remember(&mut self, key: u64, ended: Ended) {
        if self.ended.len() < CALLS_ENDED_MAX {
            self.ended.insert(key, ended);
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
            tool: tool(call),
            outcome: None,
            started_line,
            completed_line: None,
        });
        Some(self.rows.len() - 1)
    }

    /// The open calls, in the order of their starts.
    fn open_calls(&self) -> Vec<&Open> {
        let mut open: Vec<_> = self.open.values().collect();
        // Several may start in one line.
        open.sort_by_key(|it| (it.line, it.row.unwrap_or(usize::MAX), it.id.as_str()));
        open
    }

    /// Whether a call is open that must not be where the run ends.
    pub fn is_unfinished(&self) -> bool {
        self.profile.open_at_end == OpenAtEnd::Error && self.of_turn() > 0
    }

    /// Reports each call that is open where the run has ended, if none may be.
    pub fn report_open(&self, line: u64, offset: u64, found: &mut Vec<Diagnostic>) {
        if !self.is_unfinished() {
            return;
        }
        for open in self.open_calls() {
            let name = name(open.tool.as_deref(), &open.id);
            let message = format!("the run has ended, and {name} is open");
            let diagnostic = Diagnostic::new(Rule::UnfinishedCall, message).related(open.line);
            found.push(diagnostic.at(line, offset));
        }
        let others = self.unfollowed();
        if others > 0 {
            let message = format!("the run has ended, and {others} more tool calls are open");
            found.push(Diagnostic::new(Rule::UnfinishedCall, message).at(line, offset));
        }
    }

    /// Open calls that there was no room to follow.
    fn unfollowed(&self) -> u64 {
        self.of_turn().saturating_sub(self.open.len() as u64)
    }

    /// The calls of the turn that are open.
    fn of_turn(&self) -> u64 {
        self.counts.unfinished - self.left_open
    }

    /// Names the open calls in half a sentence; nothing if there is none.
    pub fn open_summary(&self) -> Option<String> {
        let open = self.open_calls();
        let named = open.iter().take(CALLS_NAMED_MAX).map(|open| {
            let tool = open.tool.as_deref().unwrap_or(open.id.as_str());
            format!("{} since line {}", shown(tool), open.line)
        });
        let mut named: Vec<String> = named.collect();
        let total = self.of_turn();
        if total > named.len() as u64 {
            named.push(format!("{} more", total - named.len() as u64));
        }
        let calls = if total == 1 { "tool call" } else { "tool calls" };
        (total > 0).then(|| format!("{total} open {calls}: {}", named.join(", ")))
    }

    /// The tool that the start of an open call names, if it does; `None` if it is not open.
    pub fn tool_of_open(&self, id: &CallId) -> Option<Option<&str>> {
        let open = self.open.get(&self.fingerprint(id))?;
        Some(open.tool.as_deref())
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

/// The name of a call's tool, in bounded memory.
fn tool(call: &Call<'_>) -> Option<String> {
    call.tool.as_deref().map(|it| clipped(it, CALL_ID_BYTES_MAX).into_owned())
}

/// A call as messages name it: by its tool, and by its id where that says more.
fn name(tool: Option<&str>, id: &CallId) -> String {
    match tool {
        Some(tool) if tool != id.as_str() => {
            format!("the {} call {}", shown(tool), shown(id.as_str()))
        }
        Some(_) | None => format!("the call {}", shown(id.as_str())),
    }
}

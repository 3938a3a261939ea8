//! Stage: tool calls, from their start to their completion, matched by id.

mod at_end;
mod call_arguments;
mod call_counts;
mod call_name;
mod call_order;
mod call_rows;
mod completions;
mod corrected;
mod interruptions;
mod known_call;
mod parents;
mod said;
mod untracked;

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};

use foldhash::fast::RandomState as HashedKeys;

use crate::check::stage::actions::{ActionTable, OpenAction};
use crate::check::stage::drift::Start;
use crate::check::updates::CallStart;
use crate::check::{CallChange, CallUpdate};
use crate::facts::{BoundedId, Call, Facts, ToolKey};
use crate::limits::{CALL_ID_BYTES_MAX, CALLS_ENDED_MAX, CALLS_OPEN_MAX};
use crate::profile::{CallOutcome, CallRules};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::escape::{clipped, shown};

pub(super) use call_arguments::{CallArguments, KeptValue};
pub use call_counts::{CallCounts, ToolCall};
use call_name::{name, tool};
use call_order::CallOrder;
use call_rows::ToolCalls;
use interruptions::RejectedCall;
use known_call::{EndedCall, OpenCall};
use untracked::UntrackedCalls;

/// Open calls that a message names; the others are counted.
pub(super) const CALLS_NAMED_MAX: usize = 5;

/// What the list of calls shows of the purpose of a call, in bytes.
pub(super) const ROW_DETAIL_BYTES_MAX: usize = 200;

/// The only table of calls: it pairs their halves. All others read the [`CallUpdate`]s, to which
/// the [`ActionTable`] adds what the calls do.
#[derive(Debug)]
pub(crate) struct CallTable<'p> {
    rules: &'p CallRules,
    /// Open calls, by the hash of their id.
    open: HashMap<u64, OpenCall, HashedKeys>,
    /// Completed calls, the same way.
    ended: HashMap<u64, EndedCall, HashedKeys>,
    /// The key of the hash: the author of a stream cannot know it.
    state: RandomState,
    order: CallOrder,
    arguments: CallArguments,
    pub(crate) actions: ActionTable<'p>,
    rows: ToolCalls,
    counts: CallCounts,
    /// Calls that the latest completions reject, if the agent may say that they were interrupted.
    rejected: VecDeque<RejectedCall>,
    /// The number of the latest call.
    latest: u64,
    /// Calls that have ended, and may go on in the background: ids and numbers.
    ended_tasks: VecDeque<(String, u64)>,
    open_in_earlier_turns: u64,
    /// How many open calls are only asked for.
    asked: usize,
    untracked_calls: UntrackedCalls,
    /// Whether the session has started.
    in_session: bool,
    /// Whether an event has started or completed a call.
    shows_calls: bool,
    /// Whether a call of this turn was not remembered.
    has_forgotten: bool,
    /// Whether one of an earlier turn was not.
    has_forgotten_before: bool,
    /// Whether more calls were open at once than are followed.
    has_overflowed: bool,
}

/// What a half of a call changes in the table, and the diagnostic for it.
type Effect<'f> = (Option<CallUpdate<'f>>, Option<Diagnostic>);

impl<'p> CallTable<'p> {
    pub(crate) fn new(rules: &'p CallRules) -> Self {
        Self {
            rules,
            open: HashMap::default(),
            ended: HashMap::default(),
            state: RandomState::new(),
            order: CallOrder::default(),
            arguments: CallArguments::default(),
            actions: ActionTable::new(&rules.actions),
            rows: ToolCalls::default(),
            counts: CallCounts::default(),
            rejected: VecDeque::new(),
            latest: 0,
            ended_tasks: VecDeque::new(),
            open_in_earlier_turns: 0,
            asked: 0,
            untracked_calls: UntrackedCalls::default(),
            in_session: false,
            shows_calls: false,
            has_forgotten: false,
            has_forgotten_before: false,
            has_overflowed: false,
        }
    }

    /// A new turn begins: open calls will not end any more, and an id may be used again.
    pub(crate) fn new_turn(&mut self) {
        self.describe_open();
        self.open.clear();
        self.asked = 0;
        self.order = CallOrder::default();
        self.arguments = CallArguments::default();
        self.ended.clear();
        self.open_in_earlier_turns = self.counts.unfinished;
        self.untracked_calls = UntrackedCalls::default();
        self.has_forgotten_before |= std::mem::take(&mut self.has_forgotten);
    }

    /// `is_success` says whether the event ends the run, successfully.
    pub(crate) fn observe<'f>(
        &mut self,
        facts: &'f Facts<'_>,
        is_success: bool,
        updates: &mut Vec<CallUpdate<'f>>,
        found: &mut Vec<Diagnostic>,
    ) where
        'p: 'f,
    {
        let about = |call: &Call<'_>, diagnostic: Diagnostic| {
            diagnostic.of_call(call.id.as_str()).at(facts.line, facts.offset)
        };
        self.in_session |= facts.marks.starts_session;
        self.actions.observe(facts);
        if facts.text.is_some() {
            self.reject_asked(facts, updates, found);
        }
        self.settle_rejected(facts, updates, found);
        let start = CallStart { line: facts.line, offset: facts.offset, time: facts.time };
        for call in facts.started() {
            let key = self.key_of_start(call);
            let (update, diagnostic) = self.start(key, call, start);
            updates.extend(update.map(|update| self.begun(key, update)));
            found.extend(diagnostic.map(|it| about(call, it)));
        }
        self.observe_corrections(facts, updates, found);
        self.shows_calls |= !(facts.started().is_empty() && facts.completed().is_empty());
        for (call, outcome) in facts.completed() {
            let key = self.key_of_completion(call);
            let outcome = if self.hides_end(key, call) { CallOutcome::Unknown } else { *outcome };
            found.extend(self.contradiction(key, call).map(|it| about(call, it)));
            let known = self.open.get_mut(&key).map(|open| {
                // Halves in one event have one time; only the agent can say how long it took.
                let start = Some(open.start).filter(|start| start.offset != facts.offset);
                (std::mem::take(&mut open.action), start, open.parent)
            });
            let (update, diagnostic) = self.complete(key, call, outcome, facts.line);
            let diagnostic = diagnostic.map(|it| about(call, it));
            let rejected = CallChange::Completed(CallOutcome::Rejected);
            let may_be_rejected = update.as_ref().filter(|it| it.change == rejected);
            let rejected = may_be_rejected.map(|it| it.number);
            updates.extend(update.map(|update| self.ended(update, known)));
            match rejected.filter(|_| !self.rules.interruptions.is_empty()) {
                Some(number) => {
                    let id = call.id.as_str().to_owned();
                    let rejected = RejectedCall { number, id, found: diagnostic };
                    found.extend(self.keep_rejected(rejected));
                }
                None => found.extend(diagnostic),
            }
        }
        if is_success {
            self.reject_asked(facts, updates, found);
            self.report_open(facts.line, facts.offset, found);
        }
    }

    /// Adds to an update what the call did, of which this is known.
    fn described<'f>(&mut self, update: CallUpdate<'f>, known: &mut OpenAction) -> CallUpdate<'f> {
        let update = self.actions.add(update, known);
        self.rows.describe(update.number, &update.action.detail);
        update
    }

    fn hash(&self, id: &BoundedId) -> u64 {
        self.state.hash_one(id)
    }

    fn start<'f>(&mut self, key: u64, call: &'f Call<'f>, start: CallStart) -> Effect<'f>
    where
        'p: 'f,
    {
        let rules = self.rules;
        if let Some(open) = self.open.get_mut(&key) {
            if !call.rules.asks && std::mem::take(&mut open.is_asked) {
                self.asked -= 1;
            }
            let again = CallUpdate::new(CallChange::StartedAgain, open.number, call, rules);
            if call.rules.may_repeat || call.rules.only_repeats {
                return (Some(again), None);
            }
            open.repeats = open.repeats.saturating_add(1);
            let message = format!("{} is started again while it is open", name(call, None));
            let diagnostic =
                Diagnostic::new(Rule::DuplicateCallStart, message).related(open.start.line);
            return (Some(again), Some(diagnostic));
        }
        if call.rules.only_repeats {
            return (None, None);
        }
        let same = call.same.as_ref().map(|same| self.hash(same));
        let is_same = |ended: &EndedCall| same.is_some() && ended.same == same;
        if self.ended.get(&key).is_some_and(is_same) {
            return (None, None);
        }
        if self.untracked_calls.is_open(key) {
            let message = format!("{} is started again while it is open", name(call, None));
            let diagnostic = Diagnostic::new(Rule::DuplicateCallStart, message);
            return (None, (!call.rules.may_repeat).then_some(diagnostic));
        }
        let ended = self.ended.remove(&key);
        if let Some(ended) = ended.filter(|ended| !ended.is_started) {
            // The completion came first, and has been reported.
            self.remember(key, EndedCall { is_started: true, ..ended });
            return (None, None);
        }
        self.counts.total += 1;
        self.counts.unfinished += 1;
        let diagnostic = ended.map(|ended| {
            let message = format!("{} reuses the id of a completed call", name(call, None));
            Diagnostic::new(Rule::ReusedCallId, message).related(ended.line)
        });
        if self.open.len() >= CALLS_OPEN_MAX {
            self.has_overflowed = true;
            self.untracked_calls.start(key);
            return (None, diagnostic);
        }
        self.begin(call, Some(start.line));
        let values = call.must_match.iter();
        let must_match = values.map(|it| it.map(|value| self.arguments.keep(value))).collect();
        let open = OpenCall {
            id: call.id.clone(),
            number: self.latest,
            start,
            parent: None,
            tool: tool(call),
            is_keyed: call.tool_key == ToolKey::Found,
            action: OpenAction::default(),
            must_match,
            repeats: 0,
            same,
            is_asked: call.rules.asks,
            refusal: None,
        };
        self.asked += usize::from(open.is_asked);
        self.open.insert(key, open);
        (Some(CallUpdate::new(CallChange::Started, self.latest, call, rules).first()), diagnostic)
    }

    /// How the two halves differ, by what the profile says they have in common.
    fn mismatch(&self, open: &OpenCall, call: &Call<'_>) -> Option<Diagnostic> {
        let tools = match (&open.tool, &call.tool) {
            (Some(a), Some(b)) if *a != clipped(b, CALL_ID_BYTES_MAX) => {
                Some(format!("the tool ({} and {})", shown(a), shown(b)))
            }
            (Some(a), None) if open.is_keyed && call.tool_key == ToolKey::Missing => {
                Some(format!("the tool ({} and none)", shown(a)))
            }
            _ => None,
        };
        let halves = open.must_match.iter().zip(&call.must_match).zip(&self.rules.must_match);
        let values = halves.filter_map(|((a, b), path)| match (a, b) {
            (Some(a), Some(b)) if !self.arguments.equal(a, *b) => Some(shown(&path.to_string())),
            _ => None,
        });
        let differing: Vec<String> = tools.into_iter().chain(values).collect();
        if differing.is_empty() {
            return None;
        }
        let name = name(call, Some(open));
        let message =
            format!("the start and the completion of {name} differ in {}", differing.join(" and "));
        Some(Diagnostic::new(Rule::CallMismatch, message).related(open.start.line))
    }

    fn remember(&mut self, key: u64, ended: EndedCall) {
        if self.ended.len() < CALLS_ENDED_MAX {
            self.ended.insert(key, ended);
        } else {
            self.has_forgotten = true;
        }
    }

    /// Gives a new call its number, and a row if there is room.
    fn begin(&mut self, call: &Call<'_>, started_line: Option<u64>) {
        self.latest += 1;
        self.rows.start(ToolCall {
            number: self.latest,
            id: call.id.as_str().to_owned(),
            tool: tool(call),
            outcome: None,
            started_line,
            completed_line: None,
            detail: String::new(),
        });
    }

    pub(crate) fn start_of(&self, id: &BoundedId) -> Start<'_> {
        match self.open.get(&self.hash(id)) {
            None => Start::Unknown,
            Some(open) => open.tool.as_deref().map_or(Start::Unnamed, Start::Named),
        }
    }

    pub(crate) fn counts(&self) -> CallCounts {
        self.counts
    }
}

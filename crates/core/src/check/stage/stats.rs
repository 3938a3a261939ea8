//! Stage: figures of the run, if they are wanted. See [`RunStats`].

mod sub_agents;

use std::collections::{BTreeMap, VecDeque};

use crate::check::stats::{IdlePeriod, RunStats, SlowCall, ToolStats};
use crate::check::{CompletedCall, Event, EventCall, EventKind, TextSegment};
use crate::facts::Facts;
use crate::limits::{DURATIONS_MAX, IDLE_TIMES_MAX, NAMES_MAX};
use crate::profile::CallOutcome;

use sub_agents::SubAgents;

/// Slowest calls, and longest silences, that a report lists.
const LONGEST_MAX: usize = 10;

/// Longest detail (path, command) of a call in a list, in characters.
const DETAIL_CHARS_MAX: usize = 200;

#[derive(Debug, Default)]
pub(crate) struct StatsCollector {
    stats: RunStats,
    tools: BTreeMap<String, ToolFigures>,
    sub_agents: SubAgents,
    open_calls: u64,
    /// Line and milliseconds of the latest time in this turn.
    latest: Option<(u64, f64)>,
    /// The first time in this turn, in milliseconds.
    first: Option<f64>,
    /// Milliseconds with an open call, and without one.
    calls_ms: f64,
    other_ms: f64,
    /// The latest times without an open call. An agent may say later that a call was open.
    idle: VecDeque<Idle>,
    /// Whether a call was completed of which the stream shows no duration.
    hides_open_calls: bool,
    /// Durations that were kept, of all tools.
    durations: usize,
    /// Bytes of the open block of reasoning.
    reasoning_bytes: u64,
}

#[derive(Debug, Default)]
struct ToolFigures {
    counts: ToolStats,
    durations: Vec<u64>,
}

/// A time without an event and without an open call, in milliseconds.
#[derive(Debug)]
struct Idle {
    start: f64,
    end: f64,
    after_line: u64,
    before_line: u64,
}

impl StatsCollector {
    pub(crate) fn observe(&mut self, facts: &Facts<'_>, events: &[Event<'_>]) {
        let is_of_call = |event: &&Event<'_>| event.kind.call().is_some();
        for event in events.iter().filter(|event| !is_of_call(event)) {
            self.text(&event.kind);
        }
        if let Some(time) = facts.time {
            self.time(facts.line, time);
        }
        for event in events.iter().filter(is_of_call) {
            self.call(facts, &event.kind);
        }
        for event in events {
            self.sub_agents.observe(&event.kind, facts.line);
        }
        self.observe_corrections(events);
    }

    /// Observes an event after the end of the run.
    pub(crate) fn observe_corrections(&mut self, events: &[Event<'_>]) {
        for event in events {
            if let EventKind::CallCorrected { call, outcome, instead_of } = &event.kind {
                let of = (call.tool.as_deref().unwrap_or_default(), &*call.id);
                self.correct(of, *instead_of, *outcome);
            }
        }
    }

    /// Observes what plain text shows, or the end of the stream.
    pub(crate) fn observe_others(&mut self, events: &[Event<'_>]) {
        for event in events {
            match &event.kind {
                EventKind::CallCompleted(completed) => {
                    *self.tool(tool_of(&completed.call)).counts.count(completed.outcome) += 1;
                }
                EventKind::CallUnfinished(call) => self.unfinished(call),
                EventKind::MessageUsage(message) => self.sub_agents.message(message),
                _ => {}
            }
        }
    }

    /// A new turn begins: calls that are open will not end any more, and the time until now was
    /// not the agent's.
    pub(crate) fn new_turn(&mut self) {
        (self.latest, self.first) = (None, None);
        while self.settle() {}
        self.end_reasoning();
    }

    fn time(&mut self, line: u64, time: f64) {
        self.stats.timed_events += 1;
        self.first = self.first.or(Some(time));
        let Some((after_line, start)) = self.latest else {
            self.latest = Some((line, time));
            return;
        };
        // A clock that was set back shows nothing until it is where it was.
        self.latest = Some(if time < start { (line, start) } else { (line, time) });
        let Some(passed) = not_negative(time - start) else { return };
        if self.open_calls > 0 {
            self.calls_ms += passed;
            return;
        }
        self.idle.push_back(Idle { start, end: time, after_line, before_line: line });
        if self.idle.len() > IDLE_TIMES_MAX {
            self.settle();
        }
    }

    /// The agent says that a call was open in the last `duration` milliseconds before `end`.
    fn was_open(&mut self, duration: f64, end: f64) {
        let start = end - duration;
        for idle in self.idle.iter_mut().rev().take_while(|idle| idle.end > start) {
            let idle_end = start.max(idle.start);
            self.calls_ms += idle.end - idle_end;
            idle.end = idle_end;
        }
        if let Some(first) = self.first.filter(|first| start < *first) {
            self.calls_ms += first - start;
            self.first = Some(start);
        }
    }

    /// Counts the earliest time without an open call, if there is one.
    fn settle(&mut self) -> bool {
        let Some(Idle { start, end, after_line, before_line }) = self.idle.pop_front() else {
            return false;
        };
        let duration = end - start;
        self.other_ms += duration;
        // Most times are not longer than the longest that are kept.
        let shortest = self.stats.silences.get(LONGEST_MAX - 1).map_or(0, |it| it.duration_ms);
        if duration >= as_float(shortest) + 0.5 {
            let silence = IdlePeriod { duration_ms: whole(duration), after_line, before_line };
            keep_longest(&mut self.stats.silences, silence, |it| it.duration_ms);
        }
        true
    }

    fn text(&mut self, event: &EventKind<'_>) {
        match event {
            EventKind::Text(segment) => self.add_text(segment.bytes),
            EventKind::ThinkingDelta { text, .. } => self.reasoning_bytes += text.len() as u64,
            EventKind::ThinkingEnd { .. } => self.end_reasoning(),
            _ => {}
        }
    }

    fn add_text(&mut self, bytes: u64) {
        let stats = &mut self.stats;
        stats.texts += u64::from(bytes > 0);
        stats.text_bytes += bytes;
        stats.longest_text_bytes = stats.longest_text_bytes.max(bytes);
    }

    fn end_reasoning(&mut self) {
        let bytes = std::mem::take(&mut self.reasoning_bytes);
        let stats = &mut self.stats;
        stats.reasoning_blocks += u64::from(bytes > 0);
        stats.reasoning_bytes += bytes;
        stats.longest_reasoning_bytes = stats.longest_reasoning_bytes.max(bytes);
    }

    fn call(&mut self, facts: &Facts<'_>, event: &EventKind<'_>) {
        match event {
            EventKind::CallStarted(_) => self.open_calls += 1,
            EventKind::CallUnfinished(call) => self.unfinished(call),
            EventKind::CallCompleted(completed) => {
                self.open_calls = self.open_calls.saturating_sub(1);
                self.completed(facts, completed);
            }
            _ => {}
        }
    }

    fn unfinished(&mut self, call: &EventCall<'_>) {
        self.open_calls = self.open_calls.saturating_sub(1);
        self.tool(tool_of(call)).counts.unfinished += 1;
    }

    fn completed(&mut self, facts: &Facts<'_>, completed: &CompletedCall<'_>) {
        let CompletedCall { call, outcome, passed_ms, said_ms, .. } = completed;
        let tool = tool_of(call);
        *self.tool(tool).counts.count(*outcome) += 1;
        if let Some((duration, end)) = said_ms.zip(facts.time) {
            self.was_open(duration, end);
        }
        let Some(duration) = said_ms.or(*passed_ms) else {
            self.hides_open_calls = true;
            return;
        };
        let Some(duration_ms) = not_negative(duration).map(whole) else { return };
        let has_room = self.durations < DURATIONS_MAX;
        self.durations += usize::from(has_room);
        let ToolFigures { counts, durations } = self.tool(tool);
        counts.timed += 1;
        counts.total_ms = Some(counts.total_ms.unwrap_or_default().saturating_add(duration_ms));
        counts.longest_ms = counts.longest_ms.max(Some(duration_ms));
        durations.extend(has_room.then_some(duration_ms));
        let detail = call.detail.as_deref();
        let detail = detail.map(|it| it.chars().take(DETAIL_CHARS_MAX).collect());
        let slow = SlowCall {
            duration_ms,
            id: call.id.to_string(),
            tool: Some(tool.to_owned()).filter(|tool| !tool.is_empty()),
            detail,
            outcome: *outcome,
            started_line: call.started_line.unwrap_or(facts.line),
            completed_line: facts.line,
        };
        keep_longest(&mut self.stats.slowest_calls, slow, |it| it.duration_ms);
    }

    /// A call that was counted ended in another way.
    fn correct(&mut self, of: (&str, &str), counted: CallOutcome, outcome: CallOutcome) {
        let (tool, id) = of;
        let Some(figures) = self.tools.get_mut(tool) else { return };
        let counted = figures.counts.count(counted);
        if let Some(left) = counted.checked_sub(1) {
            *counted = left;
            *figures.counts.count(outcome) += 1;
        }
        let slow = self.stats.slowest_calls.iter_mut().find(|slow| slow.id == id);
        if let Some(slow) = slow {
            slow.outcome = outcome;
        }
    }

    fn tool(&mut self, name: &str) -> &mut ToolFigures {
        let is_counted = self.tools.contains_key(name) || self.tools.len() < NAMES_MAX;
        self.tools.entry(if is_counted { name.to_owned() } else { String::new() }).or_default()
    }

    /// `open_text` is what is open at the end of the stream.
    pub(crate) fn finish(&mut self, open_text: Option<&TextSegment<'_>>) -> RunStats {
        self.new_turn();
        self.add_text(open_text.map_or(0, |text| text.bytes));
        let mut stats = std::mem::take(&mut self.stats);
        if stats.timed_events > 1 {
            let parts = (whole(self.calls_ms), whole(self.other_ms));
            stats.elapsed_ms = Some(parts.0.saturating_add(parts.1));
            if !self.hides_open_calls {
                (stats.calls_ms, stats.other_ms) = (Some(parts.0), Some(parts.1));
            }
        }
        let tools = std::mem::take(&mut self.tools).into_iter();
        stats.tools = tools.map(|(name, figures)| figures.finish(name)).collect();
        stats.sub_agents = self.sub_agents.finish();
        stats.tools.sort_by_key(|tool| std::cmp::Reverse(tool.calls));
        stats
    }
}

impl ToolFigures {
    fn finish(mut self, name: String) -> ToolStats {
        self.durations.sort_unstable();
        let middle = self.durations.len() / 2;
        let upper = self.durations.get(middle).copied();
        let median_ms = if self.durations.len().is_multiple_of(2) {
            let lower = middle.checked_sub(1).and_then(|lower| self.durations.get(lower));
            lower.zip(upper).map(|(lower, upper)| u64::midpoint(*lower, upper))
        } else {
            upper
        };
        let it = self.counts;
        let completed = it.succeeded + it.failed + it.rejected + it.denied + it.unknown;
        let calls = completed + it.unfinished;
        let tool = Some(name).filter(|name| !name.is_empty());
        ToolStats { tool, calls, median_ms, ..it }
    }
}

fn tool_of<'e>(call: &'e EventCall<'_>) -> &'e str {
    call.tool.as_deref().unwrap_or_default()
}

/// Keeps the longest, the longest first; of equal ones those that came first.
fn keep_longest<T>(longest: &mut Vec<T>, new: T, duration: impl Fn(&T) -> u64) {
    let place = longest.partition_point(|it| duration(it) >= duration(&new));
    if place < LONGEST_MAX {
        longest.truncate(LONGEST_MAX - 1);
        longest.insert(place, new);
    }
}

/// What passed between two times, unless the clock was set back.
fn not_negative(ms: f64) -> Option<f64> {
    Some(ms).filter(|ms| *ms >= 0.0 && ms.is_finite())
}

#[expect(clippy::cast_precision_loss, reason = "it is compared roughly")]
fn as_float(ms: u64) -> f64 {
    ms as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "too large saturates")]
fn whole(ms: f64) -> u64 {
    ms.round() as u64
}

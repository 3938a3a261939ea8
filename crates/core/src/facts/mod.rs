//! What an event means, in vendor-neutral terms: [`Facts`].
//!
//! An event is read in two steps. [`FactReader::plan`] makes all decisions and says where the
//! values of the facts are; [`Plan::facts`] then reads them. The shape cache rests on this: the
//! values that only the second step reads may differ between two lines of one shape.

mod answer_text;
mod bounded_id;
mod calls;
mod corrections;
mod details;
mod message_usage;
mod names;
mod open_half;
mod reader;
mod retry_after;
mod run_facts;
mod session;
mod tag_rules;
mod template;
mod thinking;
mod time;

use std::borrow::Cow;

use crate::json::{JsonRef, LoneHalves};
use crate::profile::path::Scope;
use crate::profile::{
    CallOutcome, ErrorSeverity, FinalText, HalfRules, RunOutcome, RunProgress, ToolSource,
    WithoutStatus,
};
use crate::rules::Rule;
use crate::rules::escape::shown;

pub(crate) use answer_text::AnswerText;
pub(crate) use bounded_id::BoundedId;
pub(crate) use details::{DetailReader, EventDetails, SessionDetail};
pub use details::{Notice, NoticeValues, PlanItem, Server};
pub(crate) use message_usage::UsageUpdate;
pub(crate) use open_half::OpenHalf;
pub(crate) use reader::FactReader;
pub use retry_after::RetryAfter;
pub use run_facts::{CommandCounts, RunFacts, Usage};
pub(crate) use run_facts::{FactUpdate, message_in};
pub(crate) use template::{FactTemplate, Plan, TextTemplate, Thought, Values};
pub(crate) use thinking::ThinkingUpdate;
pub(crate) use time::{milliseconds, time_ms, whole_number};

/// What one event means. Small, because one is made for each line; what few events have is in a
/// box.
#[derive(Debug)]
pub(crate) struct Facts<'e> {
    /// The number of its line, from 1.
    pub(crate) line: u64,
    /// The offset of its first byte in the stream, from 0.
    pub(crate) offset: u64,
    /// Its tag, the parts joined by `/`; empty if it has none.
    pub(crate) tag: &'e str,
    pub(crate) tag_status: TagStatus,
    pub(crate) marks: Marks,
    pub(crate) session: Option<&'e str>,
    /// Milliseconds. Only a time that never goes back, unless all times are wanted.
    pub(crate) time: Option<f64>,
    /// Its number, or its id.
    pub(crate) order: Option<Cow<'e, str>>,
    pub(crate) text: Option<TextFact<'e>>,
    pub(crate) more_texts: Vec<TextFact<'e>>,
    /// If reasoning is wanted.
    pub(crate) thought: Thought<Cow<'e, str>>,
    pub(crate) rare: Option<Box<RareFacts<'e>>>,
    /// The event, unless the memory of lines knew what it means.
    pub(crate) event: Option<JsonRef<'e>>,
    /// Whether a sub-agent wrote it, in its own session.
    pub(crate) is_of_sub_agent: bool,
}

/// What only some events say. Stages read it in this order: calls, text, end.
#[derive(Debug, Default)]
pub(crate) struct RareFacts<'e> {
    pub(crate) directory: Option<Cow<'e, str>>,
    pub(crate) restart: Option<Restart>,
    pub(crate) started: Vec<Call<'e>>,
    pub(crate) completed: Vec<(Call<'e>, CallOutcome)>,
    /// How calls ended, whatever their completions say.
    pub(crate) corrected: Vec<(Call<'e>, CallOutcome)>,
    /// The user stopped the calls that the latest completions reject.
    pub(crate) interrupts_calls: bool,
    pub(crate) next_group: Option<String>,
    pub(crate) abandons_text: bool,
    /// It answers a message that begins no turn.
    pub(crate) is_reply: bool,
    /// The next whole text may repeat the last segment.
    pub(crate) may_repeat_text: bool,
    /// The final text may be only what follows.
    pub(crate) may_begin_final_text: bool,
    pub(crate) final_text: Option<AnswerText<'e>>,
    /// What the final text repeats, if it is not what final texts of this agent repeat.
    pub(crate) final_is: Option<FinalText>,
    pub(crate) error: Option<ErrorSeverity>,
    pub(crate) end: Option<RunEnd<'e>>,
    pub(crate) run_facts: Vec<FactUpdate>,
    /// Each with whether it is the session of a sub-agent.
    pub(crate) background_started: Vec<(BoundedId, bool)>,
    /// Each with whether it counts only before the end of the run.
    pub(crate) background_ended: Vec<(BoundedId, bool)>,
    /// Work that was stopped was lost.
    pub(crate) loses_stopped_work: bool,
    /// Values that the profile does not know: their paths and texts.
    pub(crate) unknown_values: Vec<(String, String)>,
    pub(crate) defects: Vec<ReportedDefect>,
    pub(crate) unavailable: Vec<Unavailable>,
    pub(crate) lone_halves: Option<LoneHalves>,
}

/// The session may start again in the same turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Restart {
    pub(crate) has_new_id: bool,
    pub(crate) is_turn: bool,
}

/// What should give the agent tools, and does not.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unavailable {
    pub(crate) is: ToolSource,
    pub(crate) name: String,
    /// Why, in a word of the agent.
    pub(crate) why: Option<String>,
}

/// A defect of the stream that this one was made from.
#[derive(Debug)]
pub(crate) struct ReportedDefect {
    pub(crate) rule: Rule,
    pub(crate) line: Option<String>,
    pub(crate) message: Option<String>,
}

impl RareFacts<'_> {
    /// All that was decided, without texts that decide nothing more.
    fn decisions(&self) -> String {
        let call = |call: &Call<'_>| {
            let Call { id, rules, tool, tool_key, same, .. } = call;
            let known = (call.is_tool_known, call.is_result_known);
            let end = (call.is_contradictory, call.hides_exit_status, call.still_runs);
            format!("{id:?} {rules:?} {tool:?} {tool_key:?} {same:?} {known:?} {end:?}")
        };
        let started: Vec<_> = self.started.iter().map(call).collect();
        let ended = |(it, end): &(Call<'_>, CallOutcome)| (call(it), *end);
        let completed: Vec<_> = self.completed.iter().map(ended).collect();
        let corrected: Vec<_> = self.corrected.iter().map(ended).collect();
        let facts = self.run_facts.iter().map(|update| match update {
            FactUpdate::Text(fact, _) => format!("{fact:?}"),
            FactUpdate::Structured(_) => "structured".to_owned(),
            FactUpdate::Unexplained(_) => "unexplained".to_owned(),
            update => format!("{update:?}"),
        });
        let facts: Vec<_> = facts.collect();
        let end = |end: RunEnd<'_>| {
            let RunEnd { is_terminal, is_provisional, without_status, expects_turn, .. } = end;
            (is_terminal, is_provisional, without_status, expects_turn, end.outcome)
        };
        let end = self.end.map(end);
        let Self { next_group, error, unknown_values, final_is, restart, .. } = self;
        let marks = [
            self.interrupts_calls,
            self.abandons_text,
            self.is_reply,
            self.may_repeat_text,
            self.may_begin_final_text,
            self.loses_stopped_work,
        ];
        let background = (&self.background_started, &self.background_ended);
        let defects: Vec<_> = self.defects.iter().map(|defect| defect.rule).collect();
        let unavailable = &self.unavailable;
        format!(
            "{started:?} {completed:?} {facts:?} {end:?} {corrected:?} {next_group:?} {error:?} \
             {unknown_values:?} {marks:?} {background:?} {defects:?} {final_is:?} {unavailable:?} \
             {restart:?}"
        )
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TagStatus {
    /// The agent's documentation promises it, or it reports the run's outcome.
    Documented,
    /// It is known from real streams only.
    Observed,
    /// It is not known, but only informs.
    Notice,
    Unknown,
}

/// Facts without a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// A rule of the profile applies, and what it points to is missing.
    pub(crate) is_incomplete: bool,
    pub(crate) starts_session: bool,
    pub(crate) ends_segment: bool,
    /// After the end of a turn it begins a new one.
    pub(crate) starts_turn: bool,
    pub(crate) may_follow_end: bool,
    /// How the run goes.
    pub(crate) progress: Option<RunProgress>,
}

#[derive(Debug)]
pub(crate) struct TextFact<'e> {
    pub(crate) kind: TextKind,
    /// The message it belongs to, where the agent's texts name one.
    pub(crate) group: Option<Cow<'e, str>>,
    pub(crate) text: Cow<'e, str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextKind {
    Delta,
    Whole,
}

/// One half of a tool call.
#[derive(Debug)]
pub(crate) struct Call<'e> {
    /// What correlates the halves.
    pub(crate) id: BoundedId,
    pub(crate) rules: HalfRules,
    pub(crate) tool: Option<Cow<'e, str>>,
    pub(crate) tool_key: ToolKey,
    pub(crate) is_tool_known: bool,
    /// Whether the profile knows the kind of result; a start has none.
    pub(crate) is_result_known: bool,
    /// What a start has in common with a repeat of it that comes after the completion.
    pub(crate) same: Option<BoundedId>,
    /// Whether a completion says two things at once.
    pub(crate) is_contradictory: bool,
    /// Whether a completion does not show how a command ended.
    pub(crate) hides_exit_status: bool,
    /// Whether its work goes on after a completion.
    pub(crate) still_runs: bool,
    /// The half itself: the event, or an element of an array in it.
    pub(crate) scope: Scope<'e>,
    /// What both halves must have in common, in the order of the profile's list.
    pub(crate) must_match: Vec<Option<JsonRef<'e>>>,
}

/// Whether a key names the tool of a half of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ToolKey {
    /// It has no object in which a key could.
    NoPlace,
    /// The object is there, without such a key.
    Missing,
    Found,
}

/// What the stream says at the end of the run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunEnd<'e> {
    /// Whether it is a terminal event; if not, it reports the outcome of a run whose end is the
    /// end of the stream.
    pub(crate) is_terminal: bool,
    /// Whether it is the end only if nothing follows.
    pub(crate) is_provisional: bool,
    /// What it is if the exit status is unknown.
    pub(crate) without_status: Option<WithoutStatus>,
    /// Whether another turn must follow.
    pub(crate) expects_turn: bool,
    /// Without one the latest progress decides.
    pub(crate) outcome: Option<RunOutcome>,
    /// The event as it is written.
    pub(crate) source: &'e str,
}

impl<'e> Facts<'e> {
    /// Its texts are not those of the run, and its session is not that of the run.
    pub(crate) fn leave_to_sub_agent(&mut self) {
        (self.session, self.text) = (None, None);
        self.more_texts.clear();
        self.is_of_sub_agent = true;
    }

    /// The event as messages name it.
    pub(crate) fn name(&self) -> String {
        if self.tag.is_empty() { "without a tag".to_owned() } else { shown(self.tag) }
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = &TextFact<'e>> {
        self.text.iter().chain(&self.more_texts)
    }

    pub(crate) fn started(&self) -> &[Call<'e>] {
        self.rare.as_ref().map_or(&[], |rare| &rare.started)
    }

    pub(crate) fn completed(&self) -> &[(Call<'e>, CallOutcome)] {
        self.rare.as_ref().map_or(&[], |rare| &rare.completed)
    }

    pub(crate) fn corrected(&self) -> &[(Call<'_>, CallOutcome)] {
        self.rare.as_ref().map_or(&[], |rare| &rare.corrected)
    }

    pub(crate) fn end(&self) -> Option<&RunEnd<'e>> {
        self.rare.as_ref()?.end.as_ref()
    }

    pub(crate) fn terminal(&self) -> Option<&RunEnd<'e>> {
        self.end().filter(|end| end.is_terminal)
    }

    pub(crate) fn is_provisional_end(&self) -> bool {
        self.end().is_some_and(|end| end.is_provisional)
    }

    /// The terminal event is that of an earlier turn, and the end only if nothing follows. Its text
    /// is not an answer: the latest text may be that of a later turn.
    pub(crate) fn hold_back_end(&mut self) {
        if let Some(rare) = &mut self.rare {
            rare.end.iter_mut().for_each(|end| end.is_provisional = true);
            rare.final_text = None;
        }
    }

    /// Nothing follows this event. Returns whether something might have.
    pub(crate) fn end_for_good(&mut self) -> bool {
        let end = self.rare.as_mut().and_then(|rare| rare.end.as_mut());
        end.is_some_and(|end| std::mem::take(&mut end.is_provisional))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_stay_small() {
        assert!(size_of::<Facts<'_>>() <= 232, "{}", size_of::<Facts<'_>>());
    }
}

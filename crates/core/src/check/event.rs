//! What happens in a run, in one vocabulary for all agents.

mod call;
mod owned;
mod result;
mod run_events;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::facts::{Notice, PlanItem, Server, Usage};
use crate::profile::{CallOutcome, ErrorSeverity};
use crate::rules::diagnostic::Diagnostic;
use crate::rules::{Rule, Severity};

pub use call::{CompletedCall, EventCall};
pub use result::{Figures, RunResult, TurnResult};
pub use run_events::RunEvents;

/// The value of `format` in the first event.
const FORMAT: &str = "ndjson-check/1";

/// One thing that happened. As JSON it is a line of `--to events`, which
/// `src/profile/builtin/events/schema.json` describes, and it can be read from one: what such a
/// line does not have gets its default.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct Event<'a> {
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind<'a>,
    /// Where in the stream, and when.
    #[serde(flatten)]
    pub at: EventTime,
}

/// When something happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct EventTime {
    /// The line of the stream, from 1; none for what only the end of the stream shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The agent's own time in milliseconds, if the event has one and times are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
}

/// What can happen in a run.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind<'a> {
    /// Comes first, and once.
    Session(Box<Session>),
    /// More of the session becomes known, or changes.
    SessionChanged(Box<SessionFacts>),
    /// Another turn begins; the first is 1.
    Turn {
        /// Its number.
        turn: u64,
    },
    /// The terminal event of a turn says how it ended. Where only what follows, or the end of the
    /// stream, shows that it was the end, there is no such event.
    TurnEnded(Box<TurnResult>),
    /// More text of a segment.
    TextDelta {
        /// The number of the segment, from 1.
        segment: u64,
        /// What is added.
        text: Cow<'a, str>,
    },
    /// A segment of the assistant's text is complete.
    Text(TextSegment<'a>),
    /// The segment is not part of the answer.
    TextAbandoned {
        /// The number of the segment.
        segment: u64,
        /// Whether the next event has its final version, as a whole.
        #[serde(rename = "replaced", default, skip_serializing_if = "is_false")]
        is_replaced: bool,
    },
    /// The text of the answer, which the agent repeats at the end.
    Answer {
        /// The whole text.
        text: Cow<'a, str>,
    },
    /// A tool call starts.
    CallStarted(EventCall<'a>),
    /// The start came again, perhaps with more details.
    CallUpdated(EventCall<'a>),
    /// A tool call has ended.
    CallCompleted(Box<CompletedCall<'a>>),
    /// The call has completed, and now the agent says that it ended in another way. The place of
    /// the event is that of the correction; the call has no start.
    CallCorrected {
        /// The call.
        #[serde(flatten)]
        call: EventCall<'a>,
        /// How it ended.
        outcome: CallOutcome,
        /// How its completion said that it ended.
        instead_of: CallOutcome,
    },
    /// The turn or the run is over, and the call has not completed.
    CallUnfinished(EventCall<'a>),
    /// More of the agent's reasoning.
    ThinkingDelta {
        /// The number of the block, from 1.
        block: u64,
        /// What is added.
        text: Cow<'a, str>,
    },
    /// The block is complete.
    ThinkingEnd {
        /// The number of the block.
        block: u64,
    },
    /// The agent's list of things to do changes; at most 1,000.
    Plan {
        /// All of them, in its order.
        items: Vec<PlanItem>,
    },
    /// What a reader of a log wants to see, such as a retry.
    Notice(Box<Notice>),
    /// The agent reports an error.
    Error {
        /// How bad it is.
        severity: ErrorSeverity,
        /// What the agent says.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<Cow<'a, str>>,
    },
    /// What one message of the model used; comes once, when the message is complete.
    MessageUsage(Box<MessageUsage>),
    /// What is known of the run so far.
    Usage(Box<Figures>),
    /// The stream does not keep its contract.
    Defect(Defect<'a>),
    /// The run is over. Comes last; if a stream may have several sessions, at the end of each.
    End(Box<RunResult>),
    /// The stream is over, and the run was not.
    Cut(Box<RunResult>),
}

impl<'a> EventKind<'a> {
    /// The call that the event is about.
    pub fn call(&self) -> Option<&EventCall<'a>> {
        match self {
            Self::CallStarted(call)
            | Self::CallUpdated(call)
            | Self::CallUnfinished(call)
            | Self::CallCorrected { call, .. } => Some(call),
            Self::CallCompleted(completed) => Some(&completed.call),
            _ => None,
        }
    }
}

/// The start of a stream.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct Session {
    /// The version of this vocabulary.
    pub format: Cow<'static, str>,
    /// The profile by which the stream is read.
    pub profile: String,
    /// What is known of the session.
    #[serde(flatten)]
    pub session: SessionFacts,
}

impl Session {
    pub(super) fn new(profile: String, session: SessionFacts) -> Self {
        Self { format: FORMAT.into(), profile, session }
    }
}

/// What is known of the session. An observer that wants no details gets the id, the directory and
/// the model only.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct SessionFacts {
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The directory in which the agent works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The version of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The model, by the agent's name for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What the agent may do without asking, in its own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The names of its tools; at most 1,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// The servers with more tools; at most 1,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub servers: Option<Vec<Server>>,
}

/// A complete segment of the assistant's text.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct TextSegment<'a> {
    /// Its number, from 1.
    pub segment: u64,
    /// The text; `None` if it is very long and came in deltas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Cow<'a, str>>,
    /// The size of the text.
    pub bytes: u64,
    /// The text, or its start if it is very long.
    #[serde(skip)]
    pub beginning: Cow<'a, str>,
    /// Whether deltas have brought the whole text before.
    #[serde(default, skip_serializing_if = "is_false")]
    pub came_in_deltas: bool,
}

/// What one message of the model used.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct MessageUsage {
    /// The agent's id of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The number of the call inside which a sub-agent's message comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<u64>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tokens.
    #[serde(flatten)]
    pub usage: Usage,
    /// Whether the agent says that it comes inside a call, although the call may be unknown.
    #[serde(skip)]
    pub(crate) is_inner: bool,
}

/// A defect of the stream.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct Defect<'a> {
    /// The rule.
    pub rule: Rule,
    /// How bad it is, by the options of the check.
    pub severity: Severity,
    /// What is wrong.
    pub message: Cow<'a, str>,
    /// What to do, or what belongs to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Cow<'a, str>>,
    /// The line to which it is related.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related_line: Option<u64>,
    /// The id of the call, or of the background work, that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<Cow<'a, str>>,
    /// Which demand of yours is not met: a limit, such as `limits.cost`, or the place of an
    /// expectation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demand: Option<Cow<'a, str>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl<'a> From<&'a Diagnostic> for Defect<'a> {
    fn from(diagnostic: &'a Diagnostic) -> Self {
        Self {
            rule: diagnostic.rule,
            severity: diagnostic.severity,
            message: (&*diagnostic.message).into(),
            note: diagnostic.note.as_deref().map(Into::into),
            related_line: diagnostic.related_line,
            call_id: diagnostic.call_id.as_deref().map(Into::into),
            demand: diagnostic.demand.as_deref().map(Into::into),
        }
    }
}

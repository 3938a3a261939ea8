//! Reasoning, notices, and what an event says about the session, its plan and its tokens.
//!
//! They are read on request: for an observer that shows them, or for a limit or an expectation
//! that needs them. Lines of events that may have some are then parsed, unless they have been.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::thinking::{ThinkingBlock, ThinkingUpdates, thinking};
use super::{Facts, Thought, UsageUpdate, message_usage, time_ms, whole_number};
use crate::json::{JsonRef, LoneHalves};
use crate::limits::{MESSAGE_BYTES_MAX, SESSION_LIST_MAX};
use crate::profile::path::{Conditions, Path, Scope};
use crate::profile::{NoticeKind, NoticePaths, PlanRule, PlanState, Profile, ServersAt};
use crate::rules::escape::clipped;
use crate::stream::{Line, LineParser};

/// A time in seconds is below it.
const SECONDS_MAX: f64 = 1e11;

/// What an event says besides text and calls.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct EventDetails<'e> {
    pub(crate) session: Vec<SessionDetail>,
    pub(crate) thinking: ThinkingUpdates<'e>,
    pub(crate) plan: Option<Vec<PlanItem>>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) usage: Vec<UsageUpdate>,
}

impl EventDetails<'_> {
    /// What it thinks, plans and is asked is not shown; what it uses is.
    fn leave_to_sub_agent(&mut self) {
        self.thinking.clear();
        self.session.clear();
        self.plan = None;
        self.notices.retain(|notice| notice.kind != NoticeKind::Prompt);
    }
}

/// What an event says about the agent: its version, its model, its tools.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SessionDetail {
    Version(String),
    Model(String),
    Mode(String),
    Tools(Vec<String>),
    /// All of them.
    Servers(Vec<Server>),
    /// One of them.
    Server(Server),
}

/// A server with tools, such as one of the Model Context Protocol.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct Server {
    /// Its name.
    pub name: String,
    /// What the agent says of it, such as `connected` or `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Whether the agent can use it, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available: Option<bool>,
}

/// One of the things that the agent wants to do.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct PlanItem {
    /// What it is.
    pub text: String,
    /// How far it is.
    pub state: PlanState,
}

/// What a reader of a log wants to see, such as a retry.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct Notice {
    /// What it is about.
    pub kind: NoticeKind,
    /// What the agent says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The same in values, where the agent has them.
    #[serde(flatten)]
    pub values: NoticeValues,
}

/// What a notice says in values of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct NoticeValues {
    /// Of a retry: the number of the attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u64>,
    /// Of a retry: how many attempts there may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u64>,
    /// Of a retry: how long the agent waits before it, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// Of a retry: the HTTP status of the request that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u64>,
    /// Of a compaction: the tokens of the context before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Of a rate limit: which one, by the agent's name for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// Of a rate limit: when it is over, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resets_at_ms: Option<u64>,
    /// Of a permission or its answer: the agent's id of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Of a permission or its answer: the agent's id of the call that needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// Of a permission or its answer: the tool that needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Of an answer: what it is, in the agent's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

#[derive(Debug)]
pub(crate) struct DetailReader {
    profile: Arc<Profile>,
    block: ThinkingBlock,
    parser: LineParser,
}

impl DetailReader {
    pub(crate) fn new(profile: &Arc<Profile>) -> Self {
        let (block, parser) = (ThinkingBlock::default(), LineParser::default());
        Self { profile: Arc::clone(profile), block, parser }
    }

    /// Reads an event; most have nothing. `is_other_block` says whether it has text or calls.
    pub(crate) fn read<'f>(
        &mut self,
        facts: &'f Facts<'_>,
        line: &Line<'_>,
        is_other_block: bool,
    ) -> Option<EventDetails<'f>> {
        let mut details = EventDetails::default();
        let halves = facts.rare.as_deref().and_then(|rare| rare.lone_halves);
        let Self { profile, block, parser } = self;
        match (&facts.thought, facts.event) {
            (Thought::Chunk(text), _) => {
                block.delta(Cow::Borrowed(text), halves, &mut details.thinking);
            }
            (Thought::Unread, Some(event)) => details = details_of(event, halves, profile, block),
            (Thought::Unread, None) => {
                if let Ok(event) = parser.read(line) {
                    details = details_of(event.root(), event.lone_halves, profile, block);
                }
            }
            (Thought::Nothing, _) => {}
        }
        if facts.is_of_sub_agent {
            details.leave_to_sub_agent();
        }
        if is_other_block {
            self.block.end(&mut details.thinking);
        }
        (details != EventDetails::default()).then_some(details)
    }
}

fn details_of<'f>(
    root: JsonRef<'_>,
    halves: Option<LoneHalves>,
    profile: &Profile,
    block: &mut ThinkingBlock,
) -> EventDetails<'f> {
    EventDetails {
        thinking: thinking(profile, root, halves, block),
        notices: notices(profile, root),
        session: session(profile, root),
        plan: plan(profile, root),
        usage: message_usage::read(profile, root),
    }
}

fn session(profile: &Profile, root: JsonRef<'_>) -> Vec<SessionDetail> {
    let mut found = Vec::new();
    for rule in profile.session.details.iter().filter(|rule| rule.when.hold(root)) {
        let at = |path: &Option<Path>| path.as_ref().and_then(|path| scalar(path, root.into()));
        found.extend(at(&rule.version).map(SessionDetail::Version));
        found.extend(at(&rule.model).map(SessionDetail::Model));
        found.extend(at(&rule.mode).map(SessionDetail::Mode));
        if let Some(tools) = rule.tools.as_ref().filter(|tools| tools.of.is_there(root)) {
            let names = tools.of.objects(root).filter_map(|scope| scalar(&tools.value, scope));
            found.push(SessionDetail::Tools(names.take(SESSION_LIST_MAX).collect()));
        }
        if let Some(at) = rule.servers.as_ref().filter(|servers| servers.of.is_there(root)) {
            let mut servers = at.of.objects(root).filter_map(|scope| server(at, scope));
            if at.of.are_elements() {
                found.push(SessionDetail::Servers(servers.take(SESSION_LIST_MAX).collect()));
            } else {
                found.extend(servers.next().map(SessionDetail::Server));
            }
        }
    }
    found
}

fn server(at: &ServersAt, scope: Scope<'_>) -> Option<Server> {
    let status = at.status.as_ref().and_then(|path| scalar(path, scope));
    let is_pending = at.pending.as_ref().is_some_and(|when| when.hold(scope));
    let available = at.available.as_ref().filter(|_| !is_pending);
    let available = available.map(|when| when.hold(scope));
    scalar(&at.name, scope).map(|name| Server { name, status, available })
}

fn plan(profile: &Profile, root: JsonRef<'_>) -> Option<Vec<PlanItem>> {
    let mut rules = profile.plans.iter().filter(|rule| rule.when.hold(root));
    let PlanRule { of, text, state, .. } = rules.find(|rule| rule.of.is_there(root))?;
    let item = |scope| {
        let state = state.find(scope).and_then(JsonRef::scalar_text).unwrap_or_default();
        scalar(text, scope).map(|text| PlanItem { text, state: PlanState::of(&state) })
    };
    Some(of.objects(root).filter_map(item).take(SESSION_LIST_MAX).collect())
}

/// The conditions of all rules of details.
pub(super) fn conditions(profile: &Profile) -> impl Iterator<Item = &Conditions> {
    let thinking = profile.thinking.iter().map(|rule| &rule.when);
    thinking.chain(conditions_except_thinking(profile))
}

/// The conditions of all rules of details except those of reasoning.
pub(super) fn conditions_except_thinking(profile: &Profile) -> impl Iterator<Item = &Conditions> {
    let notices = profile.notices.iter().map(|rule| &rule.when);
    let plans = profile.plans.iter().map(|rule| &rule.when);
    let sessions = profile.session.details.iter().map(|rule| &rule.when);
    let usage = profile.message_usage.iter().map(|rule| &rule.when);
    notices.chain(plans).chain(sessions).chain(usage)
}

fn notices(profile: &Profile, root: JsonRef<'_>) -> Vec<Notice> {
    let rules = profile.notices.iter().filter(|rule| rule.when.hold(root));
    let notices = rules.flat_map(|rule| {
        rule.of.objects(root).map(|scope| {
            let detail = rule.detail.iter().find_map(|detail| detail.filled(scope));
            Notice { kind: rule.kind, detail, values: values(&rule.values, scope) }
        })
    });
    notices.collect()
}

fn values(paths: &NoticePaths, scope: Scope<'_>) -> NoticeValues {
    let number = |path: &Option<Path>| path.as_ref()?.find(scope)?.as_f64().and_then(whole_number);
    let text = |path: &Option<Path>| scalar(path.as_ref()?, scope);
    let resets_at = paths.resets_at.as_ref().and_then(|path| time_ms(path.find(scope)?));
    // A smaller number of milliseconds would be a time before the year 1974: it is in seconds.
    let in_ms = |time: f64| if time < SECONDS_MAX { time * 1_000.0 } else { time };
    NoticeValues {
        attempt: number(&paths.attempt),
        attempts: number(&paths.attempts),
        delay_ms: number(&paths.delay_ms),
        http_status: number(&paths.http_status),
        tokens: number(&paths.tokens),
        limit: text(&paths.limit),
        resets_at_ms: resets_at.and_then(|time| whole_number(in_ms(time))),
        request: text(&paths.request),
        call_id: text(&paths.call),
        tool: text(&paths.tool),
        answer: paths.answer.as_ref().and_then(|answer| answer.filled(scope)).map(|it| short(&it)),
    }
}

/// A short text that is not empty.
pub(super) fn scalar(path: &Path, scope: Scope<'_>) -> Option<String> {
    let text = path.find(scope).and_then(JsonRef::scalar_text)?;
    (!text.is_empty()).then(|| short(&text))
}

/// The start of a long text.
pub(super) fn short(text: &str) -> String {
    clipped(text, MESSAGE_BYTES_MAX).into_owned()
}

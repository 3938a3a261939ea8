//! The figures of several streams together. It does not matter in which order they are added.

use ndjson_check_core::{
    CallCounts, IdlePeriod, RunStats, SlowCall, StreamSummary, ToolStats, UnknownKind, UnknownName,
    Usage,
};
use serde::{Deserialize, Serialize, Serializer};

use super::bounded::Bounded;
use crate::limits::{NAMES_MAX, UNKNOWN_NAMES_MAX};

/// Slowest calls, and longest silences, of all streams together.
const LONGEST_MAX: usize = 10;

/// What the figures of one stream are added from.
#[derive(Debug, Deserialize)]
pub(super) struct StreamFigures {
    pub(super) path: String,
    pub(super) profile: String,
    pub(super) agent_version: Option<String>,
    pub(super) verdict: String,
    pub(super) outcome: String,
    pub(super) tool_call_counts: CallCounts,
    pub(super) cost_usd: Option<f64>,
    #[serde(default)]
    pub(super) usage: Usage,
    #[serde(default)]
    pub(super) unknown: Vec<UnknownName>,
    pub(super) stats: Option<RunStats>,
}

impl From<&StreamSummary> for StreamFigures {
    fn from(summary: &StreamSummary) -> Self {
        Self {
            path: summary.name.clone(),
            profile: summary.profile.clone(),
            agent_version: summary.facts.agent_version.clone(),
            verdict: summary.verdict.name().to_owned(),
            outcome: summary.outcome.name().to_owned(),
            tool_call_counts: summary.call_counts,
            cost_usd: summary.facts.cost_usd,
            usage: summary.facts.usage,
            unknown: summary.unknown.clone(),
            stats: summary.stats.as_deref().cloned(),
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct StatsTotals {
    #[serde(flatten)]
    pub(super) sum: StatsSum,
    #[serde(serialize_with = "agents")]
    pub(super) agents: Bounded<Agent, StatsSum>,
    #[serde(serialize_with = "tools")]
    pub(super) tools: Bounded<Option<String>, ToolStats>,
    pub(super) slowest_calls: Vec<InStream<SlowCall>>,
    pub(super) silences: Vec<InStream<IdlePeriod>>,
    /// What the profiles do not know.
    #[serde(skip_serializing_if = "is_empty", serialize_with = "unknown")]
    pub(super) unknown: Bounded<(Agent, Unknown), FoundName>,
}

/// A profile, and the version of the agent.
pub(super) type Agent = (String, Option<String>);

/// Something that a profile does not know: its kind, what it is of, and its name.
pub(super) type Unknown = (UnknownKind, Option<String>, String);

/// How often something was found, and where first, by the order of the streams' names.
#[derive(Debug, Default, Clone, Serialize)]
pub(super) struct FoundName {
    pub(super) count: u64,
    pub(super) streams: u64,
    pub(super) path: String,
    pub(super) line: u64,
}

impl Default for StatsTotals {
    fn default() -> Self {
        Self {
            sum: StatsSum::default(),
            agents: Bounded::new(NAMES_MAX),
            tools: Bounded::new(NAMES_MAX),
            slowest_calls: Vec::new(),
            silences: Vec::new(),
            unknown: Bounded::new(UNKNOWN_NAMES_MAX),
        }
    }
}

#[derive(Debug, Default, Clone, Serialize)]
pub(super) struct StatsSum {
    pub(super) streams: u64,
    pub(super) conforming: u64,
    pub(super) succeeded: u64,
    pub(super) failed: u64,
    pub(super) truncated: u64,
    pub(super) timed_out: u64,
    pub(super) calls: CallCounts,
    pub(super) timed_streams: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) elapsed_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) calls_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) other_ms: Option<u64>,
    /// Streams that report the tokens in.
    pub(super) token_streams: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tokens_in: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tokens_out: Option<u64>,
    pub(super) cost_streams: u64,
    /// In billionths of a dollar: a sum of fractions would depend on its order.
    #[serde(rename = "cost_usd", serialize_with = "dollars")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost: Option<u64>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct InStream<T> {
    pub(super) path: String,
    #[serde(flatten)]
    pub(super) it: T,
}

impl<T> InStream<T> {
    pub(super) fn new(path: &str, it: T) -> Self {
        Self { path: path.to_owned(), it }
    }
}

impl StatsTotals {
    /// Adds a stream, if its figures were collected.
    pub(super) fn add(&mut self, stream: &StreamFigures) {
        let Some(stats) = &stream.stats else { return };
        let agent = (stream.profile.clone(), stream.agent_version.clone());
        let one = StatsSum::of(stream, stats);
        self.sum.join(&one);
        self.agents.add(agent.clone(), |sum| sum.join(&one), StatsSum::join);
        for it in &stream.unknown {
            let unknown = (it.kind, it.of.clone(), it.name.clone());
            let (path, line) = (stream.path.clone(), it.line);
            let found = FoundName { count: it.count, streams: 1, path, line };
            self.unknown.add((agent.clone(), unknown), |all| all.join(&found), FoundName::join);
        }
        for tool in &stats.tools {
            self.tools.add(tool.tool.clone(), |sum| join_tools(sum, tool), join_tools);
        }
        let found = |it: &SlowCall| InStream::new(&stream.path, it.clone());
        self.slowest_calls.extend(stats.slowest_calls.iter().map(found));
        keep_longest(&mut self.slowest_calls, |it| (it.duration_ms, it.started_line));
        let found = |it: &IdlePeriod| InStream::new(&stream.path, *it);
        self.silences.extend(stats.silences.iter().map(found));
        keep_longest(&mut self.silences, |it| (it.duration_ms, it.after_line));
    }
}

impl FoundName {
    fn join(&mut self, other: &Self) {
        let is_first = (&other.path, other.line) < (&self.path, self.line);
        if self.count == 0 || is_first {
            (self.path, self.line) = (other.path.clone(), other.line);
        }
        self.count = self.count.saturating_add(other.count);
        self.streams = self.streams.saturating_add(other.streams);
    }
}

/// The longest, the longest first; of equal ones by their places.
fn keep_longest<T>(found: &mut Vec<InStream<T>>, key: impl Fn(&T) -> (u64, u64)) {
    found.sort_by(|a, b| {
        let ((of_a, line_a), (of_b, line_b)) = (key(&a.it), key(&b.it));
        of_b.cmp(&of_a).then_with(|| (&a.path, line_a).cmp(&(&b.path, line_b)))
    });
    found.truncate(LONGEST_MAX);
}

impl StatsSum {
    fn of(stream: &StreamFigures, stats: &RunStats) -> Self {
        let is = |name: &str, expected: &str| u64::from(name == expected);
        let tokens_in = stream.usage.tokens_in();
        Self {
            streams: 1,
            conforming: is(&stream.verdict, "conforming"),
            succeeded: is(&stream.outcome, "succeeded"),
            failed: is(&stream.outcome, "failed"),
            truncated: is(&stream.outcome, "truncated"),
            timed_out: is(&stream.outcome, "timed-out"),
            calls: stream.tool_call_counts,
            timed_streams: u64::from(stats.elapsed_ms.is_some()),
            elapsed_ms: stats.elapsed_ms,
            calls_ms: stats.calls_ms,
            other_ms: stats.other_ms,
            token_streams: u64::from(tokens_in.is_some()),
            tokens_in,
            tokens_out: stream.usage.output_tokens,
            cost_streams: u64::from(stream.cost_usd.is_some()),
            cost: stream.cost_usd.map(billionths),
        }
    }

    fn join(&mut self, other: &Self) {
        // The parts of the time are known if each stream with times shows them.
        let part = |sum, part| match (self.timed_streams, other.timed_streams) {
            (0, _) => part,
            (_, 0) => sum,
            _ => added(sum, part).filter(|_| sum.is_some() && part.is_some()),
        };
        self.calls_ms = part(self.calls_ms, other.calls_ms);
        self.other_ms = part(self.other_ms, other.other_ms);
        let counts = [
            (&mut self.streams, other.streams),
            (&mut self.conforming, other.conforming),
            (&mut self.succeeded, other.succeeded),
            (&mut self.failed, other.failed),
            (&mut self.truncated, other.truncated),
            (&mut self.timed_out, other.timed_out),
            (&mut self.timed_streams, other.timed_streams),
            (&mut self.token_streams, other.token_streams),
            (&mut self.cost_streams, other.cost_streams),
            (&mut self.calls.total, other.calls.total),
            (&mut self.calls.succeeded, other.calls.succeeded),
            (&mut self.calls.failed, other.calls.failed),
            (&mut self.calls.rejected, other.calls.rejected),
            (&mut self.calls.denied, other.calls.denied),
            (&mut self.calls.unknown, other.calls.unknown),
            (&mut self.calls.unfinished, other.calls.unfinished),
        ];
        for (sum, count) in counts {
            *sum = sum.saturating_add(count);
        }
        let figures = [
            (&mut self.elapsed_ms, other.elapsed_ms),
            (&mut self.tokens_in, other.tokens_in),
            (&mut self.tokens_out, other.tokens_out),
            (&mut self.cost, other.cost),
        ];
        for (sum, figure) in figures {
            *sum = added(*sum, figure);
        }
    }
}

/// The sum of what is known.
fn added(sum: Option<u64>, figure: Option<u64>) -> Option<u64> {
    match (sum, figure) {
        (Some(sum), Some(figure)) => Some(sum.saturating_add(figure)),
        (known, None) | (None, known) => known,
    }
}

/// The median of several streams cannot be made from theirs.
fn join_tools(sum: &mut ToolStats, tool: &ToolStats) {
    let counts = [
        (&mut sum.calls, tool.calls),
        (&mut sum.succeeded, tool.succeeded),
        (&mut sum.failed, tool.failed),
        (&mut sum.rejected, tool.rejected),
        (&mut sum.denied, tool.denied),
        (&mut sum.unknown, tool.unknown),
        (&mut sum.unfinished, tool.unfinished),
        (&mut sum.timed, tool.timed),
    ];
    for (sum, count) in counts {
        *sum = sum.saturating_add(count);
    }
    sum.total_ms = added(sum.total_ms, tool.total_ms);
    sum.longest_ms = sum.longest_ms.max(tool.longest_ms);
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "too large saturates")]
fn billionths(dollars: f64) -> u64 {
    (dollars * 1e9).round() as u64
}

#[expect(clippy::cast_precision_loss, reason = "as exact as a cost can be")]
pub(super) fn in_dollars(billionths: u64) -> f64 {
    billionths as f64 / 1e9
}

#[expect(clippy::ref_option, reason = "as serde calls it")]
fn dollars<S: Serializer>(cost: &Option<u64>, to: S) -> Result<S::Ok, S::Error> {
    cost.map(in_dollars).serialize(to)
}

/// A row for each version of an agent, and one without a name for those there is no room for.
fn agents<S: Serializer>(of: &Bounded<Agent, StatsSum>, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct AgentRow<'a> {
        #[serde(skip_serializing_if = "Option::is_none")]
        profile: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        agent_version: Option<&'a str>,
        #[serde(flatten)]
        sum: &'a StatsSum,
    }
    let named = of.named.iter().map(|((profile, version), sum)| AgentRow {
        profile: Some(profile),
        agent_version: version.as_deref(),
        sum,
    });
    let others = of.others.iter().map(|sum| AgentRow { profile: None, agent_version: None, sum });
    to.collect_seq(named.chain(others))
}

fn tools<S: Serializer>(of: &Bounded<Option<String>, ToolStats>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(of.rows())
}

fn is_empty<K, V>(of: &Bounded<K, V>) -> bool {
    of.named.is_empty()
}

fn unknown<S: Serializer>(
    of: &Bounded<(Agent, Unknown), FoundName>,
    to: S,
) -> Result<S::Ok, S::Error> {
    let rows = of.named.iter().map(|((agent, it), found)| UnknownRow::new(agent, it, found));
    to.collect_seq(rows)
}

#[derive(Debug, Serialize)]
pub(super) struct UnknownRow<'a> {
    profile: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_version: Option<&'a str>,
    kind: UnknownKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<&'a str>,
    name: &'a str,
    #[serde(flatten)]
    found: &'a FoundName,
}

impl<'a> UnknownRow<'a> {
    pub(super) fn new(agent: &'a Agent, unknown: &'a Unknown, found: &'a FoundName) -> Self {
        let ((profile, version), (kind, of, name)) = (agent, unknown);
        let (agent_version, of) = (version.as_deref(), of.as_deref());
        Self { profile, agent_version, kind: *kind, of, name, found }
    }
}

impl Bounded<Option<String>, ToolStats> {
    /// A row for each tool, the most frequent one first.
    pub(super) fn rows(&self) -> Vec<ToolStats> {
        let named = self.named.iter().map(|(tool, sum)| (tool.clone(), sum));
        let rows = named.chain(self.others.iter().map(|sum| (None, sum)));
        let row = |(tool, sum): (Option<String>, &ToolStats)| {
            let mut row = sum.clone();
            row.tool = tool;
            row
        };
        let mut rows: Vec<_> = rows.map(row).collect();
        rows.sort_by_key(|tool| std::cmp::Reverse(tool.calls));
        rows
    }
}

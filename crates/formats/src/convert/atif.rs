//! `atif`: one trajectory of the Agent Trajectory Interchange Format, on one line.
//!
//! A step is what the agent says, and the calls that follow: those that overlap share a step, as a
//! result belongs to the step of its call. A step is written when its calls have ended.

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use ndjson_check_core::{
    Event, EventCall, EventKind, EventTime, NoticeKind, Outcome, RunResult, Session, TextSegment,
    escape::clipped,
};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::clock::ClockTime;
use super::open_calls::{KeptCall, OpenCalls};
use crate::limits::{KEPT_ARGUMENTS_BYTES_MAX, TEXT_BYTES_MAX};
use crate::said::Said;

/// Longest result of a call in a trajectory, in bytes; of a longer one it has the start.
const STEP_RESULT_BYTES_MAX: usize = 256 * 1024;

/// Calls that share a step of a trajectory, because they overlap.
const STEP_CALLS_MAX: usize = 1_000;

/// The first version with all that is written here.
const VERSION: &str = "ATIF-v1.7";

#[derive(Default)]
pub(super) struct AtifTrajectory {
    profile: String,
    session_id: Option<String>,
    steps: u64,
    step: Step,
    calls: OpenCalls,
    said: Said,
    /// When the open text began.
    text_time_ms: Option<u64>,
}

/// The step that is not written yet.
#[derive(Default)]
struct Step {
    message: String,
    reasoning: String,
    time_ms: Option<u64>,
    ended: Vec<EndedStepCall>,
    /// The size of their arguments and results.
    call_bytes: usize,
}

struct EndedStepCall {
    call: KeptCall,
    outcome: &'static str,
    /// The start of a very long one.
    result: Option<String>,
    result_bytes: usize,
}

#[derive(Serialize)]
struct StepCall<'a> {
    tool_call_id: &'a str,
    function_name: &'a str,
    arguments: Box<RawValue>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    extra: Map<String, Value>,
}

#[derive(Default, Serialize)]
struct WrittenStep<'a> {
    step_id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
    source: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reasoning_content: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<StepCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observation: Option<Value>,
}

impl AtifTrajectory {
    /// What the agent says begins a step, unless calls of the last one are open.
    fn say(&mut self, text: &str, at: EventTime, out: &mut String) {
        if !self.step.ended.is_empty() && self.calls.is_empty() {
            self.flush(out);
        }
        if self.step.message.len() > TEXT_BYTES_MAX {
            self.flush(out);
        }
        let Step { message, time_ms, .. } = &mut self.step;
        if !message.is_empty() {
            message.push_str("\n\n");
        }
        message.push_str(text);
        *time_ms = time_ms.or(at.time_ms);
    }

    fn start(&mut self, call: &EventCall<'_>, at: EventTime, out: &mut String) {
        if !self.step.ended.is_empty() && self.calls.is_empty() {
            self.flush(out);
        }
        self.step.time_ms = self.step.time_ms.or(at.time_ms);
        self.calls.start(call, ClockTime::default());
    }

    /// What the agent thinks begins a step, unless calls of the last one are open.
    fn think(&mut self, text: &str, at: EventTime, out: &mut String) {
        let is_over = !(self.step.ended.is_empty() && self.step.message.is_empty());
        if is_over && self.calls.is_empty() || self.step.reasoning.len() > TEXT_BYTES_MAX {
            self.flush(out);
        }
        self.step.reasoning.push_str(text);
        self.step.time_ms = self.step.time_ms.or(at.time_ms);
    }

    fn complete(
        &mut self,
        call: &EventCall<'_>,
        (outcome, result): (&'static str, Option<&str>),
        out: &mut String,
    ) {
        let call = self.calls.end(call, ClockTime::default(), None);
        let result_bytes = result.map_or(0, str::len);
        let result = result.map(|text| clipped(text, STEP_RESULT_BYTES_MAX).into_owned());
        self.step.call_bytes += call.arguments.as_ref().map_or(0, String::len);
        self.step.call_bytes += result.as_ref().map_or(0, String::len);
        self.step.ended.push(EndedStepCall { call, outcome, result, result_bytes });
        let is_large = self.step.call_bytes > KEPT_ARGUMENTS_BYTES_MAX;
        if is_large || self.step.ended.len() >= STEP_CALLS_MAX {
            self.flush(out);
        }
    }

    fn flush(&mut self, out: &mut String) {
        let Step { message, reasoning, time_ms, mut ended, .. } = std::mem::take(&mut self.step);
        if message.is_empty() && reasoning.is_empty() && ended.is_empty() {
            return;
        }
        ended.sort_by_key(|ended| ended.call.number);
        let ids = step_ids(&ended);
        let results = ended.iter().zip(&ids).map(|(ended, id)| ended.observed(id));
        let results: Vec<Value> = results.collect();
        let calls = ended.iter().zip(&ids).map(|(ended, id)| StepCall::new(&ended.call, id));
        let step = WrittenStep {
            timestamp: time_ms.and_then(timestamp),
            source: "agent",
            message: &message,
            reasoning_content: reasoning.trim_end(),
            tool_calls: calls.collect(),
            observation: (!results.is_empty()).then(|| json!({ "results": results })),
            ..WrittenStep::default()
        };
        self.write(step, out);
    }

    fn write(&mut self, step: WrittenStep<'_>, out: &mut String) {
        if self.steps > 0 {
            out.push(',');
        }
        self.steps += 1;
        let step = WrittenStep { step_id: self.steps, ..step };
        // Strings, numbers and JSON can always be written.
        out.push_str(&serde_json::to_string(&step).unwrap_or_default());
    }

    /// What is not said by the agent.
    fn note(&mut self, message: &str, at: EventTime, out: &mut String) {
        self.said_by("system", message, at, out);
    }

    fn said_by(&mut self, source: &'static str, message: &str, at: EventTime, out: &mut String) {
        let timestamp = at.time_ms.and_then(timestamp);
        self.write(WrittenStep { timestamp, source, message, ..WrittenStep::default() }, out);
    }

    fn end(&mut self, result: &RunResult, at: EventTime, out: &mut String) {
        if let Some((text, _)) = &result.cut_text {
            let mut at = at;
            at.time_ms = self.text_time_ms;
            self.say(text, at, out);
        }
        self.flush(out);
        if result.outcome != Outcome::Succeeded {
            self.note(&result.failure(), at, out);
        } else if self.steps == 0 {
            // A trajectory has at least one step.
            self.note("The stream shows nothing that the agent did.", at, out);
        }
        let figures = &result.figures;
        let version = result.agent_version.as_deref().unwrap_or("unknown");
        let end = json!({
            "session_id": self.session_id,
            "agent": {"name": self.profile, "version": version, "model_name": figures.model},
            "final_metrics": {
                "total_prompt_tokens": figures.usage.tokens_in(),
                "total_completion_tokens": figures.usage.output_tokens,
                "total_cached_tokens": figures.usage.cache_read_tokens,
                "total_cost_usd": figures.cost_usd,
                "total_steps": self.steps,
            },
            "extra": result,
        });
        let end = without_nulls(end).to_string();
        out.push_str("],");
        out.push_str(end.strip_prefix('{').unwrap_or_default());
        out.push('\n');
    }
}

impl AtifTrajectory {
    pub(super) fn event(&mut self, event: &Event<'_>, out: &mut String) {
        self.kind(event, out);
        self.said.observe(&event.kind);
    }

    fn kind(&mut self, event: &Event<'_>, out: &mut String) {
        let at = event.at;
        match &event.kind {
            EventKind::Session(begun) => {
                let Session { profile, session, .. } = &**begun;
                self.profile.clone_from(profile);
                self.session_id = session.session_id.as_deref().map(str::to_owned);
                out.extend(["{\"schema_version\":\"", VERSION, "\",\"steps\":["]);
            }
            EventKind::SessionChanged(changed) => {
                let id = changed.session_id.as_deref().map(str::to_owned);
                self.session_id = id.or(self.session_id.take());
            }
            EventKind::TextDelta { .. } => {
                self.text_time_ms = self.text_time_ms.or(at.time_ms);
            }
            EventKind::Text(TextSegment { beginning, .. }) => {
                self.text_time_ms = None;
                self.say(beginning, at, out);
            }
            EventKind::TextAbandoned { .. } => self.text_time_ms = None,
            EventKind::Answer { text } if !self.said.has(text) => {
                self.say(&clipped(text, TEXT_BYTES_MAX), at, out);
            }
            EventKind::CallStarted(call) => self.start(call, at, out),
            EventKind::CallUpdated(call) => self.calls.start(call, ClockTime::default()),
            EventKind::CallCompleted(completed) => {
                let result = completed.result.as_deref();
                let ended = (completed.outcome.name(), result);
                self.complete(&completed.call, ended, out);
            }
            EventKind::CallUnfinished(call) => self.complete(call, ("unfinished", None), out),
            EventKind::ThinkingDelta { text, .. } => self.think(text, at, out),
            EventKind::ThinkingEnd { .. } if self.step.reasoning.is_empty() => {}
            EventKind::ThinkingEnd { .. } => self.step.reasoning.push('\n'),
            EventKind::Notice(notice) if notice.kind == NoticeKind::Prompt => {
                let Some(text) = &notice.detail else { return };
                if self.calls.is_empty() {
                    self.flush(out);
                }
                self.said_by("user", text, at, out);
            }
            EventKind::Error { message, .. } => {
                if self.calls.is_empty() {
                    self.flush(out);
                }
                self.note(message.as_deref().unwrap_or("The agent reports an error."), at, out);
            }
            EventKind::End(result) | EventKind::Cut(result) => self.end(result, at, out),
            _ => {}
        }
    }
}

impl EndedStepCall {
    fn observed(&self, id: &str) -> Value {
        let mut extra = json!({"outcome": self.outcome});
        if self.result.as_ref().is_some_and(|result| result.len() < self.result_bytes) {
            extra["result_bytes"] = self.result_bytes.into();
        }
        without_nulls(json!({"source_call_id": id, "content": self.result, "extra": extra}))
    }
}

impl<'a> StepCall<'a> {
    fn new(call: &'a KeptCall, id: &'a str) -> Self {
        let mut extra = Map::new();
        extra.extend(call.kind.map(|kind| ("kind".to_owned(), kind.into())));
        let detail = call.detail.clone();
        extra.extend(detail.map(|detail| ("detail".to_owned(), detail.into())));
        Self {
            tool_call_id: id,
            function_name: call.tool_name(),
            arguments: arguments(call.arguments.as_deref()),
            extra,
        }
    }
}

/// They must be an object.
fn arguments(json: Option<&str>) -> Box<RawValue> {
    let object = match json {
        Some(json) if json.starts_with('{') => json.to_owned(),
        Some(json) => format!("{{\"value\":{json}}}"),
        None => "{}".to_owned(),
    };
    RawValue::from_string(object).unwrap_or_default()
}

/// The ids of the agent. A call without one has its number, and so has the second call with the
/// same id: results are found by them.
fn step_ids(ended: &[EndedStepCall]) -> Vec<String> {
    let mut seen = HashSet::new();
    let id = |EndedStepCall { call: KeptCall { id, number, .. }, .. }: &EndedStepCall| {
        let mut unique = if id.is_empty() { format!("call-{number}") } else { id.clone() };
        while !seen.insert(unique.clone()) {
            unique = format!("{unique}#{number}");
        }
        unique
    };
    ended.iter().map(id).collect()
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let known = members.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(known.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        value => value,
    }
}

/// As ISO 8601 writes it; only up to the year 9999, which readers understand.
fn timestamp(time_ms: u64) -> Option<String> {
    const LARGEST: u64 = 253_402_300_799_999;
    if time_ms > LARGEST {
        return None;
    }
    let time = SystemTime::UNIX_EPOCH + Duration::from_millis(time_ms);
    Some(humantime::format_rfc3339_millis(time).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_those_of_the_calendar() {
        let of = |time_ms| timestamp(time_ms).unwrap_or_default();
        assert_eq!(of(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(of(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(of(1_773_227_462_863), "2026-03-11T11:11:02.863Z");
        assert_eq!(of(253_402_300_799_999), "9999-12-31T23:59:59.999Z");
        assert_eq!(timestamp(253_402_300_800_000), None);
    }
}

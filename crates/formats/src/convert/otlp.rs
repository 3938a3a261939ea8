//! `otlp-json`: the spans of a run by OpenTelemetry's conventions for generative AI, as one OTLP
//! object on one line.
//!
//! Each call is a span `execute_tool`, written when it ends; the run is the span `invoke_agent`,
//! written last. Errors and defects are events of that span.

use ndjson_check_core::{Defect, Event, EventKind, Outcome, RunResult, Session, escape::clipped};
use serde_json::{Value, json};

use super::clock::{ClockTime, TraceClock};
use super::open_calls::{KeptCall, OpenCalls};
use crate::digits::digits;
use crate::limits::MESSAGE_BYTES_MAX;

/// The version of the conventions whose names the spans have.
const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/1.41.0";

/// Longest result of a call in a span, in bytes; of a longer one it has the start.
const SPAN_RESULT_BYTES_MAX: usize = 16 * 1024;

/// Errors and defects that the span of a run has as events; the others are counted.
const SPAN_EVENTS_MAX: usize = 1_000;

const TRACE_ID_BYTES: usize = 16;
const SPAN_ID_BYTES: usize = 8;

/// The times of OTLP are nanoseconds in 64 bits.
const NANOS_PER_MILLI: u64 = 1_000_000;

/// How much of calls waits for the first time, in bytes.
const EARLY_BYTES_MAX: usize = 1024 * 1024;

/// A call that has ended: its outcome, its result, and when.
type TimedCall = (KeptCall, &'static str, Option<String>, ClockTime);

#[derive(Default)]
pub(super) struct OtlpSpans {
    stream: String,
    profile: String,
    session_id: Option<String>,
    /// Is fixed when the first span is written.
    trace_id: Option<String>,
    clock: TraceClock,
    start: ClockTime,
    calls: OpenCalls,
    /// Those that ended before the first time.
    early: Vec<TimedCall>,
    early_bytes: usize,
    events: Vec<(ClockTime, Value)>,
    dropped_events: u64,
}

impl OtlpSpans {
    pub(super) fn new(stream: &str) -> Self {
        Self { stream: stream.to_owned(), ..Self::default() }
    }

    fn trace_id(&mut self) -> String {
        let session = self.session_id.as_ref().unwrap_or(&self.stream);
        let new = || digits(&["trace", &self.profile, session], TRACE_ID_BYTES);
        self.trace_id.get_or_insert_with(new).clone()
    }

    /// A session may have several runs, which begin at other times or are in other streams.
    fn span_id(&mut self, of: &str) -> String {
        let (trace, start) = (self.trace_id(), self.nanoseconds(self.start));
        let run = if self.clock.has_times() { &start } else { &self.stream };
        digits(&["span", &trace, run, of], SPAN_ID_BYTES)
    }

    fn nanoseconds(&mut self, time: ClockTime) -> String {
        let largest = u64::MAX / NANOS_PER_MILLI;
        (self.clock.milliseconds(time).min(largest) * NANOS_PER_MILLI).to_string()
    }

    fn ended(&mut self, ended: TimedCall, out: &mut String) {
        if !self.clock.is_settled() {
            let (KeptCall { id, detail, arguments, .. }, _, result, _) = &ended;
            let texts = [Some(id), detail.as_ref(), arguments.as_ref(), result.as_ref()];
            self.early_bytes += texts.into_iter().flatten().map(String::len).sum::<usize>();
            if self.early_bytes <= EARLY_BYTES_MAX {
                return self.early.push(ended);
            }
        }
        self.write_early(out);
        let (call, outcome, result, now) = ended;
        self.call(&call, (outcome, result.as_deref()), now, out);
    }

    fn write_early(&mut self, out: &mut String) {
        for (call, outcome, result, now) in std::mem::take(&mut self.early) {
            self.call(&call, (outcome, result.as_deref()), now, out);
        }
    }

    fn call(
        &mut self,
        call: &KeptCall,
        (outcome, result): (&str, Option<&str>),
        now: ClockTime,
        out: &mut String,
    ) {
        let mut attributes = vec![
            text("gen_ai.operation.name", "execute_tool"),
            text("gen_ai.tool.name", call.tool_name()),
            text("gen_ai.tool.call.id", &call.id),
            text("ndjson_check.outcome", outcome),
        ];
        attributes.extend(call.kind.map(|kind| text("ndjson_check.kind", kind)));
        let optional = [
            ("ndjson_check.detail", &call.detail),
            ("gen_ai.tool.call.arguments", &call.arguments),
        ];
        let optional = optional.iter().filter_map(|(key, value)| Some(text(key, value.as_ref()?)));
        attributes.extend(optional);
        attributes.extend(result.map(|result| text("gen_ai.tool.call.result", result)));
        let has_failed = !["succeeded", "unknown"].contains(&outcome);
        if has_failed {
            attributes.push(text("error.type", outcome));
        }
        let parent = self.span_id("run");
        let span = json!({
            "traceId": self.trace_id(),
            "spanId": self.span_id(&format!("call {} {}", call.number, call.id)),
            "parentSpanId": parent,
            "name": format!("execute_tool {}", call.tool_name()),
            "kind": 1,
            "startTimeUnixNano": self.nanoseconds(call.start),
            "endTimeUnixNano": self.nanoseconds(now),
            "attributes": attributes,
            "status": if has_failed { json!({"code": 2, "message": outcome}) } else { json!({}) },
        });
        out.push_str(&span.to_string());
        out.push(',');
    }

    fn note(&mut self, now: ClockTime, name: &str, attributes: &[Value]) {
        if self.events.len() < SPAN_EVENTS_MAX {
            self.events.push((now, json!({"name": name, "attributes": attributes})));
        } else {
            self.dropped_events += 1;
        }
    }

    fn end(&mut self, result: &RunResult, now: ClockTime, out: &mut String) {
        self.write_early(out);
        let events: Vec<Value> = std::mem::take(&mut self.events)
            .into_iter()
            .map(|(time, mut event)| {
                event["timeUnixNano"] = self.nanoseconds(time).into();
                event
            })
            .collect();
        let status = if result.outcome == Outcome::Succeeded {
            json!({})
        } else {
            json!({"code": 2, "message": result.failure()})
        };
        let span = json!({
            "traceId": self.trace_id(),
            "spanId": self.span_id("run"),
            "name": format!("invoke_agent {}", self.profile),
            "kind": 1,
            "startTimeUnixNano": self.nanoseconds(self.start),
            "endTimeUnixNano": self.nanoseconds(now),
            "attributes": self.attributes(result),
            "events": events,
            "droppedEventsCount": self.dropped_events.min(u32::MAX.into()),
            "status": status,
        });
        out.push_str(&span.to_string());
        out.push_str("],\"schemaUrl\":");
        out.push_str(&json!(SCHEMA_URL).to_string());
        out.push_str("}],\"resource\":");
        let mut resource = vec![text("service.name", &self.profile)];
        resource.extend(
            result.agent_version.as_deref().map(|version| text("service.version", version)),
        );
        out.push_str(&json!({ "attributes": resource }).to_string());
        out.push_str("}]}\n");
    }

    fn attributes(&mut self, result: &RunResult) -> Vec<Value> {
        let figures = &result.figures;
        let mut attributes = vec![
            text("gen_ai.operation.name", "invoke_agent"),
            text("gen_ai.agent.name", &self.profile),
            text("ndjson_check.outcome", result.outcome.name()),
            text("ndjson_check.verdict", result.verdict.name()),
            text("ndjson_check.clock", self.clock.meaning()),
        ];
        let texts = [
            ("gen_ai.agent.version", result.agent_version.as_deref()),
            ("gen_ai.conversation.id", self.session_id.as_deref()),
            ("gen_ai.request.model", figures.model.as_deref()),
            ("ndjson_check.error_text", result.error_text.as_deref()),
        ];
        attributes.extend(texts.iter().filter_map(|(key, value)| Some(text(key, (*value)?))));
        let numbers = [
            ("gen_ai.usage.input_tokens", figures.usage.tokens_in()),
            ("gen_ai.usage.output_tokens", figures.usage.output_tokens),
            ("gen_ai.usage.cache_read.input_tokens", figures.usage.cache_read_tokens),
            ("gen_ai.usage.cache_creation.input_tokens", figures.usage.cache_write_tokens),
            ("ndjson_check.turns", figures.turns),
            ("ndjson_check.duration_ms", figures.duration_ms),
        ];
        attributes.extend(numbers.iter().filter_map(|(key, value)| Some(number(key, (*value)?))));
        let cost = figures
            .cost_usd
            .map(|cost| json!({"key": "ndjson_check.cost_usd", "value": {"doubleValue": cost}}));
        attributes.extend(cost);
        if result.outcome != Outcome::Succeeded {
            let reason = result.reason.map_or(result.outcome.name(), |reason| reason.name());
            attributes.push(text("error.type", reason));
        }
        attributes
    }
}

impl OtlpSpans {
    pub(super) fn event(&mut self, event: &Event<'_>, out: &mut String) {
        let now = self.clock.now(event.at);
        if self.clock.is_settled() {
            self.write_early(out);
        }
        match &event.kind {
            EventKind::Session(begun) => {
                let Session { profile, session, .. } = &**begun;
                self.profile.clone_from(profile);
                self.session_id = session.session_id.as_deref().map(str::to_owned);
                self.start = now;
                out.push_str("{\"resourceSpans\":[{\"scopeSpans\":[{\"scope\":");
                let version = env!("CARGO_PKG_VERSION");
                let scope = json!({"name": env!("CARGO_PKG_NAME"), "version": version});
                out.push_str(&scope.to_string());
                out.push_str(",\"spans\":[");
            }
            EventKind::SessionChanged(changed) => {
                let id = changed.session_id.as_deref().map(str::to_owned);
                self.session_id = id.or(self.session_id.take());
            }
            EventKind::CallStarted(call) | EventKind::CallUpdated(call) => {
                self.calls.start(call, now);
            }
            EventKind::CallCompleted(completed) => {
                let result = completed.result.as_deref();
                let result = result.map(|it| clipped(it, SPAN_RESULT_BYTES_MAX).into_owned());
                let call = self.calls.end(&completed.call, now, completed.duration_ms);
                self.start = self.start.min(call.start);
                self.ended((call, completed.outcome.name(), result, now), out);
            }
            EventKind::CallUnfinished(call) => {
                let call = self.calls.end(call, now, None);
                self.ended((call, "unfinished", None, now), out);
            }
            EventKind::Turn { turn } => {
                self.note(now, "turn", &[number("ndjson_check.turn", *turn)]);
            }
            EventKind::Notice(notice) => {
                let value = json!({"stringValue": notice.kind});
                let kind = json!({"key": "ndjson_check.notice", "value": value});
                let detail =
                    clipped(notice.detail.as_deref().unwrap_or_default(), MESSAGE_BYTES_MAX);
                self.note(now, "notice", &[kind, text("ndjson_check.message", &detail)]);
            }
            EventKind::Error { severity, message } => {
                let message = clipped(message.as_deref().unwrap_or_default(), MESSAGE_BYTES_MAX);
                let attributes = [
                    text("ndjson_check.severity", severity.name()),
                    text("ndjson_check.message", &message),
                ];
                self.note(now, "error", &attributes);
            }
            EventKind::Defect(Defect { rule, severity, message, .. }) => {
                let attributes = [
                    text("ndjson_check.rule", rule.name()),
                    text("ndjson_check.severity", severity.name()),
                    text("ndjson_check.message", message),
                ];
                self.note(now, "defect", &attributes);
            }
            EventKind::End(result) | EventKind::Cut(result) => self.end(result, now, out),
            _ => {}
        }
    }
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// Numbers of 64 bits are strings in OTLP.
fn number(key: &str, value: u64) -> Value {
    let value = i64::try_from(value).unwrap_or(i64::MAX);
    json!({"key": key, "value": {"intValue": value.to_string()}})
}

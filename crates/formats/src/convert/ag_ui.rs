//! `ag-ui`: events of the AG-UI protocol, one on each line.
//!
//! What the protocol has no event for is a `CUSTOM` event, with the normal event as its value.

use ndjson_check_core::{
    Event, EventCall, EventKind, EventTime, Figures, Outcome, RunResult, Session, TextSegment,
};
use serde_json::{Map, Value, json};

use super::open_calls::UNKNOWN_TOOL;

/// The only run: its id only has to differ from that of other runs of the same thread.
const RUN_ID: &str = "run-1";

/// The largest number that every reader of JSON reads exactly.
const LARGEST: u64 = 9_007_199_254_740_991;

pub(super) struct AgUiEvents {
    /// The session, or the name of the stream.
    thread: String,
    /// The number of the latest text message.
    messages: u64,
    /// Whether it is open.
    is_open: bool,
    /// Whether a message of reasoning is open.
    is_reasoning: bool,
}

impl AgUiEvents {
    pub(super) fn new(stream: &str) -> Self {
        let thread = stream.to_owned();
        Self { thread, messages: 0, is_open: false, is_reasoning: false }
    }

    fn message_id(&self) -> String {
        format!("message-{}", self.messages)
    }

    fn delta(&mut self, text: &str, writer: &mut Writer<'_>) {
        if text.is_empty() {
            return;
        }
        if !self.is_open {
            self.is_open = true;
            self.messages += 1;
            let start = json!({"messageId": self.message_id(), "role": "assistant"});
            writer.write("TEXT_MESSAGE_START", start);
        }
        let content = json!({"messageId": self.message_id(), "delta": text});
        writer.write("TEXT_MESSAGE_CONTENT", content);
    }

    fn close(&mut self, writer: &mut Writer<'_>) {
        if std::mem::take(&mut self.is_open) {
            writer.write("TEXT_MESSAGE_END", json!({"messageId": self.message_id()}));
        }
    }

    fn reasoning(&mut self, block: u64, text: &str, writer: &mut Writer<'_>) {
        self.close(writer);
        if text.is_empty() {
            return;
        }
        let id = reasoning_id(block);
        if !std::mem::replace(&mut self.is_reasoning, true) {
            writer.write("REASONING_START", json!({"messageId": id}));
            let start = json!({"messageId": id, "role": "reasoning"});
            writer.write("REASONING_MESSAGE_START", start);
        }
        writer.write("REASONING_MESSAGE_CONTENT", json!({"messageId": id, "delta": text}));
    }

    fn close_reasoning(&mut self, block: u64, writer: &mut Writer<'_>) {
        if std::mem::take(&mut self.is_reasoning) {
            let id = reasoning_id(block);
            writer.write("REASONING_MESSAGE_END", json!({"messageId": id}));
            writer.write("REASONING_END", json!({"messageId": id}));
        }
    }

    fn call(call: &EventCall<'_>, writer: &mut Writer<'_>) {
        let id = call_id(call);
        let tool = call.tool.as_deref().unwrap_or(UNKNOWN_TOOL);
        writer.write("TOOL_CALL_START", json!({"toolCallId": id, "toolCallName": tool}));
        if let Some(arguments) = &call.arguments {
            let args = json!({"toolCallId": id, "delta": arguments.to_string()});
            writer.write("TOOL_CALL_ARGS", args);
        }
        writer.write("TOOL_CALL_END", json!({"toolCallId": id}));
    }

    fn end(&mut self, result: &RunResult<'_>, writer: &mut Writer<'_>) {
        self.close(writer);
        let usage = [usage(&result.figures)];
        if result.outcome == Outcome::Succeeded {
            let result = serde_json::to_value(result).unwrap_or_default();
            writer.write(
                "RUN_FINISHED",
                json!({"threadId": self.thread, "runId": RUN_ID, "result": result,
                    "outcome": {"type": "success"}, "usage": usage}),
            );
        } else {
            let code = result.reason.filter(|_| result.outcome == Outcome::Failed);
            let code = code.map_or(result.outcome.name(), |reason| reason.name());
            let message = result.failure();
            writer.write("RUN_ERROR", json!({"message": message, "code": code, "usage": usage}));
        }
    }
}

impl AgUiEvents {
    pub(super) fn event(&mut self, event: &Event<'_>, out: &mut String) {
        let writer = &mut Writer { at: event.at, out };
        match &event.kind {
            EventKind::Session(begun) => {
                let Session { session, .. } = &**begun;
                if let Some(id) = &session.session_id {
                    self.thread = id.to_string();
                }
                let thread = &self.thread;
                writer.write("RUN_STARTED", json!({"threadId": thread, "runId": RUN_ID}));
            }
            EventKind::TextDelta { text, .. } => self.delta(text, writer),
            EventKind::Text(TextSegment { text, is_repeated, .. }) => {
                if !is_repeated {
                    self.close(writer);
                    self.delta(text.as_deref().unwrap_or_default(), writer);
                }
                self.close(writer);
            }
            EventKind::CallStarted(call) => {
                self.close(writer);
                Self::call(call, writer);
            }
            EventKind::CallCompleted(completed) => {
                let (call, outcome) = (&completed.call, completed.outcome);
                let result = completed.result.as_deref();
                self.close(writer);
                let message_id = format!("result-{}", call.number);
                writer.write(
                    "TOOL_CALL_RESULT",
                    json!({"messageId": message_id, "toolCallId": call_id(call),
                        "content": result.unwrap_or(outcome.name()), "role": "tool"}),
                );
            }
            EventKind::ThinkingDelta { block, text } => self.reasoning(*block, text, writer),
            EventKind::ThinkingEnd { block } => self.close_reasoning(*block, writer),
            EventKind::TextAbandoned { .. } => {
                let message_id = self.message_id();
                self.close(writer);
                let value = json!({"messageId": message_id});
                writer.write("CUSTOM", json!({"name": "text_abandoned", "value": value}));
            }
            EventKind::End(result) | EventKind::Cut(result) => self.end(result, writer),
            // What the protocol has no type for.
            _ => {
                let mut value = serde_json::to_value(event).unwrap_or_default();
                let name = value.as_object_mut().and_then(|value| value.remove("type"));
                writer.write("CUSTOM", json!({"name": name, "value": value}));
            }
        }
    }
}

struct Writer<'o> {
    at: EventTime,
    out: &'o mut String,
}

impl Writer<'_> {
    /// The type comes first, so that a person finds it.
    fn write(&mut self, kind: &str, mut members: Value) {
        if let Some(time_ms) = self.at.time_ms {
            members["timestamp"] = time_ms.into();
        }
        let members = members.to_string();
        let members = members.strip_prefix('{').unwrap_or_default();
        self.out.extend(["{\"type\":\"", kind, "\",", members, "\n"]);
    }
}

fn reasoning_id(block: u64) -> String {
    format!("reasoning-{block}")
}

/// The id of the agent, which the two halves share.
fn call_id(call: &EventCall<'_>) -> String {
    if call.id.is_empty() { format!("call-{}", call.number) } else { call.id.to_string() }
}

/// Here the tokens of the cache are part of the input.
fn usage(figures: &Figures<'_>) -> Value {
    let mut usage = Map::new();
    let numbers = [
        ("inputTokens", figures.usage.tokens_in()),
        ("cachedInputTokens", figures.usage.cache_read_tokens),
        ("cacheWriteInputTokens", figures.usage.cache_write_tokens),
        ("outputTokens", figures.usage.output_tokens),
        ("reasoningTokens", figures.usage.reasoning_tokens),
    ];
    for (name, number) in numbers {
        usage.extend(number.map(|number| (name.to_owned(), number.min(LARGEST).into())));
    }
    usage.extend(figures.model.as_deref().map(|model| ("model".to_owned(), model.into())));
    usage.into()
}

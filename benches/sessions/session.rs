//! A session of the Cursor CLI, while it is written.

use serde_json::{Value, json};

use super::call::{Call, Tool};
use super::event::{Event, Half, Message};
use super::random::Random;
use super::text::{path, prose};

pub(crate) struct Session {
    pub(crate) random: Random,
    id: String,
    /// Milliseconds since 1970.
    time: u64,
    stream: Vec<u8>,
    /// All that the assistant said.
    answer: String,
}

impl Session {
    /// Starts a session that is expected to become `bytes` long.
    pub(crate) fn start(seed: u64, bytes: usize) -> Self {
        let mut random = Random::new(seed);
        let (id, prompt) = (random.uuid(), prose(&mut random, 30));
        let stream = Vec::with_capacity(bytes + bytes / 50);
        let time = 1_773_224_000_000;
        let mut session = Self { random, id, time, stream, answer: String::new() };
        session.write(|session_id| Event::System {
            subtype: "init",
            key_source: "login",
            cwd: "/home/dev/app",
            session_id,
            model: "Auto",
            permission_mode: "default",
        });
        let message = Message::new("user", &prompt);
        session.write(|session_id| Event::User { message, session_id });
        session
    }

    /// What has been written, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.stream.len()
    }

    fn write<'a>(&'a mut self, event: impl FnOnce(&'a str) -> Event<'a>) {
        let written = serde_json::to_writer(&mut self.stream, &event(&self.id));
        written.expect("an event has nothing that JSON has not");
        self.stream.push(b'\n');
    }

    fn later(&mut self) -> u64 {
        self.time += self.random.between(1, 60) as u64;
        self.time
    }

    /// Thoughts, one in each event.
    pub(crate) fn think(&mut self, thoughts: usize) {
        for _ in 0..thoughts {
            let words = self.random.between(3, 17);
            let thought = prose(&mut self.random, words);
            self.thinking("delta", Some(&thought));
        }
        self.thinking("completed", None);
    }

    fn thinking(&mut self, subtype: &str, text: Option<&str>) {
        let timestamp_ms = self.later();
        self.write(|session_id| Event::Thinking { subtype, text, session_id, timestamp_ms });
    }

    /// Text as it comes, some words in each event, and then all of it once more.
    pub(crate) fn stream(&mut self, words: usize) {
        let mut segment = String::new();
        let mut left = words;
        while left > 0 {
            let count = self.random.between(1, 3).min(left);
            let piece = prose(&mut self.random, count);
            let time = self.later();
            self.assistant(&piece, None, Some(time));
            segment.push_str(&piece);
            left -= count;
        }
        self.whole(&segment);
    }

    /// Text in one piece.
    pub(crate) fn say(&mut self, words: usize) {
        let segment = prose(&mut self.random, words);
        self.whole(&segment);
    }

    fn whole(&mut self, segment: &str) {
        let (model_call, time) = (self.random.uuid(), self.later());
        self.assistant(segment, Some(&model_call), Some(time));
        self.answer.push_str(segment);
    }

    fn assistant(&mut self, text: &str, model_call_id: Option<&str>, timestamp_ms: Option<u64>) {
        let message = Message::new("assistant", text);
        self.write(|session_id| Event::Assistant {
            message,
            session_id,
            model_call_id,
            timestamp_ms,
        });
    }

    /// Starts a call; what the tool is given is of `bytes`, if it takes that much.
    pub(crate) fn begin(&mut self, tool: Tool, bytes: usize) -> Call {
        let path = path(&mut self.random);
        let arguments = tool.arguments(&path, bytes, &mut self.random);
        let (a, b, request) = (self.random.uuid(), self.random.uuid(), self.random.uuid());
        // Some models' ids have a line feed in them.
        let id =
            if self.random.one_in(2) { format!("tool_{a}") } else { format!("call_{a}\nfc_{b}") };
        let call = Call { tool, id, request, path, arguments, started: self.later() };
        self.half("started", &call, None);
        call
    }

    /// Ends a call; what comes of it is of `bytes`, if it is a file or an output.
    pub(crate) fn complete(&mut self, call: &Call, bytes: usize) {
        let result = call.tool.result(&call.path, bytes, &mut self.random);
        self.half("completed", call, Some(result));
    }

    fn half(&mut self, subtype: &str, call: &Call, result: Option<Value>) {
        let timestamp_ms = self.later();
        let completed_at_ms = result.as_ref().map(|_| timestamp_ms.to_string());
        let mut tool = json!({ "args": call.arguments });
        if let Some(result) = result {
            tool["result"] = result;
        }
        let tool_call = Half {
            tool: json!({ call.tool.key(): tool }),
            hook_additional_contexts: [],
            tool_call_id: &call.id,
            started_at_ms: call.started.to_string(),
            completed_at_ms,
        };
        self.write(|session_id| Event::ToolCall {
            subtype,
            call_id: &call.id,
            tool_call,
            model_call_id: &call.request,
            session_id,
            timestamp_ms,
        });
    }

    /// Ends the session well, and returns its stream.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        let last = prose(&mut self.random, 12);
        self.assistant(&last, None, None);
        let answer = std::mem::take(&mut self.answer) + &last;
        let (request, duration) = (self.random.uuid(), self.later() % 100_000);
        self.write(|session_id| Event::Result {
            subtype: "success",
            duration_ms: duration,
            duration_api_ms: duration,
            is_error: false,
            result: &answer,
            session_id,
            request_id: &request,
            usage: json!({
                "inputTokens": 25_462,
                "outputTokens": 681,
                "cacheReadTokens": 1_031,
                "cacheWriteTokens": 0,
            }),
        });
        self.stream
    }
}

//! A session of Claude Code with partial messages, while it is written.

mod event;

use serde_json::{Value, json};

use super::random::Random;
use super::text::{code, console, path, prose};
use event::{Answer, Block, Delta, Event, Line, Message, Raw, Stop, USAGE};

const MODEL: &str = "claude-example-1";

const TOOLS: [&str; 5] = ["Bash", "Edit", "Grep", "Read", "Write"];

pub(crate) struct Session {
    pub(crate) random: Random,
    id: String,
    stream: Vec<u8>,
    messages: usize,
    /// The id of the open message, and the number of its next block.
    message: String,
    block: usize,
    /// What the assistant said last.
    answer: String,
}

impl Session {
    /// Starts a session that is expected to become `bytes` long.
    pub(crate) fn start(seed: u64, bytes: usize) -> Self {
        let mut random = Random::new(seed);
        let id = random.uuid();
        let stream = Vec::with_capacity(bytes + bytes / 50);
        let (message, answer) = (String::new(), String::new());
        let mut session = Self { random, id, stream, messages: 0, message, block: 0, answer };
        session.write(Event::System {
            subtype: "init",
            cwd: "/home/dev/app",
            tools: &TOOLS,
            mcp_servers: [],
            model: MODEL,
            permission_mode: "acceptEdits",
            key_source: "none",
            version: "2.1.238",
            output_style: "default",
        });
        session
    }

    /// What has been written, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.stream.len()
    }

    fn write(&mut self, event: Event<'_>) {
        let uuid = self.random.uuid();
        let line = Line { event, session_id: &self.id, parent_tool_use_id: None, uuid: &uuid };
        let written = serde_json::to_writer(&mut self.stream, &line);
        written.expect("an event has nothing that JSON has not");
        self.stream.push(b'\n');
    }

    fn raw(&mut self, event: Raw<'_>) {
        self.write(Event::Raw { event });
    }

    /// Opens a message.
    pub(crate) fn begin(&mut self) {
        self.messages += 1;
        self.block = 0;
        self.message = format!("msg_{}", self.random.uuid());
        let id = self.message.clone();
        self.raw(Raw::MessageStart { message: Message::new(&id, None) });
    }

    /// Closes it.
    pub(crate) fn end(&mut self, stop_reason: &str) {
        let delta = Stop { stop_reason, stop_sequence: None };
        self.raw(Raw::MessageDelta { delta, usage: USAGE });
        self.raw(Raw::MessageStop);
    }

    /// A block of thoughts, in as many deltas.
    pub(crate) fn think(&mut self, deltas: usize) {
        self.open(Block::Thinking { thinking: "", signature: "" });
        let mut thoughts = String::new();
        for _ in 0..deltas {
            let words = self.random.between(3, 17);
            let thinking = prose(&mut self.random, words);
            self.delta(Delta::Thinking { thinking: &thinking });
            thoughts.push_str(&thinking);
        }
        let signature = self.random.uuid();
        self.delta(Delta::Signature { signature: &signature });
        self.close(Block::Thinking { thinking: &thoughts, signature: &signature });
    }

    /// A block of text, some words in each delta.
    pub(crate) fn say(&mut self, words: usize) {
        self.open(Block::Text { text: "" });
        let mut segment = String::new();
        let mut left = words;
        while left > 0 {
            let count = self.random.between(1, 3).min(left);
            let text = prose(&mut self.random, count);
            self.delta(Delta::Text { text: &text });
            segment.push_str(&text);
            left -= count;
        }
        self.close(Block::Text { text: &segment });
        self.answer = segment;
    }

    /// A block that calls a tool, of which `bytes` come or go; the message ends with it.
    pub(crate) fn call(&mut self, bytes: usize) {
        let name = self.random.pick(&TOOLS);
        let id = format!("toolu_{}", self.random.uuid());
        let (input, content) = self.work(name, bytes);
        self.open(Block::ToolUse { id: &id, name, input: &json!({}) });
        let text = input.to_string();
        let (start, rest) = text.split_at(text.find(':').unwrap_or_default());
        for partial_json in [start, rest] {
            self.delta(Delta::Input { partial_json });
        }
        self.close(Block::ToolUse { id: &id, name, input: &input });
        self.end("tool_use");
        let is_error = self.random.one_in(20);
        let result = Block::ToolResult { tool_use_id: &id, content: &content, is_error };
        self.write(Event::User { message: Answer { role: "user", content: [result] } });
    }

    /// What a tool is given, and what comes of it.
    fn work(&mut self, name: &str, bytes: usize) -> (Value, String) {
        let random = &mut self.random;
        let path = path(random);
        match name {
            "Bash" => {
                let input = json!({ "command": "cargo test", "description": prose(random, 5) });
                (input, console(random, bytes))
            }
            "Grep" => (json!({ "pattern": "fn \\w+\\(", "path": path }), console(random, bytes)),
            "Read" => (json!({ "file_path": path }), code(random, bytes)),
            "Write" => {
                let input = json!({ "file_path": path, "content": code(random, bytes) });
                (input, "File created.".to_owned())
            }
            _ => {
                let (old, new) = (code(random, bytes / 2), code(random, bytes / 2));
                let input = json!({ "file_path": path, "old_string": old, "new_string": new });
                (input, "The file has been updated.".to_owned())
            }
        }
    }

    fn open(&mut self, content_block: Block<'_>) {
        self.raw(Raw::ContentBlockStart { index: self.block, content_block });
    }

    fn delta(&mut self, delta: Delta<'_>) {
        self.raw(Raw::ContentBlockDelta { index: self.block, delta });
    }

    /// The whole block comes before its end.
    fn close(&mut self, block: Block<'_>) {
        let id = self.message.clone();
        self.write(Event::Assistant { message: Message::new(&id, Some(block)) });
        self.raw(Raw::ContentBlockStop { index: self.block });
        self.block += 1;
    }

    /// Ends the session well, and returns its stream.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.begin();
        self.say(12);
        self.end("end_turn");
        let answer = std::mem::take(&mut self.answer);
        self.write(Event::Result {
            subtype: "success",
            is_error: false,
            duration_ms: 84_310,
            duration_api_ms: 80_002,
            num_turns: self.messages,
            result: &answer,
            total_cost_usd: 0.5,
            usage: USAGE,
            permission_denials: [],
            terminal_reason: "completed",
        });
        self.stream
    }
}

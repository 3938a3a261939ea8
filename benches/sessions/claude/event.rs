//! The events of Claude Code.

use serde::Serialize;
use serde_json::Value;

/// One line of a stream.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    #[serde(flatten)]
    pub(super) event: Event<'a>,
    pub(super) session_id: &'a str,
    pub(super) parent_tool_use_id: Option<&'a str>,
    pub(super) uuid: &'a str,
}

/// What a line says.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Event<'a> {
    System {
        subtype: &'a str,
        cwd: &'a str,
        tools: &'a [&'a str],
        mcp_servers: [Value; 0],
        model: &'a str,
        #[serde(rename = "permissionMode")]
        permission_mode: &'a str,
        #[serde(rename = "apiKeySource")]
        key_source: &'a str,
        #[serde(rename = "claude_code_version")]
        version: &'a str,
        output_style: &'a str,
    },
    #[serde(rename = "stream_event")]
    Raw {
        event: Raw<'a>,
    },
    Assistant {
        message: Message<'a>,
    },
    User {
        message: Answer<'a>,
    },
    Result {
        subtype: &'a str,
        is_error: bool,
        duration_ms: u64,
        duration_api_ms: u64,
        num_turns: usize,
        result: &'a str,
        total_cost_usd: f64,
        usage: Usage,
        permission_denials: [Value; 0],
        terminal_reason: &'a str,
    },
}

/// What the model's interface tells while a message is written.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Raw<'a> {
    MessageStart { message: Message<'a> },
    ContentBlockStart { index: usize, content_block: Block<'a> },
    ContentBlockDelta { index: usize, delta: Delta<'a> },
    ContentBlockStop { index: usize },
    MessageDelta { delta: Stop<'a>, usage: Usage },
    MessageStop,
}

#[derive(Serialize)]
#[serde(tag = "type")]
pub(super) enum Delta<'a> {
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: &'a str },
    #[serde(rename = "signature_delta")]
    Signature { signature: &'a str },
    #[serde(rename = "text_delta")]
    Text { text: &'a str },
    #[serde(rename = "input_json_delta")]
    Input { partial_json: &'a str },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block<'a> {
    Thinking { thinking: &'a str, signature: &'a str },
    Text { text: &'a str },
    ToolUse { id: &'a str, name: &'a str, input: &'a Value },
    ToolResult { tool_use_id: &'a str, content: &'a str, is_error: bool },
}

/// A message of the assistant: one block of it, or none at its start.
#[derive(Serialize)]
pub(super) struct Message<'a> {
    model: &'a str,
    id: &'a str,
    r#type: &'a str,
    role: &'a str,
    content: Vec<Block<'a>>,
    stop_reason: Option<&'a str>,
    stop_sequence: Option<&'a str>,
    usage: Usage,
}

impl<'a> Message<'a> {
    pub(super) fn new(id: &'a str, block: Option<Block<'a>>) -> Self {
        Self {
            model: super::MODEL,
            id,
            r#type: "message",
            role: "assistant",
            content: block.into_iter().collect(),
            stop_reason: None,
            stop_sequence: None,
            usage: USAGE,
        }
    }
}

/// What a tool answers.
#[derive(Serialize)]
pub(super) struct Answer<'a> {
    pub(super) role: &'a str,
    pub(super) content: [Block<'a>; 1],
}

#[derive(Serialize)]
pub(super) struct Stop<'a> {
    pub(super) stop_reason: &'a str,
    pub(super) stop_sequence: Option<&'a str>,
}

#[derive(Serialize)]
pub(super) struct Usage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
    service_tier: &'static str,
}

pub(super) const USAGE: Usage = Usage {
    input_tokens: 2,
    cache_creation_input_tokens: 310,
    cache_read_input_tokens: 28_195,
    output_tokens: 51,
    service_tier: "standard",
};

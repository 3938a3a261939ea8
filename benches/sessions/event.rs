//! The events of the Cursor CLI, with their members in its order.

use serde::Serialize;
use serde_json::Value;

/// One line of a stream.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Event<'a> {
    System {
        subtype: &'a str,
        #[serde(rename = "apiKeySource")]
        key_source: &'a str,
        cwd: &'a str,
        session_id: &'a str,
        model: &'a str,
        #[serde(rename = "permissionMode")]
        permission_mode: &'a str,
    },
    User {
        message: Message<'a>,
        session_id: &'a str,
    },
    Thinking {
        subtype: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<&'a str>,
        session_id: &'a str,
        timestamp_ms: u64,
    },
    Assistant {
        message: Message<'a>,
        session_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        model_call_id: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        timestamp_ms: Option<u64>,
    },
    ToolCall {
        subtype: &'a str,
        call_id: &'a str,
        tool_call: Half<'a>,
        model_call_id: &'a str,
        session_id: &'a str,
        timestamp_ms: u64,
    },
    Result {
        subtype: &'a str,
        duration_ms: u64,
        duration_api_ms: u64,
        is_error: bool,
        result: &'a str,
        session_id: &'a str,
        request_id: &'a str,
        usage: Value,
    },
}

/// What a user or the assistant says.
#[derive(Serialize)]
pub(crate) struct Message<'a> {
    role: &'a str,
    content: [Part<'a>; 1],
}

#[derive(Serialize)]
struct Part<'a> {
    r#type: &'a str,
    text: &'a str,
}

impl<'a> Message<'a> {
    pub(crate) fn new(role: &'a str, text: &'a str) -> Self {
        Self { role, content: [Part { r#type: "text", text }] }
    }
}

/// Half of a tool call: its start or its completion.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Half<'a> {
    /// One member: the tool, with its arguments and, at the end, its result.
    #[serde(flatten)]
    pub(crate) tool: Value,
    pub(crate) hook_additional_contexts: [Value; 0],
    pub(crate) tool_call_id: &'a str,
    pub(crate) started_at_ms: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) completed_at_ms: Option<String>,
}

//! Why a run failed, by what the agent says of it.

use std::fs;

use ndjson_check::{EndReason, RetryAfter};
use serde_json::{Value, json};

use crate::reasons::{claude, codex, exited, facts, gemini, opencode};
use crate::streams::{root, run_on, text};

/// A failed run of the agent that says this.
fn run(agent: &str, says: &str) -> String {
    match agent {
        "acp" => {
            let begun = json!({ "jsonrpc": "2.0", "id": 1, "result": { "sessionId": "s-1" } });
            let failed = json!({ "jsonrpc": "2.0", "id": 2, "error": { "code": -32603,
                "message": "Internal error", "data": { "details": says } } });
            format!("{begun}\n{failed}\n")
        }
        "antigravity" => json!({ "event": "result", "result": { "conversation_id": "f63afa66",
            "status": "ERROR", "response": "", "error": says, "duration_seconds": 23.1,
            "num_turns": 5, "usage": { "input_tokens": 900, "output_tokens": 40,
            "thinking_tokens": 0, "cache_read_tokens": 0, "total_tokens": 940 } } })
        .to_string(),
        "claude" => claude(&json!({ "errors": [says] })),
        "codex" => codex(says),
        "gemini" => gemini(&json!({ "type": "unknown", "message": says })),
        "opencode" => opencode(&json!({ "name": "APIError",
            "data": { "message": says, "statusCode": 401, "isRetryable": false } })),
        "copilot" => {
            let error = json!({ "type": "session.error", "id": "ff0e4716",
                "timestamp": "2026-10-08T21:00:00.000Z",
                "data": { "errorType": "query", "message": says } });
            let result = json!({ "type": "result", "timestamp": "2026-10-08T21:00:00.917Z",
                "sessionId": "517ebbae", "exitCode": 1 });
            format!("{error}\n{result}\n")
        }
        "droid" => {
            json!({ "type": "result", "subtype": "failure", "is_error": true, "duration_ms": 45,
            "num_turns": 0, "result": says, "session_id": "s" })
            .to_string()
        }
        "opencode-2" => of_fixture("opencode-2/rate-limit", "Too Many Requests", says),
        "pi" => of_fixture("pi/failed", "400: the model could not be loaded", says),
        _ => of_fixture("qoder/failed-auth", "Not logged in · Please run /login", says),
    }
}

fn of_fixture(name: &str, said: &str, says: &str) -> String {
    let file = root().join(format!("fixtures/agents/{name}.ndjson"));
    let text = |text: &str| Value::from(text).to_string();
    let stream = fs::read_to_string(file).unwrap();
    let changed = stream.replace(&text(said), &text(says));
    assert_ne!(changed, stream, "{name}");
    changed
}

const TEXTS: &[(&str, &str, EndReason)] = &[
    ("acp", "401 no such key", EndReason::Auth),
    ("acp", "413 request too large", EndReason::ContextOverflow),
    ("acp", "503 busy", EndReason::Overloaded),
    ("acp", "5 files are missing", EndReason::Unknown),
    (
        "claude",
        "API Error: Connection closed mid-response. The response above may be incomplete.",
        EndReason::Network,
    ),
    ("claude", "API Error: Response stalled mid-stream.", EndReason::Network),
    ("claude", "API Error: Header '14' has invalid value", EndReason::Auth),
    (
        "claude",
        "API Error: 400 {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\
         \"message\":\"You're out of extra usage. Add more and keep going.\"}}",
        EndReason::RateLimit,
    ),
    ("claude", "Credit balance too low \u{b7} Add funds", EndReason::Billing),
    (
        "codex",
        "You have reached the usage limit. Please contact your workspace owner",
        EndReason::RateLimit,
    ),
    (
        "copilot",
        "Execution failed: Error: No model available. Check policy enablement",
        EndReason::Auth,
    ),
    ("copilot", "402 You have no quota (Request ID: 1)", EndReason::Billing),
    (
        "copilot",
        "Failed to get response from the AI model; retried 5 times. Last error: 413 too large",
        EndReason::ContextOverflow,
    ),
    (
        "copilot",
        "Failed to get response from the AI model; retried 5 times. Last error: Overloaded",
        EndReason::Overloaded,
    ),
    ("copilot", "Execution failed: Error: missing finish_reason for choice 0", EndReason::Network),
    (
        "gemini",
        "[API Error: [{\n \"error\": { \"message\": \"This service has been disabled in this \
         account for violation of Terms of Service.\" } }]]",
        EndReason::Auth,
    ),
    ("gemini", "[API Error: Model stream ended with empty response text.]", EndReason::Overloaded),
    (
        "antigravity",
        "Our servers are experiencing high traffic right now, please try again in a minute. \
         (UNAVAILABLE (code 503): No capacity available for model gpt-oss-120b-medium on the \
         server)",
        EndReason::Overloaded,
    ),
    (
        "antigravity",
        "UNAUTHENTICATED (code 401): Request had invalid authentication credentials.",
        EndReason::Auth,
    ),
    ("antigravity", "timeout waiting for response", EndReason::Timeout),
    ("antigravity", "context canceled", EndReason::Interrupted),
    ("claude", "You've reached your weekly limit · resets Oct 3, 9am", EndReason::RateLimit),
    ("claude", "You've hit your org's monthly usage limit", EndReason::RateLimit),
    ("claude", "You're out of extra usage · resets 4pm", EndReason::RateLimit),
    ("claude", "Your org is out of usage · contact your admin", EndReason::Billing),
    ("claude", "Login expired · Please run /login", EndReason::Auth),
    ("claude", "OAuth access token has expired.", EndReason::Auth),
    (
        "claude",
        "Your account does not have access to Claude Code. Please run /login.",
        EndReason::Auth,
    ),
    ("claude", "This organization has been disabled", EndReason::Auth),
    (
        "claude",
        "Claude Opus is not available with the Claude Pro plan. If you have updated your plan …",
        EndReason::ModelNotFound,
    ),
    ("claude", "API Error: terminated", EndReason::Network),
    ("claude", "API Error (Request timed out.)", EndReason::Network),
    ("claude", "No conversation found with session ID: 1111", EndReason::Config),
    ("claude", "Reached max turns (40)", EndReason::MaxTurns),
    (
        "claude",
        "Prompt is too long · automatic compaction failed: You've hit your session limit",
        EndReason::RateLimit,
    ),
    ("claude", "API Error: Overloaded", EndReason::Overloaded),
    ("claude", "API Error: upstream took too long", EndReason::Overloaded),
    ("claude", "API Error: Can't reach the API", EndReason::Network),
    ("claude", "API Error: Server is temporarily limiting requests", EndReason::RateLimit),
    ("claude", "Failed to authenticate: API Error: 401 no", EndReason::Auth),
    ("claude", "Your credit balance is too low", EndReason::Billing),
    (
        "codex",
        "exceeded retry limit, last status: 401 Unauthorized, request id: r",
        EndReason::Auth,
    ),
    ("codex", "exceeded retry limit, last status: 502 Bad Gateway", EndReason::Overloaded),
    ("codex", "Your workspace is out of credits. Ask your workspace owner …", EndReason::Billing),
    (
        "codex",
        "To use Codex with your ChatGPT plan, upgrade to Plus: https://…",
        EndReason::Billing,
    ),
    (
        "codex",
        "stream disconnected before completion: failed to send websocket request: IO error: …",
        EndReason::Network,
    ),
    (
        "codex",
        "stream disconnected before completion: An error occurred while processing your request. \
         You can retry your request, …",
        EndReason::Overloaded,
    ),
    (
        "codex",
        "stream disconnected before completion: Your input exceeds the context window of …",
        EndReason::ContextOverflow,
    ),
    ("codex", "The usage limit has been reached", EndReason::RateLimit),
    ("codex", "Internal server error", EndReason::Overloaded),
    ("codex", "request timed out", EndReason::Network),
    (
        "codex",
        "Error while reading the server response: error decoding response body, request id: r",
        EndReason::Network,
    ),
    ("codex", "unexpected status 408 Request Timeout: slow", EndReason::Network),
    ("codex", "internal error; agent loop died unexpectedly", EndReason::Crash),
    ("codex", "Fatal error: no tools", EndReason::Crash),
    ("codex", "codex-linux-sandbox was required but not provided", EndReason::Config),
    ("codex", "turn interrupted", EndReason::Interrupted),
    (
        "codex",
        "Access blocked by Cloudflare. This usually happens when connecting from a restricted \
         region (status 403 Forbidden)",
        EndReason::Auth,
    ),
    (
        "codex",
        r#"{"type": "error", "status": 429, "error": {"message": "You've hit your limit."}}"#,
        EndReason::RateLimit,
    ),
    (
        "codex",
        r#"{"type":"error","status":503,"error":{"message":"Try again."}}"#,
        EndReason::Overloaded,
    ),
    (
        "codex",
        "{\"error\":{\"message\":\"Invalid prompt: your prompt was flagged as potentially \
         violating our usage policy.\"}}",
        EndReason::ContentFilter,
    ),
    ("copilot", "Please use /login to sign in to use Copilot", EndReason::Auth),
    ("copilot", "429 Too Many Requests", EndReason::RateLimit),
    (
        "copilot",
        "No response was returned. Send your message again to retry.",
        EndReason::Overloaded,
    ),
    ("droid", "Authentication failed. Please log in using /login or set …", EndReason::Auth),
    (
        "droid",
        "Exec ended early: insufficient permission to proceed. Re-run …",
        EndReason::Permission,
    ),
    (
        "gemini",
        "[API Error: Resource has been exhausted (e.g. check quota).]",
        EndReason::RateLimit,
    ),
    ("gemini", "[API Error: Rate limit exceeded. Try again later.]", EndReason::RateLimit),
    (
        "gemini",
        "[API Error: The model is overloaded. Please try again later.]",
        EndReason::Overloaded,
    ),
    ("gemini", "[API Error: API key not valid. Please pass a valid API key.]", EndReason::Auth),
    (
        "gemini",
        "[API Error: models/gemini-9 is not found for API version v1beta]",
        EndReason::ModelNotFound,
    ),
    ("opencode", "Insufficient balance. Manage your billing here: https://…", EndReason::Billing),
    ("opencode", "Unauthorized", EndReason::Auth),
    ("pi", "OpenAI API error (401): {\"message\":\"Incorrect API key provided\"}", EndReason::Auth),
    ("pi", "OpenAI API error (429): 429 Too Many Requests", EndReason::RateLimit),
    ("pi", "Anthropic API error (529): overloaded_error", EndReason::Overloaded),
    ("pi", "You have hit your ChatGPT usage limit (plus plan).", EndReason::RateLimit),
    ("pi", "Codex error: The usage limit has been reached", EndReason::RateLimit),
    (
        "pi",
        "Codex error: The 'gpt-9' model is not supported when using Codex with a ChatGPT account.",
        EndReason::ModelNotFound,
    ),
    ("pi", "The server had an error while processing your request.", EndReason::Overloaded),
    (
        "pi",
        "400 {\"error\":{\"message\":\"Your credit balance is too low to access the API.\"}}",
        EndReason::Billing,
    ),
    (
        "pi",
        "400 request (186072 tokens) exceeds the available context size (131072 tokens)",
        EndReason::ContextOverflow,
    ),
    (
        "pi",
        "400: {\"message\":\"Failed to load model \\\"google/gemma-4-26b\\\". Error: Model \
         loading was stopped due to insufficient system \
         resources.\",\"type\":\"invalid_request_error\"}",
        EndReason::ModelNotFound,
    ),
    ("pi", "WebSocket closed 1006 Connection ended", EndReason::Network),
    // Of its fork Oh My Pi 18.2.3.
    ("pi", "JSON Parse error: Unrecognized token '<'", EndReason::Network),
    (
        "pi",
        "OpenAI completions stream closed before a finish_reason was received",
        EndReason::Network,
    ),
    (
        "pi",
        "Provider requested 1800000ms wait, exceeds retry.maxDelayMs (300000ms). Original error: \
         402 scripted: billing error",
        EndReason::Billing,
    ),
    (
        "pi",
        "Provider requested 3600000ms wait, exceeds retry.maxDelayMs (300000ms). Original error: \
         429 You exceeded your current quota",
        EndReason::RateLimit,
    ),
    ("qoder", "Connection interrupted. Progress saved.", EndReason::Network),
    (
        "qoder",
        "Qoder API error: PAYLOAD_TOO_LARGE - provider_error: prompt is too long",
        EndReason::ContextOverflow,
    ),
    (
        "qoder",
        "Qoder API error: FORBIDDEN - Access denied {\"pricingUrl\":\"…\"}",
        EndReason::Billing,
    ),
    // A text that only begins like one of them says nothing.
    ("pi", "Gateway API error 401", EndReason::Unknown),
    ("claude", "You've hit your head", EndReason::Unknown),
    ("codex", "exceeded retry limit, last status: 418", EndReason::Unknown),
];

/// Goal: what an agent says of its failure gives the reason.
#[test]
fn the_text_of_an_error_gives_the_reason() {
    for (agent, says, expected) in TEXTS {
        let facts = facts(agent, &run(agent, says), &exited(1));
        assert_eq!(facts.reason, Some(*expected), "{agent}: {says}: {:?}", facts.error_text);
    }
}

/// Goal: a time in the text says when a retry is worth it.
#[test]
fn the_text_of_an_error_says_when_to_retry() {
    let rows = [
        (
            "claude",
            "API Error: 400 {\"message\":\"You have reached your specified API usage limits. You \
             will regain access on 2025-12-01 at 00:00 UTC.\"}",
            RetryAfter::At(1_764_547_200_000),
        ),
        (
            "codex",
            "stream disconnected before completion: Rate limit is exceeded. Try again in 17 \
             seconds.",
            RetryAfter::Seconds(17),
        ),
        (
            "gemini",
            "[API Error: You exceeded your current quota.\nSuggested retry after 3600s.]",
            RetryAfter::Seconds(3_600),
        ),
        (
            "opencode-2",
            "Error 429: You have reached your limit. The limit resets in 23m, please wait.",
            RetryAfter::Seconds(1_380),
        ),
        (
            "pi",
            "You have hit your ChatGPT usage limit (plus plan). Try again in ~120 min.",
            RetryAfter::Seconds(7_200),
        ),
        (
            "pi",
            "Codex error: {\"error\":{\"type\":\"usage_limit_reached\",\"resets_at\":1777936568}}",
            RetryAfter::At(1_777_936_568_000),
        ),
    ];
    for (agent, says, expected) in rows {
        let facts = facts(agent, &run(agent, says), &exited(1));
        assert_eq!(facts.reason, Some(EndReason::RateLimit), "{agent}: {says}");
        assert_eq!(facts.retry_after, Some(expected), "{agent}: {says}");
    }
}

/// Goal: the single object of droid, which looks like those of other agents, is read.
#[test]
fn the_single_object_of_droid_is_a_run() {
    let object = json!({ "type": "result", "subtype": "success", "is_error": false,
        "duration_ms": 5119, "num_turns": 2, "result": "All 12 tests pass.", "session_id": "s" });
    let object = format!("{object}\n");
    let report = run_on(&["--profile", "droid", "-"], object.as_bytes());
    assert!(text(&report.stdout).contains("succeeded · Factory droid"), "{report:?}");
    let answer = run_on(&["--profile", "droid", "--to", "answer"], object.as_bytes());
    assert_eq!(text(&answer.stdout), "All 12 tests pass.\n");
}

/// Goal: what the model said last, before a hook stopped the run, is no error of the provider.
#[test]
fn a_run_that_a_hook_stopped_was_not_allowed_to_go_on() {
    for says in ["API Error: 429 is what your server returns", "Prompt is too long, says the log"] {
        let ended_by = |terminal: &str| {
            let members =
                json!({ "subtype": "success", "result": says, "terminal_reason": terminal });
            facts("claude", &claude(&members), &exited(1))
        };
        let stopped = ended_by("hook_stopped");
        assert_eq!(stopped.reason, Some(EndReason::Permission));
        assert_eq!(stopped.error_text.as_deref(), Some("hook_stopped"));
        let failed = ended_by("api_error");
        assert_ne!(failed.reason, Some(EndReason::Unknown));
        assert_eq!(failed.error_text.as_deref(), Some(says));
    }
}

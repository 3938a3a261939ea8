//! Why a run failed, by what the provider of the model answered.

use ndjson_check::{EndReason, ExitStatus, RetryAfter, Retryable};
use serde_json::json;

use crate::reasons::{claude, codex, exited, facts, gemini, opencode};
use crate::streams::{run_on, text};

const TEXTS: &[(&str, EndReason)] = &[
    // Anthropic.
    ("invalid x-api-key", EndReason::Auth),
    (
        "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down\"}}",
        EndReason::RateLimit,
    ),
    (
        "This request would exceed your organization's rate limit of 30,000 input tokens",
        EndReason::RateLimit,
    ),
    ("overloaded_error: Overloaded", EndReason::Overloaded),
    ("Overloaded", EndReason::Overloaded),
    ("Error: Failed after 3 attempts. Last error: Overloaded", EndReason::Overloaded),
    ("prompt is too long: 213000 tokens > 200000 maximum", EndReason::ContextOverflow),
    ("Your credit balance is too low to access the Anthropic API.", EndReason::Billing),
    ("{\"type\":\"not_found_error\",\"message\":\"model: claude-9\"}", EndReason::ModelNotFound),
    ("Output blocked by content filtering policy", EndReason::ContentFilter),
    ("The model refused to complete the request", EndReason::Refusal),
    // OpenAI and Azure.
    ("Incorrect API key provided: sk-x.", EndReason::Auth),
    (
        "Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM)",
        EndReason::RateLimit,
    ),
    (
        "You exceeded your current quota, please check your plan and billing details.",
        EndReason::Billing,
    ),
    ("{\"error\":{\"message\":\"no\",\"code\":\"insufficient_quota\"}}", EndReason::Billing),
    ("Your organization must be verified to stream this model.", EndReason::Auth),
    ("{'error': {'code': 'context_length_exceeded'}}", EndReason::ContextOverflow),
    (
        "This model's maximum context length is 128000 tokens. However, your messages resulted in \
         131000 tokens.",
        EndReason::ContextOverflow,
    ),
    ("The model `gpt-9` does not exist or you do not have access to it.", EndReason::ModelNotFound),
    (
        "Grok API error: 400 The model gpt-9 does not exist or you do not have access to it.",
        EndReason::ModelNotFound,
    ),
    (
        "API error (status 400 Bad Request): invalid_request_error: The model gpt-9 does not exist",
        EndReason::ModelNotFound,
    ),
    ("Bad request: The model gpt-9 does not exist", EndReason::ModelNotFound),
    (
        "OpenAI APIError: Error code: 400 - {'error': {'message': 'The model `x` does not exist or \
         you do not have access to it.'}}",
        EndReason::ModelNotFound,
    ),
    ("[API Error: Provider returned error]", EndReason::Overloaded),
    ("Model returned empty response", EndReason::Overloaded),
    ("No response received from model", EndReason::Overloaded),
    ("[API Error: Request timeout after 4s. Try reducing input length]", EndReason::Network),
    ("error: unexpected argument '--frobnicate' found", EndReason::Config),
    ("error: unknown option '--frobnicate=7'", EndReason::Config),
    ("Error: Unknown option: --frobnicate", EndReason::Config),
    ("Unknown argument: frobnicate", EndReason::Config),
    ("Grok API error: 408 Request timed out.", EndReason::Network),
    ("Request failed (408): Request timed out.", EndReason::Network),
    ("API error (status 408 Request Timeout): timeout: Request timed out.", EndReason::Network),
    ("stream disconnected before completion: Overloaded", EndReason::Overloaded),
    ("The server had an error while processing your request.", EndReason::Overloaded),
    ("API error (500): Internal server error", EndReason::Overloaded),
    ("API error (401): no", EndReason::Auth),
    (
        "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
        EndReason::ContentFilter,
    ),
    (
        "The response was filtered due to the prompt triggering Azure OpenAI's content management \
         policy.",
        EndReason::ContentFilter,
    ),
    (
        "Requests to the API have exceeded token rate limit of your current pricing tier.",
        EndReason::RateLimit,
    ),
    // Google.
    ("API key not valid. Please pass a valid API key.", EndReason::Auth),
    ("[API Error: Resource has been exhausted (e.g. check quota).]", EndReason::RateLimit),
    (
        "You exceeded your current quota, please check your plan and billing details. For more \
         information, head to: https://ai.google.dev/gemini-api/docs/rate-limits.",
        EndReason::RateLimit,
    ),
    ("{\"error\":{\"message\":\"no\",\"status\":\"UNAVAILABLE\"}}", EndReason::Overloaded),
    ("This model is currently experiencing high demand.", EndReason::Overloaded),
    (
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
        EndReason::ContextOverflow,
    ),
    ("models/gemini-9 is not found for API version v1beta", EndReason::ModelNotFound),
    // Amazon Bedrock.
    ("ThrottlingException: Too many requests, please wait", EndReason::RateLimit),
    ("The provided model identifier is invalid.", EndReason::ModelNotFound),
    ("The security token included in the request is expired", EndReason::Auth),
    ("ValidationException: Input is too long for requested model.", EndReason::ContextOverflow),
    // OpenRouter, DeepSeek, Alibaba, Groq.
    ("No cookie auth credentials found", EndReason::Auth),
    ("Key limit exceeded (total limit). Manage it using https://…", EndReason::Billing),
    ("This request requires more credits, or fewer max_tokens.", EndReason::Billing),
    ("foo/bar is not a valid model ID", EndReason::ModelNotFound),
    ("No endpoints found for foo/bar.", EndReason::ModelNotFound),
    ("Provider returned error: 429", EndReason::RateLimit),
    ("402 Insufficient Balance", EndReason::Billing),
    ("Throttling: TPM(10680324/10000000)", EndReason::RateLimit),
    (
        "400 <400> InternalError.Algo.DataInspectionFailed: Input text data may contain …",
        EndReason::ContentFilter,
    ),
    ("Please reduce the length of the messages or completion", EndReason::ContextOverflow),
    // The status of HTTP, and the connection.
    ("429 Too Many Requests", EndReason::RateLimit),
    ("Error 429: slow down", EndReason::RateLimit),
    ("HTTP 402", EndReason::Billing),
    ("Request failed with status code 401", EndReason::Auth),
    ("403 status code (no body)", EndReason::Auth),
    ("404 Not Found", EndReason::ModelNotFound),
    ("Error code: 503 - {}", EndReason::Overloaded),
    ("502", EndReason::Overloaded),
    ("Bad Gateway", EndReason::Overloaded),
    ("TypeError: fetch failed", EndReason::Network),
    ("getaddrinfo ENOTFOUND api.example.com", EndReason::Network),
    ("request to https://api.example.com/v1 failed, reason: read ECONNRESET", EndReason::Network),
    ("socket hang up", EndReason::Network),
    ("Request timed out.", EndReason::Network),
    // Between the agent and the provider.
    ("Post \"https://x.test/v1\": dial tcp: lookup x.test: no such host", EndReason::Network),
    ("fetch failed: self-signed certificate in certificate chain", EndReason::Config),
    ("Post \"https://x.test\": tls: failed to verify certificate: x509: no", EndReason::Config),
    ("<html><head><title>502 Bad Gateway</title></head></html>", EndReason::Overloaded),
    ("API Error: 407 Proxy Authentication Required", EndReason::Config),
    ("unexpected status 407 Proxy Authentication Required: <html>", EndReason::Config),
    ("407 Proxy Authentication Required", EndReason::Config),
    ("408 Request Timeout", EndReason::Network),
    ("API Error: 408 {}", EndReason::Network),
    ("HTTP 408: timed out", EndReason::Network),
    ("Proxy Authentication Required", EndReason::Config),
    ("407 <html><head><title>407</title></head></html>", EndReason::Config),
];

/// Texts that only speak of one of these.
const OTHERS: &[&str] = &[
    "I hit a rate limit",
    "The build failed: your server answers 429 Too Many Requests",
    "cannot open src/rate_limit_error.rs",
    "tests/overloaded_error.py: 3 tests failed",
    "renamed rate_limit_error to too_many",
    "insufficient_quota.test.ts is missing",
    "The tests of invalid x-api-key fail",
    "Overloaded functions confuse the parser",
    "terminated by the user",
    "500 tests failed",
    "error (500 tests failed)",
    "got (503 items)",
    "404 pages are missing a title",
    "429.json: no such file",
    "exit code 401",
    "line 403: unexpected token",
    "Model not found in models.py",
    "The prompt file is too long for me",
    "forbidden words in the answer",
    "unauthorized_test.go failed",
    "I see in the log: Rate limit exceeded",
    "",
];

/// Goal: what a provider answers gives the reason, whatever agent passes it on.
#[test]
fn the_text_of_a_provider_gives_the_reason() {
    for (says, expected) in TEXTS {
        let error = json!({ "name": "UnknownError", "data": { "message": says } });
        let found = facts("opencode", &opencode(&error), &exited(1));
        assert_eq!(found.reason, Some(*expected), "{says}");
        let mut exit = exited(1);
        exit.stderr = Some(vec![(*says).to_owned()]);
        let found = facts("muse", "", &exit);
        assert_eq!(found.reason, Some(*expected), "on standard error: {says}");
    }
    for says in OTHERS {
        let error = json!({ "name": "UnknownError", "data": { "message": says } });
        let mut exit = exited(1);
        exit.stderr = Some(vec![(*says).to_owned()]);
        for (agent, stream) in [("opencode", opencode(&error)), ("muse", String::new())] {
            let found = facts(agent, &stream, &exit);
            assert_eq!(found.reason, Some(EndReason::Unknown), "{agent}: {says}");
        }
    }
}

/// Goal: what the agent's own profile knows comes first.
#[test]
fn a_reason_of_the_profile_comes_before_that_of_a_provider() {
    let says = "You exceeded your current quota, please check your plan and billing details.";
    let own = gemini(&json!({ "type": "unknown", "message": format!("[API Error: {says}]") }));
    assert_eq!(facts("gemini", &own, &exited(1)).reason, Some(EndReason::RateLimit));
    let shared = facts("codex", &codex(says), &exited(1));
    assert_eq!(shared.reason, Some(EndReason::Billing));
    // A field of the event, and a signal, come first, too.
    let error = json!({ "name": "APIError", "data": { "message": says, "statusCode": 429 } });
    assert_eq!(facts("opencode", &opencode(&error), &exited(1)).reason, Some(EndReason::RateLimit));
    let killed = ExitStatus::Signal(9).into();
    assert_eq!(facts("muse", "", &killed).reason, Some(EndReason::Killed));
}

/// Goal: the message that an indented line has is a part of the error.
#[test]
fn an_indented_line_may_have_the_message() {
    let line = |text: &str| text.to_owned();
    for (second, reason) in [
        ("  provider_message: Insufficient credits", EndReason::Billing),
        ("  message: 'Request timed out.',", EndReason::Network),
        ("  a message: Overloaded", EndReason::Unknown),
        ("message: Overloaded", EndReason::Unknown),
    ] {
        let first = line("Error: API error from somewhere (model: m): LLM backend error [x]");
        let mut exit = exited(1);
        exit.stderr = Some(vec![first, line("  status: N/A"), line(second)]);
        assert_eq!(facts("muse", "", &exit).reason, Some(reason), "{second}");
    }
}

/// Goal: a time in the text of a provider says when a retry is worth it, where time helps.
#[test]
fn the_text_of_a_provider_says_when_to_retry() {
    for (says, reason, retryable, after) in [
        (
            "Rate limit reached for gpt-5. Please try again in 6.2s. Visit …",
            EndReason::RateLimit,
            Retryable::Later,
            Some(7),
        ),
        (
            "Error 429: Daily free limit reached on model x. Try again in 23h 59m",
            EndReason::RateLimit,
            Retryable::Later,
            Some(86_340),
        ),
        (
            "{\"error\":{\"status\":\"UNAVAILABLE\",\"details\":[{\"retryDelay\":\"34s\"}]}}",
            EndReason::Overloaded,
            Retryable::Later,
            Some(34),
        ),
        ("Overloaded", EndReason::Overloaded, Retryable::Yes, None),
        ("Unauthorized. Try again in 5s", EndReason::Auth, Retryable::No, None),
        (
            "Too many requests. Please try again at 3:05 PM",
            EndReason::RateLimit,
            Retryable::Later,
            None,
        ),
    ] {
        let found = facts("codex", &codex(says), &exited(1));
        assert_eq!((found.reason, found.retryable), (Some(reason), Some(retryable)), "{says}");
        assert_eq!(found.retry_after, after.map(RetryAfter::Seconds), "{says}");
    }
}

/// Goal: a text of a provider explains a failure, and makes none.
#[test]
fn a_run_that_succeeded_has_no_reason_of_a_provider() {
    let says = "Overloaded";
    let stream = claude(&json!({ "subtype": "success", "is_error": false, "result": says }));
    let mut exit = exited(0);
    exit.stderr = Some(vec!["429 Too Many Requests".to_owned()]);
    let found = facts("claude", &stream, &exit);
    assert_eq!((found.reason, found.retryable), (Some(EndReason::Completed), None));
    let report = run_on(&["--profile", "codex", "-"], codex(says).as_bytes());
    assert_eq!(report.status.code(), Some(3));
    assert!(
        text(&report.stdout).contains("failed: the provider failed; a retry may help"),
        "{report:?}"
    );
}

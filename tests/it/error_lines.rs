//! Why a run failed, by what the agent says of it on standard error.

use ndjson_check::EndReason;

use crate::reasons::{exited, facts};

/// Lines that agents write to standard error instead of an event.
const LINES: &[(&str, &str, EndReason)] = &[
    (
        "kimi-code",
        "error: failed to run prompt: provider.auth_error: 401 Invalid Authentication",
        EndReason::Auth,
    ),
    (
        "kimi-code",
        "error: failed to run prompt: auth.login_required: OAuth provider \"managed:kimi-code\" \
         requires login before it can be used.",
        EndReason::Auth,
    ),
    (
        "kimi-code",
        "error: failed to run prompt: No model configured. Run `kimi` and use /login to sign in, \
         then retry; or set default_model in config.toml.",
        EndReason::Auth,
    ),
    (
        "kimi-code",
        "error: failed to run prompt: provider.auth_error: 403 You've reached your weekly (7-day) \
         usage limit. Your quota will reset when the current 7-day window ends.",
        EndReason::RateLimit,
    ),
    (
        "kimi-code",
        "error: failed to run prompt: provider.api_error: 403 You've reached your usage limit for \
         this billing cycle. Your quota will be refreshed in the next cycle.",
        EndReason::RateLimit,
    ),
    (
        "kimi-code",
        "error: failed to run prompt: provider.rate_limit: 429 Too many requests, rate limit \
         reached",
        EndReason::RateLimit,
    ),
    (
        "kimi-code",
        "error: failed to run prompt: provider.rate_limit: 429 Your account org-f0b is suspended \
         due to insufficient balance, please recharge your account",
        EndReason::Billing,
    ),
    (
        "kimi-code",
        "error: failed to run prompt: provider.api_error: 402 Your account is suspended due to \
         insufficient balance",
        EndReason::Billing,
    ),
    (
        "kimi-code",
        "error: failed to run prompt: provider.rate_limit: 429 The engine is currently \
         overloaded, please try again later",
        EndReason::Overloaded,
    ),
    (
        "kimi-code",
        "error: failed to run prompt: provider.api_error: 524 status code (no body)",
        EndReason::Overloaded,
    ),
    (
        "kimi-code",
        "error: failed to run prompt: provider.connection_error: terminated",
        EndReason::Network,
    ),
    (
        "kimi-code",
        "error: failed to run prompt: provider.api_error: 400 request (92629 tokens) exceeds the \
         available context size (8192 tokens), try increasing it",
        EndReason::ContextOverflow,
    ),
    (
        "kimi-code",
        "error: failed to run prompt: loop.max_steps_exceeded: Turn exceeded maxSteps=12.",
        EndReason::MaxTurns,
    ),
    (
        "kimi-code",
        "error: failed to run prompt: config.invalid: Model \"k3\" is not configured in \
         config.toml.",
        EndReason::ModelNotFound,
    ),
    (
        "kimi-code",
        "error: failed to run prompt: Session \"session_1\" not found.",
        EndReason::Config,
    ),
    (
        "kimi-code",
        "error: failed to run prompt: provider.auth_error: 403 You've reached your 5-hour usage \
         limit. Your quota will reset when the current 5-hour window ends.",
        EndReason::RateLimit,
    ),
    (
        "cursor",
        "ActionRequiredError: Review Data Policy You must acknowledge Claude Fable 5's data \
         retention policy to use the model.",
        EndReason::Auth,
    ),
    (
        "cursor",
        "ActionRequiredError: acknowledge the data retention policy before using claude-fable-5",
        EndReason::Auth,
    ),
    ("cursor", "ActionRequiredError: something else", EndReason::Unknown),
    (
        "cursor",
        "RetriableError: [unavailable] getaddrinfo ENOTFOUND api2.cursor.sh",
        EndReason::Network,
    ),
    (
        "cursor",
        "ConnectError: [unavailable] getaddrinfo ENOTFOUND api2.cursor.sh",
        EndReason::Network,
    ),
    ("cursor", "RetriableError: [unavailable] Error", EndReason::Overloaded),
    ("cursor", "Error: Session ID \"1f2e\" is already in use.", EndReason::Config),
    (
        "cursor",
        "Invalid conversation history: the first message is not the user's",
        EndReason::Config,
    ),
    (
        "cursor",
        "Error: --system-prompt file not found: /home/dev/shop/prompt.txt",
        EndReason::Config,
    ),
    (
        "cursor",
        "Error: --system-prompt file is empty: /home/dev/shop/prompt.txt",
        EndReason::Config,
    ),
    (
        "cursor",
        "Error: failed to read --system-prompt file: EACCES: permission denied",
        EndReason::Config,
    ),
    (
        "cursor",
        "Invalid --allowed-tools value(s): bogus. Expected one of: shell_tool_call, \
         delete_tool_call",
        EndReason::Config,
    ),
    ("cursor", "error: unknown option '--jsn'", EndReason::Config),
    (
        "antigravity",
        "AGY_ERROR: {\"short_error\":\"UNAVAILABLE (code 503): No capacity \
         available\",\"error_code\":503,\"retryable\":true}",
        EndReason::Overloaded,
    ),
    (
        "antigravity",
        "AGY_ERROR: {\"status\":\"INTERNAL\",\"retryable\":true,\"http_code\":500}",
        EndReason::Overloaded,
    ),
    (
        "antigravity",
        "AGY_ERROR: {\"short_error\":\"UNAUTHENTICATED (code 401)\",\"error_code\":401}",
        EndReason::Auth,
    ),
    (
        "antigravity",
        "AGY_ERROR: {\"short_error\":\"RESOURCE_EXHAUSTED (code 429): Individual quota \
         reached. Resets in 2h18m58s.\"}",
        EndReason::RateLimit,
    ),
    (
        "antigravity",
        "error: Eligibility check failed: UNAVAILABLE (code 503)",
        EndReason::Overloaded,
    ),
    ("antigravity", "Eligibility check failed: verify your account", EndReason::Auth),
    (
        "antigravity",
        "AGY_ERROR: {\"short_error\":\"INVALID_ARGUMENT (code 400)\",\"error_code\":400}",
        EndReason::Unknown,
    ),
    (
        "opencode",
        "timestamp=2026-07-22T20:16:01.274Z level=ERROR run=2d6c3e5b message=failed \
         ref=err_c5f9e7db error=\"ProviderModelNotFoundError: Model not found: \
         kimi-for-coding/k2p6.\" cause=\"…\"",
        EndReason::ModelNotFound,
    ),
    ("opencode", "Error: Model not found: kimi/latest.", EndReason::ModelNotFound),
    (
        "opencode",
        "ProviderModelNotFoundError: Model not found: kimi/latest",
        EndReason::ModelNotFound,
    ),
    ("pi", "Stream ended without finish_reason", EndReason::Network),
    ("gemini", "[API Error: Model stream ended without a finish reason.]", EndReason::Network),
    ("gemini", "[API Error: Incomplete JSON segment at the end]", EndReason::Network),
    ("cline", "Response stream ended without a finish reason.", EndReason::Network),
    (
        "codex",
        "unexpected status 413 Payload Too Large: too large, url: http://host/v1/responses",
        EndReason::ContextOverflow,
    ),
    (
        "claude",
        "API Error: API returned an empty or malformed response (HTTP 200) — check for a proxy",
        EndReason::Network,
    ),
    ("claude", "Request too large (max 32MB). Start a new session.", EndReason::ContextOverflow),
    (
        "copilot",
        "No prompt provided. Run in an interactive terminal or provide a prompt with -p",
        EndReason::Config,
    ),
    (
        "copilot",
        "Failed to get response from the AI model; retried 5 times Last error: Failed to \
         finalize chat-completions stream: missing finish_reason for choice 0",
        EndReason::Network,
    ),
    (
        "copilot",
        "The provider rejected the prompt as too long, but automatic recovery failed.",
        EndReason::ContextOverflow,
    ),
    ("grok", "Error: --single: prompt is empty", EndReason::Config),
    (
        "grok",
        "Internal error: API error (status 403 Forbidden): permission_error: no",
        EndReason::Auth,
    ),
    ("opencode", "Error: Session not found", EndReason::Config),
    ("opencode", "  message: \"Session not found: ses_doesnotexist\",", EndReason::Config),
    (
        "opencode",
        "timestamp=2026-07-22T20:16:01.274Z level=ERROR run=2d6c3e5b message=\"share \
         subscriber failed\" cause=\"Cause([Fail(ProviderModelNotFoundError: …)])\"",
        EndReason::Unknown,
    ),
    (
        "copilot",
        "Error: Model \"gpt-9\" from --model flag is not available.",
        EndReason::ModelNotFound,
    ),
    ("copilot", "Model \"gpt-9\" from --model flag is not available.", EndReason::ModelNotFound),
    (
        "copilot",
        "2026-05-01T17:10:32.428Z [ERROR] Model \"gpt-9\" from --model flag is not available.",
        EndReason::ModelNotFound,
    ),
    (
        "codex",
        "No prompt provided. Either specify one as an argument or pipe the prompt into stdin.",
        EndReason::Config,
    ),
    ("codex", "No prompt provided via stdin.", EndReason::Config),
    ("claude", "Error: Reached max turns (40)", EndReason::MaxTurns),
    ("claude", "Failed to authenticate: OAuth session expired", EndReason::Auth),
    ("claude", "Request timed out.", EndReason::Network),
    ("claude", "Error: bypassPermissions not supported in restricted mode", EndReason::Config),
    (
        "claude",
        "Error: When using --print, --output-format=stream-json requires --verbose",
        EndReason::Config,
    ),
    (
        "claude",
        "--dangerously-skip-permissions cannot be used with root/sudo privileges for security \
         reasons",
        EndReason::Config,
    ),
    ("claude", "Error: Settings file not found: /x", EndReason::Config),
    ("claude", "Error: Session ID 505f-4785 is already in use.", EndReason::Config),
    ("codex", "Not logged in", EndReason::Auth),
    (
        "codex",
        "Error: thread/resume: thread/resume failed: no rollout found for thread id 01a0",
        EndReason::Config,
    ),
    ("codex", "Error: required MCP servers failed to initialize: pears", EndReason::Config),
    ("codex", "ERROR: You've hit your usage limit. Try again at 8:19 PM.", EndReason::RateLimit),
    ("codex", "Codex ran out of room in the model's context window.", EndReason::ContextOverflow),
    ("codex", "ERROR: request timed out", EndReason::Network),
    ("codex", "Your access token could not be refreshed because …", EndReason::Auth),
    ("copilot", "Error: Authentication token found but could not be validated.", EndReason::Auth),
    ("copilot", "You have reached your weekly rate limit", EndReason::RateLimit),
    ("copilot", "403 API rate limit exceeded", EndReason::RateLimit),
    ("copilot", "Execution failed: 402 You have no quota", EndReason::Billing),
    ("copilot", "Error: Access denied by policy settings (Request ID: 1)", EndReason::Auth),
    (
        "copilot",
        "Execution failed: Error: Failed to get response from the AI model; retried 5 times \
         Last error: CAPIError: 503 no",
        EndReason::Overloaded,
    ),
    (
        "copilot",
        "✗ Sorry, you've hit a rate limit that restricts the number of Copilot model requests",
        EndReason::RateLimit,
    ),
    ("copilot", "Timed out after 600s waiting for background tasks", EndReason::Timeout),
    (
        "copilot",
        "Error: Model \"gpt-9\" does not support reasoning effort configuration.",
        EndReason::Config,
    ),
    ("qwen", "No auth type is selected. Please configure an auth type …", EndReason::Auth),
    (
        "antigravity",
        "jetski: no output produced — a tool required the \"command\" permission that …",
        EndReason::Permission,
    ),
    ("antigravity", "Error: authentication timed out.", EndReason::Auth),
    ("antigravity", "Error: timeout waiting for response", EndReason::Timeout),
    ("antigravity", "Error: --print took \"--model\" as its prompt", EndReason::Config),
    ("antigravity", "flag needs an argument: -print", EndReason::Config),
    ("opencode", "Error: Unrecognized flag: --variant", EndReason::Config),
    (
        "gemini",
        "Gemini CLI is not running in a trusted directory. To proceed, …",
        EndReason::Config,
    ),
    ("cursor", "Not logged in", EndReason::Auth),
    ("cursor", "b: You've hit your usage limit. Get more.", EndReason::RateLimit),
    ("pi", "Session already exists with id 'x'", EndReason::Config),
    (
        "pi",
        "Warning: No models available. Use /login to log into a provider. See:",
        EndReason::Auth,
    ),
    ("kimi", "LLM not set", EndReason::Config),
    ("vibe", "  status: 403 Forbidden", EndReason::Auth),
    ("vibe", "  provider_message: Key limit exceeded (total limit).", EndReason::Billing),
    ("vibe", "Stopped: turn_limit", EndReason::MaxTurns),
    ("vibe", "Stopped: price_limit", EndReason::Budget),
    ("vibe", "Stopped: deadline", EndReason::Timeout),
    ("vibe", "Stopped: aborted", EndReason::Interrupted),
    (
        "vibe",
        "Error: The conversation context exceeds the model's maximum limit. Use /rewind",
        EndReason::ContextOverflow,
    ),
    ("vibe", "Error: Cannot load the Vibe config. Invalid TOML", EndReason::Config),
    ("roo", "[CLI] Your Roo Code Router token is not valid.", EndReason::Auth),
    ("roo", "[CLI] Error: Prompt file does not exist: x", EndReason::Config),
    ("roo", "[CLI] API request failed: 401 Unauthorized", EndReason::Auth),
    (
        "opencode",
        "\u{1b}[91m\u{1b}[1mError: \u{1b}[0mFailed to change directory to /x",
        EndReason::Config,
    ),
    ("kiro", "error: Monthly usage limit reached", EndReason::RateLimit),
    // A line that only begins like one of them says nothing.
    ("kimi-code", "error: failed to run prompt: something else", EndReason::Unknown),
    (
        "kimi-code",
        "I saw: error: failed to run prompt: provider.rate_limit: 429 no",
        EndReason::Unknown,
    ),
    (
        "gptme",
        "· ERROR    Error code: 400 - {'error': {'message': 'prompt is too long: 250000",
        EndReason::ContextOverflow,
    ),
    ("gptme", "           'context_length_exceeded'}}", EndReason::ContextOverflow),
];

/// Goal: what an agent that wrote no event says on standard error gives the reason.
#[test]
fn a_line_on_standard_error_gives_the_reason() {
    for (agent, line, expected) in LINES {
        let mut exit = exited(1);
        exit.stderr = Some(vec![(*line).to_owned()]);
        let facts = facts(agent, "", &exit);
        assert_eq!(facts.reason, Some(*expected), "{agent}: {line}");
    }
}

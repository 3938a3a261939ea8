//! Why a run failed, and whether a retry is worth it.

use std::collections::BTreeSet;
use std::fs;

use ndjson_check::{
    Checker, Diagnostic, EndReason, ExitStatus, ProducerExit, RetryAfter, Retryable, RunFacts,
};
use serde_json::{Value, json};

use crate::streams::{checker, files, program, root, run_on, text};

const CLAUDE: &str = concat!(
    r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":[],"mcp_servers":[],"#,
    r#""model":"claude-sonnet-4-5","permissionMode":"default","apiKeySource":"none","#,
    r#""claude_code_version":"2.1.330","output_style":"default"}"#
);
const CODEX: &str = r#"{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}"#;
const OPENCODE: &str = concat!(
    r#"{"type":"step_start","timestamp":1,"sessionID":"s","part":"#,
    r#"{"id":"p","messageID":"m","sessionID":"s","type":"step-start"}}"#
);
const GEMINI: &str = concat!(
    r#"{"type":"init","timestamp":"2026-11-22T15:39:20.000Z","session_id":"s","#,
    r#""model":"gemini-2.5-pro"}"#
);

/// A failed run of Claude Code with these members in its result.
pub(crate) fn claude(members: &Value) -> String {
    let mut result = json!({"type": "result", "subtype": "error_during_execution", "is_error": true,
        "duration_ms": 1, "duration_api_ms": 1, "num_turns": 1, "session_id": "s",
        "total_cost_usd": 0, "errors": []});
    result.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    format!("{CLAUDE}\n{result}\n")
}

pub(crate) fn codex(message: &str) -> String {
    let failed = json!({"type": "turn.failed", "error": {"message": message}});
    format!("{CODEX}\n{failed}\n")
}

pub(crate) fn opencode(error: &Value) -> String {
    let error = json!({"type": "error", "timestamp": 2, "sessionID": "s", "error": error});
    format!("{OPENCODE}\n{error}\n")
}

pub(crate) fn gemini(error: &Value) -> String {
    let result = json!({"type": "result", "timestamp": "2026-11-22T15:39:21.000Z",
        "status": "error", "error": error, "stats": {}});
    format!("{GEMINI}\n{result}\n")
}

fn api_error(status: u16) -> Value {
    json!({"api_error_status": status, "result": format!("API Error: {status}")})
}

pub(crate) fn facts(profile: &str, stream: &str, exit: &ProducerExit) -> RunFacts {
    let mut checker: Checker = checker(["--profile", profile]);
    let mut check = checker.stream("-");
    let mut found: Vec<Diagnostic> = Vec::new();
    check.feed(stream.as_bytes(), &mut found).unwrap();
    check.finish(exit, &mut found).unwrap().facts
}

pub(crate) fn exited(code: u8) -> ProducerExit {
    ExitStatus::Code(code).into()
}

/// Goal: each reason is found where agents say it.
#[test]
fn each_reason_is_found_in_a_stream_or_in_a_status() {
    let content_filter = "Incomplete response returned, reason: content_filter";
    let usage_limit = "You've hit your usage limit. Upgrade to Pro, or try again later.";
    let open = format!("{CLAUDE}\n");
    let command_code = "{\"type\":\"text\",\"text\":\"Hi\"}\n";
    let found = |profile, stream: String, status, reason| (profile, stream, status, reason);
    let rows = [
        found("claude", claude(&api_error(401)), 1, EndReason::Auth),
        found("claude", claude(&api_error(402)), 1, EndReason::Billing),
        found("codex", codex(usage_limit), 1, EndReason::RateLimit),
        found(
            "opencode",
            opencode(&json!({"name": "APIError",
            "data": {"message": "down", "statusCode": 503}})),
            1,
            EndReason::Overloaded,
        ),
        found("claude", claude(&json!({"api_error": "connection_failed"})), 1, EndReason::Network),
        found(
            "claude",
            claude(&json!({"terminal_reason": "prompt_too_long"})),
            1,
            EndReason::ContextOverflow,
        ),
        found(
            "opencode",
            opencode(&json!({"name": "MessageOutputLengthError", "data": {}})),
            1,
            EndReason::OutputLimit,
        ),
        found("claude", claude(&json!({"stop_reason": "refusal"})), 1, EndReason::Refusal),
        found("codex", codex(content_filter), 1, EndReason::ContentFilter),
        found("claude", claude(&json!({"subtype": "error_max_turns"})), 1, EndReason::MaxTurns),
        found("claude", claude(&json!({"subtype": "error_max_budget_usd"})), 1, EndReason::Budget),
        found("command-code", command_code.to_owned(), 4, EndReason::Permission),
        found(
            "gemini",
            gemini(&json!({"type": "FatalToolExecutionError", "message": "no"})),
            54,
            EndReason::Tool,
        ),
        found(
            "claude",
            claude(&json!({"terminal_reason": "aborted_tools"})),
            143,
            EndReason::Interrupted,
        ),
        found("claude", open.clone(), 137, EndReason::Killed),
        found("claude", open.clone(), 124, EndReason::Timeout),
        found("claude", open.clone(), 139, EndReason::Crash),
        found(
            "claude",
            claude(&json!({"api_error": "named_profile_unusable"})),
            1,
            EndReason::Config,
        ),
        found("claude", claude(&api_error(404)), 1, EndReason::ModelNotFound),
        found("claude", claude(&json!({})), 1, EndReason::Unknown),
    ];
    for (profile, stream, status, reason) in &rows {
        let facts = facts(profile, stream, &exited(*status));
        assert_eq!(facts.reason, Some(*reason), "{profile} {status}: {stream}");
    }
    let reasons: BTreeSet<EndReason> = rows.iter().map(|row| row.3).collect();
    assert_eq!(reasons.len(), rows.len(), "each reason once");
    let documented = fs::read_to_string(root().join("docs/reasons.md")).unwrap();
    for reason in reasons {
        assert!(documented.contains(&format!("`{}`", reason.name())), "{}", reason.name());
    }
}

/// What agents write when they fail; here the assistant says it.
const PROSE: [&str; 16] = [
    "API Error: 401 Invalid API key",
    "Not logged in · Please run /login",
    "Credit balance is too low",
    "Claude AI usage limit reached|1790003600",
    "API Error: Request rejected (429)",
    "API Error: 529 overloaded_error. Please retry in 12s",
    "API Error: Connection to the API was lost (ECONNRESET).",
    "Prompt is too long",
    "Error: exceeded the 32000 output token maximum",
    "I refuse: the content filter held the answer back, reason: content_filter",
    "error_max_turns, error_max_budget_usd",
    "permission denied: FatalToolExecutionError",
    "Interrupted by SIGINT, killed by SIGKILL, Segmentation fault",
    "timed out after 60 s, exit status 124",
    "error: unknown option '--foo'",
    "model_not_found: 404",
];

/// Goal: the text of an answer is no reason.
/// Method: the assistant says what agents write when they fail; the run succeeds, or fails without
/// a reason.
#[test]
fn what_the_assistant_says_is_no_reason() {
    for text in PROSE {
        let said = json!({"type": "assistant", "session_id": "s", "parent_tool_use_id": null,
            "message": {"id": "m", "type": "message", "role": "assistant", "model": "m",
                "content": [{"type": "text", "text": text}], "stop_reason": null, "usage": {}}});
        let end = |members: Value| claude(&members).replacen('\n', &format!("\n{said}\n"), 1);
        let good = end(json!({"subtype": "success", "is_error": false, "result": text}));
        let facts_of_good = facts("claude", &good, &exited(0));
        assert_eq!(facts_of_good.reason, Some(EndReason::Completed), "{text}");
        let bad = facts("claude", &end(json!({})), &exited(1));
        assert_eq!(bad.reason, Some(EndReason::Unknown), "{text}");
        assert_eq!((bad.retryable, bad.retry_after), (None, None), "{text}");
        let item = json!({"type": "item.completed",
            "item": {"id": "item_0", "type": "agent_message", "text": text}});
        let codex = codex("no such thing").replacen(
            "{\"type\":\"turn.failed\"",
            &format!("{item}\n{{\"type\":\"turn.failed\""),
            1,
        );
        let bad = facts("codex", &codex, &exited(1));
        assert_eq!(bad.reason, Some(EndReason::Unknown), "{codex}");
    }
}

#[test]
fn when_a_retry_is_worth_it_is_told() {
    let limit = json!({"type": "rate_limit_event", "session_id": "s", "rate_limit_info":
        {"status": "rejected", "resetsAt": 1_790_003_600, "rateLimitType": "five_hour"}});
    let claude = |event: &Value| claude(&api_error(429)).replacen('\n', &format!("\n{event}\n"), 1);
    let warned = limit.to_string().replace("rejected", "allowed_warning");
    let warned = serde_json::from_str(&warned).unwrap();
    let header = |status: u16, after: &str| {
        opencode(&json!({"name": "APIError", "data": {"message": "no", "statusCode": status,
            "responseHeaders": {"retry-after": after}}}))
    };
    let quota =
        r#"[API Error: [{"error":{"code":429,"message":"Your quota will reset after 8h44m7s."}}]]"#;
    let delay = r#"[API Error: {"error":{"code":429,"details":[{"retryDelay":"34s"}]}}]"#;
    let gemini = |message: &str| gemini(&json!({"type": "Error", "message": message}));
    let (yes, no, later) = (Some(Retryable::Yes), Some(Retryable::No), Some(Retryable::Later));
    let seconds = |seconds| Some(RetryAfter::Seconds(seconds));
    for (profile, stream, retryable, after) in [
        ("claude", claude(&limit), later, Some(RetryAfter::At(1_790_003_600_000))),
        ("claude", claude(&warned), later, None),
        (
            "codex",
            codex(
                "You've hit your usage limit. Upgrade to Pro \
            (https://openai.com/chatgpt/pricing) or try again in 5 days 22 hours 11 minutes.",
            ),
            later,
            seconds(511_860),
        ),
        (
            "codex",
            codex("You've hit your usage limit, or try again at Jul 5th, 2026 8:19 PM."),
            later,
            None,
        ),
        (
            "codex",
            codex(
                "stream disconnected before completion: Rate limit reached for gpt-5 in \
            organization o on tokens per min. Please try again in 1.898s.",
            ),
            later,
            seconds(2),
        ),
        ("codex", codex("unexpected status 503 Service Unavailable"), yes, None),
        ("opencode", header(429, "17"), later, seconds(17)),
        ("opencode", header(503, "1"), later, seconds(1)),
        ("opencode", header(401, "17"), no, None),
        ("gemini", gemini(quota), later, seconds(31_447)),
        ("gemini", gemini(delay), later, seconds(34)),
    ] {
        let facts = facts(profile, &stream, &exited(1));
        assert_eq!((facts.retryable, facts.retry_after), (retryable, after), "{stream}");
    }
}

/// Goal: each report says why, and when a retry is worth it.
#[test]
fn each_report_says_whether_a_retry_is_worth_it() {
    let stream = codex("You've hit your usage limit. Or try again in 12 minutes.");
    let report = |format: &str| text(&run_on(&["--report", format], stream.as_bytes()).stdout);
    let human = report("human");
    assert!(human.contains("12 minutes; may be retried in 12 m 00 s"), "{human}");
    let markdown = report("markdown");
    assert!(markdown.contains("may be retried in 12 m 00 s"), "{markdown}");
    let json: Value = serde_json::from_str(report("json").lines().next().unwrap()).unwrap();
    assert_eq!(json["reason"], "rate-limit");
    assert_eq!((&json["retryable"], &json["retry_after"]), (&json!("later"), &json!(720)));
    assert_eq!(json["error_text"], "You've hit your usage limit. Or try again in 12 minutes.");
    let junit = report("junit");
    for (name, value) in [("reason", "rate-limit"), ("retryable", "later"), ("retry-after", "720")]
    {
        let property = format!("<property name=\"{name}\" value=\"{value}\"/>");
        assert!(junit.contains(&property), "{junit}");
    }
    let sarif: Value = serde_json::from_str(&report("sarif")).unwrap();
    let notified = &sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"][0];
    let expected = json!({"reason": "rate-limit", "retryable": "later", "retryAfter": 720});
    assert_eq!(notified["properties"], expected, "{sarif}");
    let events = text(&run_on(&["--quiet", "--to", "events"], stream.as_bytes()).stdout);
    let end: Value = serde_json::from_str(events.lines().last().unwrap()).unwrap();
    assert_eq!((&end["type"], &end["retryable"]), (&json!("end"), &json!("later")), "{events}");
    // The events are read again as they were written.
    let again = text(&run_on(&["--report", "json"], events.as_bytes()).stdout);
    let again: Value = serde_json::from_str(again.lines().next().unwrap()).unwrap();
    assert_eq!((&again["reason"], &again["retry_after"]), (&json!("rate-limit"), &json!(720)));
}

#[test]
fn the_outputs_of_a_step_have_the_reason_and_harmless_names() {
    let outputs = |stream: &str| {
        let folder = tempfile::tempdir().unwrap();
        let (stream_file, output) = (folder.path().join("a.ndjson"), folder.path().join("output"));
        fs::write(&stream_file, stream).unwrap();
        let mut program = program();
        program.args(["--report", "github"]).arg(&stream_file).env("GITHUB_OUTPUT", &output);
        program.output().unwrap();
        fs::read_to_string(output).unwrap()
    };
    let limited = outputs(&codex("You've hit your usage limit. Or try again in 12 minutes."));
    for line in
        ["reason=rate-limit", "retryable=later", "retry-after=720", "session-id=t", "model="]
    {
        assert!(limited.lines().any(|it| it == line), "{line}: {limited}");
    }
    let named = outputs(&claude(&json!({"subtype": "success", "is_error": false, "result": ""})));
    for line in ["reason=completed", "retryable=", "session-id=s", "model=claude-sonnet-4-5"] {
        assert!(named.lines().any(|it| it == line), "{line}: {named}");
    }
    for nasty in ["a\\nreason=completed", "$(id)", "`id`", "a b", "\\u0000"] {
        let stream = claude(&api_error(429)).replace("claude-sonnet-4-5", nasty);
        let outputs = outputs(&stream);
        assert!(outputs.lines().any(|it| it == "model="), "{nasty}: {outputs}");
        assert!(outputs.contains("\nreason=rate-limit\n"), "{nasty}: {outputs}");
    }
}

/// Goal: standard error and the exit status of an agent that wrote no event are understood.
/// Method: a shell under the agent's name; lines that only look like those of the agent.
#[test]
fn a_silent_agent_is_known_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let many = "no matter\n".repeat(12);
    for (agent, stderr, status, reason) in [
        ("vibe", "Error: Invalid API key (from env var KEY)", 1, "auth"),
        ("vibe", "Error: Client error '429 Too Many Requests' for url 'http://a'", 2, "rate-limit"),
        ("vibe", &*format!("Error: Invalid API key (from env var KEY)\n{many}"), 1, "unknown"),
        ("vibe", "I saw this: Error: Invalid API key (from env var KEY)", 1, "unknown"),
        ("gemini", "anything", 41, "auth"),
        ("copilot", "Error: No authentication information found.", 1, "auth"),
        ("pi", "No API key found for anthropic.", 1, "auth"),
        ("codex", "error: unexpected argument '--jsn' found", 2, "config"),
        ("some-agent", "Error: Invalid API key (from env var KEY)", 1, "auth"),
        ("some-agent", "I saw this: Error: Invalid API key", 1, "unknown"),
        ("agent", "T: [resource_exhausted] Error", 1, "rate-limit"),
        ("agent", "Error: Authentication required. Please run 'agent login' first", 1, "auth"),
        ("kiro-cli", "Confirm the following code in the browser: ABCD", 1, "auth"),
        ("some-agent", "not found", 127, "config"),
    ] {
        let command = crate::fake_agent::agent_called(agent, folder.path());
        let mut program = program();
        program.args(["--report", "json", "--no-stdin", "--"]).arg(&command);
        let status = status.to_string();
        let output = program.args(["stderr", stderr, "exit", &status]).output().unwrap();
        let report = text(&output.stdout);
        let stream: Value = report
            .lines()
            .map(|it| serde_json::from_str(it).unwrap())
            .find(|line: &Value| line["type"] == "stream")
            .unwrap();
        assert_eq!(stream["reason"], reason, "{agent} {stderr}: {stream}");
    }
}

/// Goal: real failures have their reason; good runs have none.
/// Method: the recordings of the lab, with their exit status, as it is known.
#[test]
fn recordings_of_the_lab_have_their_reasons() {
    let (mut failed, mut good) = (0, 0);
    for folder in fs::read_dir(root().join("lab/recordings")).unwrap() {
        let folder = folder.unwrap().path();
        let agent = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let truths = fs::read(folder.join("truth.json")).unwrap();
        let truths: Value = serde_json::from_slice(&truths).unwrap();
        for file in files(&folder, "ndjson") {
            let name = file.file_stem().unwrap().to_str().unwrap();
            let status = truths[name]["exit_status"].as_u64();
            let exit = status.map(|it| exited(u8::try_from(it).unwrap())).unwrap_or_default();
            let mut checker = Checker::builder().build().unwrap();
            let mut check = checker.stream("-");
            let mut found: Vec<Diagnostic> = Vec::new();
            check.feed(&fs::read(&file).unwrap(), &mut found).unwrap();
            let said = check.finish(&exit, &mut found).unwrap().facts;
            if truths[name]["outcome"] != "failed" {
                good += 1;
                assert_eq!(said.reason, Some(EndReason::Completed), "{agent} {name}");
                assert_eq!((said.retryable, said.retry_after), (None, None), "{agent} {name}");
                continue;
            }
            failed += 1;
            let expected = expected(name, &agent, status);
            assert_eq!(said.reason.map(EndReason::name), Some(expected), "{agent} {name}");
        }
    }
    assert!(good >= 60 && failed >= 35, "{good} good ones, {failed} that failed");
}

/// The reason of a scenario. The lab ends an agent that asks again and again: then nobody says why.
fn expected(name: &str, agent: &str, status: Option<u64>) -> &'static str {
    let (agent, _) = agent.rsplit_once('-').unwrap();
    let (scenario, _) = name.split_once('.').unwrap_or((name, ""));
    match (scenario, agent, status) {
        (_, _, Some(143))
        | ("cut" | "hang" | "hang-after", "vibe", _)
        | ("hang", "acpx" | "hermes", _) => "interrupted",
        // Of these only standard error says why, or a text that is not the agent's own.
        ("http-401", "kimi-code" | "vibe", _)
        | ("http-500-after", "gemini" | "vibe", _)
        | ("cut" | "cut-once", "gptme", _)
        | ("error-after", "codex", _)
        | ("hang" | "hang-after", ..) => "unknown",
        ("http-401", ..) => "auth",
        ("http-402", ..) => "billing",
        ("http-429", ..) => "rate-limit",
        ("http-500-after" | "error-after", ..) => "overloaded",
        ("cut" | "cut-once" | "reset", ..) => "network",
        _ => panic!("{name} is not known"),
    }
}

//! Recordings of real agents, of which the truth is known.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::streams::{files, program, root, run_on, text};

/// The exit code and what is printed.
fn run(flags: &[String], file: &Path) -> (Option<i32>, String) {
    let output = program().args(flags).arg(file).output().unwrap();
    (output.status.code(), text(&output.stdout))
}

/// Goal: real runs are judged as they were: success, the answer, the number of calls; a failed run
/// never passes. Method: `lab/recordings`, each with the truth of its scenario, without a profile.
#[test]
fn recordings_of_the_lab_are_judged_by_their_truth() {
    let mut judged = 0;
    for folder in fs::read_dir(root().join("lab/recordings")).unwrap() {
        let folder = folder.unwrap().path();
        let truths = fs::read(folder.join("truth.json")).unwrap();
        let truths: Value = serde_json::from_slice(&truths).unwrap();
        for file in files(&folder, "ndjson") {
            let name = file.file_stem().unwrap().to_str().unwrap();
            let (truth, shown) = (&truths[name], file.display());
            let status = truth["exit_status"].as_u64();
            let status = status.map(|status| format!("--exit-status={status}"));
            let json = ["--report=json".to_owned()].into_iter().chain(status).collect::<Vec<_>>();
            let (code, report) = run(&json, &file);
            judged += 1;
            if truth["outcome"] == "failed" {
                assert!(matches!(code, Some(1 | 3)), "{shown}: {code:?} {report}");
                continue;
            }
            // A hook may refuse the only call of a run that succeeded.
            let was_refused = report.contains("\"rule\":\"all-calls-refused\"");
            assert_eq!(code, Some(was_refused.into()), "{shown}: {report}");
            let line = report.lines().find(|line| line.starts_with("{\"type\":\"stream\""));
            let stream: Value = serde_json::from_str(line.unwrap()).unwrap();
            assert_eq!(stream["tool_call_counts"]["total"], truth["calls"], "{shown}");
            let answer = ["--quiet", "--to", "answer"].map(str::to_owned);
            let answer = run(&answer, &file).1;
            assert_eq!(Some(answer.trim_end()), truth["answer"].as_str(), "{shown}");
        }
        assert_eq!(files(&folder, "ndjson").len(), truths.as_object().unwrap().len());
    }
    assert!(judged >= 80, "only {judged} recordings");
}

/// Goal: a harness that reads the events alone finds the same truth. Method: the events of each
/// recording; the answer is the `answer` event or else the last text.
#[test]
fn events_of_recordings_tell_their_truth() {
    let mut answers = 0;
    for folder in fs::read_dir(root().join("lab/recordings")).unwrap() {
        let folder = folder.unwrap().path();
        let truths = fs::read(folder.join("truth.json")).unwrap();
        let truths: Value = serde_json::from_slice(&truths).unwrap();
        for (name, truth) in truths.as_object().unwrap() {
            let file = folder.join(format!("{name}.ndjson"));
            let status = truth["exit_status"].as_u64();
            let status = status.map(|status| format!("--exit-status={status}"));
            let flags = ["--to=events".to_owned()].into_iter().chain(status).collect::<Vec<_>>();
            let lines = run(&flags, &file).1;
            let events = lines.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>();
            let events = events.unwrap();
            let of_type =
                |kind: &str| events.iter().filter(|e| e["type"] == kind).collect::<Vec<_>>();
            let (end, shown) = (of_type("end"), file.display());
            let succeeded = end.last().is_some_and(|end| end["outcome"] == "succeeded");
            assert_eq!(succeeded, truth["outcome"] == "succeeded", "{shown}: {lines}");
            if !succeeded {
                continue;
            }
            let (started, completed) = (of_type("call_started"), of_type("call_completed"));
            assert_eq!(Some(started.len() as u64), truth["calls"].as_u64(), "{shown}");
            let outcome =
                |call: &&Value| completed.iter().find(|done| done["call"] == call["call"]);
            assert!(started.iter().all(|call| outcome(call).is_some()), "{shown}: {lines}");
            let (texts, answer) = (of_type("text"), of_type("answer"));
            let said = answer.last().or(texts.last()).map(|said| said["text"].as_str().unwrap());
            assert_eq!(said.map(str::trim), truth["answer"].as_str(), "{shown}");
            let times = texts.iter().filter(|text| text["text"].as_str() == said).count();
            // gptme asks its model twice more when it calls no tool, and is answered each time.
            let once = if shown.to_string().contains("gptme") { 3 } else { 1 };
            assert!(times <= once, "{shown}: the answer comes {times} times");
            answers += 1;
        }
    }
    assert!(answers >= 70, "only {answers} answers");
}

/// The end of runs of today's versions, shortened: the profile, the exit status, how it is judged.
const ENDS: [(&str, u8, &str, &str); 8] = [
    // Kilo 7.7.7 writes an error that is a text, when the model gives no output.
    (
        "opencode",
        1,
        "✗ failed",
        r#"{"type":"error","timestamp":2,"sessionID":"s","error":"run ended without a message"}"#,
    ),
    // opencode 1.18.33 writes a call that was cut with its connection as one that failed.
    (
        "opencode",
        0,
        "✓ succeeded · opencode · 3 events · 1 turn · exit status 0",
        concat!(
            r#"{"type":"tool_use","timestamp":1,"sessionID":"s","part":{"id":"p","messageID":"m","#,
            r#""type":"tool","callID":"c","tool":"bash","state":{"status":"error","input":{},"#,
            r#""error":"Tool execution aborted","metadata":{"interrupted":true}}}}
{"type":"text","timestamp":3,"sessionID":"s","part":{"id":"q","messageID":"n","type":"text","#,
            r#""text":"Hi"}}
{"type":"step_finish","timestamp":4,"sessionID":"s","part":{"id":"r","messageID":"n","#,
            r#""type":"step-finish","reason":"stop"}}"#
        ),
    ),
    // omp 18.2.3 gives up after empty answers, and exits with 0.
    (
        "pi",
        0,
        "✗ failed",
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-11-22T16:11:36.378Z","cwd":"/w"}
{"type":"agent_start"}
{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"stop"}}
{"type":"auto_retry_end","success":false,"attempt":3,"finalError":"an empty stop"}
{"type":"agent_end","messages":[],"isTerminal":true}"#,
    ),
    // codex-acp 2.6.0 says `end_turn` when the connection was lost, or the output limit reached.
    (
        "acp",
        0,
        "✗ failed",
        concat!(
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}
{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":"#,
            r#"{"sessionUpdate":"session_info_update","#,
            r#""_meta":{"codex":{"threadStatus":{"type":"systemError"}}}}}}
{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#
        ),
    ),
    // Copilot 1.0.102 says in its answer that it had none.
    (
        "acp",
        0,
        "✗ failed",
        concat!(
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":"#,
            r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"#,
            r#""Error: Failed to get response from the AI model; retried 5 times"}}}}
{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#
        ),
    ),
    // Qwen Code 0.24.4 has a method that ACP does not have.
    (
        "acp",
        0,
        "! succeeded",
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}
{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}
{"jsonrpc":"2.0","id":1,"method":"craft/drainMidTurnQueue","params":{"sessionId":"s"}}
{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#,
    ),
    // CodeBuddy 0.3.201 gives up a half text, and writes a whole one of another message.
    (
        "codebuddy",
        0,
        "✗ failed",
        concat!(
            r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/w","tools":[],"#,
            r#""mcp_servers":[],"model":"m","permissionMode":"default","apiKeySource":"codebuddy"}
{"type":"stream_event","session_id":"s","event":{"type":"message_start","message":{"id":"a"}}}
{"type":"stream_event","session_id":"s","event":{"type":"content_block_start","index":0}}
{"type":"stream_event","session_id":"s","event":{"type":"content_block_delta","index":0,"#,
            r#""delta":{"type":"text_delta","text":"Hel"}}}
{"type":"assistant","session_id":"s","message":{"id":"b","role":"assistant","content":["#,
            r#"{"type":"text","text":"aborted"}]}}
{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":"s","#,
            r#""duration_ms":1,"errors":["aborted"]}"#
        ),
    ),
    // Cline 3.0.65 exits with 0 when it was ended.
    (
        "cline",
        0,
        "✗ stopped",
        r#"{"ts":"2026-11-22T16:19:55Z","type":"run_result","finishReason":"completed","text":""}
{"ts":"2026-11-22T16:19:56Z","type":"run_aborted","reason":"local_abort"}"#,
    ),
];

/// Goal: what the lab found in today's versions stays known. Method: the verdict of each stream.
#[test]
fn ends_that_the_lab_found_are_judged_right() {
    for (profile, status, judged, stream) in ENDS {
        let status = format!("--exit-status={status}");
        let stream = format!("{stream}\n");
        let report = text(&run_on(&["--profile", profile, &status], stream.as_bytes()).stdout);
        assert!(report.starts_with(judged), "{profile}: {report}");
    }
}

/// Goal: Copilot's commands that fail are counted. Method: 1.0.83 has the exit code elsewhere.
#[test]
fn both_places_of_an_exit_code_are_known() {
    let file = root().join("fixtures/agents/copilot/failed-command.ndjson");
    let new = fs::read_to_string(file).unwrap();
    let place = r#""shellExecution":{"exitCode":3}"#;
    assert!(new.contains(place));
    let old = new.replace(place, r#""toolTelemetry":{"metrics":{"exit_code":3}}"#);
    for stream in [new, old] {
        let report = text(&run_on(&[], stream.as_bytes()).stdout);
        assert!(report.contains("(1 failed)"), "{report}");
    }
}

/// The begin of a notification in ACP, before what it says.
const SAYS: &str =
    r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":"#;

/// How agents say in ACP that a call was refused.
const REFUSALS: [&str; 4] = [
    // Vibe 3.0.3.
    r#""sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed","rawOutput":
{"error":{"code":"tool_denied"},"_meta":{"approval":{"approvalSource":"user"}}}"#,
    // opencode 1.18.33.
    r#""sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed","rawOutput":
{"error":"The user rejected permission to use this specific tool call."}"#,
    // Qwen Code 0.24.4.
    r#""sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed","content":[{"type":
"content","content":{"type":"text","text":"Tool \"Shell\" was canceled by the user."}}]"#,
    // CodeBuddy 0.3.201, which leaves the call open.
    r#""sessionUpdate":"session_info_update","_meta":
{"codebuddy.ai/decision":"deny","codebuddy.ai/toolCallId":"c"}"#,
];

/// Goal: a refused call is no failed one, whatever the agent. Method: one call, refused.
#[test]
fn refusals_in_acp_are_known() {
    let update = |members: &str| {
        let members = members.replace('\n', "");
        format!("{SAYS}{{{members}}}}}}}")
    };
    let call =
        update(r#""sessionUpdate":"tool_call","toolCallId":"c","status":"pending","title":"t""#);
    for refusal in REFUSALS {
        let stream = [
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}"#,
            &call,
            &update(refusal),
            r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#,
            "",
        ];
        let report = run_on(&["--profile", "acp"], stream.join("\n").as_bytes()).stdout;
        let report = text(&report);
        assert!(report.contains("4 events · 1 call (1 rejected)"), "{refusal}: {report}");
    }
}

/// Whether a Python script succeeds. Where there is no Python for it, CI fails, and any other run
/// says so.
fn passes_in_python(script: &str, arguments: &[&str]) {
    let is_new = "import sys; sys.exit(sys.version_info < (3, 11))";
    let python = Command::new("python3").args(["-c", is_new]).status();
    if !python.is_ok_and(|status| status.success()) {
        assert!(std::env::var_os("CI").is_none(), "there is no python3 of 3.11 or later");
        // Not `eprintln!`, which the test harness keeps to itself.
        let message = "there is no python3 of 3.11 or later";
        let _ = writeln!(std::io::stderr(), "\nNOT CHECKED: {script}; {message}");
        return;
    }
    let mut python = Command::new("python3");
    let output = python.arg(root().join(script)).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// Goal: the lab's truth, comparisons and wire formats are right. Method: its own tests.
#[test]
fn the_lab_passes_its_tests() {
    passes_in_python("lab/test_lab.py", &[]);
}

/// Goal: the defects that prove the tests can still be planted, although the source changes.
#[test]
fn the_source_has_a_place_for_each_planted_defect() {
    passes_in_python("tests/proof/planted", &["--check"]);
}

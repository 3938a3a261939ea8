//! A call that failed, and of which the agent says later that it was refused.

use ndjson_check::{CallCounts, CallOutcome, Event, EventKind, Observer, ProducerExit};

use serde_json::Value;

use crate::streams::{cases, root, run_on, text};
use crate::support::checker;

/// Claude's `result` says that a write was denied, after a completion that only failed.
fn refused_at_the_end() -> Vec<u8> {
    std::fs::read(root().join("fixtures/agents/claude/denials-in-the-result.ndjson")).unwrap()
}

fn printed(flags: &[&str], stream: &[u8]) -> (i32, String) {
    let output = run_on(flags, stream);
    (output.status.code().unwrap(), text(&output.stdout))
}

#[test]
fn every_output_says_that_it_was_refused() {
    let stream = refused_at_the_end();
    let (code, report) = printed(&[], &stream);
    assert!(code == 1 && report.contains("1 call (1 denied)"), "{report}");
    for form in ["text", "transcript"] {
        let (_, log) = printed(&["--quiet", "--to", form], &stream);
        assert!(log.contains("Denied: write file a.md (reported as failed before)"), "{log}");
    }
    let (_, events) = printed(&["--quiet", "--to", "events"], &stream);
    let refused = concat!(
        r#"{"type":"call_corrected","call":1,"id":"toolu_01","tool":"Write","kind":"write","#,
        r#""detail":"a.md","files":["a.md"],"outcome":"denied","instead_of":"failed","line":5}"#,
    );
    assert!(events.lines().any(|line| line == refused), "{events}");
    let (code, report) = printed(&["--max-failed-calls", "0"], events.as_bytes());
    assert!(code == 1 && report.contains("1 call (1 denied)"), "{report}");
    let (_, stats) = printed(&["--stats"], &stream);
    assert!(stats.contains("  Write      1       0        1     0 "), "{stats}");
}

#[test]
fn it_counts_for_no_demand() {
    let stream = refused_at_the_end();
    let demands = [
        "limits.failed-calls = 0",
        "expect.calls = [{ kind = \"write\", at-most = 0 }]",
        "expect.writes.never = [\"**\"]",
    ];
    let file = tempfile::NamedTempFile::new().unwrap();
    for demand in demands {
        std::fs::write(file.path(), demand).unwrap();
        let flags = ["--strict", "--allow", "denied-call", "--allow", "all-calls-refused"];
        let config = ["--config", file.path().to_str().unwrap()];
        let flags: Vec<&str> = flags.into_iter().chain(config).collect();
        let (code, report) = printed(&flags, &stream);
        assert_eq!(code, 0, "{demand}: {report}");
        // Without the refusal, it counts.
        let failed =
            text(&stream).replace("\"tool_use_id\":\"toolu_01\",\"tool_input\"", "\"tool_input\"");
        let (code, report) = printed(&flags, failed.as_bytes());
        assert_eq!(code, 1, "{demand}: {report}");
    }
}

/// Claude rejects a call, and says on the next line that the user interrupted it.
fn interrupted() -> Vec<u8> {
    std::fs::read(root().join("fixtures/agents/claude/interrupted-call.ndjson")).unwrap()
}

#[test]
fn every_output_says_that_it_was_interrupted() {
    let stream = interrupted();
    let flags = ["--strict", "--deny", "all-calls-refused"];
    let (code, report) = printed(&flags, &stream);
    assert!(code == 0 && report.contains("1 call (1 failed)"), "{report}");
    let (_, log) = printed(&["--quiet", "--to", "text"], &stream);
    assert!(
        log.contains("Failed: run terminal command npm test (reported as rejected before)"),
        "{log}"
    );
    let (_, events) = printed(&["--quiet", "--to", "events"], &stream);
    let corrected = concat!(
        r#"{"type":"call_corrected","call":1,"id":"toolu_01","tool":"Bash","kind":"command","#,
        r#""detail":"npm test","outcome":"failed","instead_of":"rejected","line":4}"#,
    );
    assert!(events.lines().any(|line| line == corrected), "{events}");
    let (code, report) = printed(&flags, events.as_bytes());
    assert!(code == 0 && report.contains("1 call (1 failed)"), "{report}");
    let (_, stats) = printed(&["--stats"], &stream);
    assert!(stats.contains("  Bash      1       1        0     0 "), "{stats}");
}

#[test]
fn an_interrupted_call_was_tried_and_failed() {
    let stream = interrupted();
    let demands = [
        "limits.failed-calls = 0",
        "expect.calls = [{ kind = \"command\", at-most = 0 }]",
        "expect.calls = [{ kind = \"command\", last = \"succeeded\" }]",
    ];
    let file = tempfile::NamedTempFile::new().unwrap();
    for demand in demands {
        std::fs::write(file.path(), demand).unwrap();
        let (code, report) = printed(&["--config", file.path().to_str().unwrap()], &stream);
        assert_eq!(code, 1, "{demand}: {report}");
    }
}

/// Counts the outcomes that an observer gets.
#[derive(Default)]
struct Reported(CallCounts);

impl Reported {
    fn count(&mut self, outcome: CallOutcome) -> &mut u64 {
        match outcome {
            CallOutcome::Succeeded => &mut self.0.succeeded,
            CallOutcome::Failed => &mut self.0.failed,
            CallOutcome::Rejected => &mut self.0.rejected,
            CallOutcome::Denied => &mut self.0.denied,
            CallOutcome::Unknown => &mut self.0.unknown,
        }
    }
}

impl Observer for Reported {
    fn events(&mut self, events: &[Event<'_>]) {
        for event in events {
            match &event.kind {
                EventKind::CallCompleted(completed) => *self.count(completed.outcome) += 1,
                EventKind::CallCorrected { instead_of, outcome, .. } => {
                    *self.count(*instead_of) -= 1;
                    *self.count(*outcome) += 1;
                }
                _ => {}
            }
        }
    }
}

/// Goal: whoever follows the calls knows in the end what the report says.
#[test]
fn an_observer_is_told_of_every_outcome() {
    for case in cases() {
        let mut reported = Reported::default();
        let mut checker = checker(case.flags.iter().map(String::as_str));
        let mut stream = checker.stream("a");
        let fed = stream.feed(&case.bytes(), &mut reported);
        let Ok(summary) = fed.and_then(|()| stream.finish(&ProducerExit::default(), &mut reported))
        else {
            continue;
        };
        let CallCounts { total, unfinished, .. } = summary.call_counts;
        (reported.0.total, reported.0.unfinished) = (total, unfinished);
        assert_eq!(reported.0, summary.call_counts, "{}", case.path.display());
    }
}

/// Goal: when the agent reports how work in the background ended, expectations know it, also from
/// the normal form; and no other call changes.
#[test]
fn the_end_of_background_work_counts_for_expectations() {
    let stream =
        std::fs::read(root().join("fixtures/agents/claude/moved-to-the-background.ndjson"))
            .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let judged = |stream: &[u8], command: &str| {
        let file = folder.path().join("expect.toml");
        let expected = format!("[[expect.calls]]\nruns = \"{command}\"\nlast = \"succeeded\"\n");
        std::fs::write(&file, expected).unwrap();
        printed(&["--config", file.to_str().unwrap()], stream)
    };
    let (_, events) = printed(&["--quiet", "--to", "events"], &stream);
    for (stream, form) in [(&stream[..], "claude"), (events.as_bytes(), "events")] {
        let (code, report) = judged(stream, "make press");
        assert!(code == 1 && report.contains("of `make press` (line "), "{form}: {report}");
        let unclear = "expectation-unobservable";
        assert!(report.contains("failed") && !report.contains(unclear), "{form}: {report}");
        let (code, report) = judged(stream, "make label");
        assert!(code == 0 && !report.contains(unclear), "{form}: {report}");
    }
    // A refused call stays refused when the work of another one fails.
    let done = "Command running in background with ID: b2pear. Output is being written to: \
                /tmp/tasks/b2pear.output\",\"is_error\":false";
    let rejection = "The user doesn't want to proceed with this tool use.\",\"is_error\":true";
    let stream = String::from_utf8(stream).unwrap();
    assert!(stream.contains(done));
    let stream = stream.replace(done, rejection);
    let (_, events) = printed(&["--quiet", "--to", "events"], stream.as_bytes());
    for (stream, form) in [(&stream, "claude"), (&events, "events")] {
        let (_, report) = printed(&[], stream.as_bytes());
        assert!(report.contains("2 calls (1 failed, 1 rejected)"), "{form}: {report}");
    }
}

/// Goal: what an agent says later of a sub-agent's call says whose call it was.
#[test]
fn a_corrected_call_has_its_parent() {
    let path = root().join("fixtures/agents/claude/background-agent-killed.ndjson");
    let (_, events) = printed(&["--quiet", "--to", "events"], &std::fs::read(path).unwrap());
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut of_call: Vec<Value> = events.filter(|event| event["call"] == 2).collect();
    let corrected = of_call.pop().unwrap();
    assert!(of_call.len() == 2 && corrected["type"] == "call_corrected", "{corrected}");
    assert!(of_call.iter().chain([&corrected]).all(|event| event["parent"] == 1), "{corrected}");
}

/// Goal: the answer to a request for permission is in the events.
#[test]
fn a_request_for_permission_has_its_answer() {
    let stream = std::fs::read(root().join("fixtures/agents/cursor/queries.ndjson")).unwrap();
    let (_, events) = printed(&["--quiet", "--to", "events"], &stream);
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let answers = events.filter(|event| event["kind"] == "permission_answer");
    let answers: Vec<Value> = answers.map(|event| event["answer"].clone()).collect();
    assert_eq!(answers, ["approved", "approved", "rejected"]);
}

/// Goal: no flag is named that allows tools, if the agent only asked a question.
/// Method: a stream with a refused question and other calls, without and with the other calls.
#[test]
fn a_refused_question_needs_another_prompt() {
    let stream = std::fs::read(root().join("fixtures/agents/cursor/tools-plan.ndjson")).unwrap();
    let stream = text(&stream);
    let is_kept = |line: &&str| {
        line.contains("askQuestion")
            || !line.contains("\"tool_call\"") && !line.contains("_query\"")
    };
    let asked = stream.lines().filter(is_kept).collect::<Vec<_>>().join("\n") + "\n";
    let (_, report) = printed(&[], asked.as_bytes());
    assert!(report.contains("error[all-calls-refused]"), "{report}");
    assert!(report.contains("no user could answer: put the answers into the prompt"), "{report}");
    assert!(!report.contains("--force"), "{report}");
    let refused = root().join("fixtures/rules/all-calls-refused/all-of-them.ndjson");
    let (_, report) = printed(&[refused.to_str().unwrap()], b"");
    assert!(report.contains("`--force` allows tools"), "{report}");
}

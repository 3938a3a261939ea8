//! Run mode: a run that failed is tried again, if that is worth it.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::streams::{PROGRAM, program, root, text};

const START: &str = concat!(
    r#"{"type":"step_start","timestamp":1,"sessionID":"s","part":"#,
    r#"{"id":"p","messageID":"m","sessionID":"s","type":"step-start"}}"#
);

/// An agent that fails at first, and then succeeds.
struct Flaky {
    folder: TempDir,
}

impl Flaky {
    /// The first attempts write this stream and end with these commands.
    fn new(failures: u32, stream: &str, end: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let good = root().join("lab/recordings/opencode-1.18.33/text.ndjson");
        let (good, here) = (good.display(), folder.path().display());
        let is_early = format!("[ $(wc -l < count) -le {failures} ]");
        let script = format!(
            "#!/bin/sh\ncd {here}\necho >> count\n\
             if {is_early}; then cat bad; {end}; fi\ncat {good}\n"
        );
        fs::write(file("bad"), stream).unwrap();
        fs::write(file("agent"), script).unwrap();
        fs::set_permissions(file("agent"), fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder }
    }

    fn command(&self, flags: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(["--no-stdin", "--report", "json=report", "--report", "human"]).args(flags);
        command.args(["--", "./agent"]).current_dir(self.folder.path());
        command.stdin(Stdio::null());
        command
    }

    /// The exit code, the lines of the report, and what else was written.
    fn run(&self, flags: &[&str]) -> (Option<i32>, Vec<Value>, String) {
        let output = self.command(flags).output().unwrap();
        let written = text(&output.stdout) + &text(&output.stderr);
        (output.status.code(), self.report(), written)
    }

    fn report(&self) -> Vec<Value> {
        let report = self.read("report");
        report.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    fn attempts(&self) -> usize {
        self.read("count").lines().count()
    }
}

/// A stream that ends with an HTTP error of the provider, after these events.
fn refused(status: u16, after: &str, events: &[Value]) -> String {
    let events: Vec<String> = events.iter().map(|event| format!("{event}\n")).collect();
    let events = events.concat();
    let error = json!({"type": "error", "timestamp": 2, "sessionID": "s", "error":
        {"name": "APIError", "data": {"message": "no", "statusCode": status,
            "responseHeaders": {"retry-after": after}}}});
    format!("{START}\n{events}{error}\n")
}

fn call(tool: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "timestamp": 1, "sessionID": "s", "part": {"id": "t",
        "messageID": "m", "sessionID": "s", "type": "tool", "callID": "c", "tool": tool,
        "state": {"status": "completed", "input": input, "output": "", "title": "",
            "metadata": {}, "time": {"start": 1, "end": 1}}}})
}

fn notes(stream: &Value) -> Vec<&str> {
    let notes = stream["notes"].as_array().into_iter().flatten();
    notes.map(|note| note["note"].as_str().unwrap()).collect()
}

/// Goal: the last attempt decides; the report has all, each with its copy.
#[test]
fn a_run_is_tried_again_until_it_succeeds() {
    let agent = Flaky::new(2, &refused(503, "0", &[]), "exit 1");
    let (code, report, written) = agent.run(&["--retries", "3", "--tee", "run.{attempt}.ndjson"]);
    assert_eq!((code, agent.attempts()), (Some(0), 3), "{written}");
    let names: Vec<&Value> = report.iter().map(|line| &line["path"]).collect();
    let expected = [&json!("agent"), &json!("agent, attempt 2"), &json!("agent, attempt 3")];
    assert_eq!(names[..3], expected);
    for stream in &report[..2] {
        assert!(notes(stream).contains(&"tried-again"), "{stream}");
        assert_eq!((&stream["passed"], &stream["reason"]), (&json!(false), &json!("overloaded")));
    }
    assert_eq!(report[2]["passed"], true);
    let sum = &report[3];
    let counts = ["streams", "tried_again", "succeeded", "failed", "exit_code"];
    assert_eq!(counts.map(|name| sum[name].as_u64().unwrap()), [3, 2, 1, 0, 0], "{sum}");
    assert!(written.contains("3 streams: 1 passed, 2 × tried again"), "{written}");
    let [answer, attempts] = ["attempt 3  succeeded", "↻ 2 × "].map(|it| written.find(it));
    assert!(answer.is_some() && answer < attempts, "{written}");
    assert!(written.contains("; attempt 3 of 4 begins after 0s\n"), "{written}");
    assert_eq!(agent.read("run.1.ndjson"), agent.read("bad"));
    assert_eq!(agent.read("run.2.ndjson"), agent.read("bad"));
    assert!(agent.read("run.3.ndjson").contains("\"stop\""));
    let mut merge = Command::new(PROGRAM);
    merge.arg("merge").arg(agent.folder.path().join("report"));
    assert_eq!(merge.output().unwrap().status.code(), Some(0), "merged, it is the same");
}

/// Goal: annotations name the copies that there are.
#[test]
fn the_copies_of_attempts_are_named() {
    for (failures, named) in [
        (0, "its recording: run.1.ndjson"),
        (1, "recordings of its attempts: run.1.ndjson and run.2.ndjson"),
        (2, "recordings of its attempts: run.1.ndjson to run.3.ndjson"),
    ] {
        let agent = Flaky::new(failures, &refused(503, "0", &[]), "exit 1");
        let script = agent.read("agent");
        let end = script.rfind("cat ").unwrap();
        // A failure that no retry follows.
        fs::write(agent.folder.path().join("last"), refused(400, "0", &[])).unwrap();
        let script = format!("{}cat last; exit 1\n", &script[..end]);
        fs::write(agent.folder.path().join("agent"), script).unwrap();
        let flags = ["--report", "github=log", "--retries", "3", "--tee", "run.{attempt}.ndjson"];
        agent.run(&flags);
        let log = agent.read("log");
        assert!(log.ends_with(&format!("::notice title=ndjson-check::{named}\n")), "{log}");
    }
}

/// Goal: the page says what became of the job, and not what became of its first attempt.
#[test]
fn an_attempt_that_was_tried_again_is_no_stream_of_the_page() {
    let job = Flaky::new(1, &refused(429, "0", &[]), "exit 1");
    let (code, ..) = job.run(&["--retries", "2", "--report", "html=index.html"]);
    assert_eq!(code, Some(0));
    let page = job.read("index.html");
    let head = ">The stream passed, after 1 failed attempt</span>";
    assert!(page.contains(head), "{page}");
}

/// Goal: what is known is known in each attempt, and what an attempt lacks may come in the next.
#[test]
fn attempts_share_a_baseline() {
    let good = fs::read_to_string(root().join("lab/recordings/opencode-1.18.33/text.ndjson"));
    let flawed = good.unwrap().replacen('\n', "\n\n", 1);
    let failed = refused(503, "0", &[]);
    let job = Flaky::new(1, &failed, "exit 1");
    fs::write(job.folder.path().join("good"), flawed).unwrap();
    let script = job.read("agent");
    let end = script.rfind("cat ").unwrap();
    fs::write(job.folder.path().join("agent"), format!("{}cat good\n", &script[..end])).unwrap();
    let run = |flags: &[&str]| {
        fs::write(job.folder.path().join("count"), "").unwrap();
        job.run(&[&["--retries", "1", "--deny", "blank-line"], flags].concat())
    };
    assert_eq!(run(&[]).0, Some(1));
    assert_eq!(run(&["--write-baseline", "known.json"]).0, Some(1));
    assert!(job.read("known.json").contains(r#""path":"agent""#), "{}", job.read("known.json"));
    let (code, _, written) = run(&["--baseline", "known.json"]);
    assert_eq!((code, job.attempts()), (Some(0), 2), "{written}");
    fs::write(job.folder.path().join("count"), "\n\n").unwrap();
    assert_eq!(job.run(&["--deny", "blank-line", "--baseline", "known.json"]).0, Some(0));
}

/// Goal: what an attempt lacks that was tried again is no error of the job.
#[test]
fn findings_of_earlier_attempts_are_warnings() {
    let cut = format!("{}{{\"type\"", refused(503, "0", &[]));
    let job = Flaky::new(1, &cut, "exit 1");
    let (code, _, written) = job.run(&["--retries", "1", "--report", "github", "--report=sarif=s"]);
    assert_eq!(code, Some(0), "{written}");
    assert!(written.contains("::warning title=truncated-line"), "{written}");
    assert!(!written.contains("::error"), "{written}");
    let sarif: Value = serde_json::from_str(&job.read("s")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert!(results.iter().any(|it| it["ruleId"] == "truncated-line"), "{sarif}");
    assert!(results.iter().all(|it| it["level"] == "warning"), "{sarif}");
}

#[test]
fn the_last_attempt_may_fail() {
    let agent = Flaky::new(9, &refused(503, "0", &[]), "exit 1");
    let (code, report, written) = agent.run(&["--retries", "2"]);
    assert_eq!((code, agent.attempts()), (Some(3), 3), "{written}");
    assert!(notes(&report[2]).contains(&"not-tried-again"), "{}", report[2]);
    assert!(written.contains("this was the last attempt"), "{written}");
    let agent = Flaky::new(9, &refused(503, "0", &[]), "exit 7");
    assert_eq!(agent.run(&["--retries", "1", "--propagate-exit-code"]).0, Some(7));
    let agent = Flaky::new(1, &refused(503, "0", &[]), "exit 1");
    let (_, _, written) = agent.run(&["--retries", "1", "--retry-on", "auth"]);
    assert!(written.contains("not tried again: retries are only for other reasons"), "{written}");
    let agent = Flaky::new(1, &refused(401, "0", &[]), "exit 1");
    let (_, _, written) = agent.run(&["--retries", "1"]);
    assert!(written.contains("not tried again: it would fail again"), "{written}");
    let agent = Flaky::new(1, START, "exit 1");
    let (_, _, written) = agent.run(&["--retries", "1"]);
    assert!(written.contains("whether a retry can help is unknown"), "{written}");
}

/// Goal: what a retry cannot help, or what may do harm twice, is not tried again.
#[test]
fn most_failures_are_not_tried_again() {
    let overloaded = refused(503, "0", &[]);
    let read = call("read", &json!({"filePath": "/w/a"}));
    let write = call("write", &json!({"filePath": "/w/a", "content": "x"}));
    let ran = call("bash", &json!({"command": "ls", "description": "list"}));
    let after = |event: &Value| refused(503, "0", std::slice::from_ref(event));
    let open = format!("{START}\n");
    let retries: &[&str] = &["--retries", "1"];
    let asked = call("task", &json!({"description": "measure", "prompt": "Measure."}));
    let unknown = call("tracker_close", &json!({"issue": 7}));
    let rows: [(&str, &str, &[&str], usize); 17] = [
        (&after(&asked), "exit 1", retries, 1),
        (&after(&unknown), "exit 1", retries, 1),
        (&overloaded, "exit 1", &[], 1),
        (&overloaded, "exit 1", retries, 2),
        (&refused(401, "0", &[]), "exit 1", retries, 1),
        (&refused(401, "0", &[]), "exit 1", &["--retries", "1", "--retry-on", "auth"], 2),
        (&overloaded, "exit 1", &["--retries", "1", "--retry-on", "auth,network"], 1),
        (&refused(429, "7200", &[]), "exit 1", retries, 1),
        (&after(&read), "exit 1", retries, 2),
        (&after(&write), "exit 1", retries, 1),
        (&after(&write), "exit 1", &["--retries", "1", "--retry-after-writes"], 2),
        (&after(&ran), "exit 1", retries, 1),
        (&open, "kill -KILL $$", &["--retries", "1", "--retry-on", "unknown,crash"], 1),
        (&overloaded, "kill -SEGV $$", &["--retries", "1", "--retry-on", "overloaded,crash"], 1),
        (&open, "exit 0", retries, 1),
        (&overloaded, "sleep 9", &["--retries", "1", "--timeout", "300ms"], 1),
        (&after(&read), "sleep 9", &["--retries", "1", "--max-calls", "0"], 1),
    ];
    for (stream, end, flags, attempts) in rows {
        let agent = Flaky::new(1, stream, end);
        let (_, report, written) = agent.run(flags);
        assert_eq!(agent.attempts(), attempts, "{end} {flags:?} {stream}: {written}");
        let last = &report[attempts - 1];
        assert!(!notes(last).contains(&"tried-again"), "{last}");
        let judged = report.iter().rfind(|it| it["type"] == "stream").unwrap();
        let is_explained = notes(judged).contains(&"not-tried-again");
        let has_succeeded = judged["outcome"] == "succeeded";
        assert!(flags.is_empty() || is_explained != has_succeeded, "{judged}");
        let may_have_written =
            attempts == 1 && [&write, &ran, &asked, &unknown].map(after).contains(&stream.into());
        assert_eq!(written.contains("--retry-after-writes repeats"), may_have_written, "{written}");
    }
}

/// Goal: a run is not repeated if it may have written what the stream does not show.
/// Method: a call that failed in the middle, a lost line, and a single object after many turns.
#[test]
fn what_may_have_been_written_is_not_repeated() {
    let failed = json!({"status": "error", "error": "ENOSPC: no space left on device",
        "input": {"filePath": "/w/a", "content": "x"}, "time": {"start": 1, "end": 2}});
    let mut write = call("write", &json!({}));
    write["part"]["state"] = failed;
    let cut = "\n{\"type\":\"tool_use\",\"part\n";
    let lost = refused(503, "0", &[]).replacen('\n', cut, 1);
    let object = json!({"type": "result", "subtype": "success", "is_error": true,
        "api_error_status": 529, "duration_ms": 9, "duration_api_ms": 0, "num_turns": 7,
        "result": "API Error: 529 Overloaded", "session_id": "s", "total_cost_usd": 0,
        "modelUsage": {}, "fast_mode_state": "off", "permission_denials": [], "uuid": "u",
        "usage": {"input_tokens": 9, "output_tokens": 70}});
    for stream in [refused(503, "0", &[write]), lost, format!("{object}\n")] {
        let agent = Flaky::new(1, &stream, "exit 1");
        let (_, _, written) = agent.run(&["--retries", "1"]);
        assert_eq!(agent.attempts(), 1, "{stream}: {written}");
        assert!(written.contains("--retry-after-writes repeats"), "{stream}: {written}");
    }
}

/// Goal: no later success forgives what an expectation forbids.
#[test]
fn a_run_that_did_what_is_forbidden_is_not_tried_again() {
    let read = call("read", &json!({"filePath": "/w/a"}));
    let stream = refused(503, "0", &[read]);
    let limit = "expect.calls = [{ kind = \"read\", at-most = 0 }]\n";
    for (settings, expected) in [("", 1), ("rules.expectation-failed = \"warning\"\n", 2)] {
        let agent = Flaky::new(1, &stream, "exit 1");
        fs::write(agent.folder.path().join("check.toml"), format!("{settings}{limit}")).unwrap();
        let (code, _, written) = agent.run(&["--config", "check.toml", "--retries", "1"]);
        let is_forbidden = expected == 1;
        assert_eq!((code, agent.attempts()), (Some(is_forbidden.into()), expected), "{written}");
        let note = "not tried again: the run did what a limit or an expectation forbids";
        assert_eq!(written.contains(note), is_forbidden, "{written}");
    }
}

/// Goal: a signal ends the wait, the report is complete, and it is no success.
#[test]
fn a_signal_ends_the_wait_for_a_retry() {
    let agent = Flaky::new(1, &refused(503, "30", &[]), "exit 1");
    let mut command = agent.command(&["--retries", "1"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let message = "the run failed (overloaded); attempt 2 of 2 begins after 30s";
    assert_eq!(line, format!("ndjson-check: {message}\n"));
    let begun = Instant::now();
    let pid = Pid::from_raw(child.id().cast_signed());
    kill(pid, Signal::SIGTERM).unwrap();
    // `timeout` sends it twice.
    std::thread::sleep(Duration::from_millis(3));
    let _ = kill(pid, Signal::SIGTERM);
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::SIGTERM as i32));
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(agent.attempts(), 1);
    let report = agent.report();
    assert_eq!(report[1]["exit_code"], 143);
    assert_eq!((&report[1]["failed"], &report[0]["outcome"]), (&json!(1), &json!("failed")));
    assert!(notes(&report[0]).contains(&"not-tried-again"), "{report:?}");
}

#[test]
fn options_of_retries_that_cannot_work_are_refused() {
    let agent = Flaky::new(0, "", "exit 1");
    for (flags, message) in [
        (&["--retries", "1", "--tee", "run.ndjson"][..], "--tee run.{attempt}.ndjson"),
        (&["--retries", "1", "--retry-on", "timeout"], "is never tried again"),
        (&["--retries", "1", "--retry-on", "rate"], "the reasons are auth, billing, rate-limit,"),
        (&["--retry-on", "auth"], "--retries"),
        (
            &["--retries", "1", "--tee", "x.{attempt}", "--report=json=x.2"],
            "would be written twice",
        ),
        (&["--retries", "0"], "invalid value '0'"),
    ] {
        let output = agent.command(flags).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        assert!(text(&output.stderr).contains(message), "{flags:?}: {}", text(&output.stderr));
    }
    assert!(!agent.folder.path().join("count").exists());
    let output = program().args(["--retries", "1"]).output().unwrap();
    let message = "ndjson-check: --retries requires a command, which comes after `--`\n";
    assert_eq!((output.status.code(), &*text(&output.stderr)), (Some(2), message));
}

/// Goal: the time of a run that is over does not end the next one.
#[test]
fn the_timeout_of_an_attempt_ends_with_it() {
    let agent = Flaky::new(1, &refused(503, "5", &[]), "exit 1");
    let (code, _, written) = agent.run(&["--retries", "1", "--timeout", "1s"]);
    assert_eq!((code, agent.attempts()), (Some(0), 2), "{written}");
}

/// Goal: a copy that could not be written is not forgotten.
#[test]
fn the_copy_of_each_attempt_must_be_written() {
    let agent = Flaky::new(1, &refused(503, "0", &[]), "exit 1");
    std::os::unix::fs::symlink("/dev/full", agent.folder.path().join("run.1")).unwrap();
    let (code, _, written) = agent.run(&["--retries", "1", "--tee", "run.{attempt}"]);
    assert_eq!((code, agent.attempts()), (Some(2), 2), "{written}");
    assert!(written.contains("failed to write to run.1: "), "{written}");
}

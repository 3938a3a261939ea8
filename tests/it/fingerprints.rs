//! The stream shows which agent wrote it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;

use ndjson_check::{Checker, Error, Observer, ProfileSource, StreamStart};

use crate::streams::{cases, checker, files, program, root, run_on, shared, text};

/// Whose a stream is.
#[derive(Debug, PartialEq, Eq)]
enum Detection {
    None,
    One(String),
    Several(Vec<String>),
}

/// Notes the profile, and refuses it: nothing more has to be checked.
struct First(Detection);

impl Observer for First {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        if start.source() == ProfileSource::Detected {
            self.0 = Detection::One(start.profile().to_owned());
        }
        let (stream, profile) = (start.name().to_owned(), start.profile().to_owned());
        Err(Error::NoSingleObject { stream, profile })
    }
}

fn detection(checker: &mut Checker, stream: &[u8]) -> Detection {
    let mut first = First(Detection::None);
    match checker.check("-", stream, &mut first) {
        Err(Error::AmbiguousStream { profiles, .. }) => Detection::Several(profiles),
        Err(Error::UnknownAgent { .. } | Error::NoSingleObject { .. }) => first.0,
        other => panic!("{other:?}"),
    }
}

/// The profile that a recording's name stands for.
fn profile_of(recording: &Path) -> &'static str {
    let name = recording.file_name().unwrap().to_str().unwrap();
    if !recording.parent().unwrap().ends_with("other-agents") {
        return "cursor";
    }
    let rows = [
        ("kimi-code", "kimi-code"),
        ("command-code", "command-code"),
        ("grok-build", "grok"),
        ("openhands", "openhands"),
        ("antigravity", "antigravity"),
        ("claude", "claude"),
        ("cline", "cline"),
        ("codex", "codex"),
        ("gemini", "gemini"),
        ("muse", "muse"),
        ("opencode", "opencode"),
        ("pi", "pi"),
        ("qwen-0.19", "qwen-old"),
        ("qwen", "qwen"),
        ("vibe", "vibe"),
    ];
    let row = rows.iter().find(|(prefix, _)| name.starts_with(prefix));
    row.unwrap_or_else(|| panic!("whose is {name}?")).1
}

#[test]
fn every_recording_is_recognised() {
    let Some(folder) = shared("captures") else { return };
    let mut checker = checker([]);
    let recordings = files(&folder, "ndjson");
    assert!(recordings.len() >= 50, "only {} recordings", recordings.len());
    for path in recordings {
        let found = detection(&mut checker, &fs::read(&path).unwrap());
        assert_eq!(found, Detection::One(profile_of(&path).to_owned()), "{}", path.display());
    }
}

/// Goal: no line of one agent decides for another, wherever a stream is begun.
/// Method: every line of every recording, as the first.
#[test]
fn no_line_of_a_recording_is_taken_for_another_agents() {
    let Some(folder) = shared("captures") else { return };
    let (mut checker, mut decided) = (checker([]), 0);
    for path in files(&folder, "ndjson") {
        let own = profile_of(&path);
        for (line, number) in fs::read(&path).unwrap().split_inclusive(|it| *it == b'\n').zip(1..) {
            match detection(&mut checker, line) {
                // A lone answer of both is alike, and so is a step or text.
                Detection::One(name)
                    if [
                        ("kimi", "kimi-code"),
                        ("opencode-2", "opencode"),
                        ("qwen", "qwen-old"),
                    ]
                    .contains(&(&*name, own)) =>
                {
                    continue;
                }
                Detection::One(name) => assert_eq!(name, own, "{}:{number}", path.display()),
                Detection::Several(names) => {
                    let is_own = names.iter().any(|name| name == own);
                    assert!(is_own, "{}:{number}: {names:?}", path.display());
                    continue;
                }
                Detection::None => continue,
            }
            decided += 1;
        }
    }
    assert!(decided > 1_000, "only {decided}");
}

/// Goal: a fixture of one agent is never taken for another's.
#[test]
fn no_fixture_is_taken_for_another_agents() {
    let mut checker = checker([]);
    for case in cases() {
        let folder = case.path.parent().unwrap();
        let agent = folder.strip_prefix("fixtures/agents").ok();
        let own = agent.and_then(|it| it.iter().next()?.to_str()).unwrap_or("cursor");
        let on_purpose = [
            "fixtures/profiles",
            "fixtures/rules/wrong-profile",
            "fixtures/rules/background-work-lost",
            "fixtures/rules/tool-server-unavailable",
        ];
        if on_purpose.iter().any(|it| folder.starts_with(it)) {
            continue;
        }
        match detection(&mut checker, &case.bytes()) {
            Detection::None => {}
            // Both versions write steps and texts alike.
            Detection::One(name)
                if (&*name, own) == ("opencode-2", "opencode")
                    && ["cut", "only-a-start", "step-not-finished"]
                        .iter()
                        .any(|it| case.path.ends_with(format!("{it}.ndjson"))) => {}
            found => assert_eq!(found, Detection::One(own.to_owned()), "{}", case.path.display()),
        }
    }
}

/// A stream that may be of two agents.
const OF_TWO: &[u8] = b"{\"type\":\"system\",\"claude_code_version\":\"2.1.0\",\
    \"qwen_code_version\":\"0.23.0\"}\n";

#[test]
fn a_stream_that_may_be_of_two_is_not_guessed() {
    let output = run_on(&[], OF_TWO);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    let expected = "ndjson-check: standard input: the first events match claude and qwen; name one \
         with --profile\n";
    assert_eq!(message, expected);
    // The others are checked all the same, and a command is not killed for it.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("of-two.ndjson");
    fs::write(&file, OF_TWO).unwrap();
    for jobs in ["1", "2"] {
        let good = "fixtures/agents/cursor/plain.ndjson";
        let output = program().args(["--jobs", jobs]).arg(&file).arg(good).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stdout).contains("plain.ndjson  succeeded · "));
        assert!(text(&output.stdout).ends_with("2 streams: 1 not checked, 1 passed\n"));
    }
    let agent = ["emit", file.to_str().unwrap(), "sleep", "0.1", "say", "{}\n", "stderr", "done"];
    let agent = [&agent[..], &["exit", "7"]].concat();
    let output = crate::fake_agent::run(&["--propagate-exit-code"], &agent);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with("done\n"), "{}", text(&output.stderr));
}

#[test]
fn a_stream_without_events_is_checked_with_the_default_profile() {
    // Text is no event, nor is what is in a broken one.
    for stream in ["", "hello\n", "{\"a\":{\"type\":\"assistant\"} \"b\"}\n"] {
        let human = run_on(&[], stream.as_bytes());
        assert_eq!(human.status.code(), Some(1), "{stream:?}");
        // No message names profiles where no event can show one.
        assert!(!text(&human.stdout).contains("profile"), "{stream:?}");
        let json = text(&run_on(&["--report", "json"], stream.as_bytes()).stdout);
        assert!(json.contains(r#""profile":"cursor""#), "{json}");
        assert!(!json.contains("profile-fallback"), "{json}");
    }
}

/// Goal: a stream is not taken for Cursor's only because it is no other agent's.
#[test]
fn a_stream_of_an_unknown_agent_is_not_guessed() {
    let last_gemini = b"{\"type\":\"bye\",\"status\":\"success\"}\n";
    let many = b"{\"event\":\"tick\"}\n".repeat(100);
    let tags = b"{\"type\":\"assistant\",\"text\":\"a\"}\n{\"type\":\"result\"}\n";
    let hello = b"Hello\n{\"jsonrpc\":\"2.0\"}\n";
    for (stream, first) in [
        (&last_gemini[..], "{\"type\":\"bye\",\"status\":\"success\"}"),
        (&many, "{\"event\":\"tick\"}"),
        (hello, "{\"jsonrpc\":\"2.0\"}"),
        (tags, "{\"type\":\"assistant\",\"text\":\"a\"}"),
    ] {
        let output = run_on(&[], stream);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
        let expected = "ndjson-check: standard input: no known agent writes these events: choose \
                        with --profile NAME; `ndjson-check profiles` lists the agents, `--profile \
                        claude-like` checks a relative of Claude Code, and `--profile jsonl` \
                        checks any JSON Lines; the first is ";
        assert_eq!(text(&output.stderr), format!("{expected}`{first}`\n"));
        assert_ne!(run_on(&["--profile", "cursor"], stream).status.code(), Some(2));
    }
}

/// Goal: a command whose stream cannot be checked does not hide that it failed.
#[test]
fn the_status_of_a_command_of_an_unknown_agent_is_shown() {
    let stream = "fixtures/agents/jsonl/any.ndjson";
    let events = fs::read_to_string(root().join(stream)).unwrap();
    let first = format!("; the first is `{}`", events.lines().next().unwrap());
    for (status, shown) in [("0", ""), ("41", "; the command ended with exit status 41")] {
        let output = crate::fake_agent::run(&[], &["emit", stream, "exit", status]);
        assert_eq!(output.status.code(), Some(2));
        let error = text(&output.stderr);
        let expected = format!("checks any JSON Lines{first}{shown}\n");
        assert!(error.ends_with(&expected) && error.lines().count() == 1, "{error}");
    }
    // The status of a recorded stream is not that of a command.
    let flags = ["--exit-status", "41", "--timeout", "60s"];
    let output = run_on(&flags, events.as_bytes());
    assert!(text(&output.stderr).ends_with(&format!("checks any JSON Lines{first}\n")));
}

/// Goal: nothing of a stream is kept back longer than it takes to know whose it is.
/// Method: its first event alone, with the pipe left open, is converted at once.
#[test]
fn the_first_event_of_a_known_agent_leaves_at_once() {
    let stream = fs::read_to_string(root().join("fixtures/agents/cursor/partial.ndjson")).unwrap();
    let mut child = program()
        .args(["--quiet", "--to", "stream-json", "--only-valid"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in stream.lines().take(3) {
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), line);
    }
    drop(stdin);
    child.wait().unwrap();
}

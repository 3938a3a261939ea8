//! The likeliest mistakes get the right answer, on one line.

use std::fs;

use crate::fake_agent::agent_called;
use crate::streams::{program, run_on, text};

const GOOD: &str = "fixtures/agents/cursor/plain.ndjson";

/// What the program says about these arguments, which it refuses.
pub(crate) fn refused(arguments: &[&str]) -> String {
    let output = program().args(arguments).output().unwrap();
    assert!(matches!(output.status.code(), Some(2 | 126 | 127)), "{arguments:?}: {output:?}");
    text(&output.stderr)
}

/// Goal: an option that is like none of ours gets no hint that misleads.
#[test]
fn an_option_that_is_like_none_has_no_hint() {
    for option in ["--fail-fast", "--fix", "--watch"] {
        let message = refused(&[option, GOOD]);
        let expected = format!("ndjson-check: unexpected argument '{option}' found (see --help)\n");
        assert_eq!(message, expected);
    }
    assert!(refused(&["--quite", GOOD]).contains("a similar argument exists: '--quiet'"));
}

/// Goal: a subcommand with a typo is named, and not read as a file.
#[test]
fn misspelt_subcommands_lead_to_ours() {
    for (arguments, expected) in [
        (
            &["mege", GOOD, GOOD][..],
            "there is no subcommand `mege`, and no such file; a similar one is `merge`",
        ),
        (&["difff", GOOD, GOOD], "a similar one is `diff`"),
        (&["drfit", GOOD], "a similar one is `drift`"),
        (&["replya", "claude"], "a similar one is `replay`"),
        (&["scema"], "a similar one is `schema`"),
        (
            &["profiles", "drft", GOOD],
            "there is no profile `drft`; a similar subcommand is `draft`",
        ),
        (&["profiles", "claude", "codex"], "`profiles` takes one name, but `codex` is another one"),
    ] {
        let message = refused(arguments);
        assert!(message.ends_with(&format!("{expected}\n")), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

/// Goal: a message about a command that cannot be started names the likely reason.
#[cfg(unix)]
#[test]
fn commands_in_quotes_and_options_behind_are_named() {
    let message = refused(&["--", "claude -p --verbose 'fix it'"]);
    assert!(message.contains("leave out the quotes"), "{message}");
    let message = refused(&["--", "--timeout", "5s", "echo"]);
    assert!(message.contains("go before `--`"), "{message}");
    assert!(!message.contains("os error"), "{message}");
    let message = refused(&["echo", "hi", "--timeout", "5s"]);
    let works = "put `--` before the command: ndjson-check --timeout 5s -- echo hi\n";
    assert!(message.ends_with(works), "{message}");
    for (command, hint) in [
        (&["--", "a | b"][..], "a shell runs such a line: `-- sh -c 'LINE'`"),
        (&["https://host.example/run"], "this is an address: `curl -s ADDRESS | ndjson-check`"),
        (&["--", GOOD], "to check a recording, leave out `--`"),
        (&["--", "Cargo.toml"], "to run a program of this directory, write `./` before its name"),
        (&["--", "FOO=1", "claude"], "to set a variable, put `env` before it"),
        (&["--retries", "1", "--", "echo"], "--retries requires --no-stdin: the command gets"),
    ] {
        let message = refused(command);
        assert!(message.contains(hint), "{message}");
    }
    let output = program().args(["--", "echo", "hi", "--timeout", "5s"]).output().unwrap();
    let message = text(&output.stderr);
    assert!(message.contains("the command got --timeout: options of ndjson-check go before `--`"));
    let message = refused(&["no-such-file.ndjson"]);
    assert!(message.contains("No such file or directory\n"), "{message}");
}

/// Goal: a script that the system does not start is named as such.
#[cfg(unix)]
#[test]
fn scripts_need_their_interpreter() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("agent.sh");
    fs::copy("/bin/sh", &script).unwrap();
    for (first_line, hint) in [
        ("", "to run a script, put its interpreter before it, such as `sh`\n"),
        (
            "#!/no/such/interpreter\n",
            "; the file exists, but not the program that interprets or loads it\n",
        ),
    ] {
        fs::write(&script, format!("{first_line}exit 0\n")).unwrap();
        let message = refused(&["--", script.to_str().unwrap()]);
        assert!(message.ends_with(hint), "{message}");
    }
}

/// Goal: who forgets `--` sees the command line that works.
#[test]
fn a_command_without_its_marker_is_written_out() {
    for (arguments, meant) in [
        (&["agent", "--print", "hi"][..], "ndjson-check -- agent --print hi"),
        (
            &["-q", "--timeout", "5m", "--report=json", "agent", "-p", "fix 'it'"],
            r"ndjson-check -q --timeout 5m --report=json -- agent -p 'fix '\''it'\'''",
        ),
        (&["claude", "fix it"], "ndjson-check -- claude 'fix it'"),
    ] {
        let message = refused(arguments);
        assert!(message.contains(&format!("put `--` before the command: {meant}")), "{message}");
    }
    for arguments in [&["--tmeout", "5m", GOOD][..], &[GOOD, "--print"], &["no-such.ndjson"]] {
        assert!(!refused(arguments).contains("put `--`"), "{arguments:?}");
    }
}

/// Goal: a message names what the user gave, and what helps.
#[test]
fn messages_name_the_cause() {
    let overloaded = ["--retries=2", "--no-stdin", "--retry-on", "overload", "--", "true"];
    assert!(refused(&overloaded).contains("; a similar one is `overloaded`"));
    let message = refused(&["--no-stdin", GOOD]);
    assert!(message.contains("--no-stdin requires") && !message.contains("exit-code"), "{message}");
    let output = run_on(&["--quiet", "--report", "json"], b"");
    assert_eq!(text(&output.stdout).lines().count(), 3);
    let message = refused(&["--to", "text", "--results", "x", GOOD]);
    assert!(message.contains(": must be a whole number of 0 or more"), "{message}");
    for (limits, calls) in [
        (&["--call-timeout", "1s,2s"][..], "all calls"),
        (&["--call-timeout=1s", "--call-timeout=1s"], "all calls"),
        (&["--call-timeout", "command=1s,5s,command=2s"], "calls of the kind `command`"),
    ] {
        let message = refused(limits);
        let expected = format!("ndjson-check: --call-timeout gives two times for {calls}\n");
        assert_eq!(message, expected);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ndjson-check.toml");
    fs::write(&file, "retries = 2\n").unwrap();
    let message = refused(&["--config", file.to_str().unwrap(), GOOD]);
    assert!(message.contains("`--retries` is an option of the command line only"), "{message}");
}

/// Goal: the name of a command decides where its events do not.
#[test]
fn an_error_without_a_session_is_of_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str| {
        let mut command = program();
        command.arg("--no-stdin").arg("--").arg(agent_called(name, folder.path()));
        command.args(["say", "{\"type\":\"error\",\"message\":\"no\"}\n", "exit", "1"]);
        let output = command.output().unwrap();
        (output.status.code(), text(&output.stdout) + &text(&output.stderr))
    };
    let (code, report) = run("claude");
    assert!(report.contains("Claude Code · 1 event\n"), "{report}");
    assert_eq!(code, Some(1));
    let (code, report) = run("another");
    assert!(report.contains("another: no known agent writes these events"), "{report}");
    assert_eq!(code, Some(2));
}

/// Goal: a list of rules may have commas.
#[test]
fn rules_may_be_listed_with_commas() {
    let stream = fs::read(crate::streams::root().join(GOOD)).unwrap();
    let stream = [b"\n\n", &stream[..]].concat();
    let output = run_on(&["--deny", "blank-line,run-failed"], &stream);
    assert!(text(&output.stdout).contains("error[blank-line] lines 1, 2"), "{output:?}");
    let output = run_on(&["--allow=blank-line,run-failed"], &stream);
    assert!(text(&output.stdout).starts_with("✓ succeeded"), "{output:?}");
}

/// Goal: what is no stream is named once, with what to do, and nothing is said about profiles.
#[test]
fn what_is_no_stream_is_named() {
    let good = fs::read(crate::streams::root().join(GOOD)).unwrap();
    let in_front = |front: &[u8]| -> Vec<u8> {
        let lines = good.split_inclusive(|it| *it == b'\n');
        lines.flat_map(|line| [front, line].concat()).collect()
    };
    let log = "a log with text in front of each event";
    let rows: [(&[u8], &str, &str); 24] = [
        (b"PK\x03\x04\x14\0\0\0\n\n", "a zip archive", "unpack it"),
        (b"\xfd7zXZ\0\0\n\xff\n", "xz-compressed", "`xz -dc FILE | ndjson-check`"),
        (b"BZh91AY\n\xff\n", "bzip2-compressed", "`bzip2 -dc FILE | ndjson-check`"),
        (b"\x04\x22\x4d\x18\x64\n\xff\n", "lz4-compressed", "`lz4 -dc FILE | ndjson-check`"),
        (b"7z\xbc\xaf\x27\x1c\0\n", "a 7z archive", "unpack it"),
        (b"\x7fELF\x02\x01\n\xff\n", "a program", "`ndjson-check -- PROGRAM`"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\r", "an image", "name the recording"),
        (b"%PDF-1.7\n%\xe2\xe3\n", "a PDF document", "name the recording"),
        (b"SQLite format 3\0\x10\n", "an SQLite database", "export the events"),
        (b"\x01\x02\xff\xfe\n\x03\x80\n", "binary data", "`file FILE`"),
        (b"data: {\"a\":1}\n\ndata: {}\n\n", "a stream of server-sent events", "`sed -n"),
        (b"event: x\ndata: {}\n\n", "a stream of server-sent events", "`sed -n"),
        (b"<!DOCTYPE html>\n<p>\n", "HTML or XML", "an error page"),
        (b"<?xml version='1.0'?>\n<a>\n", "HTML or XML", "an error page"),
        (b"<html>\n<body>\n", "HTML or XML", "an error page"),
        (b"jobs:\n  build:\n    run: x\n", "YAML", "name the recording"),
        (b"---\nname: ci\nruns: 2\n", "YAML", "name the recording"),
        (b"[package]\nname = \"x\"\nkeys = [\n  \"a\",\n]\n", "TOML", "name the recording"),
        (b"type,text\nuser,hello\n", "CSV", "name the recording"),
        (b"\xff\xfe{\0}\0\n\0", "UTF-16 text", "re-encode it"),
        (&in_front(b"2026-11-23T10:00:00.123Z "), log, "`sed -n 's/^[^{]*{\"/"),
        (&in_front(b"[10:00:00] "), log, "`sed -n 's/^[^{]*{\"/"),
        (&in_front(b"Nov 23 10:00:00 host agent[1]: "), log, "`sed -n 's/^[^{]*{\"/"),
        (&in_front(b"agent-1  | "), log, "`sed -n 's/^[^{]*{\"/"),
    ];
    for (stream, name, what_to_do) in rows {
        let output = run_on(&[], stream);
        let report = text(&output.stdout);
        let begin = format!("✗ not an agent's stream: the input is {name}\n");
        assert!(report.starts_with(&begin), "{begin}: {report}");
        assert!(report.contains(what_to_do), "{report}");
        assert!(!report.contains("profile"), "{report}");
        assert_eq!(report.matches("error[").count(), 1, "{report}");
        assert_eq!(output.status.code(), Some(1), "{report}");
    }
}

/// Goal: a message about empty input says that, and does not mention profiles.
#[test]
fn empty_input_is_empty() {
    for (stream, begin) in
        [("", "✗ the stream is empty\n"), ("\n\n", "✗ the stream has no event\n")]
    {
        let output = run_on(&[], stream.as_bytes());
        let report = text(&output.stdout);
        assert!(report.starts_with(begin), "{report}");
        assert!(!report.contains("profile"), "{report}");
        assert_eq!(output.status.code(), Some(1));
    }
}

/// Goal: a user who calls an agent without its flag for events learns that flag.
#[test]
fn plain_text_leads_to_the_flag_of_the_agent() {
    for (options, flag) in [
        (&[][..], "run the agent with its flag for events, such as --output-format stream-json"),
        (&["--profile", "claude"], "call it as `claude -p --output-format stream-json --verbose`"),
        (&["--profile", "codex"], "call it as `codex exec --json`"),
        (&["--profile", "jsonl"], "run the agent with its flag for events"),
    ] {
        let report = text(&run_on(options, b"I'll look.\nDone.\n").stdout);
        assert!(report.starts_with("✗ plain text, not events: "), "{report}");
        assert!(report.lines().next().unwrap().contains(flag), "{report}");
        assert!(!report.contains("stderr") && !report.contains("using profile"), "{report}");
        assert_eq!(report.matches("error[").count(), 1, "{report}");
    }
}

/// Goal: the command tells which agent it is.
#[test]
fn the_name_of_a_command_leads_to_its_flag() {
    let folder = tempfile::tempdir().unwrap();
    for (name, flag) in [
        ("claude", "`claude -p --output-format stream-json --verbose`"),
        ("agent", "`agent --print --output-format stream-json`"),
        ("cursor-agent", "`agent --print --output-format stream-json`"),
        ("opencode", "`opencode run --format json`"),
        ("mine", "its flag for events"),
    ] {
        let mut command = program();
        command.arg("--").arg(agent_called(name, folder.path())).args(["say", "I fixed it.\n"]);
        let report = text(&command.output().unwrap().stdout);
        assert!(report.starts_with(&format!("✗ {name}  plain text, not events: ")), "{report}");
        assert!(report.lines().next().unwrap().contains(flag), "{report}");
    }
}

/// Goal: an agent that no profile knows is not guessed.
#[test]
fn an_unknown_agent_is_not_guessed() {
    let stream = concat!(
        "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"a\",\"tools\":[]}\n",
        "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"session_id\":\"a\"}\n"
    );
    let output = run_on(&[], stream.as_bytes());
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("no known agent writes these events"), "{message}");
    assert!(message.contains("--profile NAME"), "{message}");
}

/// Goal: a list of reports may have commas, and no error has a number of the system.
#[test]
fn reports_may_be_listed_with_commas() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a,b.xml");
    let list = format!("json,junit={}", file.display());
    let output = program().args(["--report", &list, GOOD]).output().unwrap();
    assert!(text(&output.stdout).starts_with("{\"type\":\"stream\""), "{output:?}");
    assert!(fs::read_to_string(&file).unwrap().contains("<testsuite "));
    for arguments in [
        &["--schema", "no-such-file", GOOD][..],
        &["--config", "no-such-file", GOOD],
        &["--config", ".", GOOD],
        &["--baseline", "no-such-file", GOOD],
        &["--files-from", "no-such-file"],
        &["--report", "json=no/such/file", GOOD],
        &["--tee", "no/such/file", GOOD],
        &["merge", "no-such-file"],
        &["diff", "no-such-file", GOOD],
        &["replay", "no-such-file"],
    ] {
        let message = refused(arguments);
        assert!(!message.contains("os error"), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

/// Goal: what follows from a wrong profile is not shown.
#[test]
fn a_wrong_profile_is_the_only_finding_shown() {
    let output = program().args(["--profile", "claude", GOOD]).output().unwrap();
    let report = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert_eq!(report.matches("error[").count(), 1, "{report}");
    assert!(report.contains("error[wrong-profile] line 1\n"), "{report}");
    assert!(
        report.contains(" more findings not shown: they follow from the profile\n"),
        "{report}"
    );
}

/// Goal: who joins two recordings learns what to do.
#[test]
fn two_runs_in_one_stream_are_told() {
    let stream = fs::read(crate::streams::root().join(GOOD)).unwrap();
    let first: serde_json::Value =
        serde_json::from_slice(stream.split(|it| *it == b'\n').next().unwrap()).unwrap();
    let other = text(&stream).replace(first["session_id"].as_str().unwrap(), "another");
    let both = [&stream[..], other.as_bytes()].concat();
    let report = text(&run_on(&[], &both).stdout);
    let begin = "✗ more than one run: `--sessions many` judges each on its own\n";
    assert!(report.starts_with(begin), "{report}");
    assert!(report.contains(" more findings not shown: they are about the next run\n"), "{report}");
    assert_eq!(report.matches("error[").count(), 1, "{report}");
    assert_eq!(run_on(&["--sessions", "many"], &both).status.code(), Some(0));
}

/// Goal: a report that goes to a file leaves the answer on the terminal, and says where it is.
#[test]
fn a_report_to_a_file_leaves_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.html").display().to_string();
    let output = program().args(["--report", &format!("html={file}"), GOOD]).output().unwrap();
    let report = text(&output.stdout);
    assert!(report.starts_with(&format!("✓ {GOOD}  succeeded")), "{report}");
    assert!(report.ends_with(&format!("\nhtml report: {file}\n")), "{report}");
    assert!(fs::read_to_string(&file).unwrap().contains("<title>succeeded – plain.ndjson"));
    let mut quiet = program();
    let quiet = quiet.args(["--quiet", "--report", &format!("html={file}"), GOOD]);
    assert_eq!(text(&quiet.output().unwrap().stdout), "");
}

//! The likeliest mistakes get the right answer, on one line.

use std::fs;

use crate::streams::{program, run_on, text};

const GOOD: &str = "fixtures/agents/cursor/plain.ndjson";

/// What the program says about these arguments, which it refuses.
fn refused(arguments: &[&str]) -> String {
    let output = program().args(arguments).output().unwrap();
    assert!(matches!(output.status.code(), Some(2 | 126 | 127)), "{arguments:?}: {output:?}");
    text(&output.stderr)
}

/// Goal: who knows an option by another name is told ours.
#[test]
fn options_of_other_programs_lead_to_ours() {
    for (given, ours) in [
        ("--json", "use --report json"),
        ("--format=json", "use --report FORMAT"),
        ("--output=x", "use --report FORMAT=FILE"),
        ("-o", "use --report FORMAT=FILE"),
        ("-v", "use --stats"),
        ("--agent", "use --profile NAME"),
        ("--no-color", "use --color never"),
    ] {
        let message = refused(&[given, GOOD]);
        assert!(message.contains(&format!("; {ours}")), "{given}: {message}");
        assert!(!message.contains("similar"), "{given}: {message}");
    }
}

/// Goal: a word that other programs take as a subcommand leads to what does it here.
#[test]
fn words_of_other_programs_lead_to_ours() {
    for (arguments, ours) in [
        (&["help"][..], "`ndjson-check --help`"),
        (&["version"], "`ndjson-check --version`"),
        (&["check", GOOD], "`ndjson-check FILE`"),
        (&["run", "agent"], "`ndjson-check -- COMMAND`"),
        (&["rule", "truncated-line"], "`ndjson-check rules NAME`"),
        (&["profile"], "`ndjson-check profiles`"),
    ] {
        let message = refused(arguments);
        assert!(message.contains(ours) && message.lines().count() == 1, "{message}");
    }
}

/// Goal: a command that cannot be started is told with the likely reason.
#[cfg(unix)]
#[test]
fn commands_in_quotes_and_options_behind_are_named() {
    let message = refused(&["--", "claude -p --verbose 'fix it'"]);
    assert!(message.contains("leave out the quotes"), "{message}");
    let message = refused(&["--", "--timeout", "5s", "echo"]);
    assert!(message.contains("go before `--`"), "{message}");
    assert!(!message.contains("os error"), "{message}");
    let message = refused(&["no-such-file.ndjson"]);
    assert!(message.contains("No such file or directory\n"), "{message}");
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

/// Goal: what is no stream is named once, and nothing is said about profiles.
#[test]
fn what_is_no_stream_is_named() {
    let tar = [&[b'a'; 257][..], b"ustar\x0000", &[0; 300]].concat();
    let rows: [(&[u8], &str); 10] = [
        (b"", "✗ the stream is empty\n"),
        (b"I'll look.\nDone.\n", "✗ plain text, not events: call the agent with its flag"),
        (b"PK\x03\x04\x14\0\0\0\n\n", "✗ not an agent's stream: the input is a zip archive"),
        (b"\xfd7zXZ\0\0\n\xff\n", "✗ not an agent's stream: the input is xz-compressed"),
        (b"BZh91AY\n\xff\n", "✗ not an agent's stream: the input is bzip2-compressed"),
        (
            b"data: {\"a\":1}\n\ndata: {}\n\n",
            "✗ not an agent's stream: the input is a stream of server",
        ),
        (&tar, "✗ not an agent's stream: the input is a tar archive"),
        (b"<!DOCTYPE html>\n<p>\n", "✗ not an agent's stream: the input is HTML or XML"),
        (b"<?xml version='1.0'?>\n<a>\n", "✗ not an agent's stream: the input is HTML or XML"),
        (b"\xff\xfe{\0}\0\n\0", "✗ not an agent's stream: the input is UTF-16 text"),
    ];
    for (stream, begin) in rows {
        let output = run_on(&[], stream);
        let report = text(&output.stdout);
        assert!(report.starts_with(begin), "{begin}: {report}");
        assert!(!report.contains("using profile"), "{report}");
        assert!(report.matches("error[").count() <= 2, "{report}");
        assert_eq!(output.status.code(), Some(1), "{report}");
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

//! `diff`: what changed between two runs.

use std::fs;

use ndjson_check::internals::{REPORT_SCHEMA, satisfies};
use serde_json::Value;

use crate::streams::{misleads, program, some_cases, text};

const TOOLS: &str = "fixtures/agents/gemini/tools.ndjson";
const PLAIN: &str = "fixtures/agents/cursor/plain.ndjson";
const FAILED: &str = "fixtures/agents/gemini/failed-tools.ndjson";

fn diff(arguments: &[&str]) -> (String, Option<i32>) {
    let output = program().arg("diff").args(arguments).output().unwrap();
    (text(&output.stdout) + &text(&output.stderr), output.status.code())
}

/// Goal: a run is equal to itself, whatever the agent and the defects.
#[test]
fn every_stream_equals_itself() {
    let mut compared = 0;
    for case in some_cases(8) {
        let profile = case.flags.first().is_some_and(|flag| flag == "--profile");
        let name = if profile { &case.flags[1] } else { "auto" };
        let path = case.path.to_str().unwrap();
        let (printed, code) = diff(&["--profile", name, path, path]);
        if code == Some(2) {
            continue;
        }
        assert_eq!(code, Some(0), "{path}: {printed}");
        assert!(printed.ends_with("The runs did the same.\n"), "{path}: {printed}");
        compared += 1;
    }
    assert!(compared > 80, "only {compared}");
}

/// Goal: only what differs is shown, in the order of the runs.
#[test]
fn differences_are_listed() {
    let (printed, code) = diff(&[TOOLS, FAILED]);
    assert_eq!(code, Some(1));
    for expected in [
        "- fixtures/agents/gemini/tools.ndjson\n+ fixtures/agents/gemini/failed-tools.ndjson\n",
        "\nsame: profile gemini, verdict conforming, outcome succeeded\n",
        "\n  findings  none  1 denied-call\n",
        "\n  + read_file (failed): /home/dev/house/none.txt\n  + run_shell_command (denied): rm -r",
        "\n  - I look at the door.\n",
        "\n  read_file                1  1         0  1    2.00 s  1.00 s     2.00 s  1.00 s\n",
    ] {
        assert!(printed.contains(expected), "{expected}\n{printed}");
    }
    assert!(!printed.contains("verdict  "), "{printed}");
}

/// Goal: an answer that no other text shows is compared, too.
#[test]
fn answers_are_compared() {
    let good = "fixtures/agents/roo/good.ndjson";
    let stream = fs::read_to_string(crate::streams::root().join(good)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.ndjson");
    assert!(stream.contains("The gate is shut."));
    fs::write(&other, stream.replace("The gate is shut.", "I gave up.")).unwrap();
    let (printed, code) = diff(&[good, other.to_str().unwrap()]);
    let expected = "\n  - The gate is shut.\n  + I gave up.\n";
    assert!(code == Some(1) && printed.contains(expected), "{printed}");
}

/// Goal: an unchanged call between changed ones is found, and an extra event does not count.
#[test]
fn calls_are_aligned() {
    let folder = tempfile::tempdir().unwrap();
    let original = fs::read_to_string(crate::streams::root().join(TOOLS)).unwrap();
    let changed = folder.path().join("changed.ndjson");
    fs::write(&changed, original.replace("cat door.txt", "cat window.txt")).unwrap();
    let changed = changed.to_str().unwrap();
    let (printed, code) = diff(&[TOOLS, changed]);
    assert_eq!(code, Some(1));
    assert!(printed.contains(", findings none, 4 calls, 3 lines of text\n"), "{printed}");
    let lines: Vec<&str> =
        printed.lines().filter(|line| line.starts_with("  -") || line.starts_with("  +")).collect();
    assert_eq!(
        lines,
        ["  - run_shell_command: cat door.txt", "  + run_shell_command: cat window.txt"]
    );
    // Times and tokens are figures only.
    let later = folder.path().join("later.ndjson");
    let later_text = original.replace("2026-0", "2027-0").replace("\"total_tokens\":", "\"x\":");
    assert_ne!(later_text, original);
    fs::write(&later, later_text).unwrap();
    let (printed, code) = diff(&[TOOLS, later.to_str().unwrap()]);
    assert!(!printed.contains("calls, in their order"), "{printed}");
    assert!(code.is_some_and(|code| code < 2), "{printed}");
}

/// Goal: "did the same" is said only if everything was compared.
#[test]
fn what_was_not_compared_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: String| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let good = fs::read_to_string(crate::streams::root().join(PLAIN)).unwrap();
    let other = good.replace("npm test -- cart", "rm -rf /");
    assert_ne!(good, other);
    let (twice, changed) = (file("aa", good.repeat(2)), file("ab", format!("{good}{other}")));
    let text = "a line\\n".repeat(2_500);
    let long = |end: &str| good.replace("Now the tests once more.", &format!("{text}{end}"));
    let (long_a, long_b) = (file("la", long("A")), file("lb", long("B")));
    for (a, b, reason) in [
        (&*twice, &*changed, "Only the first run of each file was compared"),
        (&long_a, &long_b, "Only the beginning was compared"),
    ] {
        let (printed, code) = diff(&[a, b]);
        assert!(code == Some(1) && printed.contains(reason), "{printed}");
        assert!(!printed.contains("did the same"), "{printed}");
        let (json, _) = diff(&["--report", "json", a, b]);
        assert!(json.contains("\"is_clipped\":true"), "{json}");
    }
    let (printed, code) = diff(&["--profile", "claude", PLAIN, &file("o", other)]);
    assert!(code == Some(1) && printed.contains("not a stream of this profile"), "{printed}");
}

/// Goal: two runs that failed for different reasons did not do the same.
#[test]
fn errors_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let failed = "fixtures/agents/claude/failed-run.ndjson";
    let stream = fs::read_to_string(crate::streams::root().join(failed)).unwrap();
    let other = folder.path().join("other");
    fs::write(&other, stream.replace("The process was stopped.", "The disk is full.")).unwrap();
    let (printed, code) = diff(&[failed, other.to_str().unwrap()]);
    assert!(code == Some(1) && printed.contains("\n  error  "), "{printed}");
}

#[test]
fn the_forms_say_the_same() {
    let (json, code) = diff(&["--report", "json", TOOLS, FAILED]);
    assert_eq!(code, Some(1));
    assert!(satisfies(REPORT_SCHEMA, &json).unwrap(), "{json}");
    let line: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&line["type"], &line["differs"]), (&"diff".into(), &true.into()));
    assert_eq!((&line["a"]["path"], &line["b"]["path"]), (&TOOLS.into(), &FAILED.into()));
    let (human, _) = diff(&[TOOLS, FAILED]);
    for list in ["calls", "text"] {
        for item in line[list].as_array().unwrap() {
            let sign = if item["change"] == "removed" { '-' } else { '+' };
            let row = format!("\n  {sign} {}\n", item["item"].as_str().unwrap());
            assert!(human.contains(&row), "{row}{human}");
        }
    }
    let (markdown, _) = diff(&["--report", "markdown", TOOLS, FAILED]);
    assert_eq!(markdown, format!("## ndjson-check: the runs differ\n\n```diff\n{human}```\n"));
}

#[test]
fn what_cannot_be_compared_is_trouble() {
    for wrong in [
        &[TOOLS, "no-such-file"][..],
        &[TOOLS],
        &["-", "-"],
        &[TOOLS, "fixtures/agents/gemini"],
        &["--report", "sarif", TOOLS, FAILED],
    ] {
        let (printed, code) = diff(wrong);
        assert_eq!((code, printed.lines().count()), (Some(2), 1), "{wrong:?}: {printed}");
    }
}

/// Goal: text of a stream cannot control a terminal, and cannot leave the block of Markdown.
#[test]
fn text_is_shown_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let original = fs::read_to_string(crate::streams::root().join(TOOLS)).unwrap();
    let nasty = "\\u001b[31m\\n````\\n::error::x\\u202e";
    let changed = original.replace("cat door.txt", nasty).replace("It is too wide.", nasty);
    assert_ne!(changed, original);
    let path = folder.path().join("nasty.ndjson");
    fs::write(&path, changed).unwrap();
    for format in ["human", "markdown", "json"] {
        let (printed, code) = diff(&["--report", format, TOOLS, path.to_str().unwrap()]);
        assert_eq!(code, Some(1));
        assert!(!printed.chars().any(|it| misleads(it) && it != '\n'), "{printed}");
        assert!(!printed.lines().any(|line| line.starts_with("::")), "{printed}");
        if format == "markdown" {
            let fences = printed.lines().filter(|line| line.starts_with("`````")).count();
            assert_eq!(fences, 2, "{printed}");
        }
    }
}

/// Goal: two recordings in which nothing was recorded are not the same run.
#[test]
fn recordings_without_an_event_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.ndjson");
    fs::write(&empty, "").unwrap();
    let empty = empty.to_str().unwrap();
    for (a, b) in [(empty, empty), (TOOLS, empty), (empty, TOOLS)] {
        let (printed, code) = diff(&[a, b]);
        assert_eq!(code, Some(2), "{printed}");
        let expected = format!("ndjson-check: nothing to check in {empty}: it has no event; ");
        assert!(printed.starts_with(&expected), "{printed}");
    }
}

/// Goal: many calls do not hide that the texts differ.
#[test]
fn texts_are_compared_after_many_calls() {
    let folder = tempfile::tempdir().unwrap();
    let original = fs::read_to_string(crate::streams::root().join(TOOLS)).unwrap();
    let calls: Vec<&str> =
        original.lines().filter(|line| line.contains("\"type\":\"tool_")).collect();
    let text = original.lines().position(|line| line.contains("\"delta\":true")).unwrap();
    let write = |name: &str, said: &str| {
        let mut lines: Vec<String> = original.lines().map(|it| it.replace("door", said)).collect();
        for number in 0..600 {
            let call =
                calls.iter().map(|line| line.replace("_id\":\"", &format!("_id\":\"{number}-")));
            lines.splice(text..text, call.collect::<Vec<_>>());
        }
        let path = folder.path().join(name);
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (a, b) = (write("a.ndjson", "door"), write("b.ndjson", "gate"));
    let (printed, code) = diff(&[&a, &b]);
    assert!(printed.contains("Only the beginning was compared"), "{printed}");
    assert!(code == Some(1) && printed.contains("\ntext:\n"), "{printed}");
}

//! Findings about a line that is no event show how the line begins.

use std::fs;

use crate::streams::{program, root, run_on, text};

const FORMATS: [&str; 7] = ["human", "json", "markdown", "junit", "sarif", "github", "html"];

/// A good run with this line in it.
fn with_line(line: &str) -> Vec<u8> {
    let stream = fs::read_to_string(root().join("fixtures/agents/claude/plain.ndjson")).unwrap();
    stream.replacen('\n', &format!("\n{line}\n"), 1).into_bytes()
}

/// Goal: a reader sees which line is in the way, in every report; redaction hides it.
#[test]
fn every_report_shows_a_line_that_is_no_event() {
    let secret = format!("ghp_{}", "q7Zk2".repeat(8));
    let stream = with_line(&format!("config is old: {secret}"));
    let folder = tempfile::tempdir().unwrap();
    for format in FORMATS {
        let file = folder.path().join(format);
        let report = |flags: &[&str]| {
            let target = format!("{format}={}", file.display());
            run_on(&[&["--report", &target], flags].concat(), &stream);
            fs::read_to_string(&file).unwrap()
        };
        let shown = report(&[]);
        assert!(shown.contains("config is old: ghp_q7Zk2"), "{format}: {shown}");
        let redacted = report(&["--redact", "secrets"]);
        assert!(redacted.contains("config is old: "), "{format}: {redacted}");
        assert!(!redacted.contains("q7Zk2"), "{format}: {redacted}");
        let hidden = report(&["--redact", "content"]);
        assert!(hidden.contains("the line is not JSON"), "{format}: {hidden}");
        for word in ["is old", "q7Zk2", "the line is not JSON: "] {
            assert!(!hidden.contains(word), "{format}: {hidden}");
        }
    }
}

/// Goal: the text is bounded, on one line, and visible; a blank one is left out.
#[test]
fn the_text_of_a_line_is_bounded_and_escaped() {
    let long = "wörd ".repeat(1_000_000);
    let cases = [
        (long.as_str(), "the line is not JSON: `wörd wörd"),
        ("\u{1b}[33mold\u{202e}", r"the line is not JSON: `\x1b[33mold\u{202e}`"),
        ("[1]", "the line is an array, not an object: `[1]`"),
        ("\u{a0}", "the line contains only white space, with U+00A0\n"),
        (r#"{"a": tru}"#, r#": `{"a": tru}`"#),
    ];
    for (line, says) in cases {
        let report = text(&run_on(&[], &with_line(line)).stdout);
        assert!(report.contains(says), "{says}: {report:.2000}");
        assert!(report.len() < 2_000, "{} bytes", report.len());
    }
    let stderr = fs::read_to_string(root().join("fixtures/agents/cursor/plain.ndjson")).unwrap();
    let report = text(&run_on(&[], format!("{stderr}Error: no quota\n").as_bytes()).stdout);
    assert!(report.contains("Error: no quota`"), "{report}");
}

/// Goal: several lines share a finding, which shows one of them.
#[test]
fn lines_with_other_texts_are_one_finding() {
    let flags = ["--report", "github"];
    let report = text(&run_on(&flags, &with_line("one\ntwo")).stdout);
    assert!(report.contains("lines 2, 3: the line is not JSON; the first is `one`"), "{report}");
    let report = text(&run_on(&flags, &with_line("one\none")).stdout);
    assert!(report.contains("lines 2, 3: the line is not JSON: `one`"), "{report}");
}

/// Goal: a known finding stays known when the line says something else.
#[test]
fn the_text_of_a_line_is_not_in_its_fingerprint() {
    let folder = tempfile::tempdir().unwrap();
    let (file, known) = (folder.path().join("a.ndjson"), folder.path().join("known.json"));
    fs::write(&file, with_line("one")).unwrap();
    program().arg("--write-baseline").arg(&known).arg(&file).output().unwrap();
    fs::write(&file, with_line("two")).unwrap();
    let output = program().arg("--baseline").arg(&known).arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
}

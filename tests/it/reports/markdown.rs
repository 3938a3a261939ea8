//! The Markdown report, read by a parser of GitHub's Markdown.

use std::fs;

use pulldown_cmark::{Event, Options, Parser, Tag};

use super::{NASTY, in_workflow, nasty_folder, nasty_stream, stdout};
use crate::streams::{misleads, program, root, run_on};

const PAGES: &str = "https://github.com/ndjson-check/ndjson-check/blob/HEAD/crates/core/src/rules/";

/// Fails unless all markup is ours. `@`, `#` and addresses mean something to GitHub in plain text.
fn has_only_our_markup(report: &str) {
    let raw = |it: &char| misleads(*it) && *it != '\n';
    assert_eq!(report.chars().find(raw), None, "{report:?}");
    let mut html = Vec::new();
    for event in Parser::new_ext(report, Options::ENABLE_TABLES) {
        match event {
            Event::Html(it) | Event::InlineHtml(it) => html.push(it.trim().to_owned()),
            Event::Start(Tag::Link { dest_url, .. }) => {
                let rule = dest_url.strip_prefix(PAGES).and_then(|it| it.strip_suffix(".md"));
                let rule = rule.unwrap_or_else(|| panic!("{dest_url}"));
                assert!(ndjson_check::Rule::named(rule).is_some(), "{rule}");
            }
            Event::Start(Tag::Image { dest_url, .. }) => panic!("{dest_url}"),
            Event::Text(it) => {
                assert!(!["@", "#", "evil"].iter().any(|no| it.contains(no)), "{it}");
            }
            _ => {}
        }
    }
    let markers = usize::from(report.starts_with("<!-- ndjson-check -->\n## "));
    assert_eq!(html.len(), markers, "{html:?}");
}

/// Goal: text of a stream is text in a comment: no markup, no mention, no link.
#[test]
fn nothing_of_a_stream_is_markup() {
    for nasty in NASTY.iter().copied().chain([NASTY.concat().as_str()]) {
        let report = stdout(&run_on(&["--strict", "--report=markdown"], &nasty_stream(nasty)));
        assert!(report.starts_with("<!-- ndjson-check -->\n## ✗ "));
        assert!(report.ends_with(", exit code 1\n"), "{report}");
        has_only_our_markup(&report);
    }
    let (folder, paths) = nasty_folder();
    in_workflow(&folder).args(&paths).arg(folder.path().join("@no`such`file")).output().unwrap();
    let summary = fs::read_to_string(folder.path().join("summary.md")).unwrap();
    assert!(summary.starts_with("## 25 streams: "));
    has_only_our_markup(&summary);
}

/// Goal: the sentence is that of the other reports; what it quotes is code, and nothing else is.
#[test]
fn sentences_are_prose() {
    let denied = fs::read(root().join("fixtures/agents/claude/denied-tools.ndjson")).unwrap();
    let cut = &denied[..denied.len() - 30];
    let open = fs::read(root().join("fixtures/rules/unfinished-call/one-open.ndjson")).unwrap();
    for (stream, shown) in [
        (cut, "## ✗ cut short in the middle of line 10\n"),
        (&denied, "(for edits also `--permission-mode acceptEdits`) allows tools, unless"),
        (&denied, "## ✗ every tool call was refused (3 of 3: git push origin main, "),
        (&open, "line 5: the `shell` call `systemctl restart worker` was still open when"),
        (b"Hi, *I* fixed\n", r"## ✗ plain text, not events: `Hi, *I* fixed`; run the agent"),
    ] {
        let report = stdout(&run_on(&["--report=markdown"], stream));
        assert!(report.contains(shown), "{shown}: {report}");
    }
}

/// Goal: a comment fits, and says what is missing in it; streams that need a look come first.
#[test]
fn a_comment_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = NASTY.concat() + &"`".repeat(600);
    for number in 0..40 {
        let bytes = [nasty_stream(&hostile).as_slice(), &b"\n[]\n{\n".repeat(100)].concat();
        fs::write(folder.path().join(format!("{number}.ndjson")), bytes).unwrap();
    }
    let mut command = program();
    command.args(["--strict", "--report=markdown", "fixtures/agents/cursor/plain.ndjson"]);
    for number in 0..60 {
        command.arg(format!("no-such-{number}-{}", "`".repeat(200)));
    }
    let report = stdout(&command.arg(folder.path()).output().unwrap());
    assert!(report.len() <= 60_000, "{}", report.len());
    assert!(report.len() > 30_000, "{}", report.len());
    has_only_our_markup(&report);
    let shown = report.matches("\n### ").count();
    let lines = report.lines().filter(|line| line.contains(".ndjson`: ✗ ")).count();
    assert_eq!(shown + lines, 40 + usize::from(report.contains("plain.ndjson`\n")), "{report}");
    assert!(report.contains("\n- and ") && report.contains(" more errors"), "{report}");
}

/// Goal: no error of a stream is hidden behind its warnings, and both are counted.
#[test]
fn errors_are_shown_before_warnings() {
    // Each has another message, so that they are not one row.
    let errors = (0..600).map(|at| format!("{{{}x}}\n", " ".repeat(at)));
    let errors = errors.collect::<Vec<_>>().concat();
    let stream = ["{}\n", &"\n".repeat(600), &errors].concat();
    let options = ["--profile=jsonl", "--warn=blank-line", "--report=markdown"];
    let report = stdout(&run_on(&options, stream.as_bytes()));
    let count = |severity: &str| report.matches(&format!("\n- {severity} [")).count();
    assert_eq!((count("error"), count("warning")), (20, 0), "{report}");
    assert!(report.contains("\n- and 580 more errors and 600 more warnings\n"), "{report}");
}

/// Goal: a table of tools has those that failed, however rare they are.
#[test]
fn tools_that_failed_are_in_the_table() {
    let mut stream = String::new();
    for number in 0..120 {
        // The tools of the second half fail, once each.
        let (is_bad, repeats) = (number >= 100, if number < 100 { 3 } else { 1 });
        for repeat in 0..repeats {
            let result = if is_bad { "error" } else { "success" };
            for event in [
                serde_json::json!({"type": "tool_call", "subtype": "started", "session_id": "s",
                    "call_id": format!("{number}-{repeat}"), "tool_call":
                    {format!("t{number}ToolCall"): {"args": {}}}}),
                serde_json::json!({"type": "tool_call", "subtype": "completed", "session_id": "s",
                    "call_id": format!("{number}-{repeat}"), "tool_call":
                    {format!("t{number}ToolCall"): {"args": {}, "result": {result: {}}}}}),
            ] {
                stream += &event.to_string();
                stream.push('\n');
            }
        }
    }
    for option in ["--jobs=1", "--stats"] {
        let options = ["--profile=cursor", option, "--report=markdown"];
        let report = stdout(&run_on(&options, stream.as_bytes()));
        for number in 100..120 {
            assert!(report.contains(&format!("| `t{number}` | 1 | 1 |")), "{number}: {report}");
        }
    }
}

/// Goal: no bad stream is hidden behind a good one, and what cannot be shown is counted.
#[test]
fn bad_streams_are_shown_before_good_ones() {
    let folder = tempfile::tempdir().unwrap();
    let good = fs::read(root().join("fixtures/agents/cursor/plain.ndjson")).unwrap();
    let cut = fs::read(root().join("fixtures/rules/missing-terminal-event/open-calls.ndjson"));
    let cut = cut.unwrap();
    let report = |bad: usize| {
        let case = folder.path().join(bad.to_string());
        fs::create_dir(&case).unwrap();
        for number in 0..600 {
            fs::write(case.join(format!("a-good-{number}.ndjson")), &good).unwrap();
        }
        for number in 0..bad {
            fs::write(case.join(format!("bad-{number}.ndjson")), &cut).unwrap();
        }
        let mut command = program();
        command.args(["--no-config", "--report=markdown", "."]).current_dir(&case);
        let report = stdout(&command.output().unwrap());
        assert!(report.len() <= 60_000, "{}", report.len());
        report
    };
    let few = report(600);
    for number in 0..600 {
        assert!(few.contains(&format!("bad-{number}.ndjson`")), "{number}: {few}");
    }
    let many = report(2_500);
    let shown = many.matches("bad-").count();
    assert!(shown > 500, "{shown}");
    assert!(!many.contains("a-good-"), "{many}");
    let left = format!("\n{0} streams not shown: {0} cut short.\n", 2_500 - shown);
    assert!(many.contains(&left), "{left}: {many}");
    assert!(many.contains("\n600 streams not shown: 600 succeeded.\n"), "{many}");
}

/// Goal: a change of the report is seen.
/// Goal: where only lines have room, each kind of failure is still shown with its reason.
#[test]
fn each_kind_of_failure_has_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let overloaded = fs::read(root().join("fixtures/agents/claude/overloaded.ndjson")).unwrap();
    let code = format!("`{}`", "_a_".repeat(45));
    let quoted = String::from_utf8(overloaded.clone()).unwrap();
    let end = quoted.lines().last().unwrap();
    let error = serde_json::from_str::<serde_json::Value>(end).unwrap()["result"].to_string();
    let quoted = quoted.replace(&error, &serde_json::json!(code).to_string());
    for number in 0..700 {
        let stream = if number < 2 { quoted.as_bytes() } else { &overloaded };
        fs::write(folder.path().join(format!("{number:03}.ndjson")), stream).unwrap();
    }
    let report = |name: &str| {
        let output = program().args(["--report", "markdown", name]).current_dir(&folder).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let all = report(".");
    assert!(all.len() < 61_000, "{}", all.len());
    assert!(all.contains("### `./002.ndjson`\n\n✗ failed: API Error: 529 Overloaded"), "{all}");
    assert!(all.contains("\n- `./699.ndjson`: ✗ failed: the provider failed\n"), "{all}");
    fs::create_dir(folder.path().join("two")).unwrap();
    fs::write(folder.path().join("two/a.ndjson"), &quoted).unwrap();
    fs::write(folder.path().join("two/b.ndjson"), &quoted).unwrap();
    assert!(report("two").contains("`two/b.ndjson`"));
}

#[test]
fn the_report_is_as_written() {
    let stream = "fixtures/rules/unfinished-call/two-of-three-open.ndjson";
    let output = program().args(["--report=markdown", stream]).output().unwrap();
    let expected = "\
<!-- ndjson-check -->
## ✗ tool calls never ended (2 of 3: df -h, uptime)

`fixtures/rules/unfinished-call/two-of-three-open.ndjson` · Cursor CLI · Auto · 8 events · \
3 calls (2 unfinished) · 79.1 k tokens in (59.7 k cached) · 246 out · 3.19 s

| tool | calls | unfinished |
|---|---:|---:|
| `shell` | 3 | 2 |

- error [unfinished-call](PAGES/unfinished-call.md), line 8: the `shell` call `df -h` was still \
open when the run ended
- error [unfinished-call](PAGES/unfinished-call.md), line 8: the `shell` call `uptime` was still \
open when the run ended

ndjson-check VERSION, exit code 1
";
    let expected = expected.replace("VERSION", env!("CARGO_PKG_VERSION"));
    assert_eq!(stdout(&output), expected.replace("PAGES/", PAGES));
}

/// Goal: the name of a sub-agent's model is no markup.
#[test]
fn a_model_in_a_table_is_code() {
    let path = root().join("fixtures/agents/claude/subagent.ndjson");
    let stream = fs::read_to_string(path).unwrap();
    let bad = "x | @octocat [win](https://evil.example)";
    let model = "\"model\":\"claude-";
    let stream = stream.replace(&format!("{model}example-1"), &format!("\"model\":\"{bad}"));
    assert!(stream.contains(bad));
    let output = run_on(&["--stats", "--report", "markdown"], stream.as_bytes());
    let report = crate::streams::text(&output.stdout);
    assert!(report.contains("| sub-agent | model |"), "{report}");
    has_only_our_markup(&report);
}

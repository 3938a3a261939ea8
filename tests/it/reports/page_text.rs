//! How a page of the HTML report shows texts, arguments, changes, results and times.

use std::fs;
use std::path::Path;

use super::html::{calls_at, is_sound, report};

/// The page of this stream; it is sound.
fn page_of(folder: &Path, arguments: &[&str]) -> String {
    let (page, _) = report(folder, arguments);
    is_sound(&page);
    fs::read_to_string(page).unwrap()
}

/// Fails unless all of this is in the page, in this order.
fn has(page: &str, expected: &[&str]) {
    let mut rest = page;
    for text in expected {
        let at = rest.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
        rest = &rest[at + text.len()..];
    }
}

/// Goal: Markdown and colours are shown, arguments have the agent's order, and nothing is obeyed.
#[test]
fn texts_and_results_are_for_reading() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.ndjson");
    let lines: String = (1..=60).map(|line| format!("{line}\\n")).collect::<Vec<_>>().concat();
    let events = [
        r#"{"type":"session","format":"ndjson-check/1","profile":"claude","session_id":"s"}"#,
        &[
            r##"{"type":"text","segment":1,"bytes":63,"text":"# Plan\n\n- **a**\n"##,
            r#"- [x](javascript:alert(1))\n\n<img src=x onerror=y>"}"#,
        ]
        .concat(),
        r#"{"type":"call_started","call":1,"id":"t","tool":"Bash","kind":"command","detail":"ls"}"#,
        &[
            r#"{"type":"call_completed","call":1,"id":"t","tool":"Bash","kind":"command","#,
            r#""detail":"ls","outcome":"succeeded","result":"\u001b[31mred\u001b[0m\n"#,
            &lines,
            r#"\u001b[2J"}"#,
        ]
        .concat(),
        r#"{"type":"end","outcome":"succeeded","verdict":"conforming","errors":0,"warnings":0}"#,
    ];
    fs::write(&file, events.join("\n") + "\n").unwrap();
    let page = page_of(folder.path(), &["--profile=events", file.to_str().unwrap()]);
    has(&page, &["<p class=\"h1\">Plan</p>", "<strong>a</strong>", "x (javascript:alert(1))"]);
    has(&page, &["&lt;img src=x onerror=y&gt;"]);
    has(&page, &["<i class=\"r\">red</i>\n1\n", "more lines</summary>", "60\n\\x1b[2J</pre>"]);
    // The order of the agent. The first line says the command.
    let page = page_of(folder.path(), &["fixtures/agents/cursor/tools-shell.ndjson"]);
    has(&page, &["<dt>timeout</dt>", "<dt>simpleCommands</dt>", "<dt>parsingResult</dt>"]);
    has(&page, &["more arguments</summary>", "<dt>toolCallId</dt>"]);
    assert!(!page.contains("<dt>command</dt>"), "{page}");
}

/// Goal: an edit is a diff, and the files that a run changed have their lines.
#[test]
fn changes_are_diffs() {
    let folder = tempfile::tempdir().unwrap();
    let page = page_of(folder.path(), &["fixtures/agents/claude/changes.ndjson"]);
    has(
        &page,
        &[
            "changed files",
            "<a href=\"#c2\"><code>src/cart.js</code></a> <span class=\"added\">+1</span>",
            "<div class=\"diff\">",
            "<del>-  return items.reduce(",
            "<ins>+  return items.reduce(",
            "<b> - it.discount</b>",
        ],
    );
}

/// Goal: a silence stands beside the time of the entry that ends it.
#[test]
fn a_silence_is_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.ndjson");
    fs::write(&file, calls_at(&[1, 10], "")).unwrap();
    let page = page_of(folder.path(), &["--profile=cursor", file.to_str().unwrap()]);
    has(&page, &["<time>0:09.0</time> <span class=\"wait\">+8.90 s</span>"]);
    assert!(!page.contains("data-kind=\"silence\""), "{page}");
}

/// Goal: the calls of a sub-agent are apart.
#[test]
fn sub_agents_have_rows_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let page = page_of(folder.path(), &["fixtures/agents/claude/subagent.ndjson"]);
    has(&page, &["sub-agent in call 1 Find the rounding", "class=\"call good inner\" id=\"c2\""]);
    has(&page, &["A sub-agent made it inside call 1."]);
}

/// Goal: an index has a group for each reason, those that did not pass first.
#[test]
fn an_index_has_groups() {
    let folder = tempfile::tempdir().unwrap();
    let streams = ["plain", "truncated", "unfinished-call"];
    let streams = streams.map(|name| format!("fixtures/agents/claude/{name}.ndjson"));
    let page = page_of(folder.path(), &streams.each_ref().map(String::as_str));
    has(
        &page,
        &["2 of 3 streams did not pass", "<span class=\"name\">fixtures/agents/claude/</span>"],
    );
    has(
        &page,
        &["<tbody data-reason=\"a tool call never ended\"", "<tbody data-reason=\"succeeded\""],
    );
    assert!(page.contains("data-reason=\"cut short\""), "{page}");
}

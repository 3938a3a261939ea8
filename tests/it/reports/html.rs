//! The HTML report: what is in its pages, and what a browser makes of them.

#[path = "../../support/page_tags.rs"]
mod page_tags;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use page_tags::{is_ours, tags};

use super::{NASTY, nasty_folder, nasty_stream};
use crate::streams::{files, is_absent, program, root, run_on, text};

/// Writes the report of these arguments; returns its file and the pages beside it.
pub(super) fn report(folder: &Path, arguments: &[&str]) -> (PathBuf, Vec<PathBuf>) {
    let file = folder.join("report.html");
    let mut command = program();
    command.arg("--quiet").arg(format!("--report=html={}", file.display())).args(arguments);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.code() != Some(101) && file.exists(), "{}", text(&output.stderr));
    let pages = folder.join("report.pages");
    (file, if pages.exists() { files(&pages, "html") } else { Vec::new() })
}

/// Fails unless a page is only what our templates can make, and each of its links leads somewhere.
pub(super) fn is_sound(file: &Path) {
    let page = fs::read_to_string(file).unwrap();
    let shown = file.display();
    let misleads = |it: char| it.is_control() && it != '\n' && it != '\t';
    assert!(!page.contains(misleads) && !page.contains(['\u{202e}', '\u{2066}']), "{shown}");
    let (mut ids, mut targets) = (BTreeSet::new(), Vec::new());
    for (name, attributes) in tags(&page) {
        assert!(is_ours(&name), "{shown}: <{name}>");
        // A link of a text: to a page of the web, which does not learn where the reader was.
        let is_of_text = attributes.first().is_some_and(|(_, it)| it == "noreferrer nofollow");
        for (key, value) in attributes {
            assert!(!key.starts_with("on") && key != "src" && key != "style", "{shown}: {key}");
            match key.as_str() {
                "id" => assert!(ids.insert(value.clone()), "{shown}: two of {value}"),
                "href" if is_of_text => {
                    assert!(name == "a" && value.starts_with("http"), "{shown}: {value}");
                }
                "href" => targets.push(value),
                _ => {}
            }
        }
    }
    for target in targets {
        let is_rule = target.starts_with("https://") && target.contains("/crates/core/src/rules/");
        let leads = match target.strip_prefix('#') {
            Some(id) => ids.contains(id),
            None => is_rule || file.with_file_name(&target).exists(),
        };
        assert!(leads, "{shown}: {target}");
    }
}

/// Goal: no text of a stream is anything but text, and every link leads somewhere.
#[test]
fn pages_are_what_the_templates_make() {
    let folder = tempfile::tempdir().unwrap();
    let (nasty, _) = nasty_folder();
    let nasty = nasty.path().to_str().unwrap();
    let (index, pages) = report(folder.path(), &["fixtures", nasty, "no-such-<b>file"]);
    assert!(pages.len() > 437 + NASTY.len(), "{}", pages.len());
    assert!(fs::read_to_string(&index).unwrap().contains("no-such-&lt;b&gt;file"));
    is_sound(&index);
    for page in &pages {
        is_sound(page);
    }
}

/// Goal: no page depends on the number of jobs, or on the engine.
#[test]
fn pages_are_the_same_for_any_number_of_jobs_and_engine() {
    let written = ["--jobs=1", "--jobs=8", "--engine=reference"].map(|option| {
        let folder = tempfile::tempdir().unwrap();
        let streams = ["fixtures/agents", "fixtures/rules"];
        let (index, pages) = report(folder.path(), &[&[option], &streams[..]].concat());
        let all = [vec![index], pages].concat().into_iter();
        let named = all.map(|it| (it.file_name().unwrap().to_owned(), fs::read(it).unwrap()));
        named.collect::<BTreeMap<_, _>>()
    });
    assert!(written[0].len() > 300, "{}", written[0].len());
    for (name, page) in &written[0] {
        assert!(written[1].get(name) == Some(page), "{} with more jobs", name.display());
        assert!(written[2].get(name) == Some(page), "{} with the reference", name.display());
    }
    assert_eq!((written[1].len(), written[2].len()), (written[0].len(), written[0].len()));
}

/// Goal: standard input has a page, too.
#[test]
fn standard_input_has_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    let stream = fs::read(root().join("fixtures/agents/gemini/tools.ndjson")).unwrap();
    let report = format!("--report=html={}", file.display());
    let output = run_on(&["--quiet", &report], &stream);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let page = fs::read_to_string(file).unwrap();
    assert!(page.contains("standard input") && page.contains("data-times"));
}

/// Goal: an input that cannot be checked did not pass.
#[test]
fn an_input_that_cannot_be_checked_did_not_pass() {
    let folder = tempfile::tempdir().unwrap();
    let (file, _) = report(folder.path(), &["no-such-file", "fixtures/agents/cursor/plain.ndjson"]);
    let index = fs::read_to_string(file).unwrap();
    assert!(index.contains("1 of 2 streams could not be checked"), "{index}");
}

/// Goal: the report of one stream is its page; of several, it is an index.
#[test]
fn one_stream_is_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let one = "fixtures/agents/cursor/plain.ndjson";
    let (file, pages) = report(folder.path(), &[one]);
    assert!(pages.is_empty(), "{pages:?}");
    let page = fs::read_to_string(file).unwrap();
    for expected in [
        "<span class=\"badge good\" aria-hidden=\"true\">✓</span>",
        "<span class=\"sentence\">succeeded</span>",
        "id=\"c1\" data-kind=\"call\" data-tool=\"",
        "href=\"#b1\"",
        "id=\"b1\"",
        "Terminal event <code>result/success</code>",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    assert!(!page.contains("All streams"));
    let (file, pages) = report(folder.path(), &[one, "no-such-file"]);
    let names: Vec<_> = pages.iter().map(|it| it.file_name().unwrap()).collect();
    assert_eq!(names, ["0001-plain-ndjson.html"]);
    let index = fs::read_to_string(file).unwrap();
    assert!(index.contains("href=\"report.pages/0001-plain-ndjson.html\""), "{index}");
    assert!(index.contains("Not checked") && index.contains("no-such-file"), "{index}");
    let page = fs::read_to_string(&pages[0]).unwrap();
    assert!(page.contains("href=\"../report.html\">All streams"), "{page}");
}

/// Goal: nothing of an earlier report stays beside a new one, and no other file is removed.
#[test]
fn pages_of_an_earlier_report_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let one = "fixtures/agents/cursor/plain.ndjson";
    let failed = "fixtures/agents/cursor/is-error.ndjson";
    let names = |pages: &[PathBuf]| -> Vec<String> {
        pages.iter().map(|it| it.file_name().unwrap().to_string_lossy().into_owned()).collect()
    };
    let (_, pages) = report(folder.path(), &[one, failed, one]);
    assert_eq!(pages.len(), 3);
    let other = folder.path().join("report.pages/0001-mine.html");
    fs::write(&other, "<p>mine</p>").unwrap();
    let (_, pages) = report(folder.path(), &[failed, one]);
    let expected = ["0001-is-error-ndjson.html", "0001-mine.html", "0002-plain-ndjson.html"];
    assert_eq!(names(&pages), expected);
    let (_, pages) = report(folder.path(), &["--redact=content", one]);
    assert_eq!(names(&pages), ["0001-mine.html"]);
}

/// Goal: standard output and devices are no place for several files.
#[test]
fn a_report_needs_a_file() {
    let streams = ["fixtures/agents/cursor/plain.ndjson", "fixtures/agents/cursor/is-error.ndjson"];
    for (target, message) in [
        ("html", "the html report needs a file: --report html=FILE"),
        ("html=-", "the html report needs a file"),
        #[cfg(unix)]
        ("html=/dev/null", "the pages of several streams need a directory; name a regular file"),
    ] {
        let output = program().args(["--report", target]).args(streams).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{target}");
        assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
    }
}

/// Goal: a page has the figures of `--stats`, and no other report has them without that option.
#[test]
fn a_page_shows_the_figures() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("report.json");
    let to_json = format!("--report=json={}", json.display());
    let one = "fixtures/agents/gemini/tools.ndjson";
    for (option, is_in_json) in [("--stats", true), ("--jobs=1", false)] {
        let (file, _) = report(folder.path(), &[option, &to_json, one]);
        let page = fs::read_to_string(file).unwrap();
        for expected in [
            "18.0 s from the first event to the last: 6.00 s with an open call, 12.0 s without",
            "<th scope=\"row\">grep_search</th><td class=\"number\">1</td>",
            "<a href=\"#c1\"><b class=\"tool\">read_file</b></a>",
            "<a href=\"#b1\">bar</a>",
            "Longest silences",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
        // A column in which nothing is.
        assert!(!page.contains(">refused</th>"), "{page}");
        assert_eq!(fs::read_to_string(&json).unwrap().contains("\"stats\""), is_in_json);
    }
    // No times, no calls, no text: nothing to say.
    let (file, _) = report(folder.path(), &["fixtures/agents/acp/login-required.ndjson"]);
    let page = fs::read_to_string(file).unwrap();
    assert!(!page.contains("<details class=\"stats\">"), "{page}");
    let (index, _) = report(folder.path(), &[one, "fixtures/agents/opencode/cut.ndjson"]);
    let index = fs::read_to_string(index).unwrap();
    for expected in [
        "<th scope=\"row\">gemini (no version)</th>",
        "<th scope=\"row\">read_file</th>",
        "<a href=\"report.pages/0001-tools-ndjson.html\">gemini/tools.ndjson</a>",
    ] {
        assert!(index.contains(expected), "{expected}: {index}");
    }
}

/// The events of a run of one call in each of these seconds, which takes 100 ms.
pub(super) fn calls_at(seconds: &[u64], result: &str) -> String {
    let mut stream = String::new();
    for (number, second) in seconds.iter().enumerate() {
        let id = format!("c{number}");
        let call = serde_json::json!({"shellToolCall": {"args": {"command": "ls"}}});
        let done = serde_json::json!({"shellToolCall": {"args": {"command": "ls"},
            "result": {"success": {"exitCode": 0, "interleavedOutput": result}}}});
        for (subtype, call, ms) in [("started", call, 0), ("completed", done, 100)] {
            let event = serde_json::json!({"type": "tool_call", "subtype": subtype, "call_id": id,
                "session_id": "s", "timestamp_ms": second * 1_000 + ms, "tool_call": call});
            stream += &event.to_string();
            stream.push('\n');
        }
    }
    stream
}

/// Goal: a long time without an event leaves room for what happened.
#[test]
fn a_long_gap_is_drawn_short() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gap.ndjson");
    let stream = calls_at(&[1, 2, 1_802, 1_803], "")
        + r#"{"type":"result","subtype":"success","session_id":"s","duration_ms":5000}"#;
    fs::write(&file, stream + "\n").unwrap();
    let (page, _) = report(folder.path(), &["--profile=cursor", file.to_str().unwrap()]);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("class=\"gap\"") && page.contains(">30 m</text>"), "{page}");
    assert!(page.contains("Gaps with a label are drawn short."), "{page}");
    // Bars of 100 ms in a drawing of half an hour.
    let bars = tags(&page).into_iter().filter(|it| it.0 == "rect");
    let widths = bars.filter_map(|(_, attributes)| {
        let width = attributes.into_iter().find(|it| it.0 == "width")?.1;
        width.strip_suffix('%')?.parse::<f64>().ok()
    });
    let wide = widths.filter(|width| (4.0..5.0).contains(width)).count();
    assert_eq!(wide, 4, "{page}");
    // Its own duration is not the time that the events show.
    assert!(page.contains("agent's duration") && page.contains("first to last event"), "{page}");
}

/// Goal: a browser applies the policy, and runs our script and no other.
/// Method: what Chromium makes of a page of all nasty texts, opened at a call.
#[test]
fn a_browser_runs_our_script_only() {
    let folder = tempfile::tempdir().unwrap();
    let stream = folder.path().join("nasty.ndjson");
    fs::write(&stream, nasty_stream(&NASTY.concat())).unwrap();
    let (page, _) = report(folder.path(), &["--profile=cursor", stream.to_str().unwrap()]);
    let mut chromium = Command::new("chromium");
    chromium.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"]);
    chromium.arg(format!("--user-data-dir={}", folder.path().join("profile").display()));
    chromium.arg(format!("file://{}#c1", page.display())).current_dir(root());
    let Ok(output) = chromium.output() else { return is_absent("chromium") };
    let dom = text(&output.stdout);
    assert!(dom.contains("id=\"c1\""), "{}", text(&output.stderr));
    // The script shows the filter, and unfolds the call that the address names.
    assert!(dom.contains("<form id=\"filter\" role=\"search\">"), "the script did not run");
    let names: Vec<String> = tags(&dom).into_iter().map(|it| it.0).collect();
    assert_eq!(names.iter().filter(|name| *name == "script").count(), 1);
    let foreign: Vec<_> = names.iter().filter(|it| !is_ours(it)).collect();
    assert_eq!(foreign, [""; 0]);
}

//! Annotations, the job's summary, and the outputs of a step.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;

use super::{in_workflow, nasty_folder, nasty_stream, stdout};
use crate::streams::{PROGRAM, misleads, program, root, run_on, text};

const GOOD: &str = "fixtures/agents/cursor/plain.ndjson";
const FAILED: &str = "fixtures/agents/cursor/is-error.ndjson";

/// A command as the runner reads it.
#[derive(Debug, PartialEq)]
struct Annotation {
    level: String,
    properties: BTreeMap<String, String>,
    message: String,
}

/// The commands in a log, by the grammar of the runner. Fails at what only looks like one.
fn annotations(log: &str) -> Vec<Annotation> {
    let mut found = Vec::new();
    for line in log.split(['\n', '\r']) {
        assert!(!line.contains("##[") && !line.contains("##vso["), "{line}");
        let Some(command) = line.trim_start().strip_prefix("::") else { continue };
        let (head, message) = command.split_once("::").unwrap();
        let (level, properties) = head.split_once(' ').unwrap();
        let unescaped = |text: &str| {
            let text = text.replace("%0D", "\r").replace("%0A", "\n");
            text.replace("%3A", ":").replace("%2C", ",").replace("%25", "%")
        };
        let properties = properties.split(',').map(|it| {
            let (name, value) = it.split_once('=').unwrap();
            (name.to_owned(), unescaped(value))
        });
        let properties = properties.collect();
        found.push(Annotation { level: level.to_owned(), properties, message: unescaped(message) });
    }
    found
}

/// Goal: a stream forges no annotation, and the job shows what is wrong where.
#[test]
fn annotations_are_commands_and_nothing_else_is() {
    let (folder, paths) = nasty_folder();
    for path in &paths {
        let output = in_workflow(&folder).arg("--strict").arg(path).output().unwrap();
        let log = stdout(&output);
        let raw = |it: &char| misleads(*it) && *it != '\n';
        assert_eq!(log.chars().find(raw), None, "{log:?}");
        let (human, commands) = log.split_at(log.find("\n::").unwrap() + 1);
        assert_eq!(annotations(human), [], "{human}");
        let found = annotations(commands);
        assert_eq!(found.len(), commands.lines().count());
        assert!(found.len() > 3, "{commands}");
        for it in found {
            assert!(["error", "warning"].contains(&it.level.as_str()), "{it:?}");
            let known = |name: &String| ["file", "line", "title"].contains(&name.as_str());
            assert!(it.properties.keys().all(known), "{it:?}");
            let file = it.properties["file"].replace("\\n", "\n").replace("\\r", "\r");
            let name = path.file_name().unwrap().to_str().unwrap();
            assert_eq!(file[..2], name[..2], "relative to the repository: {it:?}");
        }
    }
    assert_eq!(paths.len(), 24);
}

/// Goal: ten of each level are shown, alike ones as one, and none is lost without a word.
/// Method: 120 errors with a message each, and 120 warnings with the same message.
#[test]
fn annotations_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let stream = folder.path().join("many.ndjson");
    let good = fs::read_to_string(root().join(GOOD)).unwrap();
    let lines: Vec<_> = (0..120).map(|it| format!("{{\"{it}\":1,\"{it}\":2}}\n\n")).collect();
    fs::write(&stream, lines.concat() + &good).unwrap();
    let output = in_workflow(&folder).args(["--profile", "cursor"]).arg(&stream).output().unwrap();
    let log = stdout(&output);
    let of = |level| annotations(&log).into_iter().filter(move |it| it.level == level);
    let omitted = |last: &str| -> u64 {
        let count = last.strip_prefix("and ").and_then(|it| it.strip_suffix(" more")).unwrap();
        count.parse().unwrap()
    };
    let (errors, warnings): (Vec<_>, Vec<_>) = (of("error").collect(), of("warning").collect());
    assert_eq!(errors.len(), 10, "{log}");
    let mut json = program();
    let report = json.args(["--profile", "cursor", "--report", "json"]).arg(&stream);
    let report = stdout(&report.output().unwrap());
    let sum: serde_json::Value = serde_json::from_str(report.lines().last().unwrap()).unwrap();
    let count = |what: &str| sum[what].as_u64().unwrap();
    // Of the keys, and of the 121 other errors with two messages; 20 of each are only counted.
    assert_eq!(count("errors"), 120 + 121, "{sum}");
    assert_eq!(omitted(&errors[9].message) + 9, (100 + 20) + (2 + 20), "{log}");
    assert_eq!(warnings[0].message, "lines 2, 4, 6, 8, 10 and 95 more: the line is blank");
    assert_eq!(omitted(&warnings[1].message) + 100, count("warnings"), "{sum}");
}

/// Goal: the failure of one stream is not hidden by the findings of another.
#[test]
fn each_stream_that_fails_has_an_annotation() {
    let folder = tempfile::tempdir().unwrap();
    let prose = folder.path().join("prose.ndjson");
    fs::write(&prose, "I fixed it.\nAll good.\n".repeat(20)).unwrap();
    let output = in_workflow(&folder).arg(&prose).arg(root().join(FAILED)).output().unwrap();
    let log = stdout(&output);
    let found = annotations(&log);
    assert!(found[0].message.contains("plain text, not events: `I fixed it.`; run"), "{log}");
    assert!(found[1].message.contains("failed"), "{log}");
    assert!(found[2].message.contains("and 35 more: the line is not JSON; the first is"), "{log}");
}

/// Goal: annotations are on in a workflow unless the user chose something else.
#[test]
fn annotations_are_on_in_a_workflow() {
    let folder = tempfile::tempdir().unwrap();
    for (flags, value, is_on) in [
        (&[][..], "true", true),
        (&[], "false", false),
        (&["--quiet"], "true", false),
        (&["--report", "human"], "true", false),
        (&["--report", "github"], "", true),
        (&["--report", "json"], "true", false),
        // A report in a file takes nothing away from the log.
        (&["--report", "junit=FILE"], "true", true),
        (&["--report", "junit=FILE"], "false", false),
    ] {
        let file = folder.path().join("report.xml");
        let flags = flags.iter().map(|it| it.replace("FILE", file.to_str().unwrap()));
        let flags: Vec<String> = flags.collect();

        let mut command = in_workflow(&folder);
        let output =
            command.args(&flags).arg(FAILED).env("GITHUB_ACTIONS", value).output().unwrap();
        let log = stdout(&output);
        assert_eq!(log.contains("::error "), is_on, "{flags:?} {value}: {log}");
        let summary = folder.path().join("summary.md");
        assert_eq!(fs::remove_file(summary).is_ok(), is_on, "{flags:?} {value}");
        assert_eq!(output.status.code(), Some(3));
    }
    let quiet = in_workflow(&folder).args(["-q", "--report=github", GOOD]).output().unwrap();
    assert_eq!(stdout(&quiet), "");
    assert!(folder.path().join("outputs").exists());
}

/// Goal: text in place of events gets the advice of the human report.
#[test]
fn plain_text_has_one_advice_in_all_reports() {
    for report in ["human", "github", "markdown", "junit"] {
        let said = stdout(&run_on(&["--profile=claude", "--report", report], b"Hello\nyou\n"));
        assert!(said.contains("call it as `claude "), "{report}: {said}");
        assert!(!said.contains("stderr merged"), "{report}: {said}");
    }
}

/// Goal: an empty stream takes one of the ten annotations, not two.
#[test]
fn an_empty_stream_is_said_once() {
    let found = annotations(&stdout(&run_on(&["--report", "github"], b"")));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].message.contains("the stream has no event"), "{found:?}");
}

/// Goal: what the sentence says is not said again, and the advice stays.
#[test]
fn a_cut_run_is_said_once() {
    let cut = "fixtures/rules/missing-terminal-event/after-the-prompt.ndjson";
    let refused = "fixtures/agents/droid/all-calls-refused.ndjson";
    for (stream, said) in [(cut, "cut short after line 2"), (refused, "--auto low")] {
        let output = run_on(&["--report", "github", stream], b"");
        let found = annotations(&stdout(&output));
        let errors: Vec<_> = found.iter().filter(|it| it.level == "error").collect();
        assert_eq!(errors.len(), 1, "{found:?}");
        assert!(errors[0].message.contains(said), "{found:?}");
    }
}

/// Goal: what is no file of the repository is named in the message.
#[test]
fn standard_input_has_no_file() {
    let output = run_on(&["--report", "github"], &nasty_stream("x"));
    for it in annotations(&stdout(&output)) {
        assert_eq!(it.properties.get("file"), None);
        assert!(it.message.starts_with("standard input:"), "{it:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let output = in_workflow(&folder).args([FAILED, "no-such-file"]).output().unwrap();
    let found = annotations(&stdout(&output));
    assert!(found[0].message.starts_with(&format!("{FAILED}: failed: ")), "{found:?}");
    assert_eq!(found[1].properties["title"], "ndjson-check");
    assert!(found[1].message.contains("no-such-file"), "{found:?}");
}

/// Goal: annotations are obeyed although the text before them is not.
/// Method: the log of a conversion, both outputs in one file; commands are off inside the text.
#[test]
fn annotations_follow_the_end_of_a_conversion() {
    // One file for both outputs needs a shell.
    if cfg!(windows) {
        return;
    }
    let command = r#"s/"text":"/"text":"\\n::warning::x\\n/"#;
    let script = format!("sed '{command}' {FAILED} | {PROGRAM} --to transcript 2>&1");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).current_dir(root()).stdin(Stdio::null());
    shell.env("GITHUB_ACTIONS", "true").env_remove("GITHUB_WORKSPACE").env_remove("TF_BUILD");
    shell.env_remove("GITHUB_STEP_SUMMARY").env_remove("GITHUB_OUTPUT");
    let log = text(&shell.output().unwrap().stdout);
    let token = log.lines().find_map(|it| it.strip_prefix("::stop-commands::")).unwrap();
    let resumed = log.find(&format!("\n::{token}::")).unwrap();
    assert!(log.find("\n::error ").unwrap() > resumed, "{log}");
}

/// Goal: the annotation and the summary of a failed run say why it failed.
#[test]
#[cfg(unix)]
fn a_failed_run_says_why() {
    let begun = format!("head -2 {GOOD}");
    let limit = "echo 'ActionRequiredError: usage limit' >&2";
    let hostile = "printf 'first\\n`@a` ##[error]::error::x\\033[1m\\n' >&2";
    let rows: [(&[&str], String, &str, &str); 5] = [
        (
            &[],
            format!("{limit}; {begun}; exit 1"),
            "failed: ActionRequiredError: usage limit (exit status 1); there is no terminal event",
            "- note: there is no terminal event\n",
        ),
        (
            &["--timeout=300ms"],
            format!("{begun}; sleep 60"),
            "timed out: the run did not end within 300ms",
            "## ✗ timed out: the run did not end within 300ms\n",
        ),
        (
            &[],
            format!("{begun}; kill -9 $$"),
            "killed by SIGKILL; there is no terminal event",
            "2 events · signal 9\n",
        ),
        (
            &[],
            format!("{limit}; cat {GOOD}; exit 5"),
            "failed: the stream says that the run succeeded, but the exit status is 5; \
             ActionRequiredError: usage limit",
            "; ActionRequiredError: usage limit\n",
        ),
        (
            &[],
            format!("{begun}; {hostile}; exit 1"),
            "failed: `@a` \\u0023\\u0023[error]::error::x\\x1b[1m (exit status 1); \
             there is no terminal event",
            "- stderr: `first`\n- note: ",
        ),
    ];
    for (options, script, annotation, summary) in rows {
        let folder = tempfile::tempdir().unwrap();
        let mut command = in_workflow(&folder);
        command.args(["--no-stdin", "--report", "github"]).args(options);
        let output = command.args(["--", "bash", "-c", &script]).output().unwrap();
        let log = stdout(&output);
        let first = annotations(&log).remove(0);
        assert_eq!(first.message, format!("bash: {annotation}"), "{log}");
        let written = fs::read_to_string(folder.path().join("summary.md")).unwrap();
        assert!(written.contains(summary), "{written}");
    }
}

/// Goal: who reads an annotation learns where the run can be seen.
#[test]
#[cfg(unix)]
fn annotations_name_the_page_and_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let [page, recording] = ["run.html", "run.ndjson"].map(|name| folder.path().join(name));
    let kept = |script: &str| {
        let mut command = in_workflow(&folder);
        command.args(["--no-stdin", "--report=human", "--report=github"]).arg("--tee");
        command.arg(&recording).arg(format!("--report=html={}", page.display()));
        stdout(&command.args(["--", "sh", "-c", script]).output().unwrap())
    };
    let last = annotations(&kept(&format!("cat {FAILED}"))).pop().unwrap();
    let [page, recording] = [page.display(), recording.display()];
    assert_eq!(last.level, "notice");
    assert_eq!(last.message, format!("the page of the run: {page}; its recording: {recording}"));
    assert_eq!(annotations(&kept(&format!("cat {GOOD}"))), []);
}

/// Goal: an error before the check is as visible as one in it, and no text in it is a command.
#[test]
fn what_stops_the_check_from_beginning_is_an_annotation() {
    let hostile = "--no-such%0A\n::error::forged, ##[error]";
    for (arguments, message) in [
        (&["--no-such-option"][..], "unexpected argument '--no-such-option'"),
        (&["--quiet", "--config", "no-such-file.toml", GOOD], "no-such-file.toml"),
        (&["--report=human", "--max-cost=x", GOOD], "invalid value 'x'"),
        (&["--timeout", "1m", "--"], "expected a command after `--`"),
        (&[hostile], "unexpected argument"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let output = in_workflow(&folder).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let log = text(&output.stderr);
        let found = annotations(&log);
        assert_eq!(found.len(), 1, "{log}");
        assert_eq!((&*found[0].level, &*found[0].properties["title"]), ("error", "ndjson-check"));
        assert!(found[0].message.contains(message), "{log}");
        let outputs = fs::read_to_string(folder.path().join("outputs")).unwrap();
        assert!(
            outputs.starts_with("verdict=not-checked\noutcome=\nexit-code=2\npassed=false\n"),
            "{outputs}"
        );
        let summary = fs::read_to_string(folder.path().join("summary.md")).unwrap();
        assert!(summary.contains("1 not checked\n") && summary.contains(message), "{summary}");
    }
    // Neither a subcommand nor a run outside of a workflow has anything to do with the job.
    for (arguments, value) in [(["rules", "no-such-rule"], "true"), (["--no-such", GOOD], "")] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = in_workflow(&folder);
        let output = command.args(arguments).env("GITHUB_ACTIONS", value).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(!text(&output.stderr).contains("::error"), "{}", text(&output.stderr));
        assert!(!folder.path().join("outputs").exists());
    }
}

/// Goal: the steps that follow get facts, and an unknown one is empty.
#[test]
fn outputs_are_sums_of_what_every_stream_reports() {
    let costly = "fixtures/agents/claude/api-retry.ndjson";
    let denied = "fixtures/agents/claude/denials-in-the-result.ndjson";
    let refused = "fixtures/rules/all-calls-refused/all-of-them.ndjson";
    let rows: [(&[&str], &str); 7] = [
        (&[refused], "non-conforming succeeded 1 - 69740 - 4"),
        (&[GOOD], "conforming succeeded 0 - 43391 - 0"),
        (&[GOOD, FAILED], "conforming failed 3 - 90752 - 0"),
        (&[costly], "conforming succeeded 0 0.0312 39556 3 0"),
        (&[costly, denied], "non-conforming succeeded 1 0.0624 39782 5 1"),
        (&[GOOD, costly], "conforming succeeded 0 - 82947 - 0"),
        (&[GOOD, "no-such-file"], "not-checked succeeded 2 - - - -"),
    ];
    for (streams, expected) in rows {
        let folder = tempfile::tempdir().unwrap();
        let outputs = folder.path().join("outputs");
        fs::write(&outputs, "mine=1\n").unwrap();
        in_workflow(&folder).args(streams).output().unwrap();
        let written = fs::read_to_string(&outputs).unwrap();
        let lines = written.lines().map(|line| line.split_once('=').unwrap());
        let mut lines: Vec<(&str, &str)> = lines.collect();
        let passed = lines.iter().position(|line| line.0 == "passed").unwrap();
        let is_zero = lines.contains(&("exit-code", "0"));
        assert_eq!(lines.remove(passed).1, is_zero.to_string());
        let names: Vec<&str> = lines.iter().map(|line| line.0).collect();
        let known = ["verdict", "outcome", "exit-code", "cost-usd", "tokens", "turns", "denied"];
        let why = ["reason", "retryable", "retry-after", "session-id", "model"];
        assert_eq!(names, [&["mine"][..], &known, &why].concat());
        let values =
            lines[1..=known.len()].iter().map(|(_, it)| if it.is_empty() { "-" } else { it });
        assert_eq!(values.collect::<Vec<_>>().join(" "), expected, "{streams:?}");
    }
}

/// Goal: no text of a stream is in an output, but harmless names.
#[test]
fn outputs_have_one_line_each() {
    let (folder, paths) = nasty_folder();
    in_workflow(&folder).args(&paths).output().unwrap();
    let written = fs::read_to_string(folder.path().join("outputs")).unwrap();
    assert_eq!(written.lines().count(), 13, "{written}");
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-=.\n".contains(it);
    assert!(written.chars().all(is_plain), "{written}");
}

/// Goal: a file of the job that cannot be written is an error, as for every report.
#[test]
fn a_summary_that_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = in_workflow(&folder);
    let output = command.arg(GOOD).env("GITHUB_STEP_SUMMARY", "/no/such/file").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with("ndjson-check: failed to write to /no/such/file: "));
}

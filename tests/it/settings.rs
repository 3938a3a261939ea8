//! The configuration file: where it is found, what it says, and what is wrong with it.

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use ndjson_check::internals::{REPORT_SCHEMA, satisfies};
use serde_json::Value;
use tempfile::TempDir;

use crate::faults::FAULTS;
use crate::streams::{no_such_file, program, root, text};

fn run_in(folder: &Path, arguments: &[&str]) -> Output {
    program().current_dir(folder).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    folder
}

/// The settings that are printed.
fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = run_in(folder, &[&["--print-config"], arguments].concat());
    assert_eq!(text(&output.stderr), "", "{arguments:?}");
    text(&output.stdout)
}

const NAME: &str = "ndjson-check.toml";

/// Goal: whatever is wrong, one line says what, and where.
#[test]
fn a_fault_is_one_line_with_its_place() {
    for &(config, expected) in FAULTS {
        let folder = folder(&[(NAME, config), ("wrong.json", "{\"type\": 5}")]);
        let output = run_in(folder.path(), &["-"]);
        let expected = expected.replace("No such file or directory", &no_such_file());
        assert_eq!(text(&output.stderr), format!("ndjson-check: {NAME}:{expected}\n"), "{config}");
        assert_eq!(output.status.code(), Some(2), "{config}");
    }
    let folder = folder(&[]);
    fs::write(folder.path().join(NAME), b"profile = \"\xff\"").unwrap();
    let output = run_in(folder.path(), &["-"]);
    assert_eq!(text(&output.stderr), format!("ndjson-check: {NAME}:1:12: not valid UTF-8\n"));
}

#[test]
fn a_limit_on_the_command_line_must_make_sense_too() {
    for (flag, value) in [
        ("--max-cost", "nan"),
        ("--max-cost", "0"),
        ("--max-cost", "inf"),
        ("--max-turns", "0"),
        ("--max-tokens", "1.5"),
        ("--max-calls", "many"),
    ] {
        let output = run_in(root(), &[&format!("{flag}={value}"), "-"]);
        assert_eq!(output.status.code(), Some(2), "{flag} {value}");
        assert!(text(&output.stderr).contains("must be a"), "{}", text(&output.stderr));
    }
}

/// Goal: the file is found upward, and no farther than the root of the repository.
#[test]
fn the_nearest_file_is_used() {
    let files = [(NAME, "limits.turns = 1"), ("repo/.git/HEAD", ""), ("repo/a/b/x", "")];
    let outer = folder(&files);
    let repo = outer.path().join("repo");
    let deep = repo.join("a/b");
    let none = "# From the command line; there is no configuration file.\n";
    assert_eq!(printed(&deep, &[]), none, "above the repository");
    fs::write(repo.join(NAME), "limits.turns = 2").unwrap();
    let shown = "# From \"../../ndjson-check.toml\" and the command line.\n[limits]\nturns = 2\n";
    assert_eq!(printed(&deep, &[]).replace("\\\\", "/"), shown);
    fs::write(repo.join("a").join(NAME), "limits.turns = 3").unwrap();
    assert!(printed(&deep, &[]).contains("turns = 3"));
    assert_eq!(printed(&deep, &["--no-config"]), none);
    assert!(printed(&deep, &["--config", "../../ndjson-check.toml"]).contains("turns = 2"));
    // Without a repository, only the working directory has one.
    fs::remove_dir_all(repo.join(".git")).unwrap();
    assert_eq!(printed(&deep, &[]), none);
    assert!(printed(&repo, &[]).contains("turns = 2"));
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_is_not_passed_over() {
    let folder = folder(&[]);
    std::os::unix::fs::symlink("nowhere", folder.path().join(NAME)).unwrap();
    let output = run_in(folder.path(), &["-"]);
    let expected = "failed to read the configuration ndjson-check.toml: No such file or directory";
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains(expected), "{}", text(&output.stderr));
}

const EVERYTHING: &str = r#"profile = "claude"
strict = true

[rules]
blank-line = "error"
unknown-event = "off"

[limits]
cost = 2.5
tokens = 100000
turns = 40
calls = 0
failed-calls = 3
estimates = true

[prices."claude-*"]
input = 3.0
output = 15.0
cache-read = 0.3

[expect]
model = "claude-*"
session = "s1"
servers = ["tracker"]
tools = ["mcp__tracker__*"]

[expect.answer]
matches = "^DONE"
schema = "SCHEMA"

[[expect.calls]]
name = "test"
kind = "command"
matches = "cargo test"
runs = "cargo test"
at-least = 1
at-most = 9
last = "succeeded"
after = "write"
before = "fetch"

[expect.calls.output]
matches = "passed"
never = "0 tests"
passed = "ok"
failed = "no"

[expect.calls.requires]
kind = "read"
same = "path"

[[expect.calls]]
tool = "webSearch"
at-most = 3

[expect.writes]
within = ["src/**"]
never = ["**/*.lock"]
"#;

/// Goal: what is printed can be read again, from anywhere, and says the same.
#[test]
fn printed_settings_can_be_read_again() {
    let folder = folder(&[("answer.json", "{}"), ("elsewhere/x", "")]);
    let schema = folder.path().join("answer.json").display().to_string();
    // What has a backslash is not escaped, but has other quotes.
    let quoted = if cfg!(windows) { format!("'{schema}'") } else { format!("\"{schema}\"") };
    let everything = EVERYTHING.replace("\"SCHEMA\"", &quoted);
    fs::write(folder.path().join(NAME), EVERYTHING.replace("SCHEMA", "answer.json")).unwrap();
    let shown = printed(folder.path(), &[]);
    assert_eq!(shown.split_once('\n').unwrap().1, everything);
    let copy = folder.path().join("elsewhere").join(NAME);
    fs::write(&copy, &shown).unwrap();
    assert_eq!(printed(copy.parent().unwrap(), &[]), shown);
}

#[test]
fn the_command_line_wins() {
    let folder = folder(&[(NAME, EVERYTHING), ("SCHEMA", "{}")]);
    let flags = ["--profile", "cursor", "--max-turns", "5", "--warn", "blank-line"];
    let shown = printed(folder.path(), &flags);
    for line in ["profile = \"cursor\"", "turns = 5", "calls = 0", "blank-line = \"warning\""] {
        assert!(shown.contains(&format!("\n{line}\n")), "{line}: {shown}");
    }
}

/// Goal: a setting of the file has the effect of its flag.
#[test]
fn settings_have_an_effect() {
    let stream = root().join("fixtures/rules/blank-line/between-events.ndjson");
    let stream = stream.to_str().unwrap();
    let rows = [
        ("", 0, "warning[blank-line]"),
        ("rules.blank-line = \"error\"", 1, "error[blank-line]"),
        ("strict = true", 1, "error[blank-line]"),
        ("strict = true\nrules.blank-line = \"off\"", 0, "succeeded"),
        ("limits.calls = 0", 1, "error[limit-exceeded]"),
        ("profile = \"codex\"", 1, "error[wrong-profile]"),
        ("expect.answer.matches = \"^no$\"", 1, "error[expectation-failed]"),
    ];
    for (config, code, shown) in rows {
        let folder = folder(&[(NAME, config)]);
        let output = run_in(folder.path(), &[stream]);
        let report = text(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{config}: {report}");
        assert!(report.contains(shown), "{config}: {report}");
    }
}

/// The schema of the file accepts it, as JSON.
fn is_valid(config: &str) -> bool {
    let schema = text(&run_in(root(), &["schema", "config"]).stdout);
    let json: Value = toml::from_str(config).unwrap();
    satisfies(&schema, &json.to_string()).unwrap()
}

/// Goal: the JSON Schema and the pages say what the program does.
#[test]
fn the_schema_and_the_examples_agree_with_the_program() {
    let mut examples = vec![EVERYTHING.to_owned()];
    for page in ["README.md", "docs/configuration.md"] {
        let page = fs::read_to_string(root().join(page)).unwrap();
        let blocks = page.split("```toml\n").skip(1);
        let blocks = blocks.map(|block| block.split("```").next().unwrap().to_owned());
        examples.extend(blocks.filter(|block| !block.contains("default-features")));
    }
    assert!(examples.len() >= 3, "{examples:?}");
    for example in examples {
        assert!(is_valid(&example), "{example}");
        let schemas = [("SCHEMA", "{}"), ("answer.schema.json", "{}")];
        let folder = folder(&[&[(NAME, &*example)][..], &schemas[..]].concat());
        printed(folder.path(), &[]);
    }
    for wrong in [
        "trict = true",
        "limits.turns = 0",
        "limits.cost = -1",
        "rules.blank-line = \"of\"",
        "expect.calls = [{ kind = \"wirte\", at-most = 0 }]",
        "expect.calls = [{ at-most = 0 }]",
        "expect.calls = [{ kind = \"write\" }]",
        "expect.calls = [{ kind = \"write\", requires = { kind = \"read\" } }]",
        "expect.presets = [\"testd\"]",
        "expect.writes = { never = \"a\" }",
        "expect.writes = {}",
        "expect.servers = []",
        "expect.calls = [{ runs = \"a\", at-most = 1, output = {} }]",
    ] {
        assert!(!is_valid(wrong), "{wrong}");
    }
}

/// Goal: a reader of any report sees what the check does not look for.
#[test]
fn reports_say_what_was_turned_off() {
    let stream = fs::read_to_string(root().join("fixtures/agents/cursor/plain.ndjson")).unwrap();
    let config = "[rules]\nunfinished-call = \"off\"\nrun-failed = \"off\"\n";
    let files = [(NAME, config), ("a.ndjson", &stream), ("b.ndjson", &stream)];
    let folder = folder(&files);
    let report = |arguments: &[&str]| {
        let arguments = [arguments, &["--allow", "empty-answer", "a.ndjson", "b.ndjson"]].concat();
        text(&run_in(folder.path(), &arguments).stdout)
    };
    // A rule that is off by itself was not turned off.
    let off = "2 rules are off: unfinished-call, empty-answer";
    let human = report(&[]);
    assert_eq!(human.matches(off).count(), 1, "{human}");
    assert_eq!(human.matches("\nnote: configured by `").count(), 1, "{human}");
    assert!(human.contains(NAME), "{human}");
    let strict = report(&["--strict"]);
    let off_in_strict = "3 rules are off: unfinished-call, empty-answer, run-failed";
    assert_eq!(strict.matches(off_in_strict).count(), 1, "{strict}");
    for format in ["markdown", "junit"] {
        let report = report(&["--report", format]);
        assert!(report.contains(off) && report.contains("configured by"), "{format}: {report}");
    }
    let page = folder.path().join("page.html");
    report(&["--report", &format!("html={}", page.display())]);
    let pages = folder.path().join("page.pages");
    let pages: Vec<_> = fs::read_dir(pages).unwrap().map(|it| it.unwrap().path()).collect();
    let pages: Vec<String> = pages.iter().map(|it| fs::read_to_string(it).unwrap()).collect();
    assert!(pages.len() == 2 && pages.iter().all(|page| page.contains(off)));
    let json = report(&["--report", "json"]);
    for line in json.lines() {
        assert!(satisfies(REPORT_SCHEMA, line).unwrap(), "{line}");
        let line: Value = serde_json::from_str(line).unwrap();
        if line["type"] == "stream" {
            let notes = &line["notes"];
            assert_eq!(notes[0]["note"], "configured");
            assert!(notes[0]["file"].as_str().unwrap().ends_with(NAME));
            let rules = serde_json::json!(["unfinished-call", "empty-answer"]);
            assert_eq!((&notes[1]["note"], &notes[1]["rules"]), (&"rules-off".into(), &rules));
        }
    }
    let none = text(&run_in(folder.path(), &["--no-config", "a.ndjson"]).stdout);
    assert!(!none.contains("note:"), "{none}");
}

/// Goal: a report says which errors were made warnings; `--strict` does not raise them again.
#[test]
fn a_report_says_what_was_lowered() {
    let rules = "[rules]\nunfinished-call = \"warning\"\nrun-failed = \"warning\"\n";
    let stream =
        fs::read_to_string(root().join("fixtures/rules/unfinished-call/one-open.ndjson")).unwrap();
    let folder = folder(&[(NAME, rules), ("a.ndjson", &stream)]);
    let report = |arguments: &[&str]| {
        text(&run_in(folder.path(), &[arguments, &["a.ndjson"]].concat()).stdout)
    };
    let lowered = "note: 1 rule is only a warning: unfinished-call\n";
    let human = report(&[]);
    assert!(human.contains(lowered) && !human.contains("error["), "{human}");
    let in_strict = "note: 2 rules are only warnings: unfinished-call, run-failed\n";
    let strict = report(&["--strict"]);
    assert!(strict.contains(in_strict) && strict.contains("warning[unfinished-call]"), "{strict}");
    let by_option = report(&["--no-config", "--warn=unfinished-call"]);
    assert!(by_option.contains(lowered), "{by_option}");
    // What is raised, or has its own severity, was not lowered.
    let own = report(&["--no-config", "--deny=run-failed", "--deny=unfinished-call"]);
    assert!(!own.contains("only a warning"), "{own}");
    let json = report(&["--report=json"]);
    for line in json.lines() {
        assert!(satisfies(REPORT_SCHEMA, line).unwrap(), "{line}");
    }
    let note = "{\"note\":\"rules-lowered\",\"rules\":[\"unfinished-call\"],";
    assert!(json.contains(note), "{json}");
}

//! What is typed wrongly, the help for it, and the subcommands.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Output, Stdio};

use ndjson_check::internals::{LANGUAGE, REPORT_SCHEMA};
use serde_json::Value;

use crate::streams::{program, root, run_on, text};

const GOOD: &str = "fixtures/agents/cursor/plain.ndjson";

fn run(arguments: &[&str]) -> Output {
    program().args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// What a successful command prints.
fn printed(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!((code(&output), text(&output.stderr).as_str()), (0, ""), "{arguments:?}");
    text(&output.stdout)
}

/// The one line of a command that is refused.
fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    let error = text(&output.stderr);
    assert_eq!((code(&output), text(&output.stdout).as_str()), (2, ""), "{arguments:?}: {error}");
    assert_eq!(error.lines().count(), 1, "{arguments:?}: {error}");
    assert!(error.starts_with("ndjson-check: ") && error.len() < 400, "{arguments:?}: {error}");
    error
}

#[test]
fn misspellings_are_reported_on_one_plain_line() {
    for (arguments, expected) in [
        (
            ["--profle", "x"],
            "unexpected argument '--profle' found; a similar argument exists: \
            '--profile' (see --help)",
        ),
        (
            ["--profile", "claud"],
            "no such profile; a similar one is `claude`; `ndjson-check profiles` lists",
        ),
        (
            ["profiles", "codx"],
            "no such profile; a similar one is `codex`; `ndjson-check profiles` lists",
        ),
        (["rules", "truncated"], "lists them all; a similar one is `truncated-line` (see --help)"),
        (["--warn", "blankline"], "lists them all; a similar one is `blank-line` (see --help)"),
    ] {
        let error = refused(&arguments);
        assert!(error.contains(expected) && !error.contains('\\'), "{error}");
    }
}

#[test]
fn subcommands_refuse_what_they_do_not_know() {
    let wrong: [&[&str]; 12] = [
        &["rules", "no-such-rule"],
        &["rules", "blank-line", "invalid-json"],
        &["rules", "--strict"],
        &["profiles", "no-such-profile"],
        &["profiles", "--profile", "cursor"],
        &["profiles", "draft"],
        &["profiles", "draft", "no/such/file"],
        &["schema", "no-such-schema"],
        &["schema", "events", GOOD],
        &["schema", "--profile", "no-such-profile"],
        &["schema", "report", "--profile", "cursor"],
        &["schema", "profile", "--profile", "cursor"],
    ];
    for arguments in wrong {
        refused(arguments);
    }
}

#[test]
fn a_draft_takes_no_flag_of_a_check() {
    for flags in [
        &["--max-line-bytes", "1k"][..],
        &["--input-format", "json"],
        &["--engine", "fast"],
        &["--jobs", "2"],
        &["--to", "text"],
        &["--exit-grace", "1s"],
    ] {
        let error = refused(&[&["profiles", "draft", GOOD], flags].concat());
        assert!(error.contains("unexpected argument '--"), "{flags:?}: {error}");
    }
}

/// Goal: flags that became subcommands or have another name are not silently something else.
#[test]
fn former_flags_are_refused() {
    let former: [&[&str]; 11] = [
        &["--explain", "blank-line"],
        &["--list-rules"],
        &["--list-profiles"],
        &["--print-profile", "cursor"],
        &["--print-schema"],
        &["--infer", GOOD],
        &["--propagate", "--", "true"],
        &["--result-grace", "1s", "--", "true"],
        &["--input", "json", GOOD],
        &["--error", "blank-line", GOOD],
        &["--engine", "uncached", GOOD],
    ];
    for arguments in former {
        refused(arguments);
    }
}

#[test]
fn rules_are_listed_and_explained() {
    let list = printed(&["rules"]);
    assert!(list.starts_with("RULE "), "{list}");
    assert!(list.contains("\nunknown-tool                    off      warning"), "{list}");
    for row in list.lines().skip(1) {
        let name = row.split(' ').next().unwrap();
        assert!(printed(&["rules", name]).starts_with(&format!("# {name}\n")), "{name}");
    }
}

#[test]
fn schemas_are_printed() {
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let events = |name: &str| {
        let file = root().join(format!("crates/core/src/profile/builtin/{name}/schema.json"));
        json(&fs::read_to_string(file).unwrap())
    };
    assert_eq!(json(&printed(&["schema"])), events("cursor"));
    assert_eq!(json(&printed(&["schema", "events"])), events("cursor"));
    assert_eq!(json(&printed(&["schema", "--profile", "claude"])), events("claude"));
    assert_eq!(json(&printed(&["schema", "events", "--profile", "codex"])), events("codex"));
    assert_eq!(printed(&["schema", "profile"]), LANGUAGE);
    let report = fs::read_to_string(root().join("crates/formats/src/report.schema.json")).unwrap();
    assert_eq!(printed(&["schema", "report"]), report);
    assert_eq!(REPORT_SCHEMA, report);
}

/// Goal: completions and the manual page know every option of the help.
#[test]
fn completions_and_the_manual_page_are_printed() {
    let help = printed(&["--help"]);
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let options: BTreeSet<&str> = lines
        .filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")))
        .collect();
    assert!(options.len() > 30, "{options:?}");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = printed(&["completions", shell]);
        for option in &options {
            let name = option.trim_start_matches('-');
            assert!(script.contains(&format!("-l {name}")) || script.contains(option), "{shell}");
        }
    }
    let script = printed(&["completions", "bash"]);
    let commands: Vec<&str> =
        script.lines().filter_map(|it| it.trim().strip_prefix("cmd=\"")).collect();
    for command in commands.iter().filter_map(|it| it.strip_suffix('"')).filter(|it| !it.is_empty())
    {
        assert!(script.contains(&format!("        {command})\n")), "{command}");
    }
    assert!(commands.len() > 10, "{commands:?}");
    assert!(refused(&["completions", "no-such-shell"]).contains("invalid value"));
    let page = printed(&["man"]);
    assert!(page.contains(".TH ndjson-check 1"), "{page}");
    for option in &options {
        assert!(page.contains(&option.replace('-', "\\-")), "man, {option}");
    }
    assert!(page.contains("timed out"), "the exit codes: {page}");
}

/// Goal: a subcommand hides no file: `./rules` is always one, and so is `rules` after an option.
#[test]
fn a_file_may_be_named_like_a_subcommand() {
    let folder = tempfile::tempdir().unwrap();
    let good = fs::read(root().join(GOOD)).unwrap();
    for name in ["rules", "profiles", "schema", "completions", "man", "draft", "help", "rulez"] {
        fs::write(folder.path().join(name), &good).unwrap();
        let dotted = format!("./{name}");
        let mut spellings: Vec<Vec<&str>> = vec![vec![&dotted], vec!["--strict", name]];
        if ["draft", "help", "rulez"].contains(&name) {
            spellings.push(vec![name]);
        }
        for arguments in spellings {
            let mut program = program();
            let output = program.args(&arguments).current_dir(folder.path()).output().unwrap();
            let report = text(&output.stdout);
            assert!(report.contains(&format!("{name}  succeeded")), "{arguments:?}");
        }
    }
    assert!(refused(&["no-such-subcommand"]).contains("failed to read no-such-subcommand: "));
}

/// Goal: a list that is no list is reported with the reason, and not printed whole.
#[cfg(unix)]
#[test]
fn a_very_long_name_is_cut_before_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list");
    fs::write(&list, "x".repeat(3 << 20)).unwrap();
    let output = run(&["--files-from", list.to_str().unwrap()]);
    let error = text(&output.stderr);
    assert_eq!((code(&output), error.lines().count()), (2, 1));
    assert!(error.len() < 2_048 && error.contains("xxx…: "), "{error}");
}

#[test]
fn the_help_fits_a_terminal() {
    for (arguments, lines) in [
        (&["-h"][..], 24),
        (&["--help"], 145),
        (&["rules", "-h"], 24),
        (&["profiles", "--help"], 24),
        (&["profiles", "draft", "--help"], 24),
        (&["schema", "-h"], 24),
        (&["completions", "-h"], 24),
        (&["diff", "--help"], 24),
        (&["drift", "--help"], 24),
        (&["replay", "-h"], 30),
    ] {
        let help = printed(arguments);
        let wide: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
        assert_eq!(wide, [""; 0], "{arguments:?}");
        assert!(help.lines().count() <= lines, "{arguments:?}: {}", help.lines().count());
        assert!(help.lines().count() > 5, "{arguments:?}");
    }
}

#[test]
fn the_help_shows_what_it_should() {
    let (short, long) = (printed(&["-h"]), printed(&["--help"]));
    for subcommand in
        ["rules", "profiles", "schema", "merge", "diff", "drift", "completions", "man"]
    {
        let is_rare = ["merge", "diff", "drift", "completions", "man"].contains(&subcommand);
        assert_eq!(short.contains(&format!("\n  {subcommand} ")), !is_rare, "{short}");
        assert!(long.contains(&format!("\n  {subcommand} ")), "{long}");
    }
    for heading in ["Check", "Convert", "Run", "Files", "Report", "Exit codes"] {
        assert!(long.contains(&format!("\n{heading}:\n")), "{heading}: {long}");
    }
    for flag in ["--profile", "--strict", "--to", "--timeout", "--report", "--quiet"] {
        assert!(short.contains(flag) && long.contains(flag), "{flag}");
    }
    for flag in ["--deny", "--files-from", "--propagate-exit-code", "--exit-grace"] {
        assert!(!short.contains(flag) && long.contains(flag), "{flag}");
    }
    let usage = long.find("Usage: ndjson-check [OPTIONS] -- COMMAND [ARG]...").unwrap();
    let examples = long.find("\nExamples:\n").unwrap();
    assert!(usage < examples && examples < long.find("\nSubcommands:\n").unwrap(), "{long}");
    assert_eq!(long.lines().filter(|line| line.starts_with("    ndjson-check ")).count(), 3);
    // Each line can be understood alone.
    assert!(!long.contains("  Same") && !long.contains("  The same"), "{long}");
    assert!(!long.contains("--engine"), "{long}");
    // The parser breaks no line of the table once more.
    assert!(long.contains("\n    4  timed out\n  126  the command cannot be executed\n"), "{long}");
}

/// Goal: a script may add options to those that are there.
#[test]
fn a_rule_has_one_severity() {
    let output = run_on(&["--deny", "blank-line", "--deny", "blank-line"], b"");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let error = refused(&["--deny", "blank-line", "--allow", "blank-line"]);
    assert!(error.contains("blank-line has more than one severity"), "{error}");
}

//! What is typed wrongly, and the help for it.

use std::process::Output;

use crate::streams::{program, text};

const GOOD: &str = "fixtures/agents/cursor/plain.ndjson";

fn run(arguments: &[&str]) -> Output {
    program().args(arguments).output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

#[test]
fn slips_of_the_pen_are_told_on_one_plain_line() {
    for (arguments, told) in [
        (
            ["--profle", "x"],
            "unexpected argument '--profle' found; a similar argument exists: \
            '--profile' (see --help)",
        ),
        (["--profile", "claud"], "no such profile; a similar one is claude; built in: cursor, "),
        (["--print-profile", "codx"], "no such profile; a similar one is codex; built in: "),
        (["--explain", "truncated"], "names them all; a similar one is truncated-line (see "),
        (["--warn", "blankline"], "names them all; a similar one is blank-line (see --help)"),
    ] {
        let error = text(&run(&arguments).stderr);
        assert!(error.contains(told) && !error.contains('\\'), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn a_draft_takes_no_flag_of_a_check() {
    for flags in [
        &["--max-line-bytes", "1k"][..],
        &["--input", "json"],
        &["--engine", "fast"],
        &["--jobs", "2"],
        &["--to", "text", "--raw"],
        &["--only-valid"],
        &["--result-grace", "1s"],
    ] {
        let output = run(&[flags, &["--infer", GOOD]].concat());
        assert_eq!((code(&output), text(&output.stdout).as_str()), (2, ""), "{flags:?}");
        assert!(text(&output.stderr).contains("cannot be used with"), "{flags:?}");
    }
}

#[test]
fn the_help_fits_a_terminal() {
    for flag in ["-h", "--help"] {
        let help = text(&run(&[flag]).stdout);
        let wide: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
        assert_eq!(wide, [""; 0], "{flag}");
        // Nothing that we broke ourselves is broken once more.
        assert!(help.contains("\n  4  timed out\nWhen several apply: 2, 1, 4, 3, 0. "), "{help}");
    }
}

//! A message says what to do next.

use std::fs;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use crate::fake_agent::run;
use crate::streams::{program, root, run_on, text};

const GOOD: &str = "fixtures/agents/cursor/plain.ndjson";

fn run_in(folder: &Path, arguments: &[&str]) -> Output {
    program().current_dir(folder).args(arguments).output().unwrap()
}

/// What the program says about these arguments, which it refuses.
fn refused(arguments: &[&str]) -> String {
    let output = run_in(root(), arguments);
    assert!(matches!(output.status.code(), Some(2 | 126 | 127)), "{arguments:?}: {output:?}");
    let message = text(&output.stderr);
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

/// A folder with these files; an empty text is a good recording.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        match *content {
            "" => drop(fs::copy(root().join(GOOD), &file).unwrap()),
            content => fs::write(&file, content).unwrap(),
        }
    }
    folder
}

/// Goal: a time in another unit is not taken for months.
#[test]
fn a_time_has_the_documented_units() {
    for (arguments, hint) in [
        (&["--timeout", "10M"][..], "`M` is not a unit: write 10m for minutes"),
        (&["--idle-timeout", "1h30M"], "`M` is not a unit: write 30m for minutes"),
        (&["--call-timeout", "command=5M"], "`M` is not a unit: write 5m for minutes"),
        (&["--timeout", "90"], "the unit is missing: write 90s or 90m"),
        (&["--timeout", "5min"], "`min` is not a unit: write 5m"),
        (&["--exit-grace", "2w"], "`w` is not a unit: use ms, s, m, h or d, as in 1h30m"),
        (&["--timeout", "soon"], "must be a duration such as 30s, 10m or 1h30m"),
    ] {
        let message = refused(&[arguments, &["--", "true"]].concat());
        assert!(message.contains(hint), "{message}");
    }
    let output = run(&["--timeout", "1h30m", "--exit-grace", "0s"], &["emit", GOOD]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

/// Goal: a subcommand behind an option is not read as a file or a command.
#[test]
fn a_subcommand_comes_first() {
    for (arguments, meant) in [
        (
            &["--no-config", "drift", GOOD][..],
            "ndjson-check drift fixtures/agents/cursor/plain.ndjson; `drift` has no --no-config\n",
        ),
        (
            &["--report", "json", "-q", "diff", "a b", "c"],
            "ndjson-check diff --report json 'a b' c; `diff` has no -q\n",
        ),
        (
            &["--no-config", "replay", "claude", "plain", "--speed", "max"],
            "ndjson-check replay claude plain --speed max; `replay` has no --no-config\n",
        ),
        (&["--profile=cursor", "drift", GOOD], "ndjson-check drift --profile=cursor fixtures"),
    ] {
        let message = refused(arguments);
        assert!(message.contains(&format!("put the subcommand first: {meant}")), "{message}");
    }
    let folder = folder(&[("rules", "")]);
    assert_eq!(run_in(folder.path(), &["--no-config", "rules"]).status.code(), Some(0));
}

/// Goal: a configuration with another name is not passed over.
#[test]
fn a_configuration_with_another_name_is_refused() {
    for (name, content, message) in [
        (".ndjson-check.toml", "limits.calls = 0", "rename it to ndjson-check.toml, or name it"),
        ("ndjson-check.tml", "limits.calls = 0", "rename it to ndjson-check.toml"),
        ("ndjsoncheck.toml", "limits.calls = 0", "rename it to ndjson-check.toml"),
        ("ndjson-check.yaml", "limits:\n  calls: 0\n", "the configuration is TOML"),
        ("ndjson-check.json", "{\n  \"limits\": {\"calls\": 0}\n}\n", "the configuration is TOML"),
    ] {
        let folder = folder(&[("run.ndjson", ""), (name, content)]);
        let output = run_in(folder.path(), &["run.ndjson"]);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(&format!("{name} is not read: ")), "{error}");
        assert!(error.contains(message), "{error}");
        assert_eq!(run_in(folder.path(), &["--no-config", "run.ndjson"]).status.code(), Some(0));
        fs::write(folder.path().join("ndjson-check.toml"), "limits.calls = 0").unwrap();
        assert_eq!(run_in(folder.path(), &["run.ndjson"]).status.code(), Some(1));
    }
    // A report, and a workflow.
    for (name, content) in [
        ("ndjson-check.json", "{\"type\":\"summary\",\"limits\":1}\n"),
        ("ndjson-check.yml", "name: ci\non: push\njobs:\n  rules: x\n"),
    ] {
        let folder = folder(&[("run.ndjson", ""), (name, content)]);
        let output = run_in(folder.path(), &["run.ndjson"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
}

/// Goal: a directory hides no recording because of its name.
#[test]
fn other_names_of_recordings_are_found_or_named() {
    let event = "{\"type\":\"system\",\"subtype\":\"init\"}\n";
    let files = [
        ("runs/a.ndjson", ""),
        ("runs/B.NDJSON", ""),
        ("runs/bad.json", event),
        ("runs/bad.log", event),
        ("runs/c.TXT", event),
        ("runs/d.json", "[{\"type\":\"system\"}]"),
        ("runs/e.tar.gz", ""),
        ("runs/f.ndjson.1", event),
        ("runs/h", event),
        ("runs/LICENSE", "All is free.\n"),
        ("runs/notes.txt", "All is well.\n"),
        ("runs/report.json", "{\"type\":\"summary\",\"report_version\":1}\n"),
        ("runs/other/e.log", event),
    ];
    let folder = folder(&files);
    let output = run_in(folder.path(), &["runs"]);
    let (report, note) = (text(&output.stdout), text(&output.stderr));
    assert!(report.contains("✓ runs/B.NDJSON  succeeded"), "{report}");
    let expected = "ndjson-check: note: 6 files look like recordings, but are not checked: \
                    runs/bad.json, runs/bad.log, runs/c.TXT and 3 more; name them as arguments, \
                    or use the extension .ndjson\n";
    assert_eq!(note, expected);
    for arguments in [&["-q", "runs"][..], &["--report", "json", "runs"], &["runs/a.ndjson"]] {
        assert_eq!(text(&run_in(folder.path(), arguments).stderr), "", "{arguments:?}");
    }
    let output = run_in(folder.path(), &["runs/other"]);
    assert_eq!(output.status.code(), Some(2));
    let note = "note: 1 file looks like a recording, but is not checked: runs/other/e.log; ";
    assert!(text(&output.stderr).contains(note), "{output:?}");
}

/// Goal: a link to a directory that is checked anyway is not an error.
#[cfg(unix)]
#[test]
fn a_link_into_the_same_directory_is_no_error() {
    use std::os::unix::fs::symlink;
    let folder = folder(&[("runs/42/a.ndjson", ""), ("old/b.ndjson", "")]);
    symlink("42", folder.path().join("runs/latest")).unwrap();
    symlink(".", folder.path().join("runs/self")).unwrap();
    let output = run_in(folder.path(), &["runs"]);
    assert_eq!(text(&output.stderr), "");
    assert!(text(&output.stdout).starts_with("✓ runs/42/a.ndjson  succeeded"), "{output:?}");
    symlink("../old", folder.path().join("runs/other")).unwrap();
    let output = run_in(folder.path(), &["runs"]);
    assert!(text(&output.stderr).contains("runs/other: a link to a directory"), "{output:?}");
    assert_eq!(output.status.code(), Some(2));
}

/// Goal: a comparison of what has no event leads to the reason.
#[test]
fn a_recording_without_events_leads_to_the_reason() {
    let folder = folder(&[("run log.txt", "plain\n"), ("a.ndjson", "")]);
    for arguments in [&["diff", "a.ndjson", "run log.txt"][..], &["drift", "run log.txt"]] {
        let message = text(&run_in(folder.path(), arguments).stderr);
        let why = "it has no event; `ndjson-check 'run log.txt'` says why\n";
        assert!(message.ends_with(why), "{message}");
    }
    let recording = fs::read(root().join(GOOD)).unwrap();
    let both = text(&run_on(&["diff", "-", GOOD], &recording).stdout);
    assert!(both.starts_with("- standard input\n"), "{both}");
}

/// Goal: a glob that cannot match is repaired as it is meant.
#[test]
fn a_glob_is_repaired() {
    for (glob, advice) in [
        ("!src/**", "`!` does not negate a glob"),
        ("./src/**", "write it as `src/**`"),
        ("src/", "write it as `src/**`"),
        ("src//a.js", "write it as `src/a.js`"),
        ("../x", "outside the agent's directory, write an absolute path"),
        ("./", "write `**` for all files"),
        (".github/**/", "write it as `.github/**`"),
        (".github\\**", "write it as `.github/**`"),
        ("C:\\app\\*.lock", "write it as `C:/app/*.lock`"),
    ] {
        let folder =
            folder(&[("ndjson-check.toml", &*format!("expect.writes.never = ['{glob}']"))]);
        let message = text(&run_in(folder.path(), &["-"]).stderr);
        assert!(message.ends_with(&format!("`{glob}` matches no path: {advice}\n")), "{message}");
    }
}

/// Goal: a wrong value in the configuration is answered in words of the configuration.
#[test]
fn a_wrong_value_leads_to_the_right_one() {
    for (config, message) in [
        (
            "rules.blank-line = false",
            "invalid type: boolean `false`, expected \"error\", \"warning\" or \"off\"",
        ),
        ("rules.blank-line = \"warn\"", "a similar one is `warning`"),
        ("rules = [\"x\"]", "invalid type: array, expected a table"),
        (
            "limits.calls = 99999999999999999999",
            "a number that is too large, expected a whole number, 0 or more",
        ),
        ("limits.cost = 99999999999999999999", "a number that is too large, expected an amount"),
        ("limits.max-cost = 1", "unknown key `max-cost`; a similar one is `cost`"),
        (
            "expect.calls = [{ kind = \"write\", last = \"success\" }]",
            "unknown value `success`; the only one is `succeeded`",
        ),
    ] {
        let folder = folder(&[("ndjson-check.toml", config)]);
        let error = text(&run_in(folder.path(), &["-"]).stderr);
        assert!(error.contains(message), "{config}: {error}");
    }
}

/// Goal: files of another kind are named as what they are.
#[test]
fn other_files_are_named() {
    let message = refused(&["merge", GOOD]);
    let expected = "line 1: this is not a json report: `merge` reads what `--report json` writes\n";
    assert!(message.ends_with(expected), "{message}");
    let folder = folder(&[("schema.json", "{\"type\":\"objekt\"}")]);
    let message = text(&run_in(folder.path(), &["--schema", "schema.json", "-"]).stderr);
    assert!(message.contains("`\"objekt\"` is not valid at /type\n"), "{message}");
}

/// Goal: what is no command, and what is no file, leads to what is meant.
#[cfg(unix)]
#[test]
fn commands_and_files_are_distinguished() {
    for (arguments, hint) in [
        (&["--", "cd", "src"][..], "; it is a command of the shell: `-- bash -c 'LINE'`\n"),
        (&["--", "./src"], "; it is a directory\n"),
        (
            &["truncated-line"],
            "there is no file `truncated-line`; `ndjson-check rules truncated-line` explains this \
             rule\n",
        ),
        (
            &["--strict --max-cost=2", GOOD],
            "; write each option as a separate argument; in `args` of the action, one on each \
             line (see --help)\n",
        ),
    ] {
        let message = refused(arguments);
        assert!(message.ends_with(hint), "{message}");
    }
    let output = run_in(root(), &["fake", GOOD]);
    let message = "ndjson-check: failed to read fake: No such file or directory; a command to run \
                   comes after `--`\n";
    assert_eq!(text(&output.stderr), message);
    assert!(text(&output.stdout).contains("2 streams: 1 not checked, 1 passed"), "{output:?}");
}

/// Goal: a shell completes rules and profiles, and no option that the help hides.
#[test]
fn completions_have_names() {
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&run_in(root(), &["completions", shell]).stdout);
        assert!(!script.contains("engine"), "{shell}");
        for name in ["truncated-line", "claude", "max-cost", "propagate-exit-code", "auto"] {
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
}

/// Goal: all reports for people call standard input by the same name.
#[test]
fn standard_input_has_one_name() {
    let stream = fs::read(root().join(GOOD)).unwrap();
    let cut = &stream[..stream.len() / 2];
    for (format, of_one) in [
        ("human", "✗ "),
        ("markdown", "`standard input`"),
        ("junit", "classname=\"standard input\""),
        ("github", "::standard input:"),
        ("sarif", "\"standard input: "),
    ] {
        let report = |more: &[&str]| {
            let arguments = [&["--report", format][..], more].concat();
            text(&run_on(&arguments, cut).stdout)
        };
        assert!(report(&[]).contains(of_one), "{format}: {}", report(&[]));
        let many = report(&["--sessions", "many"]);
        assert!(many.contains("standard input#1"), "{format}: {many}");
        assert!(!many.contains("-#1"), "{format}: {many}");
    }
}

/// Goal: a page without events has no search.
#[test]
fn an_empty_page_has_no_search() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let target = format!("html={}", page.display());
    for (stream, has_search) in [(&b""[..], false), (&fs::read(root().join(GOOD)).unwrap(), true)] {
        run_on(&["-q", "--report", &target], stream);
        let written = fs::read_to_string(&page).unwrap();
        assert_eq!(written.contains("type=\"search\""), has_search);
    }
}

/// Goal: on a terminal that becomes narrower, the report has the new width, and the status line is
/// not padded to the old one.
#[cfg(target_os = "linux")]
#[test]
fn a_report_has_the_width_that_the_terminal_has_then() {
    use std::process::{Command, Stdio};
    let run = format!(
        "stty cols 120; (sleep 1.2; stty cols 60 </dev/tty) & {} --no-config --no-stdin \
         --to transcript -- sh -c 'head -3 {GOOD}; sleep 2; tail -n +4 {GOOD}'",
        crate::streams::PROGRAM
    );
    let mut script = Command::new("script");
    script.args(["-qec", &run, "/dev/null"]).env("SHELL", "/bin/sh").env("TERM", "xterm");
    script.env("NO_COLOR", "1");
    let output = script.current_dir(root()).stdin(Stdio::null()).output();
    let Ok(output) = output else { return crate::streams::is_absent("script") };
    let shown = text(&output.stdout);
    assert!(shown.contains("0:01  3 events"), "{shown:?}");
    assert!(!shown.contains("  \r"), "{shown:?}");
    let report = &shown[shown.rfind('✓').unwrap()..];
    assert!(report.contains("Cursor CLI") && report.lines().count() > 1, "{report:?}");
    for line in report.lines() {
        assert!(line.trim_end().chars().count() <= 60, "{line:?}");
    }
}

/// Goal: who reads an empty pipe learns where to look; in run mode standard error was read.
#[test]
fn an_empty_stream_leads_to_standard_error() {
    let note = "note: the agent's standard error may say why\n";
    let report = text(&run_on(&[], b"").stdout);
    assert!(report.ends_with(note), "{report}");
    let report = text(&run(&[], &[]).stdout);
    assert!(report.contains("the stream is empty") && !report.contains("note:"), "{report}");
}

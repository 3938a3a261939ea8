//! The GitHub action: its script is run as the runner of GitHub would run it.

// The step is a script for bash.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::packages::target;
use crate::streams::{PROGRAM, root, text};

/// What a step leaves behind.
struct Step {
    code: Option<i32>,
    log: String,
    outputs: String,
    summary: String,
}

impl Step {
    fn output(&self, name: &str) -> &str {
        let value = |line| str::strip_prefix(line, name).and_then(|it| it.strip_prefix('='));
        // GitHub takes the last one.
        self.outputs.lines().rev().find_map(value).unwrap_or("-")
    }
}

/// The inputs of `action.yml`, each with its default.
fn inputs() -> Vec<(String, String)> {
    let action = fs::read_to_string(root().join("action.yml")).unwrap();
    let (_, inputs) = action.split_once("\ninputs:\n").unwrap();
    let (inputs, rest) = inputs.split_once("\noutputs:\n").unwrap();
    let mut found: Vec<(String, String)> = Vec::new();
    for line in inputs.lines() {
        if let Some(default) = line.strip_prefix("    default: ") {
            default.trim_matches('"').clone_into(&mut found.last_mut().unwrap().1);
        } else if let Some(name) = line.strip_prefix("  ").filter(|it| !it.starts_with(' ')) {
            found.push((name.trim_end_matches(':').to_owned(), String::new()));
        }
    }
    for (name, _) in &found {
        let variable = format!("{}: ${{{{ inputs.{name} }}}}", variable(name));
        assert_eq!(rest.matches(&variable).count(), 1, "{variable}");
    }
    assert_eq!(rest.matches("${{ inputs.").count(), found.len(), "only in `env`");
    found
}

fn variable(input: &str) -> String {
    format!("INPUT_{}", input.to_uppercase().replace('-', "_"))
}

/// Runs the step with these inputs; `set` adds to its environment.
fn step_with(given: &[(&str, &str)], set: &[(&str, &str)], folder: &Path) -> Step {
    let file = |name: &str| folder.join(name);
    let mut bash = Command::new("bash");
    bash.arg(root().join("action/entrypoint.sh")).current_dir(root());
    for (name, default) in inputs() {
        bash.env(variable(&name), default);
    }
    for (name, value) in given {
        assert!(inputs().iter().any(|it| it.0 == *name), "{name}");
        bash.env(variable(name), value);
    }
    for name in ["output", "summary"] {
        fs::write(file(name), "").unwrap();
    }
    bash.env("GITHUB_OUTPUT", file("output")).env("GITHUB_STEP_SUMMARY", file("summary"));
    bash.env("GITHUB_ACTIONS", "true").env("GITHUB_WORKSPACE", root()).env("RUNNER_TEMP", folder);
    bash.envs(set.iter().copied());
    let output = bash.output().unwrap();
    clean_up(folder);
    Step {
        code: output.status.code(),
        log: text(&output.stdout) + &text(&output.stderr),
        outputs: fs::read_to_string(file("output")).unwrap(),
        summary: fs::read_to_string(file("summary")).unwrap(),
    }
}

/// Runs the last step of the action.
fn clean_up(folder: &Path) {
    let action = fs::read_to_string(root().join("action.yml")).unwrap();
    let (_, last) =
        action.rsplit_once("\n    - if: always()\n      shell: bash\n      run: ").unwrap();
    let mut bash = Command::new("bash");
    let status = bash.args(["-e", "-c", last]).env("RUNNER_TEMP", folder).status();
    assert!(status.unwrap().success(), "{last}");
}

fn step(given: &[(&str, &str)]) -> Step {
    step_with(given, &[("NDJSON_CHECK_BIN", PROGRAM)], TempDir::new().unwrap().path())
}

const GOOD: &str = "fixtures/agents/cursor/plain.ndjson";

/// Goal: the step is red when it should be, and says the same in its outputs.
#[test]
fn the_step_tells_what_became_of_the_run() {
    let run = |script: &'static str| ("run", script);
    for (input, code, verdict, outcome) in [
        (("file", GOOD), 0, "conforming", "succeeded"),
        (("file", "fixtures/agents/claude/array.ndjson"), 0, "conforming", "succeeded"),
        (("file", "fixtures/agents/cursor/is-error.ndjson"), 3, "conforming", "failed"),
        (run("cat fixtures/agents/cursor/plain.ndjson"), 0, "conforming", "succeeded"),
        (run("head -3 fixtures/agents/cursor/plain.ndjson"), 1, "non-conforming", "truncated"),
        (run("false | head -3 fixtures/agents/cursor/plain.ndjson"), 3, "conforming", "failed"),
        (run("echo 'not allowed' >&2\nexit 7\necho never"), 3, "conforming", "failed"),
        (run("true"), 1, "non-conforming", "truncated"),
    ] {
        let step = step(&[input]);
        assert_eq!(step.code, Some(code), "{input:?}: {}", step.log);
        assert_eq!(step.output("exit-code"), code.to_string(), "{input:?}: {}", step.outputs);
        assert_eq!(step.output("passed"), (code == 0).to_string(), "{input:?}");
        assert_eq!(step.output("verdict"), verdict, "{input:?}");
        assert_eq!(step.output("outcome"), outcome, "{input:?}");
        let mark = if code == 0 { "## ✓ " } else { "## ✗ " };
        assert!(step.summary.contains(mark), "{input:?}: {}", step.summary);
    }
}

#[test]
fn a_step_with_nothing_to_check_is_red() {
    for given in [vec![], vec![("run", "true"), ("file", GOOD)]] {
        let step = step(&given);
        assert_eq!((step.code, step.output("verdict")), (Some(2), "not-checked"), "{}", step.log);
        assert!(step.log.starts_with("::error title=ndjson-check::"), "{}", step.log);
    }
    for given in [("config", "no-such-file.toml"), ("args", "--no-such-option")] {
        let step = step(&[("file", GOOD), given]);
        assert_eq!((step.code, step.output("verdict")), (Some(2), "not-checked"), "{}", step.log);
        assert_eq!(step.output("exit-code"), "2");
        assert!(step.log.contains("\n::error title=ndjson-check::"), "{}", step.log);
    }
    // Neither an option nor a subcommand.
    for file in ["--help", "rules", "no/such/file.ndjson"] {
        assert_eq!(step(&[("file", file)]).code, Some(2), "{file}");
    }
}

/// Goal: on a Windows runner the script is run by the Bash of Git.
/// Method: its `uname` and `cygpath`, in front of the others.
#[test]
fn on_windows_the_step_runs_the_bash_that_is_there() {
    let folder = TempDir::new().unwrap();
    for (name, script) in [("uname", "echo MINGW64_NT-10.0"), ("cygpath", "echo \"$2\"")] {
        let file = folder.path().join(name);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        assert!(Command::new("chmod").arg("+x").arg(file).status().unwrap().success());
    }
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", folder.path().display());
    let set = [("NDJSON_CHECK_BIN", PROGRAM), ("PATH", &path)];
    let step = step_with(&[("run", &format!("cat {GOOD}"))], &set, folder.path());
    assert_eq!(step.code, Some(0), "{}", step.log);
    assert!(step.log.contains("✓ bash  succeeded"), "{}", step.log);
}

/// Goal: reports name the agent, and nothing is left behind.
#[test]
fn a_run_has_the_name_of_its_program() {
    for (script, name) in [
        ("head -2 fixtures/agents/cursor/plain.ndjson", "head"),
        ("\n # the agent\n  /usr/bin/env cat fixtures/agents/cursor/plain.ndjson\ntrue", "env"),
        ("\"/usr/bin/env\" cat fixtures/agents/cursor/plain.ndjson", "env"),
        ("cd fixtures && cat agents/cursor/plain.ndjson", "bash"),
        ("if true; then echo; fi", "bash"),
        ("A=1 cat fixtures/agents/cursor/plain.ndjson", "bash"),
        ("sh -c 'exit 3'", "bash"),
        ("no-such-agent --print", "no-such-agent"),
        ("$AGENT ../* `x`", "bash"),
        ("[[ a == b ]]", "bash"),
    ] {
        let folder = TempDir::new().unwrap();
        let program = [("NDJSON_CHECK_BIN", PROGRAM)];
        let step = step_with(&[("run", script)], &program, folder.path());
        assert!(step.summary.contains(&format!("\n`{name}` · ")), "{script}: {}", step.summary);
        let left = fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name());
        let mut left: Vec<_> = left.collect();
        left.sort();
        assert_eq!(left, ["output", "summary"], "{script}");
    }
    let step = step(&[("run", "no-such-agent --print")]);
    let why = "::no-such-agent: failed before its first event: ";
    assert!(step.log.contains(why), "{}", step.log);
}

#[test]
fn inputs_become_options() {
    let folder = TempDir::new().unwrap();
    let recording = folder.path().join("run of $HOME.ndjson");
    let script = format!("IFS= read -r line || cat '{GOOD}'");
    let step = step(&[
        ("run", &script),
        ("recording", recording.to_str().unwrap()),
        ("timeout", "1m"),
        ("args", "--max-calls=1\n\n--warn\nlimit-exceeded\n"),
    ]);
    assert_eq!(step.code, Some(0), "{}", step.log);
    assert!(step.log.contains("Edited file src/cart.js"), "{}", step.log);
    assert!(step.log.contains("warning[limit-exceeded]"), "{}", step.log);
    assert_eq!(fs::read(recording).unwrap(), fs::read(root().join(GOOD)).unwrap());
    let quiet = self::step(&[("file", GOOD), ("summary", "false"), ("args", "; exit 9")]);
    assert_eq!((quiet.code, quiet.summary.as_str()), (Some(2), ""), "{}", quiet.log);
    let quiet = self::step(&[("file", GOOD), ("summary", "false")]);
    assert_eq!((quiet.code, quiet.summary.as_str()), (Some(0), ""), "{}", quiet.log);
}

/// Goal: options are understood as people write them.
#[test]
fn options_may_have_spaces_around_them() {
    let folder = TempDir::new().unwrap();
    let report = folder.path().join("r.xml");
    let report = report.to_str().unwrap();
    for args in [
        "--max-calls 1\r\n --warn   limit-exceeded \r\n",
        "\t--max-calls=1\n--warn=limit-exceeded",
        &format!("# reports\n--report junit={report}\n--max-calls 1\n--warn limit-exceeded"),
        &format!("--report=junit={report}\n--max-calls=1\n--warn=limit-exceeded"),
    ] {
        let step = step(&[("file", GOOD), ("args", args)]);
        assert_eq!(step.code, Some(0), "{}", step.log);
        assert!(step.log.contains("warning[limit-exceeded]"), "{}", step.log);
        let has_report = fs::remove_file(report).is_ok();
        assert_eq!(has_report, args.contains("--report"), "{args}");
    }
}

/// Goal: without a summary of ours, the script of the user may write its own.
#[test]
fn the_script_keeps_the_summary_of_its_job() {
    let script = format!("echo mine >> \"$GITHUB_STEP_SUMMARY\"\ncat '{GOOD}'\necho $LINENO >&2");
    let step = step(&[("run", &script), ("summary", "false")]);
    assert_eq!((step.code, step.summary.as_str()), (Some(0), "mine\n"), "{}", step.log);
    assert!(step.log.contains("\n3\n") || step.log.starts_with("3\n"), "{}", step.log);
}

/// Goal: the page of a run is written where the upload looks for it, and no name forges an output.
#[test]
fn a_page_is_written_for_the_upload() {
    let folder = TempDir::new().unwrap();
    let page = folder.path().join("of the run.html");
    let given = [("file", GOOD), ("report", page.to_str().unwrap())];
    let set = [("NDJSON_CHECK_BIN", PROGRAM), ("GITHUB_JOB", "nightly")];
    let step = step_with(&given, &set, folder.path());
    assert_eq!(step.code, Some(0), "{}", step.log);
    assert!(fs::read_to_string(step.output("page-file")).unwrap().contains("<title>succeeded"));
    assert!(step.output("page").starts_with("of the run.html-nightly-"), "{}", step.outputs);
    assert_eq!(step.output("page-folder"), page.with_extension("pages").to_str().unwrap());
    for name in ["run.txt", "a.html\nverdict=x.html", "$HOME.html"] {
        let step = self::step(&[("file", GOOD), ("report", name)]);
        assert_eq!((step.code, step.output("verdict")), (Some(2), "not-checked"), "{name}");
    }
    let action = fs::read_to_string(root().join("action.yml")).unwrap();
    for name in ["page", "page-file", "page-folder"] {
        assert!(action.contains(&format!("steps.check.outputs.{name} ")), "{name}");
    }
}

/// Goal: no release runs that is not the one that was published.
#[test]
fn a_download_must_have_its_checksum() {
    let version = env!("CARGO_PKG_VERSION");
    let folder = TempDir::new().unwrap();
    let name = format!("ndjson-check-{version}-{}", target());
    let releases = folder.path().join(format!("v{version}"));
    fs::create_dir_all(releases.join(&name)).unwrap();
    fs::write(releases.join(&name).join("ndjson-check"), "#!/bin/sh\necho \"ours: $*\"\n").unwrap();
    let shell = |script: &str| {
        let mut shell = Command::new("sh");
        let status = shell.args(["-c", script, "sh", &name]).current_dir(&releases).status();
        assert!(status.unwrap().success(), "{script}");
    };
    shell("chmod +x $1/ndjson-check && tar -czf $1.tar.gz $1");
    let download = || {
        let mirror = format!("file://{}", folder.path().display());
        let temporary = TempDir::new().unwrap();
        let given = [("file", "run.ndjson"), ("version", version), ("profile", "claude")];
        step_with(&given, &[("NDJSON_CHECK_RELEASES", &mirror)], temporary.path())
    };
    shell("(sha256sum $1.tar.gz || shasum -a 256 $1.tar.gz) > $1.tar.gz.sha256");
    let step = download();
    assert_eq!(step.log, "ours: --report human --report github --profile=claude ./run.ndjson\n");
    for spoilt in ["sed -i.old 's/^./g/' $1.tar.gz.sha256", ": > $1.tar.gz.sha256", "rm $1.*256"] {
        shell(spoilt);
        let step = download();
        assert_eq!((step.code, step.output("exit-code")), (Some(2), "2"), "{}", step.log);
        assert!(!step.log.contains("ours"), "{}", step.log);
    }
}

/// Goal: the action passes on why a run failed, and tries it again if it is asked to.
#[test]
fn the_step_says_why_a_run_failed_and_tries_it_again() {
    let outputs = fs::read_to_string(root().join("action.yml")).unwrap();
    for name in ["reason", "retryable", "retry-after", "session-id", "model"] {
        let value = format!("value: ${{{{ steps.check.outputs.{name} }}}}");
        assert_eq!(outputs.matches(&value).count(), 1, "{name}");
    }
    let error = concat!(
        r#"{"type":"error","timestamp":2,"sessionID":"s","error":{"name":"APIError","#,
        r#""data":{"message":"no","statusCode":429,"responseHeaders":{"retry-after":"0"}}}}"#
    );
    let script = format!("echo '{error}'\nexit 1");
    let folder = TempDir::new().unwrap();
    let recording = folder.path().join("run.{attempt}.ndjson");
    let recording = recording.to_str().unwrap();
    let given = [("run", &*script), ("args", "--retries=1"), ("recording", recording)];
    let step = step_with(&given, &[("NDJSON_CHECK_BIN", PROGRAM)], folder.path());
    assert_eq!(step.code, Some(3), "{}", step.log);
    let said = ["reason", "retryable", "retry-after", "session-id"].map(|name| step.output(name));
    assert_eq!(said, ["rate-limit", "later", "0", "s"], "{}", step.outputs);
    for attempt in ["run.1.ndjson", "run.2.ndjson"] {
        assert_eq!(fs::read_to_string(folder.path().join(attempt)).unwrap(), format!("{error}\n"));
    }
}

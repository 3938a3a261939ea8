//! What is written where: reports and copies that fail or are refused, errors that name a stream.

#![cfg(unix)]

use std::fs;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::streams::{PROGRAM, root, run_on, text};

const GOOD: &str = "fixtures/agents/cursor/plain.ndjson";

/// Runs a shell command in which `$P` is the program and `$G` a good stream.
fn shell(command: &str) -> Output {
    let mut shell = Command::new("bash");
    shell.args(["-c", command]).env("P", PROGRAM).env("G", GOOD).current_dir(root());
    shell.stdin(Stdio::null()).output().unwrap()
}

/// Goal: a stream that cannot be read is in the report, also if it would have been timed.
#[test]
fn a_closed_standard_input_does_not_lose_the_report() {
    for flags in ["--timeout 5s", "--idle-timeout 5s", ""] {
        let output = shell(&format!("$P --report json {flags} <&-"));
        let report = text(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{flags}: {report}");
        let last: Value = serde_json::from_str(report.lines().last().unwrap()).unwrap();
        assert_eq!((&last["type"], &last["not_checked"]), (&"summary".into(), &1.into()));
        let error = text(&output.stderr);
        assert!(
            error.starts_with("ndjson-check: nothing to check in standard input: "),
            "{flags}: {error}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report");
    let output = shell(&format!("$P --report json={} <&-", file.display()));
    assert_eq!(output.status.code(), Some(2));
    assert!(fs::read_to_string(&file).unwrap().contains("\"summary\""));
}

/// Goal: an output does not replace a file that a profile or the configuration names.
#[test]
fn the_files_of_a_profile_and_of_the_configuration_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str| folder.path().join(name);
    let minimal = root().join("fixtures/profiles/minimal");
    for name in ["schema.json", "good.ndjson"] {
        fs::copy(minimal.join(name), of(name)).unwrap();
    }
    fs::copy(minimal.join("profile.json"), of("base.json")).unwrap();
    fs::write(of("own.json"), r#"{ "extends": "base.json", "name": "own" }"#).unwrap();
    fs::write(of("answer.json"), "true").unwrap();
    let config = "profile = \"own.json\"\n[expect]\nanswer = { schema = \"answer.json\" }\n";
    fs::write(of("ndjson-check.toml"), config).unwrap();
    for name in ["own.json", "base.json", "schema.json", "answer.json", "ndjson-check.toml"] {
        let before = fs::read(of(name)).unwrap();
        for option in ["--tee=", "--report=json="] {
            let mut command = Command::new(PROGRAM);
            command.arg(format!("{option}{name}")).arg("good.ndjson").current_dir(&folder);
            let output = command.output().unwrap();
            let error = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{option}{name}: {error}");
            assert!(error.contains(&format!("{name} would replace its own input")), "{error}");
            assert_eq!(fs::read(of(name)).unwrap(), before, "{option}{name}");
        }
    }
}

/// Goal: the files of a GitHub job are appended to, and nothing replaces them.
/// Method: a file that ends in the middle of a line; a report and a copy to the same file.
#[test]
fn the_files_of_a_job_keep_what_is_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("job");
    for variable in ["GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"] {
        let of_job = |arguments: &str| {
            fs::write(&file, "before").unwrap();
            let path = file.display();
            let job = format!("export GITHUB_ACTIONS=true {variable}={path} F={path};");
            let output = shell(&format!("{job} $P {arguments}"));
            (output.status.code(), fs::read_to_string(&file).unwrap(), text(&output.stderr))
        };
        let (code, written, _) = of_job("$G");
        assert!(code == Some(0) && written.starts_with("before\n"), "{variable}: {written}");
        for option in ["--report=json=$F", "--report=markdown=$F", "--tee=$F"] {
            let (code, written, error) = of_job(&format!("{option} $G"));
            assert!(code == Some(2) && written.starts_with("before\n"), "{option}: {written}");
            assert!(error.contains("job would be written twice"), "{option}: {error}");
        }
        let (code, ..) = of_job("--report=markdown $G >> $F");
        assert_eq!(code, Some(0), "{variable}");
    }
}

/// Goal: the exit code in a report is the one that the program ends with.
/// Method: the folder of another report is removed while the stream is read.
#[test]
fn the_reported_exit_code_knows_of_a_report_that_cannot_be_written() {
    for other in ["human", "json"] {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        fs::create_dir(&gone).unwrap();
        let gone = gone.display();
        // The program has opened its reports when it reads the first line.
        let output = shell(&format!(
            "mkfifo {0}.fifo; $P --report json --report {other}={gone}/x < {0}.fifo & \
             exec 3>{0}.fifo; head -1 $G >&3; sleep 1; rmdir {gone}; tail -n +2 $G >&3; \
             exec 3>&-; wait $!",
            folder.path().join("f").display()
        ));
        let report = text(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{other}: {report}");
        let last: Value = serde_json::from_str(report.lines().last().unwrap()).unwrap();
        assert_eq!(last["exit_code"], 2, "{other}: {report}");
        let error = text(&output.stderr);
        assert!(!error.contains(".ndjson-check-"), "{error}");
    }
}

/// Goal: who reads the beginning of a report only does not change the exit code.
/// Method: a report that is longer than a pipe, and one that fits; the reader closes at once, and
/// after a line.
#[test]
fn a_reader_may_close_the_report() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..600 {
        let bad = root().join("fixtures/agents/claude/killed.ndjson");
        fs::copy(bad, folder.path().join(format!("{number}.ndjson"))).unwrap();
    }
    let many = folder.path().display();
    for (stream, code) in [(GOOD, "0"), (&many.to_string(), "1")] {
        for reader in ["head -1 > /dev/null", "true", "exec 0<&-"] {
            for format in ["human", "json", "markdown"] {
                let output = shell(&format!(
                    "$P --report {format} {stream} | ({reader}); echo ${{PIPESTATUS[0]}}"
                ));
                let shown = text(&output.stdout);
                assert_eq!(shown.lines().last(), Some(code), "{format}, {reader}: {shown}");
                assert_eq!(text(&output.stderr), "");
            }
        }
    }
    for command in ["rules", "rules blank-line", "schema", "man", "--help"] {
        let output = shell(&format!("$P {command} | true; echo ${{PIPESTATUS[0]}}"));
        assert_eq!(text(&output.stdout), "0\n", "{command}");
        assert_eq!(text(&output.stderr), "");
    }
}

/// Goal: no raw escape sequence reaches a terminal, by whatever flag.
#[test]
#[cfg(target_os = "linux")]
fn a_copy_never_goes_to_a_terminal() {
    let command = format!("{PROGRAM} --tee /dev/stdout {GOOD}");
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(root()).stdin(Stdio::null());
    let Ok(output) = script.output() else { return };
    let sent = text(&output.stdout);
    assert!(sent.contains("--tee would send control characters to a terminal"), "{sent:?}");
    assert!(!sent.contains("{\"type\""), "{sent:?}");
}

/// Goal: each error in checking a stream names the stream.
#[test]
fn errors_name_their_stream() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("schema.json");
    fs::write(&schema, r#"{"properties": {"type": {"pattern": "^(?!x)(a|aa)+(?=z)$"}}}"#).unwrap();
    let line = format!("{{\"type\":\"{}\"}}\n", "a".repeat(200));
    let flags = ["--profile", "jsonl", "--schema", schema.to_str().unwrap()];
    let output = run_on(&flags, line.as_bytes());
    let error = text(&output.stderr);
    assert!(
        error.starts_with("ndjson-check: standard input: failed to use the schema "),
        "{error}"
    );

    let codex = "fixtures/agents/codex";
    let output = shell(&format!("$P --to json {codex}/tools.ndjson {codex}/two-turns.ndjson"));
    let error = text(&output.stderr);
    for name in ["tools", "two-turns"] {
        assert!(error.contains(&format!("{codex}/{name}.ndjson: profile codex ")), "{error}");
    }
}

/// Goal: the json report names the bytes that were read, however they come.
/// Method: the hash by `sha256sum`, of a file, of standard input, of one JSON array, of a broken
/// stream, of a command and of a stream that is redacted.
#[test]
fn the_json_report_has_the_hash_of_the_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let array = folder.path().join("array.json");
    let elements: Vec<Value> = fs::read_to_string(root().join(GOOD))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    fs::write(&array, serde_json::to_string_pretty(&elements).unwrap()).unwrap();
    let broken = folder.path().join("broken.ndjson");
    fs::write(
        &broken,
        b"\xef\xbb\xbf{\"type\":\"result\",\"session_id\":1,\"request_id\":1}\r\n\n{\"type\":\xff",
    )
    .unwrap();
    for file in [GOOD.into(), array.display().to_string(), broken.display().to_string()] {
        let expected = shell(&format!("(sha256sum || shasum -a 256) < {file}"));
        let expected = text(&expected.stdout).split_whitespace().next().unwrap().to_owned();
        for command in [
            format!("$P --report json {file} {file}"),
            format!("cat {file} | $P --report json"),
            format!("$P --report json --redact secrets {file}"),
            format!("$P --report json -- cat {file}"),
        ] {
            let report = text(&shell(&command).stdout);
            let mut streams = 0;
            for line in report.lines() {
                let line: Value = serde_json::from_str(line).unwrap();
                if line["type"] == "stream" {
                    streams += 1;
                    assert_eq!(line["sha256"], *expected, "{command}");
                }
            }
            assert!(streams > 0, "{command}: {report}");
        }
    }
}

/// Goal: what is written to a closed output is never a success, and what writes nothing is.
#[test]
#[cfg(target_os = "linux")]
fn an_output_that_is_closed_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let shown = file.display();
    let agent = format!("sh -c 'cat {GOOD}; echo $$ > {shown}'");
    let lost = [
        format!("$P {GOOD} >&-"),
        format!("$P --to text -q {GOOD} >&-"),
        format!("$P --to stream-json -q {GOOD} >&-"),
        format!("$P -- {agent} >&-"),
        "$P rules >&-".to_owned(),
    ];
    for command in lost {
        let output = shell(&command);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}");
        let expected = "ndjson-check: failed to write to standard output: it is closed\n";
        assert_eq!(error, expected, "{command}");
    }
    // The agent ran to its end.
    assert!(crate::processes::is_gone(crate::processes::pid_in(&file)));
    let rows = [
        (format!("$P --report=json={shown} -q {GOOD} >&-"), 0),
        (format!("$P {GOOD} >/dev/null"), 0),
        (format!("$P {GOOD} 2>&-"), 0),
        (format!("$P --to answer {GOOD} 2>&-"), 2),
        ("$P no/such/file 2>&-".to_owned(), 2),
    ];
    for (command, expected) in rows {
        assert_eq!(shell(&command).status.code(), Some(expected), "{command}");
    }
    assert!(fs::read_to_string(&file).unwrap().contains("\"exit_code\":0"));
}

/// Goal: a command that cannot be started does not cost the copy of the last run.
#[test]
fn a_copy_stays_until_the_next_stream_begins() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("run.ndjson");
    let tee = format!("$P -q --no-stdin --tee {}", copy.display());
    for (arguments, code, kept) in [
        ("missing.ndjson", 2, "the last run\n"),
        ("-- ./no-such-agent", 127, "the last run\n"),
        ("-- true", 1, ""),
    ] {
        fs::write(&copy, "the last run\n").unwrap();
        let output = shell(&format!("{tee} {arguments}"));
        assert_eq!(output.status.code(), Some(code), "{arguments}: {}", text(&output.stderr));
        assert_eq!(fs::read_to_string(&copy).unwrap(), kept, "{arguments}");
    }
}

/// Goal: a report follows a symbolic link whose target does not exist yet.
#[test]
fn a_report_goes_where_a_link_points() {
    let folder = tempfile::tempdir().unwrap();
    let (link, target) = (folder.path().join("latest.json"), folder.path().join("today.json"));
    std::os::unix::fs::symlink("today.json", &link).unwrap();
    let output = shell(&format!("$P -q --report json={} $G", link.display()));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(link.is_symlink());
    assert!(fs::read_to_string(target).unwrap().contains("\"type\":\"summary\""));
}

/// Goal: a link whose target does not exist hides no file that is written twice.
#[test]
fn a_link_hides_no_file_that_is_written_twice() {
    let folder = tempfile::tempdir().unwrap();
    let (link, target) = (folder.path().join("link"), folder.path().join("run.ndjson"));
    std::os::unix::fs::symlink("run.ndjson", &link).unwrap();
    let (link, target) = (link.display(), target.display());
    let output = shell(&format!("$P --report json={link} --tee {target} $G"));
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("would be written twice"), "{}", text(&output.stderr));
}

/// Goal: a report goes to our own standard streams and to the pipes of a shell by their names.
#[test]
fn a_report_goes_to_a_pipe_by_its_name() {
    let json = "\"type\":\"summary\"";
    for (command, of_stdout, of_stderr) in [
        ("$P --report json=/dev/stdout $G | cat", json, ""),
        ("$P --report json=/proc/self/fd/1 $G | cat", json, ""),
        ("$P --report json=/dev/stderr $G 2>&1 >/dev/null | cat", json, ""),
        ("$P --report human=/dev/stderr $G | cat", "succeeded", "✓ "),
        ("$P -q --report json=>(cat) $G; sleep 0.5", json, ""),
        ("$P -q --write-baseline /dev/stdout $G | cat", "\"findings\"", ""),
    ] {
        let output = shell(&format!("set -o pipefail; {command}"));
        let (report, error) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{command}: {error}");
        assert!(report.contains(of_stdout) && error.contains(of_stderr), "{command}: {report}");
    }
    let output = shell("$P --write-baseline - $G");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--write-baseline needs a file"));
    let output = shell("$P --report json=/dev/stdout $G");
    assert!(text(&output.stdout).starts_with("{\"type\":\"stream\""), "nothing else is there");
    // A file that standard error already goes to keeps what is in it.
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log").display().to_string();
    let output =
        shell(&format!("{{ echo begin >&2; $P -q --report json=/dev/stderr $G; }} 2>{log}"));
    assert_eq!(output.status.code(), Some(0));
    let log = fs::read_to_string(log).unwrap();
    assert!(log.starts_with("begin\n") && log.contains(json), "{log}");
}

/// Goal: where standard error is a socket, as below Node, it is written, too.
#[test]
fn a_report_goes_to_a_socket() {
    use std::io::Read as _;
    use std::os::fd::OwnedFd;
    let (mut ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(["-q", "--report", "json=/dev/stderr", GOOD]).current_dir(root());
    command.stdin(Stdio::null()).stderr(Stdio::from(OwnedFd::from(theirs)));
    assert_eq!(command.output().unwrap().status.code(), Some(0));
    drop(command);
    let mut report = String::new();
    ours.read_to_string(&mut report).unwrap();
    assert!(report.contains("\"type\":\"summary\""), "{report}");
}

/// Goal: only a report that was written is named below the human one.
#[test]
fn a_report_that_failed_is_not_named() {
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("run.json").display().to_string();
    let output = shell(&format!("$P --report json=/dev/full --report junit={good} $G"));
    let report = text(&output.stdout);
    assert_eq!(output.status.code(), Some(2), "{report}");
    assert!(report.ends_with(&format!("\njunit report: {good}\n")), "{report}");
    assert!(!report.contains("/dev/full"), "{report}");
    assert!(text(&output.stderr).contains("failed to write to /dev/full"), "{output:?}");
}

/// Goal: two runs at once do not mix their recordings.
#[test]
fn a_copy_has_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    let tee = format!("$P -q --no-stdin --tee {}", copy.display());
    let first = format!("{tee} -- sh -c 'cat {GOOD}; touch {0}.begun; sleep 3'", copy.display());
    let second = format!("until [ -e {}.begun ]; do :; done; {tee} -- cat {GOOD}", copy.display());
    let output = shell(&format!("{first} & {second}; echo $?; wait $!; echo $?"));
    assert_eq!(text(&output.stdout), "2\n0\n");
    let says = "another process has locked";
    assert!(text(&output.stderr).contains(says), "{}", text(&output.stderr));
    assert_eq!(fs::read(&copy).unwrap(), fs::read(root().join(GOOD)).unwrap());
    assert_eq!(shell(&format!("{tee} -- cat {GOOD}")).status.code(), Some(0));
}

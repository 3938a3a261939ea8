//! Redaction, through the program and the library.

use std::collections::BTreeSet;
use std::fs;

use ndjson_check::Redactor;
use serde_json::Value;

use crate::streams::{by_flags, cases, files, program, root, run_on, shared, some_cases, text};

/// Made at run time, so that this file contains no secret.
fn secret() -> String {
    format!("{}{}{}", "gh", "p_", "aB3dE".repeat(8))
}

/// A stream of Cursor in which a secret is everywhere: in deltas, whole texts, arguments, results.
fn planted() -> Vec<u8> {
    let secret = secret();
    let stream = fs::read_to_string(root().join("fixtures/agents/cursor/plain.ndjson")).unwrap();
    let stream = stream
        .replace("Now the tests once more.", &format!("Now {secret} once more."))
        .replace("All four cart tests pass", &format!("All four {secret} pass"))
        .replace("npm test -- cart", &format!("TOKEN={secret} npm test"))
        .replace("4 passing", &format!("4 \\u0067{}", &secret[1..]));
    // A delta of a kind that no profile knows, and a line that is not JSON.
    let (start, end) = secret.split_at(3);
    let more = format!(
        "{{\"type\":\"new\",\"text\":\"a {start}\"}}\n{{\"type\":\"new\",\"text\":\"{end} b\"}}\n\
         fatal: {secret}\n"
    );
    let (first, rest) = stream.split_once('\n').unwrap();
    [first, "\n", &more, rest].concat().into_bytes()
}

#[test]
fn no_output_has_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    let (tee, stream) = (folder.path().join("tee"), planted());
    let (tail, tee) = (secret()[10..].to_owned(), tee.to_str().unwrap());
    assert!(text(&stream).matches(&tail).count() > 8);
    for flags in [
        &["--tee", tee][..],
        &["--report", "json"],
        &["--to", "stream-json"],
        &["--to", "stream-json", "--only-valid"],
        &["--to", "text"],
        &["--to", "transcript"],
        &["--to", "answer"],
        &["--to", "json"],
        &["--timeout", "60s", "--to", "transcript"],
    ] {
        let plain = run_on(flags, &stream);
        let output = run_on(&[flags, &["--redact", "secrets"]].concat(), &stream);
        assert_eq!(output.status.code(), plain.status.code(), "{flags:?}");
        let (out, report) = (text(&output.stdout), text(&output.stderr));
        assert!(!out.contains(&tail) && !report.contains(&tail), "{flags:?}: {out}{report}");
        if flags.contains(&"--to") {
            assert!(out.contains("[REDACTED:github-token]"), "{flags:?}: {out}");
        }
    }
    let tee = fs::read_to_string(tee).unwrap();
    assert!(!tee.contains(&tail) && tee.contains("[REDACTED:github-token]"), "{tee}");
    assert_eq!(tee.lines().count(), text(&stream).lines().count());
    // The copy is judged as the stream.
    let again = run_on(&["--report", "json"], tee.as_bytes());
    let first = run_on(&["--report", "json"], &stream);
    assert_eq!(again.status.code(), first.status.code());
    let rules = |report: &[u8]| {
        let report = text(report);
        let line = report.lines().find(|line| line.contains("\"type\":\"stream\"")).unwrap();
        serde_json::from_str::<serde_json::Value>(line).unwrap()["rule_counts"].clone()
    };
    assert_eq!(rules(&again.stdout), rules(&first.stdout));
}

/// Goal: no message names a path with its secret, whatever the path is for.
#[test]
fn paths_in_errors_are_redacted() {
    let secret = secret();
    let options =
        "tee= report=json= schema= profile= config= baseline= write-baseline= files-from=";
    for option in options.split(' ') {
        let argument = format!("--{option}no-such-folder/{secret}");
        let mut command = program();
        command.args(["--redact=secrets", &argument]);
        if option != "files-from=" {
            command.arg("fixtures/agents/cursor/plain.ndjson");
        }
        let output = command.output().unwrap();
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{option} {stderr}");
        assert!(!stderr.is_empty() && !stderr.contains(&secret), "{option} {stderr}");
        assert!(!text(&output.stdout).contains(&secret), "{option}");
    }
}

/// Goal: the name of a stream's file is redacted wherever it is written, also in comparisons.
#[test]
fn no_output_has_a_secret_in_the_name_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let (secret, place) = (secret(), folder.path());
    let stream = fs::read(root().join("fixtures/rules/missing-terminal-event/open-calls.ndjson"));
    let stream = stream.unwrap();
    let run = |arguments: &[&str]| {
        let mut command = program();
        let output = command.current_dir(place).args(arguments).output().unwrap();
        format!("{}{}", text(&output.stdout), text(&output.stderr))
    };
    let (bad, other) = (format!("{secret}.ndjson"), format!("x-{secret}.ndjson"));
    fs::write(place.join(&bad), &stream).unwrap();
    fs::write(place.join(&other), &stream[..stream.len() / 2]).unwrap();
    let redact = ["--redact", "secrets"];
    for format in ["human", "json", "markdown", "junit", "sarif", "github", "html"] {
        let flag = format!("--report={format}=report-{format}");
        let said = run(&[&redact[..], &["--no-config", &flag, &bad, "no-such-file"]].concat());
        let report = fs::read_to_string(place.join(format!("report-{format}"))).unwrap();
        assert!(!(report.contains(&secret) || said.contains(&secret)), "{format}: {said}{report}");
        assert!(report.contains("REDACTED"), "{format}: {report}");
    }
    let absent = format!("absent-{secret}");
    for arguments in [&["diff", &bad, &other][..], &["diff", &bad, &absent], &["drift", &absent]] {
        assert!(run(arguments).contains(&secret), "{arguments:?}: the test shows nothing");
        let said = run(&[arguments, &redact[..]].concat());
        assert!(said.contains("[REDACTED:github-token]") && !said.contains(&secret), "{said}");
    }
}

/// Goal: the end of standard error in a report is cut from the redacted text. Method: a private
/// key that is longer than the tail, and a token on the border of what is kept.
#[cfg(unix)]
#[test]
fn the_tail_of_standard_error_has_no_part_of_a_secret() {
    let key = |word: &str| format!("-----{word} RSA PRIVATE KEY-----");
    let body = "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4\n".repeat(25);
    let pem = format!("{}\n{body}{}\n", key("BEGIN"), key("END"));
    let cut = format!("{}\n{}\n", secret(), "y".repeat(64 * 1024 - 26));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stderr");
    for (said, part) in [(pem, "Zm9vYmFyYmF6"), (cut, "B3dEaB3dE")] {
        fs::write(&file, said).unwrap();
        let mut command = program();
        command.args(["--no-config", "--redact=secrets", "--report=json", "--", "sh", "-c"]);
        let output = command.args(["cat $0 >&2; exit 1"]).arg(&file).output().unwrap();
        assert!(!text(&output.stdout).contains(part), "{}", text(&output.stdout));
        assert!(!text(&output.stderr).contains(part), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("stderr_tail"), "{}", text(&output.stdout));
    }
}

/// Goal: what has no secret is not changed, to the byte.
#[test]
fn streams_without_secrets_pass_unchanged() {
    let mut streams: Vec<_> = cases().iter().map(|case| root().join(&case.path)).collect();
    streams.extend(shared("captures").iter().flat_map(|folder| files(folder, "ndjson")));
    let mut changed = Vec::new();
    let mut redactor = Redactor::secrets(&[]);
    for path in &streams {
        let (stream, mut out) = (fs::read(path).unwrap(), Vec::new());
        redactor.feed(&stream, &mut out);
        redactor.finish(&mut out);
        if out != stream {
            changed.push(path.display().to_string());
        }
    }
    assert!(changed.is_empty(), "{changed:#?}");
}

/// Goal: without a secret, redaction changes neither a report nor the exit code.
#[test]
fn redaction_changes_no_judgement() {
    for case in some_cases(8) {
        let flags: Vec<&str> = case.flags.iter().map(String::as_str).collect();
        let plain = run_on(&flags, &case.bytes());
        let output = run_on(&[&flags[..], &["--redact", "secrets"]].concat(), &case.bytes());
        assert_eq!(output.status.code(), plain.status.code(), "{}", case.path.display());
        assert_eq!(text(&output.stdout), text(&plain.stdout), "{}", case.path.display());
        assert_eq!(output.stderr, plain.stderr, "{}", case.path.display());
    }
}

/// Goal: without its content, too, a run is retried or not.
#[test]
fn redaction_changes_no_reason() {
    let mut reasons = BTreeSet::new();
    let of_agents = cases().into_iter().filter(|case| case.path.starts_with("fixtures/agents"));
    let groups = by_flags(of_agents).into_iter().flat_map(|(flags, cases)| {
        // A status is that of one stream.
        let size = if flags.iter().any(|flag| flag == "--exit-status") { 1 } else { cases.len() };
        let chunks = cases.chunks(size).map(|cases| {
            let paths = cases.iter().map(|case| case.path.to_str().unwrap().to_owned());
            (flags.iter().cloned().chain(paths).collect::<Vec<_>>(), cases.len())
        });
        chunks.collect::<Vec<_>>()
    });
    for (arguments, streams) in groups {
        let read = |redaction: &[&str]| {
            let arguments = arguments.iter().map(String::as_str).chain(["--report", "json"]);
            let arguments: Vec<&str> = arguments.chain(redaction.iter().copied()).collect();
            let report = text(&run_on(&arguments, b"").stdout);
            let lines = report.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let summaries = lines.filter(|it| it["type"] == "stream");
            let facts = ["path", "reason", "retryable", "retry_after"];
            summaries.map(|it| facts.map(|key| it[key].to_string())).collect::<Vec<_>>()
        };
        let expected = read(&[]);
        assert!(expected.len() >= streams, "{arguments:?}");
        assert_eq!(read(&["--redact", "content"]), expected);
        reasons.extend(expected.into_iter().map(|[_, reason, ..]| reason));
    }
    assert!(reasons.len() > 12, "{reasons:?}");
}

/// Goal: several files at a time are redacted, too.
#[test]
fn files_are_redacted_in_parallel() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.ndjson", "b.ndjson", "c.ndjson"] {
        let line = format!("{{\"type\":\"{}\"}}\n", secret());
        fs::write(folder.path().join(name), [&planted()[..], line.as_bytes()].concat()).unwrap();
    }
    let folder = folder.path().to_str().unwrap();
    let output = run_on(&["--redact", "secrets", "--jobs", "2", folder], b"");
    let out = text(&output.stdout);
    assert_eq!(out.matches("event-after-terminal").count(), 3, "{out}");
    assert!(out.contains("[REDACTED:github-token]") && !out.contains(&secret()[..10]), "{out}");
}

/// Goal: what the summary says is redacted, too, for any number of jobs.
#[test]
fn summaries_are_redacted_in_parallel() {
    let folder = tempfile::tempdir().unwrap();
    let failed = fs::read_to_string(root().join("fixtures/agents/cursor/is-error.ndjson")).unwrap();
    let failed = failed.replace("the quota is exceeded", &secret());
    for name in ["a.ndjson", "b.ndjson"] {
        fs::write(folder.path().join(name), &failed).unwrap();
    }
    let folder = folder.path().to_str().unwrap();
    let outs = ["1", "2"].map(|jobs| {
        let output = run_on(&["--redact", "secrets", "--jobs", jobs, folder], b"");
        text(&output.stdout)
    });
    assert_eq!(outs[0].matches("failed: [REDACTED:github-token]").count(), 2, "{}", outs[0]);
    assert_eq!(outs[0], outs[1]);
}

#[cfg(unix)]
#[test]
fn the_standard_error_of_a_command_is_redacted() {
    let secret = secret();
    let script = "echo \"oops $X\" >&2; printf 'no end %s' \"$X\" >&2; exit 3";
    let mut command = program();
    command.args(["--redact-env", "X", "--no-stdin", "--", "bash", "-c", script]);
    for value in ["a value of mine", &secret] {
        let output = command.env("X", value).output().unwrap();
        let (out, passed_on) = (text(&output.stdout), text(&output.stderr));
        assert!(!out.contains(&value[8..]) && !passed_on.contains(&value[8..]), "{passed_on}");
        assert_eq!(passed_on, "oops [REDACTED:X]\nno end [REDACTED:X]\n", "{out}");
        assert!(
            out.contains(": no end [REDACTED:X] (exit status 3)\n    stderr: oops [REDACTED:X]"),
            "{out}"
        );
    }
}

#[test]
fn bad_usage_is_one_line() {
    for (flags, value, message) in [
        (&["--redact-env", "NDJSON_CHECK_NONE"][..], None, "the variable is not set"),
        (&["--redact-env", "V"], Some("1234567"), "the value has fewer than 8 bytes"),
        (&["--redact-env", ""], None, "this is not the name of an environment variable"),
        (&["--redact", "everything"], None, "invalid value 'everything'"),
    ] {
        let mut command = program();
        command.envs(value.map(|value| ("V", value)));
        let output = command.args(flags).arg("fixtures").output().unwrap();
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(message) && error.lines().count() == 1, "{error}");
        assert!(output.stdout.is_empty() && !error.contains("1234567"), "{error}");
    }
}

/// Goal: a secret that the user's own files name is in no message.
#[test]
fn messages_do_not_quote_secrets_of_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: String| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let config = file("c.toml", format!("expect.answer.matches = '{}'\n", secret()));
    let schema = file("s.json", format!("{{\"required\": [\"{}\"]}}", secret()));
    let stream = fs::read(root().join("fixtures/agents/cursor/plain.ndjson")).unwrap();
    for report in ["human", "json", "junit", "markdown"] {
        let flags = ["--redact", "secrets", "--config", &config, "--schema", &schema];
        let output = run_on(&[&flags[..], &["--report", report]].concat(), &stream);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(said.contains("[REDACTED:github-token]"), "{report}: {said}");
        assert!(!said.contains(&secret()[..12]), "{report}: {said}");
    }
}

/// Goal: what replaces the content makes no finding of its own.
#[test]
fn replaced_content_breaks_no_rule() {
    let stream = fs::read_to_string(root().join("fixtures/agents/qwen/partial.ndjson")).unwrap();
    let error = "[API Error: 429 Too many requests]";
    let stream = stream
        .replace("It is empty.", error)
        .replace("\"It \"", "\"[API Error: 429 \"")
        .replace("\"is empty.\"", "\"Too many requests]\"");
    assert!(stream.matches(error).count() == 2, "{stream}");
    let report = run_on(&["--redact", "content"], stream.as_bytes());
    let printed = text(&report.stdout);
    assert!(printed.contains("error[success-after-fatal-error]"), "{printed}");
    assert!(!printed.contains("delta-mismatch"), "{printed}");
}

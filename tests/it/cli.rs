//! The command line: exit codes, streams, and what happens when a descriptor is bad.

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::streams::{misleads, program, run_on, text};

const GOOD: &str = "fixtures/agents/cursor/plain.ndjson";
const FAILED: &str = "fixtures/agents/cursor/is-error.ndjson";

fn bytes(path: &str) -> Vec<u8> {
    fs::read(crate::streams::root().join(path)).unwrap()
}

fn run(arguments: &[&str]) -> Output {
    program().args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Runs a shell command in which `$P` is the program.
#[cfg(unix)]
fn shell(command: &str) -> Output {
    let mut shell = std::process::Command::new("bash");
    shell
        .args(["-c", command])
        .env("P", crate::streams::PROGRAM)
        .current_dir(crate::streams::root());
    shell.stdin(Stdio::null()).output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

#[test]
fn the_exit_code_follows_the_table() {
    let good = bytes(GOOD);
    let failed = bytes(FAILED);
    let cut = &good[..good.len() / 2];
    let last = good[..good.len() - 1].iter().rposition(|&it| it == b'\n').unwrap() + 1;
    let unended = &good[..last];
    let table: [(&[u8], &str, i32, &str); 14] = [
        (&good, "", 0, "✓ succeeded"),
        (&good, "0", 0, "✓ succeeded"),
        (&good, "1", 1, "exit-status-contradicts-result"),
        (&failed, "", 3, "✗ failed"),
        (&failed, "0", 1, "exit-status-contradicts-result"),
        (&failed, "1", 3, "✗ failed"),
        (unended, "", 1, "missing-terminal-event"),
        (unended, "0", 1, "missing-terminal-event"),
        (unended, "137", 3, "✗ killed by SIGKILL"),
        (b"", "", 1, "empty-stream"),
        (b"", "0", 1, "empty-stream"),
        (b"", "1", 3, "✗ failed"),
        (cut, "", 1, "truncated-line"),
        (cut, "1", 1, "truncated-line"),
    ];
    for (stream, status, expected, shown) in table {
        let mut flags = vec!["--exit-status", status];
        if status.is_empty() {
            flags.clear();
        }
        let output = run_on(&flags, stream);
        let report = text(&output.stdout);
        assert_eq!(code(&output), expected, "status {status:?}: {report}");
        assert!(report.contains(shown), "status {status:?}: {report}");
    }
}

#[test]
fn several_streams_have_one_verdict_each_and_one_summary() {
    let output = run(&[GOOD, FAILED, "fixtures/rules/blank-line"]);
    let report = text(&output.stdout);
    assert_eq!(code(&output), 3, "{report}");
    assert!(report.contains(&format!("✓ {GOOD}  succeeded")));
    assert!(report.contains(&format!("✗ {FAILED}  failed: ")));
    assert!(report.lines().last().unwrap().contains("streams: "), "{report}");

    // What cannot be read is reported, the others are checked, and the code is 2.
    let output = run(&[
        "no/such.ndjson",
        GOOD,
        "fixtures/rules/missing-terminal-event",
        "crates/core/src/rules",
    ]);
    assert_eq!(code(&output), 2);
    let errors = text(&output.stderr);
    assert!(errors.contains("failed to read no/such.ndjson: "), "{errors}");
    assert!(errors.contains("nothing to check in crates/core/src/rules: "), "{errors}");
    assert!(text(&output.stdout).contains("2 not checked"), "{}", text(&output.stdout));
}

#[test]
fn standard_input_has_no_name() {
    for flags in [&[][..], &["-"]] {
        let output = run_on(flags, &bytes(GOOD));
        assert_eq!(code(&output), 0);
        assert!(text(&output.stdout).starts_with("✓ succeeded"));
    }
}

#[test]
fn bad_usage_is_one_line_and_two() {
    let wrong: [&[&str]; 17] = [
        &["--nonsense"],
        &["--deny", "no-such-rule"],
        &["--input-format", "xml"],
        &["--engine", "uncached"],
        &["--exit-status", "many"],
        &["--exit-status", "1", GOOD, FAILED],
        &["--max-line-bytes", "0"],
        &["--max-line-bytes", "1TB"],
        &["--report", "xml"],
        &["--report", "json="],
        &["--report", "json", "--report", "human"],
        &["--warn", "blank-line", "--deny", "blank-line"],
        &["--profile", "nobody"],
        &["--schema", "no/such/schema.json"],
        &["--no-stdin"],
        &["--exit-grace", "1s", GOOD],
        &["--jobs", "2", "--", "true"],
    ];
    for arguments in wrong {
        let output = run(arguments);
        let error = text(&output.stderr);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert_eq!(error.lines().count(), 1, "{arguments:?}: {error}");
        assert!(error.starts_with("ndjson-check: ") && error.len() < 300, "{arguments:?}: {error}");
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
    }
}

#[test]
fn severities_can_be_set_and_win_over_strict() {
    let blank = "fixtures/rules/blank-line";
    assert_eq!(code(&run(&[blank])), 0);
    assert_eq!(code(&run(&["--deny", "blank-line", blank])), 1);
    assert_eq!(code(&run(&["--strict", blank])), 1);
    let allowed =
        run(&["--strict", "--allow", "blank-line", "--allow", "undocumented-event", blank]);
    assert_eq!(code(&allowed), 0, "{}", text(&allowed.stdout));
    let warned =
        run(&["--warn", "missing-terminal-event", "fixtures/rules/missing-terminal-event"]);
    // It conforms then, but the run has not succeeded.
    assert_eq!(code(&warned), 3, "{}", text(&warned.stdout));
}

#[test]
fn bad_schemas_are_refused_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("schema.json");
    let refused = [
        r#"{"type": 5}"#,
        r#"{"$ref": "https://example.com/schema.json"}"#,
        r#"{"$ref": "file:///etc/passwd"}"#,
        r#"{"$ref": "beside.json"}"#,
        "not JSON",
    ];
    for schema in refused {
        fs::write(&file, schema).unwrap();
        // If the input were read, this would hang: no process writes to it.
        let mut child = program()
            .arg("--schema")
            .arg(&file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(2), "{schema}");
        drop(stdin);
    }
    fs::write(&file, r#"{"properties": {"session_id": {"maxLength": 3}}}"#).unwrap();
    let output = run(&["--schema", file.to_str().unwrap(), GOOD]);
    assert_eq!(code(&output), 1);
    let report = text(&output.stdout);
    assert!(report.contains("at /session_id; schema "), "{report}");
    assert!(report.contains(", /properties/session_id/maxLength\n"), "{report}");
}

#[test]
fn input_json_wants_the_single_object() {
    let single = "fixtures/agents/cursor/json.ndjson";
    assert_eq!(code(&run(&["--input-format", "json", single])), 0);
    let output = run(&["--input-format", "json", GOOD]);
    assert_eq!(code(&output), 1, "{}", text(&output.stdout));
    let output = run(&["--input-format", "stream-json", single]);
    assert!(text(&output.stdout).contains("missing-session-start"), "{}", text(&output.stdout));
}

#[test]
fn reports_go_where_they_are_sent() {
    let folder = tempfile::tempdir().unwrap();
    let (json, human) = (folder.path().join("r.json"), folder.path().join("r.txt"));
    let flags = [
        format!("--report=json={}", json.display()),
        format!("--report=human={}", human.display()),
        "--report=human".to_owned(),
    ];
    let output =
        program().args(&flags).args(["fixtures/rules/call-mismatch", "--quiet"]).output().unwrap();
    assert_eq!((code(&output), text(&output.stdout).as_str()), (1, ""));
    let output = program().args(&flags).arg("fixtures/rules/call-mismatch").output().unwrap();
    assert_eq!(fs::read(&human).unwrap(), output.stdout);
    assert!(fs::read_to_string(&json).unwrap().lines().all(|it| it.starts_with("{\"type\":")));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "nothing but the reports is left: {left:?}");
}

#[test]
fn colour_follows_flag_environment_and_terminal() {
    let coloured = |flag: &str, environment: &[(&str, &str)]| {
        let mut command = program();
        command.envs(environment.iter().copied()).args([flag, GOOD]);
        text(&command.output().unwrap().stdout).contains('\x1b')
    };
    assert!(!coloured("--color=auto", &[]));
    assert!(coloured("--color=always", &[("NO_COLOR", "1")]));
    assert!(!coloured("--color=never", &[("FORCE_COLOR", "1")]));
    assert!(coloured("--color=auto", &[("FORCE_COLOR", "1")]));
    assert!(coloured("--color=auto", &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured("--color=auto", &[("FORCE_COLOR", "1"), ("NO_COLOR", "1")]));
    assert!(coloured("--color=auto", &[("FORCE_COLOR", "1"), ("NO_COLOR", "")]));
    assert!(!coloured("--color=auto", &[("FORCE_COLOR", "0")]));
}

/// Goal: nothing from a stream reaches a terminal as a command to it.
#[test]
fn control_characters_of_the_stream_are_shown_not_sent() {
    let nasty = "x\\u001b]0;owned\\u0007\\u009b31m\\u202e\\u0000\\n\\udb40\\udc41";
    let stream = format!(
        "{{\"type\":\"{nasty}\",\"session_id\":\"{nasty}\",\"{nasty}\":1,\"{nasty}\":2}}\n\
         {{\"type\":\"tool_call\",\"subtype\":\"completed\",\"call_id\":\"{nasty}\",\
         \"tool_call\":{{\"{nasty}ToolCall\":{{}}}},\"session_id\":\"{nasty}\"}}\n"
    );
    for format in ["human", "json"] {
        let output = run_on(&["--strict", "--report", format], stream.as_bytes());
        let report = text(&output.stdout);
        assert!(report.contains("duplicate-key") && report.contains("unknown-event"), "{report}");
        let raw: Vec<char> = report.chars().filter(|&it| it != '\n' && misleads(it)).collect();
        assert_eq!(raw, [], "{report}");
    }
}

/// Goal: what is wrong is seen when it happens, not at the end.
/// Method: write one bad line, keep the pipe open, and wait for its diagnostic.
#[test]
fn diagnostics_appear_while_the_stream_is_open() {
    let mut json = program();
    json.args(["--report", "json"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = json.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let init = r#"{"type":"system","subtype":"init","apiKeySource":"env","permissionMode":1}"#;
    stdin.write_all(format!("{init}\n").as_bytes()).unwrap();
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut start = [0; 21];
        stdout.read_exact(&mut start).unwrap();
        send.send(start).unwrap();
        let _ = stdout.read_to_end(&mut Vec::new());
    });
    let start = receive.recv_timeout(Duration::from_secs(20)).unwrap();
    assert!(start == *b"{\"type\":\"diagnostic\",");
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[cfg(unix)]
mod unix {
    use super::*;

    #[test]
    fn a_closed_standard_input_is_an_error_and_an_empty_one_a_stream() {
        let closed = shell("$P <&-");
        assert_eq!(code(&closed), 2);
        assert_eq!(
            text(&closed.stderr),
            "ndjson-check: nothing to check in standard input: it is closed, or /dev/null\n"
        );
        let empty = shell("$P </dev/null");
        assert_eq!(code(&empty), 1);
        assert!(text(&empty.stdout).contains("empty-stream"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_never_a_success() {
        let outputs = [
            format!("$P {GOOD} >/dev/full"),
            format!("$P --report json {GOOD} >/dev/full"),
            format!("$P --report json=/dev/full {GOOD}"),
            format!("$P --report human=/no/such/folder/report {GOOD}"),
            "$P --help >/dev/full".to_owned(),
            "$P --version >/dev/full".to_owned(),
            "$P rules >/dev/full".to_owned(),
            "$P rules blank-line >/dev/full".to_owned(),
            "$P schema >/dev/full".to_owned(),
            "$P profiles >/dev/full".to_owned(),
        ];
        for command in outputs {
            let output = shell(&command);
            let error = text(&output.stderr);
            assert_eq!(code(&output), 2, "{command}: {error}");
            assert_eq!(error.lines().count(), 1, "{command}: {error}");
        }
    }

    /// Goal: a reader that goes away stops the report, not the check, and is never a success.
    /// Method: no process reads; still the whole input is written, or the writer is killed.
    #[test]
    fn a_broken_pipe_changes_no_exit_code_and_the_input_is_drained() {
        let command = format!(
            "(for i in $(seq 300); do cat fixtures/rules/blank-line/*.ndjson; done; \
             echo drained >&2) \
             | $P | true; echo ${{PIPESTATUS[*]}}; $P {GOOD} | wc -l; echo ${{PIPESTATUS[0]}}"
        );
        let output = shell(&command);
        assert_eq!(text(&output.stdout), "0 1 0\n1\n0\n");
        assert_eq!(text(&output.stderr), "drained\n");
    }

    /// Goal: a pipe that its other users made non-blocking is waited for.
    #[test]
    fn non_blocking_descriptors_are_waited_for() {
        use rustix::fs::{OFlags, fcntl_setfl};

        let (reader, mut writer) = std::io::pipe().unwrap();
        let (mut out_reader, out_writer) = std::io::pipe().unwrap();
        fcntl_setfl(&reader, OFlags::NONBLOCK).unwrap();
        fcntl_setfl(&out_writer, OFlags::NONBLOCK).unwrap();
        let mut child = program()
            .args(["--report=json", "--profile=cursor"])
            .stdin(reader)
            .stdout(out_writer)
            .spawn()
            .unwrap();
        // More diagnostics than a pipe holds, and no process reads yet.
        let feed = thread::spawn(move || {
            thread::sleep(Duration::from_millis(50));
            for rule in ["invalid-json", "blank-line", "not-an-object"] {
                let line: &[u8] = match rule {
                    "invalid-json" => b"{\"a\" 1}\n",
                    "blank-line" => b"\n",
                    _ => b"[1]\n",
                };
                writer.write_all(b"{\"type\":\"user\"}\n").unwrap();
                for _ in 0..2_000 {
                    writer.write_all(line).unwrap();
                }
            }
        });
        thread::sleep(Duration::from_millis(200));
        let mut report = String::new();
        out_reader.read_to_string(&mut report).unwrap();
        feed.join().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1));
        assert!(report.contains(r#""invalid-json":2000"#), "{report}");
        assert!(report.ends_with("\"exit_code\":1}\n"), "{report}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_fails_while_it_is_read_is_named() {
        let output = shell("$P /proc/self/mem");
        assert_eq!(code(&output), 2);
        assert!(text(&output.stderr).starts_with("ndjson-check: failed to read /proc/self/mem: "));
    }
}

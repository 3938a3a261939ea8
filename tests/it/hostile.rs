//! Streams made to hurt: they cost no more than they are long.

// Only Linux limits memory with `ulimit -v`.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Read as _;
use std::process::{Command, Output, Stdio};

use crate::streams::{PROGRAM, root, text};

/// Checks a stream with this much address space, in MiB.
fn checked_within(mebibytes: usize, stream: &[u8], flags: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stream.ndjson");
    fs::write(&file, stream).unwrap();
    let limit = mebibytes * 1024;
    let command = format!("ulimit -v {limit}; exec {PROGRAM} {flags} < {}", file.display());
    let mut shell = Command::new("bash");
    shell.args(["-c", &command]).current_dir(root()).stdin(Stdio::null()).output().unwrap()
}

/// A line over and over, with a number in the place of `#`.
fn numbered(line: &str, count: usize) -> String {
    let lines: Vec<String> = (0..count).map(|it| line.replace('#', &it.to_string())).collect();
    lines.concat()
}

/// Goal: no small stream takes the machine down.
/// Method: streams that once cost gigabytes, each with little memory; a verdict, not an abort.
#[test]
fn small_streams_stay_small() {
    let repeat = |piece: &str, count: usize| piece.repeat(count);
    let key = "k".repeat(20_000);
    let event = |body: String| format!("{{\"type\":\"assistant\",{body}}}\n");
    let small_values =
        |more: &str| event(format!("\"x\":[{}{{}}]{more}", repeat("{\"a\":0},", 1_500_000)));
    let streams = [
        ("duplicate keys", event(format!("\"{key}\":{{{}\"a\":1}}", repeat("\"a\":1,", 100_000)))),
        ("long duplicate keys", event(repeat(&format!("\"{key}\":1,"), 50) + "\"z\":1")),
        ("a last line of small values", small_values("").trim_end().to_owned()),
        ("small values and a duplicate key", small_values(",\"k\":1,\"k\":2")),
        ("a large invalid event", event(format!("\"x\":[{}0]", repeat("0,", 2_000_000)))),
        (
            "many violations",
            event(format!(
                "\"message\":{{\"role\":\"assistant\",\"content\":[{}0]}}",
                repeat("0,", 60_000)
            )),
        ),
        ("blank lines after a brace", format!("{{\n{}", repeat("\n", 3_000_000))),
        ("deep", repeat("[", 3_000_000)),
        (
            "many unknown names",
            format!("{{\"type\":\"user\"}}\n{}", numbered("{\"type\":\"t#\"}\n", 100_000)),
        ),
    ];
    for (name, stream) in streams {
        let output = checked_within(600, stream.as_bytes(), "--profile cursor");
        let (report, error) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{name}: {error}");
        assert!(report.lines().all(|it| it.len() < 5_000), "{name}: a line is too long");
        assert!(report.starts_with("✗ "), "{name}: {report}");
    }
}

/// Goal: a line without an end is skipped in bounded memory, and what follows is checked.
#[test]
fn a_line_over_the_limit_is_skipped_in_little_memory() {
    let mut stream = b"{\"type\":\"system\",\"x\":\"".to_vec();
    stream.resize(300 << 20, b'a');
    stream.extend_from_slice(b"\"}\n{\"type\":\"user\"}\n");
    let output = checked_within(120, &stream, "--max-line-bytes 1MiB");
    let report = text(&output.stdout);
    assert!(
        report.contains("error[line-too-long] line 1: the line has 314572802 bytes"),
        "{report}"
    );
    let note = "note: the limit is 1 MiB\n";
    assert!(report.contains(note), "{report}");
    assert!(report.contains("error[schema-violation]\n      line 2: "), "{report}");
    // And within the default limit memory is some multiple of the line, not more.
    let output = checked_within(420, &stream[..60 << 20], "");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("truncated-line"));
}

/// Goal: the forms that are one object do not keep the stream.
/// Method: one endless text, and calls that never end, in little memory.
#[test]
fn long_streams_are_converted_in_little_memory() {
    let call = concat!(
        r#"{"type":"tool_call","subtype":"started","call_id":"#,
        r##""#","tool_call":{"shellToolCall":{"args":{"command":"COMMAND"}}},"session_id":"s"}"##,
        "\n"
    );
    let delta = concat!(
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","#,
        r##""text":"TEXT"}]},"timestamp_ms":1#,"session_id":"s"}"##,
        "\n"
    );
    let calls = numbered(&call.replace("COMMAND", &"x".repeat(4_000)), 4_000);
    let deltas = numbered(&delta.replace("TEXT", &"word ".repeat(400)), 16_000);
    let stream = calls + &deltas;
    assert!(stream.len() > 45 << 20);
    for form in ["events", "chrome-trace", "otlp-json", "atif"] {
        let flags = format!("--profile cursor --to {form} > /dev/null");
        let output = checked_within(120, stream.as_bytes(), &flags);
        let report = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{form}: {report}");
        assert!(report.starts_with("✗ cut short after line 20000"), "{form}: {report}");
    }
}

/// Goal: memory does not grow with the streams that `merge` joins.
/// Method: reports that together are larger than the memory that it may use. When the first half of
/// the joined report is written, all has been read.
#[test]
#[expect(clippy::print_stdout, reason = "the harness keeps it, unless it is asked for")]
fn many_streams_are_merged_in_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let row = format!(
        "{{\"type\":\"stream\",\"report_version\":1,\"path\":\"#\",\"x\":\"{}\"}}\n",
        "x".repeat(4_000)
    );
    let summary = "{\"type\":\"summary\",\"report_version\":1,\"tool_version\":\"VERSION\",\
        \"streams\":9000,\"conforming\":9000,\"non_conforming\":0,\"succeeded\":9000,\"failed\":0,\
        \"truncated\":0,\"timed_out\":0,\"not_checked\":0,\"errors\":0,\"warnings\":0,\
        \"exit_code\":0}\n"
        .replace("VERSION", env!("CARGO_PKG_VERSION"));
    for name in ["one", "two", "three"] {
        let rows = numbered(&row.replace('#', &format!("{name}-#")), 9_000);
        fs::write(folder.path().join(name), rows + &summary).unwrap();
    }
    let command = format!("ulimit -v {}; exec {PROGRAM} merge one two three", 90 * 1024);
    let mut shell = Command::new("bash");
    shell.args(["-c", &command]).current_dir(folder.path());
    let mut merge = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut merged, mut out) = (Vec::new(), merge.stdout.take().unwrap());
    out.by_ref().take(54 << 20).read_to_end(&mut merged).unwrap();
    let status = fs::read_to_string(format!("/proc/{}/status", merge.id())).unwrap();
    out.read_to_end(&mut merged).unwrap();
    let output = merge.wait_with_output().unwrap();
    assert_eq!((text(&output.stderr).as_str(), output.status.code()), ("", Some(0)));
    let peak = status.lines().find_map(|it| it.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().strip_suffix(" kB").unwrap().parse().unwrap();
    println!("figure: merge.memory {}", peak * 1024 / 1_000_000);
    let merged = text(&merged);
    let (last, streams) = (merged.lines().last().unwrap(), merged.lines().count() - 1);
    assert!(streams == 27_000 && last.contains("\"streams\":27000,"), "{streams}: {last}");
}

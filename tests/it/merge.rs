//! Reports of several runs, joined into one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::streams::{PROGRAM, files, root, run_on, text};

/// Small numbers that are the same in each run of the test.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

fn merge(reports: &[PathBuf]) -> (String, Option<i32>) {
    let output = Command::new(PROGRAM).arg("merge").args(reports).output().unwrap();
    assert_eq!(text(&output.stderr), "");
    (text(&output.stdout), output.status.code())
}

fn report(streams: &[PathBuf], to: &Path) -> Option<i32> {
    let mut command = Command::new(PROGRAM);
    command.args(["--report", &format!("json={}", to.display())]).args(streams);
    command.current_dir(root()).output().unwrap().status.code()
}

/// Goal: no secret of a report, or of the path of one, comes out of a merge that redacts.
#[test]
fn secrets_are_redacted() {
    let folder = tempfile::tempdir().unwrap();
    let secret = format!("{}{}{}", "gh", "p_", "aB3dE".repeat(8));
    let stream = folder.path().join(format!("{secret}.ndjson"));
    fs::write(&stream, "[]\n").unwrap();
    let path = folder.path().join("report.json");
    report(&[stream], &path);
    let merge = |arguments: &[&str]| {
        let output = Command::new(PROGRAM).arg("merge").args(arguments).output().unwrap();
        (text(&output.stdout), text(&output.stderr), output.status.code())
    };
    let path = path.to_str().unwrap();
    let (plain, _, code) = merge(&[path]);
    assert!(plain.contains(&secret), "{plain}");
    let (redacted, stderr, same_code) = merge(&["--redact=secrets", path]);
    assert_eq!((stderr.as_str(), same_code), ("", code));
    assert!(!redacted.contains(&secret) && redacted.contains("ndjson"), "{redacted}");
    assert_eq!(redacted.lines().count(), plain.lines().count());
    let (_, stderr, code) = merge(&["--redact=secrets", &secret]);
    assert!(code == Some(2) && !stderr.contains(&secret) && !stderr.is_empty(), "{stderr}");
    let (_, stderr, code) = merge(&["--redact=content", path]);
    assert!(code == Some(2) && stderr.contains("use --redact secrets"), "{stderr}");
}

/// Goal: where the work was split, and in which order it is put together, does not matter.
/// Method: 30 random splits of the fixtures of several agents; each part is reported, the reports
/// are joined in random order, some of them twice. The result is the report of one run.
#[test]
fn the_reports_of_parts_make_the_report_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let of = |agent: &str| files(&root().join("fixtures/agents").join(agent), "ndjson");
    let mut streams: Vec<PathBuf> = ["codex", "gptme"].into_iter().flat_map(of).collect();
    streams.push("fixtures/no-such-file.ndjson".into());
    streams.extend(files(&root().join("fixtures/rules/truncated-line"), "ndjson"));
    streams.sort();
    assert!(streams.len() > 20);
    let whole = folder.path().join("whole");
    let code = report(&streams, &whole);
    let whole = fs::read_to_string(whole).unwrap();
    assert_eq!(code, Some(2));

    let mut numbers = Numbers(20_261_122);
    for round in 0..30 {
        let count = 1 + numbers.below(6);
        let mut parts = vec![Vec::new(); count];
        for stream in &streams {
            parts[numbers.below(count)].push(stream.clone());
        }
        let mut reports = Vec::new();
        for (number, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
            let path = folder.path().join(format!("{round}-{number}"));
            report(part, &path);
            reports.push(path);
        }
        while reports.len() > 1 {
            let taken: Vec<_> =
                (0..2).map(|_| reports.remove(numbers.below(reports.len()))).collect();
            if numbers.below(3) == 0 {
                let joined = folder.path().join(format!("{round}-joined-{}", reports.len()));
                fs::write(&joined, merge(&taken).0).unwrap();
                reports.push(joined);
            } else {
                reports.extend(taken);
                break;
            }
        }
        assert_eq!(merge(&reports), (whole.clone(), Some(2)), "{parts:?}");
    }
}

/// Goal: the exit code is that of one run over everything.
#[test]
fn the_first_exit_code_counts() {
    let folder = tempfile::tempdir().unwrap();
    let summary = |code: u8| {
        format!(
            r#"{{"type":"stream","report_version":1,"path":"s"}}
            {{"type":"summary","report_version":1,"tool_version":"0.1.0","streams":1,
            "conforming":1,"non_conforming":0,"succeeded":1,"failed":0,"truncated":0,"timed_out":0,
            "not_checked":0,"errors":0,"warnings":0,"exit_code":{code}}}"#
        )
        .replace("\n            \"", "\"")
    };
    let rows: [(&[u8], i32); 9] = [
        (&[0, 0], 0),
        (&[0, 3], 3),
        (&[3, 4], 4),
        (&[4, 1, 3], 1),
        (&[1, 2, 0], 2),
        (&[127, 1], 127),
        (&[127, 2], 2),
        (&[7], 3),
        (&[7, 0, 4], 4),
    ];
    for (codes, expected) in rows {
        let mut reports = Vec::new();
        for (number, code) in codes.iter().enumerate() {
            reports.push(folder.path().join(number.to_string()));
            fs::write(&reports[number], summary(*code)).unwrap();
        }
        let (merged, code) = merge(&reports);
        assert_eq!(code, Some(expected), "{codes:?}");
        assert!(merged.contains(&format!("\"streams\":{},", codes.len())), "{merged}");
    }
}

/// Goal: what is not a whole report is refused, with its place.
#[test]
fn broken_reports_are_named() {
    let good = run_on(
        &["--report", "json"],
        &fs::read(root().join("fixtures/rules/missing-terminal-event/open-calls.ndjson")).unwrap(),
    );
    let good = text(&good.stdout);
    let (body, last) = good.trim_end().rsplit_once('\n').unwrap();
    let rows = [
        (body.to_owned(), "it is truncated: the last line is not a summary"),
        (String::new(), "it is truncated: the last line is not a summary"),
        (format!("{last}\n"), "it has 0 of the 1 stream that its last line counts"),
        (
            good.replace("\"exit_code\":1", "\"exit_code\":0"),
            "its exit code is 0, but its last line counts streams that did not pass",
        ),
        (format!("{good}{last}\n"), "line 4: it comes after the last line of a report"),
        (
            "{\"type\":\"assistant\"}\n".to_owned(),
            "line 1: this is not a json report: `merge` reads what `--report json` writes",
        ),
        ("{\"type\":\"stream\",\"report_version\":1}\n".to_owned(), "line 1: it has no path"),
        (
            good.replace("\"report_version\":1", "\"report_version\":2"),
            "line 1: report version 2; this program knows version 1",
        ),
        (
            good[..good.len() - 20].to_owned(),
            "line 3: not a line of a json report: EOF while parsing \
             a string",
        ),
    ];
    for (report, expected) in rows {
        let output = run_on(&["merge", "-"], report.as_bytes());
        let message =
            format!("ndjson-check: failed to use the report standard input: {expected}\n");
        assert_eq!(text(&output.stderr), message);
        assert_eq!((text(&output.stdout).as_str(), output.status.code()), ("", Some(2)));
    }
}

/// Goal: nothing is counted twice by mistake.
#[test]
fn a_report_is_named_once() {
    let output = run_on(&["merge", "-", "-"], b"");
    assert_eq!(text(&output.stderr), "ndjson-check: - is named twice\n");
    assert_eq!(output.status.code(), Some(2));
    let output = run_on(&["merge", "README.md", "./docs/../README.md"], b"");
    assert_eq!(text(&output.stderr), "ndjson-check: ./docs/../README.md is named twice\n");
}

/// Goal: a joined report has no control character, whoever wrote the reports.
#[test]
fn what_would_control_a_terminal_is_escaped() {
    let good = text(&run_on(&["--report", "json"], b"").stdout);
    let hostile = good.replacen("the stream has", "\u{9b}31m\u{202e}\u{7f}", 1);
    assert_ne!(good, hostile);
    let merged = text(&run_on(&["merge", "-"], hostile.as_bytes()).stdout);
    assert!(merged.contains(r"\u009b31m\u202e\u007f"), "{merged}");
    assert!(!merged.contains(['\u{9b}', '\u{202e}', '\u{7f}']), "{merged}");
}

/// Goal: a joined report can be joined again, whatever white space is between its tokens.
#[test]
fn tabs_between_tokens_stay_white_space() {
    let good = text(&run_on(&["--report", "json"], b"").stdout);
    let spaced = good.replacen("\"report_version\":1", "\"report_version\":\t\r 1", 1);
    assert_ne!(good, spaced);
    let merged = text(&run_on(&["merge", "-"], spaced.as_bytes()).stdout);
    let again = run_on(&["merge", "-"], merged.as_bytes());
    assert_eq!((text(&again.stdout), text(&again.stderr)), (merged, String::new()));
}

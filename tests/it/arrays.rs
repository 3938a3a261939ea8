//! One JSON array of events is judged as the same events on lines.

use std::fs;

use ndjson_check::{
    Checker, Converter, Diagnostic, Form, FormStyle, JsonReport, Outcome, ProducerExit, Rule,
    StreamSummary, Verdict, Written,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::bytes::Pieces;
use crate::streams::{
    Case, checker, converted, files, json_report, judge, run_on, shared, some_cases, text,
};
use crate::support::check;

/// How an array is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    Minified,
    /// Each element on the line that it has as NDJSON.
    Lines,
    Pretty,
}

const LAYOUTS: [Layout; 3] = [Layout::Minified, Layout::Lines, Layout::Pretty];

/// The array of the lines of a stream. A last line without its end is not closed.
pub(crate) fn array(stream: &str, layout: Layout) -> String {
    let whole = stream.is_empty() || stream.ends_with('\n');
    let lines = stream.lines().map(|line| match layout {
        Layout::Pretty => pretty(line),
        Layout::Minified | Layout::Lines => line.to_owned(),
    });
    let elements: Vec<String> = lines.collect();
    let (begin, between, end) = match layout {
        Layout::Minified => ("[", ",", "]"),
        Layout::Lines => ("[", ",\n", "\n]\n"),
        Layout::Pretty => ("[\n  ", ",\n  ", "\n]\n"),
    };
    format!("{begin}{}{}", elements.join(between), if whole { end } else { "" })
}

/// A line as `serde_json` prints it in an array; duplicate keys and numbers stay as written.
fn pretty(line: &str) -> String {
    let (mut out, mut depth, mut in_string, mut is_escaped) = (String::new(), 1, false, false);
    let mut rest = line.chars().peekable();
    let break_line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    while let Some(character) = rest.next() {
        if in_string {
            in_string = is_escaped || character != '"';
            is_escaped = !is_escaped && character == '\\';
            out.push(character);
            continue;
        }
        if character.is_ascii_whitespace() {
            continue;
        }
        if character == '"' {
            in_string = true;
            out.push(character);
            continue;
        }
        let closes = matches!(character, '}' | ']');
        if closes {
            depth -= 1;
            if !out.ends_with(['{', '[']) {
                break_line(&mut out, depth);
            }
        }
        out.push(character);
        while rest.next_if(char::is_ascii_whitespace).is_some() {}
        depth += usize::from(matches!(character, '{' | '['));
        let is_empty = matches!(rest.peek(), Some('}' | ']') | None);
        if character == ':' {
            out.push(' ');
        } else if character == ',' || matches!(character, '{' | '[') && !is_empty {
            break_line(&mut out, depth);
        }
    }
    out
}

#[test]
fn pretty_is_what_serde_json_prints() {
    let line = r#"{"a":[1,{"b":"x, [\"y\"] {"},[],{}],"c":null,"d":{"e":-1.5}}"#;
    let value: Value = serde_json::from_str(&format!("[{line}]")).unwrap();
    assert_eq!(format!("[\n  {}\n]", pretty(line)), serde_json::to_string_pretty(&value).unwrap());
}

/// Whether the lines can be elements: JSON, but for the last one, which may be cut.
pub(crate) fn can_be_an_array(stream: &[u8]) -> Option<&str> {
    let stream = str::from_utf8(stream).ok().filter(|it| !it.starts_with('\u{feff}'))?;
    let (whole, rest) = stream.split_at(stream.rfind('\n').map_or(0, |at| at + 1));
    // Only the last line of a stream can lack its end.
    let is_event = rest.is_empty() || rest.starts_with('{');
    let is_cut = is_event && serde_json::from_str::<Value>(rest).is_err();
    let are_json = whole.lines().all(|line| serde_json::from_str::<Value>(line).is_ok());
    let begins = whole.starts_with('{') && !whole.contains("}{");
    (begins && is_cut && are_json).then_some(stream)
}

type Facts = (Verdict, Outcome, Vec<(Rule, u64)>, String, u64, u64, Option<String>);

pub(crate) fn facts(summary: &StreamSummary) -> Facts {
    let rules = summary.rule_counts.iter().map(|(rule, count)| (*rule, *count)).collect();
    let calls = format!("{:?} {:?}", summary.call_counts, summary.facts.usage);
    let StreamSummary { verdict, outcome, events, lines, session_id, .. } = summary;
    (*verdict, *outcome, rules, calls, *events, *lines, session_id.clone())
}

/// A JSON conversion as values; text as it is.
fn values(to: Form, text: &str) -> Vec<Value> {
    match to {
        Form::Json | Form::ValidEvents => {
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        }
        _ => vec![text.into()],
    }
}

pub(crate) fn places(found: &[Diagnostic]) -> Vec<(Rule, Option<u64>, Option<u64>)> {
    found.iter().map(|it| (it.rule, it.line, it.related_line)).collect()
}

/// Goal: the array form of a stream says the same as the stream.
fn same_as_array(name: &str, stream: &str, flags: &[&str]) {
    let mut lines = checker(flags.iter().copied());
    let (expected, expected_found) = check(&mut lines, stream.as_bytes());
    let wants = [flags, &["--input-format", "array"]].concat();
    let detects = !flags.contains(&"--input-format");
    let mut fast = checker(if detects { flags } else { &wants }.iter().copied());
    let mut reference = checker(wants.iter().copied().chain(["--engine", "reference"]));
    for layout in LAYOUTS {
        if layout == Layout::Pretty && flags.contains(&"--max-line-bytes") {
            continue;
        }
        let array = array(stream, layout);
        for end in ["\n", "\r\n"] {
            let array = array.replace('\n', end);
            let (summary, found) = check(&mut fast, array.as_bytes());
            assert_eq!(facts(&summary), facts(&expected), "{name}, {layout:?}: {found:?}");
            assert_eq!(summary.bytes, array.len() as u64, "{name}, {layout:?}");
            if layout == Layout::Lines {
                assert_eq!(places(&found), places(&expected_found), "{name}");
            }
        }
        let report = json_report(array.as_bytes(), &mut fast);
        assert_eq!(report, json_report(array.as_bytes(), &mut reference), "{name}, {layout:?}");
        for sizes in [&[1][..], &[2, 3, 7]] {
            let pieces = Pieces { bytes: array.as_bytes(), sizes, next: 0 };
            assert_eq!(report, json_report(pieces, &mut fast), "{name}, {layout:?}, {sizes:?}");
        }
        same_conversions(name, (stream, &array), &mut lines, &mut fast);
    }
}

fn same_conversions(
    name: &str,
    (stream, array): (&str, &str),
    lines: &mut Checker,
    fast: &mut Checker,
) {
    for to in [Form::Text, Form::Transcript, Form::Answer, Form::Json, Form::ValidEvents] {
        let mut probe = Written::new(
            Vec::new(),
            Box::new(Converter::new(to, FormStyle { is_raw: true, ..FormStyle::default() })),
        );
        if to == Form::Json && lines.check("-", stream.as_bytes(), &mut probe).is_err() {
            continue;
        }
        let expected = values(to, &converted(stream.as_bytes(), lines, to));
        let form = values(to, &converted(array.as_bytes(), fast, to));
        assert_eq!(form, expected, "{name}, {to:?}");
    }
}

/// Method: some of the fixtures whose lines are JSON, and may be cut.
#[test]
fn fixtures_are_judged_the_same_as_an_array() {
    let (mut same, mut others) = (0, Vec::new());
    for case in some_cases(3) {
        let name = case.path.display().to_string();
        if let Some(stream) = can_be_an_array(&case.bytes()) {
            let flags: Vec<&str> = case.flags.iter().map(String::as_str).collect();
            same_as_array(&name, stream, &flags);
            same += 1;
        } else {
            others.push(name);
        }
    }
    assert!(same > 300 && others.len() < same / 4, "{same}, not {others:?}");
}

#[test]
fn every_recording_is_judged_the_same_as_an_array() {
    let Some(folder) = shared("captures") else { return };
    let mut same = 0;
    for path in files(&folder, "ndjson") {
        let bytes = fs::read(&path).unwrap();
        if let Some(stream) = can_be_an_array(&bytes) {
            same_as_array(&path.display().to_string(), stream, &[]);
            same += 1;
        }
    }
    assert!(same >= 40, "only {same}");
}

fn good_run() -> Case {
    let path = "fixtures/agents/cursor/plain.ndjson".into();
    Case { path, flags: Vec::new() }
}

/// Goal: an array that is cut anywhere is never called complete, and no cut fools an engine.
#[test]
fn no_prefix_of_an_array_is_called_complete() {
    let stream = text(&good_run().bytes());
    let mut reference = checker(["--engine", "reference"]);
    for layout in LAYOUTS {
        let array = array(&stream, layout);
        let whole = array.trim_end().len();
        let mut checker = checker([]);
        for end in 0..=array.len() {
            let prefix = &array.as_bytes()[..end];
            let (summary, rules) = judge(prefix, &mut checker);
            let is_complete = summary.verdict == Verdict::Conforming;
            assert_eq!(is_complete, end >= whole, "{layout:?} to byte {end}: {rules:?}");
            let succeeded = summary.outcome == Outcome::Succeeded;
            // Only the `]` is missing.
            let ended = end + layout_end(layout) >= whole;
            assert_eq!(succeeded, ended, "{layout:?} to byte {end}: {rules:?}");
            // Before the first element it may be anything.
            if end > 4 && end < whole {
                assert!(rules.contains(&Rule::TruncatedLine), "{end}: {rules:?}");
            }
            if end % 5 == 0 {
                assert_eq!(
                    json_report(prefix, &mut checker),
                    json_report(prefix, &mut reference),
                    "{layout:?} to byte {end}"
                );
            }
        }
    }
}

/// Bytes between the last element and the end of the array.
fn layout_end(layout: Layout) -> usize {
    if layout == Layout::Minified { 1 } else { 2 }
}

/// What a stream raises, as `rule@line:offset`, by both engines and in pieces.
fn raised(stream: &[u8], flags: &[&str]) -> Vec<String> {
    let mut fast = checker(flags.iter().copied());
    let mut reference = checker(flags.iter().copied().chain(["--engine", "reference"]));
    let (_, found) = check(&mut fast, stream);
    let report = json_report(stream, &mut fast);
    let shown = String::from_utf8_lossy(stream);
    assert_eq!(report, json_report(stream, &mut reference), "{shown}");
    for size in [1, 2, 3, 7] {
        let mut pieces = Written::new(Vec::new(), Box::new(JsonReport::default()));
        let mut fed = fast.stream("-");
        stream.chunks(size).for_each(|piece| fed.feed(piece, &mut pieces).unwrap());
        fed.finish(&ProducerExit::default(), &mut pieces).unwrap();
        assert_eq!(report, text(pieces.writer().unwrap()), "{shown}, pieces of {size}");
    }
    let place = |it: &Diagnostic| match (it.line, it.offset) {
        (Some(line), Some(offset)) => format!("{}@{line}:{offset}", it.rule),
        _ => it.rule.to_string(),
    };
    found.iter().map(place).collect()
}

/// Method: arrays that are not as they should be; the profile takes any event.
#[test]
fn each_flaw_of_an_array_has_its_rule_and_its_place() {
    let deep = format!("[{{}},\n{{\"a\":{}1{}}},\n7]", "[".repeat(200), "]".repeat(200));
    let long = format!("[{{}},\n{{\"a\":\"{}\"}},\n7]", "x".repeat(500));
    let cases: &[(&[u8], &[&str])] = &[
        (b"[{}]", &[]),
        (b" \r\n[ {} , {\"a\":\"],[\\\"{\\n\\\\\"}\r\n]\r\n", &[]),
        (b"\xef\xbb\xbf[\n{}]", &["byte-order-mark@1:0"]),
        (b"[]", &["empty-stream"]),
        (b"\n[\n]\n", &["empty-stream"]),
        (b"[{},\n{},\n]", &["invalid-json@3:9"]),
        (b"[{},\n,{}]", &["invalid-json@2:5"]),
        (b"[{},\n {\"a\":1}\n {}, 7]", &["invalid-json@2:15", "not-an-object@3:19"]),
        (
            b"[{},\n 1, \"x,]\",null]",
            &["not-an-object@2:6", "not-an-object@2:9", "not-an-object@2:15"],
        ),
        (b"[{},\n [{}], 7]", &["not-an-object@2:6", "not-an-object@2:12"]),
        (b"[{},\n { \"a\": tru },\n7]", &["invalid-json@2:16", "not-an-object@3:20"]),
        (b"[{},\n {\n\"a\":1,\n \"a\":2}]", &["duplicate-key@2:16"]),
        (b"[{},\n {\"a\":\"x\ny\"},\n7]", &["invalid-json@2:13", "not-an-object@4:19"]),
        (b"[{},{\"a\":\"\xff\"}]", &["invalid-utf-8@1:10"]),
        (b"[{}]\n[{}]\n", &["invalid-json@2:5"]),
        (b"[{}] x\n{}\n", &["invalid-json@1:5"]),
        (b"[{}", &["truncated-line@1:3"]),
        (b"[{},\n", &["truncated-line@2:5"]),
        (b"[{},\n {\"a\":1", &["truncated-line@2:6"]),
        (b"[{},\n {}}, 7]", &["invalid-json@2:8", "not-an-object@2:11"]),
        (deep.as_bytes(), &["nesting-too-deep@2:136", "not-an-object@3:414"]),
        (long.as_bytes(), &["line-too-long@2:5", "not-an-object@3:515"]),
    ];
    for (stream, expected) in cases {
        let found = raised(stream, &["--profile", "jsonl", "--max-line-bytes", "450"]);
        let shown = String::from_utf8_lossy(stream);
        assert_eq!(found, *expected, "{shown}");
    }
}

/// Goal: what is no array of events is what it was; `--input-format array` insists.
#[test]
fn other_streams_are_not_taken_for_arrays() {
    let flags = ["--profile", "jsonl"];
    let insisting = ["--profile", "jsonl", "--input-format", "array"];
    let lines = ["--profile", "jsonl", "--input-format", "stream-json"];
    let cases: &[(&[u8], &[&str], &[&str])] = &[
        (
            b"[1]\n[2]\n",
            &["not-an-object@1:0", "not-an-object@2:4", "empty-stream"],
            &["not-an-object@1:1", "invalid-json@2:4", "empty-stream"],
        ),
        (
            b"[\n1,\n2\n]\n",
            &["not-ndjson@1:0"],
            &["not-an-object@2:2", "not-an-object@3:5", "empty-stream"],
        ),
        (
            b"[info] hello\n{}\n",
            &["invalid-json@1:1"],
            &["invalid-json@1:1", "invalid-json@1:7", "empty-stream"],
        ),
        (b"[]\n{}\n", &["not-an-object@1:0"], &["invalid-json@2:3", "empty-stream"]),
        (b"[", &["truncated-line@1:0"], &["truncated-line@1:1"]),
        (b"{}\n", &[], &["not-ndjson@1:0"]),
        (b"", &["empty-stream"], &["empty-stream"]),
    ];
    for (stream, expected, insisted) in cases {
        let shown = String::from_utf8_lossy(stream);
        assert_eq!(raised(stream, &flags), *expected, "{shown}");
        assert_eq!(raised(stream, &insisting), *insisted, "{shown}");
    }
    assert_eq!(raised(b"[\n{}\n]\n", &lines), ["invalid-json@1:1", "invalid-json@3:5"]);
    let far = [&b" ".repeat(5_000)[..], b"\n[{}]\n"].concat();
    assert_eq!(raised(&far, &flags), ["blank-line@1:0", "not-ndjson@1:0"]);
    assert_eq!(raised(&far, &insisting), ["blank-line@1:0", "not-ndjson@1:0"]);
}

/// Goal: `--to stream-json` writes lines, and `--tee` the bytes themselves; of each of two files.
#[test]
fn the_program_writes_an_array_as_lines() {
    let stream = text(&good_run().bytes());
    let folder = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    for layout in LAYOUTS {
        let form = array(&stream, layout);
        let copy = folder.path().join("copy");
        let flags = ["--to", "stream-json", "--tee", copy.to_str().unwrap()];
        let output = run_on(&flags, form.as_bytes());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(text(&output.stdout), stream, "{layout:?}");
        assert_eq!(fs::read_to_string(copy).unwrap(), form);

        let two = [file("array", &form), file("lines", &stream)];
        let flags = ["--to", "stream-json", &two[0], &two[1], &two[0]];
        assert_eq!(text(&run_on(&flags, b"").stdout), stream.repeat(3), "{layout:?}");
    }
    for (stream, expected) in [
        ("[{\"a\": 1 2},\n{} {}]x", "{\"a\":1 2}\n{}{}\n"),
        ("[{},{\"a b\": \"\\\" c\"", "{}\n{\"a b\":\"\\\" c\""),
        ("[{}", "{}\n"),
        ("[\n]\n", ""),
        ("[", "["),
        (" \n", " \n"),
        ("[1]\n[2]\n", "[1]\n[2]\n"),
    ] {
        let output = run_on(&["--profile", "jsonl", "--to", "stream-json"], stream.as_bytes());
        assert_eq!(text(&output.stdout), expected, "{stream}");
    }
}

//! Which lines are events, what is wrong with the others, and what the last line was.

use serde_json::json;

use super::{agent, profile, shown};
use crate::check::contract::Options;
use crate::check::end_of_run::LastLine::{self, Cut, CutAllowed, Unparsed, Whole};
use crate::check::findings::Findings;
use crate::check::stage::lines::{FailureLine, LineCheck};
use crate::facts::FactReader;
use crate::profile::EndReason;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::{Rule, Severities, Severity};
use crate::stream::{ArraySplitter, each_block, parse_line};

/// A line above it is too long.
const LINE_BYTES_MAX: u64 = 200;

/// What a stream shows: the lines of its events, the findings, what the last line was, and the
/// line of plain text that says that the run failed.
type LinesReported = (String, String, LastLine, Option<FailureLine>);

/// Checks the lines of a stream; `wants_array` says that the user asks for an array.
fn reported(stream: &[u8], wants_array: bool, severities: &Severities) -> LinesReported {
    let mut agent = agent();
    agent["noise"] = json!([
        { "matches": "^> $", "is": "banner", "where": "before" },
        { "matches": "^log: ", "is": "banner" },
        { "matches": "^warn: ", "is": "stderr" },
        { "matches": "^dead: ", "is": "stderr", "failed": true, "reason": "auth" }
    ]);
    let profile = profile(agent);
    let options = Options { is_array: Some(wants_array), ..Options::default() };
    let mut check = LineCheck::new(&profile, &options, false);
    let (mut findings, mut reader) = (Findings::new(severities), FactReader::default());
    let (mut events, mut found) = (Vec::new(), Vec::<Diagnostic>::new());
    each_block(stream, usize::MAX, LINE_BYTES_MAX, |block| {
        for line in block {
            let accepted = check.accept(line, parse_line(&line), &mut reader, &mut findings);
            if let Some((line, _)) = accepted {
                check.event_follows(&mut findings);
                events.push(line.number.to_string());
            }
            if check.is_settled(&mut findings) {
                findings.report(&mut found);
            }
        }
    });
    check.finish(None, &mut findings);
    if check.is_settled(&mut findings) || check.is_ndjson() {
        findings.report(&mut found);
    }
    let last_line = check.last_line(&findings);
    found.extend(check.cut_line.take());
    (events.join(" "), shown(&found), last_line, check.failure)
}

/// The same, of the agent's usual streams.
fn of_stream(stream: &[u8]) -> (String, String, LastLine) {
    let (events, found, last_line, _) = reported(stream, false, &Severities::default());
    (events, found, last_line)
}

/// `X` is an event, and `Y` an object that this agent does not write.
fn with_events(stream: &str) -> String {
    stream.replace('X', r#"{"at":"x"}"#).replace('Y', r#"{"at":"y"}"#)
}

#[test]
fn lines_are_events_or_something_is_wrong_with_them() {
    for (stream, events, found, last_line) in [
        ("", "", "", Whole),
        ("X\nX\n", "1 2", "", Whole),
        ("X\r\nX\r\n", "1 2", "", Whole),
        ("Y\n", "1", "", Whole),
        ("X\nX", "1 2", "missing-final-newline@2", Whole),
        ("\nX\n \t\n", "2", "blank-line@1 blank-line@3", Whole),
        ("\u{feff}X\nX\n", "1 2", "byte-order-mark@1", Whole),
        ("X\n\u{feff}X\n", "1 2", "invalid-json@2", Whole),
        ("X\n[1]\nnull\n", "1", "not-an-object@2 not-an-object@3", Whole),
        ("X\nX X\n", "1", "invalid-json@2", Unparsed),
        // A broken line is a lost event, the last one perhaps the end of the run.
        ("X\n{\"at\":\nX\n", "1 3", "invalid-json@2", Whole),
        ("X\n{\"at\":\n", "1", "invalid-json@2", Unparsed),
        ("X\n{\"at\":\n\n", "1", "invalid-json@2 blank-line@3", Unparsed),
        ("X\nhello\n", "1", "invalid-json@2", Whole),
        ("X\n{\"at\":", "1", "truncated-line@2", Cut),
        ("X\n{", "1", "truncated-line@2", Cut),
        ("{\"a", "", "truncated-line@1", Cut),
        ("X\nhel", "1", "invalid-json@2", Whole),
    ] {
        let expected = (events.to_owned(), found.to_owned(), last_line);
        assert_eq!(of_stream(with_events(stream).as_bytes()), expected, "{stream:?}");
    }
}

#[test]
fn a_line_that_is_too_long_too_deep_or_no_text_is_lost() {
    let long = [&[b' '; 201][..], b"\n"].concat();
    let deep = [&b"{\"a\":"[..], &[b'['; 130], b"1\n"].concat();
    for (line, found, last_line) in [
        (&b"{\"at\":\"\xff\"}\n"[..], "invalid-utf-8@1", Unparsed),
        (b"\xff\n", "invalid-utf-8@1", Whole),
        (b"{\"at\":\"\xe2\x80", "truncated-line@1", Cut),
        // Named, although the program unpacks it: other readers do not.
        (b"\x28\xb5\x2f\xfd\x24\x03\x19\0\n", "not-ndjson@1", Whole),
        (&long, "line-too-long@1", Unparsed),
        (&deep, "nesting-too-deep@1", Unparsed),
    ] {
        let expected = (String::new(), found.to_owned(), last_line);
        assert_eq!(of_stream(line), expected, "{}", line.escape_ascii());
    }
}

#[test]
fn text_is_told_from_events() {
    for (stream, events, found) in [
        // The profile knows these lines.
        ("log: hello\nX\n", "2", ""),
        ("X\nwarn: hello\n", "1", "stderr-in-stream@2"),
        ("X\ndead: hello\n", "1", "stderr-in-stream@2"),
        ("X\n> \n", "1", "invalid-json@2"),
        // An event behind other text.
        ("log: X\n", "1", ""),
        ("warn: X\n", "1", "stderr-in-stream@1"),
        ("hello X\n", "1", "invalid-json@1"),
        ("warn: X", "1", "stderr-in-stream@1 missing-final-newline@1"),
        ("warn: {1} X\n", "1", "stderr-in-stream@1"),
        // An object that no profile knows is an event only after a text that announces one.
        ("> Y\n", "1", ""),
        ("log: Y\nX\n", "2", ""),
        ("warn: Y\nX\n", "2", "stderr-in-stream@1"),
        ("hello Y\nX\n", "2", "invalid-json@1"),
        // A broken event is not text, whatever it contains.
        ("X\n{\"at\": warn: X\n", "1", "invalid-json@2"),
    ] {
        let (seen, shown, _) = of_stream(with_events(stream).as_bytes());
        assert_eq!((&*seen, &*shown), (events, found), "{stream:?}");
    }
}

#[test]
fn what_is_no_ndjson_has_one_finding() {
    for (stream, events, found) in [
        ("data: X\n\ndata: X\n", "", "not-ndjson@1"),
        ("event: a\ndata: X\n\n", "", "not-ndjson@1"),
        ("{\n  \"at\": \"x\"\n}\n", "", "not-ndjson@1"),
        // What comes before the first line with text is reported as it comes.
        ("\n{\n\"at\": \"x\"\n}\n", "", "blank-line@1 not-ndjson@1"),
        ("[\n1,\nX\n]\n", "", "not-ndjson@1"),
        ("\u{feff}{\n\"at\": \"x\"\n}\n", "", "not-ndjson@1"),
        ("\u{1e}X\n\u{1e}X\n", "", "not-ndjson@1"),
        ("\u{1e}X\nX\n", "", "not-ndjson@1"),
        // Only the start can show it, and an event shows that it is not so.
        ("retry: 1\nX\ndata: X\n", "2 3", "invalid-json@1 invalid-json@3"),
        ("X\n{\n}\n", "1", "invalid-json@2 invalid-json@3"),
        ("{\nhello\nX\n", "3", "invalid-json@1 invalid-json@2"),
        ("log: hello\ndata: X\n", "", "not-ndjson@1"),
    ] {
        let (seen, shown, _) = of_stream(with_events(stream).as_bytes());
        assert_eq!((&*seen, &*shown), (events, found), "{stream:?}");
    }
    for stream in [&b"\xff\xfe{\0}\0\n\0{\0}\0\n\0"[..], b"\0{\0}\0\n", b"\x1f\x8b\x08abc\n{}\n"] {
        let (seen, shown, _) = of_stream(stream);
        assert_eq!((&*seen, &*shown), ("", "not-ndjson@1"), "{}", stream.escape_ascii());
    }
}

#[test]
fn an_array_that_the_user_wants_is_there_or_not() {
    for (stream, events, found) in [
        ("X\nX\n", "", "not-ndjson@1"),
        ("hello\n", "", "not-ndjson@1"),
        ("\nX\n", "", "blank-line@1 not-ndjson@1"),
        ("\n", "", "blank-line@1"),
        ("", "", ""),
    ] {
        let (seen, shown, ..) =
            reported(with_events(stream).as_bytes(), true, &Severities::default());
        assert_eq!((&*seen, &*shown), (events, found), "{stream:?}");
    }
}

#[test]
fn a_line_counts_as_lost_only_where_its_defect_is_an_error() {
    let (warning, off) = (Some(Severity::Warning), None);
    for (stream, rule, severity, last_line) in [
        ("X\n{\"at\":", Rule::TruncatedLine, warning, CutAllowed),
        ("X\n{\"at\":", Rule::TruncatedLine, off, CutAllowed),
        ("X\n{\"at\":\n", Rule::InvalidJson, warning, Whole),
        ("X\n{\"at\":\n", Rule::InvalidJson, off, Whole),
        ("X\n{\"at\":\n", Rule::InvalidUtf8, off, Unparsed),
    ] {
        let mut severities = Severities::default();
        severities.set(rule, severity);
        let (_, _, found, _) = reported(with_events(stream).as_bytes(), false, &severities);
        assert_eq!(found, last_line, "{stream:?} {rule} {severity:?}");
    }
}

#[test]
fn the_first_line_that_says_so_is_why_the_run_failed() {
    for (stream, failure) in [
        ("X\nlog: a\nwarn: b\n", None),
        ("X\n dead: a\n", None),
        ("X\ndead: a \ndead: b\n", Some((2, "dead: a"))),
        ("X\ndead: a", Some((2, "dead: a"))),
        // The text is in front of an event, which says how the run goes.
        ("dead: X\n", None),
    ] {
        let (.., found) = reported(with_events(stream).as_bytes(), false, &Severities::default());
        let found = found.map(|it| (it.number, it.text, it.reason));
        let expected =
            failure.map(|(line, text)| (Some(line), text.to_owned(), Some(EndReason::Auth)));
        assert_eq!(found, expected, "{stream:?}");
    }
}

#[test]
fn another_session_begins_with_whole_lines() {
    let (profile, severities) = (profile(agent()), Severities::default());
    let (mut check, mut findings) =
        (LineCheck::new(&profile, &Options::default(), false), Findings::new(&severities));
    check.cut_line = Some(Diagnostic::new(Rule::TruncatedLine, ""));
    check.failure = Some(FailureLine {
        number: Some(1),
        text: String::new(),
        reason: None,
        may_recover: false,
    });
    check.lines = 7;
    check.next_session();
    assert!(check.cut_line.is_none() && check.failure.is_none());
    assert_eq!(check.lines, 1);
    // A line that is recalled is an event: the one before it is not the last.
    findings.is_last_line_lost = true;
    assert_eq!(check.last_line(&findings), Unparsed);
    check.recalled(&mut findings);
    assert_eq!((check.lines, check.last_line(&findings)), (2, Whole));
}

#[test]
fn what_is_wrong_with_an_array_is_kept_or_reported() {
    let profile = profile(agent());
    for (rule, has_mark, found, last_line) in [
        (None, false, "", Whole),
        (None, true, "byte-order-mark@1", Whole),
        (Some(Rule::TruncatedLine), false, "", Cut),
        (Some(Rule::InvalidJson), false, "invalid-json", Whole),
    ] {
        let severities = Severities::default();
        let options = Options { is_array: Some(true), ..Options::default() };
        let (mut check, mut findings) =
            (LineCheck::new(&profile, &options, false), Findings::new(&severities));
        let mut array = ArraySplitter::default();
        array.has_mark = has_mark;
        check.array_begins(&array, &mut findings);
        check.finish(rule.map(|rule| Diagnostic::new(rule, "")), &mut findings);
        assert_eq!(shown(&findings.pending), found, "{rule:?}");
        assert_eq!(check.last_line(&findings), last_line, "{rule:?}");
        assert!(check.is_ndjson());
    }
}

//! The reader: a stream as events, without an observer.

use std::collections::HashSet;
use std::{fs, mem};

use ndjson_check::{
    CallKind, Checker, Event, EventKind, ExitStatus, ExpectedCalls, Form, Limits, ProducerExit,
    Reader,
};

use crate::streams::{Case, cases, converted, judge, root};
use crate::tidy::sources;

/// The events of a stream that arrives in chunks of this size, as JSON lines.
fn read(checker: &Checker, stream: &[u8], chunk: usize) -> Option<String> {
    let mut reader = checker.reader("a");
    let mut events = Vec::new();
    for chunk in stream.chunks(chunk) {
        events.extend(reader.feed(chunk).ok()?);
    }
    let end = reader.finish(&ProducerExit::default()).ok()?;
    events.extend(end.events);
    let lines = events.iter().map(|event| serde_json::to_string(event).unwrap() + "\n");
    Some(lines.collect())
}

/// Goal: a reader shows what `--to events` writes, wherever the bytes are cut.
#[test]
fn a_reader_shows_the_events_of_the_conversion() {
    let mut read_streams = 0;
    for case in cases() {
        let stream = case.bytes();
        let mut checker = case.checker();
        for chunk in [7, 4_096] {
            let Some(events) = read(&checker, &stream, chunk) else { continue };
            let expected = converted(&stream, &mut checker, Form::Events);
            let unescaped = |text: &str| -> Vec<serde_json::Value> {
                text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
            };
            assert_eq!(unescaped(&events), unescaped(&expected), "{}", case.path.display());
            read_streams += 1;
        }
    }
    assert!(read_streams > 600, "{read_streams}");
}

/// Goal: a harness can keep events as JSON, read them again, and make some for its tests.
#[test]
fn an_event_can_be_read_from_its_json() {
    let mut kinds = HashSet::new();
    for case in cases() {
        let Some(events) = read(&case.checker(), &case.bytes(), 4_096) else { continue };
        for line in events.lines() {
            let event: Event<'_> = serde_json::from_str(line).unwrap();
            assert_eq!(serde_json::to_string(&event).unwrap(), line, "{}", case.path.display());
            kinds.insert(mem::discriminant(&event.kind));
        }
    }
    assert_eq!(kinds.len(), 23);
}

/// Goal: a program may keep any number of readers, and move them to other threads.
#[test]
fn readers_of_one_checker_are_independent() {
    fn is_free<T: Send + 'static>(_: &T) {}
    fn is_shared<T: Send + Sync + Clone + 'static>(_: &T) {}
    let checker = Checker::builder().build().unwrap();
    is_shared(&checker);
    let streams: Vec<Vec<u8>> = cases().iter().take(40).map(Case::bytes).collect();
    let mut readers: Vec<(&[u8], Option<Reader>)> =
        streams.iter().map(|stream| (&stream[..], Some(checker.reader("a")))).collect();
    is_free(&readers[0].1);
    while readers.iter().any(|(rest, _)| !rest.is_empty()) {
        for (rest, reader) in &mut readers {
            let (chunk, more) = rest.split_at(rest.len().min(100));
            *rest = more;
            // A stream that cannot be read is lost, and leaves the others alone.
            if reader.as_mut().is_some_and(|reader| reader.feed(chunk).is_err()) {
                *reader = None;
            }
        }
    }
    let mut ended = 0;
    for ((_, reader), stream) in readers.into_iter().zip(&streams) {
        let Some(Ok(end)) = reader.map(|reader| reader.finish(&ProducerExit::default())) else {
            continue;
        };
        let mut checker = Checker::builder().build().unwrap();
        assert_eq!(end.summary.outcome, judge(&stream[..], &mut checker).0.outcome);
        let last = &end.events.last().unwrap().kind;
        assert!(matches!(last, EventKind::End(_) | EventKind::Cut(_)), "{last:?}");
        ended += 1;
    }
    assert!(ended > 30, "{ended}");
}

/// Goal: what a harness knows of its own process is enough.
#[test]
#[cfg(unix)]
fn the_status_of_a_process_is_an_end() {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process;

    for (status, expected) in [
        (0, ExitStatus::Code(0)),
        (3 << 8, ExitStatus::Code(3)),
        (9, ExitStatus::Signal(9)),
        // With a core dump.
        (0x8b, ExitStatus::Signal(11)),
    ] {
        let exit = ProducerExit::from(process::ExitStatus::from_raw(status));
        assert_eq!(exit, ProducerExit::from(expected));
    }
}

/// Goal: a limit and an expectation are one expression.
#[test]
fn setters_set_the_field_of_their_name() {
    let limits = Limits::default().cost(0.5).turns(None).calls(3).estimates(true);
    assert_eq!(
        (limits.cost, limits.turns, limits.calls, limits.estimates),
        (Some(0.5), None, Some(3), true)
    );
    let calls = ExpectedCalls::default().runs("npm test").at_least(1).after(CallKind::Write);
    assert_eq!(calls.runs.as_deref(), Some("npm test"));
    assert_eq!((calls.at_least, calls.after), (Some(1), Some(CallKind::Write)));
}

/// Goal: a program that owns the process knows when it has only to exit.
#[test]
fn a_reader_knows_that_the_terminal_event_has_come() {
    let mut reader = Checker::builder().build().unwrap().reader("a");
    let stream = fs::read(root().join("fixtures/agents/claude/plain.ndjson")).unwrap();
    let lines: Vec<&[u8]> = stream.split_inclusive(|byte| *byte == b'\n').collect();
    for (at, line) in lines.iter().enumerate() {
        reader.feed(line).unwrap();
        assert_eq!(reader.is_complete(), at + 1 == lines.len(), "line {}", at + 1);
    }
    // A new turn.
    reader.feed(&stream).unwrap();
    assert!(reader.is_complete());
    reader.feed(lines[0]).unwrap();
    reader.feed(lines[1]).unwrap();
    assert!(!reader.is_complete());
}

/// Goal: a profile and a schema need no file.
#[test]
fn a_profile_and_a_schema_may_be_text() {
    let profile = r#"{"extends": "jsonl", "name": "steps", "title": "Steps"}"#;
    let schema = r#"{"properties": {"step": {"minimum": 1}}}"#;
    let builder = Checker::builder().profile_text("the profile", profile);
    let checker = builder.schema_text("the schema", schema).unwrap().build().unwrap();
    let mut reader = checker.reader("a");
    reader.feed(b"{\"step\": 1}\n{\"step\": 0}\n").unwrap();
    let summary = reader.finish(&ProducerExit::default()).unwrap().summary;
    assert_eq!((summary.profile.as_str(), summary.errors), ("steps", 1));
    let error = Checker::builder().profile_text("the profile", "{").build().unwrap_err();
    assert!(error.to_string().contains("the profile"), "{error}");
    let error = Checker::builder().schema_text("the schema", "{").unwrap_err();
    assert!(error.to_string().contains("the schema"), "{error}");
}

/// Goal: an observer that passes on what it is called with loses no call.
/// Method: each that calls `begin` and `event` of another has all methods of the trait.
#[test]
fn observers_pass_on_every_call() {
    let observer = fs::read_to_string(root().join("crates/core/src/check/observer.rs")).unwrap();
    let (_, rest) = observer.split_once("pub trait Observer {").unwrap();
    let (body, _) = rest.split_once("\n}\n").unwrap();
    let names = body.split("    fn ").skip(1).map(|it| it.split('(').next().unwrap());
    let methods: Vec<&str> = names.collect();
    let (mut missing, mut count) = (Vec::new(), 0);
    for (path, code) in sources() {
        for own in code.split("Observer for ").skip(1) {
            let body = own.split("\n}\n").next().unwrap();
            if body.contains(".begin(start)") && body.contains(".event(event") {
                count += 1;
                let absent = methods.iter().filter(|it| !body.contains(&format!("fn {it}(")));
                missing.extend(absent.map(|method| format!("{path}: {method}")));
            }
        }
    }
    assert!((methods.len(), count) == (9, 5), "{methods:?}, {count}");
    // An output has no such method.
    assert_eq!(missing, ["formats/output.rs: undetected_events"]);
}

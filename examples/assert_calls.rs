//! A harness for evaluations: asserts what an agent did, by its tool calls.
//!
//! `cargo run --example assert_calls -- FILE PATTERN` lists the calls that did not succeed. It exits
//! with 1 unless the run passed, and the last command that this regular expression describes came
//! after all writes and succeeded.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::process::ExitCode;

use ndjson_check::escape::visible;
use ndjson_check::{
    CallKind, CallOutcome, Checker, EventKind, Expectation, ExpectedCalls, ProducerExit, Rule,
    Severity,
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(test)) = (arguments.next(), arguments.next()) else {
        return Err("usage: assert_calls FILE PATTERN".into());
    };
    let run = judged(&std::fs::read(file)?, &test)?;
    for (call, (outcome, detail)) in &run.calls {
        if *outcome != CallOutcome::Succeeded {
            writeln!(io::stdout(), "call {call} {}: {}", outcome.name(), visible(detail))?;
        }
    }
    Ok(ExitCode::from(u8::from(!run.is_tested)))
}

struct Judged {
    /// Whether the run passed, and ended with a successful test of all that it wrote.
    is_tested: bool,
    /// How each call ended, and what it was about, by its number.
    calls: BTreeMap<u64, (CallOutcome, String)>,
}

fn judged(stream: &[u8], test: &str) -> Result<Judged> {
    let mut builder = Checker::builder()
        // `npm test || true` does not show whether the tests passed.
        .severity(Rule::ExpectationUnobservable, Some(Severity::Error));
    for kind in [CallKind::Write, CallKind::Delete] {
        // This reads the command line: `echo npm test` runs no test.
        let tests = ExpectedCalls::default().runs(test).last_must_succeed(true).after(kind);
        builder = builder.expect("the tests", Expectation::Calls(tests));
    }
    let mut reader = builder.build()?.reader("the run");
    let mut events = reader.feed(stream)?;
    let end = reader.finish(&ProducerExit::default())?;
    events.extend(end.events);
    let mut calls = BTreeMap::new();
    for event in events {
        let (call, outcome) = match event.kind {
            EventKind::CallCompleted(it) => (it.call, it.outcome),
            // Such as a command in the background, which completed before it ended.
            EventKind::CallCorrected { call, outcome, .. } => (call, outcome),
            _ => continue,
        };
        calls.insert(call.number, (outcome, call.detail.unwrap_or_default().into_owned()));
    }
    Ok(Judged { is_tested: end.summary.passed(), calls })
}

#[cfg(test)]
fn fixture(name: &str) -> Result<String> {
    let file = format!("{}/fixtures/agents/{name}.ndjson", env!("CARGO_MANIFEST_DIR"));
    Ok(std::fs::read_to_string(file)?)
}

#[cfg(test)]
#[test]
fn only_a_successful_test_after_the_last_write_counts() -> Result<()> {
    for (name, test, expected) in [
        ("claude/plain", "npm test", true),
        ("claude/plain", "cargo test", false),
        ("cursor/plain", "npm test", true),
        // Nothing was tested after the write; the test never ended.
        ("claude/changes", "npm test", false),
        ("claude/unfinished-call", "npm test", false),
    ] {
        assert_eq!(judged(fixture(name)?.as_bytes(), test)?.is_tested, expected, "{name}");
    }
    for no_test in ["echo npm test", "npm test || true", "npm test; true"] {
        let stream = fixture("claude/plain")?.replace("npm test -- cart", no_test);
        assert!(!judged(stream.as_bytes(), "npm test")?.is_tested, "{no_test}");
    }
    Ok(())
}

#[cfg(test)]
#[test]
fn a_corrected_outcome_counts() -> Result<()> {
    let run = judged(fixture("claude/moved-to-the-background")?.as_bytes(), "npm test")?;
    assert_eq!(run.calls[&2].0, CallOutcome::Succeeded);
    Ok(())
}

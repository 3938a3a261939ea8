//! A harness for evaluations: asserts what an agent did, by its tool calls.
//!
//! `cargo run --example assert_calls -- FILE COMMAND` exits with 1 unless the run passed, the last
//! command that it ran contains this text and succeeded, and no file was written after that.

use std::process::ExitCode;

use ndjson_check::{CallKind, CallOutcome, Checker, EventKind, ProducerExit};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(command)) = (arguments.next(), arguments.next()) else {
        return Err("usage: assert_calls FILE COMMAND".into());
    };
    let is_met = is_tested(&std::fs::read(file)?, &command)?;
    Ok(ExitCode::from(u8::from(!is_met)))
}

/// Whether the run passed, and ended with a successful test of all that it wrote.
fn is_tested(stream: &[u8], test: &str) -> Result<bool> {
    let mut reader = Checker::builder().build()?.reader("the run");
    let mut events = reader.feed(stream)?;
    let end = reader.finish(&ProducerExit::default())?;
    events.extend(end.events);
    let mut is_tested = false;
    for event in events {
        let EventKind::CallCompleted(it) = event.kind else { continue };
        match it.call.kind {
            Some(CallKind::Command) => {
                // Some agents wrap a command: /bin/bash -lc 'npm test'.
                let is_test = it.call.detail.is_some_and(|detail| detail.contains(test));
                is_tested = is_test && it.outcome == CallOutcome::Succeeded;
            }
            Some(CallKind::Write | CallKind::Delete) => is_tested = false,
            _ => {}
        }
    }
    Ok(is_tested && end.summary.passed())
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
        let file = format!("{}/fixtures/agents/{name}.ndjson", env!("CARGO_MANIFEST_DIR"));
        assert_eq!(is_tested(&std::fs::read(file)?, test)?, expected, "{name}");
    }
    Ok(())
}

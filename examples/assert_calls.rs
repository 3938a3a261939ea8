//! A harness for evaluations: asserts what an agent did, by its tool calls.
//!
//! `cargo run --example assert_calls -- FILE COMMAND` exits with 1 unless the run succeeded and ran
//! a command that contains this text.

use std::process::ExitCode;

use ndjson_check::{CallKind, CallOutcome, Checker, Event, EventKind, Outcome, ProducerExit};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(command)) = (arguments.next(), arguments.next()) else {
        return Err("usage: assert_calls FILE COMMAND".into());
    };
    let is_met = ran(&std::fs::read(file)?, &command)?;
    Ok(ExitCode::from(u8::from(!is_met)))
}

/// Whether the run succeeded, and a command of it that contains `text` did.
fn ran(stream: &[u8], text: &str) -> Result<bool> {
    let checker = Checker::builder().build()?;
    let mut reader = checker.reader("the run");
    let mut events = reader.feed(stream)?;
    let end = reader.finish(&ProducerExit::default())?;
    events.extend(end.events);
    let started: Vec<u64> = events.iter().filter_map(|event| command(event, text)).collect();
    let succeeded = events.iter().any(|event| match &event.kind {
        EventKind::CallCompleted(completed) => {
            started.contains(&completed.call.number) && completed.outcome == CallOutcome::Succeeded
        }
        _ => false,
    });
    Ok(succeeded && end.summary.outcome == Outcome::Succeeded)
}

/// The number of a call, if it is a command whose arguments contain the text.
fn command(event: &Event<'_>, text: &str) -> Option<u64> {
    let EventKind::CallStarted(call) = &event.kind else { return None };
    let arguments = call.arguments.as_ref()?.to_string();
    (call.kind == Some(CallKind::Command) && arguments.contains(text)).then_some(call.number)
}

#[cfg(test)]
#[test]
fn a_command_is_found_by_its_arguments() -> Result<()> {
    let stream = include_bytes!("../fixtures/agents/claude/parallel-calls.ndjson");
    assert!(ran(stream, "sleep 2")?);
    assert!(!ran(stream, "git push")?);
    Ok(())
}

//! A harness that writes to a running agent.

use std::fs;
use std::io::Write as _;
use std::time::Duration;

use ndjson_check::run::{AgentRun, Command, Stdin};
use ndjson_check::{Checker, EventKind, Outcome, StopReason};
use tempfile::TempDir;

use crate::fake_agent::{HANGS, agent};
use crate::streams::root;

/// One conversation of two messages.
const TURNS: &str = "fixtures/agents/claude/several-turns.ndjson";
const FIRST: &str = "12";

/// Longer than a grace of 50 ms, and than the time that the next event takes.
const LONG: Duration = Duration::from_millis(600);

/// Answers two messages, and then ends with its input.
fn listener(folder: &TempDir) -> Command {
    let stream = fs::read_to_string(root().join(TURNS)).unwrap();
    let second: String = stream.split_inclusive('\n').skip(12).take(11).collect();
    let path = folder.path().join("second.ndjson");
    fs::write(&path, second).unwrap();
    let second = path.to_str().unwrap();
    let does = ["hear", "head", FIRST, TURNS, "hear", "emit", second, "read-stdin"];
    Command::new(agent()).args(does).stdin(Stdin::Open).timeout(HANGS)
}

fn started(command: Command) -> AgentRun {
    command.spawn(&Checker::builder().build().unwrap()).unwrap()
}

/// The texts of one turn.
fn texts(run: &mut AgentRun) -> String {
    let mut texts = String::new();
    for event in run.turn() {
        if let EventKind::Text(segment) = event.unwrap().kind {
            texts += segment.text.as_deref().unwrap_or_default();
        }
    }
    texts
}

#[test]
fn each_turn_ends_with_its_terminal_event() {
    let folder = TempDir::new().unwrap();
    let mut run = started(listener(&folder).exit_grace(Duration::from_millis(50)));
    let mut input = run.take_stdin().unwrap();
    assert!(run.take_stdin().is_none());
    input.write_all(b"Count to three\n").unwrap();
    assert_eq!(texts(&mut run), "one two three");
    assert_eq!(run.ended_turns(), 1);
    // The agent waits for us: it does not linger.
    std::thread::sleep(LONG);
    input.write_all(b"And on\n").unwrap();
    assert_eq!(texts(&mut run), "four five");
    assert_eq!(run.ended_turns(), 2);
    drop(input);
    assert!(matches!(run.turn().last().unwrap().unwrap().kind, EventKind::End(_)));
    let summary = run.finish().unwrap();
    assert!(summary.passed(), "{summary:?}");
}

/// Goal: an agent with work in the background may wait for the next message, too.
#[test]
fn background_work_ends_no_wait_for_a_message() {
    let came = "fixtures/agents/claude/wakeup-came.ndjson";
    let does = ["hear", "head", "5", came, "hear", "tail", "5", came];
    let command = Command::new(agent()).args(does).stdin(Stdin::Open).timeout(HANGS);
    let mut run = started(command.idle_timeout(Duration::from_millis(100)));
    let mut input = run.take_stdin().unwrap();
    input.write_all(b"Glue it\n").unwrap();
    assert!(texts(&mut run).ends_with("I wait until the glue is dry."));
    std::thread::sleep(LONG);
    input.write_all(b"Well?\n").unwrap();
    assert_eq!(texts(&mut run), "The glue is dry.");
    drop(input);
    assert!(run.finish().unwrap().passed());
}

/// Goal: an agent that was told to change its model, and says that it did, waits for a message.
#[test]
fn a_reply_to_the_program_begins_no_turn() {
    let reply = "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\"}}\n";
    let does = ["hear", "head", FIRST, TURNS, "hear", "say", reply, "read-stdin"];
    let command = Command::new(agent()).args(does).stdin(Stdin::Open).timeout(HANGS);
    let mut run = started(command.idle_timeout(Duration::from_millis(300)));
    let mut input = run.take_stdin().unwrap();
    input.write_all(b"Count to three\n").unwrap();
    assert_eq!(texts(&mut run), "one two three");
    input.write_all(b"{\"type\":\"control_request\"}\n").unwrap();
    std::thread::sleep(2 * LONG);
    drop(input);
    let summary = run.finish().unwrap();
    assert!(summary.passed(), "{summary:?}");
}

/// Goal: an agent that does not answer the second message is idle.
#[test]
fn the_idle_timeout_begins_with_a_message() {
    let does = ["hear", "head", FIRST, TURNS, "hear", "sleep", "60"];
    let command = Command::new(agent()).args(does).stdin(Stdin::Open).timeout(HANGS);
    let mut run = started(command.idle_timeout(Duration::from_millis(400)));
    let mut input = run.take_stdin().unwrap();
    input.write_all(b"Count to three\n").unwrap();
    assert_eq!(texts(&mut run), "one two three");
    std::thread::sleep(LONG);
    input.write_all(b"And on\n").unwrap();
    drop(input);
    let summary = run.finish().unwrap();
    assert_eq!(summary.outcome, Outcome::TimedOut);
}

/// Goal: an agent that does not read a message is idle, also while the write blocks.
#[test]
fn the_idle_timeout_ends_a_write_that_blocks() {
    let command = Command::new(agent()).args(["sleep", "60"]).stdin(Stdin::Open).timeout(HANGS);
    let mut run = started(command.idle_timeout(Duration::from_millis(400)));
    let mut input = run.take_stdin().unwrap();
    input.write_all(&vec![b'x'; 1 << 20]).unwrap_err();
    run.by_ref().for_each(drop);
    let stop = &run.exit().unwrap().stop;
    assert!(matches!(stop, Some(StopReason::IdleTimeout { .. })), "{stop:?}");
}

/// Goal: the time to end begins when the input is closed.
#[test]
fn an_agent_that_goes_on_after_its_input_lingers() {
    let does = ["hear", "head", FIRST, TURNS, "sleep", "60"];
    let command = Command::new(agent()).args(does).stdin(Stdin::Open).timeout(HANGS);
    let mut run = started(command.exit_grace(Duration::from_millis(50)));
    let mut input = run.take_stdin().unwrap();
    input.write_all(b"Count to three\n").unwrap();
    assert_eq!(texts(&mut run), "one two three");
    drop(input);
    let summary = run.finish().unwrap();
    assert_eq!(summary.outcome, Outcome::Succeeded);
}

/// Goal: what follows the end of a turn in the same read belongs to the next one. Method: both
/// turns come at once; the first one is left in the middle.
#[test]
fn turns_that_come_together_are_apart() {
    let does = ["hear", "head", "23", TURNS, "read-stdin"];
    let command = Command::new(agent()).args(does).stdin(Stdin::Open).timeout(HANGS);
    let mut run = started(command);
    let mut input = run.take_stdin().unwrap();
    input.write_all(b"Both\n").unwrap();
    assert!(run.turn().next().unwrap().is_ok());
    assert_eq!(texts(&mut run), "one two three");
    assert_eq!(texts(&mut run), "four five");
    assert_eq!(run.ended_turns(), 2);
    drop(input);
    assert!(run.finish().unwrap().passed());
}

/// Goal: a message without an answer is no success, although the agent exits with 0.
#[test]
fn a_message_needs_an_answer() {
    let does = ["hear", "head", FIRST, TURNS, "hear"];
    let command = Command::new(agent()).args(does).stdin(Stdin::Open).timeout(HANGS);
    let mut run = started(command);
    let mut input = run.take_stdin().unwrap();
    input.write_all(b"Count to three\n").unwrap();
    assert_eq!(texts(&mut run), "one two three");
    input.write_all(b"And on\n").unwrap();
    let summary = run.finish().unwrap();
    assert_eq!(summary.outcome, Outcome::Truncated);
    assert!(!summary.passed());
}

/// Goal: `finish` closes an input that was not taken.
#[test]
fn an_input_that_was_not_taken_ends() {
    let does = ["read-stdin", "head", FIRST, TURNS];
    let command = Command::new(agent()).args(does).stdin(Stdin::Open).timeout(HANGS);
    let summary = started(command).finish().unwrap();
    assert_eq!(summary.outcome, Outcome::Succeeded);
}

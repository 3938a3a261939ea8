//! Generates the sessions that are measured. They are the same on every machine, and they conform,
//! so that the check is measured and not the output of diagnostics.

mod call;
mod claude;
mod event;
mod random;
mod session;
mod text;

use call::Tool;
use random::Random;
use session::Session;

/// Largest file that a tool of a long session reads or writes, in bytes: its line stays below
/// 3 MiB.
const FILE_BYTES_MAX: usize = 2_500_000;

/// Largest file of a session that is nearly all deltas.
const SMALL_FILE_BYTES_MAX: usize = 4_000;

/// One session of deltas, of at least `bytes`.
pub(crate) fn deltas(seed: u64, bytes: usize) -> Vec<u8> {
    let mut session = Session::start(seed, bytes);
    while session.bytes() < bytes {
        delta_turn(&mut session);
    }
    session.finish()
}

/// One session of the same kind, as Claude Code writes it with partial messages.
pub(crate) fn claude(seed: u64, bytes: usize) -> Vec<u8> {
    let mut session = claude::Session::start(seed, bytes);
    while session.bytes() < bytes {
        message(&mut session);
    }
    session.finish()
}

/// As many sessions of deltas as make `bytes` together, each of some hundred kilobytes.
pub(crate) fn many(seed: u64, bytes: usize) -> Vec<Vec<u8>> {
    let mut random = Random::new(seed);
    let mut sessions: Vec<Vec<u8>> = Vec::new();
    let mut total = 0;
    while total < bytes {
        let session = deltas(random.seed(), random.between(20_000, 238_000));
        total += session.len();
        sessions.push(session);
    }
    sessions
}

/// One session of tool calls, of at least `bytes`.
pub(crate) fn tools(seed: u64, bytes: usize) -> Vec<u8> {
    let mut session = Session::start(seed, bytes);
    while session.bytes() < bytes {
        tool_turn(&mut session);
    }
    session.finish()
}

/// A short session in which a file of nearly `bytes` is read: with its escapes one line of `bytes`.
pub(crate) fn huge(seed: u64, bytes: usize) -> Vec<u8> {
    let mut session = Session::start(seed, bytes);
    session.say(20);
    let call = session.begin(Tool::Read, 0);
    session.complete(&call, bytes / 1000 * 946);
    session.finish()
}

/// A session of about 3 KB: one answer, one tool call.
pub(crate) fn tiny(seed: u64) -> Vec<u8> {
    let mut session = Session::start(seed, 0);
    session.say(20);
    let call = session.begin(Tool::Read, 0);
    session.complete(&call, 600);
    session.finish()
}

/// In recordings nine deltas in ten are thought, not said. It also bounds the answer, which is
/// one line at the end: half a hundredth of the stream.
fn delta_turn(session: &mut Session) {
    let thoughts = session.random.between(100, 700);
    session.think(thoughts);
    let words = session.random.between(20, 120);
    session.stream(words);
    if session.random.one_in(4) {
        let tool = session.random.pick(&Tool::ALL);
        let (before, after) = (file_bytes(session), file_bytes(session));
        let call = session.begin(tool, before.min(SMALL_FILE_BYTES_MAX));
        session.complete(&call, after.min(SMALL_FILE_BYTES_MAX));
    }
}

/// As much thought, text and tools as in [`delta_turn`].
fn message(session: &mut claude::Session) {
    session.begin();
    let thoughts = session.random.between(100, 700);
    session.think(thoughts);
    let words = session.random.between(20, 120);
    session.say(words);
    if session.random.one_in(4) {
        let bytes = session.random.between(1_500, SMALL_FILE_BYTES_MAX);
        session.call(bytes);
    } else {
        session.end("end_turn");
    }
}

/// Most calls run alone, some side by side; these end in any order.
fn tool_turn(session: &mut Session) {
    let words = session.random.between(10, 60);
    session.say(words);
    for _ in 0..session.random.between(3, 12) {
        let batch = if session.random.one_in(3) { session.random.between(2, 5) } else { 1 };
        let mut open = Vec::new();
        for _ in 0..batch {
            let tool = session.random.pick(&Tool::ALL);
            let bytes = file_bytes(session);
            open.push(session.begin(tool, bytes));
        }
        while !open.is_empty() {
            let call = open.swap_remove(session.random.between(0, open.len() - 1));
            let bytes = file_bytes(session);
            session.complete(&call, bytes);
        }
    }
}

/// The size of a file: most are a few kilobytes, some tens of them, few some megabytes.
fn file_bytes(session: &mut Session) -> usize {
    let random = &mut session.random;
    match random.between(1, 1000) {
        1..=650 => random.between(1_500, 7_000),
        651..=920 => random.between(6_000, 20_000),
        921..=998 => random.between(20_000, 60_000),
        _ => random.between(1_000_000, FILE_BYTES_MAX),
    }
}
